"""Shapes of requests and answers. An unknown field of a request is an error: a misspelt filter would widen it."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from schemas import EventOutcome, Instant, Layer, MemoryRecord, MemoryStatus, MemoryType, Message, Name, Source, TimeRef
from schemas.events import Zone
from schemas.recall import MOST_TURNS, PromptRole, RecalledMemory
from streams.http.wish import event, wish
from streams.imports.conversations import Conversation, Unread, Unusable, decoded
from streams.imports.formats import Format, read
from streams.imports.jsonl import conversation
from streams.imports.task import MOST_CONVERSATIONS
from streams.profile import Profile as WhatHolds

UserId = Annotated[
    Name,
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "minLength": 1, "maxLength": 256}, {"type": "integer"}],
            "description": 'One user; 1001 and "1001" are the same. Blanks, wildcards and lists are refused.',
            "examples": ["1001"],
        }
    ),
]
Namespace = Annotated[Name | None, Field(description="Default: that of the API key.", examples=["default"])]
MemoryIds = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=512)], ...], Field(max_length=1000)]


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: UserId
    namespace: Namespace = None


class Turn(BaseModel):
    """One message, as chat APIs write it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["user", "assistant", "system", "tool"] = "user"
    content: str = Field(min_length=1)
    name: str | None = Field(default=None, max_length=256, description="Display name of who spoke.")
    time: Instant | None = None

    @classmethod
    def of(cls, message: Message) -> Self:
        return cls(role=message.role, content=message.text, name=message.speaker, time=message.time)

    def message(self) -> Message:
        return Message(role=self.role, text=self.content, speaker=self.name, time=self.time)


class Said(Request):
    """Text that is redacted and extracted: what `write` and `update` share."""

    session_id: str = Field(default="", max_length=512)
    time: Instant | None = Field(default=None, description="When it was said. Default: when it arrives.")
    timezone: Zone | None = Field(default=None, description="For relative dates.", examples=["Asia/Shanghai"])
    importance_threshold: float | None = Field(
        default=None, ge=0, le=1, description="Nothing below it is kept; compared with importance / 5."
    )
    wait: bool = Field(default=True, description="False: answer as soon as Kafka has it, with status `queued`.")

    def fields(self) -> dict[str, Any]:
        """As fields of a `ConversationEvent`."""
        least = None if self.importance_threshold is None else self.importance_threshold * 5
        return {
            "user_id": self.user_id,
            "session_id": self.session_id,
            "occurred_at": self.time,
            "timezone": self.timezone,
            "min_importance": least,
        }


class Write(Said):
    """`conversation` (one text of the user) or `messages`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "user_id": "1001",
                    "namespace": "default",
                    "conversation": "我下周三下午要去北京见客户，需要提前订高铁票，靠窗座位。",
                    "importance_threshold": 0.5,
                }
            ]
        }
    )

    conversation: str | None = None
    messages: tuple[Turn, ...] = Field(default=(), max_length=1000)

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if bool(self.messages) == bool((self.conversation or "").strip()):
            raise ValueError("give either conversation (a text) or messages (a list)")
        return self

    def said(self) -> list[Message]:
        return [turn.message() for turn in self.messages] or [Message(text=self.conversation or "")]


class Update(Said):
    """New text in the place of a memory."""

    memory_id: str = Field(min_length=1, max_length=512)
    content: str = Field(min_length=1)


class Filters(BaseModel):
    """All that are given must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    types: tuple[MemoryType, ...] = ()
    layers: tuple[Layer, ...] = ()
    tags: tuple[str, ...] = Field(default=(), max_length=100)
    session_id: str | None = None
    since: Instant | None = Field(default=None, description="Said at or after this time.")
    until: Instant | None = Field(default=None, description="Said before this time.")

    def match(self, memory: MemoryRecord) -> bool:
        return (
            (not self.types or memory.memory_type in self.types)
            and (not self.layers or memory.layer in self.layers)
            and (not self.tags or bool(set(self.tags) & set(memory.tags)))
            and (self.session_id is None or memory.session_id == self.session_id)
            and (self.since is None or memory.occurred_at >= self.since)
            and (self.until is None or memory.occurred_at < self.until)
        )


class QueryFilters(Filters):
    about: str | None = Field(default=None, description="A name that the memory must be about.")
    include_superseded: bool = False
    include_archived: bool = False


SessionId = Annotated[str, Field(min_length=1, max_length=512)]
Turns = Annotated[int, Field(ge=1, le=MOST_TURNS)]


class AskedTurns(Request):
    session_id: SessionId
    limit: Turns = 10


