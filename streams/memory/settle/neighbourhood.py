"""Load everything that can change when new items arrive: the closure of the relation over the store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.control import Supersede
from schemas.memory import Layer, MemoryRecord
from schemas.tenant import Tenant
from streams.memory.settle.kinds import Kind
from streams.memory.settle.order import order, pair
from streams.memory.settle.relation import relate
from streams.ports import ModelProfile, StoredMemory, MemoryStore, Where

DIRECTIVES = "directive"
VERDICTS = "verdict"


def nearness(profile: ModelProfile) -> float:
    """The cosine from which a pair is looked at: facts that may be one or in conflict, and, at the distance at which
    recall would find it, what a correction may be about."""
    return min(profile.recall, profile.conflict)


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What `settle` needs. `items` holds the new ones too; `stored`: ids that the store already has."""

    items: tuple[MemoryRecord, ...]
    near: Mapping[tuple[str, str], float]
    directives: tuple[Supersede, ...]
    judged: Mapping[tuple[str, str], str]
    stored: frozenset[str]


async def neighbourhood(
    store: MemoryStore, tenant: Tenant, new: Sequence[StoredMemory], profile: ModelProfile
) -> Neighbourhood:
    """All items that are connected with `new`, every status and the archive included."""
    known: dict[str, MemoryRecord] = {m.record.memory_id: m.record for m in new}
    stored: set[str] = set()
    near: dict[tuple[str, str], float] = {}
    directive_docs, verdict_docs = await asyncio.gather(
        store.find_docs(tenant, DIRECTIVES), store.find_docs(tenant, VERDICTS)
    )
    directives = tuple(Supersede.model_validate(doc.body) for doc in directive_docs)
    linked: dict[str, set[str]] = {}
    for d in directives:
        linked.setdefault(d.old_id, set()).add(d.new_id)
        linked.setdefault(d.new_id, set()).add(d.old_id)
    frontier = list(new)
    expanded = {m.record.memory_id for m in new}
    while frontier:
        found, scores = await _round(store, tenant, frontier, profile)
        for record in found:
            stored.add(record.memory_id)
            known.setdefault(record.memory_id, record)
        near.update(scores)
        _among(frontier, near, profile)
        ids: dict[str, None] = {}
        for member in frontier:
            own = member.record
            ids |= dict.fromkeys(sorted(linked.get(own.memory_id, ())))
            ids |= dict.fromkeys(own.replaces)
            for other in known.values():
                if other.memory_id not in expanded and _connected(own, other, near, profile):
                    ids[other.memory_id] = None
        wanted = [i for i in ids if i not in expanded]
        frontier = await store.get_with_vectors(tenant, wanted) if wanted else []
        for member in frontier:
            stored.add(member.record.memory_id)
            known.setdefault(member.record.memory_id, member.record)
        expanded.update(wanted)
    items = [record for memory_id, record in known.items() if memory_id in expanded]
    kept = {record.memory_id for record in items}
    return Neighbourhood(
        items=tuple(sorted(items, key=order)),
        near={both: score for both, score in near.items() if both[0] in kept and both[1] in kept},
        directives=tuple(d for d in directives if d.old_id in kept or d.new_id in kept),
        judged={
            pair(str(doc.body["one"]), str(doc.body["other"])): str(doc.body["label"])
            for doc in verdict_docs
            if doc.body["one"] in kept and doc.body["other"] in kept
        },
        stored=frozenset(stored & kept),
    )


def _connected(
    one: MemoryRecord, other: MemoryRecord, near: Mapping[tuple[str, str], float], profile: ModelProfile
) -> bool:
    old, new = sorted((one, other), key=order)
    return relate(old, new, near.get(pair(old.memory_id, new.memory_id)), profile).kind is not Kind.NONE


def _among(frontier: Sequence[StoredMemory], near: dict[tuple[str, str], float], profile: ModelProfile) -> None:
    """Nearness among the members themselves: the new ones are not in the store yet."""
    facts = [m for m in frontier if m.record.layer is Layer.FACT]
    if len(facts) < 2:
        return
    vectors = np.stack([m.vector for m in facts])
    scores = vectors @ vectors.T
    for i, j in zip(*np.nonzero(np.triu(scores >= profile.conflict - 0.0005, 1)), strict=True):
        score = round(float(scores[i, j]), 3)
        if score >= profile.conflict:
            near[pair(facts[i].record.memory_id, facts[j].record.memory_id)] = score


async def _round(
    store: MemoryStore, tenant: Tenant, frontier: Sequence[StoredMemory], profile: ModelProfile
) -> tuple[list[MemoryRecord], dict[tuple[str, str], float]]:
    """One step outwards: what shares a slot with the frontier or is near to it, in both collections."""
    slots = tuple(sorted({m.record.slot for m in frontier if m.record.slot is not None}))
    facts = [m for m in frontier if m.record.layer is Layer.FACT]
    by_slot = [_all(store, tenant, Where(slots=slots), archive) for archive in (False, True) if slots]
    by_vector = [_near(store, tenant, facts, profile, archive) for archive in (False, True) if facts]
    slot_pages, vector_hits = await asyncio.gather(asyncio.gather(*by_slot), asyncio.gather(*by_vector))
    records = {r.memory_id: r for page in slot_pages for r in page}
    near = {both: score for hits in vector_hits for both, score in hits.items()}
    missing = sorted({i for both in near for i in both} - records.keys() - {m.record.memory_id for m in frontier})
    for record in await store.get(tenant, missing) if missing else []:
        records[record.memory_id] = record
    return list(records.values()), near


async def _all(store: MemoryStore, tenant: Tenant, where: Where, archive: bool) -> list[MemoryRecord]:
    page, cursor = await store.find(tenant, where, archive=archive)
    records = page
    while cursor is not None:
        page, cursor = await store.find(tenant, where, cursor=cursor, archive=archive)
        records = records + page
    return records


async def _near(
    store: MemoryStore, tenant: Tenant, facts: Sequence[StoredMemory], profile: ModelProfile, archive: bool
) -> dict[tuple[str, str], float]:
    hits = await store.near(
        tenant,
        np.stack([m.vector for m in facts]),
        threshold=profile.conflict - 0.0005,  # half of the last decimal that counts
        where=Where(layers=(Layer.FACT,)),
        archive=archive,
    )
    return {
        pair(member.record.memory_id, hit.memory_id): round(hit.score, 3)
        for member, row in zip(facts, hits, strict=True)
        for hit in row
        if hit.memory_id != member.record.memory_id and round(hit.score, 3) >= profile.conflict
    }
