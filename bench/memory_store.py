"""The store interface in memory, exact by numpy: for benches and for proofs that need thousands of histories.

It keeps the promises of `streams.ports.VectorStore`; what runs in production are the adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import numpy as np

from schemas import Layer, MemoryRecord, MemoryStatus, MemoryType, Tenant
from streams.ports import Doc, FoundMemory, Scored, SparseVector, StoredMemory, Vectors, Where


def matches(record: MemoryRecord, where: Where) -> bool:
    return (
        (not where.layers or record.layer in where.layers)
        and (not where.types or record.memory_type in where.types)
        and (not where.statuses or record.status in where.statuses)
        and (not where.tags or bool(set(where.tags) & set(record.tags)))
        and (not where.entities or bool(set(where.entities) & set(record.entities)))
        and (not where.slots or record.slot in where.slots)
        and (not where.sessions or record.session_id in where.sessions)
        and (not where.event_ids or bool(set(where.event_ids) & {s.event_id for s in record.sources}))
        and _inside(record.occurred_at, where)
    )


def _inside(moment: datetime, where: Where) -> bool:
    return (where.since is None or moment >= where.since) and (where.until is None or moment < where.until)


class _Space:
    """One tenant's memories in one collection: the vectors stand in one growing matrix."""

    def __init__(self) -> None:
        self.memories: dict[str, StoredMemory] = {}
        self.by_slot: dict[str, dict[str, None]] = {}
        self._rows: dict[str, int] = {}
        self._ids: list[str | None] = []
        self._matrix: Vectors = np.zeros((0, 0), np.float32)

    def put(self, memory: StoredMemory) -> None:
        memory_id = memory.record.memory_id
        before = self.memories.get(memory_id)
        if before is not None and before.record.slot != memory.record.slot:
            self._unslot(before.record)
        self.memories[memory_id] = memory
        if memory.record.slot is not None:
            self.by_slot.setdefault(memory.record.slot, {})[memory_id] = None
        if before is not None and before.vector is memory.vector:
            return
        row = self._rows.get(memory_id)
        if row is None:
            row = self._rows[memory_id] = len(self._ids)
            self._ids.append(memory_id)
        if row >= len(self._matrix):
            grown = np.zeros((max(64, 2 * row), len(memory.vector)), np.float32)
            grown[: len(self._matrix)] = self._matrix if len(self._matrix) else 0
            self._matrix = grown
        self._matrix[row] = memory.vector

    def drop(self, memory_id: str) -> StoredMemory | None:
        memory = self.memories.pop(memory_id, None)
        if memory is not None:
            row = self._rows.pop(memory_id)
            self._ids[row], self._matrix[row] = None, 0
            self._unslot(memory.record)
        return memory

    def near(self, vector: Vectors, threshold: float) -> list[Scored]:
        if not self._ids:
            return []
        scores = self._matrix[: len(self._ids)] @ vector
        hits = [(i, float(scores[i])) for i in np.nonzero(scores >= threshold)[0]]
        return [Scored(memory_id, score) for i, score in hits if (memory_id := self._ids[i]) is not None]

    def _unslot(self, record: MemoryRecord) -> None:
        if record.slot is not None:
            self.by_slot.get(record.slot, {}).pop(record.memory_id, None)


