"""The memories that are linked to one: by what settling decided, by where they were said, by the names in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schemas import MemoryRecord, MemoryStatus, Tenant
from schemas.recall import Link
from streams.ports import MemoryStore, Where

# Of one event, and of one name: what a reader looks through. Links that were settled are all shown.
MOST = 50
# Looked at for that: of a name in more memories than this, only some are.
SEARCHED = 1000


@dataclass(frozen=True, slots=True)
class Related:
    """`links`: how `record` is linked to the memory that was asked about. `shared`: the names that both have."""

    record: MemoryRecord
    links: tuple[Link, ...]
    shared: tuple[str, ...] = ()


async def related(store: MemoryStore, tenant: Tenant, memory_id: str) -> list[Related]:
    """The memory itself, without links, then what is linked to it; empty when the tenant has no such memory.

    Settled links first, then the same event, then shared names; the newest first within each.
    """
    own = await store.get(tenant, [memory_id])
    if not own:
        return []
    (one,) = own
    named = list(dict.fromkeys((*_named(one), *one.ambiguous_with, *one.linked, *one.digest_of)))
    around = {record.memory_id: record for record in (await store.get(tenant, named) if named else [])}
    events = tuple(dict.fromkeys(source.event_id for source in one.sources))
    lookups = [Where(event_ids=events)] if events else []
    if one.entities:
        lookups.append(Where(entities=one.entities, statuses=(MemoryStatus.ACTIVE, MemoryStatus.ARCHIVED)))
    for where in lookups:
        for archive in (False, True):
            found, _ = await store.find(tenant, where, limit=SEARCHED, archive=archive)
            around |= {record.memory_id: record for record in found}
    around.pop(memory_id, None)
    ordered = sorted(around.values(), key=lambda record: (record.occurred_at, record.memory_id), reverse=True)
    linked = [_related(one, record) for record in ordered]
    settled = [item for item in linked if item.links and item.links[0] not in ("same_event", "shared_entity")]
    same_event = [item for item in linked if item.links[:1] == ("same_event",)]
    shared = [item for item in linked if item.links == ("shared_entity",)]
    return [Related(one, ()), *settled, *same_event[:MOST], *shared[:MOST]]


def _named(one: MemoryRecord) -> Iterator[str]:
    yield from (other for other in (one.superseded_by, one.duplicate_of) if other is not None)
    yield from (*one.supersedes, *one.replaces)


def _related(one: MemoryRecord, other: MemoryRecord) -> Related:
    shared = tuple(name for name in one.entities if name in other.entities)
    return Related(other, tuple(_links(one, other, shared)), shared)


def _links(one: MemoryRecord, other: MemoryRecord, shared: tuple[str, ...]) -> Iterator[Link]:
    """Each side may be the one that names the other."""
    mine, theirs = one.memory_id, other.memory_id
    if theirs in (*one.supersedes, *one.replaces) or other.superseded_by == mine:
        yield "supersedes"
    if mine in (*other.supersedes, *other.replaces) or one.superseded_by == theirs:
        yield "superseded_by"
    if one.duplicate_of == theirs:
        yield "duplicate_of"
    if other.duplicate_of == mine:
        yield "repeated_by"
    if theirs in one.ambiguous_with or mine in other.ambiguous_with:
        yield "ambiguous"
    if theirs in one.linked or mine in other.linked:
        yield "correction"
    if theirs in one.digest_of:
        yield "digest_of"
    if mine in other.digest_of:
        yield "in_digest"
    if {source.event_id for source in one.sources} & {source.event_id for source in other.sources}:
        yield "same_event"
    if shared:
        yield "shared_entity"
