"""A question about oneself in other words finds the slot that it asks for, and nobody else's."""

from __future__ import annotations

import pytest

from streams.memory.ranking.slots import asked_slots


@pytest.mark.parametrize(
    ("question", "attribute"),
    [
        ("Where do I live now?", "city"),
        ("Which town do I live in?", "city"),
        ("What company pays me?", "employer"),
        ("Who do I report to?", "boss"),
        ("What should you call me? What is my name?", "name"),
        ("How old am I?", "age"),
        ("我住在哪里？", "city"),
        ("我在哪家公司上班？", "employer"),
        ("我们部门我的领导是谁？", "boss"),
        ("我的生日是哪天？", "birthday"),
    ],
)
def test_asked_of_oneself(question: str, attribute: str) -> None:
    assert attribute in asked_slots(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ana live?",
        "Where does my brother work?",
        "Where do I have to hand in the form?",
        "What floor is my office on?",
        "我妈住在哪里？",
        "我公司的食堂在几楼？",
        "公司在哪里上市？",
    ],
)
def test_not_asked_of_oneself(question: str) -> None:
    assert asked_slots(question) == frozenset()
