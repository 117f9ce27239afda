"""Importance, windows and accesses as functions of stored fields and a given clock."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Access, MemoryRecord
from streams.memory.decay import (
    WINDOW,
    carry_out,
    due,
    effective_importance,
    fold_session,
    reinforce,
    state,
    unfold,
    window_start,
    windows,
    with_evidence,
)
from streams.memory.decay.access import MAX_MARKS
from streams.memory.settle.wording import figures, names
from tests.unit.settle.histories import START, TENANT, city, record

DAY = timedelta(days=1)


def access(offset: int, day: float, *ids: str) -> Access:
    return Access(
        namespace=TENANT.namespace,
        user_id=TENANT.user_id,
        memory_ids=ids or ("mem_1",),
        partition=3,
        offset=offset,
        accessed_at=START + DAY * day,
    )


@pytest.mark.parametrize(
    ("days", "accesses", "expected"),
    [(0, 0, 4.0), (29, 0, 4.0), (30, 0, 3.5), (90, 0, 2.5), (400, 0, 1.0), (0, 10, 4.0), (0, 11, 4.2), (31, 11, 3.7)],
)
def test_importance_fades_by_half_a_point_a_month(days: int, accesses: int, expected: float) -> None:
    memory = city(1, 0, "Bonn", importance=4, access_count=accesses)
    assert effective_importance(memory, START + DAY * days) == pytest.approx(expected)


@given(st.floats(1, 5), st.integers(0, 50), st.integers(-100, 4000))
def test_importance_stays_within_bounds(importance: float, accesses: int, days: int) -> None:
    memory = city(1, 0, "Bonn", importance=importance, access_count=accesses)
    assert 1 <= effective_importance(memory, START + DAY * days) <= 5


@given(st.integers(0, 40 * 24))
def test_windows_cover_the_time_between_without_gap(hours: int) -> None:
    start = START + timedelta(hours=hours / 10)
    found = list(windows(start, start + timedelta(hours=hours)))
    assert all(end - begin == WINDOW and window_start(begin) == begin for begin, end in found)
    assert all(earlier[1] == later[0] for earlier, later in pairwise(found))
    if found:
        assert found[0][0] <= start < found[0][1]
        assert found[-1][1] <= start + timedelta(hours=hours) < found[-1][1] + WINDOW


def test_a_statement_is_scheduled_then_current_then_expired() -> None:
    memory = city(1, 0, "Lyon", valid_from=START + 2 * DAY, valid_until=START + 4 * DAY)
    assert [state(memory, START + d * DAY) for d in (1, 2, 3, 4)] == ["scheduled", "current", "current", "expired"]


@given(st.lists(st.integers(0, 200), max_size=120))
def test_an_access_counts_once(offsets: list[int]) -> None:
    """Batches in the order of the log, each followed by a redelivery of anything before."""
    memory = city(1, 0, "Bonn")
    delivered: list[Access] = []
    for offset in sorted(set(offsets)):
        delivered.append(access(offset, offset))
        memory = reinforce(memory, [delivered[-1]])
        assert reinforce(memory, delivered) is memory
    assert memory.access_count == len(set(offsets))
    assert len(memory.access_marks) <= MAX_MARKS
    if delivered:
        assert memory.last_access_time == delivered[-1].accessed_at


def test_an_access_of_others_is_not_counted() -> None:
    memory = city(1, 0, "Bonn")
    assert reinforce(memory, [access(1, 1, "mem_2")]) is memory


def test_an_access_revives() -> None:
    window_end = START + 100 * DAY
    memory = city(1, 0, "Bonn")
    archived = carry_out(memory, due(memory, window_end), window_end)
    assert archived.archived_at == window_end
    assert due(archived, window_end + DAY).action == "none"
    assert reinforce(archived, [access(5, 101)]).archived_at is None


def test_a_window_closes_a_task_whose_time_is_over_once() -> None:
    task = record(1, 0, "Send the invoice", memory_type="task", valid_until=START + 3 * DAY)
    assert due(task, START + 2 * DAY).action == "none"
    verdict = due(task, START + 3 * DAY)
    assert verdict.action == "close"
    assert due(carry_out(task, verdict, START + 3 * DAY), START + 4 * DAY).action == "none"


def test_evidence_from_three_sessions_gains_once() -> None:
    fact = city(1, 0, "Bonn", session_id="a", importance=3)
    repeats = [city(2, 1, "Bonn", session_id="b"), city(3, 2, "Bonn", session_id="c")]
    window_end = START + 3 * DAY
    assert with_evidence(fact, repeats[:1], window_end) is fact
    assert with_evidence(fact, repeats, repeats[1].created_at) is fact, "what comes after a window is not its evidence"
    stronger = with_evidence(fact, repeats, window_end)
    assert stronger.importance == 4
    assert with_evidence(stronger, repeats, window_end) is stronger


def test_a_window_leaves_what_came_after_it() -> None:
    task = record(1, 5, "Send the invoice", memory_type="task", valid_until=START + DAY)
    assert due(task, task.created_at).action == "none"
    assert due(task, task.created_at + DAY).action == "close"


SAID = (
    "Good morning!",
    "I met Ann Lee in Porto on 5 May, the ticket was 42.50.",
    "我在《星星》书店花了三百元。",
    "Let's see.",
    "The code is CN-A10293 and Bob has it.",
)


def episodes(day: int, texts: tuple[str, ...] = SAID) -> list[MemoryRecord]:
    return [
        record(i, day, text, hour=i, layer="episode", memory_type="episode", session_id="s")
        for i, text in enumerate(texts)
    ]


def test_an_old_session_becomes_a_digest_that_keeps_names_and_figures() -> None:
    said = episodes(0)
    folded = fold_session(said, START + 40 * DAY)
    assert folded is not None
    content = folded.digest.content
    assert content.startswith("2026-01-01")
    for text in SAID:
        assert figures(text) <= figures(content)
        assert all(name in content.casefold() for name in names(text))
    assert "Good morning" not in content
    assert {s.event_id for s in folded.digest.sources} == {e.source.event_id for e in said}
    assert all(e.archived_at == START + 40 * DAY for e in folded.archived)
    assert unfold(folded.digest, folded.archived) == tuple(said)


def test_no_name_or_figure_is_lost_in_a_long_session() -> None:
    spoken = "On day {0} I paid {1} euros to Person{0} and talked about the weather at length."
    texts = tuple(spoken.format(i, 100 + i) for i in range(60))
    folded = fold_session(episodes(0, texts), START + 60 * DAY)
    assert folded is not None
    for i, text in enumerate(texts):
        assert f"Person{i}" in folded.digest.content
        assert figures(text) <= figures(folded.digest.content)


def test_a_session_in_use_or_too_young_is_left_alone() -> None:
    assert fold_session(episodes(0), START + 20 * DAY) is None
    used = [reinforce(e, [access(1, 35, e.memory_id)]) for e in episodes(0)]
    assert fold_session(used, START + 40 * DAY) is None


def test_a_digest_keeps_both_sides_of_an_open_conflict() -> None:
    sides = [
        record(8, 0, "The tour takes 3 hours", session_id="s", ambiguous_with=("mem_9",)),
        record(9, 1, "The tour takes 4 hours", session_id="s", ambiguous_with=("mem_8",)),
    ]
    folded = fold_session(episodes(0), START + 40 * DAY, conflicts=sides)
    assert folded is not None
    assert all(side.content in folded.digest.content for side in sides)
