"""Taking what a fence forbids out of the store and of `records`.

In this order, each part repeated after a crash with the same result: the fence, the markers and the tombstones are
acknowledged by the broker; fence and markers go into the store (from here on nothing forgotten can come back); the
memories are deleted; what stood beside them is derived again. A digest that tells of something forgotten goes with it;
its other episodes come back from the archive first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from urllib.parse import quote

from schemas import Fence, Layer, MemoryRecord, Source, Supersede, Tenant
from streams import metrics
from streams.agents.writer import Writer, directive_doc, directive_outbound
from streams.emitter import Emitter
from streams.memory import decay, settle
from streams.memory.fences import blocked_by
from streams.outcome import Outbound
from streams.paging import everything
from streams.ports import Doc, MemoryStore
from streams.records import cloud_event
from streams.topics import memory_key

# Points at which a test may stop the process, named in the order above.
ERASURE_STEPS = ("erasure_acked", "erasure_noted", "erasure_deleted")


class Eraser:
    def __init__(self, writer: Writer, store: MemoryStore, emitter: Emitter) -> None:
        self._writer = writer
        self._store = store
        self._emitter = emitter

    async def erase(
        self,
        tenant: Tenant,
        fence_of: Callable[[Sequence[MemoryRecord]], Fence],
        noted: Callable[[Sequence[MemoryRecord]], Sequence[Doc]] = lambda doomed: (),
    ) -> tuple[Fence, list[MemoryRecord]]:
        """The fence, and the memories that are gone. `fence_of` draws it around all that the user has; `noted`: what
        the store must have before anything is deleted, told of what goes."""
        async with self._writer.locked(tenant):
            had = await everything(self._store, tenant)
            if on_their_way := not_replaced_yet(had):
                await self._writer.resettle(tenant, on_their_way)
                had = await everything(self._store, tenant)
            fence = fence_of(had)
            doomed = with_digests([r for r in had if blocked_by([fence], r) is not None], had)
            gone = {record.memory_id for record in doomed}
            released = [
                episode for digest in doomed for episode in decay.unfold(digest, had) if episode.memory_id not in gone
            ]
            markers = settle.markers(doomed, [r for r in had if r.memory_id not in gone])
            notes = [*markers, *await self._without_reasons(tenant, gone, everything=fence.scope == "all")]
            await self._emitter.send(
                [
                    fence_outbound(tenant, fence),
                    *(directive_outbound(tenant, event) for event in notes),
                    *(Outbound("records", memory_key(tenant, memory_id), None) for memory_id in sorted(gone)),
                ]
            )
            self._writer.at_step("erasure_acked")
            docs = [directive_doc(event) for event in notes]
            docs += [fence_doc(fence), *noted(doomed)]
            await self._store.put_docs(tenant, docs)
            self._writer.at_step("erasure_noted")
            await self._writer.resettle(tenant, released)
            await self._store.delete(tenant, sorted(gone))
            self._writer.at_step("erasure_deleted")
            left = {r.memory_id: r for r in had if r.memory_id not in gone} | {r.memory_id: r for r in released}
            await self._writer.resettle(tenant, speaking_of_the_absent(list(left.values())))
        for record in doomed:
            metrics.STATUS_CHANGES.labels(record.status, "erased").inc()
        return fence, doomed

    async def _without_reasons(self, tenant: Tenant, gone: Set[str], *, everything: bool) -> list[Supersede]:
        """What clients said of memories that go: that one replaced the other stays, why they said so does not."""
        told = [Supersede.model_validate(doc.body) for doc in await self._store.find_docs(tenant, settle.DIRECTIVES)]
        return [
            event.model_copy(update={"reason": ""})
            for event in told
            if event.reason and (everything or not gone.isdisjoint((event.old_id, event.new_id)))
        ]


def with_what_stands_behind(fence: Fence, everything: Sequence[MemoryRecord]) -> Fence:
    """For a fence of memory ids: also what repeats them, the messages that they were taken from, and the episodes of a
    digest."""
    if fence.scope != "memories":
        return fence
    ids = set(fence.ids)
    ids |= {i for r in everything if r.memory_id in ids for i in r.digest_of}
    while True:
        reached = {r.memory_id for r in everything if r.duplicate_of in ids}
        reached |= {str(r.duplicate_of) for r in everything if r.memory_id in ids and r.duplicate_of}
        if reached <= ids:
            break
        ids |= reached
    places = {(r.source.event_id, r.source.message) for r in everything if r.memory_id in ids}
    ids |= {
        r.memory_id for r in everything if r.layer is Layer.EPISODE and (r.source.event_id, r.source.message) in places
    }
    return fence.model_copy(update={"ids": tuple(sorted(ids))})


def with_digests(doomed: Sequence[MemoryRecord], everything: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Also the digests that tell of one of them."""
    gone = {record.memory_id for record in doomed}
    # A digest quotes facts that contradict each other too: by their sources.
    told = {source for record in doomed for source in record.sources}
    return [
        *doomed,
        *(
            r
            for r in everything
            if r.digest_of
            and r.memory_id not in gone
            and not (gone.isdisjoint(r.digest_of) and told.isdisjoint(r.sources))
        ),
    ]


def not_replaced_yet(everything: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Named as replaced by a newer memory, which does so from birth; the event that tells them is still on its way."""
    named = {old for record in everything for old in record.supersedes}
    return [record for record in everything if record.superseded_by is None and record.memory_id in named]


def speaking_of_the_absent(left: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Those with a link to, or evidence from, a memory that is not there: to be derived again.

    Told from what is left alone, so that it is the same when a crash came after the deletion.
    """
    present = {record.memory_id for record in left}
    evidence: dict[str, set[Source]] = defaultdict(set)
    for record in left:
        if record.duplicate_of is not None:
            evidence[record.duplicate_of].add(record.source)
    found = []
    for record in left:
        links = {record.duplicate_of, record.superseded_by, *record.supersedes, *record.ambiguous_with, *record.linked}
        repeats = () if record.digest_of else record.sources[1:]
        if not links - {None} <= present or not evidence[record.memory_id].issuperset(repeats):
            found.append(record)
    return found


def fence_doc(fence: Fence) -> Doc:
    return Doc("fence", fence.fence_id, fence.model_dump(mode="json", exclude_none=True))


def fence_outbound(tenant: Tenant, fence: Fence) -> Outbound:
    headers = cloud_event("fence", fence.fence_id, "memory", fence.created_at)
    return Outbound("fences", f"{tenant.key}/{quote(fence.fence_id, safe='')}".encode(), fence.to_bytes(), headers)
