"""The Qdrant engine in this process (`qdrant-edge-py`): the store of one machine, with one owner.

Calls run inline on the event loop's thread: they take 0.05-3 ms and hold the GIL in any thread. What takes long,
`optimize`, is a function on a closed store. Every update is in the engine's write-ahead log before the call returns:
a killed process loses nothing. `flush` makes it safe from a power cut as well.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streams.adapters.store.core import EngineStore
from streams.adapters.store.engine import Nearest, Ordered, Row
from streams.adapters.store.filters import Between, Filter, Match
from streams.adapters.store.layout import (
    COLLECTIONS,
    DENSE,
    FULL_SCAN_THRESHOLD,
    HNSW_EF,
    HNSW_EF_CONSTRUCT,
    HNSW_M,
    HNSW_PAYLOAD_M,
    RECORDS,
    SPARSE,
    TENANT,
    Collection,
    Index,
    PointId,
)
from streams.adapters.store.manifest import check_manifest, manifest_of
from streams.adapters.store.mapped import give_back
from streams.adapters.store.payload import NO_WORDS, Payload, Point
from streams.errors import ConfigurationError, DependencyDown
from streams.ports import ModelProfile, SparseVector

if TYPE_CHECKING:
    from qdrant_edge import EdgeConfig, EdgeShard

MANIFEST = "store.json"
LOCK = "store.lock"

# The engine maps its files: a write that finds no room on the disk kills the process, so it is looked for before.
LEAST_FREE_BYTES = 256 * 2**20

FLOAT_BYTES = 4

# Far more distinct tenants than one shard of one machine holds.
ALL_VALUES = 1_000_000

# Forks between the interpreter's start and this process: the engine's threads do not come along.
_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class EdgeStore(EngineStore):
    """`path`: a directory of its own, made when missing."""

    def __init__(self, path: Path, profile: ModelProfile, *, least_free_bytes: int = LEAST_FREE_BYTES) -> None:
        super().__init__(EdgeEngine(path, profile, least_free_bytes), profile, sole_owner=True)


def optimize(path: Path) -> None:
    """Compact a closed store and build its graphs: 30 s for 100,000 memories, in which nothing else runs.

    Run it in a process of its own. Killed half way it leaves the store as it was.
    """
    from qdrant_edge import EdgeShard

    with _locked(path), _typed():
        for collection in COLLECTIONS:
            shard = EdgeShard.load(str(path / collection.name))
            shard.optimize()
            shard.flush()
            shard.close()


def wants_graphs(path: Path) -> bool:
    """Whether a user of this closed store has more memories than the engine looks at one by one once it has a graph."""
    from qdrant_edge import EdgeShard, FacetRequest

    with _locked(path), _typed():
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        shard = EdgeShard.load(str(path / RECORDS))
        most = shard.facet(FacetRequest(TENANT.key, limit=1, exact=True)).hits
        shard.close()
    return bool(most) and most[0].count * manifest["dimension"] * FLOAT_BYTES > FULL_SCAN_THRESHOLD * 1024


class EdgeEngine:
    """An `Engine` on one shard a collection. Its coroutines never yield: each call is atomic to the event loop."""

    def __init__(self, path: Path, profile: ModelProfile, least_free_bytes: int = LEAST_FREE_BYTES) -> None:
        self._path = path
        self._profile = profile
        self._least_free_bytes = least_free_bytes
        self._shards: dict[str, EdgeShard] = {}
        self._lock: Any = None
        self._forks = 0

    async def open(self) -> None:
        if self._shards:
            return
        try:
            import qdrant_edge as edge
        except ImportError:
            raise ConfigurationError(
                "the embedded store needs qdrant-edge-py: pip install 'memstream[embedded]', or set a Qdrant URL"
            ) from None
        lock = _locked(self._path)
        lock.__enter__()
        try:
            self._check_manifest()
            shards: dict[str, EdgeShard] = {}
            with _typed():
                for collection in COLLECTIONS:
                    shards[collection.name] = shard = _load(self._path, collection, self._profile.dimension)
                    for index in collection.indexes:
                        shard.update(edge.UpdateOperation.create_field_index(index.key, _index(index, collection)))
        except BaseException:
            lock.__exit__(None, None, None)
            raise
        self._shards, self._lock, self._forks = shards, lock, _forks
        # To load a store is to read all of it, several files twice; requests then read a fraction.
        give_back(self._path)

    def _check_manifest(self) -> None:
        manifest = self._path / MANIFEST
        if manifest.exists():
            check_manifest(json.loads(manifest.read_text(encoding="utf-8")), self._profile)
            return
        if any((self._path / collection.name).exists() for collection in COLLECTIONS):
            raise ConfigurationError(f"{manifest} is missing beside its collections: run `memstream rebuild`")
        part = manifest.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            json.dump(manifest_of(self._profile), out)
            out.flush()
            os.fsync(out.fileno())
        part.replace(manifest)

    async def close(self) -> None:
        if not self._shards:
            return
        shards, self._shards = self._shards, {}
        try:
            with _typed():
                for shard in shards.values():
                    shard.flush()
                    shard.close()
        finally:
            self._lock.__exit__(None, None, None)

    async def ping(self) -> None:
        self._check_room()
        with _typed():
            for collection in COLLECTIONS:
                self._shard(collection.name).info()

    async def flush(self) -> None:
        with _typed():
            for collection in COLLECTIONS:
                self._shard(collection.name).flush()

    def _shard(self, collection: str) -> EdgeShard:
        shard = self._shards.get(collection)
        if shard is None:
            raise DependencyDown("store", "it is not open")
        if self._forks != _forks:
            raise ConfigurationError("the embedded store does not survive a fork: start worker processes by spawn")
        return shard

    def _check_room(self) -> None:
        free = shutil.disk_usage(self._path).free
        if free < self._least_free_bytes:
            raise DependencyDown(
                "store",
                f"{free // 2**20} MiB are left on the disk of {self._path} and {self._least_free_bytes // 2**20} MiB "
                "are needed: make room, then it goes on by itself",
            )

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        from qdrant_edge import UpdateOperation

        if points:
            self._check_room()
            operation = UpdateOperation.upsert_points([_point(point) for point in points])
            with _typed():
                self._shard(collection).update(operation)

    async def overwrite(self, collection: str, payloads: Sequence[tuple[PointId, Payload]]) -> None:
        from qdrant_edge import UpdateOperation

        self._check_room()
        shard = self._shard(collection)
        operations = [UpdateOperation.overwrite_payload([_text(point)], payload) for point, payload in payloads]
        with _typed():
            for operation in operations:
                shard.update(operation)

    async def delete(self, collection: str, must: Filter) -> None:
        from qdrant_edge import UpdateOperation

        with _typed():
            self._shard(collection).update(UpdateOperation.delete_points_by_filter(_filter(must)))

    async def retrieve(
        self,
        collection: str,
        ids: Sequence[PointId],
        *,
        fields: Sequence[str] | None = None,
        vectors: Sequence[str] = (),
    ) -> list[Row]:
        if not ids:
            return []
        with _typed():
            rows = self._shard(collection).retrieve(
                [*map(_text, ids)], True if fields is None else list(fields), list(vectors)
            )
            return [_row(row, bool(vectors)) for row in rows]

    async def scroll(
        self, collection: str, must: Filter, *, limit: int, cursor: str | None, fields: Sequence[str] | None = None
    ) -> tuple[list[Row], str | None]:
        from qdrant_edge import ScrollRequest

        request = ScrollRequest(
            offset=cursor,
            limit=limit,
            filter=_filter(must),
            with_payload=True if fields is None else list(fields),
            with_vector=False,
        )
        with _typed():
            rows, following = self._shard(collection).scroll(request)
            return [_row(row, False) for row in rows], None if following is None else str(following)

    async def nearest(self, collection: str, queries: Sequence[Nearest]) -> list[list[tuple[PointId, float]]]:
        from qdrant_edge import QueryBatchRequest

        if not queries:
            return []
        with _typed():
            answers = self._shard(collection).query_batch(QueryBatchRequest([_nearest(query) for query in queries]))
            return [[(_number(point.id), point.score) for point in answer] for answer in answers]

    async def ordered(self, collection: str, queries: Sequence[Ordered]) -> list[list[tuple[int, PointId]]]:
        shard = self._shard(collection)
        answers = []
        with _typed():
            # One by one: a batch of these takes three times as long.
            for query in queries:
                rows, _ = shard.scroll(_ordered(query))
                answers.append([(int(row.order_value or 0), _number(row.id)) for row in rows])
        return answers

    async def values(self, collection: str, key: str, must: Filter) -> list[str]:
        from qdrant_edge import FacetRequest

        with _typed():
            found = self._shard(collection).facet(FacetRequest(key, limit=ALL_VALUES, exact=True, filter=_filter(must)))
            return [str(hit.value) for hit in found.hits]

    async def count(self, collection: str) -> int:
        from qdrant_edge import CountRequest

        with _typed():
            return self._shard(collection).count(CountRequest(exact=True))


@contextmanager
def _typed() -> Iterator[None]:
    """The engine raises plain `Exception`; its text may quote payloads, so only what is known is passed on."""
    try:
        yield
    except (ConfigurationError, DependencyDown, ValueError):
        raise
    except Exception as error:
        if "WouldBlock" in str(error):
            raise _second_owner() from None
        if "Vector dimension error" in str(error):
            raise ValueError("a vector does not fit the store") from None
        raise DependencyDown("store", "the embedded engine failed") from error
    except BaseException as error:
        # A panic in the engine derives from BaseException, like an interrupt.
        if type(error).__name__ != "PanicException":
            raise
        raise DependencyDown("store", "the embedded engine panicked") from error


def _second_owner() -> ConfigurationError:
    return ConfigurationError(
        "the embedded store is in use by another process: stop that one, or set a Qdrant URL so that several "
        "processes can share a server"
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One owner: the lock goes with the process, however it ends."""
    import portalocker

    try:
        path.mkdir(parents=True, exist_ok=True)
        holder = (path / LOCK).open("a")
    except OSError as error:
        raise ConfigurationError(f"the store's directory {path} can't be written: {error.strerror}") from None
    try:
        portalocker.lock(holder, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.LockException:
        holder.close()
        raise _second_owner() from None
    try:
        yield
    finally:
        holder.close()


def _load(path: Path, collection: Collection, dimension: int) -> EdgeShard:
    from qdrant_edge import EdgeShard

    home, unborn = path / collection.name, path / f"{collection.name}.part"
    if not home.exists():
        # Made aside and renamed: killed half way it is made again.
        shutil.rmtree(unborn, ignore_errors=True)
        unborn.mkdir()
        shard = EdgeShard.create(str(unborn), _config(collection, dimension))
        shard.flush()
        shard.close()
        unborn.rename(home)
    # Left behind by a killed `optimize`, read by nobody.
    with suppress(OSError):
        shutil.rmtree(home / "temp_segments")
    return EdgeShard.load(str(home))


def _config(collection: Collection, dimension: int) -> EdgeConfig:
    import qdrant_edge as edge

    memory = edge.Memory.Cold if collection.cold else None
    # The engine wants one kind of vector in each shard; no point of the state collection ever has one.
    sparse = {SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf, memory=memory)}
    dense = edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine, memory=memory)
    return edge.EdgeConfig(
        vectors={DENSE: dense} if collection.vectors else None,
        sparse_vectors=sparse,
        hnsw_config=edge.HnswIndexConfig(
            m=HNSW_M,
            ef_construct=HNSW_EF_CONSTRUCT,
            full_scan_threshold=FULL_SCAN_THRESHOLD,
            payload_m=HNSW_PAYLOAD_M,
            memory=memory,
        ),
        payload_memory=memory,
        wal_enabled=True,
    )


