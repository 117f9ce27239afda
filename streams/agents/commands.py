"""commands -> memory: forget, restore and re-extract. Erasure wins over everything that arrives later.

Order of a forget, each part repeated after a crash with the same result: the fence, the markers and the tombstones are
acknowledged by the broker; fence and markers go into the store (from here on nothing forgotten can come back); the
memories are deleted; what stood beside them is derived again; the receipt is sent. A digest that tells of something
forgotten goes with it; its other episodes come back from the archive first.

A re-extract puts events on `redacted` once more; what the stage `extract` makes of them comes back on `candidates`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from urllib.parse import quote

from pydantic import ValidationError

from schemas import (
    Command,
    ErasureReceipt,
    Fence,
    ForgetCommand,
    Job,
    Layer,
    MemoryRecord,
    MemoryType,
    ReExtractCommand,
    ReExtraction,
    ReExtractReceipt,
    RestoreCommand,
    RestoreReceipt,
    Source,
    Tenant,
)
from schemas.control import COMMANDS
from streams.agents.memory import TenantStage
from streams.agents.re_extraction import event_again, of_event
from streams.agents.writer import Writer, directive_doc, directive_outbound
from streams.batches import batched
from streams.emitter import Emitter
from streams.errors import BadData
from streams.memory import decay, settle
from streams.memory.fences import blocked_by, fence_of
from streams.memory.settle.order import order
from streams.outcome import Done, Outbound, Outcome, Parked
from streams.paging import pages
from streams.ports import Doc, MemoryStore, Where
from streams.records import Inbound, check_key, cloud_event, reply_to
from streams.settings import Settings
from streams.topics import BY_NAME, memory_key

# Topics that still hold text of the user until their retention has passed.
TEXT_TOPICS = ("conversations", "redacted", "candidates", "dead-letters", "dead-letters.raw", "recall.requests")


# Of a re-extraction: read and sent together.
EVENTS_AT_ONCE = 100
# Kind of the documents that say what became of a command.
ANSWERS = "answer"

Answer = TypeVar("Answer", ErasureReceipt, RestoreReceipt, ReExtractReceipt)


JobsOf = Callable[[Tenant], Awaitable[Mapping[bytes, bytes]]]


async def _no_jobs(tenant: Tenant) -> Mapping[bytes, bytes]:
    return {}


class CommandStage(TenantStage):
    """Ids and scopes in, a receipt out."""

    topic = "commands"
    lane_batch = 1

    def __init__(
        self,
        writer: Writer,
        store: MemoryStore,
        emitter: Emitter,
        settings: Settings,
        jobs_of: JobsOf = _no_jobs,
    ) -> None:
        """`jobs_of`: the import tasks of a user, as they stand on the topic `jobs`, by key."""
        self._jobs_of = jobs_of
        self._writer = writer
        self._store = store
        self._emitter = emitter
        self._settings = settings

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        return [await self._one(record) for record in records]

    async def _one(self, record: Inbound) -> Outcome:
        try:
            command = COMMANDS.validate_json(record.value or b"null")
        except ValidationError:
            return Parked(self.name, "bad_schema", exception="ValidationError")
        check_key(record, command.tenant)
        answer: ErasureReceipt | RestoreReceipt | ReExtractReceipt
        match command:
            case ForgetCommand():
                done = await self._answered(command, ErasureReceipt)
                answer = done or await self._forget(command, record.first_appended)
            case RestoreCommand():
                undone = await self._answered(command, RestoreReceipt)
                answer = undone or await self._restore(command, record.first_appended)
            case ReExtractCommand():
                sent = await self._answered(command, ReExtractReceipt)
                answer = sent or await self._re_extract(command, record.first_appended)
        body = answer.model_dump(mode="json", exclude_none=True)
        await self._store.put_docs(command.tenant, [Doc(ANSWERS, command.command_id, body)])
        target = reply_to(record.headers)
        if target is None or not self._settings.reply_topics.fullmatch(target.topic):
            return Done()
        headers = cloud_event("receipt", command.command_id, self.name, datetime.now(UTC), target.headers)
        key = command.tenant.key.encode()
        reply = Outbound(target.topic, key, answer.to_bytes(), headers, partition=target.partition, exact=True)
        return Done((reply,))

    async def _answered(self, command: Command, model: type[Answer]) -> Answer | None:
        """What it was answered the first time. Carried out once more it would undo what came after it: what was
        imported again on purpose, what went to the archive since."""
        known = await self._store.get_docs(command.tenant, ANSWERS, [command.command_id])
        return model.model_validate(known[0].body) if known else None

    async def _forget(self, command: ForgetCommand, at: datetime) -> ErasureReceipt:
        if command.scope == "session" and command.session_id is None:
            raise BadData("bad_schema", "session_id")
        tenant = command.tenant
        # Ids of imported events are digests of what was said. Of a task that began later nothing was asked.
        jobs = await self._jobs_of(tenant) if command.scope == "all" else {}
        finished = sorted(key for key, value in jobs.items() if Job.from_bytes(value).started_at <= at)
        async with self._writer.locked(tenant):
            everything = await self._everything(tenant)
            if on_their_way := not_replaced_yet(everything):
                await self._writer.resettle(tenant, on_their_way)
                everything = await self._everything(tenant)
            known = await self._store.get_docs(tenant, "fence", [command.command_id])
            if known:
                fence = Fence.model_validate(known[0].body)
            else:
                # What came after the command is none of its business, however late it is carried out.
                newest = max((r.occurred_at for r in everything if r.created_at <= at), default=None)
                fence = with_what_stands_behind(fence_of(command, newest, at), everything)
            doomed = with_digests([r for r in everything if blocked_by([fence], r) is not None], everything)
            gone = {record.memory_id for record in doomed}
            released = [
                episode
                for digest in doomed
                for episode in decay.unfold(digest, everything)
                if episode.memory_id not in gone
            ]
            markers = settle.markers(doomed, [r for r in everything if r.memory_id not in gone])
            await self._emitter.send(
                [
                    fence_outbound(tenant, fence),
                    *(directive_outbound(tenant, event) for event in markers),
                    *(Outbound("records", memory_key(tenant, memory_id), None) for memory_id in sorted(gone)),
                    *(Outbound("jobs", key, None) for key in finished),
                ]
            )
            docs = [directive_doc(event) for event in markers]
            docs.append(fence_doc(fence))
            await self._store.put_docs(tenant, docs)
            await self._writer.resettle(tenant, released)
            await self._store.delete(tenant, sorted(gone))
            left = {r.memory_id: r for r in everything if r.memory_id not in gone} | {r.memory_id: r for r in released}
            await self._writer.resettle(tenant, speaking_of_the_absent(list(left.values())))
        return ErasureReceipt(
            namespace=command.namespace,
            user_id=command.user_id,
            command_id=command.command_id,
            fence_id=fence.fence_id,
            removed=dict(Counter(record.status.value for record in doomed)),
            import_tasks=len(finished),
            kept_until={
                self._settings.topic_prefix + name: at + timedelta(milliseconds=BY_NAME[name].retention_ms or 0)
                for name in TEXT_TOPICS
            },
        )

    async def _re_extract(self, command: ReExtractCommand, at: datetime) -> ReExtractReceipt:
        tenant = command.tenant
        anew = ReExtraction(command_id=command.command_id, at=at)
        timezone = self._settings.timezone_of(tenant.namespace)
        sent: list[str] = []
        async with self._writer.locked(tenant):
            wanted = command.event_ids or await self._events_since(tenant, command.since)
            for event_ids in batched(wanted, EVENTS_AT_ONCE):
                receipts = await self._writer.receipts(tenant, event_ids)
                again: list[Outbound] = []
                for event_id in event_ids:
                    stored = await of_event(self._store, tenant, event_id) if event_id in receipts else []
                    said = [r for r in stored if r.layer is Layer.EPISODE]
                    if said and (command.since is None or said[0].occurred_at >= command.since):
                        event = event_again(receipts[event_id], stored, anew, timezone)
                        headers = cloud_event("redacted", event_id, self.name, at)
                        again.append(Outbound("redacted", tenant.key.encode(), event.to_bytes(), headers))
                        sent.append(event_id)
                await self._emitter.send(again)
        return ReExtractReceipt(
            namespace=command.namespace,
            user_id=command.user_id,
            command_id=command.command_id,
            event_ids=tuple(sent),
            without_text=tuple(event_id for event_id in command.event_ids if event_id not in sent),
        )

    async def _events_since(self, tenant: Tenant, since: datetime | None) -> list[str]:
        """Of which anything that was said is stored, oldest first."""
        where = Where(layers=(Layer.EPISODE,), since=since)
        said = [r async for page in pages(self._store, tenant, where, archives=(False, True)) for r in page]
        return list(dict.fromkeys(r.source.event_id for r in sorted(said, key=order) if not r.digest_of))

    async def _everything(self, tenant: Tenant) -> list[MemoryRecord]:
        return [r async for page in pages(self._store, tenant, Where(), archives=(False, True)) for r in page]

    async def _restore(self, command: RestoreCommand, at: datetime) -> RestoreReceipt:
        tenant = command.tenant
        async with self._writer.locked(tenant):
            stored = await self._store.get(tenant, command.memory_ids)
            digests = [record for record in stored if record.memory_type is MemoryType.DIGEST]
            wanted = [record for record in stored if record.archived_at is not None and record not in digests]
            for digest in digests:
                wanted += decay.unfold(digest, await self._store.get(tenant, digest.digest_of))
            restored = {r.memory_id: r.model_copy(update={"archived_at": None, "last_access_time": at}) for r in wanted}
            await self._writer.resettle(tenant, list(restored.values()))
            # Once more, should a crash have come before they were moved.
            await self._store.move(tenant, [i for r in stored for i in (r.memory_id, *r.digest_of)], to_archive=False)
            undone = [digest.memory_id for digest in digests]
            await self._emitter.send([Outbound("records", memory_key(tenant, i), None) for i in undone])
            await self._store.delete(tenant, undone)
        found = {record.memory_id for record in stored}
        return RestoreReceipt(
            namespace=command.namespace,
            user_id=command.user_id,
            command_id=command.command_id,
            restored=tuple(restored),
            unknown=tuple(memory_id for memory_id in command.memory_ids if memory_id not in found),
        )


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
