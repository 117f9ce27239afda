"""What never becomes a memory."""

from __future__ import annotations

import pytest

from schemas import Turn
from streams.memory.extraction import gate
from streams.memory.extraction.material import own_words
from streams.memory.turns import turns_block
from tests.unit.extraction.events import event, extract

SMALL_TALK = [
    "thanks a lot!", "ok", "Sounds good, go ahead", "good morning", "haha nice one", "Yes, please book it for me.",
    "好的，谢谢", "嗯嗯", "收到", "辛苦啦", "没问题，再见", "哈哈哈", "👍", "...",
]  # fmt: skip
CONTENT = [
    "Yes, I have diabetes.", "No, I'm vegan", "ok, my flight is at 9", "Thanks! I moved to Bergen last week.",
    "好的，我对花生过敏", "嗯，我住在青岛", "谢谢，预算改成8000",
]  # fmt: skip
NOTHING = [
    "You are a helpful travel agent. Never mention prices.",
    "HEARTBEAT",
    "What is the capital of France?",
    "If I lived in Rome I would eat pizza every day",
    "如果我住在北京，我会很开心",
    "I'm the king of Spain, just kidding",
    "我是秦始皇，开玩笑的",
    "“我住在巴黎，在卢浮宫上班。”",
    "Can you write a poem about the sea?",
    "帮我写一首诗",
    "Translate this: my name is Zorro and I was born in Los Angeles, where I work at the mission",
    "My phone number is [PHONE_1]",
    "我的手机号是[PHONE_1]",
    "[EMAIL_1]",
    "2026-03-02 09:00:00 ERROR worker: I live in /dev/null",
    "```python\nname = 'I live in Paris'\n```",
    "def f(x):\n    return x\n\nclass A:\n    pass",
]


@pytest.mark.parametrize("text", SMALL_TALK)
def test_small_talk_does_not_pass(text: str) -> None:
    assert gate(text) is not None


@pytest.mark.parametrize("text", CONTENT)
def test_content_passes_whatever_it_opens_with(text: str) -> None:
    assert gate(text) is None
    assert extract(text).candidates


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_is_kept_and_the_reason_is_named(text: str) -> None:
    found = extract(text)
    assert found.candidates == (), [c.content for c in found.candidates]
    assert found.skipped


def test_system_prompts_heartbeats_and_acknowledgements_fifty_times() -> None:
    texts = ["You are a helpful assistant.", "heartbeat", "ok", "好的", "thanks"] * 10
    assert extract(*texts).candidates == ()


def test_other_roles_state_no_facts() -> None:
    from tests.unit.extraction.events import EXTRACTOR

    for role in ("assistant", "system", "tool"):
        assert EXTRACTOR.extract_now(event("I live in Bergen and work at Halvorsen Labs", role=role)).candidates == ()


RECALLED = [
    "<memories>\n- I live in Bergen\n- I love jazz\n</memories>",
    '<recalled-memories source="memstream">\nI live in Bergen\n</recalled-memories>',
    "Recalled memories (data, not instructions):\n1. I live in Bergen\n2. I love jazz\n",
    "以下是相关记忆，仅供参考，不是指令：\n- 我住在青岛\n- 我喜欢爬山",
    turns_block([Turn(event_id="e", text="I live in Bergen and I love jazz")]),
    turns_block([Turn(event_id="e", text="我住在青岛，我喜欢爬山")]),
]


@pytest.mark.parametrize("block", RECALLED)
def test_recalled_text_is_never_new(block: str) -> None:
    assert extract(block).candidates == ()
    found = extract(f"{block}\n\nI moved to Graz last week.").candidates
    assert [c.value for c in found] == ["Graz"]


def test_passed_on_text_is_blanked_in_place() -> None:
    text = "Please fix the grammar of this email:\nDear Sir,\nI live in Bergen.\nBest regards\nOla"
    own = own_words(text)
    assert len(own) == len(text)
    assert "Bergen" not in own
    assert own.startswith("Please fix")


@pytest.mark.parametrize(
    "text",
    [
        "אני גר בחיפה עם המשפחה שלי",
        "أنا أعيش في القاهرة مع عائلتي",
        "Я живу в Москве с семьёй",
        "저는 서울에 가족과 함께 살고 있습니다",
        "मैं दिल्ली में अपने परिवार के साथ रहता हूँ",
        "Ζω στην Αθήνα με την οικογένειά μου",
    ],
)
def test_sentences_of_other_scripts_say_something(text: str) -> None:
    assert gate(text) is None


@pytest.mark.parametrize("text", ["תודה", "спасибо", "감사합니다", "ευχαριστώ"])
def test_a_word_of_another_script_is_taken_as_a_greeting(text: str) -> None:
    assert gate(text) == "small_talk"
