"""The role `memory` in this process: its stages over a store in memory, records handed in one by one.

As in `tests.inprocess`, only the producer is a double: what is emitted is kept, and `supersede` comes back as a record.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from bench.memory_store import MemoryStore
from schemas import (
    Access,
    Candidate,
    CandidateEvent,
    DecayTick,
    ErasureReceipt,
    ForgetCommand,
    MemoryRecord,
    RestoreCommand,
    RestoreReceipt,
    Tenant,
    WireModel,
)
from streams.adapters.embedders.constant import ConstantEmbedder
from streams.agents.commands import CommandStage
from streams.agents.decay import DecayStage
from streams.agents.judging import Judging
from streams.agents.memory import AccessStage, RememberStage, SupersedeStage, TenantStage
from streams.agents.writer import Writer
from streams.compacted import is_memory
from streams.memory.decay import WINDOW
from streams.memory.redaction import Redactor, load_policy
from streams.outcome import Done, Outbound
from streams.ports import ChatModel, Embedder, Where
from streams.records import Inbound
from streams.settings import Settings
from streams.topics import shard_of
from tests.inprocess import Kept

TENANT = Tenant(namespace="shop", user_id="u")
REDACTOR = Redactor(load_policy(None))
REPLIES = "memory.replies.shared"
SETTINGS = Settings()


class Crash(Exception):
    """The process ends here."""


class MemoryRole:
    def __init__(self, embedder: Embedder | None = None, chat: ChatModel | None = None) -> None:
        """`chat`: the judge of what the rules can't tell. `retention`, `teller`: of the stages of the next `start`."""
        self.retention: dict[str, timedelta] = {}
        self.store = MemoryStore()
        self.embedder = embedder or ConstantEmbedder()
        self.chat = chat
        self.teller: ChatModel | None = None
        self.kept = Kept()
        self._writes_left = -1
        self._after_it = False
        for owner, names in ((self.store, ("upsert", "update", "move", "delete", "put_docs")), (self.kept, ("send",))):
            for name in names:
                setattr(owner, name, self._breakable(getattr(owner, name)))
        self.start()

    def crash_at(self, write: int, *, after_it: bool) -> None:
        """The write with this number, counted from 1, raises `Crash`, before or after it took effect. 0: never."""
        self._writes_left, self._after_it = write, after_it

    def _breakable(self, real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def write(*args: Any, **options: Any) -> Any:
            self._writes_left -= 1
            due = self._writes_left == 0
            if due and not self._after_it:
                raise Crash
            result = await real(*args, **options)
            if due:
                raise Crash
            return result

        return write

    def start(self) -> None:
        """A new process on the same store and log."""
        store, kept, embedder = self.store, self.kept, self.embedder
        self.judging = None if self.chat is None else Judging(self.chat, store, kept)  # type: ignore[arg-type]
        writer = Writer(
            store,
            embedder,
            kept,  # type: ignore[arg-type]
            REDACTOR,
            reply_allowed=lambda _: True,
            judging=self.judging,
        )
        self.stages: dict[str, TenantStage] = {
            "candidates": RememberStage(writer),
            "supersede": SupersedeStage(writer),
            "access": AccessStage(writer, store),
            "commands": CommandStage(writer, store, kept, SETTINGS, self.jobs),  # type: ignore[arg-type]
            "decay": DecayStage(writer, store, store, kept, embedder, self.retention, self.teller),  # type: ignore[arg-type]
        }

    async def hand_in(self, record: Inbound) -> tuple[Outbound, ...]:
        """Returns what its outcome emits (a reply)."""
        stage: Any = self.stages[record.topic]
        (outcome,) = await stage.handle([record])
        return outcome.emit if isinstance(outcome, Done) else ()

    async def hand_in_all(self, batch: Sequence[Inbound]) -> None:
        """Records of one topic at once."""
        stage: Any = self.stages[batch[0].topic]
        await stage.handle(batch)

    async def tell(self, topic: str, value: WireModel, at: datetime, offset: int = 0) -> tuple[Outbound, ...]:
        return await self.hand_in(inbound(topic, value, at, offset))

    async def drain(self) -> None:
        """Hand in what was emitted on `supersede` until nothing new comes."""
        while waiting := await self.emitted():
            for record in waiting:
                await self.hand_in(record)

    async def emitted(self) -> list[Inbound]:
        """What was emitted on `supersede` since the last time, the judge's answers among it."""
        if self.judging is not None:
            await self.judging.all_answered()
        waiting = [record for record in self.kept.records if record.topic == "supersede"]
        self.kept.records = [record for record in self.kept.records if record.topic != "supersede"]
        return [Inbound("supersede", 0, 0, datetime.min, r.key, r.value, r.headers) for r in waiting]

    async def window(self, end: datetime, tenant: Tenant = TENANT) -> None:
        await self.tell("decay", DecayTick(shard=shard_of(tenant), window_start=end - WINDOW, window_end=end), end)

    async def forget(self, at: datetime, command_id: str, scope: str, **what: Any) -> ErasureReceipt:
        fields = {"command_id": command_id, "scope": scope, "requested_at": at, **TENANT.model_dump(), **what}
        (reply,) = await self.tell("commands", ForgetCommand.model_validate(fields), at)
        return ErasureReceipt.from_bytes(reply.value or b"")

    async def restore(self, at: datetime, command_id: str, *ids: str) -> RestoreReceipt:
        command = RestoreCommand(command_id=command_id, requested_at=at, memory_ids=ids, **TENANT.model_dump())
        (reply,) = await self.tell("commands", command, at)
        return RestoreReceipt.from_bytes(reply.value or b"")

    async def access(self, at: datetime, offset: int, *ids: str) -> None:
        access = Access(memory_ids=ids, partition=0, offset=offset, accessed_at=at, **TENANT.model_dump())
        await self.tell("access", access, at)

    async def memories(self, tenant: Tenant = TENANT, *, archive: bool | None = None) -> dict[str, MemoryRecord]:
        """By id: of one collection, or of both."""
        found: dict[str, MemoryRecord] = {}
        for which in (False, True) if archive is None else (archive,):
            page, _ = await self.store.find(tenant, Where(), limit=1_000_000, archive=which)
            assert found.keys().isdisjoint(record.memory_id for record in page), "a memory is in one collection"
            found |= {record.memory_id: record for record in page}
        return found

    def log(self, tenant: Tenant = TENANT) -> dict[str, MemoryRecord]:
        """What the compacted topic `records` says of the memories of a tenant."""
        latest = self._latest("records", tenant)
        records = (MemoryRecord.from_bytes(value) for key, value in latest.items() if is_memory(key))
        return {record.memory_id: record for record in records}

    async def jobs(self, tenant: Tenant = TENANT) -> dict[bytes, bytes]:
        """What the compacted topic `jobs` holds of a tenant, by key."""
        return self._latest("jobs", tenant)

    def _latest(self, topic: str, tenant: Tenant) -> dict[bytes, bytes]:
        latest = {r.key: r.value for r in self.kept.records if r.topic == topic and r.key is not None}
        prefix = f"{tenant.key}/".encode()
        return {key: value for key, value in latest.items() if value is not None and key.startswith(prefix)}


def inbound(topic: str, value: WireModel, at: datetime, offset: int = 0) -> Inbound:
    key = (
        str(value.shard).encode() if isinstance(value, DecayTick) else f"{value.namespace}/{value.user_id}".encode()  # type: ignore[attr-defined]
    )
    headers = (("reply_to", REPLIES.encode()), ("correlation_id", b"c")) if topic == "commands" else ()
    return Inbound(topic, 0, offset, at, key, value.to_bytes(), headers)


def said(event_id: str, at: datetime, *candidates: Candidate, session: str = "s", **fields: Any) -> CandidateEvent:
    """An event as extraction hands it on, appended when it was said."""
    return CandidateEvent(
        event_id=event_id,
        session_id=session,
        candidates=candidates,
        digest=event_id,
        **{"occurred_at": at, "appended_at": at, **TENANT.model_dump(), **fields},
    )


def episode(text: str, message: int = 0, **fields: Any) -> Candidate:
    return Candidate(
        **{"layer": "episode", "memory_type": "episode", "importance": 1, "content": text, "message": message, **fields}
    )


def fact(text: str, **fields: Any) -> Candidate:
    return Candidate(**{"layer": "fact", "memory_type": "fact", "content": text, "message": 0, **fields})


def by_content(records: Iterable[MemoryRecord]) -> dict[str, MemoryRecord]:
    return {record.content: record for record in records}
