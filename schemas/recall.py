"""Request and reply: recall and its sister requests, and what became of an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from schemas.base import Instant, WireModel
from schemas.events import Message, TenantRecord, Zone
from schemas.memory import Layer, MemoryRecord, MemoryType

# A prompt holds no more.
MOST_TURNS = 50
RequestKind = Literal["recall", "get", "history", "profile", "export", "explain", "related", "turns"]
PromptRole = Literal["system", "user"]
# How one memory is linked to another, seen from the one that was asked about ("superseded_by": the other replaced it).
Link = Literal[
    "supersedes",
    "superseded_by",
    "duplicate_of",
    "repeated_by",
    "ambiguous",
    "correction",
    "digest_of",
    "in_digest",
    "same_event",
    "shared_entity",
]


class RecallRequest(TenantRecord):
    """On `recall.requests`. `query` or `messages` (the last turns of a dialogue) for kind "recall".

    `deadline` is absolute: a request past it is dropped and counted. `now` is the asker's clock (default: the
    append time) for "last week" and recency. "explain" takes what a recall takes and the id of one memory. "turns"
    takes a session in `turns_of`; a recall that has it answers with the last turns beside the memories.

    >>> RecallRequest(namespace="shop", user_id="1", query="Which seat does she like?").top_k
    5
    """

    kind: RequestKind = "recall"
    query: str = Field(default="", max_length=32_000)
    messages: tuple[Message, ...] = ()
    top_k: int = Field(default=5, ge=1, le=50)
    layers: tuple[Layer, ...] = ()
    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    session_id: str | None = None
    # The session whose last turns are wanted, and how many of them.
    turns_of: str | None = Field(default=None, min_length=1, max_length=512)
    turns: int = Field(default=10, ge=1, le=MOST_TURNS)
    since: Instant | None = None
    until: Instant | None = None
    as_of: Instant | None = None
    about: str | None = None
    include_superseded: bool = False
    include_archived: bool = False
    explain: bool = False
    format: Literal["memories", "prompt"] = "memories"
    # The message that the block goes into, which decides how it introduces itself.
    prompt_role: PromptRole = "system"
    memory_ids: Annotated[tuple[str, ...], Field(max_length=1000)] = ()
    deadline: Instant | None = None
    now: Instant | None = None
    timezone: Zone | None = None
    # Benches, doctor and export set this to False.
    reinforce: bool = True
    # For measurement: also what is below the calibrated relevance.
    threshold: bool = True

    @model_validator(mode="after")
    def _something_to_look_for(self) -> RecallRequest:
        asks = bool(self.query.strip()) or any(m.text.strip() for m in self.messages)
        if self.kind in ("recall", "explain") and not asks:
            raise ValueError(f"{self.kind} needs a query or messages")
        if self.kind in ("get", "history") and not self.memory_ids:
            raise ValueError(f"{self.kind} needs memory_ids")
        if self.kind in ("explain", "related") and len(self.memory_ids) != 1:
            raise ValueError(f"{self.kind} needs one id in memory_ids")
        if self.kind == "turns" and self.turns_of is None:
            raise ValueError("turns needs a session in turns_of")
        return self


class Turn(Message):
    """A message of a session as it is remembered: redacted, and without what was not worth keeping.

    `message`: its place in the event.
    """

    event_id: str
    message: int = 0


class RecalledMemory(WireModel):
    """A memory with its score. `parts` has each part of the score when `explain` was asked for.

    `links`: how it is linked to the memory that kind "related" asked about; empty for that memory itself.
    """

    memory: MemoryRecord
    score: float
    relevance: float
    parts: Mapping[str, float] = Field(default_factory=dict)
    why: str = ""
    links: tuple[Link, ...] = ()


class RecallReply(WireModel):
    """`memories` best first, `turns` oldest first. `degraded` names what was left out ("dense" when the model was slow
    or down, "rewrite" when the chat model was).

    Kind "explain" has the one memory (none: the tenant has no such memory), its `rank` in the answer, from 1, and in
    `kept_out` each reason in words why it is not in the answer.

    `part`/`parts`: a large answer (export) comes in several replies with the same correlation id, numbered from 0.
    """

    kind: RequestKind = "recall"
    memories: tuple[RecalledMemory, ...] = ()
    turns: tuple[Turn, ...] = ()
    prompt: str | None = None
    rank: int | None = None
    kept_out: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    timings_ms: Mapping[str, float] = Field(default_factory=dict)
    part: int = 0
    parts: int = 1


class ErrorReply(WireModel):
    """A typed failure. `code`: bad_request, deadline_exceeded, unavailable, too_large, internal."""

    error: Literal["bad_request", "deadline_exceeded", "unavailable", "too_large", "internal"]
    detail: str = ""
    retry_after_seconds: float | None = None


class EventOutcome(TenantRecord):
    """The reply to a published event that asked for one: its receipt and what it became."""

    event_id: str
    outcome: Literal["stored", "duplicate", "skipped", "parked"]
    stage: str = ""
    reason: str = ""
    memories: tuple[MemoryRecord, ...] = ()
    extra: Mapping[str, Any] = Field(default_factory=dict)
