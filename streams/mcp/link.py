"""The connection to Kafka, made when a call first needs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from streams.client import MemoryClient, Unavailable

# A broker that refuses says so at once; one behind a dead network says nothing.
CONNECT_SECONDS = 10.0
# What is on its way to the broker may still arrive; a broker that is gone must not hold up the end.
CLOSE_SECONDS = 5.0


class Link:
    """One client for all calls. An agent starts its tools whether or not anybody has started Kafka yet: until then a
    call fails with words, and the next one tries again. Calls that wait for the connection wait for the same one."""

    def __init__(self, connect: Callable[[], MemoryClient]) -> None:
        self._connect = connect
        self._client: MemoryClient | None = None
        self._connecting: asyncio.Task[MemoryClient] | None = None

    async def client(self) -> MemoryClient:
        """Raises `Unavailable`, and `MemstreamError` from `connect`."""
        if self._client is not None:
            return self._client
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._open())
        # Shielded: who gives up takes nothing from the others.
        return await asyncio.shield(self._connecting)

    async def _open(self) -> MemoryClient:
        try:
            made = self._connect()
            async with asyncio.timeout(CONNECT_SECONDS):
                self._client = await made.__aenter__()
            return self._client
        except TimeoutError:
            raise Unavailable(f"Kafka does not answer within {CONNECT_SECONDS:g} s: is it running?") from None
        finally:
            self._connecting = None

    async def close(self) -> None:
        ending: list[asyncio.Task[Any]] = []
        if self._connecting is not None:
            self._connecting.cancel()
            ending.append(self._connecting)
        if self._client is not None:
            ending.append(asyncio.create_task(self._client.close()))
        if ending:
            await asyncio.wait(ending, timeout=CLOSE_SECONDS)
