"""conversations -> redacted: the only stage that sees raw text."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from pydantic import ValidationError

from schemas import CandidateEvent, ConversationEvent, Message, RedactedEvent, WireModel
from schemas.events import EventId, TenantRecord
from streams import metrics
from streams.errors import BadData
from streams.long_text import INLINE_CHARS, in_thread_if_long, in_turn
from streams.memory.redaction import Redaction, Redactor
from streams.outcome import Done, Outbound, Outcome, Parked
from streams.records import Inbound, check_key, cloud_event, decode, reply_to
from streams.settings import Settings

# Client clocks drift; a time further ahead than this is not believed.
MAX_AHEAD = timedelta(minutes=5)
# Made once: `json.dumps` makes an encoder at each call that is not its plainest.
_SORTED = json.JSONEncoder(ensure_ascii=True, sort_keys=True)


class RedactStage:
    """Decodes, dates and redacts an event; what can't be parsed goes to `dead-letters.raw`."""

    name = "redact"
    topic = "conversations"
    dead_letters = "dead-letters.raw"
    dependencies: tuple[str, ...] = ()
    lane_batch = 50
    side_by_side = 2

    def __init__(self, redactor: Redactor, settings: Settings) -> None:
        self._redactor = redactor
        self._settings = settings

    def lane(self, record: Inbound) -> str:
        return record.computed_lane

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        return await in_turn(self._one, records)

    async def _one(self, record: Inbound) -> Outcome:
        try:
            event = decode(record, ConversationEvent)
            check_key(record, event.tenant)
            self._check_size(event)
            reply_to(record.headers)
        except BadData as error:
            return Parked(self.name, error.reason, tuple(parked_candidate(record, self.name, error.reason)), "BadData")
        size = sum(len(m.text) for m in (*event.messages, *event.context))
        timezone = event.timezone or self._settings.timezone_of(event.namespace)

        def work() -> tuple[RedactedEvent, bytes]:
            made = redact_event(event, self._redactor, record.first_appended, timezone)
            return made, made.to_bytes()

        redacted, value = await in_thread_if_long(work, size)
        for entity, count in redacted.redactions.items():
            metrics.REDACTIONS.labels(entity).inc(count)
        headers = cloud_event(
            "redacted", event.event_id, self.name, redacted.occurred_at or redacted.appended_at, record.carried
        )
        return Done((Outbound("redacted", event.tenant.key.encode(), value, headers),))

    def _check_size(self, event: ConversationEvent) -> None:
        longest = max(len(m.text) for m in (*event.messages, *event.context))
        if longest > self._settings.max_text_chars:
            raise BadData("too_large", f"a message of {longest} characters, at most {self._settings.max_text_chars}")

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        return parked_candidate(record, parked.stage, parked.reason)


def redact_event(event: ConversationEvent, redactor: Redactor, appended_at: datetime, timezone: str) -> RedactedEvent:
    """Pure: the event without what must not be remembered, dated. `appended_at` is the broker's append time."""
    session = redactor.session()
    counts: Counter[str] = Counter()

    def clean(text: str) -> str:
        redaction: Redaction = session.redact(text)
        counts.update(span.entity for span in redaction.spans if span.action != "keep")
        return redaction.text

    def message(said: Message) -> Message:
        time = said.time if said.time is not None and said.time <= appended_at + MAX_AHEAD else None
        speaker = clean(said.speaker) if said.speaker else said.speaker
        return said.model_copy(update={"text": clean(said.text), "time": time, "speaker": speaker})

    # The context comes first in time, so its placeholders are numbered first.
    context = tuple(message(m) for m in event.context)
    messages = tuple(message(m) for m in event.messages)
    digest = content_digest(event, context, messages)
    occurred_at, flag = event.occurred_at, None
    if occurred_at is None:
        occurred_at, flag = next((m.time for m in messages if m.time), None) or appended_at, "missing"
    elif occurred_at > appended_at + MAX_AHEAD:
        occurred_at, flag = appended_at, "ahead"
    return RedactedEvent.model_construct(
        **{
            **vars(event),
            "messages": messages,
            "context": context,
            "occurred_at": occurred_at,
            "timezone": timezone,
            "appended_at": appended_at,
            "time_flag": flag,
            "digest": digest,
            "policy_version": redactor.version,
            "redactions": dict(counts),
        }
    )


def content_digest(event: ConversationEvent, context: Sequence[Message], messages: Sequence[Message]) -> str:
    """SHA-256 over what the client sent, redacted: one of the raw text could be searched for a short secret."""
    content: Mapping[str, object] = {
        "session_id": event.session_id,
        "occurred_at": event.occurred_at.isoformat() if event.occurred_at else None,
        "timezone": event.timezone,
        "replaces": event.replaces,
        "messages": [(m.role, m.speaker, m.text) for m in messages],
        "context": [(m.role, m.speaker, m.text) for m in context],
    }
    if sum(len(message.text) for message in messages) <= INLINE_CHARS:
        return hashlib.sha256(_SORTED.encode(content).encode()).hexdigest()
    # The same in pieces: encoded in one go, a long text would hold up everybody else.
    digest = hashlib.sha256()
    for piece in _SORTED.iterencode(content):
        digest.update(piece.encode())
    return digest.hexdigest()


class _Identity(TenantRecord, WireModel):
    event_id: EventId


def parked_candidate(record: Inbound, stage: str, reason: str) -> list[Outbound]:
    """Tells the writer that an event was parked, so that it has its receipt; nothing when it can't be told which."""
    try:
        loose = json.loads(record.value or b"null")
        identity = _Identity.model_validate(
            {name: loose.get(name) for name in ("event_id", "namespace", "user_id")} if isinstance(loose, dict) else {}
        )
        identity.event_id.encode()
        check_key(record, identity.tenant)
    except (ValueError, ValidationError, RecursionError, BadData):
        return []
    event = CandidateEvent(
        event_id=identity.event_id,
        namespace=identity.namespace,
        user_id=identity.user_id,
        occurred_at=record.first_appended,
        appended_at=record.first_appended,
        disposition="parked",
        stage=stage,
        reason=reason,
    )
    headers = cloud_event("candidates", event.event_id, stage, record.timestamp, record.carried)
    return [Outbound("candidates", event.tenant.key.encode(), event.to_bytes(), headers)]
