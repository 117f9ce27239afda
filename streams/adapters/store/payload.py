"""Memories and documents as points: ids, payloads and vectors, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid5

import numpy as np

from schemas import MemoryRecord, Tenant
from streams.adapters.store.layout import RECORD_INDEXES, PointId
from streams.ports import Doc, SparseVector, StoredMemory, Vectors

Payload = dict[str, Any]

_MEMORY_ID = re.compile(r"mem_([0-9a-f]{32})")
_FOREIGN_IDS = UUID("6d656d73-7472-4561-8d2d-666f72656967")
_DOCS = UUID("6d656d73-7472-4561-8d2d-646f63756d65")
NO_WORDS = SparseVector()
MANIFEST_ID: PointId = uuid5(_DOCS, "manifest").int
# Made once: `json.dumps` makes an encoder at each call that is not its plainest.
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

# RFC 9562: free for any use.
_FOREIGN_VERSION = 8
_VERSION_AT = 76
_VERSION = 0xF << _VERSION_AT
_FOREIGN = _FOREIGN_VERSION << _VERSION_AT

_INT64 = 2**63
_UINT32 = 2**32


@dataclass(frozen=True, slots=True)
class Point:
    """`dense` is None for a text without any token: it is stored and found, only not by meaning."""

    id: PointId
    payload: Payload
    dense: Vectors | None = None
    sparse: SparseVector = NO_WORDS


def point_id(memory_id: str) -> PointId:
    """`mem_<32 hex>` is its own UUID, which keeps ids in order; any other text is hashed to one of version 8.

    The product's own ids are of version 5, so that a hit of a search tells its memory without being read.
    """
    own = _MEMORY_ID.fullmatch(memory_id)
    if own:
        return int(own[1], 16)
    return uuid5(_FOREIGN_IDS, memory_id).int & ~_VERSION | _FOREIGN


def memory_id_of(point: PointId) -> str | None:
    """The inverse of `point_id`; None when the point may be a hashed id, so that the payload must be asked."""
    return None if point & _VERSION == _FOREIGN else f"mem_{point:032x}"


# Fields of a record that the store filters or sorts by, as they stand in the record.
_ASKED = tuple(index.key for index in RECORD_INDEXES if index.key in MemoryRecord.model_fields)
RECORD = "record"


def memory_payload(tenant: Tenant, key: str, record: MemoryRecord) -> Payload:
    """The record as JSON text, and beside it what it is filtered by. (Field by field an engine takes, and gives, a
    record three times slower than as one text, and recall reads a hundred of them. What is as by default is left out:
    that is most of it, so a default of a stored field never changes.)

    `key` is `tenant.key`, which the caller makes once for all its records.
    Raises `ValueError` for another tenant's record and for what an engine can't keep.
    """
    if record.namespace != tenant.namespace or record.user_id != tenant.user_id:
        raise ValueError("the record belongs to another tenant")
    if not -_INT64 <= record.sequence < _INT64 or not -_INT64 <= record.shard < _INT64:
        raise ValueError("sequence and shard must be 64-bit integers")
    payload: Payload = {"tenant": key, RECORD: record.model_dump_json(exclude_defaults=True)}
    for name in _ASKED:
        value = getattr(record, name)
        if value is not None and value != ():
            payload[name] = _plain(value)
    payload["idle_since"] = _plain(record.last_access_time or record.created_at)
    if record.slot is not None:
        payload["slot"] = record.slot
    if record.sources:
        payload["event_ids"] = list(dict.fromkeys(source.event_id for source in record.sources))
    return payload


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def memory_record(payload: Mapping[str, Any]) -> MemoryRecord:
    return MemoryRecord.model_validate_json(payload[RECORD])


def memory_point(tenant: Tenant, key: str, memory: StoredMemory, dimension: int) -> Point:
    """Raises `ValueError` unless everything about the memory fits."""
    dense = check_dense(memory.vector, (dimension,))
    return Point(
        id=point_id(memory.record.memory_id),
        payload=memory_payload(tenant, key, memory.record),
        dense=dense if dense.any() else None,
        sparse=check_sparse(memory.sparse),
    )


def check_dense(vector: Vectors, shape: tuple[int, ...]) -> Vectors:
    """As float32. Raises `ValueError` on another shape and on NaN or infinity."""
    dense = np.asarray(vector, dtype=np.float32)
    if dense.shape != shape:
        raise ValueError(f"a vector has the shape {dense.shape}, the store is made for {shape}")
    if not np.isfinite(dense).all():
        raise ValueError("a vector has a component that is not a finite number")
    return dense


def check_sparse(sparse: SparseVector) -> SparseVector:
    """Raises `ValueError` unless ids are uint32 and unique and every weight is finite."""
    if len(sparse.indices) != len(sparse.values) or len(set(sparse.indices)) != len(sparse.indices):
        raise ValueError("a sparse vector needs one weight for each of its unique term ids")
    if not all(0 <= index < _UINT32 for index in sparse.indices) or not np.isfinite(sparse.values).all():
        raise ValueError("a sparse vector has a term id or a weight out of range")
    return sparse


def doc_id(tenant: Tenant, kind: str, key: str) -> PointId:
    made = _kept_doc_id if len(key) <= LONGEST_KEPT_KEY else _kept_doc_id.__wrapped__
    return made(tenant.key, kind, key)


# Longer than the id of an event, and than a pair of ids of memories. What a client names can be as large as a record.
LONGEST_KEPT_KEY = 1024


# A step asks for the documents that it writes at its end.
@lru_cache(maxsize=1024)
def _kept_doc_id(tenant: str, kind: str, key: str) -> PointId:
    return uuid5(_DOCS, json.dumps([tenant, kind, key])).int


def doc_point(tenant: Tenant, doc: Doc) -> Point:
    """The body is JSON text: the store neither indexes nor changes it. Raises `ValueError` if it is not JSON."""
    try:
        body = _JSON(dict(doc.body))
    except TypeError:
        raise ValueError("the body of a document must be JSON") from None
    payload = {"tenant": tenant.key, "kind": doc.kind, "key": doc.key, "body": body}
    for text in payload.values():
        text.encode()
    return Point(id=doc_id(tenant, doc.kind, doc.key), payload=payload)


def doc_of(payload: Mapping[str, Any]) -> Doc:
    return Doc(kind=payload["kind"], key=payload["key"], body=json.loads(payload["body"]))


def dense_of(values: Sequence[float] | None, dimension: int) -> Vectors:
    """Read-only, because it is shared; zeros where nothing was stored."""
    vector = np.zeros(dimension, np.float32) if values is None else np.fromiter(values, np.float32, dimension)
    vector.flags.writeable = False
    return vector