def _index(index: Index, collection: Collection) -> Any:
    import qdrant_edge as edge

    memory = edge.Memory.Cold if collection.cold else None
    match index.kind:
        case "keyword":
            return edge.KeywordIndexParams(is_tenant=index.tenant, enable_hnsw=index.tenant, memory=memory)
        case "integer":
            return edge.IntegerIndexParams(lookup=True, range=True, enable_hnsw=False, memory=memory)
        case "datetime":
            return edge.DatetimeIndexParams(enable_hnsw=False, memory=memory)


def _point(point: Point) -> Any:
    import qdrant_edge as edge

    vector: dict[str, Any] = {}
    if point.dense is not None:
        vector[DENSE] = point.dense.tolist()
    if point.sparse.indices:
        vector[SPARSE] = edge.SparseVector(list(point.sparse.indices), list(point.sparse.values))
    return edge.Point(_text(point.id), vector, point.payload)


def _number(point: Any) -> PointId:
    # All of ours are UUIDs, so that is how they come back.
    number: PointId = point.int
    return number


def _text(point: PointId) -> str:
    return f"{point:032x}"


def _row(row: Any, vectors: bool) -> Row:
    if not vectors:
        return Row(_number(row.id), row.payload or {})
    vector = row.vector or {}
    sparse = vector.get(SPARSE)
    return Row(
        _number(row.id),
        row.payload or {},
        vector.get(DENSE),
        NO_WORDS if sparse is None else SparseVector(tuple(sparse.indices), tuple(sparse.values)),
    )


