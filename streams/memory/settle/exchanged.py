"""One thing exchanged for another in so many words: "I moved my notes over to Obsidian", 工资卡换成招商银行的了.

The older statement is about the thing that is named ("I use Notion for my notes"), and what else it says is short: the
value that was exchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle.leftover import missing, plain, size, things
from streams.memory.settle.restated import may_follow
from streams.memory.settle.single import occasion, sole
from streams.memory.settle.wording import figures, names

_CLAUSE: Final = re.compile(r"[,;:](?!\d)|[.!?](?=\s|$)|—|[，。；！？\n]|\s(?:but|so|because|since)\s")
_INTO_EN: Final = re.compile(
    r"^(?:i|we|they)(?:'ve| have| has)?(?: \w+ly| just| now)? (?:switched|moved|changed|transferred|migrated|brought"
    r"|traded|swapped)(?: all)?(?: of)? (?P<what>(?:my|our|the) [\w' -]{2,40}?)(?: over| across| away)?"
    r"(?: from (?P<gone>[\w .&'-]{2,30}?))? (?:to|for|with)"
    r" (?P<value>(?:the |an? )?[\w .&'-]{2,40}?)(?: now| instead)?$"
)
_FROM_EN: Final = re.compile(
    r"^(?P<what>[\w' -]{2,40}?) (?:was|is|has been|got|went|passed|moved|switched|changed)(?: now)?"
    r"(?: handed| passed| moved| switched| transferred| given)?(?: over)? from (?P<gone>[\w .&'-]{2,30}?)"
    r" to (?P<value>[\w .&'-]{2,40}?)$"
)
_WHO_ZH: Final = "(?:我们?|咱们?)?"
_INTO_ZH: Final = re.compile(
    rf"^{_WHO_ZH}把?(?P<what>[^，]{{2,14}}?){_WHO_ZH}(?:已经|都|全部?|现在|最近|刚|也?被)*(?:换成|改成|改为|改用|变成|(?P<put>换到|转到"
    r"|搬[到去]|移到)|换|改|交给|转给|移交给|让给)了?(?P<value>[^，了的]{1,10}?)(?:的|上|里|那边|负责|管)*了?$"
)
# 我现在改支持海港了: what is done stays, to whom or what is another.
_DOES_ZH: Final = re.compile(
    rf"^(?P<what>{_WHO_ZH}[^，]{{0,6}}?)(?:已经|都|现在|最近|刚)*改(?![成到为在签期约点])(?P<does>[^，用了]{{1,2}})"
    r"(?P<value>[^，了的]{2,10}?)了?$"
)
# How it is or what came of it: no value that another one takes the place of.
_TELLS: Final = re.compile(
    r"\b(?:very|too|so|really|quite|not|love|like|hate|prefer|want|wish|hope|plan|need|think|was|were|had|did"
    r"|(?!speed|need|feed)\w{3,}ed)\b|[很太挺好真没不坏丢贵想觉]|喜欢|打算|[了过](?=$|[^\w])"
)
# Where something is put is no value that it is exchanged for.
_PUT_ZH: Final = re.compile("[存放记写摆]在")
_MOST_UNSAID: Final = 2
_EARLY: Final = 3  # characters: 我的, 我家的


@dataclass(frozen=True, slots=True)
class _Exchange:
    """`gone`: the value before, when it is told. `put`: it is told where something is."""

    what: frozenset[str]
    gone: frozenset[str]
    value: frozenset[str]
    put: bool


def exchanged(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer one say that another value takes the place of what the older one tells of a thing?"""
    found = _exchanges(new.content)
    return bool(found) and may_follow(old, new) and any(_takes_the_place(one, old.content) for one in found)


def _takes_the_place(one: _Exchange, said: str) -> bool:
    folded = fold(said)
    if _TELLS.search(folded) or _CLAUSE.search(folded.rstrip(" .!。！")):
        return False
    there = things(folded)
    unsaid = missing(there, one.what | one.gone)
    if missing(one.what, there) or missing(one.gone, there) or not missing(one.value, there):
        return False
    if size(unsaid) > _MOST_UNSAID:
        return False
    return bool(one.gone) or (bool(unsaid) and _tells_of(one, said))


def _tells_of(one: _Exchange, said: str) -> bool:
    """Is what else it says the value that was exchanged? A number is compared with numbers only (`restated`)."""
    if figures(" ".join(one.value)) or figures(said):
        return False
    if said.isascii():
        # "The meeting", "the project" may be one of them.
        return bool(names(said)) and not all(occasion(word) or sole(word) for word in one.what)
    # Not of "my tutor is Ann" when Ann moved house: the thing is named first, then what is told of it.
    first = any(said.find(word[:2]) in range(_EARLY) for word in one.what)
    return first and (one.put or not _PUT_ZH.search(said))


@lru_cache(maxsize=20_000)
def _exchanges(text: str) -> tuple[_Exchange, ...]:
    clauses = (clause.strip() for clause in _CLAUSE.split(fold(text).replace("’", "'").rstrip(" .!。！")) if clause)
    found = (_exchange(clause) for clause in clauses)
    return tuple(one for one in found if one is not None and one.what and one.value)


def _exchange(clause: str) -> _Exchange | None:
    for expression in (_INTO_EN, _FROM_EN, _DOES_ZH, _INTO_ZH):
        if (hit := expression.match(clause)) is not None:
            told = hit.groupdict(default="")
            what = things(told["what"] + told.get("does", ""))
            return _Exchange(what, plain(told.get("gone", "")), plain(told["value"]), bool(told.get("put")))
    return None