class Query(Request):
    """`query` (a question) or `messages` (the last turns of a dialogue)."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_id": "1001", "query": "出差订票要注意什么？"}]})

    query: str = Field(default="", max_length=32_000)
    messages: tuple[Turn, ...] = Field(default=(), max_length=100)
    top_k: int = Field(default=5, ge=1, le=50)
    filters: QueryFilters = QueryFilters()
    as_of: Instant | None = Field(default=None, description="What was known to hold at that time.")
    timezone: Zone | None = None
    explain: bool = False
    format: Literal["memories", "prompt"] = "memories"
    prompt_role: PromptRole = Field(default="system", description="The message that the block goes into.")
    turns_of: SessionId | None = Field(default=None, description="A session whose last turns come with the answer.")
    turns: Turns = Field(default=10, description="How many of them.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if bool(self.messages) == bool(self.query.strip()):
            raise ValueError("give either query (a text) or messages (a list)")
        return self

    def options(self) -> dict[str, Any]:
        """As options of `MemoryClient.recall`."""
        return {
            "query": self.query,
            "messages": tuple(turn.message() for turn in self.messages),
            "top_k": self.top_k,
            "as_of": self.as_of,
            "timezone": self.timezone,
            "explain": self.explain,
            "format": self.format,
            "prompt_role": self.prompt_role,
            "turns_of": self.turns_of,
            "turns": self.turns,
            **self.filters.model_dump(exclude_none=True),
        }


class Delete(Request):
    """`memory_ids`, or `filters` over what is remembered now."""

    memory_ids: MemoryIds = ()
    filters: Filters | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        given = self.filters is not None and bool(self.filters.model_dump(exclude_none=True, exclude_defaults=True))
        # A filter that names nothing would match everything: it is none, and stands beside no ids either.
        if bool(self.memory_ids) == given or (self.filters is not None and not given):
            raise ValueError("give either memory_ids or at least one filter; /memory/forget erases everything")
        return self


class Forget(Request):
    """Exactly one scope. What is erased stays away: no later delivery, replay or import brings it back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_id": "1001", "everything": True}]})

    everything: bool = False
    since: Instant | None = None
    until: Instant | None = None
    session_id: str | None = Field(default=None, max_length=512)
    event_ids: tuple[str, ...] = Field(default=(), max_length=1000)

    @model_validator(mode="after")
    def _one_scope(self) -> Self:
        interval = self.since is not None or self.until is not None
        if sum((self.everything, interval, self.session_id is not None, bool(self.event_ids))) != 1:
            raise ValueError("give exactly one of everything: true, since/until, session_id, event_ids")
        return self


class Restore(Request):
    memory_ids: MemoryIds = Field(min_length=1)


class Export(Request):
    pass


ConversationItem = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "object",
            "description": "`text`, or `messages` of `role`, `text`, `time`, `speaker`. `time`: ISO 8601 or seconds.",
            "properties": {
                "time": {"anyOf": [{"type": "string"}, {"type": "number"}]},
                "text": {"type": "string"},
                "messages": {"type": "array", "items": {"type": "object"}},
                "session_id": {"type": "string"},
                "role": {"type": "string"},
                "speaker": {"type": "string"},
            },
            "additionalProperties": False,
            "examples": [{"time": "2026-03-02T09:00:00+08:00", "text": "我搬到杭州了"}],
        }
    ),
]


class ImportOptions(Request):
    """What an import has, however its conversations come."""

    timezone: Zone | None = Field(default=None, description="Of times without an offset, and for relative dates.")
    preview: bool = Field(default=False, description="True: tell what would be read as whose words; send nothing.")
    after_forget: bool = Field(default=False, description="True: also what the user had forgotten, by time or session.")
    in_background: bool = Field(
        default=True, alias="async", description="False: answer when all have an outcome, or at the deadline."
    )

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone or "UTC")


class Import(ImportOptions):
    """A history. An item that can't be used is counted as failed and stops no other."""

    conversations: tuple[ConversationItem, ...] = Field(min_length=1, max_length=MOST_CONVERSATIONS)

    def read(self) -> tuple[Format, Iterator[Conversation | Unread]]:
        return "jsonl", self._found()

    def _found(self) -> Iterator[Conversation | Unread]:
        for number, item in enumerate(self.conversations):
            where = f"conversations.{number}"
            try:
                yield conversation(item, where, self.zone)
            except Unusable as error:
                yield Unread(where, str(error))


class ImportFile(ImportOptions):
    """A history as another program wrote it: UTF-8, in a form."""

    file: Annotated[bytes, WithJsonSchema({"type": "string", "format": "binary"})]
    format: Format = Field(default="auto", description="What the file is; `auto` looks at how it begins.")

    def read(self) -> tuple[Format, Iterator[Conversation | Unread]]:
        """Raises `Unusable` for a file that is no text."""
        text = decoded(self.file).removeprefix("\ufeff")
        return read(io.StringIO(text, newline="\n"), self.format, self.zone)


