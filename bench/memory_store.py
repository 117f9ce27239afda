"""The store interface over numpy arrays in process: exact, unindexed, for measuring what is above the store.

Semantics are those of `streams.ports.VectorStore`, with Qdrant's collection-wide IDF for sparse search. Nothing is
durable; a thousand memories a tenant is what it is made for.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from schemas import Layer, MemoryRecord, Tenant
from streams.ports import Doc, Scored, SparseVector, StoredMemory, Vectors, Where


def matches(record: MemoryRecord, where: Where) -> bool:
    """Whether a record meets every given part of `where`."""
    any_of: tuple[tuple[Iterable[object], Iterable[object]], ...] = (
        (where.layers, (record.layer,)),
        (where.types, (record.memory_type,)),
        (where.statuses, (record.status,)),
        (where.tags, record.tags),
        (where.entities, record.entities),
        (where.slots, (record.slot,)),
        (where.sessions, (record.session_id,)),
        (where.event_ids, tuple(source.event_id for source in record.sources)),
    )
    return (
        all(not wanted or set(wanted) & set(has) for wanted, has in any_of)
        and (where.since is None or record.occurred_at >= where.since)
        and (where.until is None or record.occurred_at < where.until)
    )


def place(record: MemoryRecord) -> tuple[int, str, int, int]:
    """The order of the turns of a session."""
    source = record.source
    return record.sequence, source.event_id, source.message, source.start


@dataclass(eq=False)
class _Shelf:
    """The memories of one tenant in one collection, with a matrix that is rebuilt after a write."""

    memories: dict[str, StoredMemory] = field(default_factory=dict)
    _ids: list[str] = field(default_factory=list)
    _matrix: Vectors | None = None
    _postings: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    _sessions: dict[str, list[StoredMemory]] = field(default_factory=dict)

    def changed(self) -> None:
        self._matrix = None

    def index(self) -> tuple[list[str], Vectors, dict[int, list[tuple[int, float]]]]:
        if self._matrix is None:
            self._ids = sorted(self.memories)
            stored = [self.memories[i] for i in self._ids]
            self._matrix = np.stack([s.vector for s in stored]) if stored else np.zeros((0, 1), np.float32)
            self._postings = defaultdict(list)
            sessions: dict[str, list[StoredMemory]] = defaultdict(list)
            for row, one in enumerate(stored):
                for term, weight in zip(one.sparse.indices, one.sparse.values, strict=True):
                    self._postings[term].append((row, weight))
                if one.record.layer is Layer.EPISODE:
                    sessions[one.record.session_id].append(one)
            self._sessions = {s: sorted(turns, key=lambda t: place(t.record)) for s, turns in sessions.items()}
        return self._ids, self._matrix, self._postings

    def session(self, session_id: str) -> list[StoredMemory]:
        self.index()
        return self._sessions.get(session_id, [])


class MemoryStore:
    """`VectorStore` in process."""

    def __init__(self) -> None:
        self._live: dict[str, _Shelf] = defaultdict(_Shelf)
        self._archive: dict[str, _Shelf] = defaultdict(_Shelf)
        self._docs: dict[tuple[str, str, str], Doc] = {}
        self._df: Counter[int] = Counter()

    def _shelf(self, tenant: Tenant, archive: bool) -> _Shelf:
        return (self._archive if archive else self._live)[tenant.key]

    async def open(self) -> None:
        return None

    async def close(self) -> None:
        return None

    async def ping(self) -> None:
        return None

    async def flush(self) -> None:
        return None

    def _put(self, tenant: Tenant, memory: StoredMemory, archive: bool) -> None:
        shelf = self._shelf(tenant, archive)
        old = shelf.memories.get(memory.record.memory_id)
        if not archive:
            if old is not None:
                self._df.subtract(old.sparse.indices)
            self._df.update(memory.sparse.indices)
        shelf.memories[memory.record.memory_id] = memory
        shelf.changed()

    def _take(self, tenant: Tenant, memory_id: str, archive: bool) -> StoredMemory | None:
        shelf = self._shelf(tenant, archive)
        taken = shelf.memories.pop(memory_id, None)
        if taken is not None:
            if not archive:
                self._df.subtract(taken.sparse.indices)
            shelf.changed()
        return taken

    async def upsert(self, tenant: Tenant, memories: Sequence[StoredMemory], *, archive: bool = False) -> None:
        for memory in memories:
            if memory.record.tenant != tenant:
                raise ValueError("a memory of another tenant")
            if not np.isfinite(memory.vector).all():
                raise ValueError("a vector that is not finite")
        for memory in memories:
            self._put(tenant, memory, archive)

    async def update(self, tenant: Tenant, records: Sequence[MemoryRecord]) -> list[str]:
        absent = []
        for record in records:
            for shelf in (self._shelf(tenant, False), self._shelf(tenant, True)):
                if record.memory_id in shelf.memories:
                    shelf.memories[record.memory_id] = replace(shelf.memories[record.memory_id], record=record)
                    shelf.changed()
                    break
            else:
                absent.append(record.memory_id)
        return absent

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None:
        for memory_id in memory_ids:
            for archive in (False, True):
                self._take(tenant, memory_id, archive)

    async def move(self, tenant: Tenant, memory_ids: Sequence[str], *, to_archive: bool) -> None:
        for memory_id in memory_ids:
            taken = self._take(tenant, memory_id, not to_archive)
            if taken is not None:
                self._put(tenant, taken, to_archive)

    async def get(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[MemoryRecord]:
        return [one.record for one in await self.get_with_vectors(tenant, memory_ids)]

    async def get_with_vectors(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[StoredMemory]:
        live, archived = (self._shelf(tenant, archive).memories for archive in (False, True))
        found = (live.get(memory_id) or archived.get(memory_id) for memory_id in memory_ids)
        return [one for one in found if one is not None]

    async def find(
        self, tenant: Tenant, where: Where, *, limit: int = 1000, cursor: str | None = None, archive: bool = False
    ) -> tuple[list[MemoryRecord], str | None]:
        memories = self._shelf(tenant, archive).memories
        ids = [i for i in sorted(memories) if (cursor is None or i >= cursor) and matches(memories[i].record, where)]
        return [memories[i].record for i in ids[:limit]], ids[limit] if len(ids) > limit else None

    async def near(
        self, tenant: Tenant, vectors: Vectors, *, threshold: float, where: Where, archive: bool = False
    ) -> list[list[Scored]]:
        shelf = self._shelf(tenant, archive)
        ids, matrix, _ = shelf.index()
        if not ids:
            return [[] for _ in vectors]
        return [
            [
                Scored(ids[row], float(cosines[row]))
                for row in np.argsort(-cosines, kind="stable")
                if cosines[row] >= threshold and matches(shelf.memories[ids[row]].record, where)
            ]
            for cosines in vectors @ matrix.T
        ]

    async def search(
        self,
        tenant: Tenant,
        dense: Vectors | None,
        sparse: SparseVector | None,
        *,
        where: Where,
        limit: int,
        archive: bool = False,
    ) -> tuple[list[Scored], list[Scored]]:
        shelf = self._shelf(tenant, archive)
        ids, matrix, postings = shelf.index()
        if not ids:
            return [], []
        allowed = None if where == Where() else np.array([matches(shelf.memories[i].record, where) for i in ids])

        def best(scores: Vectors, keep: Callable[[float], bool]) -> list[Scored]:
            shown = scores if allowed is None else np.where(allowed, scores, -np.inf)
            order = np.argsort(-shown, kind="stable")[:limit]
            return [Scored(ids[row], float(shown[row])) for row in order if keep(float(shown[row]))]

        by_meaning: list[Scored] = []
        by_words: list[Scored] = []
        if dense is not None:
            by_meaning = best(matrix @ dense, math.isfinite)
        if sparse is not None and sparse.indices:
            total = sum(len(one.memories) for one in self._live.values())
            scores = np.zeros(len(ids), np.float32)
            for term, weight in zip(sparse.indices, sparse.values, strict=True):
                df = self._df[term]
                idf = math.log(1 + (total - df + 0.5) / (df + 0.5))
                for row, tf in postings.get(term, ()):
                    scores[row] += weight * idf * tf
            by_words = best(scores, lambda score: math.isfinite(score) and score > 0)
        return by_meaning, by_words

    async def neighbours(
        self, tenant: Tenant, anchors: Sequence[MemoryRecord], *, before: int, after: int
    ) -> list[StoredMemory]:
        shelf = self._shelf(tenant, False)
        found: dict[str, StoredMemory] = {}
        for anchor in anchors:
            turns = shelf.session(anchor.session_id)
            at = bisect_left(turns, place(anchor), key=lambda turn: place(turn.record))
            itself = at < len(turns) and place(turns[at].record) == place(anchor)
            for turn in turns[max(0, at - before) : at + after + itself]:
                found[turn.record.memory_id] = turn
        return list(found.values())

    async def put_docs(self, tenant: Tenant, docs: Sequence[Doc]) -> None:
        for doc in docs:
            self._docs[tenant.key, doc.kind, doc.key] = doc

    async def get_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> list[Doc]:
        found = (self._docs.get((tenant.key, kind, key)) for key in keys)
        return [doc for doc in found if doc is not None]

    async def find_docs(self, tenant: Tenant, kind: str) -> list[Doc]:
        return [doc for (key, of_kind, _), doc in self._docs.items() if (key, of_kind) == (tenant.key, kind)]

    async def delete_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> None:
        for key in keys:
            self._docs.pop((tenant.key, kind, key), None)
