"""Load everything that can change when new items arrive: the closure of the relation over the store.

Statuses are a function of the set, so an item can only change what it is connected with: by a slot, by nearness, as a
correction, or by a client's directive. The closure follows pairs that have a relation, not all that are near, so that a
thousand sentences of one pattern are not one neighbourhood.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from schemas.control import Supersede
from schemas.memory import Layer, MemoryRecord, MemoryStatus
from schemas.tenant import Tenant
from streams.memory.settle.correction import TAG, best_fits
from streams.memory.settle.history import hidden
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.order import order, pair
from streams.memory.settle.relation import relate
from streams.ports import Doc, MemoryStore, ModelProfile, StoredMemory, Where

# Kinds of documents beside the memories: a client's directives and markers of erasure; a model's verdicts on pairs.
DIRECTIVES = "directive"
VERDICTS = "verdict"

Pair = tuple[str, str]


def nearness(profile: ModelProfile) -> float:
    """The cosine from which a pair is looked at: facts that may be one or in conflict, and, at the distance at which
    recall would find it, what a correction may be about."""
    return min(profile.recall, profile.conflict)


def verdict_key(one: str, other: str) -> str:
    return "|".join(pair(one, other))


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What `settle` needs. `items` holds the new ones too; `stored`: ids that the store already has."""

    items: tuple[MemoryRecord, ...]
    near: Mapping[Pair, float]
    directives: tuple[Supersede, ...]
    judged: Mapping[Pair, str]
    stored: frozenset[str]


async def neighbourhood(
    store: MemoryStore, tenant: Tenant, new: Sequence[StoredMemory], profile: ModelProfile
) -> Neighbourhood:
    """All items that are connected with `new`, every status and the archive included.

    `new` may be stored already (it is then settled as given). Typically two rounds of concurrent calls.
    """
    search = _Search(store, tenant, profile)
    directives = tuple(Supersede.model_validate(doc.body) for doc in await store.find_docs(tenant, DIRECTIVES))
    linked = _links(directives)
    members = {m.record.memory_id: m for m in new}
    seen: dict[str, MemoryRecord] = {i: m.record for i, m in members.items()}
    stored: set[str] = set()
    near: dict[Pair, float] = {}
    ambiguous: set[Pair] = set()
    frontier = list(members.values())
    while frontier:
        found, scores = await search.around(frontier)
        stored.update(record.memory_id for record in found)
        for record in found:
            seen.setdefault(record.memory_id, record)
        near.update(scores)
        near.update(_among(frontier, members.values(), nearness(profile)))
        reached: dict[str, None] = {}
        for member in frontier:
            own = member.record
            reached |= dict.fromkeys([*linked.get(own.memory_id, ()), *own.replaces, *_noted(own)])
            connected, unsure = _connected(own, seen, near, profile)
            reached |= dict.fromkeys(connected)
            ambiguous |= unsure
        wanted = [i for i in reached if i not in members]
        frontier = await store.get_with_vectors(tenant, wanted) if wanted else []
        stored.update(m.record.memory_id for m in frontier)
        members |= {m.record.memory_id: m for m in frontier}
        seen |= {m.record.memory_id: m.record for m in frontier}
    keys = [verdict_key(*both) for both in sorted(ambiguous) if both[0] in members and both[1] in members]
    verdicts = await store.get_docs(tenant, VERDICTS, keys) if keys else []
    return Neighbourhood(
        items=tuple(sorted((m.record for m in members.values()), key=order)),
        near={both: score for both, score in near.items() if both[0] in members and both[1] in members},
        directives=tuple(d for d in directives if d.old_id in members or d.new_id in members),
        judged={_pair_of(doc): str(doc.body["label"]) for doc in verdicts},
        stored=frozenset(stored & members.keys()),
    )


def _pair_of(doc: Doc) -> Pair:
    one, _, other = doc.key.partition("|")
    return (one, other)


def _links(directives: Iterable[Supersede]) -> dict[str, set[str]]:
    linked: dict[str, set[str]] = {}
    for d in directives:
        linked.setdefault(d.old_id, set()).add(d.new_id)
        linked.setdefault(d.new_id, set()).add(d.old_id)
    return linked


def _noted(record: MemoryRecord) -> list[str]:
    """Ids that the stored record is linked with already, whatever linked them."""
    links = (record.duplicate_of, record.superseded_by, *record.supersedes, *record.ambiguous_with)
    return [i for i in links if i is not None]


def _relation(one: MemoryRecord, other: MemoryRecord, near: Mapping[Pair, float], profile: ModelProfile) -> Relation:
    score = near.get(pair(one.memory_id, other.memory_id))
    if score is None and (one.slot is None or one.slot != other.slot):
        return NONE
    old, new = (one, other) if order(one) < order(other) else (other, one)
    return relate(old, new, score, profile)


