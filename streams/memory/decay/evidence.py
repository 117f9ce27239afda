"""What was said in several sessions is more important."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas.memory import Layer, MemoryRecord
from streams.memory.decay.fading import MOST

ENOUGH_SESSIONS: Final = 3
GAIN: Final = 1.0
# Marks a memory that has its gain, so that it comes once.
TAG: Final = "evidence"


def with_evidence(record: MemoryRecord, repeats: Iterable[MemoryRecord]) -> MemoryRecord:
    """A fact with evidence from three sessions or more gains 1 in importance, once. Else the same object."""
    if record.layer is not Layer.FACT or TAG in record.tags:
        return record
    sessions = {r.session_id for r in (record, *repeats) if r.session_id}
    if len(sessions) < ENOUGH_SESSIONS:
        return record
    return record.model_copy(update={"importance": min(MOST, record.importance + GAIN), "tags": (*record.tags, TAG)})