# Answers


class Memory(BaseModel):
    """What is remembered, without what only the pipeline needs."""

    model_config = ConfigDict(from_attributes=True)

    memory_id: str
    content: str
    memory_type: MemoryType
    layer: Layer
    importance: float
    tags: tuple[str, ...] = ()
    event: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    polarity: Literal["positive", "negative"] = "positive"
    emotion: str | None = None
    entities: tuple[str, ...] = ()
    time: TimeRef | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    occurred_at: Instant
    created_at: Instant
    updated_at: Instant | None = None
    last_access_time: Instant | None = None
    access_count: int = 0
    status: MemoryStatus
    duplicate_of: str | None = None
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    reason: str = ""
    session_id: str = ""
    role: str = "user"
    speaker: str | None = None
    sources: tuple[Source, ...] = ()

    @classmethod
    def of(cls, record: MemoryRecord) -> Self:
        return cls.model_validate(record)


class Found(Memory):
    """`parts` and `why` with `explain`."""

    score: float
    relevance: float
    parts: Mapping[str, float] | None = None
    why: str | None = None

    @classmethod
    def of_recall(cls, found: RecalledMemory) -> Self:
        return cls(
            **Memory.of(found.memory).model_dump(),
            score=found.score,
            relevance=found.relevance,
            parts=found.parts or None,
            why=found.why or None,
        )


class Extracted(BaseModel):
    """The first memory in three words: what happens, when (as said), what is wished for."""

    event: str | None = None
    time: str | None = None
    need: str | None = None

    @classmethod
    def of(cls, record: MemoryRecord) -> Self:
        said = record.time.text if record.time else ""
        return cls(
            event=record.event or event(record.content),
            time=said or None,
            need=wish(record.content),
        )


class Written(BaseModel):
    """`skipped`: nothing worth keeping, `reason` says why. `queued`: Kafka has it and it will be handled."""

    status: Literal["stored", "duplicate", "skipped", "queued"]
    event_id: str
    memory_id: str | None = None
    memories: list[Memory] = []
    extracted: Extracted | None = None
    reason: str | None = None

    @classmethod
    def of(cls, outcome: EventOutcome) -> Self:
        if outcome.outcome == "parked":
            raise ValueError("a parked event is a problem, not an answer")
        first = next(iter(sorted(outcome.memories, key=lambda memory: memory.layer is not Layer.FACT)), None)
        return cls(
            status=outcome.outcome,
            event_id=outcome.event_id,
            memory_id=first.memory_id if first else None,
            memories=[Memory.of(memory) for memory in outcome.memories],
            extracted=Extracted.of(first) if first else None,
            reason=outcome.reason or None,
        )


class LastTurns(BaseModel):
    """Oldest first, as chat APIs take messages. Redacted; small talk is not there."""

    turns: list[Turn]


class Answer(BaseModel):
    """Best first; empty when nothing relevant is remembered. `degraded`: what was left out to answer in time.

    `turns` with `turns_of`, oldest first.
    """

    memories: list[Found]
    turns: list[Turn] | None = None
    prompt: str | None = None
    degraded: tuple[str, ...] = ()


class Profile(BaseModel):
    """What holds now, by type."""

    user_id: str
    namespace: str
    memories: dict[MemoryType, list[Memory]]

    @classmethod
    def of(cls, namespace: str, user_id: str, records: Sequence[MemoryRecord]) -> Self:
        grouped = WhatHolds(records).by_type.items()
        memories = {memory_type: [Memory.of(record) for record in found] for memory_type, found in grouped}
        return cls(user_id=user_id, namespace=namespace, memories=memories)


class Chain(BaseModel):
    """Oldest first: what the memory replaced, the memory, what replaced it."""

    memories: list[Memory]


class Erased(BaseModel):
    """`removed` counts memories by where they stood. `kept_until`: when topics with a retention lose the text.

    `queued`: no receipt came in time; it is on its way and will be carried out.
    """

    status: Literal["erased", "queued"]
    removed: Mapping[str, int] = {}
    kept_until: Mapping[str, Instant] = {}

    @classmethod
    def together(cls, parts: Sequence[Erased]) -> Self:
        """Of one request that took several commands, or none."""
        removed: Counter[str] = Counter()
        kept_until: dict[str, Instant] = {}
        for part in parts:
            removed.update(part.removed)
            kept_until |= part.kept_until  # each command is later than the one before
        all_done = all(part.status == "erased" for part in parts)
        return cls(status="erased" if all_done else "queued", removed=removed, kept_until=kept_until)


class Restored(BaseModel):
    status: Literal["restored", "queued"]
    restored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