def _connected(
    own: MemoryRecord, seen: Mapping[str, MemoryRecord], near: Mapping[Pair, float], profile: ModelProfile
) -> tuple[list[str], set[Pair]]:
    """Ids of what `own` is connected with, and the pairs that the rules could not tell.

    Of what a correction may be about only the best fit counts; what may be corrected counts every later correction,
    since it may be its best fit.
    """
    reached: list[str] = []
    unsure: set[Pair] = set()
    earlier: list[tuple[MemoryRecord, Relation]] = []
    for other in seen.values():
        if other.memory_id == own.memory_id:
            continue
        relation = _relation(own, other, near, profile)
        if relation.kind is Kind.TAKE_BACK and order(other) < order(own):
            earlier.append((other, relation))
        elif relation.kind is not Kind.NONE:
            reached.append(other.memory_id)
        if relation.kind is Kind.AMBIGUOUS:
            unsure.add(pair(own.memory_id, other.memory_id))
    return [*reached, *(record.memory_id for record, _ in best_fits(earlier))], unsure


def _among(frontier: Sequence[StoredMemory], members: Iterable[StoredMemory], threshold: float) -> dict[Pair, float]:
    """Nearness among members: the new ones are not in the store yet."""
    ids = {m.record.memory_id for m in frontier}
    both = [m for m in members if m.record.memory_id in ids]
    found = {}
    if len(both) > 1:
        vectors = np.stack([m.vector for m in both])
        scores = vectors @ vectors.T
        for i, j in combinations(range(len(both)), 2):
            score = round(float(scores[i, j]), 3)
            if score >= threshold:
                found[pair(both[i].record.memory_id, both[j].record.memory_id)] = score
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    store: MemoryStore
    tenant: Tenant
    profile: ModelProfile

    async def around(self, frontier: Sequence[StoredMemory]) -> tuple[list[MemoryRecord], dict[Pair, float]]:
        """One step outwards: what shares a slot with the frontier or is near to it, in both collections."""
        slots = tuple(sorted({m.record.slot for m in frontier if m.record.slot is not None}))
        correcting = [m for m in frontier if TAG in m.record.tags]
        plain = [m for m in frontier if TAG not in m.record.tags]
        facts = [m for m in plain if m.record.layer is Layer.FACT]
        said = [m for m in plain if m.record.role == "user"]
        pages: list[Awaitable[list[MemoryRecord]]] = []
        hits: list[Awaitable[dict[Pair, float]]] = []
        for archive in (False, True):
            if slots:
                pages.append(self._find(Where(slots=slots), archive))
            if facts:
                hits.append(self._near(facts, self.profile.conflict, Where(layers=(Layer.FACT,)), archive))
            if said:
                hits.append(self._near(said, nearness(self.profile), Where(tags=(TAG,)), archive))
            if correcting:
                hits.append(self._near(correcting, nearness(self.profile), Where(), archive))
        found, near_by = await asyncio.gather(asyncio.gather(*pages), asyncio.gather(*hits))
        records = {r.memory_id: r for page in found for r in page}
        near = {both: score for part in near_by for both, score in part.items()}
        known = records.keys() | {m.record.memory_id for m in frontier}
        missing = sorted({i for both in near for i in both} - known)
        for record in await self.store.get(self.tenant, missing) if missing else []:
            records[record.memory_id] = record
        return list(records.values()), near

    async def _find(self, where: Where, archive: bool) -> list[MemoryRecord]:
        records, cursor = await self.store.find(self.tenant, where, archive=archive)
        while cursor is not None:
            page, cursor = await self.store.find(self.tenant, where, cursor=cursor, archive=archive)
            records = records + page
        return records

    async def _near(
        self, members: Sequence[StoredMemory], threshold: float, where: Where, archive: bool
    ) -> dict[Pair, float]:
        rows = await self.store.near(
            self.tenant,
            np.stack([m.vector for m in members]),
            threshold=threshold - 0.0005,  # half of the last decimal that counts
            where=where,
            archive=archive,
        )
        return {
            pair(member.record.memory_id, hit.memory_id): round(hit.score, 3)
            for member, row in zip(members, rows, strict=True)
            for hit in row
            if hit.memory_id != member.record.memory_id and round(hit.score, 3) >= threshold
        }


async def outdated_episodes(store: MemoryStore, tenant: Tenant, episodes: Sequence[MemoryRecord]) -> frozenset[str]:
    """Ids of the episodes that say little else than what has been replaced since: recall leaves them out.

    One lookup by event for all of them, and one for the survivors of repeats.
    """
    events = tuple(sorted({e.source.event_id for e in episodes if e.layer is Layer.EPISODE}))
    if not events:
        return frozenset()
    told = (MemoryStatus.SUPERSEDED, MemoryStatus.DUPLICATE)
    facts, cursor = await store.find(tenant, Where(layers=(Layer.FACT,), statuses=told, event_ids=events))
    while cursor is not None:
        page, cursor = await store.find(
            tenant, Where(layers=(Layer.FACT,), statuses=told, event_ids=events), cursor=cursor
        )
        facts = facts + page
    survivors = sorted({f.duplicate_of for f in facts if f.duplicate_of is not None})
    replaced = {
        r.memory_id
        for r in (await store.get(tenant, survivors) if survivors else [])
        if r.status is MemoryStatus.SUPERSEDED
    }
    gone = [f for f in facts if f.status is MemoryStatus.SUPERSEDED or f.duplicate_of in replaced]
    return frozenset(e.memory_id for e in episodes if hidden(e, gone))
