"""Records that carry ids, scopes and outcomes, never text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from schemas.base import Instant, WireModel
from schemas.events import EventId, ReExtraction, TenantRecord
from schemas.memory import MemoryRecord


class Supersede(TenantRecord):
    """`new_id` replaces `old_id` as of `occurred_at`. `inferred`: decided by settling, not sent by a client.

    A client's wins over inferences dated up to its own time. An unknown id stays pending until it appears.
    """

    old_id: str
    new_id: str
    occurred_at: Instant
    inferred: bool = False
    reason: str = ""

    @property
    def directive_id(self) -> str:
        """The pair and its time: a client may say of a pair, later, what a correction said already.

        A marker of erasure does not take the place of what a client said, nor the other way round.
        """
        return f"{self.old_id}>{self.new_id}@{self.occurred_at.isoformat()}{'*' if self.inferred else ''}"


class PairVerdict(TenantRecord):
    """What a chat model said of two statements that the rules can't tell. Comes on `supersede`, then stands on
    `records` beside the memories, key: tenant key + "/verdict:" and both ids. "ambiguous": it could not tell either."""

    older: str
    newer: str
    label: Literal["duplicate", "supersede", "independent", "ambiguous"]
    model: str = ""
    prompt_version: str = ""


class ForgetCommand(TenantRecord):
    """Erase. Exactly one scope; `since`/`until` bound the event time of what goes."""

    kind: Literal["forget"] = "forget"
    command_id: EventId
    scope: Literal["all", "interval", "session", "events", "memories"]
    requested_at: Instant
    since: Instant | None = None
    until: Instant | None = None
    session_id: str | None = None
    event_ids: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()


class RestoreCommand(TenantRecord):
    """Bring archived memories back."""

    kind: Literal["restore"] = "restore"
    command_id: EventId
    requested_at: Instant
    memory_ids: tuple[str, ...] = Field(min_length=1)


class ReExtractCommand(TenantRecord):
    """Extract the facts of events anew, from their stored episodes, although the first extraction stands.

    `event_ids`: () means all of the user's; `since` bounds the time of what was said.
    """

    kind: Literal["re-extract"] = "re-extract"
    command_id: EventId
    requested_at: Instant
    since: Instant | None = None
    event_ids: tuple[str, ...] = ()


Command = Annotated[ForgetCommand | RestoreCommand | ReExtractCommand, Field(discriminator="kind")]
COMMANDS: TypeAdapter[ForgetCommand | RestoreCommand | ReExtractCommand] = TypeAdapter(Command)
# What `records` holds. The key tells which, and so does the header `ce_type`: `record`, `directive`, `verdict`.
RECORDS: TypeAdapter[MemoryRecord | Supersede | PairVerdict] = TypeAdapter(MemoryRecord | Supersede | PairVerdict)


class Access(TenantRecord):
    """Memories that one recall returned. `partition` and `offset` of its request make a redelivery count once."""

    memory_ids: tuple[str, ...]
    partition: int
    offset: int
    accessed_at: Instant


class DecayTick(WireModel):
    """Window `[window_start, window_end)` is over for `shard`."""

    shard: int = Field(ge=0, lt=64)
    window_start: Instant
    window_end: Instant


class Fence(TenantRecord):
    """What is forgotten and must not come back. Scopes as in `ForgetCommand`; `until` is exclusive."""

    fence_id: str
    scope: Literal["all", "interval", "session", "events", "memories"]
    since: Instant | None = None
    until: Instant | None = None
    session_id: str | None = None
    ids: tuple[str, ...] = ()
    created_at: Instant


class Receipt(TenantRecord):
    """The one outcome of an event. Key: tenant key + "/" + percent-encoded event id."""

    event_id: str
    outcome: Literal["stored", "duplicate", "skipped", "parked"]
    stage: str = ""
    reason: str = ""
    memory_ids: tuple[str, ...] = ()
    digest: str = ""
    policy_version: str = ""
    occurred_at: Instant | None = None
    appended_at: Instant | None = None
    # By which command its facts were extracted last; None: the first extraction stands.
    re_extraction: ReExtraction | None = None


class Job(TenantRecord):
    """An import of conversations. What became of them is in their receipts; nothing is counted twice.

    `event_ids` are those that nobody had sent before, `known` how many others there were. `refused` counts what never
    became an event, by "stage:reason". `receipts_from`: where each partition of `receipts` ended when it began.
    `sent`: Kafka has all of its events.
    """

    job_id: EventId
    state: Literal["running", "cancelled"]
    event_ids: tuple[str, ...] = ()
    known: int = Field(default=0, ge=0)
    refused: Mapping[str, int] = Field(default_factory=dict)
    receipts_from: Mapping[int, int] = Field(default_factory=dict)
    sent: bool = False
    started_at: Instant
    updated_at: Instant


class ErasureReceipt(TenantRecord):
    """The answer to a `ForgetCommand`: what was removed where, and until when a topic with a retention keeps text.

    `removed` counts memories by where they stood (`active`, `duplicate`, `superseded`, `archived`); `import_tasks`
    those whose record went as well.
    """

    command_id: str
    fence_id: str
    removed: Mapping[str, int] = Field(default_factory=dict)
    import_tasks: int = Field(default=0, ge=0)
    kept_until: Mapping[str, Instant] = Field(default_factory=dict)


class RestoreReceipt(TenantRecord):
    """The answer to a `RestoreCommand`."""

    command_id: str
    restored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class ReExtractReceipt(TenantRecord):
    """The answer to a `ReExtractCommand`: which events are on their way to extraction.

    When an event is through its `Receipt` names the command. `not_rebuilt` events stay as they are, since nothing of
    what was said is stored; `without_text` names them, at most 1,000.
    """

    command_id: str
    event_ids: tuple[str, ...] = ()
    not_rebuilt: int = Field(default=0, ge=0)
    without_text: tuple[str, ...] = ()
