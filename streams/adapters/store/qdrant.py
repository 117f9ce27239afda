"""A Qdrant server (1.16 or later) through `AsyncQdrantClient`: the store that many processes share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

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
    STATE,
    Collection,
    Index,
    PointId,
)
from streams.adapters.store.manifest import check_manifest, manifest_of
from streams.adapters.store.payload import MANIFEST_ID, NO_WORDS, Payload, Point
from streams.errors import ConfigurationError, DependencyDown
from streams.ports import ModelProfile, SparseVector

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

T = TypeVar("T")

# Of one request. Searches take milliseconds; a write waits until it is applied, at worst behind an optimizer.
REQUEST_SECONDS = 10
# Idle connections kept: a recall worker has about this many requests in flight.
KEPT_CONNECTIONS = 16
# Far more distinct tenants than one shard of 64 holds.
ALL_VALUES = 1_000_000
# A fixed prefix of `location` for the client's own in-process mode, which is slow and for small tests only.
LOCAL_DIRECTORY = "file:"
IN_MEMORY = ":memory:"


class QdrantStore(EngineStore):
    """`location`: the server's URL; for tests of under 2,000 memories also `:memory:` or `file:<directory>`.

    `prefix` begins the names of the collections, of which a server may hold several sets."""

    def __init__(
        self,
        location: str,
        profile: ModelProfile,
        *,
        api_key: str | None = None,
        prefix: str = "",
        timeout: int = REQUEST_SECONDS,
    ) -> None:
        engine = QdrantEngine(location, profile, api_key=api_key, prefix=prefix, timeout=timeout)
        super().__init__(engine, profile, sole_owner=False)


class QdrantEngine:
    """An `Engine` over REST. Writes are acknowledged when they are applied and in the server's log."""

    def __init__(
        self,
        location: str,
        profile: ModelProfile,
        *,
        api_key: str | None = None,
        prefix: str = "",
        timeout: int = REQUEST_SECONDS,
    ) -> None:
        self._location = location
        self._prefix = prefix
        self._local = location == IN_MEMORY or location.startswith(LOCAL_DIRECTORY)
        self._profile = profile
        self._api_key = api_key
        self._timeout = timeout
        self._opened: AsyncQdrantClient | None = None

    async def open(self) -> None:
        if self._opened is not None:
            return
        client = self._connect()
        try:
            with _typed():
                for collection in COLLECTIONS:
                    await self._ensure(client, collection)
                await self._check_manifest(client)
        except BaseException:
            await client.close()
            raise
        self._opened = client

    def _connect(self) -> AsyncQdrantClient:
        import httpx
        from qdrant_client import AsyncQdrantClient

        try:
            if self._location == IN_MEMORY:
                return AsyncQdrantClient(location=IN_MEMORY)
            if self._local:
                return AsyncQdrantClient(path=self._location.removeprefix(LOCAL_DIRECTORY))
            if not self._location.startswith(("http://", "https://")):
                raise ValueError
            return AsyncQdrantClient(
                url=self._location,
                api_key=self._api_key,
                timeout=self._timeout,
                # It would be a blocking request.
                check_compatibility=False,
                limits=httpx.Limits(max_connections=KEPT_CONNECTIONS, max_keepalive_connections=KEPT_CONNECTIONS),
            )
        except (ValueError, RuntimeError) as error:
            if "already accessed" in str(error):
                raise ConfigurationError(
                    "the store's directory is in use by another process: stop that one, or set a Qdrant URL"
                ) from None
            raise ConfigurationError("the Qdrant URL can't be used: it looks like http://host:6333") from None

    def _name(self, collection: str) -> str:
        return self._prefix + collection

    async def _ensure(self, client: AsyncQdrantClient, collection: Collection) -> None:
        from qdrant_client.http.exceptions import UnexpectedResponse

        name = self._name(collection.name)
        if not await client.collection_exists(name):
            try:
                await client.create_collection(name, **_config(collection, self._profile.dimension))
            except UnexpectedResponse as error:
                # Another process was faster.
                if error.status_code != 409:
                    raise
        info = await client.get_collection(name)
        if collection.vectors:
            vectors = info.config.params.vectors
            dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
            if dense is None or SPARSE not in (info.config.params.sparse_vectors or {}):
                raise ConfigurationError(
                    f"the collection {name} was not made by memstream: run `memstream rebuild`, or use another Qdrant"
                )
            if dense.size != self._profile.dimension:
                raise ConfigurationError(
                    f"the collection {name} holds vectors of {dense.size} dimensions, the embedder "
                    f"{self._profile.name} makes {self._profile.dimension}: run `memstream rebuild`, or configure "
                    "the model that the store was made with"
                )
        if self._local:
            return
        for index in collection.indexes:
            if index.key not in info.payload_schema:
                await client.create_payload_index(name, index.key, _index(index, collection), wait=True)

    async def _check_manifest(self, client: AsyncQdrantClient) -> None:
        found = await client.retrieve(self._name(STATE), [_text(MANIFEST_ID)])
        if found:
            check_manifest(json.loads((found[0].payload or {})["body"]), self._profile)
            return
        if (await client.count(self._name(RECORDS), exact=True)).count:
            raise ConfigurationError(
                f"the collection {self._name(RECORDS)} does not say which model made its vectors: "
                "run `memstream rebuild`"
            )
        # No tenant's key is empty: this document can't be read or deleted through the store's interface.
        body = json.dumps(manifest_of(self._profile))
        payload = {"tenant": "", "kind": "manifest", "key": "", "body": body}
        await client.upsert(self._name(STATE), [_point(Point(MANIFEST_ID, payload))], wait=True)

    async def close(self) -> None:
        client, self._opened = self._opened, None
        if client is not None:
            await client.close()

    async def ping(self) -> None:
        await self._call(self._client.collection_exists(self._name(RECORDS)))

    async def flush(self) -> None:
        """Nothing to do: every write waited for the server."""

    @property
    def _client(self) -> AsyncQdrantClient:
        if self._opened is None:
            raise DependencyDown("store", "it is not open")
        return self._opened

    async def _call(self, request: Awaitable[T]) -> T:
        with _typed():
            return await request

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        if points:
            structs = [_point(point) for point in points]
            await self._call(self._client.upsert(self._name(collection), structs, wait=True))

    async def overwrite(self, collection: str, payloads: Sequence[tuple[PointId, Payload]]) -> None:
        from qdrant_client import models

        operations = [
            models.OverwritePayloadOperation(
                overwrite_payload=models.SetPayload(payload=payload, points=[_text(point)])
            )
            for point, payload in payloads
        ]
        if operations:
            await self._call(self._client.batch_update_points(self._name(collection), operations, wait=True))

    async def delete(self, collection: str, must: Filter) -> None:
        from qdrant_client import models

        selector = models.FilterSelector(filter=_filter(must))
        await self._call(self._client.delete(self._name(collection), selector, wait=True))

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
        rows = await self._call(
            self._client.retrieve(
                self._name(collection),
                [*map(_text, ids)],
                with_payload=True if fields is None else list(fields),
                with_vectors=list(vectors),
            )
        )
        return [_row(row) for row in rows]

    async def scroll(
        self, collection: str, must: Filter, *, limit: int, cursor: str | None, fields: Sequence[str] | None = None
    ) -> tuple[list[Row], str | None]:
        rows, following = await self._call(
            self._client.scroll(
                self._name(collection),
                _filter(must),
                limit=limit,
                offset=cursor,
                with_payload=True if fields is None else list(fields),
                with_vectors=False,
            )
        )
        return [_row(row) for row in rows], None if following is None else str(following)

    async def nearest(self, collection: str, queries: Sequence[Nearest]) -> list[list[tuple[PointId, float]]]:
        if not queries:
            return []
        requests = [_nearest(query) for query in queries]
        answers = await self._call(self._client.query_batch_points(self._name(collection), requests))
        return [[(_number(point.id), point.score) for point in answer.points] for answer in answers]

    async def ordered(self, collection: str, queries: Sequence[Ordered]) -> list[list[tuple[int, PointId]]]:
        if not queries:
            return []
        if self._local:
            # A query by order forgets the values there.
            return await asyncio.gather(*(self._scroll_ordered(collection, query) for query in queries))
        requests = [_ordered(query) for query in queries]
        answers = await self._call(self._client.query_batch_points(self._name(collection), requests))
        return [[(int(point.order_value or 0), _number(point.id)) for point in answer.points] for answer in answers]

    async def _scroll_ordered(self, collection: str, query: Ordered) -> list[tuple[int, PointId]]:
        rows, _ = await self._call(
            self._client.scroll(
                self._name(collection),
                _filter(query.must),
                limit=query.limit,
                order_by=_order(query),
                with_payload=[query.key],
                with_vectors=False,
            )
        )
        return [(int((row.payload or {})[query.key]), _number(row.id)) for row in rows]

    async def values(self, collection: str, key: str, must: Filter) -> list[str]:
        found = await self._call(
            self._client.facet(self._name(collection), key, facet_filter=_filter(must), limit=ALL_VALUES, exact=True)
        )
        return [str(hit.value) for hit in found.hits]

    async def count(self, collection: str) -> int:
        return (await self._call(self._client.count(self._name(collection), exact=True))).count


