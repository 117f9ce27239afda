"""What holds now of a user, by type. Imports no model of the wire: clients import it first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schemas import MemoryRecord, MemoryType


class Profile(list["MemoryRecord"]):
    """All that holds now, what matters most first; the same by type in `preferences`, `facts`, `tasks` (what is planned
    or to be done) and `progress` (how far something is)."""

    def __init__(self, records: Iterable[MemoryRecord] = ()) -> None:
        super().__init__(sorted(records, key=lambda r: (-r.importance, r.occurred_at, r.memory_id)))

    @property
    def preferences(self) -> list[MemoryRecord]:
        return self._of("preference")

    @property
    def facts(self) -> list[MemoryRecord]:
        return self._of("fact")

    @property
    def tasks(self) -> list[MemoryRecord]:
        return self._of("task")

    @property
    def progress(self) -> list[MemoryRecord]:
        return self._of("progress")

    @property
    def by_type(self) -> dict[MemoryType, list[MemoryRecord]]:
        """Only types that there are any of."""
        grouped: dict[MemoryType, list[MemoryRecord]] = {}
        for record in self:
            grouped.setdefault(record.memory_type, []).append(record)
        return grouped

    def _of(self, memory_type: str) -> list[MemoryRecord]:
        return [record for record in self if record.memory_type == memory_type]
