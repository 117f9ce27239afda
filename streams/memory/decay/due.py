"""What a window does to a memory, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from schemas.memory import MemoryRecord, MemoryStatus, MemoryType
from streams.memory.decay.fading import in_archive, last_active

IDLE_TO_ARCHIVE: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Due:
    """`archive`: move to the archive; `close`: a task whose time is over; `none`: leave it."""

    action: Literal["archive", "close", "none"]
    reason: str = ""


NOTHING: Final = Due("none")


def due(record: MemoryRecord, window_end: datetime) -> Due:
    """What the window that ends at `window_end` does. Carrying it out makes the next answer `none`: idempotent.

    What repeats another memory or was replaced is out of the way already. A window looks at what was there when it
    ended: so it makes no difference how late it is looked at.
    """
    if record.status is not MemoryStatus.ACTIVE or in_archive(record) or record.created_at >= window_end:
        return NOTHING
    idle = window_end - last_active(record)
    if idle > IDLE_TO_ARCHIVE:
        return Due("archive", f"not used for {idle.days} days")
    if is_open_task(record) and record.valid_until is not None and record.valid_until <= window_end:
        return Due("close", f"its time was over at {record.valid_until:%Y-%m-%d %H:%M} UTC")
    return NOTHING


def is_open_task(record: MemoryRecord) -> bool:
    return record.memory_type is MemoryType.TASK and CLOSED not in record.tags


CLOSED: Final = "closed"


def carry_out(record: MemoryRecord, verdict: Due, window_end: datetime) -> MemoryRecord:
    """The record after the window."""
    match verdict.action:
        case "archive":
            return record.model_copy(update={"archived_at": window_end})
        case "close":
            return record.model_copy(update={"tags": (*record.tags, CLOSED)})
        case "none":
            return record
