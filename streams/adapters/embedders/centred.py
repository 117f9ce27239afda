"""Vectors without what all texts of a model have in common."""

from __future__ import annotations

from collections.abc import Sequence

from streams.adapters.embedders.profiles import centre
from streams.ports import Embedder, ModelProfile, Vectors


class Centred:
    """An `Embedder` whose vectors are centred on its profile's mean: what the store keeps and thresholds apply to.

    `profile`: instead of the embedder's own.
    """

    def __init__(self, embedder: Embedder, profile: ModelProfile | None = None) -> None:
        self._embedder = embedder
        self._profile = profile or embedder.profile

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    async def embed_query(self, text: str) -> Vectors:
        return centre(await self._embedder.embed_query(text), self.profile)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return centre(await self._embedder.embed_passages(texts), self.profile)

    async def close(self) -> None:
        await self._embedder.close()
