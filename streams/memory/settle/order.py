"""The one order in which a history is folded: event time, event id, message, place in the message."""

from __future__ import annotations

from datetime import datetime

from schemas.memory import MemoryRecord

Order = tuple[datetime, str, int, int, int, str]


def order(record: MemoryRecord) -> Order:
    """Sort key of an item. The id makes it total: two candidates may share a span."""
    source = record.source
    return (record.occurred_at, source.event_id, source.message, source.start, source.end, record.memory_id)


def pair(one: str, other: str) -> tuple[str, str]:
    """How a pair of ids is named: sorted, so that (a, b) and (b, a) are one."""
    return (one, other) if one <= other else (other, one)
