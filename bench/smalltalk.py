"""How much small talk the gate lets through, and how much content it holds back.

    python -m bench.smalltalk GOLD [--predictions OUT] [--json]

GOLD rows: `{"id", "lang", "text", "label"}` with label `smalltalk`, `ack`, `question` or `content`. Predictions:
`{"id", "passes": bool, "reason"}`. Questions are reported, not judged: either answer is fine.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

from bench.contract import Row, arguments, read_rows, report, write_rows
from streams.memory.extraction import gate


def main(argv: list[str] | None = None) -> int:
    given = arguments(__doc__ or "", argv)
    rows = read_rows(given.gold)
    found = [{"id": row["id"], "passes": (reason := gate(row["text"])) is None, "reason": reason} for row in rows]
    if given.predictions:
        write_rows(given.predictions, found)
    report("smalltalk", len(rows), measure(rows, found), as_json=given.as_json)
    return 0


def measure(rows: list[Row], found: list[Row]) -> dict[str, Any]:
    """Share of each label that passes, in percent; `small_talk_passes` is over smalltalk and ack together."""
    passes: dict[str, list[bool]] = defaultdict(list)
    for row, answer in zip(rows, found, strict=True):
        for key in (row["label"], f"{row['label']}_{row['lang']}"):
            passes[key].append(answer["passes"])
    idle = passes["smalltalk"] + passes["ack"]
    return {
        "small_talk_passes": _percent(idle),
        "content_passes": _percent(passes["content"]),
        **{f"{key}_passes": _percent(values) for key, values in sorted(passes.items()) if "_" in key},
    }


def _percent(values: list[bool]) -> float:
    return round(100 * sum(values) / len(values), 1) if values else 0.0


if __name__ == "__main__":
    sys.exit(main())
