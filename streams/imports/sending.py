"""What a gateway has still to send of its imports: neither a caller's deadline nor an outage of Kafka ends it.

A cancel does, whichever gateway or command it came from: nothing more is sent from the moment that it is known, and
what was on its way to Kafka by then lands.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import takewhile
from typing import NamedTuple

from schemas import Job
from streams import metrics
from streams.client import MemoryClient
from streams.imports.again import persistent
from streams.imports.task import Batch
from streams.imports.tasks import Task

log = logging.getLogger(__name__)


class Sender(NamedTuple):
    """Ends with the job; early when `stop` is set."""

    running: asyncio.Task[Job]
    stop: asyncio.Event


class Sending:
    """One a gateway. What is under way when the gateway ends is taken up by whoever sends the same request again."""

    def __init__(self, client: MemoryClient) -> None:
        self._client = client
        self._under_way: dict[str, Sender] = {}

    def start(self, made: Batch, task: Task, missing: set[str]) -> asyncio.Task[Job]:
        """Send those events; of a task that is being sent already, that is the one to wait for. Ends with its job."""
        task_id = task.job.job_id
        if task_id not in self._under_way:
            stop = asyncio.Event()
            running = asyncio.create_task(self._send(made, task.another(), missing, stop))
            self._under_way[task_id] = Sender(running, stop)
            running.add_done_callback(lambda ended: self._ended(task_id, ended))
        return self._under_way[task_id].running

    async def stop(self, task_id: str) -> None:
        """Of a task whose record says that it is cancelled; this gateway sends none of it from now on."""
        sender = self._under_way.get(task_id)
        if sender is not None:
            sender.stop.set()
            await asyncio.wait([sender.running])

    async def close(self) -> None:
        running = [sender.running for sender in self._under_way.values()]
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, task_id: str, ended: asyncio.Task[Job]) -> None:
        del self._under_way[task_id]
        if not ended.cancelled() and (error := ended.exception()):
            log.error("import %s: %s", task_id, type(error).__name__)

    async def _send(self, made: Batch, task: Task, missing: set[str], stop: asyncio.Event) -> Job:
        task_id = task.job.job_id

        async def pause(seconds: float) -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await stop.wait()

        async with task:
            async for attempt in persistent(lambda said: log.warning("import %s: %s", task_id, said), sleep=pause):
                with attempt:
                    # Connected before it is watched: aiokafka leaves a connection that is broken off while it is made.
                    if not stop.is_set() and await task.check_cancelled():
                        stop.set()
                    async with stopped_by_cancel(task, stop):
                        going_on = takewhile(lambda _: not stop.is_set(), made.events.events(missing))
                        async for event_id in self._client.publish_many(going_on):
                            missing.discard(event_id)
                            metrics.IMPORTED.labels("published").inc()
                    if not stop.is_set():
                        await task.all_sent()
            if stop.is_set():
                log.info("import %s: cancelled, %d were not sent", task_id, len(missing))
                return task.job.model_copy(update={"state": "cancelled"})
            return task.job


@asynccontextmanager
async def stopped_by_cancel(task: Task, stop: asyncio.Event) -> AsyncIterator[None]:
    """While it is open, `stop` is set as soon as anybody cancels the task."""

    async def watch() -> None:
        await task.until_cancelled()
        stop.set()

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        # Where Kafka is away the sending tells.
        await asyncio.gather(watching, return_exceptions=True)
