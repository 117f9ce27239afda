"""Import tasks on Kafka: begun and cancelled in the topic `jobs`, their progress read from `receipts`.

Nothing of a task is kept in a process. Its record names the events before the first of them is sent; what has a receipt
is done, and the rest is sent again when the same conversations are given again, which is harmless: an event that is
there already is a duplicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Self

from schemas import Job, Receipt, Tenant
from streams import records
from streams.client import MemoryClient
from streams.compacted import Entry, Follower
from streams.imports.task import Batch, ImportStatus, Received, received, status_of
from streams.settings import Settings
from streams.topics import job_key

# A wait for news that is begun again; it changes nothing but how often.
WAIT_SECONDS = 30.0


class Progress:
    """What became of the events of one tenant that are `wanted`; each time only what is new is read."""

    def __init__(
        self, settings: Settings, tenant: Tenant, wanted: Iterable[str], start: dict[int, int] | None = None
    ) -> None:
        self._receipts = Follower(settings, "receipts", start)
        self._prefix = f"{tenant.key}/".encode()
        self._wanted = frozenset(wanted)
        self.received: dict[str, Received] = {}

    @property
    def places(self) -> dict[int, int]:
        return self._receipts.places

    async def read(self) -> None:
        async for entries in self._receipts.new():
            self._take(entries)

    async def arriving(self, seconds: float) -> set[str]:
        """Ids of events that have got their outcome, as soon as there is one, or after `seconds`."""
        return {event_id for entries in await self._receipts.arriving(seconds) for event_id in self._take(entries)}

    def _take(self, entries: Sequence[Entry]) -> list[str]:
        mine: list[str] = []
        for entry in entries:
            if entry.key.startswith(self._prefix) and entry.value is not None:
                receipt = Receipt.from_bytes(entry.value)
                if receipt.event_id in self._wanted:
                    at = datetime.fromtimestamp(entry.timestamp / 1000, UTC)
                    self.received[receipt.event_id] = received(receipt, at)
                    mine.append(receipt.event_id)
        return mine

    async def close(self) -> None:
        await self._receipts.close()


class Task:
    """One task; reads on what becomes of it until it is closed (`async with`). `jobs`: read up to `job`."""

    def __init__(
        self, settings: Settings, client: MemoryClient, job: Job, jobs: Follower, progress: Progress | None = None
    ) -> None:
        self.job = job
        self._settings = settings
        self._client = client
        self._key = job_key(job.tenant, job.job_id)
        self._jobs = jobs
        self._progress = progress or Progress(settings, job.tenant, job.event_ids, dict(job.receipts_from))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._jobs.close)
            stack.push_async_callback(self._progress.close)

    def another(self) -> Task:
        """The same, for somebody else to close."""
        return Task(self._settings, self._client, self.job, Follower(self._settings, "jobs", self._jobs.places))

    async def status(self) -> ImportStatus:
        await self._progress.read()
        return self.told()

    def told(self) -> ImportStatus:
        """By what was read so far."""
        return status_of(self.job, self._progress.received, datetime.now(UTC))

    def open(self) -> set[str]:
        """Ids of events without an outcome, by what was read so far."""
        return set(self.job.event_ids) - self._progress.received.keys()

    async def arriving(self, seconds: float) -> set[str]:
        """Ids of events that have got their outcome, as soon as there is one, or after `seconds`."""
        return await self._progress.arriving(seconds)

    async def cancel(self) -> None:
        """What Kafka has already is handled all the same; nothing more is sent."""
        self.job = self.job.model_copy(update={"state": "cancelled", "updated_at": datetime.now(UTC)})
        await put(self._client, self.job)

    async def all_sent(self) -> None:
        """Kafka has all of its events, which is written down."""
        if not self.job.sent and not await self.check_cancelled():
            self.job = self.job.model_copy(update={"sent": True, "updated_at": datetime.now(UTC)})
            await put(self._client, self.job)

    async def check_cancelled(self) -> bool:
        """Asks Kafka, and takes over into `job`: somebody else may have done it, or the user was forgotten."""
        async for entries in self._jobs.new():
            self._take(entries)
        return self.job.state == "cancelled"

    async def until_cancelled(self) -> None:
        """Returns as soon as it is. Nothing else of the task may read at the same time."""
        while not await self.check_cancelled():
            for entries in await self._jobs.arriving(WAIT_SECONDS):
                self._take(entries)

    def _take(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.key == self._key:
                forgotten = self.job.model_copy(update={"state": "cancelled"})
                self.job = forgotten if entry.value is None else Job.from_bytes(entry.value)


class Tasks:
    """`client` is started and belongs to whoever made it."""

    def __init__(self, settings: Settings, client: MemoryClient) -> None:
        self._settings = settings
        self._client = client

    async def begin(self, batch: Batch) -> Task:
        """The task of these conversations: a new one, or the one that was begun before, which runs again."""
        async with AsyncExitStack() as unless_made:
            jobs = self._jobs(unless_made)
            progress: Progress | None = None
            job = await _found(jobs, batch.task_id, [batch.tenant.namespace])
            if job is None:
                progress = Progress(self._settings, batch.tenant, batch.event_ids)
                unless_made.push_async_callback(progress.close)
                await progress.read()
                job = _job(batch, progress)
                await put(self._client, job)
            elif job.state == "cancelled" or not job.sent:
                job = job.model_copy(update={"state": "running", "updated_at": datetime.now(UTC)})
                await put(self._client, job)
            unless_made.pop_all()
            return Task(self._settings, self._client, job, jobs, progress)

    async def find(self, task_id: str, namespaces: Sequence[str] | None = None) -> Task | None:
        """`namespaces`: only in these; None: in all."""
        async with AsyncExitStack() as unless_found:
            jobs = self._jobs(unless_found)
            job = await _found(jobs, task_id, namespaces)
            if job is None:
                return None
            unless_found.pop_all()
            return Task(self._settings, self._client, job, jobs)

    def _jobs(self, closed_by: AsyncExitStack) -> Follower:
        jobs = Follower(self._settings, "jobs")
        closed_by.push_async_callback(jobs.close)
        return jobs


async def _found(jobs: Follower, task_id: str, namespaces: Sequence[str] | None) -> Job | None:
    suffix, found = f"/{task_id}".encode(), None
    async for entries in jobs.new():
        for entry in entries:
            if not entry.key.endswith(suffix):
                continue
            job = None if entry.value is None else Job.from_bytes(entry.value)
            if job is None:  # its user was forgotten
                found = None if found and job_key(found.tenant, found.job_id) == entry.key else found
            elif namespaces is None or job.namespace in namespaces:
                found = job
    return found


def _job(batch: Batch, progress: Progress) -> Job:
    """`progress`: what is there already, read to its end."""
    new = tuple(event_id for event_id in batch.event_ids if event_id not in progress.received)
    now = datetime.now(UTC)
    return Job(
        namespace=batch.tenant.namespace,
        user_id=batch.tenant.user_id,
        job_id=batch.task_id,
        state="running",
        event_ids=new,
        known=len(batch.event_ids) - len(new),
        refused=batch.refused,
        receipts_from=dict(progress.places),
        started_at=now,
        updated_at=now,
    )


async def put(client: MemoryClient, job: Job) -> None:
    """Write down the state of a task. Raises `DeadlineExceeded`, `Unavailable`."""
    headers = records.cloud_event("job", job.job_id, "client", job.updated_at)
    key = job_key(job.tenant, job.job_id)
    await client.produce("jobs", job.tenant, job.to_bytes(), headers, key=key)
