"""An event's facts once more: from the words that are stored of it, in place of those that were extracted before.

The episodes of an event are its redacted messages in their own words. They become the event again, which goes through
the stage `extract` as any other; what comes back replaces the facts. What the gate kept out of the episodes, earlier
messages that only helped to resolve a reference, and the zone of the event (its namespace's is taken) are not stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schemas import Layer, MemoryRecord, MemoryType, Message, Receipt, RedactedEvent, ReExtraction, Tenant
from streams.memory.decay.evidence import with_evidence_of
from streams.memory.settle.order import order
from streams.paging import everything
from streams.ports import MemoryStore, Where


async def of_event(store: MemoryStore, tenant: Tenant, event_id: str) -> list[MemoryRecord]:
    """What was made of an event, every status and the archive included; without digests, which tell of many."""
    found = [
        record
        for record in await everything(store, tenant, Where(event_ids=(event_id,)))
        if record.source.event_id == event_id and record.memory_type is not MemoryType.DIGEST
    ]
    return sorted({record.memory_id: record for record in found}.values(), key=order)


def event_again(receipt: Receipt, stored: Iterable[MemoryRecord], anew: ReExtraction, timezone: str) -> RedactedEvent:
    """The event that `stored`, of which one at least is an episode, was made of. Each passage stands where it stood."""
    records = list(stored)
    episodes = [record for record in records if record.layer is Layer.EPISODE]
    first = episodes[0]
    passages: dict[int, list[MemoryRecord]] = defaultdict(list)
    for episode in episodes:
        passages[episode.source.message].append(episode)
    return RedactedEvent(
        event_id=receipt.event_id,
        namespace=receipt.namespace,
        user_id=receipt.user_id,
        session_id=first.session_id,
        occurred_at=receipt.occurred_at or first.occurred_at,
        timezone=timezone,
        messages=tuple(_message(passages.get(place, ())) for place in range(max(passages) + 1)),
        replaces=tuple(dict.fromkeys(old for record in records for old in record.replaces)),
        appended_at=receipt.appended_at or first.created_at,
        digest=receipt.digest,
        policy_version=first.policy_version,
        re_extraction=anew,
    )


def _message(passages: Sequence[MemoryRecord]) -> Message:
    """A message of which nothing is stored is empty, so that the others keep their places."""
    text = ""
    for passage in sorted(passages, key=lambda record: record.source.start):
        text = text.ljust(passage.source.start) + passage.content
    if not passages:
        return Message(text=text)
    said = passages[0]
    return Message(role=said.role, text=text, speaker=said.speaker, time=said.occurred_at)


def is_later(one: ReExtraction | None, other: ReExtraction | None) -> bool:
    """By the time of the command: a redelivered or an overtaken extraction changes nothing."""
    if one is None or other is None:
        return one is not None
    return (one.at, one.command_id) > (other.at, other.command_id)


@dataclass(frozen=True, slots=True)
class Replaced:
    """`kept`: found again, as they are to be, by id."""

    new: Sequence[MemoryRecord]
    kept: Mapping[str, MemoryRecord]
    withdrawn: Sequence[MemoryRecord]


def replaced_facts(stored: Sequence[MemoryRecord], extracted: Iterable[MemoryRecord]) -> Replaced | None:
    """What a new extraction does to the facts of an event. None when nothing that was said is stored any more.

    A fact counts as long as its message is stored: what was forgotten with its message does not come back.
    """
    said = {record.source.message for record in stored if record.layer is Layer.EPISODE}
    if not said:
        return None
    before = {record.memory_id: record for record in stored if record.layer is Layer.FACT}
    found = {r.memory_id: r for r in extracted if r.layer is Layer.FACT and r.source.message in said}
    return Replaced(
        new=[record for memory_id, record in found.items() if memory_id not in before],
        kept={i: _as_used(record, before[i]) for i, record in found.items() if i in before},
        withdrawn=[record for memory_id, record in before.items() if memory_id not in found],
    )


_OF_USE = ("created_at", "last_access_time", "access_count", "access_marks", "archived_at", "replaces")


def _as_used(record: MemoryRecord, before: MemoryRecord) -> MemoryRecord:
    as_used = record.model_copy(update={name: getattr(before, name) for name in (*_OF_USE, *_DERIVED)})
    return with_evidence_of(as_used, before)


# Derived again in the same step; until then as they stand, so that what they link is looked at.
_DERIVED = (
    "status",
    "duplicate_of",
    "superseded_by",
    "superseded_at",
    "supersedes",
    "ambiguous_with",
    "linked",
    "reason",
    "sources",
    "updated_at",
)
