"""What answers are made of: the wish in a statement, filters, thresholds, problems."""

from __future__ import annotations

import doctest
from datetime import UTC, datetime

import pytest

from streams.client import BadRequest, DeadlineExceeded, MemoryClientError, TooLarge, Unavailable
from streams.http import problems, wish
from streams.http.models import Erased, Filters, Profile, Query, Write
from tests.unit.http.gateway import RECORD

LATER = datetime(2026, 2, 1, tzinfo=UTC)


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(wish).failed == 0
    assert doctest.testmod(wish).attempted >= 5


@pytest.mark.parametrize(
    ("text", "event", "need"),
    [
        ("明天要交报告；希望你提醒我一下！好的。", "明天要交报告", "希望你提醒我一下"),
        ("我住在杭州。", "我住在杭州", None),
        ("想要一杯咖啡", None, "想要一杯咖啡"),
        ("We meet at 3.30 in Bonn, please book a table.", "We meet at 3.30 in Bonn", "please book a table"),
        ("I moved. I need a doctor, a good one.", "I moved", "I need a doctor, a good one"),
        ("The needle broke", "The needle broke", None),
        ("", None, None),
    ],
)
def test_a_statement_in_three_words(text: str, event: str | None, need: str | None) -> None:
    assert (wish.event(text), wish.wish(text)) == (event, need)


@pytest.mark.parametrize(
    ("filters", "matches"),
    [
        ({}, True),
        ({"types": ["fact", "task"]}, True),
        ({"types": ["task"]}, False),
        ({"layers": ["episode"]}, False),
        ({"tags": ["home", "x"]}, True),
        ({"tags": ["x"]}, False),
        ({"session_id": "s"}, True),
        ({"session_id": ""}, False),
        ({"since": "2026-01-01T00:00:00Z"}, True),
        ({"until": "2026-01-01T00:00:00Z"}, False),
        ({"types": ["fact"], "tags": ["x"]}, False),
    ],
    ids=str,
)
def test_all_filters_must_hold(filters: dict[str, object], matches: bool) -> None:
    record = RECORD.model_copy(update={"tags": ("home",), "session_id": "s"})
    assert Filters.model_validate(filters).match(record) is matches


def test_a_threshold_is_a_share_of_five() -> None:
    write = Write.model_validate({"user_id": 1001, "conversation": "hello", "importance_threshold": 0.5})
    assert (write.fields()["min_importance"], write.user_id) == (2.5, "1001")
    assert Write.model_validate({"user_id": "1001", "conversation": "hello"}).fields()["min_importance"] is None


def test_a_deletion_in_several_commands_is_one_answer() -> None:
    first = Erased(status="erased", removed={"active": 2}, kept_until={"redacted": LATER})
    second = Erased(status="erased", removed={"active": 1, "archived": 1})
    together = Erased.together([first, second])
    assert (together.status, dict(together.removed)) == ("erased", {"active": 3, "archived": 1})
    assert together.kept_until == {"redacted": LATER}
    assert Erased.together([first, Erased(status="queued")]).status == "queued"
    assert Erased.together([]).removed == {}


def test_a_profile_is_grouped_and_important_things_come_first() -> None:
    important = RECORD.model_copy(update={"memory_id": "mem_1", "importance": 5})
    task = RECORD.model_copy(update={"memory_id": "mem_2", "memory_type": "task"})
    grouped = Profile.of("shop", "u1", [RECORD, important, task]).memories
    assert {str(kind): [m.memory_id for m in memories] for kind, memories in grouped.items()} == {
        "fact": ["mem_1", "mem_0"],
        "task": ["mem_2"],
    }


@pytest.mark.parametrize(
    ("error", "status", "retry_after"),
    [
        (BadRequest("x"), 422, None),
        (TooLarge("x"), 413, None),
        (DeadlineExceeded("x"), 504, None),
        (Unavailable("x"), 503, "1"),
        (Unavailable("x", retry_after=2.5), 503, "3"),
        (MemoryClientError("x"), 502, None),
    ],
    ids=repr,
)
def test_errors_of_the_client_have_a_status(error: MemoryClientError, status: int, retry_after: str | None) -> None:
    problem = problems.of_client(error)
    assert problem.status_code == status
    assert (problem.headers or {}).get("Retry-After") == retry_after


def test_a_block_may_be_asked_for_a_user_message() -> None:
    asked = Query(user_id="u", query="q", format="prompt", prompt_role="user")
    assert asked.options()["prompt_role"] == "user"
    assert Query(user_id="u", query="q").options()["prompt_role"] == "system"
