"""Request and reply: recall and its sister requests, and what became of an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from schemas.base import Instant, WireModel
from schemas.events import Message, TenantRecord, Zone
from schemas.memory import Layer, MemoryRecord, MemoryType


class RecallRequest(TenantRecord):
    """On `recall.requests`. `query` or `messages` (the last turns of a dialogue) for kind "recall".

    `deadline` is absolute: a request past it is dropped and counted. `now` is the asker's clock (default: the
    append time) for "last week" and recency.

    >>> RecallRequest(namespace="shop", user_id="1", query="Which seat does she like?").top_k
    5
    """

    kind: Literal["recall", "get", "history", "profile", "export"] = "recall"
    query: str = Field(default="", max_length=32_000)
    messages: tuple[Message, ...] = ()
    top_k: int = Field(default=5, ge=1, le=50)
    layers: tuple[Layer, ...] = ()
    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    session_id: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    as_of: Instant | None = None
    about: str | None = None
    include_superseded: bool = False
    include_archived: bool = False
    explain: bool = False
    format: Literal["memories", "prompt"] = "memories"
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
        if self.kind == "recall" and not self.query.strip() and not any(m.text.strip() for m in self.messages):
            raise ValueError("a recall needs a query or messages")
        if self.kind in ("get", "history") and not self.memory_ids:
            raise ValueError(f"{self.kind} needs memory_ids")
        return self


class RecalledMemory(WireModel):
    """A memory with its score. `parts` has each part of the score when `explain` was asked for."""

    memory: MemoryRecord
    score: float
    relevance: float
    parts: Mapping[str, float] = Field(default_factory=dict)
    why: str = ""


class RecallReply(WireModel):
    """`memories` best first. `degraded` names what was left out ("dense" when the model was slow or down).

    `part`/`parts`: a large answer (export) comes in several replies with the same correlation id, numbered from 0.
    """

    kind: Literal["recall", "get", "history", "profile", "export"] = "recall"
    memories: tuple[RecalledMemory, ...] = ()
    prompt: str | None = None
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
