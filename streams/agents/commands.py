"""commands -> memory: forget (`erasure`), restore and re-extract. Erasure wins over everything that arrives later.

A re-extract puts events on `redacted` once more; what the stage `extract` makes of them comes back on `candidates`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

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
    Tenant,
)
from schemas.control import COMMANDS
from streams.agents.erasure import Eraser, with_what_stands_behind
from streams.agents.memory import TenantStage
from streams.agents.re_extraction import event_again, of_event
from streams.agents.writer import Writer
from streams.batches import batched
from streams.emitter import Emitter
from streams.errors import BadData
from streams.memory import decay
from streams.memory.fences import fence_of
from streams.memory.settle.order import order
from streams.outcome import Done, Outbound, Outcome, Parked
from streams.paging import everything
from streams.ports import Doc, MemoryStore, Where
from streams.records import Inbound, check_key, cloud_event, reply_to
from streams.settings import Settings
from streams.topics import TOPICS, memory_key

# Of a re-extraction: read and sent together.
EVENTS_AT_ONCE = 100
# Names of events that can't be extracted again, in one answer; all of them are counted.
MOST_NAMED = 1000
# Kind of the documents that say what became of a command.
ANSWERS = "answer"
# In such a document: which command it was, by its digest.
ASKED = "asked"
# Kind of the documents that say what a "forget" found: after a crash it is gone and can't be counted again.
FOUND = "found"

Answer = TypeVar("Answer", ErasureReceipt, RestoreReceipt, ReExtractReceipt)


def _asked(command: Command) -> str:
    return hashlib.sha256(command.model_dump_json(exclude={"requested_at"}).encode()).hexdigest()


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
        self._eraser = Eraser(writer, store, emitter)

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
        body = {**answer.model_dump(mode="json", exclude_none=True), ASKED: _asked(command)}
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
        imported again on purpose, what went to the archive since. Another command under its id is bad data: its sender
        would take the answer for its own."""
        known = await self._store.get_docs(command.tenant, ANSWERS, [command.command_id])
        if not known:
            return None
        asked = _asked(command)
        if known[0].body.get(ASKED, asked) != asked:
            raise BadData("command_id_reused")
        return model.model_validate(known[0].body)

    async def _forget(self, command: ForgetCommand, at: datetime) -> ErasureReceipt:
        if command.scope == "session" and command.session_id is None:
            raise BadData("bad_schema", "session_id")
        tenant = command.tenant
        # Ids of imported events are digests of what was said. Of a task that began later nothing was asked.
        jobs = await self._jobs_of(tenant) if command.scope == "all" else {}
        finished = sorted(key for key, value in jobs.items() if Job.from_bytes(value).started_at <= at)
        known = await self._store.get_docs(tenant, "fence", [command.command_id])
        counted = await self._store.get_docs(tenant, FOUND, [command.command_id])

        def drawn(had: Sequence[MemoryRecord]) -> Fence:
            if known:
                return Fence.model_validate(known[0].body)
            # What came after the command is none of its business, however late it is carried out.
            newest = max((r.occurred_at for r in had if r.created_at <= at), default=None)
            return with_what_stands_behind(fence_of(command, newest, at), had)

        def noted(doomed: Sequence[MemoryRecord]) -> Sequence[Doc]:
            removed = dict(Counter(record.status.value for record in doomed))
            body = {"removed": removed, "import_tasks": len(finished)}
            return () if counted else (Doc(FOUND, command.command_id, body),)

        fence, _ = await self._eraser.erase(tenant, drawn, noted)
        # They go once they are noted: after a crash in between they are still found.
        await self._emitter.send([Outbound("jobs", key, None) for key in finished])
        (found,) = await self._store.get_docs(tenant, FOUND, [command.command_id])
        # Until now a recall could still answer with what is gone.
        now = max(at, datetime.now(UTC))
        return ErasureReceipt(
            namespace=command.namespace,
            user_id=command.user_id,
            command_id=command.command_id,
            fence_id=fence.fence_id,
            removed=found.body["removed"],
            import_tasks=found.body["import_tasks"],
            kept_until={
                self._settings.topic_prefix + topic.name: now + kept
                for topic in TOPICS
                if (kept := topic.keeps_text) is not None
            },
        )

    async def _re_extract(self, command: ReExtractCommand, at: datetime) -> ReExtractReceipt:
        tenant = command.tenant
        anew = ReExtraction(command_id=command.command_id, at=at)
        timezone = self._settings.timezone_of(tenant.namespace)
        sent: list[str] = []
        without_text: list[str] = []
        async with self._writer.locked(tenant):
            wanted = command.event_ids or await self._events_since(tenant, command.since)
            for event_ids in batched(wanted, EVENTS_AT_ONCE):
                receipts = await self._writer.receipts(tenant, event_ids)
                again: list[Outbound] = []
                for event_id in event_ids:
                    stored = await of_event(self._store, tenant, event_id) if event_id in receipts else []
                    said = [r for r in stored if r.layer is Layer.EPISODE]
                    if not said:
                        without_text.append(event_id)
                    elif command.since is None or said[0].occurred_at >= command.since:
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
            not_rebuilt=len(without_text),
            without_text=tuple(without_text[:MOST_NAMED]),
        )

    async def _events_since(self, tenant: Tenant, since: datetime | None) -> list[str]:
        """Of which anything is stored, oldest first."""
        stored = await everything(self._store, tenant, Where(since=since))
        return list(dict.fromkeys(r.source.event_id for r in sorted(stored, key=order) if not r.digest_of))

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
