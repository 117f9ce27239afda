"""Exported memories taken back as they were: same ids, statuses, links and sources, whatever model embeds them now.

Whoever does this is the one writer: no worker with the role `memory` may run. As in its steps, `records` and `receipts`
are acknowledged by the broker before anything is in the store, so that a killed import is simply run again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from schemas import Fence, MemoryRecord, Receipt, Supersede, Tenant
from streams.agents.writer import (
    directive_doc,
    directive_outbound,
    embedded,
    put_in_place,
    receipt_doc,
    receipt_outbound,
    record_outbound,
)
from streams.batches import batched
from streams.emitter import Emitter
from streams.memory.fences import blocked_by
from streams.memory.redaction import Redactor
from streams.memory.settle import CLIENT_SAID, FORGOTTEN_SINCE, stated
from streams.ports import Embedder, MemoryStore
from streams.topics import shard_of

# Embedded and written at a time.
BATCH = 200


@dataclass(slots=True)
class Taken:
    """`known`: ids that were there already, left as they are. `refused`: how many, by reason."""

    stored: int = 0
    known: int = 0
    refused: Counter[str] = field(default_factory=Counter)


class Importer:
    """`after_forget`: also what the user had forgotten by time or session; ids that were named never come back."""

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder,
        emitter: Emitter,
        redactor: Redactor,
        *,
        after_forget: bool = False,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._emitter = emitter
        self._redactor = redactor
        self._after_forget = after_forget

    async def take(self, records: Iterable[MemoryRecord]) -> Taken:
        taken = Taken()
        by_tenant: dict[Tenant, dict[str, MemoryRecord]] = defaultdict(dict)
        for record in records:
            by_tenant[record.tenant][record.memory_id] = record
        for tenant, own in by_tenant.items():
            # Digests last: one whose episodes were refused goes with them.
            ids = sorted(own, key=lambda memory_id: bool(own[memory_id].digest_of))
            for part in batched(ids, BATCH):
                await self._batch(tenant, [own[i] for i in part], taken)
        return taken

    async def _batch(self, tenant: Tenant, records: Sequence[MemoryRecord], taken: Taken) -> None:
        named = [i for r in records for i in (r.memory_id, *r.digest_of)]
        there = {record.memory_id for record in await self._store.get(tenant, named)}
        fences = [Fence.model_validate(doc.body) for doc in await self._store.find_docs(tenant, "fence")]
        wanted: list[MemoryRecord] = []
        for record in records:
            if record.memory_id in there:
                taken.known += 1
            elif not there.union(one.memory_id for one in wanted).issuperset(record.digest_of):
                taken.refused["forgotten"] += 1
            elif (reason := self._refusal(fences, record)) is not None:
                taken.refused[reason] += 1
            else:
                wanted.append(record)
        if wanted:
            await self._write(tenant, wanted)
            taken.stored += len(wanted)

    def _refusal(self, fences: Sequence[Fence], record: MemoryRecord) -> str | None:
        if blocked_by(fences, record, after_forget=self._after_forget) is not None:
            return "forgotten"
        # What memstream exported was redacted once; what was written by hand, or under a milder policy, may not be.
        texts = (record.content, record.value or "", record.event or "", *record.entities)
        return "not_redacted" if any(self._redactor.redact(text).text != text for text in texts) else None

    async def _write(self, tenant: Tenant, records: Sequence[MemoryRecord]) -> None:
        model, shard = self._embedder.profile.name, shard_of(tenant)
        records = [record.model_copy(update={"embedding_model": model, "shard": shard}) for record in records]
        directives = [event for record in records for event in directives_behind(record)]
        receipts = await self._receipts(tenant, records)
        memories = await embedded(self._embedder, records)
        await self._emitter.send(
            [
                *(directive_outbound(tenant, event) for event in directives),
                *(record_outbound(tenant, record) for record in records),
                *(receipt_outbound(tenant, receipt) for receipt in receipts),
            ]
        )
        await self._store.put_docs(tenant, [directive_doc(event) for event in directives])
        await self._store.put_docs(tenant, [receipt_doc(receipt) for receipt in receipts])
        # Last, so that what is known was written whole.
        await put_in_place(self._store, tenant, memories)

    async def _receipts(self, tenant: Tenant, records: Sequence[MemoryRecord]) -> list[Receipt]:
        """So that the events behind them, delivered again, are duplicates."""
        by_event: dict[str, list[MemoryRecord]] = defaultdict(list)
        for record in records:
            if not record.digest_of:
                by_event[record.source.event_id].append(record)
        docs = await self._store.get_docs(tenant, "receipt", list(by_event))
        known = {doc.key: Receipt.model_validate(doc.body) for doc in docs}
        receipts = []
        for event_id, own in by_event.items():
            ids = tuple(record.memory_id for record in own)
            before = known.get(event_id)
            if before is not None:
                ids = tuple(dict.fromkeys((*before.memory_ids, *ids)))
                receipts.append(before.model_copy(update={"memory_ids": ids}))
                continue
            receipts.append(
                Receipt(
                    event_id=event_id,
                    namespace=tenant.namespace,
                    user_id=tenant.user_id,
                    outcome="stored",
                    stage="import",
                    memory_ids=ids,
                    occurred_at=own[0].occurred_at,
                    appended_at=own[0].created_at,
                )
            )
        return receipts


def directives_behind(record: MemoryRecord) -> list[Supersede]:
    """What a client said, and markers of erasure: kept beside the memories, and told by the reason of what they did."""
    said = stated(record)
    if record.superseded_by is None or record.superseded_at is None:
        return said
    told, forgotten = record.reason.endswith(CLIENT_SAID), record.reason.endswith(FORGOTTEN_SINCE)
    if not told and not forgotten:
        return said
    event = Supersede(
        namespace=record.namespace,
        user_id=record.user_id,
        old_id=record.memory_id,
        new_id=record.superseded_by,
        occurred_at=record.superseded_at,
        inferred=forgotten,
    )
    return [*said, event]
