"""How far the imports are that run now, whoever sends them: numbers without a user, for `/metrics`."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from datetime import timedelta

from pydantic import ValidationError

from schemas import Job
from streams import metrics
from streams.compacted import Entry, Follower
from streams.imports.again import persistent
from streams.imports.task import STILL
from streams.settings import Settings
from streams.topics import event_key

log = logging.getLogger(__name__)

# How old the numbers are at most.
POLL_SECONDS = 1.0
# An import of which nothing was heard for so long is nobody's any more. Also how far back a gateway that starts looks.
QUIET = timedelta(days=1).total_seconds()
# One that is done is known for a while: its sender may still write that all is sent, and others may follow it.
LINGER = 60.0


@dataclass(slots=True)
class Open:
    """A task. `left`: keys of the receipts that are not there yet. `last`: when one came. Seconds since 1970."""

    of: int
    left: set[bytes]
    begun: float
    heard: float
    last: float = 0.0

    def remaining(self, now: float) -> float:
        """Seconds, at the pace so far; NaN while there is none."""
        done, seconds = self.of - len(self.left), self.last - self.begun
        return len(self.left) * seconds / done if done and now - self.last <= STILL.total_seconds() else math.nan


class Standing:
    """A fold over the topics `jobs` and `receipts`."""

    def __init__(self) -> None:
        self._open: dict[bytes, Open] = {}

    def told(self, key: bytes, job: Job | None, at: float) -> bool:
        """A task's record, or its end with all that is known of its user. Whether receipts have to be read for it."""
        if job is None or job.state == "cancelled":
            self._open.pop(key, None)
            return False
        if key in self._open:
            self._open[key].heard = at
            return False
        left = {event_key(job.tenant, event_id) for event_id in job.event_ids}
        if left:
            self._open[key] = Open(len(left), left, job.started_at.timestamp(), at)
        return bool(left)

    def ended(self, key: bytes, at: float) -> None:
        """There is a receipt."""
        for task in self._open.values():
            if key in task.left:
                task.left.discard(key)
                task.last = max(task.last, at)
                task.heard = max(task.heard, at)

    def tidy(self, now: float) -> None:
        """Without what is done or heard of no more."""
        self._open = {
            key: task for key, task in self._open.items() if now - task.heard < (QUIET if task.left else LINGER)
        }

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def running(self) -> int:
        return sum(1 for task in self._open.values() if task.left)

    @property
    def queued(self) -> int:
        return sum(len(task.left) for task in self._open.values())

    @property
    def oldest_done(self) -> float:
        """Of the import that runs longest, 0-1; 1 when none runs."""
        oldest = min((task for task in self._open.values() if task.left), key=lambda task: task.begun, default=None)
        return 1.0 if oldest is None else 1 - len(oldest.left) / oldest.of

    def remaining(self, now: float) -> float:
        """Seconds, of the import that takes longest among those that have a pace; 0 when none runs, else NaN."""
        told = [task.remaining(now) for task in self._open.values() if task.left]
        return max((one for one in told if not math.isnan(one)), default=math.nan if told else 0.0)


class Watch:
    """Keeps the gauges. Receipts are read only while there are imports."""

    def __init__(self, settings: Settings) -> None:
        self._standing = Standing()
        self._jobs = Follower(settings, "jobs")
        self._receipts = Follower(settings, "receipts")

    async def run(self) -> None:
        """For as long as it is let."""
        try:
            async for attempt in persistent(lambda said: log.info("imports are not watched: %s", said)):
                with attempt:
                    while True:
                        await self._round()
        finally:
            await self._jobs.close()
            await self._receipts.close()

    async def _round(self) -> None:
        for entries in await self._jobs.arriving(POLL_SECONDS):
            for entry in entries:
                self._take(entry)
        if self._standing:
            async for entries in self._receipts.new():
                for entry in entries:
                    self._standing.ended(entry.key, entry.timestamp / 1000)
            self._standing.tidy(time.time())
        else:
            await self._receipts.close()
            self._receipts.places.clear()
        metrics.IMPORTS_RUNNING.set(self._standing.running)
        metrics.IMPORTS_QUEUED.set(self._standing.queued)
        metrics.IMPORTS_OLDEST_DONE.set(self._standing.oldest_done)
        metrics.IMPORTS_REMAINING.set(self._standing.remaining(time.time()))

    def _take(self, entry: Entry) -> None:
        at = entry.timestamp / 1000
        if time.time() - at > QUIET:
            return
        try:
            job = None if entry.value is None else Job.from_bytes(entry.value)
        except ValidationError:  # not of ours, or of a later version
            return
        if self._standing.told(entry.key, job, at) and job is not None:
            # Where the task began may lie before what was read for others.
            self._receipts.go_back(job.receipts_from)
