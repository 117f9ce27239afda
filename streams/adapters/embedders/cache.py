"""The same question twice costs one call of the model."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

from streams.ports import Embedder, ModelProfile, Vectors


class CachedQueries:
    """An `Embedder` that keeps the vectors of its `size` most recently used queries, by SHA-256 of the text.

    Identical queries at the same time share one call; a failure is shared too but never kept. The text itself is not
    kept. Vectors come back read-only, since several callers hold the same one. 384 dimensions take 1.5 KiB each.
    """

    def __init__(self, embedder: Embedder, size: int = 2048) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._running: dict[bytes, asyncio.Task[Vectors]] = {}

    @property
    def profile(self) -> ModelProfile:
        return self._embedder.profile

    async def embed_query(self, text: str) -> Vectors:
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        if (vector := self._vectors.get(key)) is not None:
            self._vectors.move_to_end(key)
            return vector
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.create_task(self._fill(key, text))
            task.add_done_callback(_retrieve)
        # Shielded: one caller that gives up does not take the others' answer away.
        return await asyncio.shield(task)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embedder.embed_passages(texts)

    async def close(self) -> None:
        for task in list(self._running.values()):
            task.cancel()
        self._vectors.clear()
        await self._embedder.close()

    async def _fill(self, key: bytes, text: str) -> Vectors:
        try:
            vector = await self._embedder.embed_query(text)
            vector.flags.writeable = False
            self._vectors[key] = vector
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
            return vector
        finally:
            del self._running[key]


def _retrieve(task: asyncio.Task[Vectors]) -> None:
    """Look at the outcome, so that asyncio does not report a failure whose callers have all left."""
    if not task.cancelled():
        task.exception()
