"""Dead letters as values: what a record in `dead-letters` or `dead-letters.raw` says of itself, and how it goes back.

Kafka deletes no single record of these topics, so what became of a letter is written behind it: a marker, in the same
partition, that names the letter's offset and says `redriven` or `dropped`. A letter without one is open.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, get_args

from streams.errors import MemstreamError
from streams.outcome import Outbound
from streams.records import DEAD_LETTER_PREFIX, FIRST_APPENDED, Headers, header
from streams.topics import BY_NAME

LETTER_TOPICS = ("dead-letters", "dead-letters.raw")
# What five repairs did not help, the sixth won't: the record is published anew, mended, or dropped.
MAX_REDRIVES = 5
# Of a header's value that is printed: they are ours and short, but anybody who may write the topic writes headers.
MAX_SHOWN_CHARS = 200

Verdict = Literal["redriven", "dropped"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class Record(Protocol):
    """The parts of `aiokafka.ConsumerRecord` that are read here. `timestamp` in ms since the epoch."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Any


@dataclass(frozen=True, slots=True, order=True)
class LetterId:
    """Where a letter lies, written `dead-letters.raw/3/17`: topic without the prefix, partition, offset."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"

    @classmethod
    def parse(cls, text: str) -> LetterId:
        """Raises `MemstreamError` that shows the form."""
        found = re.fullmatch(r"([a-z.-]+)/(\d{1,9})/(\d{1,18})", text)
        if found is None or found[1] not in LETTER_TOPICS:
            raise MemstreamError(f"{text!r} names no dead letter: write it as `list` does, such as dead-letters/0/17")
        return cls(found[1], int(found[2]), int(found[3]))


@dataclass(frozen=True, slots=True)
class Letter:
    """One parked record, without its key and its value. `source_topic` is without the prefix when it has it."""

    id: LetterId
    parked_at: datetime
    source_topic: str
    source_partition: int
    source_offset: int
    stage: str
    reason: str
    exception: str
    attempts: int
    redriven: int
    event_id: str
    value_bytes: int
    value_left_out: bool

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "id": str(self.id), "parked_at": self.parked_at.isoformat()}


@dataclass(frozen=True, slots=True)
class Marker:
    letter: LetterId
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which letters. `since` is included, `until` is not; both compare with when the letter was parked."""

    ids: frozenset[LetterId] = frozenset()
    stage: str | None = None
    reason: str | None = None
    topic: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def everything(self) -> bool:
        return self == Wanted()

    def takes(self, letter: Letter) -> bool:
        return (
            (not self.ids or letter.id in self.ids)
            and self.stage in (None, letter.stage)
            and self.reason in (None, letter.reason)
            and self.topic in (None, letter.source_topic, letter.id.topic)
            and (self.since is None or letter.parked_at >= self.since)
            and (self.until is None or letter.parked_at < self.until)
        )


def read(record: Record, prefix: str) -> Letter | Marker:
    """What a record of these topics is. One that memstream did not write is a letter with the reason `unknown`."""
    headers = _headers(record)
    topic = record.topic.removeprefix(prefix)
    verdict = _text(headers, "settled")
    if verdict in VERDICTS:
        return Marker(LetterId(topic, record.partition, _number(headers, "letter")), verdict)
    source = _text(headers, "topic")
    return Letter(
        id=LetterId(topic, record.partition, record.offset),
        parked_at=datetime.fromtimestamp(record.timestamp / 1000, UTC),
        source_topic=source.removeprefix(prefix),
        source_partition=_number(headers, "partition"),
        source_offset=_number(headers, "offset"),
        stage=_text(headers, "stage") or "unknown",
        reason=_text(headers, "reason") or "unknown",
        exception=_text(headers, "exception.class.name"),
        attempts=_number(headers, "attempts"),
        redriven=max(0, _number(headers, "redriven_count")),
        event_id=_printable(header(headers, "ce_id")),
        value_bytes=max(_number(headers, "value_bytes_left_out"), len(record.value or b"")),
        value_left_out=header(headers, DEAD_LETTER_PREFIX + "value_bytes_left_out") is not None,
    )


