"""The one writer: everything that changes a memory happens in a step of `Writer`, under the tenant's lock.

Order of a step, and why a crash between any two parts ends the same:

1. read the receipts, the fences and the neighbourhood (nothing is written yet)
2. `records`, `receipts` and `supersede` acknowledged by the broker (`acked`)
3. memories in the store (`memories_written`)
4. receipts in the store (`receipts_written`): from here on the event is known, a redelivery is a duplicate
5. the reply, then the input is done (by the runner)

Before 4 the step runs again from the old state and computes the same, because ids, statuses and times are functions
of the events. Compacted topics get the same values under the same keys once more.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Literal, TypeVar

from schemas import (
    Candidate,
    CandidateEvent,
    EventOutcome,
    Fence,
    Layer,
    MemoryRecord,
    MemoryStatus,
    MemoryType,
    PairVerdict,
    Receipt,
    Source,
    Supersede,
    Tenant,
)
from schemas.memory import Statement
from streams import metrics
from streams.agents.judging import Judging, verdict_doc, verdict_name, verdict_outbound
from streams.agents.re_extraction import is_later, of_event, replaced_facts
from streams.emitter import Emitter
from streams.limits import MAX_RECORD_BYTES
from streams.logs import about
from streams.long_text import Breath, in_thread_if_long, in_turn
from streams.memory.fences import blocked_by
from streams.memory.lexical import passage_text, sparse_passage
from streams.memory.redaction import Redactor
from streams.memory.settle import (
    DIRECTIVES,
    VERDICTS,
    Neighbourhood,
    apply,
    keyed,
    neighbourhood,
    settle,
    stated,
    undecided,
)
from streams.outcome import Done, Duplicate, Outbound, Outcome, Parked, Skipped
from streams.ports import Doc, Embedder, MemoryStore, ModelProfile, StoredMemory
from streams.records import IMPORTED, Inbound, cloud_event, reply_to
from streams.topics import event_key, memory_key, shard_of

log = logging.getLogger(__name__)

MEMORY_IDS = uuid.UUID("6f1b6f0e-3c1c-5d0a-9a53-6d656d737472")
# Steps at which a test may stop the process; see the numbered order above.
STEPS = ("read", "embedded", "settled", "acked", "memories_written", "receipts_written")
AtStep = Callable[[str], None]
T = TypeVar("T")
# A stored memory as it was and as it is to be.
Change = tuple[MemoryRecord, MemoryRecord]
# Settling so many memories takes some milliseconds; more go to a thread, so that the event loop stays free.
INLINE_ITEMS = 200
# Longer than a step that was under way when its partition was taken may still need (a model call, a full batch).
CHECK_SECONDS = 60.0


_NEVER = datetime.min.replace(tzinfo=UTC)
# What a record begins with: to copy one takes a tenth of the time of making one. All that is given here is replaced.
NOT_SETTLED = MemoryRecord.model_construct(
    layer=Layer.FACT,
    content="",
    memory_type=MemoryType.FACT,
    memory_id="",
    occurred_at=_NEVER,
    created_at=_NEVER,
    namespace="",
    user_id="",
)


def memory_id(tenant: Tenant, event_id: str, item: Candidate) -> str:
    """The same item of the same event always has the same id: a redelivery overwrites itself."""
    place = f"{item.message}:{item.layer}:{item.start}:{item.end}"
    return "mem_" + uuid.uuid5(MEMORY_IDS, "\n".join((tenant.key, event_id, place, item.content))).hex


@dataclass
class _Step:
    """One tenant's part of a step: what came, what was decided, what is going to be written."""

    tenant: Tenant
    events: Sequence[tuple[Inbound, CandidateEvent]] = ()
    known: Mapping[str, Receipt] = field(default_factory=dict)
    receipts: list[Receipt] = field(default_factory=list)
    new: list[MemoryRecord] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    by_event: dict[str, list[MemoryRecord]] = field(default_factory=dict)
    # Ids of memories that go: withdrawn, or covered by an erasure (a crash may have come after their records).
    forgotten: list[str] = field(default_factory=list)
    # Stored memories to derive as well: as they are, and what they are to be settled as.
    given: Sequence[tuple[MemoryRecord, StoredMemory]] = ()
    # Stored memories that are replaced now are left to the supersede events that say so.
    announced: bool = True
    fresh: list[StoredMemory] = field(default_factory=list)
    changed: Sequence[Change] = ()
    superseded: Sequence[Supersede] = ()
    # Pairs, older first, that the rules can't tell.
    undecided: Sequence[tuple[str, str]] = ()


