"""`VectorStore` and `MaintenanceScan`, written once on top of an `Engine`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from schemas import Layer, MemoryRecord, MemoryStatus, MemoryType, Tenant
from streams.adapters.store.cache import Recent, Sessions
from streams.adapters.store.engine import Engine, Nearest, Ordered, Row
from streams.adapters.store.filters import Between, Filter, Ids, Match, memories, of_tenant
from streams.adapters.store.layout import ARCHIVE, DENSE, RECORDS, SPARSE, STATE, PointId
from streams.adapters.store.payload import (
    RECORD,
    Point,
    check_dense,
    check_sparse,
    dense_of,
    doc_id,
    doc_of,
    doc_point,
    memory_id_of,
    memory_payload,
    memory_point,
    memory_record,
    point_id,
)
from streams.adapters.store.places import Anchor, InGroup, Place, around, rank_of, undecided
from streams.batches import batched
from streams.ports import Doc, FoundMemory, ModelProfile, Scored, SparseVector, StoredMemory, Vectors, Where

T = TypeVar("T")

# Ids in one request: far under the engine's limits, large enough that the round trip does not count.
CHUNK = 500
# Of a range search, per row; asked for again, larger, only when a row fills it.
NEAR_LIMIT = 128
# Memories that an engine in this process takes before everyone else has a turn of the event loop, about 2 ms of it.
HELD = 16
# How many places are fetched around an anchor at first: covers a group of a dozen messages of one event.
WINDOW = 16
# A whole session at once, when the order is to be kept.
EVERYTHING = 10_000_000
# What is remembered by a sole owner: about 5 KB a memory, 100 bytes a place.
RECENT_MEMORIES = 4096
RECENT_PLACES = 200_000

_WHERE_IT_STANDS = ("tenant", "session_id", "sequence")
# All that a memory is made of, and whose it is.
_MEMORY = ("tenant", RECORD)
# What the window job looks at. Archived ones are elsewhere, unless a crash came before they were moved.
_ONLINE = (MemoryStatus.ACTIVE.value, MemoryStatus.ARCHIVED.value)


def _unique(items: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(items))


def _collection(archive: bool) -> str:
    return ARCHIVE if archive else RECORDS


class EngineStore:
    """`sole_owner`: nobody else writes and the engine never yields to the event loop, so reads may be remembered."""

    def __init__(self, engine: Engine, profile: ModelProfile, *, sole_owner: bool) -> None:
        self._engine = engine
        self._written_at_once = HELD if sole_owner else CHUNK
        self._dimension = profile.dimension
        self._recent: Recent[PointId, FoundMemory] | None = Recent(RECENT_MEMORIES) if sole_owner else None
        self._vectors: Recent[PointId, Vectors] | None = Recent(RECENT_MEMORIES) if sole_owner else None
        self._ranks: Recent[PointId, InGroup] | None = Recent(RECENT_PLACES) if sole_owner else None
        self._sessions: Sessions | None = Sessions(RECENT_PLACES) if sole_owner else None

    async def open(self) -> None:
        await self._engine.open()

    async def close(self) -> None:
        self._forget_all()
        await self._engine.close()

    async def ping(self) -> None:
        await self._engine.ping()

    async def flush(self) -> None:
        await self._engine.flush()

    # Writing memories

    async def upsert(self, tenant: Tenant, memories: Sequence[StoredMemory], *, archive: bool = False) -> None:
        await self.upsert_of({tenant: memories}, archive=archive)

    async def upsert_of(self, memories: Mapping[Tenant, Sequence[StoredMemory]], *, archive: bool = False) -> None:
        given = [(tenant, memory) for tenant, of_it in memories.items() for memory in of_it]
        for part in batched(given, self._written_at_once):
            of_part: dict[Tenant, list[StoredMemory]] = {}
            for tenant, memory in part:
                of_part.setdefault(tenant, []).append(memory)
            await self._upsert_of(of_part, archive)
            await asyncio.sleep(0)

    async def _upsert_of(self, memories: Mapping[Tenant, Sequence[StoredMemory]], archive: bool) -> None:
        points: dict[PointId, Point] = {}
        for tenant, of_it in memories.items():
            key = tenant.key
            for point in (memory_point(tenant, key, memory, self._dimension) for memory in of_it):
                if points.setdefault(point.id, point).payload["tenant"] != key:
                    raise ValueError("a memory id belongs to another tenant")
                points[point.id] = point
        ids = list(points)
        here, there = _collection(archive), _collection(not archive)
        known, elsewhere = await self._stand(here, ids), await self._stand(there, ids)
        if any(row.payload["tenant"] != points[row.id].payload["tenant"] for row in (*known, *elsewhere)):
            raise ValueError("a memory id belongs to another tenant")
        self._forget(here, known)
        self._forget(there, elsewhere)
        try:
            await self._engine.upsert(here, list(points.values()))
            # A memory is in one collection.
            for tenant in memories if elsewhere else ():
                key = tenant.key
                await self._delete_rows(tenant, there, [row for row in elsewhere if row.payload["tenant"] == key])
        except BaseException:
            self._forget_all()
            raise
        if self._recent is not None and self._vectors is not None:
            # What is new is what the next step of its tenant looks at.
            for memory in chain.from_iterable(memories.values()):
                new = point_id(memory.record.memory_id)
                kept = np.array(memory.vector, np.float32)
                kept.flags.writeable = False
                self._vectors.put(new, kept)
                self._recent.put(new, FoundMemory(memory.record, memory.sparse))
        if not archive and self._sessions is not None:
            for point in points.values():
                if point.payload["layer"] == Layer.EPISODE:
                    place = (point.payload["sequence"], point.id)
                    self._sessions.add(point.payload["tenant"], point.payload["session_id"], place)

    async def update(self, tenant: Tenant, records: Sequence[MemoryRecord]) -> list[str]:
        key = tenant.key
        payloads = {point_id(record.memory_id): memory_payload(tenant, key, record) for record in records}
        found: set[PointId] = set()
        for collection in (RECORDS, ARCHIVE):
            rows = await self._own(tenant, collection, list(payloads), fields=_WHERE_IT_STANDS)
            self._forget(collection, rows)
            try:
                for chunk in batched(rows, CHUNK):
                    await self._engine.overwrite(collection, [(row.id, payloads[row.id]) for row in chunk])
            except BaseException:
                self._forget_all()
                raise
            if collection == RECORDS and self._sessions is not None:
                for row in rows:
                    payload = payloads[row.id]
                    if payload["layer"] == Layer.EPISODE:
                        self._sessions.add(key, payload["session_id"], (payload["sequence"], row.id))
            found.update(row.id for row in rows)
        return [record.memory_id for record in records if point_id(record.memory_id) not in found]

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None:
        ids = _unique(map(point_id, memory_ids))
        for collection in (RECORDS, ARCHIVE):
            await self._delete_rows(
                tenant, collection, await self._own(tenant, collection, ids, fields=_WHERE_IT_STANDS)
            )

    async def move(self, tenant: Tenant, memory_ids: Sequence[str], *, to_archive: bool) -> None:
        source = _collection(not to_archive)
        for chunk in batched(_unique(map(point_id, memory_ids)), CHUNK):
            rows = await self._own(tenant, source, chunk, fields=_MEMORY, vectors=(DENSE, SPARSE))
            # Written there, then deleted here: `upsert` does both in this order.
            memories = [
                StoredMemory(memory_record(row.payload), dense_of(row.dense, self._dimension), row.sparse)
                for row in rows
            ]
            await self.upsert(tenant, memories, archive=to_archive)

    async def _delete_rows(self, tenant: Tenant, collection: str, rows: Sequence[Row]) -> None:
        self._forget(collection, rows)
        try:
            for chunk in batched(rows, CHUNK):
                await self._engine.delete(collection, of_tenant(tenant, Ids(tuple(row.id for row in chunk))))
        except BaseException:
            self._forget_all()
            raise

    # Reading memories

    async def get(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[MemoryRecord]:
        if self._recent is not None:
            # What is read is likely to be asked for again, as an anchor: it is parsed once.
            return [memory.record for memory in await self.get_with_words(tenant, memory_ids)]
        ids = list(map(point_id, memory_ids))
        found: dict[PointId, MemoryRecord] = {}
        for collection in (RECORDS, ARCHIVE):
            missing = [point for point in _unique(ids) if point not in found]
            rows = await self._own(tenant, collection, missing, fields=_MEMORY)
            found |= {row.id: memory_record(row.payload) for row in rows}
        return [found[point] for point in ids if point in found]

    async def get_with_vectors(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[StoredMemory]:
        ids = list(map(point_id, memory_ids))
        vectors: dict[PointId, Vectors] = {}
        found = await self._memories(tenant, _unique(ids), vectors)
        return [
            StoredMemory(found[point].record, vectors[point], found[point].sparse) for point in ids if point in found
        ]

    async def get_with_words(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[FoundMemory]:
        ids = list(map(point_id, memory_ids))
        found = await self._memories(tenant, _unique(ids))
        return [found[point] for point in ids if point in found]

    async def cosines(self, tenant: Tenant, memory_ids: Sequence[str], vector: Vectors) -> dict[str, float]:
        wanted = {point_id(memory_id): memory_id for memory_id in memory_ids}
        dense = check_dense(vector, (self._dimension,))
        near: dict[str, float] = {}
        for collection in (RECORDS, ARCHIVE) if dense.any() else ():
            for chunk in batched(list(wanted), CHUNK):
                query = Nearest(dense, of_tenant(tenant, Ids(tuple(chunk))), len(chunk), exact=True)
                (hits,) = await self._engine.nearest(collection, [query])
                near |= {wanted.pop(point): cosine for point, cosine in hits}
        return near

    async def find(
        self, tenant: Tenant, where: Where, *, limit: int = 1000, cursor: str | None = None, archive: bool = False
    ) -> tuple[list[MemoryRecord], str | None]:
        rows, following = await self._engine.scroll(
            _collection(archive), memories(tenant, where), limit=limit, cursor=cursor, fields=_MEMORY
        )
        return [self._record(row) for row in rows], following

    async def near(
        self, tenant: Tenant, vectors: Vectors, *, threshold: float, where: Where, archive: bool = False
    ) -> list[list[Scored]]:
        rows = check_dense(vectors, (len(vectors), self._dimension))
        collection, must = _collection(archive), memories(tenant, where)
        hits: dict[int, list[tuple[PointId, float]]] = {}
        # A text without any token is near to nothing.
        wanted, limit = [at for at, row in enumerate(rows) if row.any()], NEAR_LIMIT
        while wanted:
            queries = [Nearest(rows[at], must, limit, threshold=threshold, exact=True) for at in wanted]
            answers = await self._engine.nearest(collection, queries)
            hits |= zip(wanted, answers, strict=True)
            wanted, limit = [at for at in wanted if len(hits[at]) == limit], limit * 16
        return [await self._scored(collection, hits.get(at, [])) for at in range(len(rows))]

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
        collection, must = _collection(archive), memories(tenant, where)
        vector = None if dense is None else check_dense(dense, (self._dimension,))
        by_meaning = [Nearest(vector, must, limit)] if vector is not None and vector.any() else []
        by_words = [Nearest(check_sparse(sparse), must, limit)] if sparse is not None and sparse.indices else []
        if not by_meaning and not by_words:
            return [], []
        answers = iter(await self._engine.nearest(collection, by_meaning + by_words))
        dense_hits = next(answers) if by_meaning else []
        sparse_hits = next(answers) if by_words else []
        return await self._scored(collection, dense_hits), await self._scored(collection, sparse_hits)

    async def _scored(self, collection: str, hits: Sequence[tuple[PointId, float]]) -> list[Scored]:
        # Ids alone make a search several times faster, and nearly every point id tells the memory's.
        hashed = [point for point, _ in hits if memory_id_of(point) is None]
        asked = {
            row.id: memory_record(row.payload).memory_id
            for row in await self._rows(collection, hashed, fields=(RECORD,))
        }
        scored = ((memory_id_of(point) or asked.get(point), score) for point, score in hits)
        # Equal scores in a fixed order, whatever the engine did.
        return sorted(
            (Scored(memory, score) for memory, score in scored if memory is not None),
            key=lambda hit: (-hit.score, hit.memory_id),
        )

    # Neighbours in a session

    async def neighbours(
        self, tenant: Tenant, anchors: Sequence[MemoryRecord], *, before: int, after: int
    ) -> list[FoundMemory]:
        by_session: dict[str, list[Anchor]] = {}
        for record in anchors:
            anchor = Anchor(point_id(record.memory_id), record.sequence, rank_of(record))
            by_session.setdefault(record.session_id, []).append(anchor)
        orders = await self._orders(tenant, by_session, before, after)
        placed = [(orders[session], anchor) for session, of_it in by_session.items() for anchor in of_it]
        ranks = await self._ranked(
            _unique(point for order, anchor in placed for point in undecided(order, anchor, before, after))
        )
        wanted = [anchor.id for _, anchor in placed]
        for order, anchor in placed:
            wanted.extend(around(order, anchor, ranks, before, after))
        found = await self._memories(tenant, _unique(wanted))
        return sorted(found.values(), key=_reading_order)

    async def _orders(
        self, tenant: Tenant, by_session: Mapping[str, Sequence[Anchor]], before: int, after: int
    ) -> dict[str, list[Place]]:
        if self._sessions is None:
            return await self._windows(tenant, by_session, before, after)
        orders = {session: self._sessions.get(tenant.key, session) for session in by_session}
        unknown = [session for session, order in orders.items() if order is None]
        queries = [Ordered("sequence", _episodes(tenant, session), EVERYTHING) for session in unknown]
        answers = await self._engine.ordered(RECORDS, queries)
        for session, answer in zip(unknown, answers, strict=True):
            orders[session] = order = sorted(answer)
            self._sessions.put(tenant.key, session, order)
        return {session: order or [] for session, order in orders.items()}

    async def _windows(
        self, tenant: Tenant, by_session: Mapping[str, Sequence[Anchor]], before: int, after: int
    ) -> dict[str, list[Place]]:
        """Whole groups around each anchor, however long its session is: two queries an anchor, one round trip."""
        seen: dict[str, set[Place]] = {session: set() for session in by_session}
        limit = WINDOW + max(before, after)
        open_sides = _unique(
            (session, anchor.sequence, down)
            for session, of_it in by_session.items()
            for anchor in of_it
            for down in (True, False)
        )
        while open_sides:
            queries = [
                Ordered("sequence", _episodes(tenant, session), limit, start, "desc" if down else "asc")
                for session, start, down in open_sides
            ]
            cut = []
            answers = await self._engine.ordered(RECORDS, queries)
            for side, answer in zip(open_sides, answers, strict=True):
                session, start, down = side
                if len(answer) == limit:
                    # The last group may be longer than what came: it counts for nothing.
                    last = answer[-1][0]
                    answer = [place for place in answer if place[0] != last]
                    beyond = sum(place[0] != start for place in answer)
                    if last == start or beyond < (before if down else after):
                        cut.append(side)
                seen[session].update(answer)
            open_sides, limit = cut, limit * 16
        return {session: sorted(places) for session, places in seen.items()}

    async def _ranked(self, points: Sequence[PointId]) -> dict[PointId, InGroup]:
        ranks: dict[PointId, InGroup] = {}
        for point in points:
            rank = self._ranks.get(point) if self._ranks is not None else None
            if rank is not None:
                ranks[point] = rank
        for row in await self._rows(RECORDS, [point for point in points if point not in ranks], fields=(RECORD,)):
            ranks[row.id] = rank = rank_of(memory_record(row.payload))
            if self._ranks is not None:
                self._ranks.put(row.id, rank)
        return ranks

    # Documents

    async def put_docs(self, tenant: Tenant, docs: Sequence[Doc]) -> None:
        await self.put_docs_of({tenant: docs})

    async def put_docs_of(self, docs: Mapping[Tenant, Sequence[Doc]]) -> None:
        for chunk in batched([doc_point(tenant, doc) for tenant, of_it in docs.items() for doc in of_it], CHUNK):
            await self._engine.upsert(STATE, chunk)

    async def get_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> list[Doc]:
        return (await self.get_docs_of(kind, {tenant: keys}))[tenant]

    async def get_docs_of(self, kind: str, keys: Mapping[Tenant, Sequence[str]]) -> dict[Tenant, list[Doc]]:
        ids = {tenant: [doc_id(tenant, kind, key) for key in of_it] for tenant, of_it in keys.items()}
        rows = await self._rows(STATE, _unique(chain.from_iterable(ids.values())))
        found = {(row.payload["tenant"], row.id): doc_of(row.payload) for row in rows}
        return {t: [doc for point in of_it if (doc := found.get((t.key, point)))] for t, of_it in ids.items()}

    async def find_docs(self, tenant: Tenant, *kinds: str) -> list[Doc]:
        docs: list[Doc] = []
        cursor: str | None = None
        while True:
            rows, cursor = await self._engine.scroll(
                STATE, of_tenant(tenant, Match("kind", kinds)), limit=CHUNK, cursor=cursor
            )
            docs.extend(doc_of(row.payload) for row in rows)
            if cursor is None:
                return sorted(docs, key=lambda doc: (doc.kind, doc.key))

    async def delete_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> None:
        for chunk in batched(_unique(doc_id(tenant, kind, key) for key in keys), CHUNK):
            await self._engine.delete(STATE, of_tenant(tenant, Ids(tuple(chunk))))

    # Maintenance, across tenants

    async def idle(
        self,
        shard: int,
        *,
        before: datetime,
        types: tuple[MemoryType, ...] = (),
        limit: int = 500,
        cursor: str | None = None,
    ) -> tuple[list[tuple[Tenant, str]], str | None]:
        return await self._active(shard, Between("idle_since", until=before), types, limit, cursor)

    async def ended(
        self,
        shard: int,
        *,
        before: datetime,
        types: tuple[MemoryType, ...] = (),
        limit: int = 500,
        cursor: str | None = None,
    ) -> tuple[list[tuple[Tenant, str]], str | None]:
        return await self._active(shard, Between("valid_until", until=before), types, limit, cursor)

    async def repeated(
        self, shard: int, *, since: datetime, limit: int = 500, cursor: str | None = None
    ) -> tuple[list[tuple[Tenant, str]], str | None]:
        return await self._active(shard, Between("updated_at", since=since), (), limit, cursor)

    async def _active(
        self, shard: int, when: Between, types: tuple[MemoryType, ...], limit: int, cursor: str | None
    ) -> tuple[list[tuple[Tenant, str]], str | None]:
        must: Filter = (Match("shard", (shard,)), Match("status", _ONLINE), when)
        if types:
            must = (*must, Match("memory_type", tuple(one.value for one in types)))
        rows, following = await self._engine.scroll(RECORDS, must, limit=limit, cursor=cursor, fields=_MEMORY)
        found = [(Tenant.from_key(row.payload["tenant"]), memory_record(row.payload).memory_id) for row in rows]
        return found, following

    async def tenants(
        self, shard: int, *, limit: int = 500, cursor: str | None = None
    ) -> tuple[list[Tenant], str | None]:
        keys: set[str] = set()
        for collection in (RECORDS, ARCHIVE):
            keys.update(await self._engine.values(collection, "tenant", (Match("shard", (shard,)),)))
        page = list(islice(sorted(key for key in keys if cursor is None or key > cursor), limit + 1))
        return [Tenant.from_key(key) for key in page[:limit]], page[limit - 1] if len(page) > limit else None

    async def tenants_with_docs(self, *kinds: str) -> list[Tenant]:
        return [
            Tenant.from_key(key) for key in sorted(await self._engine.values(STATE, "tenant", (Match("kind", kinds),)))
        ]

    async def count(self, *, archive: bool = False) -> int:
        return await self._engine.count(_collection(archive))

    # Rows

    async def _stand(self, collection: str, ids: Sequence[PointId]) -> list[Row]:
        return await self._rows(collection, ids, fields=_WHERE_IT_STANDS)

    async def _rows(
        self,
        collection: str,
        ids: Sequence[PointId],
        *,
        fields: Sequence[str] | None = None,
        vectors: Sequence[str] = (),
    ) -> list[Row]:
        rows: list[Row] = []
        for chunk in batched(ids, CHUNK):
            rows.extend(await self._engine.retrieve(collection, chunk, fields=fields, vectors=vectors))
        return rows

    async def _own(
        self,
        tenant: Tenant,
        collection: str,
        ids: Sequence[PointId],
        *,
        fields: Sequence[str] | None = None,
        vectors: Sequence[str] = (),
    ) -> list[Row]:
        rows = await self._rows(collection, ids, fields=fields, vectors=vectors)
        key = tenant.key
        return [row for row in rows if row.payload["tenant"] == key]

    def _record(self, row: Row) -> MemoryRecord:
        """What is remembered of a point is what the store holds of it: it was parsed then."""
        known = None if self._recent is None else self._recent.get(row.id)
        return memory_record(row.payload) if known is None else known.record

    async def _memories(
        self, tenant: Tenant, ids: Sequence[PointId], vectors: dict[PointId, Vectors] | None = None
    ) -> dict[PointId, FoundMemory]:
        """From both collections. `vectors` is filled in when it is given: theirs."""
        found: dict[PointId, FoundMemory] = {}
        known: dict[PointId, FoundMemory] = {}
        if self._recent is not None and self._vectors is not None:
            for point in ids:
                memory = self._recent.get(point)
                if memory is None or not _belongs(memory.record, tenant):
                    continue
                if vectors is not None:
                    vector = self._vectors.get(point)
                    if vector is None:
                        known[point] = memory
                        continue
                    vectors[point] = vector
                found[point] = memory
        names = (SPARSE,) if vectors is None else (DENSE, SPARSE)
        for collection in (RECORDS, ARCHIVE):
            if len(found) == len(ids):
                break
            missing = [point for point in ids if point not in found]
            for row in await self._own(tenant, collection, missing, fields=_MEMORY, vectors=names):
                # What is remembered of a point is what the store holds of it: it was parsed then.
                found[row.id] = memory = known.get(row.id) or FoundMemory(memory_record(row.payload), row.sparse)
                if self._recent is not None:
                    self._recent.put(row.id, memory)
                if vectors is not None:
                    vectors[row.id] = vector = dense_of(row.dense, self._dimension)
                    if self._vectors is not None:
                        self._vectors.put(row.id, vector)
        return found

    def _forget(self, collection: str, rows: Sequence[Row]) -> None:
        """What was remembered of these points, before they change."""
        ids = [row.id for row in rows]
        for remembered in (self._recent, self._vectors, self._ranks):
            if remembered is not None:
                remembered.drop(ids)
        if collection == RECORDS and self._sessions is not None:
            for row in rows:
                stood = row.payload
                self._sessions.remove(stood["tenant"], stood["session_id"], stood["sequence"], row.id)

    def _forget_all(self) -> None:
        for remembered in (self._recent, self._vectors, self._ranks, self._sessions):
            if remembered is not None:
                remembered.clear()


def _belongs(record: MemoryRecord, tenant: Tenant) -> bool:
    return record.namespace == tenant.namespace and record.user_id == tenant.user_id


def _episodes(tenant: Tenant, session: str) -> Filter:
    return of_tenant(tenant, Match("session_id", (session,)), Match("layer", (Layer.EPISODE.value,)))


def _reading_order(memory: FoundMemory) -> tuple[str, int, InGroup, str]:
    record = memory.record
    return (record.session_id, record.sequence, rank_of(record), record.memory_id)
