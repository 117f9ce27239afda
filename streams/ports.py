"""What the core asks of the world: model and store interfaces. Adapters implement them, `streams.app` connects them.

Every interface has one behaviour suite in `tests/contract` that each adapter passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from schemas import Layer, MemoryRecord, MemoryStatus, MemoryType, Tenant

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of an embedding model.

    `duplicate`, `conflict` and `recall` are cosine thresholds after centring on `mean` (when there is one);
    `calibrated` is False for a model on which they were never measured.
    """

    name: str
    dimension: int
    query_prefix: str = ""
    passage_prefix: str = ""
    max_chars: int = 1000
    mean: tuple[float, ...] | None = None
    duplicate: float = 0.95
    conflict: float = 0.85
    recall: float = 0.30
    calibrated: bool = False


class Embedder(Protocol):
    """Text to unit vectors. Queries have their own thread and never wait behind a batch of passages.

    Raises `DependencyDown("embedder")` when the same call may succeed later, `Refused("embedder")` when it won't.
    """

    @property
    def profile(self) -> ModelProfile: ...

    async def embed_query(self, text: str) -> Vectors:
        """One query: shape (dimension,), float32, L2 norm 1 (zeros for a text without any token)."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages: shape (len(texts), dimension), rows as in `embed_query`. Texts over `max_chars` are cut."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ChatTurn:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """`text` as the model wrote it; token counts are 0 when the server did not say."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ChatModel(Protocol):
    """An OpenAI-compatible chat model.

    Raises `DependencyDown("chat")` (connection, 5xx, 429, time-out, open circuit) or `Refused("chat")` (4xx on
    this input). An empty or cut-off answer is returned as it is: the caller knows what it can salvage.
    """

    @property
    def name(self) -> str: ...

    async def complete(
        self,
        turns: Sequence[ChatTurn],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        deadline_seconds: float = 60.0,
    ) -> ChatReply: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids (uint32, ascending, unique) and their weights; IDF is applied by the store."""

    indices: tuple[int, ...] = ()
    values: tuple[float, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory with what it is searched by. `vector`: (dimension,), unit length, not centred."""

    record: MemoryRecord
    vector: Vectors
    sparse: SparseVector


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory with the words it is searched by. Vectors stay in the store: a hundred of them take longer to read than
    all else that recall needs."""

    record: MemoryRecord
    sparse: SparseVector


@dataclass(frozen=True, slots=True)
class Where:
    """Which memories of one tenant. Every given part must hold; inside a tuple any value does; () means "any"."""

    layers: tuple[Layer, ...] = ()
    types: tuple[MemoryType, ...] = ()
    statuses: tuple[MemoryStatus, ...] = ()
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    event_ids: tuple[str, ...] = ()
    # Half-open interval of `occurred_at`.
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A hit by id: `score` is the cosine for dense, the raw dot product for sparse search."""

    memory_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Doc:
    """A small JSON document beside the memories: receipts, directives, fences, verdicts. (kind, key) is unique."""

    kind: str
    key: str
    body: Mapping[str, Any]