class Writer:
    """Owns the store and the `records` topic for the tenants whose partitions this process holds."""

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder,
        emitter: Emitter,
        redactor: Redactor,
        *,
        reply_allowed: Callable[[str], bool],
        judging: Judging | None = None,
        at_step: AtStep = lambda step: None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._emitter = emitter
        self._redactor = redactor
        self._reply_allowed = reply_allowed
        self._judging = judging
        self.at_step = at_step
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}
        self._check_until = 0.0

    def ownership_changed(self) -> None:
        """Partitions moved: whoever held them may still be ending a step. For a while each step is derived once more
        after it was written, so that whichever of the two wrote last has seen the other's memories."""
        self._check_until = time.monotonic() + CHECK_SECONDS

    @asynccontextmanager
    async def locked(self, *tenants: Tenant) -> AsyncIterator[None]:
        """One step a tenant at a time, whichever topic it comes from."""
        async with AsyncExitStack() as held:
            # In one order, so that no two steps wait for each other.
            for key in sorted({tenant.key for tenant in tenants}):
                await held.enter_async_context(self._one_locked(key))
            yield

    @asynccontextmanager
    async def _one_locked(self, key: str) -> AsyncIterator[None]:
        lock, waiting = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks[key]
            if waiting == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, waiting - 1)

    # candidates

    async def remember(self, events: Sequence[tuple[Inbound, CandidateEvent]]) -> list[Outcome]:
        """One step for several events, of one tenant or of many: settling is a function of the set, so together is
        as one by one. What has to be waited for (broker, store, model) is asked once for all of them."""
        if any(event.re_extraction for _, event in events):
            return await self._with_extracted_anew(events)
        places: dict[Tenant, list[int]] = {}
        for at, (_, event) in enumerate(events):
            places.setdefault(event.tenant, []).append(at)
        steps = [_Step(tenant, [events[at] for at in of_it]) for tenant, of_it in places.items()]
        async with self.locked(*places):
            with step_time("read"):
                known = await self._receipts_of(
                    {step.tenant: [event.event_id for _, event in step.events] for step in steps}
                )
                fences = dict(zip(places, await in_turn(self.fences, list(places)), strict=True))
                dropped = await self.dropped({t for _, event in events for c in event.candidates for t in told_by(c)})
            self.at_step("read")
            breath = Breath()
            for step in steps:
                step.known = known[step.tenant]
                await self._plan(step, fences[step.tenant], dropped, breath)
            with step_time("embed"):
                fresh = await embedded(self._embedder, [record for step in steps for record in step.new])
            self.at_step("embedded")
            with step_time("settle"):
                ready = iter(fresh)
                for step in steps:
                    await breath.take()
                    await self._settle(step, list(islice(ready, len(step.new))))
            self.at_step("settled")
            await self._write(steps)
            outcomes: dict[int, Outcome] = {}
            for step in steps:
                if step.fresh and time.monotonic() < self._check_until:
                    await self.resettle(step.tenant, [m.record for m in step.fresh])
                outcomes |= zip(places[step.tenant], await self._replies(step), strict=True)
        return [outcomes[at] for at in range(len(events))]

    async def receipts(self, tenant: Tenant, event_ids: Sequence[str]) -> dict[str, Receipt]:
        return (await self._receipts_of({tenant: event_ids}))[tenant]

    async def _receipts_of(self, event_ids: Mapping[Tenant, Sequence[str]]) -> dict[Tenant, dict[str, Receipt]]:
        found = await self._store.get_docs_of("receipt", event_ids)
        return {tenant: {d.key: Receipt.model_validate(d.body) for d in docs} for tenant, docs in found.items()}

    async def fences(self, tenant: Tenant) -> list[Fence]:
        return [Fence.model_validate(doc.body) for doc in await self._store.find_docs(tenant, "fence")]

    async def dropped(self, texts: AbstractSet[str]) -> AbstractSet[str]:
        """Those that a second look finds to hold what must never be remembered."""

        async def look(text: str) -> str | None:
            return await in_thread_if_long(lambda: self._redactor.contains_dropped(text), len(text))

        looked_at = list(texts)
        found = await in_turn(look, looked_at)
        return {text for text, entity in zip(looked_at, found, strict=True) if entity is not None}

    async def _plan(self, step: _Step, fences: Sequence[Fence], dropped: AbstractSet[str], breath: Breath) -> None:
        seen: dict[str, tuple[str, str, str]] = {
            key: (r.digest, r.policy_version, r.outcome) for key, r in step.known.items()
        }
        for _, event in step.events:
            await breath.take()
            earlier = seen.get(event.event_id)
            # A parked event is not settled: what is redriven after a repair takes its place.
            if earlier is not None and (earlier[2] != "parked" or event.disposition == "parked"):
                digest, policy, _ = earlier
                same = event.disposition == "parked" or digest == event.digest or policy != event.policy_version
                step.outcomes.append(Duplicate() if same else Parked("memory", "event_id_reused"))
                continue
            seen[event.event_id] = (event.digest, event.policy_version, event.disposition)
            if event.disposition == "parked":
                step.receipts.append(_receipt(event, "parked", event.stage, event.reason))
                # The dead letter was written by the stage that parked it.
                step.outcomes.append(Skipped("parked_earlier"))
                continue
            reason = event.reason or "nothing_to_keep"
            items: list[MemoryRecord] = []
            for item in event.candidates:
                record = self.record(step.tenant, event, item)
                if not event.after_forget and blocked_by(fences, record) is not None:
                    reason = "forgotten"
                    step.forgotten.append(record.memory_id)
                elif not dropped.isdisjoint(told_by(item)):
                    metrics.REDACTION_GUARD.inc()
                    with about(event_id=event.event_id):
                        log.warning("the second look before storing refused a memory")
                    reason = "redaction_guard"
                else:
                    items.append(record)
            step.by_event[event.event_id] = items
            step.new += items
            if items:
                step.receipts.append(_receipt(event, "stored"))
                step.outcomes.append(Done())
            else:
                step.receipts.append(_receipt(event, "skipped", event.stage or "memory", reason))
                step.outcomes.append(Skipped(reason))

    def record(self, tenant: Tenant, event: CandidateEvent, item: Candidate) -> MemoryRecord:
        """Not settled yet."""
        said_at = item.said_at or event.occurred_at
        made: dict[str, object] = {
            **{name: getattr(item, name) for name in Statement.model_fields},
            "memory_id": memory_id(tenant, event.event_id, item),
            "namespace": tenant.namespace,
            "user_id": tenant.user_id,
            "session_id": event.session_id,
            "sequence": round(said_at.timestamp() * 1_000_000),
            "occurred_at": said_at,
            "created_at": event.appended_at,
            "last_access_time": event.appended_at,
            "replaces": event.replaces,
            "sources": (Source(event_id=event.event_id, message=item.message, start=item.start, end=item.end),),
            "shard": shard_of(tenant),
            "policy_version": event.policy_version,
            "extractor_version": event.extractor_version,
            "prompt_version": event.prompt_version,
            "embedding_model": self._embedder.profile.name,
        }
        return keyed(NOT_SETTLED.model_copy(update=made))

    async def _settle(self, step: _Step, fresh: Sequence[StoredMemory]) -> None:
        """The new memories with their statuses, the stored ones that change, and the supersede events to emit."""
        if not fresh and not step.given:
            return
        around = [*fresh, *(memory for _, memory in step.given)]
        stored = {record.memory_id: record for record, _ in step.given}
        hood = await neighbourhood(
            self._store, step.tenant, around, self._embedder.profile, without=frozenset(step.forgotten)
        )
        settled = await self._derived(hood)
        vectors = {m.record.memory_id: m for m in fresh}
        step.fresh = [StoredMemory(settled[i], m.vector, m.sparse) for i, m in vectors.items()]
        changed: list[Change] = []
        superseded: list[Supersede] = []
        for item in hood.items:
            is_new = item.memory_id in vectors
            was, now = stored.get(item.memory_id, item), settled[item.memory_id]
            if now == was and not is_new:
                continue
            replaced_now = (
                step.announced
                and now.status is MemoryStatus.SUPERSEDED
                and (is_new or was.status is not MemoryStatus.SUPERSEDED)
            )
            if replaced_now:
                superseded.append(_inferred(now, settled))
            if not is_new and (item.memory_id in stored or not replaced_now):
                changed.append((was, now))
        step.changed, step.superseded = changed, superseded
        if self._judging is not None and fresh:
            step.undecided = await _in_thread_if_many(
                hood,
                lambda: undecided(hood.items, hood.near, hood.directives, hood.judged, profile=self._embedder.profile),
            )
        self._finish_receipts(step, settled)

    async def _derived(self, hood: Neighbourhood) -> dict[str, MemoryRecord]:
        return await _in_thread_if_many(hood, lambda: derive(hood, self._embedder.profile))

    @staticmethod
    def _finish_receipts(step: _Step, settled: Mapping[str, MemoryRecord]) -> None:
        for at, receipt in enumerate(step.receipts):
            items = [settled[item.memory_id] for item in step.by_event.get(receipt.event_id, ())]
            if not items:
                continue
            repeats = all(item.status is MemoryStatus.DUPLICATE for item in items)
            step.receipts[at] = revised(
                receipt,
                outcome="duplicate" if repeats else "stored",
                stage="memory",
                reason=items[0].reason if repeats else "",
                memory_ids=tuple(item.memory_id for item in items),
            )

    async def _write(self, steps: Sequence[_Step]) -> None:
        # A correction names ids that may not be there yet: kept like a client's own directive, it finds them later.
        said = {step.tenant: [event for m in step.fresh for event in stated(m.record)] for step in steps}
        with step_time("produce"):
            records: list[Outbound] = []
            breath = Breath()
            for step in steps:
                await breath.take()
                records += _records_of(step, said[step.tenant])
            await self._emitter.send(records)
        self.at_step("acked")
        with step_time("store"):
            for tenant, directives in said.items():
                if directives:
                    await self._store.put_docs(tenant, [directive_doc(event) for event in directives])
            await self._store.upsert_of({step.tenant: step.fresh for step in steps if step.fresh})
            for step in steps:
                if step.changed:
                    # Out of the archive before it says so, into it after: where a crash comes between, the step comes
                    # again and still finds something to change, or the next window finds it.
                    await self._place(step.tenant, step.changed, to_archive=False)
                    await self._store.update(step.tenant, [after for _, after in step.changed])
                    await self._place(step.tenant, step.changed, to_archive=True)
            for step in steps:
                if step.forgotten:
                    await self._store.delete(step.tenant, step.forgotten)
            self.at_step("memories_written")
            await self._store.put_docs_of(
                {step.tenant: [receipt_doc(receipt) for receipt in step.receipts] for step in steps if step.receipts}
            )
            self.at_step("receipts_written")
        now = time.time()
        for step in steps:
            if self._judging is not None and step.undecided:
                self._judging.ask(step.tenant, step.undecided)
            for receipt in step.receipts:
                # An event that is extracted anew came long ago, and was through then.
                if receipt.appended_at is not None and receipt.re_extraction is None:
                    metrics.END_TO_END_SECONDS.observe(max(0.0, now - receipt.appended_at.timestamp()))
                if receipt.event_id.startswith(IMPORTED) and receipt.re_extraction is None:
                    metrics.IMPORT_OUTCOMES.labels(receipt.outcome).inc()
                    if receipt.outcome == "parked":
                        metrics.IMPORT_FAILURES.labels(receipt.stage, receipt.reason).inc()
        written = Counter((m.record.layer, m.record.status) for step in steps for m in step.fresh)
        for (layer, status), count in written.items():
            metrics.MEMORIES.labels(layer, status).inc(count)
        moved = Counter((old.status, new.status) for step in steps for old, new in step.changed)
        for (before, after), count in moved.items():
            if before is not after:
                metrics.STATUS_CHANGES.labels(before, after).inc(count)

    async def _place(self, tenant: Tenant, changed: Sequence[Change], *, to_archive: bool) -> None:
        """Archived memories live in a collection of their own. Moving one that is there already does nothing."""
        moving = [
            after.memory_id
            for before, after in changed
            if before.status is not after.status and (after if to_archive else before).status is MemoryStatus.ARCHIVED
        ]
        if moving:
            await self._store.move(tenant, moving, to_archive=to_archive)

    async def _replies(self, step: _Step) -> list[Outcome]:
        """Each outcome with the reply that its record asked for."""
        tenant = step.tenant
        receipts = {**step.known, **{r.event_id: r for r in step.receipts}}
        records = {m.record.memory_id: m.record for m in step.fresh}
        answered: list[Outcome] = []
        for (inbound, event), outcome in zip(step.events, step.outcomes, strict=True):
            target = reply_to(inbound.headers)
            if target is None or not self._reply_allowed(target.topic):
                answered.append(outcome)
                continue
            receipt = receipts[event.event_id]
            memories = [records[i] for i in receipt.memory_ids if i in records]
            if len(memories) < len(receipt.memory_ids):
                memories = await self._store.get(tenant, receipt.memory_ids)
            told = EventOutcome(
                namespace=tenant.namespace,
                user_id=tenant.user_id,
                event_id=event.event_id,
                outcome="parked" if isinstance(outcome, Parked) else _told(outcome, receipt),
                stage=outcome.stage if isinstance(outcome, Parked) else receipt.stage,
                reason=outcome.reason if isinstance(outcome, Parked) else receipt.reason,
                memories=tuple(memories),
            )
            value = told.to_bytes()
            if len(value) > MAX_RECORD_BYTES:
                # What became of the event still gets there; its memories can be asked for.
                left_out = {"memories_left_out": len(memories)}
                value = told.model_copy(update={"memories": (), "extra": left_out}).to_bytes()
            headers = cloud_event("outcome", event.event_id, "memory", datetime.now(UTC), target.headers)
            reply = Outbound(target.topic, tenant.key.encode(), value, headers, partition=target.partition, exact=True)
            answered.append(with_emit(outcome, reply))
        return answered

    # candidates of a re-extraction

    async def _with_extracted_anew(self, events: Sequence[tuple[Inbound, CandidateEvent]]) -> list[Outcome]:
        """In their order; what stands side by side is of another kind."""
        outcomes: list[Outcome] = []
        for anew, group in groupby(events, key=lambda one: one[1].re_extraction is not None):
            if anew:
                outcomes += [await self._extracted_anew(event.tenant, event) for _, event in group]
            else:
                outcomes += await self.remember(list(group))
        return outcomes

    async def _extracted_anew(self, tenant: Tenant, event: CandidateEvent) -> Outcome:
        """The facts of an event in place of those that it has: new ones are added, those found again keep how they
        were used, the others are withdrawn. One step, in the same order of writes as any other.

        An event of which nothing that was said is stored any more was forgotten meanwhile.
        """
        async with self.locked(tenant):
            receipt = (await self.receipts(tenant, [event.event_id])).get(event.event_id)
            if receipt is None or not is_later(event.re_extraction, receipt.re_extraction):
                return Duplicate()
            stored = await of_event(self._store, tenant, event.event_id)
            fences = await self.fences(tenant)
            dropped = await self.dropped({text for item in event.candidates for text in told_by(item)})
            allowed = [item for item in event.candidates if dropped.isdisjoint(told_by(item))]
            metrics.REDACTION_GUARD.inc(len(event.candidates) - len(allowed))
            # What is new counts from the command on: for its use, and for what is delivered again of before.
            dated = event.model_copy(update={"appended_at": event.re_extraction.at}) if event.re_extraction else event
            made = [self.record(tenant, dated, item) for item in allowed]
            change = replaced_facts(stored, [r for r in made if blocked_by(fences, r, after_forget=True) is None])
            if change is None:
                return Skipped("forgotten")
            gone = frozenset(record.memory_id for record in change.withdrawn)
            known = {m.record.memory_id: m for m in await self._store.get_with_vectors(tenant, list(change.kept))}
            given = {i: (m.record, replace(m, record=change.kept[i])) for i, m in known.items()}
            # What stands around those that go is derived without them.
            withdrawn = await self._store.get_with_vectors(tenant, sorted(gone))
            hood = await neighbourhood(self._store, tenant, withdrawn, self._embedder.profile)
            left = [record.memory_id for record in hood.items if record.memory_id not in gone | given.keys()]
            given |= {m.record.memory_id: (m.record, m) for m in await self._store.get_with_vectors(tenant, left)}
            said = [r.memory_id for r in stored if r.layer is Layer.EPISODE]
            ids = (*change.kept, *(record.memory_id for record in change.new), *said)
            receipt = revised(
                receipt, outcome="stored", stage="memory", reason="", memory_ids=ids, re_extraction=event.re_extraction
            )
            step = _Step(tenant, given=list(given.values()), forgotten=sorted(gone))
            await self._settle(step, await embedded(self._embedder, change.new))
            step.receipts.append(receipt)
            await self._write([step])
            for record in change.withdrawn:
                metrics.STATUS_CHANGES.labels(record.status, "withdrawn").inc()
        return Done()

    # supersede

    async def supersede(self, tenant: Tenant, events: Sequence[Supersede]) -> None:
        """Apply what was decided, by settling or by a client, to the stored memories.

        A client's directive is kept (in `records` and the store), so that every later settling sees it.
        """
        async with self.locked(tenant):
            directives = [event for event in events if not event.inferred]
            if directives:
                await self._emitter.send([directive_outbound(tenant, event) for event in directives])
                await self._store.put_docs(tenant, [directive_doc(event) for event in directives])
            touched = list(dict.fromkeys(i for event in events for i in (event.old_id, event.new_id)))
            await self.resettle(tenant, await self._store.get(tenant, touched))

    async def judged(self, tenant: Tenant, verdicts: Sequence[PairVerdict]) -> None:
        """Apply what the judge said of pairs: kept in `records` and the store before anything follows from it. The
        first verdict of a pair stands; one of what was forgotten meanwhile is none."""
        async with self.locked(tenant):
            touched = list(dict.fromkeys(i for verdict in verdicts for i in (verdict.older, verdict.newer)))
            stored = {record.memory_id: record for record in await self._store.get(tenant, touched)}
            known = await self._store.get_docs(tenant, VERDICTS, [verdict_name(verdict) for verdict in verdicts])
            settled = {doc.key for doc in known}
            first: dict[str, PairVerdict] = {}
            for verdict in verdicts:
                if verdict_name(verdict) not in settled and stored.keys() >= {verdict.older, verdict.newer}:
                    first.setdefault(verdict_name(verdict), verdict)
            await self._emitter.send(
                [verdict_outbound(tenant, verdict, stored[verdict.newer].occurred_at) for verdict in first.values()]
            )
            await self._store.put_docs(tenant, [verdict_doc(verdict) for verdict in first.values()])
            await self.resettle(tenant, list(stored.values()), announced=True)

    # What other steps share; the caller holds the lock

    async def resettle(self, tenant: Tenant, records: Sequence[MemoryRecord], *, announced: bool = False) -> None:
        """Derive the neighbourhood of stored memories again, with `records` in place of what is stored, and write
        what changed. `announced`: supersede events say what is replaced, as when something new is said."""
        given = {record.memory_id: record for record in records}
        stored = await self._store.get_with_vectors(tenant, list(given))
        as_given = [(m.record, replace(m, record=given[m.record.memory_id])) for m in stored]
        step = _Step(tenant, given=as_given, announced=announced)
        await self._settle(step, [])
        await self._write([step])

    async def save(self, tenant: Tenant, changed: Sequence[Change]) -> None:
        """Write records that exist already: `records` first, then the store."""
        await self._write([_Step(tenant, changed=changed)])


