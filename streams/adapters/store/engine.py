"""What the store needs of a vector engine. `streams.adapters.store.core` is written once on top of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from streams.adapters.store.filters import Filter
from streams.adapters.store.layout import PointId
from streams.adapters.store.payload import NO_WORDS, Payload, Point
from streams.ports import SparseVector, Vectors


# Not frozen: a recall reads a hundred, and freezing costs as much as making them.
@dataclass(slots=True)
class Row:
    """A point as read; the vectors are empty unless they were asked for."""

    id: PointId
    payload: Mapping[str, Any]
    dense: Sequence[float] | None = None
    sparse: SparseVector = NO_WORDS


@dataclass(frozen=True, slots=True)
class Nearest:
    """By dense (cosine) or sparse (dot product with IDF) vector; `threshold` is inclusive."""

    vector: Vectors | SparseVector
    must: Filter
    limit: int
    threshold: float | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Ordered:
    """The first `limit` points by an indexed integer, from `start` (inclusive) on."""

    key: str
    must: Filter
    limit: int
    start: int | None = None
    direction: Literal["asc", "desc"] = "asc"


class Engine(Protocol):
    """Raises `DependencyDown("store")` and `ConfigurationError` as `VectorStore` does.

    A write is visible to the next read of the same process; writing the same again changes nothing. Callers have
    checked every value: an engine need not be atomic about bad input.
    """

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def ping(self) -> None: ...

    async def flush(self) -> None: ...

    async def upsert(self, collection: str, points: Sequence[Point]) -> None: ...

    async def overwrite(self, collection: str, payloads: Sequence[tuple[PointId, Payload]]) -> None:
        """Whole new payloads for points that exist."""
        ...

    async def delete(self, collection: str, must: Filter) -> None: ...

    async def retrieve(
        self,
        collection: str,
        ids: Sequence[PointId],
        *,
        fields: Sequence[str] | None = None,
        vectors: Sequence[str] = (),
    ) -> list[Row]:
        """In any order, without those that are absent. `fields`: only these of the payload."""
        ...

    async def scroll(
        self, collection: str, must: Filter, *, limit: int, cursor: str | None, fields: Sequence[str] | None = None
    ) -> tuple[list[Row], str | None]:
        """A page in id order."""
        ...

    async def nearest(self, collection: str, queries: Sequence[Nearest]) -> list[list[tuple[PointId, float]]]: ...

    async def ordered(self, collection: str, queries: Sequence[Ordered]) -> list[list[tuple[int, PointId]]]: ...

    async def values(self, collection: str, key: str, must: Filter) -> list[str]:
        """The distinct values of an indexed keyword."""
        ...

    async def count(self, collection: str) -> int: ...
