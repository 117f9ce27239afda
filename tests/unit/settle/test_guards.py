"""Differences that make two near statements two."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schemas import Layer, MemoryRecord, MemoryType, Source
from streams.memory.settle.guards import guard, same_value


def record(content: str, value: str | None = None) -> MemoryRecord:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    return MemoryRecord(
        memory_id="m",
        namespace="n",
        user_id="u",
        layer=Layer.FACT,
        content=content,
        memory_type=MemoryType.FACT,
        value=value,
        occurred_at=at,
        created_at=at,
        sources=(Source(event_id="e"),),
    )


@pytest.mark.parametrize(
    ("old", "new"), [("5月6号", "6月5号"), ("12.11.", "11.12."), ("May 6, room 5", "May 5, room 6")]
)
def test_the_same_numbers_in_another_order_are_another_value(old: str, new: str) -> None:
    assert not same_value(record("x", old), record("x", new))
    assert same_value(record("x", old), record("x", old + " "))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Paul plays the cello", "Paul also plays chess"),
        ("会议室在三楼", "会议室在五楼"),
        ("Born on March 5", "Born on May 3"),
        ("小丁会弹琴", "小丁还会下棋"),
    ],
)
def test_what_keeps_two_near_statements_apart(old: str, new: str) -> None:
    assert guard(record(old), record(new), nearly_equal=False) is not None
    assert guard(record(old), record(old), nearly_equal=False) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Born on 1992-01-28", "The user was born on January 28, 1992"),
        ("Anna's favourite is Fran’s Bow", "Anna’s favourite is Fran's Bow"),
        ("The exam is on the 3rd of May", "The exam is on May 3"),
    ],
)
def test_spelling_is_no_difference(old: str, new: str) -> None:
    assert guard(record(old), record(new), nearly_equal=False) is None
    assert guard(record(new), record(old), nearly_equal=False) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist, a good friend, is Ian Smith", "A good friend, the dentist, is Paul Jones"),
        ("At work the user reports to Theo Olsen", "The user reports to Rita Olsen at work"),
        ("A neighbour named Al has a big garden", "A neighbour named Bo has a large garden"),
    ],
)
def test_a_word_without_content_is_no_abbreviation_of_a_name(old: str, new: str) -> None:
    assert guard(record(old), record(new), nearly_equal=True) is not None
    assert guard(record(new), record(old), nearly_equal=True) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The user lives in the United Kingdom", "The user lives in the UK"),
        ("A cousin lives in the United States", "A cousin lives in the US"),
    ],
)
def test_an_abbreviation_is_the_name_that_it_stands_for(old: str, new: str) -> None:
    assert guard(record(old), record(new), nearly_equal=False) is None
    assert guard(record(new), record(old), nearly_equal=False) is None