def _inferred(old: MemoryRecord, settled: Mapping[str, MemoryRecord]) -> Supersede:
    """The event that says by what `old` is replaced, as it was settled."""
    new = settled.get(str(old.superseded_by), old)
    return Supersede(
        namespace=old.namespace,
        user_id=old.user_id,
        old_id=old.memory_id,
        new_id=str(old.superseded_by),
        occurred_at=new.occurred_at,
        inferred=True,
        reason=old.reason,
    )


def _records_of(step: _Step, said: Sequence[Supersede]) -> Iterator[Outbound]:
    tenant = step.tenant
    for event in said:
        yield directive_outbound(tenant, event)
    for memory in step.fresh:
        yield record_outbound(tenant, memory.record)
    for _, after in step.changed:
        yield record_outbound(tenant, after)
    for receipt in step.receipts:
        yield receipt_outbound(tenant, receipt)
    for event in step.superseded:
        yield supersede_outbound(tenant, event)
    for memory_id in step.forgotten:
        yield Outbound("records", memory_key(tenant, memory_id), None)


async def embedded(embedder: Embedder, records: Sequence[MemoryRecord]) -> list[StoredMemory]:
    """Records with their vectors, as the store takes them. Raises `DependencyDown("embedder")`."""
    if not records:
        return []
    passages = [passage_text(record) for record in records]
    # A message of one sentence is a fact and an episode in the same words.
    texts = list(dict.fromkeys(passages))
    vectors = dict(zip(texts, await embedder.embed_passages(texts), strict=True))
    sparse = await in_thread_if_long(lambda: {text: sparse_passage(text) for text in texts}, sum(map(len, texts)))
    return [StoredMemory(record, vectors[text], sparse[text]) for record, text in zip(records, passages, strict=True)]


