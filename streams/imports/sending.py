"""What a gateway has still to send of its imports: neither a caller's deadline nor an outage of Kafka ends it."""

from __future__ import annotations

import asyncio
import logging

from schemas import Job
from streams import metrics
from streams.client import MemoryClient
from streams.imports.again import persistent
from streams.imports.task import Batch
from streams.imports.tasks import Task
from streams.settings import Settings

log = logging.getLogger(__name__)


class Sending:
    """One a gateway. What is under way when the gateway ends is taken up by whoever sends the same request again."""

    def __init__(self, settings: Settings, client: MemoryClient) -> None:
        self._settings, self._client = settings, client
        self._under_way: dict[str, asyncio.Task[Job]] = {}

    def start(self, made: Batch, job: Job, missing: set[str]) -> asyncio.Task[Job]:
        """Send those events; of a task that is being sent already, that is the one to wait for. Ends with its job."""
        running = self._under_way.get(job.job_id)
        if running is None:
            running = asyncio.create_task(self._send(made, job, missing))
            self._under_way[job.job_id] = running
            running.add_done_callback(lambda ended: self._ended(job.job_id, ended))
        return running

    async def close(self) -> None:
        for running in list(self._under_way.values()):
            running.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    def _ended(self, task_id: str, ended: asyncio.Task[Job]) -> None:
        del self._under_way[task_id]
        if not ended.cancelled() and (error := ended.exception()):
            log.error("import %s: %s", task_id, type(error).__name__)

    async def _send(self, made: Batch, job: Job, missing: set[str]) -> Job:
        async with Task(self._settings, self._client, job) as task:
            async for attempt in persistent(lambda said: log.warning("import %s: %s", job.job_id, said)):
                with attempt:
                    if attempt.retry_state.attempt_number > 1 and await task.check_cancelled():
                        break
                    async for event_id in self._client.publish_many(made.events.events(missing)):
                        missing.discard(event_id)
                        metrics.IMPORTED.labels("published").inc()
                    await task.all_sent()
            return task.job
