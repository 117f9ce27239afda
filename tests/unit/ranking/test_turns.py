"""Which turns lend each other context."""

from datetime import timedelta

import numpy as np
import pytest

from schemas import Layer, MemoryRecord
from streams.memory.ranking.turns import context, kind_of, place_of, steps
from streams.memory.ranking.weights import DEFAULT
from tests.unit.ranking.making import START, memory


def turns(*minutes: float, session: str = "s") -> list[MemoryRecord]:
    return [
        memory(f"{session}{at}", f"text {at}", at=START + timedelta(minutes=at), session_id=session) for at in minutes
    ]


def test_neighbours_of_an_anchor_are_linked() -> None:
    assert steps(turns(0, 1, 2, 3, 4), [False, False, True, False, False], 2) == [False, True, True, True, True]


def test_between_two_windows_turns_may_be_missing() -> None:
    linked = steps(turns(0, 1, 2, 20, 21, 22), [True, False, False, False, False, True], 2)
    assert linked == [False, True, True, False, True, True]


def test_a_pause_ends_the_conversation() -> None:
    assert steps(turns(0, 61), [True, True], 2) == [False, False]
    assert steps(turns(0, 60), [True, True], 2) == [False, True]


def test_sessions_do_not_mix() -> None:
    assert steps(turns(0, session="a") + turns(1, session="b"), [True, True], 2) == [False, False]


def test_a_fact_stands_in_no_conversation() -> None:
    one, two = turns(0, 1)
    fact = memory("f", "A fact", at=START, layer=Layer.FACT)
    ordered = sorted([one, fact, two], key=place_of)
    assert ordered == [one, two, fact]
    assert steps(ordered, [True, True, True], 2) == [False, True, False]


def test_an_answer_takes_over_more_from_a_question() -> None:
    question, plain = memory("q", "Where do you live?"), memory("p", "I see")
    answer = memory("a", "In Bonn")
    shares = [
        context([False, True], [kind_of(first), kind_of(answer)], DEFAULT)[0][1, 0] for first in (question, plain)
    ]
    assert shares[0] > shares[1] > 0


def test_context_fades_and_stops() -> None:
    kinds = [kind_of(record) for record in turns(0, 1, 2, 3, 4, 5)]
    words, _ = context([False, True, True, True, True, True], kinds, DEFAULT)
    assert np.all(np.diag(words) == 1)
    row = words[5, :5]
    assert list(row) == sorted(row)
    assert row[0] == 0


def test_kinds_of_turns() -> None:
    assert kind_of(memory("a", "What is it? [shared image: a photo of a cat]")).ends_asking
    assert not kind_of(memory("a", "Really? I love it.")).ends_asking
    assert kind_of(memory("a", "你住哪儿？")).ends_asking
    assert kind_of(memory("a", "我住在波恩")).first_person
    assert not kind_of(memory("a", "Nice place")).first_person
    assert kind_of(memory("a", "Lives in Bonn", layer=Layer.FACT)).first_person


@pytest.mark.parametrize(
    "text",
    ["帮我写一首关于秋天的诗", "如果我中了彩票会怎么样", "Please book a table for two.", "What if I sold the house?"],
)
def test_what_is_only_wished_or_imagined_tells_nothing(text: str) -> None:
    assert kind_of(memory("a", text)).only_wished


@pytest.mark.parametrize("text", ["我帮我妹妹搬家", "Canada is cold.", "I wonder whether it rains.", "结果我中了彩票"])
def test_what_is_told_is_told(text: str) -> None:
    assert not kind_of(memory("a", text)).only_wished
