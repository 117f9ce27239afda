"""A value that its speaker says has changed: the thing named again, a word of change, and another value of its kind.

"The launch is on 3 May" and then "they pushed the launch to 20 May"; 评审会定在周三, then 评审会改到周五了. The newer
one may leave out whose the thing is, never add it: "Anna's review moved" says nothing of the review.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle.guards import of_user_for_good
from streams.memory.settle.values import AMOUNT, CLOCK, DAY
from streams.memory.settle.wording import content_terms, figures

_RECURS: Final = re.compile(r"\b(?:every|each|weekly|daily|monthly|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b|每")
_FOR_GOOD: Final = re.compile(
    r"\b(?:from now on|from (?:\w+ )?on(?:wards?)?|going forward|permanently|for good|as of)\b"
    r"|以后|今后|往后|从.{1,6}起|长期"
)
_ONE_OFF: Final = re.compile(
    r"\b(?:this (?:week|month|time|once)|just (?:today|tomorrow|once)|only (?:today|tomorrow)|for (?:now|today))\b"
    r"|这周|本周|这次|就这|今天的|明天的|临时|暂时|先"
)
_MOVES: Final = (
    r"(?:moved|pushed|postponed|rescheduled|brought|put|extended|delayed|slipped|shifted|changed|switched|raised|upped"
    r"|increased|bumped|lowered|cut|reduced|dropped|gone up|went up|came down|rose|fell|grew|grown|shrunk)"
)
_CHANGE: Final = re.compile(
    rf"\b{_MOVES}\b|\b(?:is|are|['’]s|are) now\b|\bnow (?:is|are|on|at|due)\b|\b(?:from now on|no longer|instead)\b"
    r"|(?:改|推迟|提前|延期|延后|延长|延|顺延|挪|调|涨|降|提高|提|增加|加|减|缩减|砍|升|换)(?:整)?(?:到|至|成|为)"
    r"|变成|变为|现在(?:是|定在|改)|以后|今后"
)
# Said as a wish, a question, a guess or a condition, or denied: nothing has changed yet.
_OPEN: Final = re.compile(
    r"\b(?:might|may(?! \d)|maybe|perhaps|could|should|would|wants?|wanted|asked|asking|propos\w+|suggest\w*|hop\w+|if"
    r"|try|trying|rumou?r\w*|whether|almost|nearly|not|never|\w+n['’]t)\b|\?"
    r"|可能|也许|或许|想|希望|建议|能不能|要不要|会不会|如果|要是|万一|打算|申请|争取|差点|没|不|吗|？|听说|据说"
)
# Said of a clause, these leave open what the next one says.
_SUPPOSED: Final = re.compile(r"\b(?:if|unless|suppose\w*|rumou?r\w*|whether)\b|如果|要是|万一|假如|听说|据说|[?？]")
_CLAUSE: Final = re.compile(r"[,;:](?!\d)|[.!?](?=\s|$)|—|[。\n]|\s(?:and|but|so|because)\s")
# What joins a thing and its value, at the end of what stands before the value.
_JOINS: Final = re.compile(
    r"(?:\s|^)(?:is|are|was|were|be|been|has|have|had|got|now|will|set|fixed|scheduled|planned|booked|due|for|on|at"
    r"|by|to"
    r"|from|until|till|around|about|max|maximum|at most|up|down|back|forward|out|only|just|still|costs?|the|a|an|under"
    rf"|below|over|limited|capped|{_MOVES})$|['’]s$"
    r"|(?:定|安排|放|设|排|约|改|推迟|提前|延期|延后|延长|延|顺延|挪|调整?|涨|降|提高|提|增加|加|减|缩减|砍|升|换"
    r"|变)(?:在|到|至|成|为)?了?$"
    r"|(?:是|在|到|为|每个?月|每人|每天|要|有|就|现在|已经|大概|大约|最多|不超过|差不多|一共|目前|又|被|都|从|了)$"
)
_OBJECT: Final = re.compile(rf"^.*\b{_MOVES} (?=(?:the|our|my|their|his|her)\b)|^.*?[把将]")
_OWN: Final = re.compile(
    r"\b(?:from now on|from \w+ on|as of \w+|\w+ly|the|our|my|a|an|so|then|project|meeting time|time|date)\b"
    r"|项目|时间|日期|的|我们|咱们|每个?月|每人|每天|那个|这个|从.{1,6}起"
)
_SHORT: Final = 3  # "去体检" is a check-up; "去杭州出差" names where
_LEAST: Final = 2  # terms of a name that may stand for a longer one


@dataclass(frozen=True, slots=True)
class _Set:
    """A thing and its value. `kinds`: "day", "clock", or the unit of an amount."""

    topic: frozenset[str]
    kinds: frozenset[str]
    value: str
    clause: str
    # What is said after the value.
    after: frozenset[str]


def changed(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer statement give what the older one set another value, and say that this is a change?"""
    changes = _changes(new.content)
    if not changes or not of_user_for_good(old, new):
        return False
    if "negative" in (old.polarity, new.polarity) or "retract" in (old.operation, new.operation):
        return False
    return any(_replaces(one, other, old, new) for other in changes for one in _sets(old.content))