def _filter(must: Filter) -> Any:
    import qdrant_edge as edge

    conditions: list[Any] = []
    for condition in must:
        match condition:
            case Match(key, (value,)):
                conditions.append(edge.FieldCondition(key, match=edge.MatchValue(value)))
            case Match(key):
                conditions.append(edge.FieldCondition(key, match=edge.MatchAny(list[Any](condition.values))))
            case Between(key, since, until):
                interval = edge.RangeDateTime(
                    gte=since.isoformat() if since is not None else None,
                    lt=until.isoformat() if until is not None else None,
                )
                conditions.append(edge.FieldCondition(key, range=interval))
            case _:
                conditions.append(edge.HasIdCondition(set(map(_text, condition.ids))))
    return edge.Filter(must=conditions)


def _nearest(query: Nearest) -> Any:
    import qdrant_edge as edge

    if isinstance(query.vector, SparseVector):
        sparse = edge.SparseVector(list(query.vector.indices), list(query.vector.values))
        by = edge.Query.Nearest(sparse, SPARSE)
    else:
        by = edge.Query.Nearest(query.vector.tolist(), DENSE)
    return edge.QueryRequest(
        limit=query.limit,
        query=by,
        filter=_filter(query.must),
        score_threshold=query.threshold,
        params=edge.SearchParams(hnsw_ef=HNSW_EF, exact=query.exact),
        with_payload=False,
        with_vector=False,
    )


def _ordered(query: Ordered) -> Any:
    import qdrant_edge as edge

    direction = edge.Direction.Asc if query.direction == "asc" else edge.Direction.Desc
    return edge.ScrollRequest(
        limit=query.limit,
        filter=_filter(query.must),
        with_payload=False,
        with_vector=False,
        order_by=edge.OrderBy(query.key, direction, query.start),
    )
