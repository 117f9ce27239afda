"""The product's path from a chat event to records that can be settled, in process and without a broker.

Extraction by the rules, episodes by the gate, as the stages of the stream do it. A note ("Prefers aisle seats", what
clients import as ready-made memories) is no chat: where the rules find nothing and the text is neither a question nor
small talk, it becomes one fact with its own words, as an import does.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from schemas import Candidate, Layer, MemoryRecord, MemoryType, Message, RedactedEvent, Source
from schemas.memory import Statement
from streams.memory.extraction import RuleExtractor, episodes
from streams.memory.lexical import passage_text
from streams.memory.settle import keyed
from streams.ports import Embedder, Vectors

_EXTRACTOR = RuleExtractor()
_IDS = uuid.UUID("0b6c8c0e-5a1f-5f0e-8a51-62656e636800")


def event_of(event_id: str, text: str, occurred_at: str | datetime, speaker: str | None = None) -> RedactedEvent:
    return RedactedEvent.model_validate(
        {
            "event_id": event_id,
            "namespace": "bench",
            "user_id": "bench",
            "session_id": "bench",
            "occurred_at": occurred_at,
            "appended_at": occurred_at,
            "digest": "bench",
            "messages": [Message(text=text, speaker=speaker)],
        }
    )


def candidates_of(event: RedactedEvent) -> tuple[Candidate, ...]:
    extraction = _EXTRACTOR.extract_now(event)
    facts = extraction.candidates
    if not facts and extraction.skipped == "nothing_to_keep":
        message = event.messages[0]
        facts = (
            Candidate(
                layer=Layer.FACT,
                content=message.text,
                memory_type=MemoryType.FACT,
                message=0,
                end=len(message.text),
                speaker=message.speaker,
                why="note",
            ),
        )
    return (*facts, *episodes(event))


def records_of(event: RedactedEvent) -> list[MemoryRecord]:
    """One record a candidate, with the same fields that the writer fills."""
    at = event.occurred_at or event.appended_at
    return [
        keyed(
            MemoryRecord(
                **{name: getattr(item, name) for name in Statement.model_fields},
                memory_id="mem_"
                + uuid.uuid5(_IDS, f"{event.event_id}\n{item.layer}\n{item.start}\n{item.content}").hex,
                namespace=event.namespace,
                user_id=event.user_id,
                session_id=event.session_id,
                sequence=round(at.timestamp() * 1_000_000),
                occurred_at=at,
                created_at=event.appended_at,
                sources=(Source(event_id=event.event_id, message=item.message, start=item.start, end=item.end),),
            )
        )
        for item in candidates_of(event)
    ]


async def embed_all(embedder: Embedder, records: Sequence[MemoryRecord]) -> Mapping[str, Any]:
    """Unit vectors by passage text, each distinct text once."""
    texts = list(dict.fromkeys(passage_text(r) for r in records))
    vectors: Vectors = await embedder.embed_passages(texts)
    return dict(zip(texts, vectors, strict=True))
