"""A profile: what matters most first, and by type; as the client and the tools of MCP give it."""

from __future__ import annotations

from datetime import UTC, datetime

from schemas import MemoryRecord, MemoryType
from streams.mcp.answers import Profiled
from streams.profile import Profile

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def memory(memory_id: str, memory_type: str, importance: float = 3) -> MemoryRecord:
    given = {"layer": "fact", "content": f"about {memory_id}", "occurred_at": NOON, "created_at": NOON}
    whose = {"namespace": "shop", "user_id": "u"}
    return MemoryRecord.model_validate(
        {**given, **whose, "memory_id": memory_id, "memory_type": memory_type, "importance": importance}
    )


SEAT, BONN = memory("seat", "preference"), memory("bonn", "fact", 5)
REPORT, THESIS, TEA = memory("report", "task"), memory("thesis", "progress"), memory("tea", "preference", 4)
KNOWN = [SEAT, BONN, REPORT, THESIS, TEA]


def test_it_is_the_list_that_it_was() -> None:
    profile = Profile(KNOWN)
    assert isinstance(profile, list)
    assert [one.memory_id for one in profile] == ["bonn", "tea", "report", "seat", "thesis"]
    assert Profile() == []


def test_by_type() -> None:
    profile = Profile(KNOWN)
    assert profile.preferences == [TEA, SEAT]
    assert (profile.facts, profile.tasks, profile.progress) == ([BONN], [REPORT], [THESIS])
    assert list(profile.by_type) == [MemoryType.FACT, MemoryType.PREFERENCE, MemoryType.TASK, MemoryType.PROGRESS]


def test_a_model_reads_it_by_type() -> None:
    answer = Profiled.of(KNOWN).model_dump(mode="json")
    assert {name: [one["memory_id"] for one in found] for name, found in answer["memories"].items()} == {
        "fact": ["bonn"],
        "preference": ["tea", "seat"],
        "task": ["report"],
        "progress": ["thesis"],
    }
