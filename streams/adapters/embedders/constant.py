"""Vectors in constant time from hashed character n-grams, for tests and benches of everything but the model.

Not for production: it knows no meaning, only shared spelling. "car" and "automobile" are unrelated to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from streams.adapters.embedders.text import clean
from streams.adapters.embedders.threads import CHUNK
from streams.ports import ModelProfile, Vectors

_MULTIPLIERS = np.array([2654435761, 2246822519, 3266489917], np.uint32)  # odd and large, of xxHash


def hashed_vector(text: str, dimension: int = 384) -> Vectors:
    """A unit vector of shape (dimension,) in which every character bigram and trigram has a place and a sign.

    Texts that share words are near, others almost orthogonal; the same on every machine. Zeros for a blank text.
    """
    words = text.casefold().split()
    if not words:
        return np.zeros(dimension, np.float32)
    codes = np.frombuffer(f" {' '.join(words)} ".encode("utf-32-le", "replace"), np.uint32)
    full_width = codes - np.uint32(0xFF01) < 94  # unsigned: what is below wraps around
    codes = (codes - np.uint32(0xFEE0) * full_width) * _MULTIPLIERS[0]
    bigrams = (codes[:-1] ^ (codes[:-1] >> 15)) + codes[1:] * _MULTIPLIERS[1]
    trigrams = (bigrams[:-1] ^ (bigrams[:-1] >> 13)) * _MULTIPLIERS[2] + codes[2:]
    hashes = np.concatenate((bigrams, trigrams))
    hashes = (hashes ^ (hashes >> 16)) * _MULTIPLIERS[1]
    signs = (hashes >> 31) * 2.0 - 1.0
    vector = np.bincount((hashes >> 4) % dimension, signs, dimension)
    norm = float(np.sqrt(vector @ vector))
    if norm == 0:  # the signs cancelled out
        vector[hashes[0] % dimension] = norm = 1.0
    return (vector / norm).astype(np.float32)


class ConstantEmbedder:
    """An `Embedder` over `hashed_vector`; queries and passages alike."""

    def __init__(self, dimension: int = 384, max_chars: int = 1000) -> None:
        self._profile = ModelProfile(
            name="constant", dimension=dimension, max_chars=max_chars, duplicate=0.95, conflict=0.6, recall=0.25
        )

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    async def embed_query(self, text: str) -> Vectors:
        return hashed_vector(clean(text, self._profile.max_chars), self._profile.dimension)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self._profile.dimension), np.float32)
        for row, text in enumerate(texts):
            if row % CHUNK == 0:
                await asyncio.sleep(0)  # a query gets its turn, as with the other adapters
            vectors[row] = hashed_vector(clean(text, self._profile.max_chars), self._profile.dimension)
        return vectors

    async def close(self) -> None:
        return None
