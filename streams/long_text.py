"""Pure work on text runs where it is called, unless the text is long: then in a thread, so that the loop stays free."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Redaction, the slowest stage, takes some 10 ms for so many characters.
INLINE_CHARS = 4_000


async def in_thread_if_long(work: Callable[[], T], characters: int) -> T:
    return await asyncio.to_thread(work) if characters > INLINE_CHARS else work()
