"""How long redaction and extraction hold up an event loop: the agents' own stages, a loop that wants every turn.

    python -m bench.loop_lag [--json]

Events of 32,000 characters (the default limit of a message) and of 1 MB in messages of that size go through the stages
`redact` and `extract` while another task of the same loop wants a turn every millisecond. What lies between two turns
is counted in CPU time of this process, and of three runs the best one counts: on a machine that is busy with something
else a loop is woken late.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from bench.contract import report
from schemas import ConversationEvent, Message
from streams.agents.extract import ExtractStage
from streams.agents.redact import RedactStage
from streams.long_text import SWITCH_SECONDS
from streams.memory.extraction import RuleExtractor
from streams.memory.redaction import Redactor, load_policy
from streams.outcome import Done, Outbound
from streams.records import Inbound
from streams.settings import Settings

LONG, LARGE = 32_000, 1_000_000  # characters
RUNS = 3
LARGE_KINDS = ("english", "chinese", "digits")
T = TypeVar("T")
SAID = datetime(2026, 3, 2, 9, tzinfo=UTC)
_ENGLISH = (
    "My sister Anna moved to Bonn last week.", "I prefer the window seat when I take a train.",
    "call me at 415 555 0132", "The release is on Friday at 5pm, not on Thursday.", "my password is hunter2!x",
    "I'm allergic to peanuts.",
)  # fmt: skip
_CHINESE = (
    "我上周搬到了杭州。", "以后都用中文回复我。", "我的手机号是13800138000，", "会议改到周五下午三点，",
    "密码是abc12345。", "我女儿叫小雨，今年五岁。",
)  # fmt: skip


def texts(size: int) -> dict[str, str]:
    """Texts of `size` characters: what people write, and what machines write."""
    dice = random.Random(7)

    def filled(piece: Callable[[], str]) -> str:
        parts: list[str] = []
        length = 0
        while length < size:
            parts.append(piece())
            length += len(parts[-1])
        return "".join(parts)[:size]

    hexadecimal = "0123456789abcdef"
    return {
        "english": filled(lambda: dice.choice(_ENGLISH) + " "),
        "chinese": filled(lambda: dice.choice(_CHINESE)),
        "run_on": filled(lambda: dice.choice(("and then ", "i said ", "tomorrow ", "my key "))),
        "digits": filled(lambda: str(dice.randrange(10**9)) + dice.choice(" -.,\n")),
        "one_letter": "a" * size,
        "hexadecimal": filled(lambda: "".join(dice.choices(hexadecimal, k=64)) + " "),
        "log": filled(lambda: f"2026-03-02T09:00:0{dice.randrange(10)}Z INFO request {dice.randrange(10**6)} done\n"),
        "addresses": filled(lambda: f"user{dice.randrange(10**4)}@example.org; http://h/{dice.randrange(10**4)}?t=1, "),
    }


def event(text: str, size: int) -> ConversationEvent:
    """One event whose messages have at most `LONG` characters each, `size` in all."""
    messages = tuple(Message(role="user", text=text[at : at + LONG]) for at in range(0, size, LONG))
    return ConversationEvent(
        event_id="e", namespace="bench", user_id="1", session_id="s", occurred_at=SAID, messages=messages
    )


async def longest_gap(work: Callable[[], Awaitable[T]]) -> tuple[float, T]:
    """Milliseconds of CPU between two turns of another task, at most, while `work` is done; and its result."""
    longest = 0.0
    going = True

    async def watch() -> None:
        nonlocal longest
        before = time.process_time()
        while going:
            await asyncio.sleep(0.001)
            now = time.process_time()
            longest = max(longest, now - before)
            before = now

    watcher = asyncio.create_task(watch())
    await asyncio.sleep(0)
    result = await work()
    going = False
    await watcher
    return 1000 * longest, result


async def _best(stage: RedactStage | ExtractStage, record: Inbound) -> tuple[float, Outbound]:
    gaps = []
    for _ in range(RUNS):
        gap, outcomes = await longest_gap(lambda: stage.handle([replace(record, cache={})]))
        gaps.append(gap)
    (outcome,) = outcomes
    assert isinstance(outcome, Done), outcome
    return round(min(gaps), 1), outcome.emit[0]


async def measure() -> dict[str, float]:
    redact = RedactStage(Redactor(load_policy(None)), Settings())
    extract = ExtractStage(RuleExtractor(explain=False))

    # As a worker does at its start.
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_SECONDS)

    def inbound(topic: str, key: bytes | None, value: bytes | None) -> Inbound:
        return Inbound(topic, 0, 0, SAID, key, value, ())

    figures: dict[str, float] = {}
    kinds = [("message", LONG, kind) for kind in texts(0)] + [("event_1mb", LARGE, kind) for kind in LARGE_KINDS]
    for name, size, kind in kinds:
        text = texts(size)[kind]
        said = event(text, size)
        raw = inbound("conversations", said.tenant.key.encode(), said.to_bytes())
        figures[f"{name}_{kind}_redact_ms"], made = await _best(redact, raw)
        redacted = inbound("redacted", made.key, made.value)
        figures[f"{name}_{kind}_extract_ms"], _ = await _best(extract, redacted)
    return figures


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    given = parser.parse_args(argv)
    figures = asyncio.run(measure())
    report("loop_lag", len(figures), {**figures, "longest_ms": max(figures.values())}, as_json=given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
