"""decay -> memory: what a window does to a shard. One tick a (window, shard).

Every part finds its own work in the store, so that a tick that comes late, or again after a crash, finds only what is
left of it. Which window a shard has behind it is kept, so that an old tick does nothing. Sessions are folded before
what is idle is archived: a digest keeps what single episodes would not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType

from schemas import DecayTick, Fence, Layer, MemoryRecord, MemoryStatus, MemoryType, Tenant
from streams import metrics
from streams.agents.erasure import Eraser
from streams.agents.memory import TenantStage
from streams.agents.timer import DONE, SYSTEM
from streams.agents.writer import Writer, embedded, record_outbound
from streams.emitter import Emitter
from streams.errors import DependencyDown
from streams.memory import decay
from streams.memory.decay.digest import OLD_AFTER
from streams.memory.decay.due import IDLE_TO_ARCHIVE
from streams.memory.decay.evidence import LATE, may_gain
from streams.outcome import Done, Outcome
from streams.paging import everything
from streams.ports import ChatModel, Doc, Embedder, MaintenanceScan, MemoryStore, Where
from streams.records import Inbound, decode

# This much of a shard at a time, so that recall does not feel it.
PAGE = 200
# Of sessions that a model tells in one window of a shard; it tells the rest of them by rule.
MOST_TOLD = 20
CALL_SECONDS = 15.0
# A user has one fence of it, which moves on. No command has this id: an id is not empty and holds no line break.
RETENTION = "retention\n"

Page = tuple[list[tuple[Tenant, str]], str | None]


class DecayStage(TenantStage):
    """Erases what a namespace keeps no longer, closes tasks, folds old sessions, archives what is idle, gives weight to
    what was said in several sessions."""

    topic = "decay"
    dependencies = ("store", "embedder")
    lane_batch = 1

    def __init__(
        self,
        writer: Writer,
        store: MemoryStore,
        scan: MaintenanceScan,
        emitter: Emitter,
        embedder: Embedder,
        retention: Mapping[str, timedelta] = MappingProxyType({}),
        chat: ChatModel | None = None,
    ) -> None:
        """`retention`: how long a namespace keeps what was said; others keep everything. `chat` tells old sessions."""
        self._chat = chat
        self._retention = retention
        self._eraser = Eraser(writer, store, emitter)
        self._writer = writer
        self._store = store
        self._scan = scan
        self._emitter = emitter
        self._embedder = embedder

    def lane(self, record: Inbound) -> str:
        return (record.key or b"").hex()

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        for record in records:
            await self.window(decode(record, DecayTick))
        return [Done()] * len(records)

    async def window(self, tick: DecayTick) -> None:
        shard = str(tick.shard)
        behind = await self._store.get_docs(SYSTEM, DONE, [shard])
        if behind and datetime.fromisoformat(behind[0].body["end"]) >= tick.window_end:
            return
        await self._end_retention(tick)
        await self._close_tasks(tick)
        await self._fold_sessions(tick)
        await self._archive_idle(tick)
        await self._weigh_evidence(tick)
        await self._store.put_docs(SYSTEM, [Doc(DONE, shard, {"end": tick.window_end.isoformat()})])

    async def _end_retention(self, tick: DecayTick) -> None:
        cursor: str | None = None
        while self._retention:
            tenants, cursor = await self._scan.tenants(tick.shard, limit=PAGE, cursor=cursor)
            for tenant in tenants:
                if (kept := self._retention.get(tenant.namespace)) is not None:
                    await self._erase_before(tenant, tick.window_end - kept, tick.window_end)
            if cursor is None:
                return

    async def _erase_before(self, tenant: Tenant, until: datetime, window_end: datetime) -> None:
        old = Where(until=until)
        if not any([(await self._store.find(tenant, old, limit=1, archive=archive))[0] for archive in (False, True)]):
            return
        fence = Fence(fence_id=RETENTION, scope="interval", until=until, created_at=window_end, **tenant.model_dump())
        _, gone = await self._eraser.erase(tenant, lambda _: fence)
        metrics.WINDOW_CHANGES.labels("erased").inc(len(gone))

    async def _close_tasks(self, tick: DecayTick) -> None:
        # A task that ends with the window is over.
        before = tick.window_end + timedelta.resolution
        async for tenant, ids in _by_tenant(
            lambda cursor: self._scan.ended(
                tick.shard, before=before, types=(MemoryType.TASK,), limit=PAGE, cursor=cursor
            )
        ):
            await self._carry_out(tenant, ids, tick.window_end, "close")

    async def _archive_idle(self, tick: DecayTick) -> None:
        before = tick.window_end - IDLE_TO_ARCHIVE
        async for tenant, ids in _by_tenant(
            lambda cursor: self._scan.idle(tick.shard, before=before, limit=PAGE, cursor=cursor)
        ):
            await self._carry_out(tenant, ids, tick.window_end, "archive")

    async def _carry_out(self, tenant: Tenant, ids: Sequence[str], window_end: datetime, action: str) -> None:
        async with self._writer.locked(tenant):
            stored = await self._store.get(tenant, ids)
            changed = [
                (record, decay.carry_out(record, verdict, window_end))
                for record in stored
                if (verdict := decay.due(record, window_end)).action == action
            ]
            if action == "archive":
                await self._writer.resettle(tenant, [after for _, after in changed])
                await self._finish_moves(tenant, stored)
            elif changed:
                await self._writer.save(tenant, changed)
        if changed:
            metrics.WINDOW_CHANGES.labels({"archive": "archived", "close": "closed"}[action]).inc(len(changed))

    async def _finish_moves(self, tenant: Tenant, online: Sequence[MemoryRecord]) -> None:
        """A crash may have come after a memory was said to be in the archive and before it was moved there."""
        left = [record.memory_id for record in online if record.status is MemoryStatus.ARCHIVED]
        if left:
            await self._store.move(tenant, left, to_archive=True)

    async def _fold_sessions(self, tick: DecayTick) -> None:
        before = tick.window_end - OLD_AFTER
        looked_at: set[tuple[Tenant, str]] = set()
        calls = MOST_TOLD if self._chat else 0
        async for tenant, ids in _by_tenant(
            lambda cursor: self._scan.idle(
                tick.shard, before=before, types=(MemoryType.EPISODE,), limit=PAGE, cursor=cursor
            )
        ):
            async with self._writer.locked(tenant):
                found = await self._store.get(tenant, ids)
                await self._finish_moves(tenant, found)
            sessions = {record.session_id for record in found}
            # Without an id it is no session: everything ever said so would be one.
            for session in sorted(sessions - {""}):
                if (tenant, session) not in looked_at:
                    looked_at.add((tenant, session))
                    told = None
                    if self._chat and calls > 0 and (untold := await self._untold(tenant, session, tick.window_end)):
                        calls -= 1
                        try:
                            told = await decay.tell(self._chat, untold, deadline_seconds=CALL_SECONDS)
                        except DependencyDown:
                            calls = 0  # a window waits for no model
                    await self._fold(tenant, session, tick.window_end, told)

    async def _untold(self, tenant: Tenant, session: str, window_end: datetime) -> Sequence[MemoryRecord]:
        """The episodes of a session that is to be folded and has no digest yet.

        The model is asked about them before the lock, so that nobody waits for it; what it says counts if the same ones
        are there afterwards.
        """
        episodes = await self._episodes(tenant, session)
        folded = decay.fold_session(episodes, window_end)
        if folded is None or folded.digest.memory_id in {record.memory_id for record in episodes}:
            return ()
        return folded.archived

    async def _episodes(self, tenant: Tenant, session: str) -> list[MemoryRecord]:
        return await everything(self._store, tenant, Where(layers=(Layer.EPISODE,), sessions=(session,)))

    async def _fold(self, tenant: Tenant, session: str, window_end: datetime, told: decay.Told | None) -> None:
        """`records` first, the digest before its episodes go: at no moment can neither be found."""
        async with self._writer.locked(tenant):
            episodes = await self._episodes(tenant, session)
            folded = decay.fold_session(episodes, window_end)
            if folded is None:
                return
            if folded.digest.memory_id not in {record.memory_id for record in episodes}:
                conflicts = await self._conflicts(tenant, session)
                folded = decay.fold_session(episodes, window_end, conflicts=conflicts, told=told) or folded
                await self._store_digest(tenant, folded.digest)
            await self._writer.resettle(tenant, folded.archived)
        metrics.WINDOW_CHANGES.labels("digested").inc()

    async def _store_digest(self, tenant: Tenant, digest: MemoryRecord) -> None:
        digest = digest.model_copy(update={"embedding_model": self._embedder.profile.name})
        memories = await embedded(self._embedder, [digest])
        await self._emitter.send([record_outbound(tenant, digest)])
        await self._store.upsert(tenant, memories)

    async def _conflicts(self, tenant: Tenant, session: str) -> list[MemoryRecord]:
        """Facts of the session that may contradict another one, and those others."""
        facts = await everything(self._store, tenant, Where(layers=(Layer.FACT,), sessions=(session,)))
        own = {fact.memory_id: fact for fact in facts if fact.ambiguous_with}
        others = sorted({i for fact in own.values() for i in fact.ambiguous_with} - own.keys())
        return [*own.values(), *(await self._store.get(tenant, others) if others else [])]

    async def _weigh_evidence(self, tick: DecayTick) -> None:
        since = tick.window_start - LATE
        async for tenant, ids in _by_tenant(
            lambda cursor: self._scan.repeated(tick.shard, since=since, limit=PAGE, cursor=cursor)
        ):
            async with self._writer.locked(tenant):
                facts = await self._store.get(tenant, ids)
                changed = [
                    (fact, stronger)
                    for fact in facts
                    if may_gain(fact, since)
                    and (stronger := decay.with_evidence(fact, await self._repeats(tenant, fact), tick.window_end))
                    is not fact
                ]
                if changed:
                    await self._writer.save(tenant, changed)
                    metrics.WINDOW_CHANGES.labels("strengthened").inc(len(changed))

    async def _repeats(self, tenant: Tenant, fact: MemoryRecord) -> list[MemoryRecord]:
        events = tuple(sorted({source.event_id for source in fact.sources}))
        where = Where(layers=(Layer.FACT,), statuses=(MemoryStatus.DUPLICATE,), event_ids=events)
        return [r for r in await everything(self._store, tenant, where) if r.duplicate_of == fact.memory_id]


async def _by_tenant(scan: Callable[[str | None], Awaitable[Page]]) -> AsyncIterator[tuple[Tenant, list[str]]]:
    """Page by page, the ids of each tenant."""
    cursor: str | None = None
    while True:
        page, cursor = await scan(cursor)
        by_tenant: dict[Tenant, list[str]] = defaultdict(list)
        for tenant, memory_id in page:
            by_tenant[tenant].append(memory_id)
        for tenant, ids in by_tenant.items():
            yield tenant, ids
        if cursor is None:
            return
