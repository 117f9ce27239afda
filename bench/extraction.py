"""How much of what matters the rule extractor keeps, and how much it keeps that does not matter.

    python -m bench.extraction GOLD [--predictions OUT] [--json]

GOLD rows are sessions: `{"id", "set", "lang", "occurred_at", "session": [{"speaker", "text"}], "gold":
[{"text", "manner", "evidence": [turn]}], "quiet": [turn]}`. A gold point is found when a memory cites one of its
turns. Predictions: `{"id", "memories": [{"text", "evidence": [turn]}]}`.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from datetime import datetime
from typing import Any

from bench.contract import Row, arguments, read_rows, report, write_rows
from schemas import Message, RedactedEvent
from streams.memory.extraction import RuleExtractor
from streams.memory.extraction.grounding import grounded

_EXTRACTOR = RuleExtractor(explain=False)  # as a worker has it
_CONTEXT = 6  # earlier turns that a client would send along


def main(argv: list[str] | None = None) -> int:
    given = arguments(__doc__ or "", argv)
    rows = read_rows(given.gold)
    events = [
        [(place, _event(row, place)) for place, turn in enumerate(row["session"]) if _by_user(turn)] for row in rows
    ]
    started = time.process_time()
    found = [predict(row, of_row) for row, of_row in zip(rows, events, strict=True)]
    seconds = time.process_time() - started
    if given.predictions:
        write_rows(given.predictions, found)
    figures = measure(rows, found)
    figures["messages_per_second"] = round(sum(map(len, events)) / seconds)
    report("extraction", len(rows), figures, as_json=given.as_json)
    return 0


def predict(row: Row, events: list[tuple[int, RedactedEvent]]) -> Row:
    """What is remembered of one session, each turn sent as an event of its own."""
    memories = [
        {"text": candidate.content, "evidence": [place]}
        for place, event in events
        for candidate in _EXTRACTOR.extract_now(event).candidates
    ]
    return {"id": row["id"], "memories": memories}


def measure(rows: list[Row], found: list[Row]) -> dict[str, Any]:
    """Percent; recall by manner and their mean, over the turns that users said."""
    by_manner: dict[str, list[bool]] = defaultdict(list)
    quiet: list[bool] = []
    lengths: list[int] = []
    sound: list[bool] = []
    for row, answer in zip(rows, found, strict=True):
        cited = {turn for memory in answer["memories"] for turn in memory["evidence"]}
        for point in row["gold"]:
            if any(_by_user(row["session"][turn]) for turn in point["evidence"]):
                by_manner[point.get("manner") or "direct"].append(bool(cited & set(point["evidence"])))
        quiet += [turn in cited for turn in row.get("quiet", [])]
        whole = "\n".join(turn["text"] for turn in row["session"])
        lengths += [len(memory["text"]) for memory in answer["memories"]]
        sound += [grounded(memory["text"], whole) for memory in answer["memories"]]
    recall = {manner: _percent(values) for manner, values in sorted(by_manner.items())}
    return {
        **{f"recall_{manner}": value for manner, value in recall.items()},
        "recall_mean": round(sum(recall.values()) / len(recall), 1),
        "kept_quiet": _percent(quiet),
        "per_session": round(len(lengths) / len(rows), 2),
        "mean_characters": round(sum(lengths) / max(1, len(lengths)), 1),
        "grounded": _percent(sound),
    }


def _percent(values: list[bool]) -> float:
    return round(100 * sum(values) / len(values), 1) if values else 0.0


def _by_user(turn: dict[str, str]) -> bool:
    return turn["speaker"] != "assistant"


def _event(row: Row, place: int) -> RedactedEvent:
    session = row["session"]
    when = datetime.fromisoformat(row["occurred_at"])
    earlier = session[max(0, place - _CONTEXT) : place]
    return RedactedEvent(
        event_id=f"{row['id']}/{place}",
        namespace="bench",
        user_id="1",
        occurred_at=when,
        appended_at=when,
        digest="",
        context=tuple(_message(turn) for turn in earlier),
        messages=(_message(session[place]),),
    )


def _message(turn: dict[str, str]) -> Message:
    if _by_user(turn):
        return Message(role="user", text=turn["text"], speaker=None if turn["speaker"] == "user" else turn["speaker"])
    return Message(role="assistant", text=turn["text"])


if __name__ == "__main__":
    sys.exit(main())
