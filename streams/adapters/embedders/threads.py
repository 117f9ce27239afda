"""A model that runs in this process, on two threads: one for queries, one for passages."""

from __future__ import annotations

import asyncio
import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from streams.adapters.embedders.text import clean
from streams.adapters.embedders.vectors import unit_rows
from streams.errors import DependencyDown
from streams.ports import ModelProfile, Vectors

# Texts to vectors of any norm, one row a text. Called from one thread only, never with an empty list or text.
Encode = Callable[[Sequence[str]], ArrayLike]

# Passages queue in chunks, so that several batches take turns and a cancelled one stops early. What waits goes into one
# chunk, whoever asked for it: eight texts at once take a tenth less than eight times one. Bigger chunks are not faster
# on a CPU.
CHUNK = 8
# While queries come: one that finds a chunk running waits for less of it.
CHUNK_BESIDE_QUERIES = 4
QUERIES_COME_SECONDS = 1.0
# So long at most a chunk waits for a query that is under way: side by side they share caches and the way to the memory,
# and the query would take half as long again.
STEP_ASIDE_SECONDS = 0.1
# Of the thread for passages: at full load a query gets nine times the share of a core that it gets.
BACKGROUND_NICENESS = 10


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Up to `CHUNK` texts of one caller."""

    texts: Sequence[str]
    vectors: asyncio.Future[Vectors]


class ThreadedEmbedder:
    """An `Embedder` over two blocking functions, each called on its own thread.

    A query waits for other queries only: with one thread for both, it waited 740 ms (median) behind a busy ingest,
    with two 62 ms, the same as idle. The two functions must not share state that is not thread-safe.
    """

    def __init__(self, profile: ModelProfile, encode_queries: Encode, encode_passages: Encode) -> None:
        self._profile = profile
        self._encode_queries = encode_queries
        self._encode_passages = encode_passages
        self._waiting: deque[_Waiting] = deque()
        self._taking = threading.Lock()
        self._queries = 0
        self._last_query = -math.inf
        self._no_query = threading.Event()
        self._no_query.set()
        self._query_thread = ThreadPoolExecutor(1, thread_name_prefix="embed-query")
        self._passage_thread = ThreadPoolExecutor(1, thread_name_prefix="embed-passages", initializer=_step_back)

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    async def embed_query(self, text: str) -> Vectors:
        self._queries += 1
        self._no_query.clear()
        try:
            vectors = await self._embed(self._query_thread, self._encode_queries, [text])
        finally:
            self._last_query = time.monotonic()
            self._queries -= 1
            if not self._queries:
                self._no_query.set()
        return np.asarray(vectors[0], dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        chunks: list[Vectors] = []
        at = 0
        while at < len(texts):
            part = texts[at : at + self._chunk()]
            chunks.append(await self._embed_passages(part))
            at += len(part)
        return np.concatenate(chunks) if chunks else np.zeros((0, self._profile.dimension), np.float32)

    def _chunk(self) -> int:
        alone = time.monotonic() - self._last_query > QUERIES_COME_SECONDS
        return CHUNK if alone else CHUNK_BESIDE_QUERIES

    async def close(self) -> None:
        """Drop what waits, let the running chunks end, free the threads. Later calls raise `DependencyDown`."""
        for thread in (self._query_thread, self._passage_thread):
            thread.shutdown(wait=False, cancel_futures=True)
        with self._taking:
            dropped = list(self._waiting)
            self._waiting.clear()
        for waiting in dropped:
            _deliver(waiting.vectors, DependencyDown("embedder", "it is closed"))
        for thread in (self._query_thread, self._passage_thread):
            await asyncio.to_thread(thread.shutdown, wait=True)

    async def _embed_passages(self, texts: Sequence[str]) -> Vectors:
        waiting = _Waiting(texts, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            self._passage_thread.submit(self._work_off)
        except RuntimeError:
            with self._taking:
                self._waiting.remove(waiting)
            raise DependencyDown("embedder", "it is closed") from None
        return await waiting.vectors

    def _work_off(self) -> None:
        """On the thread for passages: one chunk of what waits. Finds nothing when an earlier call took it along."""
        if self._waiting:
            self._no_query.wait(STEP_ASIDE_SECONDS)
        self._answer(self._take())

    def _answer(self, chunk: Sequence[_Waiting]) -> None:
        if not chunk:
            return
        try:
            vectors = self._encode(self._encode_passages, [text for waiting in chunk for text in waiting.texts])
        except BaseException as error:
            if len(chunk) == 1:
                _tell(chunk[0], error)
                return
            # One caller's text must not fail another's.
            for waiting in chunk:
                self._answer([waiting])
            return
        at = 0
        for waiting in chunk:
            _tell(waiting, vectors[at : at + len(waiting.texts)])
            at += len(waiting.texts)

    def _take(self) -> list[_Waiting]:
        chunk: list[_Waiting] = []
        size = 0
        with self._taking:
            most = self._chunk()
            while self._waiting and (not chunk or size + len(self._waiting[0].texts) <= most):
                waiting = self._waiting.popleft()
                if not waiting.vectors.done():
                    chunk.append(waiting)
                    size += len(waiting.texts)
        return chunk

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


def _tell(waiting: _Waiting, result: Vectors | BaseException) -> None:
    """From the thread to the caller's event loop, which may have ended meanwhile."""
    if isinstance(result, BaseException) and not isinstance(result, Exception):
        # A panic of a tokenizer in Rust is no Exception, and must not end the loop.
        result = RuntimeError(type(result).__name__)
    with suppress(RuntimeError):
        waiting.vectors.get_loop().call_soon_threadsafe(_deliver, waiting.vectors, result)


def _deliver(future: asyncio.Future[Vectors], result: Vectors | Exception) -> None:
    if future.done():
        return  # the caller has left
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)


def _step_back() -> None:
    """Where cores are short, this thread's work can wait: somebody waits for a query, and the event loop for none."""
    if sys.platform == "linux":
        # A thread is a process of its own to the scheduler.
        with suppress(OSError):  # a container may forbid it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BACKGROUND_NICENESS)


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
