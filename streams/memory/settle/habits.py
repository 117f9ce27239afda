"""A habit that is at another time now, or gave way to another at the same time.

"I walk the dog every morning", then "I walk the dog every evening now"; 我每天早上跑步, then 我现在每天晚上跑步. What
is done must be the same in all its words, for the same people, and a word must say that it is so now.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle.guards import of_user_for_good
from streams.memory.settle.single import in_part
from streams.memory.settle.wording import content_terms

_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_PART: Final = r"(?:morning|afternoon|evening|night|noon|midday)"
_ZH_PART: Final = r"(?:早上|早晨|上午|中午|下午|傍晚|晚上|凌晨|睡前)"
_ZH_NUMBER: Final = r"[\d一二三四五六七八九十]+"
_KINDS: Final = {
    "weekday": re.compile(rf"(?:\bon |\bevery |\beach )?\b{_WEEKDAY}s?\b|每?个?(?:周|星期|礼拜)[一二三四五六日天]"),
    "clock": re.compile(
        rf"(?:\bat )?\b\d{{1,2}}(?:[:.]\d\d)? ?[ap]\.?m\b\.?|(?:\bat )?\b\d{{1,2}}:\d\d\b|\bat \d{{1,2}}\b"
        rf"|\bat (?:noon|midnight)\b"
        rf"|{_ZH_NUMBER}[点點](?:半|一刻|{_ZH_NUMBER}分?)?"
    ),
    "part": re.compile(rf"(?:\bevery |\beach |\bin the |\bat )?\b{_PART}s?\b|{_ZH_PART}"),
    "often": re.compile(r"\b(?:every (?:single )?day|daily|every week|weekly)\b|每[天日周]"),
}
_NOW: Final = re.compile(
    r"\b(?:now|these days|nowadays|from (?:now|today) on|going forward|currently|as of (?:now|today|this \w+))\b"
    r"|现在|目前|如今|以后|今后|改成|改为|改到|改在"
)
_INSTEAD: Final = re.compile(r"\binstead[.!]?$")
_ADDS: Final = re.compile(r"\b(?:also|too|as well|and|or|both)\b|[也还]|早晚")
_OPEN: Final = re.compile(
    r"\b(?:when|if|unless|except|weekends?|weekdays|he|she|they|you|today|tomorrow|tonight|yesterday|this|did|was"
    r"|were|not|never"
    r"|\w+n['’]t|\w+['’]d)\b|[他她你]|今天|明天|昨天|周末|不|没|别"
)
_CLAUSE: Final = re.compile(r"[,;:—](?!\d)|[.!?](?=\s|$)|[，。；！？\n]|\s(?:but|so|because|since)\s")
_ZH_MANNER: Final = re.compile(
    r"我们?|咱们?|都|就|要|得|会|一般|通常|平时|总是?|最近|经常|已经|了|的|地|固定|去(?=[\u4e00-\u9fff]{2})|在(?=$)"
)
_MANNER: Final = re.compile(
    r"\b(?:usually|always|normally|generally|typically|mostly|still|all|sharp|already|i|we|my|our)\b"
)
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class _Habit:
    """`done`: the content of what is done and by whom; `times`: kind and words of each time."""

    done: tuple[str, ...]
    times: frozenset[tuple[str, str]]
    now: bool
    instead: bool

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(kind for kind, _ in self.times)


def habit_moved(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer statement say that a habit of the older one is at another time now, or that another took its
    place?"""
    later = [habit for habit in _habits(new.content) if habit.now or habit.instead]
    if not later or not _habits(old.content):
        return False
    if not of_user_for_good(old, new) or "negative" in (old.polarity, new.polarity):
        return False
    if in_part(new.content) or in_part(old.content):
        return False
    return any(
        _at_another_time(one, other) or _in_its_place(one, other) for other in later for one in _habits(old.content)
    )


def _at_another_time(one: _Habit, other: _Habit) -> bool:
    same = one.done == other.done or (len(other.done) >= _LEAST and set(other.done) < set(one.done))
    return other.now and same and other.kinds <= one.kinds and not other.times <= one.times


def _in_its_place(one: _Habit, other: _Habit) -> bool:
    """Another thing, said to be instead, at the very time and for the same end ("before work", "to work")."""
    mine, theirs = set(one.done), set(other.done)
    return (
        other.instead
        and one.times == other.times
        and bool(mine & theirs)
        and bool(theirs - mine)
        and len(mine - theirs) == 1
    )


def doings(text: str) -> frozenset[frozenset[str]]:
    """What is done as a habit, each by its words."""
    return frozenset(frozenset(habit.done) for habit in _habits(text))


@lru_cache(maxsize=20_000)
def _habits(text: str) -> tuple[_Habit, ...]:
    folded = fold(text).replace("’", "'")
    if not any(pattern.search(folded) for pattern in _KINDS.values()):
        return ()
    return tuple(one for clause in _CLAUSE.split(folded) if clause and (one := _habit(clause.strip())) is not None)


def _habit(clause: str) -> _Habit | None:
    now, instead = bool(_NOW.search(clause)), bool(_INSTEAD.search(clause))
    left = _INSTEAD.sub(" ", _NOW.sub(" ", clause))
    if _OPEN.search(left) or _ADDS.search(left):
        return None
    times: set[tuple[str, str]] = set()
    for kind, pattern in _KINDS.items():
        found = {_spelling(hit) for hit in pattern.findall(left)}
        if len(found) > 1:
            return None
        times |= {(kind, said) for said in found}
        left = pattern.sub(" ", left)
    if any(kind != "often" for kind, _ in times):
        times = {(kind, said) for kind, said in times if kind != "often"}
    done = content_terms(_ZH_MANNER.sub("", _MANNER.sub(" ", left)))
    return _Habit(done, frozenset(times), now, instead) if times and done else None


def _spelling(said: str) -> str:
    return re.sub(r"\b(?:on|every|each|at|in the)\b|每个?|\s|s$", "", said)
