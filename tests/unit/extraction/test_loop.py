"""A long text does not hold up the event loop: it is read in a thread, and written in pieces."""

from __future__ import annotations

import hashlib
import json
import threading
from datetime import UTC, datetime

from schemas import Candidate, CandidateEvent, ConversationEvent, Message
from streams.agents.redact import content_digest
from streams.memory.extraction import RuleExtractor
from tests.unit.extraction.events import event

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


async def test_long_texts_leave_the_loop_short_ones_stay() -> None:
    threads: list[int] = []

    class Watched(RuleExtractor):
        def extract_now(self, event):  # type: ignore[no-untyped-def]
            threads.append(threading.get_ident())
            return super().extract_now(event)

    extractor = Watched()
    await extractor.extract(event("I live in Bergen."))
    long = await extractor.extract(event("I live in Bergen. " * 500))
    assert threads[0] == threading.get_ident()
    assert threads[1] != threading.get_ident()
    assert long == RuleExtractor().extract_now(event("I live in Bergen. " * 500))


def test_what_is_written_in_pieces_is_the_same() -> None:
    text = '好的 "candidates":[] ok'
    one = Candidate(layer="episode", content=text, memory_type="episode", message=0, end=len(text), said_at=NOW)
    for many in (1, 500):
        made = CandidateEvent(
            event_id='e"candidates":[]', namespace="shop", user_id="u", occurred_at=NOW, appended_at=NOW,
            candidates=(one,) * many, reason=text,
        )  # fmt: skip
        assert made.to_bytes() == made.model_dump_json(exclude_none=True).encode()
        assert CandidateEvent.from_bytes(made.to_bytes()) == made


def test_the_digest_of_a_long_event_is_that_of_its_content_as_a_whole() -> None:
    messages = tuple(Message(text="他说“好”。\n" * count, speaker="王") for count in (1, 2_000))
    said = ConversationEvent(event_id="e", namespace="shop", user_id="u", occurred_at=NOW, messages=messages)
    content = {
        "session_id": "", "occurred_at": NOW.isoformat(), "timezone": None, "replaces": (),
        "messages": [("user", "王", message.text) for message in messages], "context": [],
    }  # fmt: skip
    whole = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    assert content_digest(said, (), messages) == whole


def test_without_its_trace_an_extraction_is_the_same() -> None:
    for text in ("I live in Bergen. Is it far? Maybe.", "Is it far? Is it cold? Maybe.", "ok"):
        told, bare = (RuleExtractor(explain=explain).extract_now(event(text)) for explain in (True, False))
        assert told.trace
        assert not bare.trace
        assert (told.candidates, told.skipped) == (bare.candidates, bare.skipped)
