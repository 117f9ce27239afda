"""Watches the broker of `memstream up`: when it dies it is started again, on the same port and the same data."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from streams.errors import MemstreamError

if TYPE_CHECKING:
    from streams.adapters.kafka_broker import EmbeddedKafka

# A broker that dies more often than this has a cause (memory, disk) that another start does not remove.
RESTARTS, WITHIN_SECONDS = 3, 120.0
# A start that is cancelled kills what it started, which takes a moment.
JOIN_SECONDS = 4.0


class KeepAlive:
    """Runs in a thread with a loop of its own, because the worker's loop ends before the broker does.

    `say` gets a line for the user; `give_up` is called once, from that thread, when the broker can't be kept running.
    Workers and clients need no notice: they reconnect.
    """

    def __init__(self, broker: EmbeddedKafka, say: Callable[[str], None], give_up: Callable[[], None]) -> None:
        self._broker = broker
        self._say = say
        self._give_up = give_up
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._watch())
        self._thread = threading.Thread(target=self._run, name="keep-alive", daemon=True)
        self.gave_up = False

    def __enter__(self) -> KeepAlive:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(JOIN_SECONDS)

    def stop(self) -> None:
        """From here on a broker that ends is left alone."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        finally:
            self._loop.close()

    async def _watch(self) -> None:
        deaths: deque[float] = deque(maxlen=RESTARTS)
        while True:
            said = await self._broker.wait()
            now = time.monotonic()
            if len(deaths) == RESTARTS and now - deaths[0] < WITHIN_SECONDS:
                self._say(f"{said}\nKafka keeps dying; giving up. Nothing is lost: start again when the cause is gone.")
                break
            deaths.append(now)
            self._say(f"{said}\nstarting it again")
            try:
                await self._broker.start(progress=self._say)
            except MemstreamError as error:
                self._say(f"{error}\nKafka can't be started again; giving up. Nothing is lost.")
                break
        self.gave_up = True
        self._give_up()