def _replaces(one: _Set, other: _Set, old: MemoryRecord, new: MemoryRecord) -> bool:
    if figures(one.value) == figures(other.value) and one.value == other.value:
        return False
    same = one.topic == other.topic or (len(other.topic) >= _LEAST and other.topic < one.topic)
    if one.after and other.after and one.after.isdisjoint(other.after):
        return False  # "at most 50 euros on the gift", "at most 20 euros on lunch"
    if not same or not one.kinds & other.kinds or ("day" in one.kinds and "day" not in other.kinds):
        return False
    for_good = bool(_RECURS.search(fold(new.content)) or _FOR_GOOD.search(fold(new.content)))
    return for_good or not _RECURS.search(one.clause)


def set_in(text: str) -> frozenset[frozenset[str]]:
    """The things that a statement sets a day, a time or an amount for, each by its words."""
    return frozenset(one.topic for one in _sets(text) if "number" not in one.kinds)


@lru_cache(maxsize=20_000)
def _changes(text: str) -> tuple[_Set, ...]:
    """What a statement says has changed; a word of change may stand in a clause before it ("they raised it: ...")."""
    folded = fold(text)
    if not _CHANGE.search(folded) or _SUPPOSED.search(folded):
        return ()
    return tuple(one for one in _sets(text) if not _OPEN.search(one.clause) and not _ONE_OFF.search(one.clause))


@lru_cache(maxsize=20_000)
def _sets(text: str) -> tuple[_Set, ...]:
    found = (_set(clause.strip()) for clause in _CLAUSE.split(fold(text)) if clause)
    return tuple(one for one in found if one is not None)


def _set(clause: str) -> _Set | None:
    hits = {"day": DAY.search(clause), "clock": CLOCK.search(clause)}
    kinds = {name for name, hit in hits.items() if hit}
    spans = [hit.span() for hit in hits.values() if hit]
    if not kinds and (amount := AMOUNT.search(clause)) is not None:
        kinds = {amount["sign"] or amount["unit"] or amount["zh"] or "number"}
        spans = [amount.span()]
    if not kinds:
        return None
    start, end = min(s for s, _ in spans), max(e for _, e in spans)
    topic = _topic(clause[:start]) or _planned(clause[end:])
    after = frozenset(term for term in content_terms(clause[end:]) if term.isascii())
    return _Set(topic, frozenset(kinds), clause[start:end], clause, after) if topic else None


_PLAN: Final = re.compile(r"^(?:我们?|咱们?)(?:要|得|会|打算|准备|需要)(?P<what>去?[^，。还也]{2,12})$")


def _planned(after: str) -> frozenset[str]:
    """What is planned for a day that stands before it: "5月20号我要去深圳出差"."""
    plan = _PLAN.match(after.strip())
    if plan is None:
        return frozenset()
    what = plan["what"]
    return frozenset(content_terms(what.removeprefix("去") if len(what) <= _SHORT else what))


def _topic(before: str) -> frozenset[str]:
    """Content of what is named before a value."""
    before = before.strip()
    while (joined := _JOINS.search(before)) is not None:
        before = before[: joined.start()].strip()
    before = _OBJECT.sub("", before)
    return frozenset(term for part in _OWN.split(before) for term in content_terms(part))
