"""The stages of the role `memory`: candidates, supersede and access, each a thin cover of `Writer`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from schemas import Access, CandidateEvent, MemoryStatus, PairVerdict, Supersede, Tenant
from streams import metrics
from streams.agents.redact import parked_candidate
from streams.agents.writer import Writer
from streams.memory import decay
from streams.outcome import Done, Outbound, Outcome, Parked
from streams.ports import MemoryStore
from streams.records import Inbound, check_key, decode, event_type, header

VERDICT = ("ce_type", event_type("verdict"))


class TenantStage:
    """What the stages behind a tenant's key share."""

    name = "memory"
    topic = ""
    dead_letters = "dead-letters"
    dependencies: tuple[str, ...] = ("store",)
    lane_batch = 100
    side_by_side = 8

    def lane(self, record: Inbound) -> str:
        return record.lane

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        return []


class RememberStage(TenantStage):
    """candidates -> memories, receipts, supersede events."""

    topic = "candidates"
    dependencies = ("store", "embedder")
    lane_batch = 25

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def lane(self, record: Inbound) -> str:
        # Of many users at once: what waits for broker, store and model does so once for all of them.
        return record.partition_lane

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        events = [(record, decode(record, CandidateEvent)) for record in records]
        for record, event in events:
            check_key(record, event.tenant)
        return await self._writer.remember(events)

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        # Comes back on the same topic as a parked event, and gets its receipt then.
        already = b'"disposition":"parked"' in (record.value or b"")
        return (
            []
            if already or parked.reason == "event_id_reused"
            else parked_candidate(record, parked.stage, parked.reason)
        )


class SupersedeStage(TenantStage):
    """What settling inferred, what clients decided and what a judge said of a pair."""

    topic = "supersede"

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        by_tenant: dict[Tenant, list[Supersede]] = defaultdict(list)
        verdicts: dict[Tenant, list[PairVerdict]] = defaultdict(list)
        for record in records:
            if header(record.headers, "ce_type") == VERDICT:
                verdict = decode(record, PairVerdict)
                check_key(record, verdict.tenant)
                verdicts[verdict.tenant].append(verdict)
            else:
                event = decode(record, Supersede)
                check_key(record, event.tenant)
                by_tenant[event.tenant].append(event)
        for tenant, events in by_tenant.items():
            await self._writer.supersede(tenant, events)
        for tenant, said in verdicts.items():
            await self._writer.judged(tenant, said)
        return [Done()] * len(records)


class AccessStage(TenantStage):
    """Reinforcement: accesses of a batch are coalesced to one write a memory."""

    topic = "access"
    lane_batch = 500

    def __init__(self, writer: Writer, store: MemoryStore) -> None:
        self._writer = writer
        self._store = store

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        by_tenant: dict[Tenant, list[Access]] = defaultdict(list)
        for record in records:
            access = decode(record, Access)
            check_key(record, access.tenant)
            by_tenant[access.tenant].append(access)
        for tenant, accesses in by_tenant.items():
            async with self._writer.locked(tenant):
                wanted = list(dict.fromkeys(i for access in accesses for i in access.memory_ids))
                stored = await self._store.get(tenant, wanted)
                changed = [
                    (before, after) for before in stored if (after := decay.reinforce(before, accesses)) is not before
                ]
                revived = sum(before.status is MemoryStatus.ARCHIVED for before, _ in changed)
                if revived:
                    metrics.WINDOW_CHANGES.labels("revived").inc(revived)
                    await self._writer.resettle(tenant, [after for _, after in changed])
                else:
                    await self._writer.save(tenant, changed)
        return [Done()] * len(records)
