"""What a query asks."""

from datetime import UTC, datetime

import pytest

from schemas import Message, RecallRequest
from streams.memory.ranking.dialogue import Turn, dialogue_turns
from streams.memory.ranking.everyday import expand
from streams.memory.ranking.query import Understanding, understand
from streams.memory.ranking.recall import without_names
from streams.memory.ranking.weights import DEFAULT

NOW = datetime(2026, 3, 18, 9, tzinfo=UTC)


def asked(query: str = "", **more: object) -> Understanding:
    request = RecallRequest.model_validate({"namespace": "shop", "user_id": "1", "query": query, **more})
    return understand(request, NOW, DEFAULT)


def test_a_question() -> None:
    found = asked("Which seat does she like?")
    assert not found.dialogue
    assert found.words == ("seat", "like")
    assert found.lang == "en"
    assert (found.persons, found.periods, found.asks) == ((), (), None)


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("When did Anna move?", "time"),
        ("What year was it?", "time"),
        ("我什么时候去的北京", "time"),
        ("How many dogs does he have?", "number"),
        ("他养了几只猫", "number"),
        ("Where does he live?", "place"),
        ("你们在哪里认识的", "place"),
        ("Why did she quit?", "reason"),
        ("她为什么辞职", "reason"),
        ("How did Anna feel about the move?", "feeling"),
        ("面试后他心情怎么样", "feeling"),
        ("What book did he read?", "title"),
        ("他最近看了什么书", "title"),
        ("Does he like tea?", None),
    ],
)
def test_what_kind_of_answer(query: str, asks: str | None) -> None:
    assert asked(query).asks == asks


def test_periods_are_those_of_the_asker() -> None:
    (period,) = asked("我昨天说了什么", timezone="Asia/Shanghai").periods
    assert period.start == datetime(2026, 3, 16, 16, tzinfo=UTC)
    assert period.end == datetime(2026, 3, 17, 16, tzinfo=UTC)
    (month,) = asked("What did we plan in May 2025?").periods
    assert month.start is not None
    assert (month.start.year, month.start.month) == (2025, 5)


def test_a_time_of_day_is_no_period() -> None:
    assert asked("What does she drink in the morning?").periods == ()


TRANSCRIPT = '<Anna>: "I lost my keys"\n<Assistant>: "Oh no! Where?"\n<Anna>: "On the train"'


def test_a_transcript_is_a_dialogue() -> None:
    found = asked(TRANSCRIPT)
    assert found.dialogue
    assert found.persons == ("Anna",)
    assert "key" in found.words
    assert "where" not in found.text.casefold()


def test_messages_are_a_dialogue() -> None:
    messages = [
        Message(text="我喜欢跑步", speaker="小明"),
        Message(text="真不错", role="assistant"),
        Message(text="昨天跑了五公里", speaker="小明"),
    ]
    found = asked(messages=[m.model_dump() for m in messages])
    assert (found.dialogue, found.persons, found.lang) == (True, ("小明",), "zh")


@pytest.mark.parametrize("query", ["Remember: what did I buy?", "Note this\nAnna: hi", "http://a.b/c: what is it"])
def test_what_is_no_transcript(query: str) -> None:
    assert dialogue_turns(query, ()) == [Turn(query)]


def test_plain_tags_need_two_lines() -> None:
    assert dialogue_turns("User: hi\nAI: hello", ()) == [Turn("hi"), Turn("hello", assistant=True)]


def test_about_names_the_person() -> None:
    assert asked("likes to drink?", about="Anna").persons == ("Anna",)


@pytest.mark.parametrize(
    ("query", "added"),
    [("her boss", "manag"), ("我的宠物", "dog"), ("what pets", "小狗"), ("做饭", "cook")],
)
def test_expansion_goes_across_languages(query: str, added: str) -> None:
    weight = asked(query).added[added]
    assert 0 < weight < 1


def test_expansion_adds_no_word_of_the_query() -> None:
    found = expand(["dog", "pet"])
    assert not {"dog", "pet"} & (found.synonyms.keys() | found.members.keys())


@pytest.mark.parametrize(
    ("text", "left"),
    [("Where is Anna's bike?", "Where is bike?"), ("Anna", "Anna"), ("Annabel and Anna", "Annabel and")],
)
def test_names_taken_out(text: str, left: str) -> None:
    assert without_names(text, ["Anna"]) == left
