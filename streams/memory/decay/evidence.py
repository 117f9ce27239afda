"""What was said in several sessions is more important."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from schemas.memory import Layer, MemoryRecord, MemoryStatus
from streams.memory.decay.fading import MOST

ENOUGH_SESSIONS: Final = 3
GAIN: Final = 1.0
# New evidence is looked for this far back: longer than a backlog may be old (24 h, 3 d and 3 d of retention).
LATE: Final = timedelta(days=7)
# Marks a memory that has its gain, so that it comes once.
TAG: Final = "evidence"


def may_gain(record: MemoryRecord, since: datetime) -> bool:
    """Was it said again at `since` or later, and often enough? A cheap look before its repeats are loaded."""
    said_again = record.updated_at is not None and record.updated_at >= since
    return said_again and record.status is MemoryStatus.ACTIVE and len(record.sources) >= ENOUGH_SESSIONS


def with_evidence(record: MemoryRecord, repeats: Iterable[MemoryRecord], window_end: datetime) -> MemoryRecord:
    """A fact with evidence from three sessions or more gains 1 in importance, once. Else the same object.

    What came after the window is evidence for the next one.
    """
    if record.layer is not Layer.FACT or TAG in record.tags:
        return record
    sessions = {r.session_id for r in (record, *repeats) if r.session_id and r.created_at < window_end}
    if len(sessions) < ENOUGH_SESSIONS:
        return record
    return _gained(record)


def with_evidence_of(record: MemoryRecord, before: MemoryRecord) -> MemoryRecord:
    """A fact that was extracted anew, with the gain that it had; its tags are those of the extractor."""
    return _gained(record) if TAG in before.tags else record


def _gained(record: MemoryRecord) -> MemoryRecord:
    return record.model_copy(update={"importance": min(MOST, record.importance + GAIN), "tags": (*record.tags, TAG)})
