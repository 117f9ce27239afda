"""What is forgotten stays out; what is said afterwards is remembered."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from schemas import CandidateEvent, Fence, ForgetCommand, MemoryRecord, Message, RedactedEvent
from streams.memory.fences import blocked_by, fence_of
from tests.unit.settle.histories import START, TENANT, record

DAY = timedelta(days=1)
NOW = START + 10 * DAY


def forget(scope: str, **fields: Any) -> ForgetCommand:
    return ForgetCommand.model_validate(
        {"namespace": "n", "user_id": "u", "command_id": "c", "scope": scope, "requested_at": NOW, **fields}
    )


def fence(scope: str, newest: datetime | None = None, **fields: Any) -> Fence:
    return fence_of(forget(scope, **fields), newest, NOW)


def memory(day: float, **fields: Any) -> MemoryRecord:
    return record(1, 0, "I live in Bonn", **{"occurred_at": START + DAY * day, **fields})


def event(day: float, **fields: Any) -> RedactedEvent:
    at = START + DAY * day
    given = {"event_id": "event-1", "occurred_at": at, "appended_at": NOW, "digest": "d", "session_id": "s", **fields}
    return RedactedEvent(namespace="n", user_id="u", messages=(Message(text="hello"),), **given)


def test_all_covers_what_was_said_up_to_the_command() -> None:
    fences = [fence("all")]
    assert blocked_by(fences, memory(3)) is fences[0]
    assert blocked_by(fences, memory(10)) is fences[0]
    assert blocked_by(fences, memory(10.001)) is None
    assert blocked_by(fences, event(3)) is fences[0]


def test_all_covers_the_newest_stored_event_time() -> None:
    fences = [fence("all", START + 12 * DAY)]
    assert blocked_by(fences, memory(12)) is fences[0]
    assert blocked_by(fences, memory(12.001)) is None


def test_an_interval_is_half_open() -> None:
    fences = [fence("interval", since=START + 2 * DAY, until=START + 4 * DAY)]
    passed = {day: blocked_by(fences, memory(day)) is None for day in (1, 2, 3, 4)}
    assert passed == {1: True, 2: False, 3: False, 4: True}


def test_since_a_time_ends_with_the_command() -> None:
    fences = [fence("interval", since=START + 2 * DAY)]
    assert [blocked_by(fences, memory(day)) is None for day in (1, 5, 10, 11)] == [True, False, False, True]


def test_a_session_and_ids() -> None:
    assert blocked_by([fence("session", session_id="s")], event(3)) is not None
    assert blocked_by([fence("session", session_id="t")], event(3)) is None
    assert blocked_by([fence("session", session_id="s")], event(11)) is None
    assert blocked_by([fence("events", event_ids=("event-1",))], event(30)) is not None
    assert blocked_by([fence("events", event_ids=("event-1",))], memory(30)) is not None
    assert blocked_by([fence("memories", memory_ids=("mem_1",))], memory(30)) is not None
    assert blocked_by([fence("memories", memory_ids=("mem_2",))], memory(30)) is None


@pytest.mark.parametrize(
    ("scope", "fields", "passes"),
    [
        ("all", {}, True),
        ("interval", {"since": START}, True),
        ("session", {"session_id": "s"}, True),
        ("events", {"event_ids": ("event-1",)}, False),
    ],
)
def test_old_history_returns_only_on_purpose(scope: str, fields: dict[str, Any], passes: bool) -> None:
    fences = [fence(scope, **fields)]
    assert blocked_by(fences, event(3)) is not None
    assert (blocked_by(fences, event(3, after_forget=True)) is None) is passes


def test_a_fence_is_of_one_tenant() -> None:
    assert blocked_by([fence("all").model_copy(update={"user_id": "other"})], memory(3)) is None


def test_candidates_are_held_back_too() -> None:
    held = CandidateEvent(
        namespace=TENANT.namespace,
        user_id=TENANT.user_id,
        event_id="event-1",
        occurred_at=START,
        appended_at=NOW,
    )
    assert blocked_by([fence("all")], held) is not None


def test_told_twice_it_is_one_fence() -> None:
    assert fence("all") == fence("all")
    assert fence("all").fence_id == "c"