@contextmanager
def _typed() -> Iterator[None]:
    """Messages carry no text of the server's: it may quote payloads."""
    import httpx
    from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

    try:
        yield
    except ResourceExhaustedResponse as error:
        raise DependencyDown("store", "the server asks to wait", retry_after=error.retry_after_s) from None
    except UnexpectedResponse as error:
        status = error.status_code or 0
        if status in (401, 403):
            raise ConfigurationError(f"the Qdrant server refuses the API key (HTTP {status})") from None
        if status == 404:
            raise ConfigurationError(
                "a collection is missing on the Qdrant server: run `memstream rebuild`, or check the URL"
            ) from None
        if status in (400, 413, 422):
            raise ValueError(f"the Qdrant server refuses the request (HTTP {status})") from None
        raise DependencyDown("store", f"HTTP {status}") from None
    except (ApiException, QdrantException, httpx.HTTPError, OSError, json.JSONDecodeError) as error:
        # The last one: something on the way answers in the server's place.
        cause = getattr(error, "source", error)
        raise DependencyDown("store", type(cause).__name__) from None


def _config(collection: Collection, dimension: int) -> dict[str, Any]:
    from qdrant_client import models

    if not collection.vectors:
        return {"vectors_config": {}, "on_disk_payload": True}
    dense = models.VectorParams(size=dimension, distance=models.Distance.COSINE, on_disk=collection.cold)
    sparse = models.SparseVectorParams(
        modifier=models.Modifier.IDF, index=models.SparseIndexParams(on_disk=collection.cold)
    )
    return {
        "vectors_config": {DENSE: dense},
        "sparse_vectors_config": {SPARSE: sparse},
        "hnsw_config": models.HnswConfigDiff(
            m=HNSW_M,
            ef_construct=HNSW_EF_CONSTRUCT,
            full_scan_threshold=FULL_SCAN_THRESHOLD,
            payload_m=HNSW_PAYLOAD_M,
            on_disk=collection.cold,
        ),
        "on_disk_payload": True,
    }


