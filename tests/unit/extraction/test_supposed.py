"""What is ordered once, only supposed, only asked or only to be reworded is no fact; what looks like it is one."""

from __future__ import annotations

import pytest

from schemas import Message
from tests.unit.extraction.test_plain import kept

ONCE = (
    "Make it spicier this time.",
    "Skip the intro just this once.",
    "Leave out the onions this time.",
    "Tastes great. Halve the sugar this time.",
    "Please add more salt this time.",
    "这次多放点蒜",
    "今天这次先用红色",
    "帮我把 main.py 里的变量改成下划线命名",
    "把第一列的单位改成上标",
)
SUPPOSED = (
    "要是哪天中了彩票，我就辞职去环游世界",
    "要是哪天中了彩票 我就辞职去环游世界",
    "如果有一天我发财了 我要买下整条街",
    "假如我是老板 每个人都放三天假",
    "假如我是船长 我就每周只开一天船 哈哈哈",
    "哪天有钱了我一定买辆保时捷",
    "倘若能重来 我要学画画",
    "what if we just sold the house and moved to Peru",
)
ASKED = (
    "下个月要不要去泡温泉呢",
    "要不要养只猫呢 再说吧",
    "周末去不去外婆家呢",
    "明天会不会下雪啊",
    "你们周三有没有空",
    "五一要去青岛吗",
)
REWORDED = (
    "Translate to German: my sister lives in Rome.",
    "Translate: I live in Bonn",
    "Can you translate this for me: I own a boat.",
    "Please proofread: I have a dog named Rex.",
    "翻译成英文：我家有两只狗",
    "翻译成英文 我家有两只狗",
    "帮我翻译一下：I have two dogs and a small boat.",
    "帮我润色：我住在杭州",
)
FACTS = (
    "The audit is in May this time.",
    "This time I am flying with Lufthansa.",
    "Always double the garlic.",
    "Avoid the casual style this time.",
    "For this one, don't use bullet points.",
    "我刚才只是试试你会不会说法语",
    "我喜欢看恐怖片，我有错吗",
    "以后表格都加边框",
    "帮我把会议改到周五下午三点",
    "等我退休了 我要去云南开客栈",
    "不管要不要加班，我周五都去接孩子",
    "我在学做饭呢",
    "我时不时去爬山",
    "我五一要去青岛",
    "我在考虑要不要换工作",
    "我叫小明，帮我翻译简历",
    "Use this: my name is Bob",
)


@pytest.mark.parametrize("said", [*ONCE, *SUPPOSED, *ASKED, *REWORDED])
def test_it_is_no_fact(said: str) -> None:
    assert kept(Message(text=said)) == []


@pytest.mark.parametrize("said", FACTS)
def test_what_only_looks_like_it_is_one(said: str) -> None:
    assert kept(Message(text=said))
