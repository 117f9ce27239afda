"""The state of one memory, as it stands on `records` and in the store."""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from pydantic import Field

from schemas.base import Instant, Name, WireModel
from schemas.tenant import Tenant, tenant_of


class Layer(StrEnum):
    FACT = "fact"
    EPISODE = "episode"


class MemoryType(StrEnum):
    PREFERENCE = "preference"
    FACT = "fact"
    PROGRESS = "progress"
    TASK = "task"
    EPISODE = "episode"
    DIGEST = "digest"


class MemoryStatus(StrEnum):
    ACTIVE = "active"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


class Source(WireModel):
    """Where a memory comes from: `start`/`end` are character offsets in the redacted text of message `message`."""

    event_id: str
    message: int = 0
    start: int = 0
    end: int = 0


class TimeRef(WireModel):
    """A time phrase and what it resolved to: `[start, end)` in UTC, either side open."""

    text: str = ""
    start: Instant | None = None
    end: Instant | None = None
    granularity: str = ""


class Statement(WireModel):
    """What is said: shared by a candidate (not yet settled) and a memory (settled)."""

    layer: Layer
    content: str = Field(min_length=1)
    memory_type: MemoryType
    importance: float = Field(default=3, ge=1, le=5)
    tags: tuple[str, ...] = ()
    event: str | None = None
    # `subject` is "user" for the user themself, else the name as said. (subject, attribute) is the slot.
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    polarity: Literal["positive", "negative"] = "positive"
    # A single-valued slot has one current value (city, employer); a multi-valued one accumulates (likes).
    cardinality: Literal["single", "multi"] = "multi"
    # "retract" ends what it names without a new value; "correct" says that an earlier statement was wrong.
    operation: Literal["assert", "retract", "correct"] = "assert"
    # The old value that a correction or a succession names ("not Tuesday but Wednesday": "Tuesday").
    replaced_value: str | None = None
    # "this week only": holds inside [valid_from, valid_until) and then the older statement is current again.
    temporary: bool = False
    emotion: str | None = None
    entities: tuple[str, ...] = ()
    time: TimeRef | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    role: Literal["user", "assistant", "system", "tool"] = "user"
    speaker: str | None = None
    lang: str = "en"


@lru_cache(maxsize=65_536)
def slot_of(subject: str | None, attribute: str | None) -> str | None:
    """Case and width do not make two slots of one. None without an attribute."""
    if not attribute:
        return None
    return "|".join(unicodedata.normalize("NFKC", part).casefold().strip() for part in (subject or "user", attribute))


class MemoryRecord(Statement):
    """One memory. Key on `records`: the memory id's tenant key + "/" + memory id.

    `status` and the links are derived by `streams.memory.settle` from everything known of the neighbourhood.
    What depends on the clock alone (scheduled, expired, effective importance) is computed when read.

    >>> MemoryRecord(memory_id="mem_0", namespace="shop", user_id="1", layer="fact", content="User lives in Bonn",
    ...     memory_type="fact", subject="user", attribute="city", value="Bonn", session_id="s",
    ...     occurred_at="2026-01-01T00:00:00Z", created_at="2026-01-01T00:00:01Z", sources=[{"event_id": "e1"}]).status
    <MemoryStatus.ACTIVE: 'active'>
    """

    memory_id: str
    namespace: Name
    user_id: Name
    session_id: str = ""
    # Orders the turns of a session: microseconds of the message's time since the epoch.
    sequence: int = 0
    occurred_at: Instant
    created_at: Instant
    updated_at: Instant | None = None
    last_access_time: Instant | None = None
    access_count: int = Field(default=0, ge=0)
    # Offsets of the latest counted recall requests, so that a redelivered access counts once.
    access_marks: tuple[int, ...] = ()
    status: MemoryStatus = MemoryStatus.ACTIVE
    duplicate_of: str | None = None
    superseded_by: str | None = None
    # When what replaced it began to hold: with `valid_from` and `valid_until` it answers "as of".
    superseded_at: Instant | None = None
    # End of the window that archived it; the status says so until it is restored, accessed or said again.
    archived_at: Instant | None = None
    supersedes: tuple[str, ...] = ()
    # Ids that a client named as replaced when it sent this text (a correction).
    replaces: tuple[str, ...] = ()
    ambiguous_with: tuple[str, ...] = ()
    # A correction and what it is about, on both sides, whether or not it took effect: settled together.
    linked: tuple[str, ...] = ()
    # Ids of the episodes that a digest stands for.
    digest_of: tuple[str, ...] = ()
    reason: str = ""
    # The own source first, then those of the memories that repeat this one.
    sources: tuple[Source, ...] = ()
    shard: int = 0
    policy_version: str = ""
    extractor_version: str = ""
    prompt_version: str = ""
    embedding_model: str = ""

    @property
    def tenant(self) -> Tenant:
        return tenant_of(self.namespace, self.user_id)

    @property
    def slot(self) -> str | None:
        """What a statement is about: indexed, and the neighbourhood in which conflicts are settled."""
        return slot_of(self.subject, self.attribute)

    @property
    def source(self) -> Source:
        """The item's own place: with the event time and id it fixes the order of settling."""
        return self.sources[0]
