"""What became of stored memories can be read off the counters: replaced, archived, revived, erased."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from streams.metrics import REGISTRY
from tests.memory_role import MemoryRole, by_content, fact, said

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
CITY = {"subject": "user", "attribute": "city", "cardinality": "single"}


def counted(before: str, after: str) -> float:
    return REGISTRY.get_sample_value("memstream_status_changes_total", {"before": before, "after": after}) or 0.0


async def test_each_change_counts_once() -> None:
    changes = (
        ("active", "superseded"),
        ("active", "archived"),
        ("archived", "active"),
        ("active", "erased"),
        ("superseded", "erased"),
    )
    start = {change: counted(*change) for change in changes}

    def since() -> dict[tuple[str, str], float]:
        return {change: now - start[change] for change in changes if (now := counted(*change)) > start[change]}

    role = MemoryRole()
    await role.tell("candidates", said("e1", AT, fact("User lives in Oslo", value="Oslo", **CITY)), AT)
    later = AT + timedelta(hours=1)
    await role.tell("candidates", said("e2", later, fact("User lives in Bonn", value="Bonn", **CITY)), later)
    assert since() == {}, "what is new is in memstream_memories"
    await role.drain()
    assert since() == {("active", "superseded"): 1}

    window = datetime(2026, 9, 1, tzinfo=UTC)
    await role.window(window)
    bonn = by_content((await role.memories()).values())["User lives in Bonn"]
    assert since()["active", "archived"] == 1
    await role.restore(window, "r", bonn.memory_id)
    assert since()["archived", "active"] == 1

    await role.forget(window, "f", "all")
    assert await role.memories() == {}
    gone = {change: n for change, n in since().items() if change[1] == "erased"}
    assert sum(gone.values()) == 2
