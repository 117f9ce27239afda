"""The connection to Kafka, made when a call first needs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from streams.client import MemoryClient, Unavailable

# A broker that refuses says so at once; one behind a dead network says nothing.
CONNECT_SECONDS = 10.0
# What is on its way to the broker may still arrive; a broker that is gone must not hold up the end.
CLOSE_SECONDS = 5.0


class Link:
    """One client for all calls. An agent starts its tools whether or not anybody has started Kafka yet: until then a
    call fails with words, and the next one tries again."""

    def __init__(self, connect: Callable[[], MemoryClient]) -> None:
        self._connect = connect
        self._client: MemoryClient | None = None
        self._lock = asyncio.Lock()

    async def client(self) -> MemoryClient:
        """Raises `Unavailable`, and `MemstreamError` from `connect`."""
        async with self._lock:
            if self._client is None:
                made = self._connect()
                try:
                    async with asyncio.timeout(CONNECT_SECONDS):
                        self._client = await made.__aenter__()
                except TimeoutError:
                    raise Unavailable(f"Kafka does not answer within {CONNECT_SECONDS:g} s: is it running?") from None
            return self._client

    async def close(self) -> None:
        if self._client is not None:
            await asyncio.wait([asyncio.create_task(self._client.close())], timeout=CLOSE_SECONDS)
