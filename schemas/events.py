"""One event on its way: conversation -> redacted -> candidates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from schemas.base import Instant, Name, WireModel
from schemas.memory import Statement, TimeRef
from schemas.tenant import Tenant, tenant_of

__all__ = ["Candidate", "CandidateEvent", "ConversationEvent", "Message", "ReExtraction", "RedactedEvent", "TimeRef"]


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("must be an IANA time zone such as Asia/Shanghai") from None
    return value


def _event_id(value: str) -> str:
    if not value.strip() or re.search(r"[\x00-\x1f]", value):
        raise ValueError("must not be blank or contain control characters")
    return value


Zone = Annotated[str, AfterValidator(_zone)]
Role = Literal["user", "assistant", "system", "tool"]
EventId = Annotated[str, Field(min_length=1, max_length=512), AfterValidator(_event_id)]


class Message(WireModel):
    """One turn. `speaker` is a display name ("Caroline"); `time` is when it was said, if known."""

    role: Role = "user"
    text: str
    speaker: str | None = Field(default=None, max_length=256)
    time: Instant | None = None


class TenantRecord(WireModel):
    namespace: Name
    user_id: Name

    @property
    def tenant(self) -> Tenant:
        return tenant_of(self.namespace, self.user_id)


class ConversationEvent(TenantRecord):
    """What a client publishes on `conversations`.

    >>> ConversationEvent.model_validate({
    ...     "event_id": "chat-7/12", "namespace": "shop", "user_id": 1001, "session_id": "chat-7",
    ...     "occurred_at": "2026-03-02T09:00:00+08:00", "timezone": "Asia/Shanghai",
    ...     "messages": [{"role": "user", "text": "我下周三下午要去北京见客户"}]}).user_id
    '1001'
    """

    event_id: EventId
    session_id: str = Field(default="", max_length=512)
    occurred_at: Instant | None = None
    timezone: Zone | None = None
    messages: tuple[Message, ...] = Field(min_length=1)
    # Earlier messages that help to resolve "that one"; nothing is extracted from them.
    context: tuple[Message, ...] = ()
    # Ids of memories that this text corrects.
    replaces: tuple[str, ...] = ()
    # Below this importance (1-5) nothing of the event is kept.
    min_importance: float | None = Field(default=None, ge=0, le=5)
    # Old history imported on purpose after the user was forgotten.
    after_forget: bool = False


class ReExtraction(WireModel):
    """The command by which an event is extracted anew. The latest, by (`at`, `command_id`), stands.

    `at`: when the command was appended.
    """

    command_id: EventId
    at: Instant


class RedactedEvent(ConversationEvent):
    """The same event without what must not be remembered.

    `occurred_at` is always set here; `time_flag` says when it is not the client's ("missing", "ahead").
    `digest` is taken of the redacted content: one of the raw text could be searched for a short secret.
    """

    appended_at: Instant
    time_flag: Literal["missing", "ahead"] | None = None
    digest: str
    policy_version: str = ""
    redactions: Mapping[str, int] = Field(default_factory=dict)
    # Set when its stored text is extracted once more.
    re_extraction: ReExtraction | None = None


class Candidate(Statement):
    """One thing worth keeping, not yet settled. `start`/`end`: characters in the redacted message `message`."""

    message: int = Field(ge=0)
    start: int = Field(default=0, ge=0)
    end: int = Field(default=0, ge=0)
    # When the message was said; the event's time where the message has none.
    said_at: Instant | None = None
    # Why the extractor kept it, in words (shown by `memstream extract --explain`).
    why: str = ""


# Candidates that are written in one go: nobody has the interpreter meanwhile.
_AT_ONCE = 100


class CandidateEvent(TenantRecord):
    """Exactly one per event, also when nothing is kept: its receipt is written from it.

    `disposition` "parked" comes from an earlier stage; the text is then in that stage's dead letter.
    """

    event_id: EventId
    session_id: str = ""
    occurred_at: Instant
    appended_at: Instant
    time_flag: Literal["missing", "ahead"] | None = None
    digest: str = ""
    disposition: Literal["extracted", "skipped", "parked"] = "extracted"
    stage: str = ""
    reason: str = ""
    candidates: tuple[Candidate, ...] = ()
    replaces: tuple[str, ...] = ()
    after_forget: bool = False
    policy_version: str = ""
    extractor_version: str = ""
    prompt_version: str = ""
    re_extraction: ReExtraction | None = None

    def to_bytes(self) -> bytes:
        if len(self.candidates) <= _AT_ONCE:
            return super().to_bytes()
        around = self.model_copy(update={"candidates": ()}).model_dump_json(exclude_none=True)
        found = ",".join(candidate.model_dump_json(exclude_none=True) for candidate in self.candidates)
        # No text holds it: there each quotation mark is escaped.
        return around.replace('"candidates":[]', f'"candidates":[{found}]', 1).encode()