def _index(index: Index, collection: Collection) -> Any:
    from qdrant_client import models

    cold = collection.cold
    match index.kind:
        case "keyword":
            return models.KeywordIndexParams(
                type=models.KeywordIndexType.KEYWORD,
                is_tenant=index.tenant,
                enable_hnsw=index.tenant,
                on_disk=cold,
            )
        case "integer":
            return models.IntegerIndexParams(
                type=models.IntegerIndexType.INTEGER, lookup=True, range=True, enable_hnsw=False, on_disk=cold
            )
        case "datetime":
            return models.DatetimeIndexParams(type=models.DatetimeIndexType.DATETIME, enable_hnsw=False, on_disk=cold)


def _text(point: PointId) -> str:
    return str(UUID(int=point))


def _number(point: object) -> PointId:
    return UUID(str(point)).int


def _point(point: Point) -> Any:
    from qdrant_client import models

    vector: dict[str, Any] = {}
    if point.dense is not None:
        vector[DENSE] = point.dense.tolist()
    if point.sparse.indices:
        vector[SPARSE] = models.SparseVector(indices=list(point.sparse.indices), values=list(point.sparse.values))
    return models.PointStruct(id=_text(point.id), vector=vector, payload=point.payload)


def _row(row: Any) -> Row:
    vector = row.vector if isinstance(row.vector, dict) else {}
    sparse = vector.get(SPARSE)
    return Row(
        _number(row.id),
        row.payload or {},
        vector.get(DENSE),
        NO_WORDS if sparse is None else SparseVector(tuple(sparse.indices), tuple(sparse.values)),
    )


def _filter(must: Filter) -> Any:
    from qdrant_client import models

    conditions: list[Any] = []
    for condition in must:
        match condition:
            case Match(key, (value,)):
                conditions.append(models.FieldCondition(key=key, match=models.MatchValue(value=value)))
            case Match(key):
                values = list[Any](condition.values)
                conditions.append(models.FieldCondition(key=key, match=models.MatchAny(any=values)))
            case Between(key, since, until):
                interval = models.DatetimeRange(gte=since, lt=until)
                conditions.append(models.FieldCondition(key=key, range=interval))
            case _:
                conditions.append(models.HasIdCondition(has_id=[*map(_text, condition.ids)]))
    return models.Filter(must=conditions)


def _nearest(query: Nearest) -> Any:
    from qdrant_client import models

    vector: Any
    if isinstance(query.vector, SparseVector):
        using = SPARSE
        vector = models.SparseVector(indices=list(query.vector.indices), values=list(query.vector.values))
    else:
        using = DENSE
        vector = query.vector.tolist()
    return models.QueryRequest(
        query=models.NearestQuery(nearest=vector),
        using=using,
        filter=_filter(query.must),
        limit=query.limit,
        score_threshold=query.threshold,
        params=models.SearchParams(hnsw_ef=HNSW_EF, exact=query.exact),
        with_payload=False,
        with_vector=False,
    )


def _order(query: Ordered) -> Any:
    from qdrant_client import models

    direction = models.Direction.ASC if query.direction == "asc" else models.Direction.DESC
    return models.OrderBy(key=query.key, direction=direction, start_from=query.start)


def _ordered(query: Ordered) -> Any:
    from qdrant_client import models

    return models.QueryRequest(
        query=models.OrderByQuery(order_by=_order(query)),
        filter=_filter(query.must),
        limit=query.limit,
        with_payload=False,
        with_vector=False,
    )
