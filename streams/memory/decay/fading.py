"""What depends on the clock alone: effective importance, scheduled, expired. Pure functions of stored fields."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal

from schemas.memory import MemoryRecord

IDLE_PERIOD: Final = timedelta(days=30)
LOSS_PER_PERIOD: Final = 0.5
MANY_ACCESSES: Final = 10
GAIN_FOR_MANY: Final = 0.2
LEAST: Final = 1.0
MOST: Final = 5.0

State = Literal["scheduled", "current", "expired"]


def last_active(record: MemoryRecord) -> datetime:
    """The latest of append time, last access and last repeat. A clock that went back makes nothing younger."""
    moments = (record.created_at, record.last_access_time, record.updated_at)
    return max(m for m in moments if m is not None)


def in_archive(record: MemoryRecord) -> bool:
    """Was it archived, and not used or said again since?"""
    return record.archived_at is not None and last_active(record) < record.archived_at


def effective_importance(record: MemoryRecord, now: datetime) -> float:
    """Stored importance, -0.5 for each full 30 days idle, +0.2 above 10 accesses, within 1-5."""
    idle = max(timedelta(0), now - last_active(record))
    value = record.importance - LOSS_PER_PERIOD * (idle // IDLE_PERIOD)
    if record.access_count > MANY_ACCESSES:
        value += GAIN_FOR_MANY
    return round(min(MOST, max(LEAST, value)), 6)


def state(record: MemoryRecord, now: datetime) -> State:
    """`scheduled` before `valid_from`, `expired` from `valid_until` on."""
    if record.valid_from is not None and now < record.valid_from:
        return "scheduled"
    if record.valid_until is not None and now >= record.valid_until:
        return "expired"
    return "current"
