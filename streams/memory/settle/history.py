"""Questions about the past of a fact: what was current at a moment, and how it came to be what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from schemas.control import Supersede
from schemas.memory import MemoryRecord, MemoryStatus
from streams.memory.settle.order import order
from streams.memory.settle.wording import figures, wording

# An episode that says little else than what has been replaced is hidden from recall.
COVERED_BY_SUPERSEDED: Final = 0.8
# What is left at the head of a text of which the first words are gone.
_BETWEEN: Final = " .!,;。，；！"


def holds_from(record: MemoryRecord) -> datetime:
    """When what a record says began to hold: what it says itself, else when it was said."""
    return record.valid_from or record.occurred_at


def held_at(record: MemoryRecord, moment: datetime) -> bool:
    """Did the record hold at `moment`, by its own interval and by when it was replaced? Repeats never do."""
    if record.status is MemoryStatus.DUPLICATE or moment < holds_from(record):
        return False
    return all(end is None or moment < end for end in (record.valid_until, record.superseded_at))


def as_of(records: Iterable[MemoryRecord], moment: datetime) -> list[MemoryRecord]:
    """What was current at `moment`, in the order of settling.

    A temporary change that holds at the moment stands in front of what it changes for a while: an older statement of
    the same single-valued slot is left out until the change is over.
    """
    held = sorted((r for r in records if held_at(r, moment)), key=order)
    changes = [r for r in held if r.temporary and r.slot is not None and r.cardinality == "single"]
    return [r for r in held if not any(_stands_before(change, r) for change in changes)]


def _stands_before(change: MemoryRecord, record: MemoryRecord) -> bool:
    return (
        change.slot == record.slot
        and change.layer is record.layer
        and not record.temporary
        and order(record) < order(change)
    )


def chain(records: Mapping[str, MemoryRecord], memory_id: str) -> list[MemoryRecord]:
    """The history of a memory, oldest first: what it replaced, itself and what replaced it, with all repeats.

    `records`: those around it by id; links to what is not there (erased) end the walk.
    """
    found: dict[str, MemoryRecord] = {}
    waiting = [memory_id]
    while waiting:
        current = waiting.pop()
        record = records.get(current)
        if record is None or current in found:
            continue
        found[current] = record
        waiting += [i for i in (record.duplicate_of, record.superseded_by, *record.supersedes) if i is not None]
        waiting += [r.memory_id for r in records.values() if r.duplicate_of == current]
    return sorted(found.values(), key=order)


def markers(removed: Sequence[MemoryRecord], remaining: Iterable[MemoryRecord]) -> list[Supersede]:
    """What is left, without text, of memories that are erased: what they had superseded stays superseded.

    To be kept as directives (`inferred` and with a newer half that is not there).
    """
    gone = {r.memory_id for r in removed}
    return [
        Supersede(
            namespace=old.namespace,
            user_id=old.user_id,
            old_id=old.memory_id,
            new_id=old.superseded_by,
            occurred_at=old.superseded_at or old.occurred_at,
            inferred=True,
        )
        for old in remaining
        if old.superseded_by is not None and old.superseded_by in gone
    ]


def still_so(episode: MemoryRecord, superseded: Iterable[MemoryRecord]) -> str:
    """The words of an episode without those of what has been replaced; empty when little else is left.

    `superseded`: facts that are superseded, or that repeat a superseded one; those of other events don't count.
    """
    said = wording(episode.content).content
    gone: set[str] = set()
    left = episode.content
    for fact in superseded:
        if (fact.source.event_id, fact.source.message) == (episode.source.event_id, episode.source.message):
            kept = _beside(fact)
            gone |= wording(fact.content.replace(kept, "") if kept else fact.content).content
            words = _said_in(episode, fact)
            left = left.replace(words, kept) if words else left
    if not gone:
        return episode.content
    covered = len(said & gone) >= COVERED_BY_SUPERSEDED * len(said)
    return "" if covered or not wording(left).content else left.strip().lstrip(_BETWEEN)


def _said_in(episode: MemoryRecord, fact: MemoryRecord) -> str:
    """The words that a fact was read from: a clause that shares the subject of another does not hold all of its own."""
    if fact.content in episode.content:
        return fact.content
    start, end = (max(0, place - episode.source.start) for place in (fact.source.start, fact.source.end))
    said = episode.content[start:end]
    return said if fact.content.endswith(said) else fact.content


def _beside(fact: MemoryRecord) -> str:
    """What a fact says beside a time or an amount: of a Chinese sentence the clauses after it, which mostly stand for
    themselves ("定在周三，地点在三楼")."""
    before, comma, after = fact.content.partition("，")
    value = fact.value or ""
    return after if comma and figures(value) and value in before and value not in after else ""
