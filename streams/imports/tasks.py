"""Import tasks on Kafka: begun and cancelled in the topic `jobs`, their progress read from `receipts`.

Nothing of a task is kept in a process. Its record names the events before the first of them is sent; what has a receipt
is done, and the rest is sent again when the same conversations are given again, which is harmless: an event that is
there already is a duplicate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from datetime import UTC, datetime

from schemas import ConversationEvent, Job, Receipt, Tenant
from streams import compacted, records
from streams.client import MemoryClient
from streams.imports.task import Batch, ImportStatus, Received, status_of
from streams.settings import Settings
from streams.topics import job_key


class Progress:
    """Reads the receipts of a tenant, each time only what is new."""

    def __init__(self, settings: Settings, tenant: Tenant, start: dict[int, int] | None = None) -> None:
        self._settings = settings
        self._prefix = f"{tenant.key}/".encode()
        self.places = dict(start or {})
        self.received: dict[str, Received] = {}

    async def read(self) -> None:
        async for entries in compacted.read(self._settings, "receipts", self.places):
            for entry in entries:
                self.places[entry.partition] = entry.offset + 1
                if entry.key.startswith(self._prefix) and entry.value is not None:
                    receipt = Receipt.from_bytes(entry.value)
                    self.received[receipt.event_id] = Received(
                        receipt, datetime.fromtimestamp(entry.timestamp / 1000, UTC)
                    )


class Task:
    """One task as it was when it was found; `status` reads on. `places`: how far `jobs` was read."""

    def __init__(self, settings: Settings, job: Job, places: dict[int, int]) -> None:
        self.job = job
        self.places = places
        self._progress = Progress(settings, job.tenant, dict(job.receipts_from))

    async def status(self) -> ImportStatus:
        await self._progress.read()
        return status_of(self.job, self._progress.received)

    def open(self, events: Sequence[ConversationEvent]) -> list[ConversationEvent]:
        """Those without an outcome at the last `status`."""
        wanted = set(self.job.event_ids) - self._progress.received.keys()
        return [event for event in events if event.event_id in wanted]

    def without_outcome(self, event_ids: Set[str]) -> int:
        """How many, at the last `status`."""
        return len(event_ids - self._progress.received.keys())


class Tasks:
    """`client` is started and belongs to whoever made it."""

    def __init__(self, settings: Settings, client: MemoryClient) -> None:
        self._settings = settings
        self._client = client

    async def begin(self, batch: Batch) -> Task:
        """The task of these conversations: a new one, or the one that was begun before, running again if cancelled."""
        now, places = datetime.now(UTC), dict[int, int]()
        job = await self._latest(places, job_key(batch.tenant, batch.task_id).__eq__)
        if job is None:
            before = Progress(self._settings, batch.tenant)
            await before.read()
            new = tuple(event.event_id for event in batch.events if event.event_id not in before.received)
            job = Job(
                namespace=batch.tenant.namespace,
                user_id=batch.tenant.user_id,
                job_id=batch.task_id,
                state="running",
                event_ids=new,
                known=len(batch.events) - len(new),
                refused=batch.refused,
                receipts_from=before.places,
                started_at=now,
                updated_at=now,
            )
            await self._put(job)
        elif job.state == "cancelled":
            job = job.model_copy(update={"state": "running", "updated_at": now})
            await self._put(job)
        return Task(self._settings, job, places)

    async def find(self, task_id: str, namespaces: Sequence[str] | None = None) -> Task | None:
        """`namespaces`: only in these; None: in all."""
        places: dict[int, int] = {}
        job = await self._latest(places, lambda key: key.endswith(f"/{task_id}".encode()), namespaces)
        return None if job is None else Task(self._settings, job, places)

    async def cancel(self, task: Task) -> None:
        """What Kafka has already is handled all the same; nothing more is sent."""
        task.job = task.job.model_copy(update={"state": "cancelled", "updated_at": datetime.now(UTC)})
        await self._put(task.job)

    async def cancelled(self, task: Task) -> bool:
        """Asks Kafka: somebody else may have done it."""
        job = await self._latest(task.places, job_key(task.job.tenant, task.job.job_id).__eq__)
        if job is not None:
            task.job = job
        return task.job.state == "cancelled"

    async def _latest(
        self, places: dict[int, int], wanted: Callable[[bytes], bool], namespaces: Sequence[str] | None = None
    ) -> Job | None:
        """The last one whose key is wanted; reads on from `places`, and moves them."""
        found = None
        async for entries in compacted.read(self._settings, "jobs", places):
            for entry in entries:
                places[entry.partition] = entry.offset + 1
                if wanted(entry.key) and entry.value is not None:
                    job = Job.from_bytes(entry.value)
                    if namespaces is None or job.namespace in namespaces:
                        found = job
        return found

    async def _put(self, job: Job) -> None:
        headers = records.cloud_event("job", job.job_id, "client", job.updated_at)
        key = job_key(job.tenant, job.job_id)
        await self._client._produce("jobs", job.tenant, job.to_bytes(), headers, None, key=key)
