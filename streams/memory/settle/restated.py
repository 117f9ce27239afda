"""What is said once more with another value, as a change: by what is left of both when the values are taken out.

"My desk is on the second floor", then "they put my desk on the fourth floor"; 我去健身房改成周一周五了. All that the
newer one speaks of is in the older one, which may say a little more, and both give it values of one kind. `changes` and
`frames` know how a clause is built; this only compares words, and so asks for more of them in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle.contrasts import contrast
from streams.memory.settle.guards import of_user_for_good
from streams.memory.settle.leftover import CHINESE, missing, says_change, size, things
from streams.memory.settle.single import in_part, occasion, sole
from streams.memory.settle.values import AMOUNT, CLOCK, DAY, MONTH, ZH_NUMBER
from streams.memory.settle.wording import figures

_CLAUSE: Final = re.compile(r"[,;:](?!\d)|[.!?](?=\s|$)|—|[，。；！？\n]|\s(?:and|but|so|because|since)\s")
_ADDS: Final = re.compile(
    r"\b(?:also|too|as well|another|other|besides|more|extra|second|last|first|next)\b"
    r"(?! (?:floor|week|month|year|semester|term|\w+day))|[也还再]|另|第"
)
_IN_MONTH: Final = re.compile(rf"(?:(?<=\bin )|(?<=\bto )|(?<=\bby )|(?<=\bfor ))(?:{MONTH})(?![\w ]*\d)")
_FLOOR: Final = re.compile(
    rf"\b(?:ground|top|first|second|third|fourth|fifth|sixth|\d+(?:st|nd|rd|th)) floor\b|{ZH_NUMBER}[楼樓层層]"
)
_CODE: Final = re.compile(r"\b(?:\d+[a-z]|[a-z]\d+)\b")
_KINDS: Final = (("floor", _FLOOR), ("day", DAY), ("month", _IN_MONTH), ("clock", CLOCK), ("code", _CODE))
# How often something is so much: of neither value nor thing.
_OFTEN: Final = re.compile(
    r"\b(?:an?|per|every|each) (?:day|week|month|year|night|morning|hour)\b|每(?:天|周|年|晚|个?月|个?星期)"
    r"|(?<![周十期拜])一(?:天|周|年|个月|个?星期)(?![一二三四五六日])"
)
_ONE_TO_TWELVE: Final = "one two three four five six seven eight nine ten eleven twelve"
_SPELLED: Final = {name: str(at) for at, name in enumerate(_ONE_TO_TWELVE.split(), 1)}
_NUMBER: Final = re.compile(
    rf"\b(?:{'|'.join(_SPELLED)})\b(?= (?!of|and|or|for|to|in|on|at|with|is|was|who|that|day)\w)"
)
_RECURS: Final = re.compile(
    r"\b(?:every|each|weekly|daily|monthly|(?:mon|tues|wednes|thurs|fri|satur|sun)days|mornings|evenings|nights)\b"
    r"|\b(?:now|nowadays|these days)\b|每|以后|现在|如今|目前|周[一二三四五六日天][^，]{0,2}周"
)
_BARE: Final = re.compile(r"(?<![a-z\d.:/-])\d[\d,.]*(?![\w:/])")  # 心率72
_DATA: Final = frozenset({"g", "gb", "t", "tb", "mb"})
_MOST_UNSAID: Final = 2  # words of the older one that the newer one leaves out


@dataclass(frozen=True, slots=True)
class _Clause:
    """`values`: kind and words of each. `rest`: what is left without them."""

    said: str
    values: list[tuple[str, str]]
    rest: str


@dataclass(frozen=True, slots=True)
class _Told:
    """`recurs`: said of more than one time."""

    kinds: frozenset[str]
    value: frozenset[str]
    frame: frozenset[str]
    recurs: bool


def restated(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer one say what the older one says with another value, and that this is a change?"""
    one, other = _told(old.content), _changed(new.content)
    if one is None or other is None or one.kinds != other.kinds or one.value == other.value:
        return False
    if one.recurs and not other.recurs and not other.kinds.isdisjoint(("day", "clock")):
        return False  # for once
    if one.recurs and any(number.startswith("month") for number in other.value):
        return False
    return _of_one_thing(one.frame, other.frame) and may_follow(old, new)


