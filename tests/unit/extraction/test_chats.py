"""Chats as people type them, written without sight of the rules: what is told of oneself and of others is kept, what is
quoted, supposed, made up, asked or promised by the assistant is not.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from schemas import Message
from tests.unit.extraction.events import extract, only

# Pieces that one fact must hold, all of them; for each fact a tuple.
KEPT: dict[str, list[tuple[str, ...]]] = {
    "我妹妹下个月要去成都读研 学的是法医": [("成都",)],
    "我不是素食者，别再给我推荐沙拉店了": [("素食",)],
    "我对芒果过敏😭😭上次嘴肿得跟香肠一样": [("芒果", "过敏")],
    "其实我没发烧 就是想在家打游戏 对了我玩的是塞尔达": [("塞尔达",)],
    "王浩跳槽去小红书了，现在做增长": [("王浩", "小红书")],
    "我们组deadline改到5月20号了 之前是12号": [("5月20",)],
    "我开始学吉他了 每天练半小时 老师姓顾": [("吉他",)],
    "以后回答我都用表格，别写大段文字": [("表格",)],
    "我女儿叫豆豆，今年上小班，怕黑，睡觉得开小夜灯": [("豆豆",), ("怕黑",)],
    "我把咖啡戒了，现在只喝乌龙茶": [("乌龙茶",)],
    "下周三我要去医院复查膝盖，上午九点半，在瑞金": [("复查",)],
    "my brother in law just got a job at the port in Rotterdam, night shifts": [("Rotterdam",)],
    "I don't eat pork but fish is fine": [("pork",)],
    "moved in with Tomas last weekend 🎉 we live on Quarry Road now": [("Tomas",), ("Quarry Road",)],
    "sorry im typing on the bus i work at a bakery in leeds and i start at 4am so dont ping me after 8pm": [
        ("bakery",),
        ("4am",),
    ],
    "Priya is on maternity leave until October so Jonas covers the billing team": [
        ("Priya", "October"),
        ("Jonas", "billing"),
    ],
    "From now on call me Captain. Also keep answers under 100 words please.": [("Captain",), ("100 words",)],
    "used to smoke a pack a day, quit in March, now I run instead": [("quit", "March")],
    "my dentist is Dr Okafor, next checkup is on the 14th at 10": [("Okafor",), ("14th",)],
    "My son Leo can't have gluten and he starts school at St Brigid's in September": [("Leo", "gluten"), ("Brigid",)],
    "我表弟9月去墨尔本上大学🎓 学金融": [("墨尔本",)],
    "从今天起叫我老陈。另外回答别超过三句话": [("老陈",), ("三句",)],
    "我妈不吃香菜 我爸不吃葱 点菜的时候注意下": [("香菜",), ("葱",)],
    "Going forward use metric units. And write dates as day-month-year.": [("metric",), ("day-month-year",)],
    "my mom doesn't drive anymore, my sister Ada takes her to dialysis on Mondays": [("drive",), ("Ada", "dialysis")],
    "im not a morning person so no calls before 10 pls": [("10",)],
}
NOT_KEPT = (
    "要是我中了五百万我就去冰岛开民宿",
    "帮我写个请假条 就说我发烧了",
    "你觉得我适合学吉他吗",
    "听说他们公司要裁员，不知道真的假的",
    "今天好累啊啊啊啊啊",
    'she was like "I hate your cooking" and I was like ok then cook yourself lol',
    "if I ever moved to Canada I would get a husky",
    "write me a poem where I am a pirate and I love rum",
    "Can you explain how compound interest works?",
    "haha yeah sure and I am the queen of England",
    "给我写首诗，诗里我是个海盗，最爱喝朗姆酒",
    "假如你是我女朋友你会喜欢我送你口红吗",
    "网上说每天喝八杯水对身体好",
    "tell me a story in which I'm a detective and my partner is a talking cat",
    "what would you do if you were allergic to peanuts",
    "lol sure, and I am Santa Claus",
    "they say coffee is bad for you but whatever",
    'he was like "dude I moved to Texas" and I was like no way',
    "she's like, omg I got the job",
)
PROMISED = {
    "好的，我会在每天早上八点提醒你吃药。": "嗯嗯",
    "要不要我每周一帮你整理一次周报？": "不用了谢谢",
    "我之后会把每周的数据整理好发给你。": "行 那就这样",
    "I will send you the summary every Friday.": "sounds good thanks",
    "I can remind you at 6 pm every day if you like.": "nah no need",
}


@pytest.mark.parametrize("message", KEPT)
def test_what_is_told_is_kept(message: str) -> None:
    contents = [candidate.content for candidate in extract(message).candidates]
    assert all(any(all(piece in text for piece in fact) for text in contents) for fact in KEPT[message]), contents


@pytest.mark.parametrize("message", NOT_KEPT)
def test_what_nobody_says_of_the_world_is_not(message: str) -> None:
    assert [candidate.content for candidate in extract(message).candidates] == []


@pytest.mark.parametrize("promise", PROMISED)
def test_what_the_assistant_promises_is_no_fact(promise: str) -> None:
    context = (Message(role="assistant", text=promise),)
    assert [candidate.content for candidate in extract(PROMISED[promise], context=context).candidates] == []


def test_one_more_order_after_a_standing_one_stands_too() -> None:
    found = extract("Going forward use metric units. And write dates as day-month-year.").candidates
    assert [(candidate.why, candidate.importance) for candidate in found] == [("standing rule", 5.0)] * 2


@pytest.mark.parametrize(
    ("message", "day"),
    [
        ("I'm flying to my parents for Thanksgiving", "2026-11-26"),
        ("中秋我们回外婆家", "2026-09-25"),
        ("We're getting married this Friday", "2026-03-06"),
    ],
)
def test_a_named_day_is_a_time_whatever_stands_before_it(message: str, day: str) -> None:
    when = only(message).time
    assert when is not None
    assert when.start is not None
    assert when.start.astimezone(ZoneInfo("Asia/Shanghai")).date().isoformat() == day


def test_this_alone_is_no_time() -> None:
    assert only("I always cook this with butter").time is None
