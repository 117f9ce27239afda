"""Load everything that can change when new items arrive: the closure of the relation over the store.

Statuses are a function of the set, so an item can only change what it is connected with: by a slot, by nearness, as a
correction, or by a client's directive. The closure follows pairs that have a relation, not all that are near, so that a
thousand sentences of one pattern are not one neighbourhood.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.control import Supersede
from schemas.memory import Layer, MemoryRecord, MemoryStatus
from schemas.tenant import Tenant
from streams.long_text import Breath
from streams.memory.settle.about import places
from streams.memory.settle.correction import TAG, best_fits
from streams.memory.settle.history import still_so
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.order import order, pair
from streams.memory.settle.relation import relate
from streams.paging import everything
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
    store: MemoryStore,
    tenant: Tenant,
    new: Sequence[StoredMemory],
    profile: ModelProfile,
    *,
    without: frozenset[str] = frozenset(),
) -> Neighbourhood:
    """All items that are connected with `new`, every status and the archive included.

    `new` may be stored already (it is then settled as given). `without`: ids of stored memories that are about to go.
    Typically two rounds of concurrent calls.
    """
    docs = await store.find_docs(tenant, DIRECTIVES, VERDICTS)
    directives = tuple(Supersede.model_validate(doc.body) for doc in docs if doc.kind == DIRECTIVES)
    walk = _Walk(_Search(store, tenant, profile, without), profile, _links(directives))
    members = await walk.run(new)
    judged = {_pair_of(doc): str(doc.body["label"]) for doc in docs if doc.kind == VERDICTS}
    return Neighbourhood(
        items=tuple(sorted((m.record for m in members.values()), key=order)),
        near={both: score for both, score in walk.near.items() if both[0] in members and both[1] in members},
        directives=tuple(d for d in directives if d.old_id in members or d.new_id in members),
        judged={both: label for both, label in judged.items() if both[0] in members and both[1] in members},
        stored=frozenset(walk.stored & members.keys()),
    )


class _Walk:
    """The closure, step by step. Only what is new is searched for corrections around it: what stored memories are
    about was found when they arrived and is `linked`."""

    def __init__(self, search: _Search, profile: ModelProfile, told: Mapping[str, set[str]]) -> None:
        self._search = search
        self._profile = profile
        self._told = told
        self.members: dict[str, StoredMemory] = {}
        self.near: dict[Pair, float] = {}
        self.stored: set[str] = set()
        self._seen: dict[str, MemoryRecord] = {}
        self._partners: dict[str, set[str]] = defaultdict(set)
        self._places: dict[str, set[str]] = defaultdict(set)
        # Searched for corrections around them; those among them that arrive now.
        self._searched: set[str] = set()
        self._new: set[str] = set()

    async def run(self, new: Sequence[StoredMemory]) -> dict[str, StoredMemory]:
        self._new = {m.record.memory_id for m in new}
        frontier = self._enter(new)
        search_again: set[str] = set(self._new)
        breath = Breath()
        while frontier:
            fully = {m.record.memory_id for m in frontier} & search_again
            self._searched |= fully
            await self._look_around(frontier, fully)
            reached: dict[str, None] = {}
            for member in frontier:
                await breath.take()  # a record of thousands of statements holds nobody's recall up
                connected, corrections = self._connected(member.record)
                reached |= dict.fromkeys([*connected, *corrections])
                search_again |= corrections
            waiting = [i for i in reached if i not in self.members and i not in self._search.without]
            loaded = await self._search.store.get_with_vectors(self._search.tenant, waiting) if waiting else []
            self.stored.update(m.record.memory_id for m in loaded)
            again = [self.members[i] for i in reached if i in self.members and i in search_again - self._searched]
            frontier = [*self._enter(loaded), *again]
        self._score_links()
        return self.members

    def _enter(self, members: Iterable[StoredMemory]) -> list[StoredMemory]:
        entered = list({m.record.memory_id: m for m in members}.values())
        for member in entered:
            self.members[member.record.memory_id] = member
            self._see(member.record)
        return entered

    def _see(self, record: MemoryRecord) -> None:
        self._seen.setdefault(record.memory_id, record)
        for place in places(record):
            self._places[place].add(record.memory_id)

    def _note(self, scores: Mapping[Pair, float]) -> None:
        self.near.update(scores)
        for one, other in scores:
            self._partners[one].add(other)
            self._partners[other].add(one)

    async def _look_around(self, frontier: Sequence[StoredMemory], fully: set[str]) -> None:
        found, scores = await self._search.around(frontier, fully)
        self.stored.update(record.memory_id for record in found)
        for record in found:
            self._see(record)
        self._note(scores)
        self._note(_among(frontier, nearness(self._profile)))

    def _connected(self, own: MemoryRecord) -> tuple[list[str], set[str]]:
        """Ids of what `own` is connected with, and of corrections that may be about it, being new."""
        reached = [*self._told.get(own.memory_id, ()), *own.replaces, *own.linked, *_noted(own)]
        corrections: set[str] = set()
        earlier: list[tuple[MemoryRecord, Relation]] = []
        partners = self._partners[own.memory_id].union(*(self._places[place] for place in places(own)))
        if own.memory_id not in self._searched:
            partners -= self.members.keys()  # what is in already need not be reached; a slot of many is in at once
        for memory_id in sorted(partners - {own.memory_id}):
            other = self._seen.get(memory_id)
            if other is None:
                continue
            relation = _relation(own, other, self.near, self._profile)
            if relation.kind is Kind.TAKE_BACK:
                if order(other) < order(own):
                    earlier += [(other, relation)] if own.memory_id in self._searched else []
                elif own.memory_id in self._new:
                    corrections.add(memory_id)
            elif relation.kind is not Kind.NONE:
                reached.append(memory_id)
        return [*reached, *(record.memory_id for record, _ in best_fits(earlier))], corrections

    def _score_links(self) -> None:
        """Nearness of linked members that were not searched this time."""
        for memory_id, member in self.members.items():
            for other_id in member.record.linked:
                other = self.members.get(other_id)
                if other is not None and pair(memory_id, other_id) not in self.near:
                    score = round(float(member.vector @ other.vector), 3)
                    if score >= nearness(self._profile):
                        self.near[pair(memory_id, other_id)] = score


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
    if score is None and set(places(one)).isdisjoint(places(other)):
        return NONE
    old, new = (one, other) if order(one) < order(other) else (other, one)
    return relate(old, new, score, profile)


def _among(members: Sequence[StoredMemory], threshold: float) -> dict[Pair, float]:
    """Nearness among members: the new ones are not in the store yet."""
    found = {}
    if len(members) > 1:
        vectors = np.stack([m.vector for m in members])
        scores = vectors @ vectors.T
        for i, j in zip(*np.nonzero(np.triu(scores >= threshold - 0.0005, 1)), strict=True):
            score = round(float(scores[i, j]), 3)
            if score >= threshold:
                found[pair(members[i].record.memory_id, members[j].record.memory_id)] = score
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    store: MemoryStore
    tenant: Tenant
    profile: ModelProfile
    without: frozenset[str]

    async def around(
        self, frontier: Sequence[StoredMemory], fully: set[str]
    ) -> tuple[list[MemoryRecord], dict[Pair, float]]:
        """One step outwards: what shares a slot with the frontier or is near to it, in both collections.

        `fully`: those around which corrections are looked for as well.
        """
        slots = tuple(sorted({m.record.slot for m in frontier if m.record.slot is not None}))
        tags = tuple(sorted({place for m in frontier for place in places(m.record) if place != m.record.slot}))
        facts = [m for m in frontier if m.record.layer is Layer.FACT]
        said = [m for m in frontier if m.record.memory_id in fully and m.record.role == "user"]
        correcting = [m for m in said if TAG in m.record.tags]
        plain = [m for m in said if TAG not in m.record.tags]
        pages: list[Awaitable[list[MemoryRecord]]] = []
        hits: list[Awaitable[dict[Pair, float]]] = []
        for archive in (False, True):
            if slots:
                pages.append(self._find(Where(slots=slots), archive))
            if tags:
                pages.append(self._find(Where(tags=tags), archive))
            if facts:
                hits.append(self._near(facts, self.profile.conflict, Where(layers=(Layer.FACT,)), archive))
            if plain:
                # Only what was said later can correct it; of what is said now that is nothing.
                since = min(m.record.occurred_at for m in plain)
                hits.append(self._near(plain, nearness(self.profile), Where(tags=(TAG,), since=since), archive))
            if correcting:
                hits.append(self._near(correcting, nearness(self.profile), Where(), archive))
        found, near_by = await asyncio.gather(asyncio.gather(*pages), asyncio.gather(*hits))
        records = {r.memory_id: r for page in found for r in page if r.memory_id not in self.without}
        near = {both: score for part in near_by for both, score in part.items()}
        known = records.keys() | {m.record.memory_id for m in frontier}
        missing = sorted({i for both in near for i in both} - known)
        for record in await self.store.get(self.tenant, missing) if missing else []:
            records[record.memory_id] = record
        return list(records.values()), near

    async def _find(self, where: Where, archive: bool) -> list[MemoryRecord]:
        return await everything(self.store, self.tenant, where, archives=(archive,))

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
            if hit.memory_id != member.record.memory_id
            and hit.memory_id not in self.without
            and round(hit.score, 3) >= threshold
        }


async def outdated_episodes(store: MemoryStore, tenant: Tenant, episodes: Sequence[MemoryRecord]) -> dict[str, str]:
    """What the episodes that say something replaced since still say, by id; "" when that is little: recall leaves
    those out, and tells of the others what is left.

    One lookup by event for all of them, and one for the survivors of repeats.
    """
    events = tuple(sorted({e.source.event_id for e in episodes if e.layer is Layer.EPISODE}))
    if not events:
        return {}
    told = (MemoryStatus.SUPERSEDED, MemoryStatus.DUPLICATE)
    where = Where(layers=(Layer.FACT,), statuses=told, event_ids=events)
    facts = await everything(store, tenant, where, archives=(False,))
    survivors = sorted({f.duplicate_of for f in facts if f.duplicate_of is not None})
    replaced = {
        r.memory_id
        for r in (await store.get(tenant, survivors) if survivors else [])
        if r.status is MemoryStatus.SUPERSEDED
    }
    gone = [f for f in facts if f.status is MemoryStatus.SUPERSEDED or f.duplicate_of in replaced]
    left = {e.memory_id: still_so(e, gone) for e in episodes if e.layer is Layer.EPISODE}
    return {e.memory_id: left[e.memory_id] for e in episodes if left.get(e.memory_id, e.content) != e.content}