async def put_in_place(store: MemoryStore, tenant: Tenant, memories: Sequence[StoredMemory]) -> None:
    """Each into the collection of its status."""
    for archive in (False, True):
        here = [m for m in memories if (m.record.status is MemoryStatus.ARCHIVED) is archive]
        if here:
            await store.upsert(tenant, here, archive=archive)


async def _in_thread_if_many(hood: Neighbourhood, work: Callable[[], T]) -> T:
    return work() if len(hood.items) <= INLINE_ITEMS else await asyncio.to_thread(work)


def derive(hood: Neighbourhood, profile: ModelProfile) -> dict[str, MemoryRecord]:
    """Every record of the neighbourhood as settling sees it."""
    verdicts = settle(hood.items, hood.near, hood.directives, hood.judged, profile=profile)
    return {record.memory_id: apply(record, verdicts[record.memory_id]) for record in hood.items}


def _receipt(
    event: CandidateEvent, outcome: Literal["stored", "skipped", "parked"], stage: str = "", reason: str = ""
) -> Receipt:
    return Receipt(
        event_id=event.event_id,
        namespace=event.namespace,
        user_id=event.user_id,
        outcome=outcome,
        stage=stage,
        reason=reason,
        digest=event.digest,
        policy_version=event.policy_version,
        occurred_at=event.occurred_at,
        appended_at=event.appended_at,
    )


