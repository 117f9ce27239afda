"""Statements that leave out the speaker, answers to what was asked, several statements in one sentence."""

from __future__ import annotations

import pytest

from schemas import Message, RedactedEvent
from streams.memory.extraction import RuleExtractor
from streams.memory.extraction.plain import answers, asks_for_fact
from tests.unit.extraction.events import SAID

EXTRACTOR = RuleExtractor()


def kept(*messages: Message) -> list[str]:
    event = RedactedEvent(
        event_id="e1",
        namespace="shop",
        user_id="u1",
        occurred_at=SAID,
        appended_at=SAID,
        timezone="Asia/Shanghai",
        digest="",
        messages=messages,
    )
    return [candidate.content for candidate in EXTRACTOR.extract_now(event).candidates]


@pytest.mark.parametrize(
    "said",
    [
        "all invoices need two signatures",
        "no meetings on Mondays",
        "the boiler check is on May 4",
        "the roof is finished, only the gutter left",
        "our son Emil is afraid of spiders",
        "we store the backups at Backblaze",
        "got a table booked for Friday at 8pm",
        "合同必须在月底之前寄出",
        "每周二晚上八点练合唱",
        "最近改用钢笔了",
        "后天下午三点看房",
        "论文写到第四章了",
        "小丁去年去了柏林读博",
        "以后都先发我过目",
    ],
)
def test_what_is_told_without_a_subject_is_kept(said: str) -> None:
    assert kept(Message(text=said)) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "make it at most 100 words",
        "the essay must be shorter",
        "so cold today",
        "that is finished",
        "再正式一点，不要太长",
        "那段改成过去时",
        "今天好累",
    ],
)
def test_what_is_said_of_the_assistants_text_or_of_the_moment_is_not(said: str) -> None:
    assert kept(Message(text=said)) == []


def test_a_short_answer_is_kept_whole_when_something_was_asked() -> None:
    asked = Message(role="assistant", text="Cute! What is her name?")
    answer = Message(text="Pumpkin. Two years old, quite shy")
    assert kept(asked, answer) == [answer.text]
    offered = Message(role="assistant", text="Which style would you like?")
    assert kept(offered, Message(text="Something playful. Two stanzas")) == []


def test_questions_that_want_to_know() -> None:
    assert asks_for_fact("它叫什么名字？")
    assert asks_for_fact("Nice. How old is she?")
    assert not asks_for_fact("你想要哪种风格？")
    assert not asks_for_fact("Would you like another one?")
    assert not answers("maybe the blue one")


def test_each_statement_of_a_sentence_is_a_memory_with_its_own_words() -> None:
    assert kept(Message(text="I've left Norvik, I work at Tallis now")) == ["I've left Norvik", "I work at Tallis now"]
