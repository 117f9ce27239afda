"""Facts that stand beside something else: a second clause, a masked value, an aside; and what only looks like one."""

from __future__ import annotations

import pytest

from schemas import Message
from tests.unit.extraction.test_plain import kept


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Wei does the data part and I do the API.", "data"),
        ("I do the frontend, Jonas does the backend.", "Jonas"),
        ("Priya looks after the garden, we do the roof.", "Priya"),
        ("The database is Postgres, the cache is Redis.", "Redis"),
        ("I'm building Osprey, a planner for choirs. Backend is Rails, frontend is Vue, hosted on Linode.", "Rails"),
        ("The contractor is Bauer & Sons.", "Bauer"),
        ("the garage wants to know the year, 2019 it is", "2019"),
        ("finally started renovating the loft!", "loft"),
        ("just signed the lease", "lease"),
        ("空调开到26度就行", "26度"),
        ("音量设成30就行", "30"),
        ("前端从 Vue 换成 React 下个版本开始", "React"),
        ("数据库从 MySQL 迁到 Postgres 了", "Postgres"),
        ("数据主要用 Landsat 卫星的，最近下载慢得要命。", "Landsat"),
        ("画图我一直用 Procreate", "Procreate"),
        ("我做翻译，住在厦门", "翻译"),
        ("报销找 Kevin 就行", "Kevin"),
        ("签证的事问小刘", "小刘"),
        ("我换工作了，现在在苏州上班，做半导体设备销售。", "半导体"),
        ("我老婆叫王芳，在华为上班，做芯片测试的", "芯片"),
        ("帮我填一下报名表，身份证号是[ID_CARD_1]，我报的是周六的摄影班。", "摄影班"),
        ("手机号[PHONE_1]，平时晚上七点后才有空接电话", "七点"),
    ],
)
def test_it_is_kept(said: str, words: str) -> None:
    assert any(words in content for content in kept(Message(text=said)))


@pytest.mark.parametrize(
    "said",
    [
        "That's how it is.",
        "This is what it is.",
        "just kidding",
        "just got home",
        "It does the job.",
        "finally finished it",
        "找个时间聊聊",
        "帮我找王姐的电话",
        "字数控制在200就行",
        "先调到24度就行",
        "手机号是[PHONE_1]，邮箱是[EMAIL_1]",
    ],
)
def test_it_is_not(said: str) -> None:
    assert kept(Message(text=said)) == []
