"""Keeping the event loop free: pure work on text runs where it is called, long text in a thread, records in turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
Record = TypeVar("Record")

# Redaction, the slowest stage, takes some 5 ms for so many characters, and 15 ms where all of them are short numbers.
INLINE_CHARS = 2_000
# While threads compute, the event loop asks for the interpreter and gets it after this long from each of them. Python's
# own 5 ms, with two threads in two stages, would be 20 ms.
SWITCH_SECONDS = 0.001
# A query that waits for its turn feels no more than a few of these.
BREATH_SECONDS = 0.001


async def in_thread_if_long(work: Callable[[], T], characters: int) -> T:
    if characters <= INLINE_CHARS:
        return work()
    # Decoding a long text has held up the event loop: everyone else has a turn before a thread wants one.
    await asyncio.sleep(0)
    return await asyncio.to_thread(work)


class Breath:
    """For a loop over much work: awaited between two pieces, it gives everyone else a turn of the event loop after each
    `BREATH_SECONDS`."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    async def take(self) -> None:
        if time.perf_counter() - self._since > BREATH_SECONDS:
            await asyncio.sleep(0)
            self._since = time.perf_counter()


async def in_turn(handle: Callable[[Record], Awaitable[T]], records: Sequence[Record]) -> list[T]:
    """One after another, with a `Breath` before each."""
    results = []
    breath = Breath()
    for record in records:
        await breath.take()
        results.append(await handle(record))
    return results