def told_by(item: Statement) -> Iterator[str]:
    """Its texts, for the guard. What stands in the content as well is looked at there, with the words around it."""
    yield item.content
    for text in (item.subject, item.value, item.replaced_value, item.event, *item.entities):
        if text and text not in item.content:
            yield text


def revised(receipt: Receipt, **changes: object) -> Receipt:
    return receipt.model_copy(update=changes)


def _told(outcome: Outcome, receipt: Receipt) -> str:
    return "duplicate" if isinstance(outcome, Duplicate) and receipt.outcome == "stored" else receipt.outcome


def with_emit(outcome: Outcome, reply: Outbound) -> Outcome:
    match outcome:
        case Done() | Duplicate() | Skipped() | Parked():
            return replace(outcome, emit=(*outcome.emit, reply))
        case _:
            return outcome


def step_time(step: str) -> AbstractContextManager[object]:
    return metrics.STEP_SECONDS.labels("memory", step).time()


def record_outbound(tenant: Tenant, record: MemoryRecord) -> Outbound:
    headers = cloud_event("record", record.source.event_id, "memory", record.occurred_at)
    return Outbound("records", memory_key(tenant, record.memory_id), record.to_bytes(), headers)


def receipt_outbound(tenant: Tenant, receipt: Receipt) -> Outbound:
    headers = cloud_event("receipt", receipt.event_id, "memory", receipt.appended_at or datetime.now(UTC))
    return Outbound("receipts", event_key(tenant, receipt.event_id), receipt.to_bytes(), headers)


def receipt_doc(receipt: Receipt) -> Doc:
    return Doc("receipt", receipt.event_id, receipt.model_dump(mode="json", exclude_none=True))


def supersede_outbound(tenant: Tenant, event: Supersede) -> Outbound:
    headers = cloud_event("supersede", event.directive_id, "memory", event.occurred_at)
    return Outbound("supersede", tenant.key.encode(), event.to_bytes(), headers)


def directive_doc(event: Supersede) -> Doc:
    return Doc(DIRECTIVES, event.directive_id, event.model_dump(mode="json", exclude_none=True))


def directive_outbound(tenant: Tenant, event: Supersede) -> Outbound:
    headers = cloud_event("directive", event.directive_id, "memory", event.occurred_at)
    return Outbound("records", memory_key(tenant, "directive:" + event.directive_id), event.to_bytes(), headers)
