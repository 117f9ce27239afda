"""A model that runs in this process, on two threads: one for queries, one for passages."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from streams.adapters.embedders.text import clean
from streams.adapters.embedders.vectors import unit_rows
from streams.errors import DependencyDown
from streams.ports import ModelProfile, Vectors

# Texts to vectors of any norm, one row a text. Called from one thread only, never with an empty list or text.
Encode = Callable[[Sequence[str]], ArrayLike]

# Passages queue in chunks, so that several batches take turns and a cancelled one stops early. Bigger chunks are
# not faster on a CPU.
CHUNK = 8
# Of the thread for passages: at full load a query gets nine times the share of a core that it gets.
BACKGROUND_NICENESS = 10


class ThreadedEmbedder:
    """An `Embedder` over two blocking functions, each called on its own thread.

    A query waits for other queries only: with one thread for both, it waited 740 ms (median) behind a busy ingest,
    with two 62 ms, the same as idle. The two functions must not share state that is not thread-safe.
    """

    def __init__(self, profile: ModelProfile, encode_queries: Encode, encode_passages: Encode) -> None:
        self._profile = profile
        self._encode_queries = encode_queries
        self._encode_passages = encode_passages
        self._query_thread = ThreadPoolExecutor(1, thread_name_prefix="embed-query")
        self._passage_thread = ThreadPoolExecutor(1, thread_name_prefix="embed-passages", initializer=_step_back)

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    async def embed_query(self, text: str) -> Vectors:
        vectors = await self._embed(self._query_thread, self._encode_queries, [text])
        return np.asarray(vectors[0], dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        chunks = [
            await self._embed(self._passage_thread, self._encode_passages, texts[start : start + CHUNK])
            for start in range(0, len(texts), CHUNK)
        ]
        return np.concatenate(chunks) if chunks else np.zeros((0, self._profile.dimension), np.float32)

    async def close(self) -> None:
        """Drop what waits, let the running chunks end, free the threads. Later calls raise `DependencyDown`."""
        for thread in (self._query_thread, self._passage_thread):
            thread.shutdown(wait=False, cancel_futures=True)
        for thread in (self._query_thread, self._passage_thread):
            await asyncio.to_thread(thread.shutdown, wait=True)

    async def _embed(self, thread: ThreadPoolExecutor, encode: Encode, texts: Sequence[str]) -> Vectors:
        try:
            future = thread.submit(self._encode, encode, texts)
        except RuntimeError:
            raise DependencyDown("embedder", "it is closed") from None
        waiting = asyncio.wrap_future(future)
        try:
            return await waiting
        except asyncio.CancelledError:
            if future.cancelled() and not _being_cancelled():
                raise DependencyDown("embedder", "it is closed") from None
            raise

    def _encode(self, encode: Encode, texts: Sequence[str]) -> Vectors:
        return embed_nonempty(texts, self._profile, encode)


def embed_nonempty(texts: Sequence[str], profile: ModelProfile, encode: Encode) -> Vectors:
    """Clean `texts`, encode those that are not empty, check the result; empty texts become rows of zeros."""
    cleaned = [clean(text, profile.max_chars) for text in texts]
    rows = [row for row, text in enumerate(cleaned) if text]
    vectors = np.zeros((len(cleaned), profile.dimension), np.float32)
    if rows:
        vectors[rows] = unit_rows(encode([cleaned[row] for row in rows]), len(rows), profile.dimension)
    return vectors


def _step_back() -> None:
    """Where cores are short, this thread's work can wait: somebody waits for a query, and the event loop for none."""
    if sys.platform == "linux":
        # A thread is a process of its own to the scheduler.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BACKGROUND_NICENESS)


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
