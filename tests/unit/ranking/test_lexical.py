"""Terms and sparse vectors."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams.memory.lexical import fold, passage_text, sparse_passage, sparse_query, term_id, terms
from tests.unit.ranking.making import memory

# How long a draw takes is no matter of these tests.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("She went running", "she goes to run"),
        ("two children", "two child"),
        ("Ｋａｆｋａ　２０２６", "kafka 2026"),
        ("Anna's café", "Anna cafe"),
        ("1,000 yuan", "1000 yuan"),
        ("靠窗座位。", "靠窗座位"),
    ],
)
def test_spellings_of_one_thing(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("order A-1024 on 2023-05-07 at 10:30", ["order", "a-1024", "2023-05-07", "10:30"]),
        ("v2.1.3, then 3.5.", ["v2.1.3", "3.5"]),
        ("我2026年在北京", ["我", "2026", "年在", "在北", "北京"]),
        ("the of and", []),
        ("", []),
        ("猫", ["猫"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_ids_never_change() -> None:
    # Stored vectors hold these numbers.
    assert (term_id("run"), term_id("北京")) == (1349952704, 3429596817)


@untimed
@given(st.text(max_size=200))
def test_sparse_vectors_are_valid(text: str) -> None:
    for vector in (sparse_passage(text), sparse_query(text)):
        assert list(vector.indices) == sorted(set(vector.indices))
        assert all(0 <= index < 2**32 for index in vector.indices)
        assert all(value > 0 for value in vector.values)
        assert len(vector.indices) == len(vector.values)


@untimed
@given(st.text(max_size=100))
def test_width_and_case_do_not_matter(text: str) -> None:
    assert sparse_passage(fold(text)) == sparse_passage(text)


def test_repeats_count_less_and_less() -> None:
    once, twice, often = (sparse_passage("tea " * n + "with lemon").values for n in (1, 2, 6))
    assert max(once) < max(twice) < max(often) < 1.9


def test_what_is_embedded() -> None:
    assert passage_text(memory("a", "I sing", speaker="Caroline")) == "Caroline: I sing"
    assert passage_text(memory("a", "I sing", speaker="User")) == "I sing"
    assert passage_text(memory("a", "I sing")) == "I sing"
