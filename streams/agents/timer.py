"""Emits the decay ticks: one a (window, shard), by whoever holds the shard's partition. No leader."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from schemas import DecayTick, Tenant
from streams import metrics
from streams.emitter import Emitter
from streams.errors import DependencyDown
from streams.memory.decay import WINDOW, windows
from streams.outcome import Outbound
from streams.ports import Doc, VectorStore
from streams.records import cloud_event
from streams.settings import SHARDS, Settings

log = logging.getLogger(__name__)

# No user can have this name: it keeps what belongs to no tenant.
SYSTEM = Tenant.model_construct(namespace="", user_id="")
# Kind of the document that says that workers write to this store.
WRITER = "writer"
# Kind of the documents that say up to when a shard has its ticks, and of those that say which window is behind it.
WINDOWS = "window"
DONE = "decayed"
# How often the timer looks whether a window has ended.
LOOK_SECONDS = 30.0


class WindowTimer:
    """`held` gives the partitions of `decay` that this process holds now."""

    def __init__(
        self,
        store: VectorStore,
        emitter: Emitter,
        settings: Settings,
        held: Callable[[], set[int]],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._emitter = emitter
        self._settings = settings
        self._held = held
        self._clock = clock

    async def run(self) -> None:
        while True:
            try:
                await self.tick()
            except DependencyDown as error:
                log.warning("the window timer waits: %s", error)
            await asyncio.sleep(LOOK_SECONDS)

    async def tick(self) -> int:
        """Emit what is due for the shards held; returns how many ticks. Ticks are idempotent: twice does no harm."""
        shards = [shard for shard in range(SHARDS) if shard % self._settings.partitions in self._held()]
        if not shards:
            metrics.WINDOW_LAST.set(0)
            return 0
        now = self._clock()
        await self._tell_oldest(shards, now - WINDOW)
        done = await self._ends(WINDOWS, shards)
        emit: list[Outbound] = []
        marks: list[Doc] = []
        for shard in shards:
            due = list(windows(done.get(shard, now - WINDOW), now))
            for start, end in due:
                tick = DecayTick(shard=shard, window_start=start, window_end=end)
                headers = cloud_event("decay", f"{end.isoformat()}/{shard}", "timer", end)
                # Explicit, because the key of a shard does not hash to its own partition.
                partition = shard % self._settings.partitions
                emit.append(Outbound("decay", str(shard).encode(), tick.to_bytes(), headers, partition=partition))
            if due or shard not in done:
                end = due[-1][1] if due else now
                marks.append(Doc(WINDOWS, str(shard), {"end": end.isoformat()}))
        await self._emitter.send(emit)
        if marks:
            await self._store.put_docs(SYSTEM, marks)
        return len(emit)

    async def _tell_oldest(self, shards: Sequence[int], first: datetime) -> None:
        """One shard that stands still must show among those that don't. A new one has `first` behind it, and keeps
        that until its first window is: else it would never be late."""
        behind = await self._ends(DONE, shards)
        new = [Doc(DONE, str(shard), {"end": first.isoformat()}) for shard in shards if shard not in behind]
        if new:
            await self._store.put_docs(SYSTEM, new)
        metrics.WINDOW_LAST.set(min(behind.get(shard, first) for shard in shards).timestamp())

    async def _ends(self, kind: str, shards: Sequence[int]) -> dict[int, datetime]:
        docs = await self._store.get_docs(SYSTEM, kind, [str(shard) for shard in shards])
        return {int(doc.key): datetime.fromisoformat(doc.body["end"]) for doc in docs}
