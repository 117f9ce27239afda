"""Vectors kept on disk between runs, so that a change of ranking is measured in seconds and not in minutes.

The cache lies outside of the repository: `$MEMSTREAM_BENCH_CACHE`, else a directory under the system's temporary one.
A vector is found by model, mean, kind (query or passage) and text.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from streams.ports import Embedder, ModelProfile, Vectors

# Goes up when a model gives other vectors than before.
_EDITION = 2


def cache_directory() -> Path:
    default = Path(tempfile.gettempdir()) / "memstream-bench"
    path = Path(os.environ.get("MEMSTREAM_BENCH_CACHE") or default)
    path.mkdir(parents=True, exist_ok=True)
    return path


class DiskVectors:
    """An `Embedder` that asks `make()` for what is not on disk, and loads the model only then."""

    def __init__(self, profile: ModelProfile, make: Callable[[], Embedder]) -> None:
        self._profile = profile
        self._make = make
        self._embedder: Embedder | None = None
        mean = np.array(profile.mean or (), np.float32).tobytes()
        self._model = f"{_EDITION}/{profile.name}/{profile.max_chars}/{hashlib.sha256(mean).hexdigest()[:16]}"
        self._disk = sqlite3.connect(cache_directory() / "vectors.sqlite3", timeout=60)
        self._disk.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    def _key(self, kind: str, text: str) -> bytes:
        return hashlib.sha256(f"{self._model}\n{kind}\n{text}".encode("utf-8", "surrogatepass")).digest()

    def look_up(self, kind: str, text: str) -> Vectors | None:
        row = self._disk.execute("SELECT vector FROM vectors WHERE key = ?", (self._key(kind, text),)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)

    def keep(self, kind: str, texts: Sequence[str], vectors: Vectors) -> None:
        rows = [
            (self._key(kind, text), np.asarray(vector, np.float32).tobytes())
            for text, vector in zip(texts, vectors, strict=True)
        ]
        with self._disk:
            self._disk.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    @property
    def model(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self._make()
        return self._embedder

    async def embed_query(self, text: str) -> Vectors:
        known = self.look_up("query", text)
        if known is None:
            known = await self.model.embed_query(text)
            self.keep("query", [text], known[None])
        return known

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if self.look_up("passage", text) is None]
        for start in range(0, len(missing), 64):
            chunk = missing[start : start + 64]
            self.keep("passage", chunk, await self.model.embed_passages(chunk))
        found = [self.look_up("passage", text) for text in texts]
        if not found:
            return np.zeros((0, self._profile.dimension), np.float32)
        return np.stack([vector for vector in found if vector is not None])

    async def close(self) -> None:
        self._disk.close()
        if self._embedder is not None:
            await self._embedder.close()
