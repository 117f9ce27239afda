"""Ctrl-C and SIGTERM as an event."""

from __future__ import annotations

import asyncio
import signal


def stop_signal() -> asyncio.Event:
    """Set by the first SIGINT or SIGTERM from now on."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return stop