class MemoryStore:
    """`streams.ports.VectorStore` and `MaintenanceScan` over dictionaries."""

    def __init__(self) -> None:
        self._spaces: dict[tuple[str, bool], _Space] = {}
        self._docs: dict[str, dict[tuple[str, str], Doc]] = {}
        self.round_trips = 0

    def _space(self, tenant: Tenant, archive: bool) -> _Space:
        self.round_trips += 1
        return self._spaces.setdefault((tenant.key, archive), _Space())

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def ping(self) -> None: ...

    async def flush(self) -> None: ...

    async def upsert(self, tenant: Tenant, memories: Sequence[StoredMemory], *, archive: bool = False) -> None:
        if any(m.record.tenant != tenant for m in memories):
            raise ValueError("a memory of another tenant")
        for memory in memories:
            self._space(tenant, archive).put(memory)

    async def upsert_of(self, memories: Mapping[Tenant, Sequence[StoredMemory]], *, archive: bool = False) -> None:
        for tenant, of_it in memories.items():
            await self.upsert(tenant, of_it, archive=archive)

    async def update(self, tenant: Tenant, records: Sequence[MemoryRecord]) -> list[str]:
        absent = []
        for record in records:
            for archive in (False, True):
                space = self._space(tenant, archive)
                old = space.memories.get(record.memory_id)
                if old is not None:
                    space.put(StoredMemory(record, old.vector, old.sparse))
                    break
            else:
                absent.append(record.memory_id)
        return absent

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None:
        for archive in (False, True):
            for memory_id in memory_ids:
                self._space(tenant, archive).drop(memory_id)

    async def move(self, tenant: Tenant, memory_ids: Sequence[str], *, to_archive: bool) -> None:
        for memory_id in memory_ids:
            memory = self._space(tenant, not to_archive).drop(memory_id)
            if memory is not None:
                self._space(tenant, to_archive).put(memory)

    async def get(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[MemoryRecord]:
        return [m.record for m in await self.get_with_vectors(tenant, memory_ids)]

    async def get_with_vectors(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[StoredMemory]:
        both = [self._space(tenant, archive).memories for archive in (False, True)]
        return [space[i] for i in memory_ids for space in both if i in space]

    async def get_with_words(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[FoundMemory]:
        return [FoundMemory(m.record, m.sparse) for m in await self.get_with_vectors(tenant, memory_ids)]

    async def cosines(self, tenant: Tenant, memory_ids: Sequence[str], vector: Vectors) -> dict[str, float]:
        found = await self.get_with_vectors(tenant, memory_ids)
        return {m.record.memory_id: float(m.vector @ vector) for m in found if m.vector.any()}

    async def find(
        self, tenant: Tenant, where: Where, *, limit: int = 1000, cursor: str | None = None, archive: bool = False
    ) -> tuple[list[MemoryRecord], str | None]:
        space = self._space(tenant, archive)
        if where.slots:
            ids = sorted(i for slot in where.slots for i in space.by_slot.get(slot, ()))
        else:
            ids = sorted(space.memories)
        found = [r for i in ids if (cursor is None or i > cursor) and matches(r := space.memories[i].record, where)]
        return found[:limit], found[limit - 1].memory_id if len(found) > limit else None

    async def near(
        self, tenant: Tenant, vectors: Vectors, *, threshold: float, where: Where, archive: bool = False
    ) -> list[list[Scored]]:
        space = self._space(tenant, archive)
        return [
            [hit for hit in space.near(v, threshold) if matches(space.memories[hit.memory_id].record, where)]
            for v in vectors
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
        space = self._space(tenant, archive)
        return (
            _best(self._dense(space, dense, where), limit) if dense is not None else [],
            _best(self._sparse(space, sparse, where), limit) if sparse is not None else [],
        )

    def _dense(self, space: _Space, dense: Vectors, where: Where) -> list[Scored]:
        return [h for h in space.near(dense, -1.01) if matches(space.memories[h.memory_id].record, where)]

    def _sparse(self, space: _Space, sparse: SparseVector, where: Where) -> list[Scored]:
        documents = len(space.memories)
        frequency: dict[int, int] = {}
        for memory in space.memories.values():
            for index in memory.sparse.indices:
                frequency[index] = frequency.get(index, 0) + 1
        idf = {i: float(np.log1p((documents - n + 0.5) / (n + 0.5))) for i, n in frequency.items()}
        query = dict(zip(sparse.indices, sparse.values, strict=True))
        hits = []
        for memory_id, memory in space.memories.items():
            if matches(memory.record, where):
                pairs = zip(memory.sparse.indices, memory.sparse.values, strict=True)
                score = sum(w * query[i] * idf[i] for i, w in pairs if i in query)
                if score > 0:
                    hits.append(Scored(memory_id, score))
        return hits

    async def neighbours(
        self, tenant: Tenant, anchors: Sequence[MemoryRecord], *, before: int, after: int
    ) -> list[FoundMemory]:
        space = self._space(tenant, False)
        found: dict[str, StoredMemory] = {}
        for anchor in anchors:
            session = sorted(
                (
                    m
                    for m in space.memories.values()
                    if m.record.layer is Layer.EPISODE and m.record.session_id == anchor.session_id
                ),
                key=lambda m: _place(m.record),
            )
            at = _place(anchor)
            earlier = [m for m in session if _place(m.record) < at][-before:] if before else []
            later = [m for m in session if _place(m.record) >= at][: after + 1]
            found |= {m.record.memory_id: m for m in (*earlier, *later)}
        return [FoundMemory(m.record, m.sparse) for m in found.values()]

    async def put_docs(self, tenant: Tenant, docs: Sequence[Doc]) -> None:
        self._docs.setdefault(tenant.key, {}).update({(d.kind, d.key): d for d in docs})

    async def put_docs_of(self, docs: Mapping[Tenant, Sequence[Doc]]) -> None:
        for tenant, of_it in docs.items():
            await self.put_docs(tenant, of_it)

    async def get_docs_of(self, kind: str, keys: Mapping[Tenant, Sequence[str]]) -> dict[Tenant, list[Doc]]:
        return {tenant: await self.get_docs(tenant, kind, of_it) for tenant, of_it in keys.items()}

    async def get_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> list[Doc]:
        docs = self._docs.get(tenant.key, {})
        return [docs[kind, key] for key in keys if (kind, key) in docs]

    async def find_docs(self, tenant: Tenant, *kinds: str) -> list[Doc]:
        return [d for (k, _), d in sorted(self._docs.get(tenant.key, {}).items()) if k in kinds]

    async def delete_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> None:
        for key in keys:
            self._docs.get(tenant.key, {}).pop((kind, key), None)

    # Maintenance, across tenants

    async def idle(
        self,
        shard: int,
        *,
        before: datetime,
        types: tuple[MemoryType, ...] = (),
        limit: int = 500,
        cursor: str | None = None,
    ) -> Page:
        return self._online(shard, lambda r: (r.last_access_time or r.created_at) < before, types, limit, cursor)

    async def ended(
        self,
        shard: int,
        *,
        before: datetime,
        types: tuple[MemoryType, ...] = (),
        limit: int = 500,
        cursor: str | None = None,
    ) -> Page:
        return self._online(shard, lambda r: r.valid_until is not None and r.valid_until < before, types, limit, cursor)

    async def repeated(self, shard: int, *, since: datetime, limit: int = 500, cursor: str | None = None) -> Page:
        return self._online(shard, lambda r: r.updated_at is not None and r.updated_at >= since, (), limit, cursor)

    def _online(
        self,
        shard: int,
        wanted: Callable[[MemoryRecord], bool],
        types: tuple[MemoryType, ...],
        limit: int,
        cursor: str | None,
    ) -> Page:
        online = (
            m.record for (_, archive), space in self._spaces.items() if not archive for m in space.memories.values()
        )
        found = sorted(
            (r.memory_id, r.tenant)
            for r in online
            if r.shard == shard
            and r.status in (MemoryStatus.ACTIVE, MemoryStatus.ARCHIVED)
            and (not types or r.memory_type in types)
            and (cursor is None or r.memory_id > cursor)
            and wanted(r)
        )
        page = [(tenant, memory_id) for memory_id, tenant in found[:limit]]
        return page, page[-1][1] if len(found) > limit else None

    async def tenants(
        self, shard: int, *, limit: int = 500, cursor: str | None = None
    ) -> tuple[list[Tenant], str | None]:
        records = (m.record for space in self._spaces.values() for m in space.memories.values())
        found = sorted({r.tenant.key: r.tenant for r in records if r.shard == shard}.items())
        page = [(key, tenant) for key, tenant in found if cursor is None or key > cursor]
        return [tenant for _, tenant in page[:limit]], page[limit - 1][0] if len(page) > limit else None

    async def count(self, *, archive: bool = False) -> int:
        return sum(len(space.memories) for (_, there), space in self._spaces.items() if there is archive)


Page = tuple[list[tuple[Tenant, str]], str | None]


def _place(record: MemoryRecord) -> tuple[int, str, int, int]:
    source = record.source
    return (record.sequence, source.event_id, source.message, source.start)


def _best(hits: list[Scored], limit: int) -> list[Scored]:
    return sorted(hits, key=lambda h: (-h.score, h.memory_id))[:limit]
