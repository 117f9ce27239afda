"""Dead letters as values: what they say of themselves, whether they may go back, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from streams.dead_letters import (
    MAX_REDRIVES,
    Box,
    Letter,
    LetterId,
    Marker,
    Wanted,
    marker,
    read,
    redriven,
    refusal,
)
from streams.errors import MemstreamError
from streams.outcome import Parked
from streams.records import Headers, Inbound
from streams.runner import dead_letter, without_value

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
SENT: Headers = (("ce_id", b"e1"), ("mine", b"\xff"), ("nothing", None), ("reply_to", b"memory.replies.shop"))


@dataclass(frozen=True)
class Record:
    """What a consumer returns."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Any


class Redact:
    name, dead_letters = "redact", "dead-letters.raw"


def parked(headers: Headers = SENT, *, offset: int = 7, whole: bool = True, **source: Any) -> Record:
    """A letter as the runner writes it, read back from `memory.dead-letters.raw`, partition 1."""
    at: dict[str, Any] = {"topic": "conversations", "partition": 3, "offset": 17, **source}
    record = Inbound(**at, timestamp=NOW, key=b"shop/u", value=b"{bad", headers=headers)
    letter = dead_letter(Redact(), record, Parked("redact", "not_json", exception="BadData"), "memory.")  # type: ignore[arg-type]
    letter = letter if whole else without_value(letter)
    stamp = int(NOW.timestamp() * 1000)
    return Record("memory." + letter.topic, 1, offset, stamp, letter.key, letter.value, letter.headers)


def as_letter(record: Record) -> Letter:
    found = read(record, "memory.")
    assert isinstance(found, Letter)
    return found


def test_a_letter_says_where_it_came_from_and_why() -> None:
    letter = as_letter(parked())
    assert letter.id == LetterId("dead-letters.raw", 1, 7)
    assert LetterId.parse(str(letter.id)) == letter.id
    assert (letter.source_topic, letter.source_partition, letter.source_offset) == ("conversations", 3, 17)
    assert (letter.stage, letter.reason, letter.exception, letter.attempts) == ("redact", "not_json", "BadData", 1)
    assert (letter.event_id, letter.redriven, letter.value_bytes, letter.parked_at) == ("e1", 0, 4, NOW)


def test_it_goes_back_as_it_was_sent() -> None:
    record = parked()
    back = redriven(record, as_letter(record))
    assert (back.topic, back.partition, back.key, back.value) == ("conversations", 3, b"shop/u", b"{bad")
    ours = {"appended_at": NOW.isoformat().encode(), "redriven_count": b"1"}
    assert back.headers == (*SENT, *((f"__memstream.errors.{name}", value) for name, value in ours.items()))


def test_every_return_is_counted_and_there_is_an_end() -> None:
    headers, returns = SENT, 0
    while not refusal(letter := as_letter(record := parked(headers)), 8):
        assert letter.redriven == returns
        headers = redriven(record, letter).headers
        returns += 1
        assert returns <= MAX_REDRIVES
    assert returns == MAX_REDRIVES
    assert f"{MAX_REDRIVES} times" in refusal(as_letter(parked(headers)), 8)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(replace(parked(), headers=()), id="no headers"),
        pytest.param(parked(topic="elsewhere"), id="a topic that is not ours"),
        pytest.param(parked(topic="dead-letters"), id="a dead letter of a dead letter"),
        pytest.param(parked(partition=8), id="a partition that is not there"),
        pytest.param(parked(whole=False), id="without its value"),
        pytest.param(replace(parked(), value=b"x" * (3 << 20)), id="larger than its topic takes"),
        pytest.param(parked((("__memstream.errors.redriven_count", b"99"),)), id="too often"),
    ],
)
def test_what_can_not_go_back_says_why(record: Record) -> None:
    assert refusal(as_letter(record), 8)
    assert not refusal(as_letter(parked()), 8)


def test_a_letter_without_its_value_tells_its_size_and_place() -> None:
    letter = as_letter(parked(whole=False))
    assert letter.value_bytes == 4
    assert "conversations/3/17" in refusal(letter, 8)


def test_headers_that_somebody_else_wrote_do_no_harm() -> None:
    odd = replace(parked(), headers=[(f"__memstream.errors.{n}", b"\x1b[31m\xff" * 99) for n in ("stage", "offset")])
    letter = as_letter(odd)
    assert letter.stage.isprintable()
    assert (letter.source_offset, letter.reason) == (-1, "unknown")


def test_a_marker_settles_the_letter_that_it_names() -> None:
    letter = as_letter(parked())
    made = marker(letter.id, "dropped")
    assert (made.topic, made.partition) == ("dead-letters.raw", 1)
    mark = read(replace(parked(offset=9), value=made.value, headers=made.headers), "memory.")
    assert mark == Marker(letter.id, "dropped")
    other = as_letter(parked(offset=8))
    box = Box.of([letter, other, mark])
    assert box.open(Wanted()) == [other]
    assert box.settled == {letter.id: "dropped"}


@pytest.mark.parametrize(
    ("settled", "before"),
    [((), None), ((4,), None), ((3,), 4), ((3, 5), 4), ((3, 4), 5), ((3, 4, 5), 6), ((4, 5), None)],
)
def test_only_what_lies_before_the_first_open_letter_is_deleted(settled: tuple[int, ...], before: int | None) -> None:
    letters = [as_letter(parked(offset=offset)) for offset in (3, 4, 5)]
    marks = [Marker(letter.id, "redriven") for letter in letters if letter.id.offset in settled]
    assert Box.of([*letters, *marks]).deletable() == ({("dead-letters.raw", 1): before} if before else {})


def test_filters() -> None:
    letter = as_letter(parked())
    later = datetime(2026, 3, 2, 10, tzinfo=UTC)
    for wanted in (
        Wanted(),
        Wanted(stage="redact", reason="not_json"),
        Wanted(topic="conversations"),
        Wanted(topic="dead-letters.raw"),
        Wanted(since=NOW, until=later),
        Wanted(ids=frozenset({letter.id})),
    ):
        assert wanted.takes(letter), wanted
    for wanted in (
        Wanted(stage="memory"),
        Wanted(reason="too_large"),
        Wanted(topic="redacted"),
        Wanted(since=later),
        Wanted(until=NOW),
        Wanted(ids=frozenset({replace(letter.id, offset=8)})),
    ):
        assert not wanted.takes(letter), wanted


@pytest.mark.parametrize("text", ["", "17", "records/0/17", "dead-letters/0", "dead-letters/0/-1", "dead-letters/x/1"])
def test_a_name_that_is_none(text: str) -> None:
    with pytest.raises(MemstreamError, match="dead-letters/0/17"):
        LetterId.parse(text)