@lru_cache(maxsize=20_000)
def spoken_of(text: str) -> frozenset[str]:
    """All that a statement speaks of, without its values: stems, and stretches of Chinese."""
    return frozenset(thing for clause in _clauses(text) for thing in things(clause.rest))


def set_anew(text: str) -> frozenset[frozenset[str]]:
    """What a statement gives a value, by its words."""
    told = _told(text)
    return frozenset() if told is None else frozenset({told.frame})


def may_follow(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Did the user say both of what is so, of the same people, and for good?"""
    if not of_user_for_good(old, new) or "negative" in (old.polarity, new.polarity):
        return False
    return contrast(old.content, new.content) is None and not in_part(new.content) and not in_part(old.content)


def _of_one_thing(one: frozenset[str], other: frozenset[str]) -> bool:
    """Is all that the newer one speaks of in the older one, and little of the older one not in the newer one?"""
    if missing(other, one):
        return False
    unsaid = missing(one, other)
    # "The meeting", "the budget" may be one of them, unless nothing more is said of either.
    return not unsaid or (size(unsaid) <= _MOST_UNSAID and not all(occasion(word) or sole(word) for word in other))


@lru_cache(maxsize=20_000)
def _changed(text: str) -> _Told | None:
    """What a statement gives a value, if it says that it has changed; clauses that do neither are left out."""
    clauses = _clauses(text)
    if not any(says_change(one.said) for one in clauses) or any(_ADDS.search(one.said) for one in clauses):
        return None
    return _read(one for one in clauses if says_change(one.said) or one.values)


@lru_cache(maxsize=20_000)
def _told(text: str) -> _Told | None:
    return _read(_clauses(text))


@lru_cache(maxsize=20_000)
def _clauses(text: str) -> tuple[_Clause, ...]:
    folded = _NUMBER.sub(lambda word: _SPELLED[word.group()], fold(text).replace("’", "'"))
    clauses = (clause.strip() for clause in _CLAUSE.split(folded) if clause and clause.strip())
    return tuple(_Clause(clause, *_values(clause)) for clause in clauses)


def _values(clause: str) -> tuple[list[tuple[str, str]], str]:
    """The values of a clause, each with its kind, and the clause without them."""
    clause = _OFTEN.sub(" ", clause)
    found: list[tuple[str, str]] = []
    for kind, expression in _KINDS:
        found += [(kind, hit.group()) for hit in expression.finditer(clause)]
        clause = expression.sub(" ", clause)
    for hit in AMOUNT.finditer(clause):
        unit = hit["sign"] or hit["unit"] or hit["zh"] or ""
        unit = "data" if unit in _DATA else "" if unit == "now" else unit
        found.append((f"amount {unit if CHINESE.search(unit) else unit.rstrip('s')}", hit.group()))
    rest = AMOUNT.sub(lambda hit: f" {hit['unit'] or ''} ", clause)
    found += [("amount ", hit.group()) for hit in _BARE.finditer(rest)]
    return found, _BARE.sub(" ", rest)


def _read(clauses: Iterable[_Clause]) -> _Told | None:
    kinds: set[str] = set()
    value: set[str] = set()
    frame: set[str] = set()
    recurs = False
    for clause in clauses:
        kinds |= {kind for kind, _ in clause.values}
        value |= {number for _, said in clause.values for number in figures(said) or {said}}
        frame |= things(clause.rest)
        recurs = recurs or _RECURS.search(clause.said) is not None
    return _Told(frozenset(kinds), frozenset(value), frozenset(frame), recurs) if kinds and frame else None
