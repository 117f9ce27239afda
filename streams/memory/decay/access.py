"""Reinforcement: each access counts once, however often its record is delivered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas.control import Access
from schemas.memory import MemoryRecord

# Marks kept a memory. Accesses arrive in the order of their offsets (one partition a tenant), so that what is older
# than all kept marks was counted: a redelivery of any length counts once.
MAX_MARKS: Final = 64


def reinforce(record: MemoryRecord, accesses: Iterable[Access]) -> MemoryRecord:
    """The record with these accesses counted; the same object when all of them were counted before.

    An access revives: it takes a memory out of the archive.
    """
    marks = set(record.access_marks)
    floor = min(marks) if len(marks) >= MAX_MARKS else -1
    count, last, archived_at = record.access_count, record.last_access_time, record.archived_at
    for access in sorted(accesses, key=lambda a: a.offset):
        if record.memory_id not in access.memory_ids or access.offset in marks or access.offset < floor:
            continue
        if access.accessed_at < record.created_at:
            continue  # of a memory of this id that was withdrawn since, and made again
        marks.add(access.offset)
        count += 1
        last = access.accessed_at if last is None else max(last, access.accessed_at)
        archived_at = None
    if count == record.access_count:
        return record
    kept = tuple(sorted(marks)[-MAX_MARKS:])
    return record.model_copy(
        update={"access_count": count, "last_access_time": last, "access_marks": kept, "archived_at": archived_at}
    )
