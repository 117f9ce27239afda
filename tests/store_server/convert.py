"""The client's REST models to the engine's objects, and the engine's answers to JSON."""

from __future__ import annotations

from typing import Any

import qdrant_edge as edge
from qdrant_client import models

Json = Any

_DISTANCES = {
    models.Distance.COSINE: edge.Distance.Cosine,
    models.Distance.DOT: edge.Distance.Dot,
    models.Distance.EUCLID: edge.Distance.Euclid,
    models.Distance.MANHATTAN: edge.Distance.Manhattan,
}


def config(request: models.CreateCollection) -> edge.EdgeConfig:
    dense = request.vectors if isinstance(request.vectors, dict) else {}
    sparse = request.sparse_vectors or {}
    hnsw = request.hnsw_config or models.HnswConfigDiff()
    return edge.EdgeConfig(
        vectors={
            name: edge.EdgeVectorParams(params.size, _DISTANCES[params.distance]) for name, params in dense.items()
        }
        or None,
        sparse_vectors={
            name: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if params.modifier else None)
            for name, params in sparse.items()
        }
        # The engine wants at least one kind of vector.
        or ({} if dense else {"none": edge.EdgeSparseVectorParams()}),
        hnsw_config=edge.HnswIndexConfig(
            m=16 if hnsw.m is None else hnsw.m,
            ef_construct=hnsw.ef_construct or 100,
            full_scan_threshold=hnsw.full_scan_threshold or 10_000,
            payload_m=hnsw.payload_m,
        ),
        wal_enabled=True,
    )


def index(schema: Any) -> Any:
    match schema:
        case models.KeywordIndexParams():
            return edge.KeywordIndexParams(is_tenant=schema.is_tenant, enable_hnsw=schema.enable_hnsw)
        case models.IntegerIndexParams():
            return edge.IntegerIndexParams(lookup=schema.lookup, range=schema.range, enable_hnsw=schema.enable_hnsw)
        case models.FloatIndexParams():
            return edge.FloatIndexParams(enable_hnsw=schema.enable_hnsw)
        case models.DatetimeIndexParams():
            return edge.DatetimeIndexParams(enable_hnsw=schema.enable_hnsw)
    raise ValueError(f"no index of the type {type(schema).__name__}")


def points(request: models.PointsList) -> list[edge.Point]:
    return [edge.Point(point.id, _vectors(point.vector), point.payload) for point in request.points]


def _vectors(vectors: Any) -> Any:
    return {
        name: edge.SparseVector(vector.indices, vector.values) if isinstance(vector, models.SparseVector) else vector
        for name, vector in vectors.items()
    }


def filter_of(request: models.Filter | None) -> edge.Filter | None:
    if request is None:
        return None
    return edge.Filter(must=_conditions(request.must), must_not=_conditions(request.must_not))


def _conditions(conditions: Any) -> list[Any] | None:
    if conditions is None:
        return None
    return [_condition(condition) for condition in (conditions if isinstance(conditions, list) else [conditions])]


def _condition(condition: Any) -> Any:
    match condition:
        case models.HasIdCondition():
            return edge.HasIdCondition(set(condition.has_id))
        case models.FieldCondition(match=models.MatchValue() as match):
            return edge.FieldCondition(condition.key, match=edge.MatchValue(match.value))
        case models.FieldCondition(match=models.MatchAny() as match):
            return edge.FieldCondition(condition.key, match=edge.MatchAny(list[Any](match.any)))
        case models.FieldCondition(range=models.DatetimeRange() as interval):
            limits = {
                name: instant.isoformat()
                for name in ("gte", "gt", "lte", "lt")
                if (instant := getattr(interval, name)) is not None
            }
            return edge.FieldCondition(condition.key, range=edge.RangeDateTime(**limits))
    raise ValueError(f"no condition of the type {type(condition).__name__}")


def order(request: models.OrderBy) -> edge.OrderBy:
    direction = edge.Direction.Desc if request.direction == models.Direction.DESC else edge.Direction.Asc
    start: Any = request.start_from
    return edge.OrderBy(request.key, direction, start)


def query(request: models.QueryRequest) -> edge.QueryRequest:
    by: Any
    match request.query:
        case models.NearestQuery(nearest=models.SparseVector() as sparse):
            by = edge.Query.Nearest(edge.SparseVector(sparse.indices, sparse.values), request.using)
        case models.NearestQuery(nearest=list() as dense):
            by = edge.Query.Nearest(dense, request.using)
        case models.OrderByQuery(order_by=models.OrderBy() as wanted):
            by = order(wanted)
        case _:
            raise ValueError(f"no query of the type {type(request.query).__name__}")
    params = request.params or models.SearchParams()
    return edge.QueryRequest(
        limit=request.limit or 10,
        query=by,
        filter=filter_of(request.filter),
        score_threshold=request.score_threshold,
        params=edge.SearchParams(hnsw_ef=params.hnsw_ef, exact=bool(params.exact)),
        with_payload=selector(request.with_payload),
        with_vector=bool(request.with_vector),
    )


def selector(wanted: Any) -> bool | list[str]:
    return list(wanted) if isinstance(wanted, list) else bool(wanted)


def row(point: Any) -> Json:
    vectors = {
        name: {"indices": vector.indices, "values": vector.values} if hasattr(vector, "indices") else vector
        for name, vector in (point.vector or {}).items()
    }
    return {"id": str(point.id), "payload": point.payload, "vector": vectors, "order_value": point.order_value}


def scored(point: Any) -> Json:
    return {**row(point), "score": point.score, "version": point.version}