class MemoryStore(Protocol):
    """Memories and documents by tenant: it is an argument of every call, or the key of each entry (`..._of`), never a
    filter.

    Raises `DependencyDown("store")` when the same call may succeed later, `ConfigurationError` when the collection
    does not fit the model. Every write is idempotent and visible to the next read of the same process.
    """

    async def upsert(self, tenant: Tenant, memories: Sequence[StoredMemory], *, archive: bool = False) -> None:
        """All or, when something does not fit (dimension, NaN, another tenant's record), nothing: `ValueError`."""
        ...

    async def upsert_of(self, memories: Mapping[Tenant, Sequence[StoredMemory]], *, archive: bool = False) -> None:
        """`upsert` for many tenants at once."""
        ...

    async def update(self, tenant: Tenant, records: Sequence[MemoryRecord]) -> list[str]:
        """New payloads for stored memories (either collection), vectors kept. Returns ids that are not there."""
        ...

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None:
        """From both collections."""
        ...

    async def move(self, tenant: Tenant, memory_ids: Sequence[str], *, to_archive: bool) -> None:
        """Between the collections, vectors kept: written there first, then deleted here. Absent ids are ignored."""
        ...

    async def get(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[MemoryRecord]:
        """From both collections, in the order asked; absent and foreign ids are left out."""
        ...

    async def get_with_vectors(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[StoredMemory]: ...

    async def find(
        self, tenant: Tenant, where: Where, *, limit: int = 1000, cursor: str | None = None, archive: bool = False
    ) -> tuple[list[MemoryRecord], str | None]:
        """A page in id order and the cursor of the next one (None: no more)."""
        ...

    async def near(
        self, tenant: Tenant, vectors: Vectors, *, threshold: float, where: Where, archive: bool = False
    ) -> list[list[Scored]]:
        """For each row of `vectors` (n, dimension): all memories with cosine >= threshold, by exact search."""
        ...

    async def put_docs(self, tenant: Tenant, docs: Sequence[Doc]) -> None: ...

    async def put_docs_of(self, docs: Mapping[Tenant, Sequence[Doc]]) -> None:
        """`put_docs` for many tenants at once."""
        ...

    async def get_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> list[Doc]: ...

    async def get_docs_of(self, kind: str, keys: Mapping[Tenant, Sequence[str]]) -> dict[Tenant, list[Doc]]:
        """`get_docs` for many tenants at once; a list for each of them."""
        ...

    async def find_docs(self, tenant: Tenant, *kinds: str) -> list[Doc]:
        """All documents of these kinds, by kind and key."""
        ...

    async def delete_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> None: ...


class VectorStore(MemoryStore, Protocol):
    """A whole store: also opened, closed and searched."""

    async def open(self) -> None:
        """Create or check the collections (`memory_records`, `memory_archive`, `memory_state`) and their indexes."""
        ...

    async def close(self) -> None: ...

    async def ping(self) -> None:
        """Raises `DependencyDown`."""
        ...

    async def flush(self) -> None:
        """Make everything written so far durable (a commit point)."""
        ...

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
        """Dense and sparse hits by own text, each best first, in one round trip; empty where the vector is None."""
        ...

    async def get_with_words(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[FoundMemory]:
        """`get` with the words of each."""
        ...

    async def cosines(self, tenant: Tenant, memory_ids: Sequence[str], vector: Vectors) -> dict[str, float]:
        """How near each of these memories is to a vector: (dimension,). Absent and foreign ids, and texts without any
        token, are left out."""
        ...

    async def neighbours(
        self, tenant: Tenant, anchors: Sequence[MemoryRecord], *, before: int, after: int
    ) -> list[FoundMemory]:
        """The episodes that stand up to `before`/`after` places from an anchor in its session (order: sequence,
        event id, message, start), anchors included, each once."""
        ...


class MaintenanceScan(Protocol):
    """The one view across tenants: a shard's ids for the window job. It never returns text to a caller."""

    async def idle(
        self,
        shard: int,
        *,
        before: datetime,
        types: tuple[MemoryType, ...] = (),
        limit: int = 500,
        cursor: str | None = None,
    ) -> tuple[list[tuple[Tenant, str]], str | None]:
        """Active memories whose last access is before `before`: (tenant, memory id) pairs. `types`: () means any.

        Those with the status "archived" that a crash left outside the archive are named as well.
        """
        ...

    async def ended(
        self,
        shard: int,
        *,
        before: datetime,
        types: tuple[MemoryType, ...] = (),
        limit: int = 500,
        cursor: str | None = None,
    ) -> tuple[list[tuple[Tenant, str]], str | None]:
        """Active memories whose `valid_until` is before `before`."""
        ...

    async def repeated(
        self, shard: int, *, since: datetime, limit: int = 500, cursor: str | None = None
    ) -> tuple[list[tuple[Tenant, str]], str | None]:
        """Active memories that were said again at `since` or later (`updated_at`)."""
        ...

    async def tenants(
        self, shard: int, *, limit: int = 500, cursor: str | None = None
    ) -> tuple[list[Tenant], str | None]:
        """Tenants that have a memory in the shard."""
        ...

    async def tenants_with_docs(self, *kinds: str) -> list[Tenant]:
        """Those that have a document of these kinds, with memories or without."""
        ...

    async def count(self, *, archive: bool = False) -> int: ...
