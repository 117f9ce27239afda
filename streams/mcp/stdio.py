"""Over stdin and stdout, for an agent that starts its tools itself. Nothing but the protocol is on stdout."""

from __future__ import annotations

import asyncio
import logging
import os

from streams.mcp.link import Link
from streams.mcp.server import MemoryServer
from streams.mcp.stopping import stop_signal


async def serve_stdio(link: Link, user_id: str | None) -> None:
    """Until stdin closes; SIGINT and SIGTERM end the process with 0."""
    stopping = asyncio.create_task(stop_signal().wait())
    serving = asyncio.create_task(MemoryServer(link, user_id).run_stdio_async())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    await link.close()
    if not serving.done():
        # A thread reads stdin, and Python would wait for its next line before it ends.
        logging.shutdown()
        os._exit(0)
    stopping.cancel()
    try:
        serving.result()
    except* BrokenPipeError:
        # The agent has gone without closing our stdin first.
        pass
