"""What a memory may say: nothing whose names, numbers or dates were not said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from streams.memory.extraction.grounding import grounded

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)

SOUND = [
    # As it was said, or a piece of it.
    ("My sister moved to Bonn", "My sister moved to Bonn last week."),
    ("I meet Lisa at 13:30", "Well, I meet Lisa at 13:30 today"),
    ("我住在杭州", "其实我住在杭州，靠近西湖。"),
    ("李明搬到了波恩", "上周李明搬到了波恩"),
    # Reworded.
    ("User moved to Bonn", "I moved to Bonn"),
    ("Prefers window seats", "I prefer the window seat, window seats are best"),
    ("Lives in Bonn", "I'm in Bonn now"),
    ("The user's sister is called Lisa", "my sister is called lisa"),
    ("Currently works at Zeiss", "I work at Zeiss"),
    ("用户住在杭州", "我在杭州住"),
    ("用户喜欢喝美式", "我爱喝美式"),
    ("他现在在云杉科技上班", "我老公在云杉科技"),
    ("用户的姐姐叫李红", "我姐姐李红"),
    ("用户准备参加马拉松", "我要跑马拉松"),
    ("打算用Python重写", "我们要用Python重写"),
    # Names, whole.
    ("Ann's birthday is in June", "June is when Ann has her birthday"),
    ("Jean-Luc moved", "jean-luc moved out"),
    ("I fly with Jean", "I fly with Jean-Luc"),
    ("I drive an A4", "the car I drive is an a4"),
    ("O'Neil called", "then o’neil called"),
    # Numbers by value.
    ("I own 3 cats", "I own three cats"),
    ("I own three cats", "3 cats are what I own"),
    ("I own twenty-five books", "25 books"),
    ("I own a dozen eggs", "12 eggs"),
    ("我有3只猫", "我有三只猫"),
    ("我有两只猫", "我养了2只猫"),
    ("我买了二十三本书", "买了23本书"),
    ("预算是30000元", "预算3万元"),
    ("The budget is 1000", "the budget is 1,000 euros"),
    ("The budget is 1,000", "the budget is 1000"),
    ("It weighs 2.50 kg", "weight: 2.5 kg"),
    ("Meeting at 3 pm", "the meeting is at 3pm"),
    ("The dinner is on the 9th", "dinner: 9 March"),
    ("The ninth works for me", "the 9th works for me"),
    ("开会时间是4点", "四点开会"),
    ("用户有一个妹妹", "我有妹妹"),
    # Days.
    ("Meets on Mondays", "I meet him every Monday"),
    ("Meets on Monday", "I meet him on mon"),
    ("周一开会", "星期一要开会"),
    ("用户周日休息", "我礼拜天休息"),
    ("每周三次健身", "健身每周3次"),
    ("The party is in March", "the party is on 3 Mar"),
    ("明天交报告", "报告明天要交"),
    ("I sat beside Lisa and may march", "Lisa: I sat, and may march beside"),
]

INVENTED = [
    ("Lisa moved to Bonn", "My sister moved to Bonn"),
    ("My sister moved to Bonn. Lisa likes it", "My sister moved to Bonn and likes it"),
    ("I moved to Bonn with Lisa", "I moved to Bonn"),
    ("I work with Ann", "I work in planning"),
    ("Ann plans the release", "planning the release"),
    ("I drive an A6", "I drive an A4 with 6 seats"),
    ("I fly with Jean-Paul", "I fly with Jean-Luc"),
    ("User lives in Oslo", "I live in Bergen"),
    ("Fido is my dog", "my dog is old"),
    ("I use Rust", "I trust you"),
    ("王伟搬到了波恩", "李明搬到了波恩"),
    ("李伟搬到了波恩", "李明搬到了波恩"),
    ("王明搬到了波恩", "李明和王伟搬到了波恩"),
    ("用户的朋友叫小红", "我的朋友叫小明"),
    ("用户的同事叫小王", "我的同事小明，他是王明的弟弟"),
    ("我上个月刚从武汉搬到上海了", "我上个月刚从武汉搬到北京了"),
    ("用户住在苏州", "我住在杭州"),
    ("我在云松科技上班", "我在云杉科技上班"),
    ("他喜欢喝拿铁", "我喜欢喝美式"),
    ("用户不喜欢香菜", "我喜欢香菜"),
    ("三点开会", "四点开会"),
    ("我有四只猫", "我有三只猫"),
    ("我有4只猫", "我有三只猫"),
    ("用户有十三本书", "我有三十本书"),
    ("预算是3000元", "预算3万元"),
    ("四月去旅行", "三月去旅行"),
    ("I own four cats", "I own three cats"),
    ("I own 4 cats", "I own three cats"),
    ("I own 3 cats", "I come at 13:30"),
    ("I come at 3", "I come at 13:30"),
    ("I come at 30", "I come at 13:30"),
    ("I come at 3:30", "I come at 13:30"),
    ("The budget is 100", "the budget is 1000"),
    ("The budget is 1", "the budget is 1,000"),
    ("The code is 12345678901234567891", "the code is 12345678901234567890"),
    ("Version 1.2.4", "version 1.2.3"),
    ("I own a dozen eggs", "I own eggs"),
    ("The third works for me", "the 9th works for me"),
    ("Meets on Friday", "I meet him on Monday"),
    ("Friday is fine", "Monday is fine"),
    ("周五开会", "周一开会"),
    ("星期二休息", "礼拜天休息"),
    ("The party is in April", "the party is in March"),
    ("后天交报告", "明天交报告"),
    ("I leave tomorrow", "I leave today"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "source"), SOUND)
def test_what_was_said_is_grounded(content: str, source: str) -> None:
    assert grounded(content, source)


@pytest.mark.parametrize(("content", "source"), INVENTED)
def test_what_was_not_said_is_not(content: str, source: str) -> None:
    assert not grounded(content, source)


@pytest.mark.parametrize(
    ("content", "source", "known"),
    [
        ("The meeting is on Monday", "the meeting is tomorrow", True),
        ("The meeting is on Tuesday", "the meeting is tomorrow", False),
        ("The meeting is on 2 March", "the meeting is tomorrow", True),
        ("The meeting is on 4 March", "the meeting is tomorrow", False),
        ("周一开会", "明天开会", True),
        ("周三开会", "明天开会", False),
        ("3月2日开会", "明天开会", True),
        ("三月五日开会", "明天开会", False),
    ],
)
def test_a_day_may_be_what_was_said_resolves_to(content: str, source: str, known: bool) -> None:
    assert grounded(content, source, dates=[MONDAY, MONDAY.replace(day=3)]) is known


@pytest.mark.parametrize(
    ("value", "known"),
    [("window seats", True), ("Ann", False), ("13:30", True), ("30", False), ("靠窗", True), ("靠走廊", False)],
)
def test_words_of_a_value_are_whole(value: str, known: bool) -> None:
    source = "planning for 13:30, a window seat, 靠窗座位"
    assert grounded(value, source, value=value) is known
