"""Events for the extraction tests."""

from __future__ import annotations

from datetime import datetime

from schemas import Candidate, Message, RedactedEvent
from streams.memory.extraction import Extraction, RuleExtractor

SAID = datetime.fromisoformat("2026-03-02T09:00:00+08:00")  # a Monday
EXTRACTOR = RuleExtractor()


def event(
    *texts: str,
    role: str = "user",
    context: tuple[Message, ...] = (),
    speaker: str | None = None,
    said: datetime = SAID,
    zone: str = "Asia/Shanghai",
) -> RedactedEvent:
    messages = tuple(Message.model_validate({"role": role, "text": text, "speaker": speaker}) for text in texts)
    return RedactedEvent(
        event_id="e1",
        namespace="shop",
        user_id="u1",
        occurred_at=said,
        appended_at=said,
        timezone=zone,
        digest="",
        messages=messages,
        context=context,
    )


def extract(*texts: str, context: tuple[Message, ...] = (), speaker: str | None = None) -> Extraction:
    return EXTRACTOR.extract_now(event(*texts, context=context, speaker=speaker))


def only(*texts: str, context: tuple[Message, ...] = (), speaker: str | None = None) -> Candidate:
    """The one candidate of a text."""
    candidates = extract(*texts, context=context, speaker=speaker).candidates
    assert len(candidates) == 1, [candidate.content for candidate in candidates]
    return candidates[0]
