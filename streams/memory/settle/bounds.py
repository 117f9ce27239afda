"""A bound that is another from now on: "no calls before 9am", then "the new rule: no calls before 10am".

The same bound ("before", "under") on the same things, whatever words stand around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle.guards import of_user_for_good
from streams.memory.settle.values import AMOUNT, CLOCK
from streams.memory.settle.wording import content_terms

_BOUND: Final = re.compile(
    r"\b(?P<how>before|after|until|under|below|within|over|above|at most|at least|up to|no more than"
    r"|max(?:imum)?(?: of)?)"
    r" (?P<value>[$€£]?\d[\w:.,]*(?: ?(?:am|pm|%)\b| (?!(?:on|is|in|at|for|to|and|or|of|as|with|from|the|a|by|are"
    r"|will)\b)[a-z]+)?)"
)
_FROM_NOW: Final = re.compile(r"\b(?:from now on|going forward|new rule|new limit|now|these days)\b")
_OPEN: Final = re.compile(r"\?|\b(?:this|today|tomorrow|tonight|week|if|might|maybe|could|should|would|once)\b")
# Words of a rule that are not what it is about.
_RULE: Final = re.compile(
    r"\b(?:please|never|no|not|always|keep|put|book|schedule|plan|make|allow|do|don't|rule|limit|new|all|any|the|my"
    r"|our|now"
    r"|from now on|going forward|these days|stay|is|are|for me)\b"
)
_CLAUSE: Final = re.compile(r"[,;:](?!\d)|[.!?](?=\s|$)|—|\s(?:so|because|since)\s")
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class _Bound:
    how: str
    kind: str
    value: str
    about: frozenset[str]


def bound_moved(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer statement say that a bound of the older one is another from now on?

    One may name fewer things than the other, if two are the same.
    """
    moved = _moved(new.content)
    if not moved or not of_user_for_good(old, new):
        return False
    return any(
        one.how == other.how and one.kind == other.kind and one.value != other.value and _same(one.about, other.about)
        for other in moved
        for one in _bounds(old.content)
    )


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and (one == other or (len(one & other) >= _LEAST and (one <= other or other <= one)))


def bounded(text: str) -> frozenset[frozenset[str]]:
    """What bounds are set for, each by its words."""
    return frozenset(one.about for one in _bounds(text))


@lru_cache(maxsize=20_000)
def _moved(text: str) -> tuple[_Bound, ...]:
    """The bounds of a text that are said to be so from now on."""
    folded = fold(text).replace("’", "'")
    return _bounds(text) if _FROM_NOW.search(folded) and not _OPEN.search(folded) else ()


@lru_cache(maxsize=20_000)
def _bounds(text: str) -> tuple[_Bound, ...]:
    found = (_bound(clause) for clause in _CLAUSE.split(fold(text).replace("’", "'")) if clause)
    return tuple(one for one in found if one is not None)


def _bound(clause: str) -> _Bound | None:
    found = [hit for hit in _BOUND.finditer(clause) if CLOCK.search(hit["value"]) or AMOUNT.search(hit["value"])]
    if len(found) != 1:
        return None
    (hit,) = found
    kind = "clock" if CLOCK.fullmatch(hit["value"]) else "".join(c for c in hit["value"] if c.isalpha() or c in "$€£%")
    about = frozenset(content_terms(_RULE.sub(" ", clause[: hit.start()] + " " + clause[hit.end() :])))
    return _Bound(hit["how"], kind, hit["value"], about) if about else None