def refusal(letter: Letter, partitions: int) -> str:
    """Why this letter can't go back to where it came from; empty when it can. `partitions`: of a topic by tenant."""
    source = BY_NAME.get(letter.source_topic)
    if source is None or source.name in LETTER_TOPICS:
        return "it does not say which topic of memstream it came from"
    if letter.source_partition not in range(partitions if source.partitioned else 1):
        return "it does not say which partition it came from"
    if letter.value_left_out:
        place = f"{letter.source_topic}/{letter.source_partition}/{letter.source_offset}"
        return f"it was too large to keep here; the record is at {place} until its retention ends"
    if letter.value_bytes > source.max_bytes:
        return f"it is larger than {source.name} takes"
    if letter.redriven >= MAX_REDRIVES:
        return f"it came back {letter.redriven} times: publish it anew, mended, or drop it"
    return ""


def redriven(record: Record, letter: Letter) -> Outbound:
    """The record as it was first sent, to the partition it came from, with its tries counted up.

    The count, and when it first came, lie in headers that a stage writes into the next dead letter, should there be
    one: an event without a time of its own keeps the one it had.
    """
    kept = tuple(
        (name, value)
        for name, value in _headers(record)
        if name == FIRST_APPENDED or not name.startswith(DEAD_LETTER_PREFIX)
    )
    tries = (DEAD_LETTER_PREFIX + "redriven_count", str(letter.redriven + 1).encode())
    return Outbound(letter.source_topic, record.key, record.value, (*kept, tries), letter.source_partition)


def marker(letter: LetterId, verdict: Verdict) -> Outbound:
    """An empty value, not a null one: a record with neither key nor value takes no partition."""
    says = {"settled": verdict, "letter": str(letter.offset)}
    headers = tuple((DEAD_LETTER_PREFIX + name, value.encode()) for name, value in says.items())
    return Outbound(letter.topic, None, b"", headers, letter.partition)


@dataclass(frozen=True, slots=True)
class Box:
    """All letters there are, oldest first, and what became of those that are settled."""

    letters: tuple[Letter, ...]
    settled: Mapping[LetterId, Verdict]

    @classmethod
    def of(cls, found: Iterable[Letter | Marker]) -> Box:
        letters: list[Letter] = []
        settled: dict[LetterId, Verdict] = {}
        for one in found:
            if isinstance(one, Letter):
                letters.append(one)
            else:
                settled[one.letter] = one.verdict
        return cls(tuple(sorted(letters, key=lambda letter: (letter.parked_at, letter.id))), settled)

    def open(self, wanted: Wanted) -> list[Letter]:
        return [letter for letter in self.letters if letter.id not in self.settled and wanted.takes(letter)]

    def deletable(self) -> dict[tuple[str, int], int]:
        """By (topic, partition): the offset before which every letter is settled, so that Kafka may delete it all."""
        before: dict[tuple[str, int], int] = {}
        place = operator.attrgetter("id.topic", "id.partition")
        for where, letters in itertools.groupby(sorted(self.letters, key=lambda letter: letter.id), key=place):
            for letter in itertools.takewhile(lambda letter: letter.id in self.settled, letters):
                before[where] = letter.id.offset + 1
        return before


def _headers(record: Record) -> Headers:
    return tuple(record.headers or ())


def _text(headers: Headers, name: str) -> str:
    return _printable(header(headers, DEAD_LETTER_PREFIX + name))


def _printable(found: tuple[str, bytes] | None) -> str:
    """Safe for a terminal: anybody who may write the topic may have written a header."""
    if found is None:
        return ""
    text = found[1][: 4 * MAX_SHOWN_CHARS].decode("utf-8", "replace")[:MAX_SHOWN_CHARS]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _number(headers: Headers, name: str) -> int:
    """-1 when it is missing or none."""
    text = _text(headers, name)
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else -1
