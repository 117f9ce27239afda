"""What a user asks not to keep is kept by no layer; what only sounds like it is."""

from __future__ import annotations

import pytest

from streams.memory.extraction import RuleExtractor, episodes
from streams.memory.extraction.gate import gate
from tests.unit.extraction.events import event

ASKED = [
    "please don't keep this: I have a second job",
    "I'm pregnant, please don't save it",
    "请不要记录我的住址：我住在杭州西湖边",
    "please don't keep this one: I've started seeing a therapist on Mondays",
    "Don't save this, but I'm thinking of quitting",
    "off the record: our Q3 numbers are bad",
    "This is off the record, my boss is leaving",
    "I'm seeing someone new. Please don't remember that.",
    "my ex called again (don't log this)",
    "Between you and me, and don't write this down: I failed the exam",
    "don't store any of this",
    "Can you not save this? I'm pregnant",
    "just don't keep a record of this, I owe him 2k",
    "do not memorize this please. I cheated on my diet",
    "You: don't remember this part, ok",
    "跟你说个事，这个不要记下来：我准备下个月提离职",
    "别记：我和老板吵架了",
    "这条别保存，我最近在看心理医生",
    "下面的话不要记录。我想离婚",
    "我准备跳槽，这事你别记",
    "不用记下来，我就随口说说我欠了两万",
    "我怀孕了，先别存档",
    "千万别把这个记下来，我想辞职",
    "这件事不要记住啊，我偷偷买了股票",
    "别帮我记这个：我体检有点问题",
    "這個不要記下來",
]
NOT_ASKED = [
    "You don't remember this, but I live in Leeds now",
    "do not store it, keep it in the fridge",
    "请不要记录我的名字",
    "I don't remember this place at all",
    "We don't save that much money",
    "I never save it for later",
    "don't record over that tape",
    "Don't forget to remember this: I'm allergic to nuts",
    "You don't keep this one in the fridge",
    "they do not log it properly at work",
    "I did not write that report",
    "don't save the file yet",
    "My phone does not store photos",
    "Don't note the price, I know it",
    "he said it was off the record player",
    "I keep this one for guests",
    "don't keep this kettle on",
    "Never write it in red ink",
    "She told me not to save it on the laptop",
    "don't write that down as a win for Arsenal, it was a draw",
    "why don't you remember that I like tea?",
    "If you don't remember this I'll be sad",
    "I don't log it",
    "这次别记错了",
    "我不记得了",
    "别记我的仇",
    "我从来不记账",
    "不要记成周三，是周四",
    "不用记住密码，我用指纹",
    "老师说不用记笔记",
    "我妈叫我别记",
    "别忘了记下来",
    "不要记错日子",
    "医生让我不要记录体重",
    "记下来：我对花生过敏",
    "他不保存聊天记录",
    "这个文件不要保存到桌面",
    "不用记那么多单词",
    "我不想记",
    "合同不用保存",
    "以后会议不用记录了",
    "密码不要记在纸上",
    "你怎么不记住我说的",
    "forget that I said that about Leeds, it was Bradford",
    "ignore what I said before, I'm vegan",
    "Never mind, don't save it to the cloud",
    "你别记恨他",
    "别记恨他",
]


@pytest.mark.parametrize("text", ASKED)
def test_nothing_of_it_is_kept(text: str) -> None:
    assert gate(text) == "off_record"
    told = event(text)
    assert (RuleExtractor().extract_now(told).candidates, episodes(told)) == ((), ())


@pytest.mark.parametrize("text", NOT_ASKED)
def test_what_sounds_like_it_is_no_such_order(text: str) -> None:
    assert gate(text) != "off_record"


def test_messages_beside_it_are_kept() -> None:
    told = event("I live in Porto with my sister", "don't save this: I might be fired")
    kept = (*RuleExtractor().extract_now(told).candidates, *episodes(told))
    assert [candidate.message for candidate in kept] == [0] * max(1, len(kept))


BEFORE = [
    "Please don't save what I just said.",
    "Oh, don't remember my last message please",
    "don't keep that last bit",
    "刚才那句别记",
    "上一条不要保存",
    "别记我刚才说的话",
    "对了，刚说的请不要记录下来",
]


@pytest.mark.parametrize("order", BEFORE)
def test_an_order_about_the_message_before_keeps_neither(order: str) -> None:
    told = event("I live in Porto with my sister", "I might be fired", order, "My dog is called Rex")
    kept = (*RuleExtractor().extract_now(told).candidates, *episodes(told))
    assert {candidate.message for candidate in kept} == {0, 3}


def test_an_order_at_the_end_of_a_message_is_about_that_message() -> None:
    told = event("I live in Porto with my sister", "I might be fired. Don't save what I just said.")
    kept = (*RuleExtractor().extract_now(told).candidates, *episodes(told))
    assert {candidate.message for candidate in kept} == {0}


def test_what_was_said_before_and_is_spoken_of_is_kept() -> None:
    told = event("I might be fired", "别记错刚才那句")
    assert {candidate.message for candidate in episodes(told)} >= {0}


def test_a_message_taken_off_the_record_is_why_nothing_was_kept() -> None:
    assert RuleExtractor().extract_now(event("I might be fired", "刚才那句别记")).skipped == "off_record"
