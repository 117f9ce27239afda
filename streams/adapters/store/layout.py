"""What the store looks like: collections, vectors and payload indexes, as data that both engines build from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RECORDS = "memory_records"
ARCHIVE = "memory_archive"
STATE = "memory_state"

DENSE = "dense"
SPARSE = "sparse"

# No global graph: every search has a tenant filter, under which a global graph loses recall (0.3-0.9 measured).
# One small graph a tenant keeps it at 1.0. A search without the tenant filter must therefore be exact.
HNSW_M = 0
HNSW_PAYLOAD_M = 16
HNSW_EF_CONSTRUCT = 200
HNSW_EF = 100
# KiB of vectors under which a plain scan is used; the engine's default.
FULL_SCAN_THRESHOLD = 10_000

# The number of a point's UUID: a recall looks up a thousand, and Python hashes and compares UUID objects slowly.
PointId = int

IndexKind = Literal["keyword", "integer", "datetime"]


@dataclass(frozen=True, slots=True)
class Index:
    """One payload index. Only the tenant's takes part in the graph: with a graph for each, building never ends."""

    key: str
    kind: IndexKind
    tenant: bool = False


@dataclass(frozen=True, slots=True)
class Collection:
    """`vectors`: has the dense and the sparse vector. `cold`: read from disk, not kept in memory."""

    name: str
    indexes: tuple[Index, ...]
    vectors: bool = True
    cold: bool = False


TENANT = Index("tenant", "keyword", tenant=True)

# What `Where` can ask, in both collections, and the shard for the maintenance scan.
ASKED_INDEXES = (
    TENANT,
    *(
        Index(key, "keyword")
        for key in ("status", "layer", "memory_type", "tags", "entities", "slot", "session_id", "event_ids")
    ),
    Index("shard", "integer"),
    Index("occurred_at", "datetime"),
)

RECORD_INDEXES = (
    *ASKED_INDEXES,
    Index("sequence", "integer"),
    *(Index(key, "datetime") for key in ("updated_at", "idle_since", "valid_until")),
)

COLLECTIONS = (
    Collection(RECORDS, RECORD_INDEXES),
    Collection(ARCHIVE, ASKED_INDEXES, cold=True),
    Collection(STATE, (TENANT, Index("kind", "keyword")), vectors=False),
)
