"""Dated statements about oneself: what lies ahead is a task, what lies behind an experience, what is done progress."""

from __future__ import annotations

import re
from datetime import datetime

from schemas import TimeRef
from streams.memory.extraction.cued import Cued
from streams.memory.extraction.slots import SLOTS, Slot
from streams.memory.look import Looked

_AHEAD = Cued(
    "i we my",
    r"\b(?:i|we)(?:['’]m| am|['’]re| are)? (?:\w+ )?(?:going to|want to|planning to|plan to|about to|will|need to"
    r"|have to"
    r"|must|hope to|intend to|leaving|flying"
    r"|meeting|starting|visiting|moving|travell?ing)\b|\b(?:i|we)['’]ll\b|\b(?:i|we)(?:['’]ve"
    r"| have)? (?:got )?(?:an? |my |the )?(?:\w+ ){0,3}?"
    r"(?:appointment|meeting|interview|flight|exam|call|trip|presentation|deadline|party|wedding|class|demo"
    r"|surgery)\b|\bmy (?:\w+ ){0,3}?(?:appointment"
    r"|meeting|interview|flight|exam|trip|presentation|wedding|surgery|visa|lease|contract)\b"
    r"|我们?[^，。？]{0,20}(?:要|打算|准备|计划|得|会|去|有个?|需要|约了|出差|开会|面试|考试|见|飞|回)",
)
_BEHIND = Cued(
    "i we",
    r"\b(?:i|we) (?:\w+ly )?(?:was|were|had|did|went|got|bought|made|found|took|saw|met|left|ran|won|lost|\w{2,}ed)\b"
    r"|我们?[^，。？]{0,25}(?:了|过)(?=[^吗呢？?]|$)",
)
_DONE = Cued(
    "i we",
    r"\b(?:i|we)(?:['’]ve| have)? (?:\w+ly |just |already )*(?:finished|completed|submitted|shipped|passed"
    r"|launched|wrapped up|published|handed in)\b"
    r"|(?:已经|刚刚?|终于|都)[^，。？]{0,12}(?:完成|做完|写完|看完|学完|读完|提交|搞定|通过|上线|交了|做到|完了)"
    r"|(?:完成|做完|写完|搞定|通过)了",
)
THIS_MOMENT = frozenset({"now", "right now", "just now", "现在", "目前", "此刻", "这会儿"})
_ERRAND = Looked(
    r"\b(?:help me|can you|could you|write|draft|explain)\b|帮我|给我|你能|能不能|写一|推荐", re.IGNORECASE
)


def may_plan(sentence: str) -> bool:
    """A cheap look: whether `plan` can find anything once the time is known."""
    return bool(_AHEAD.search(sentence) or _BEHIND.search(sentence) or _DONE.search(sentence))


def plan(sentence: str, when: TimeRef | None, said_at: datetime) -> Slot | None:
    """The slot (`plan`, `experience` or `progress`) of a statement about oneself, if it is one; else None.

    A plan or an experience needs a time that resolves: without one it is talk.
    """
    if _ERRAND.search(sentence):
        return None
    if _DONE.search(sentence):
        return SLOTS["progress"]
    if when is None or when.text.casefold() in THIS_MOMENT or (when.start is None and when.end is None):
        return None
    ahead = (when.end or when.start or said_at) > said_at
    if ahead and _AHEAD.search(sentence):
        return SLOTS["plan"]
    if not ahead and _BEHIND.search(sentence):
        return SLOTS["experience"]
    return None
