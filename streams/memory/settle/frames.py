"""What a clause says that one thing is: "my landlord is Mrs Roth", "the grant deadline is May 17", 后端换成Go了.

A frame has a topic (what is spoken of, by its words, whose it is among them), a verb, and a value of a kind. Words that
belong to neither stay in the topic or spoil the frame, so that "for this project my manager is Raj" is about something
else than "my manager is Helen". Two frames with one topic and two values of a kind tell of a change when a word says
so, when the older value is said to be over, or when one has only one of it at a time (`single`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle import frames_en, frames_zh
from streams.memory.settle.frame import Frame
from streams.memory.settle.guards import of_user_for_good
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.leftover import CHINESE
from streams.memory.settle.over import is_over
from streams.memory.settle.single import falls_on, in_part, one_of_many, one_time, sole
from streams.memory.settle.wording import content_terms, figures, names, wording

_CLAUSE: Final = re.compile(
    r"[,;:—](?!\d)|(?<!\bProf)(?<!\bDr)(?<!\bMrs)(?<!\bMr)(?<!\bMs)[.!](?=\s|$)|[，。；！\n：]|(?<=[\w?？])(?=[?？])"
    r"|\s(?:and|but|so|because)\s(?!\w+ (?:me|I)\b)"
)
_ADDS: Final = re.compile(r"\b(?:also|too|as well|another|besides)\b|[也还]|另一|又一")
_LEAST: Final = 2  # terms of a topic that may stand for a longer one
# Of what an amount without a unit may be.
_UNCOUNTED: Final = frozenset({"name", "place", "day", "clock", "about", "version", "code", "other"})
_NAMING: Final = frozenset({"is", "called"})


def filled_anew(old: MemoryRecord, new: MemoryRecord) -> Relation | None:
    """What the newer statement does to the older one by giving one thing another value; None when they have no thing in
    common. `NONE`: they have, and both stand; they are no repeats."""
    if not frames(new.content) or not frames(old.content):
        return None
    if not of_user_for_good(old, new) or "negative" in (old.polarity, new.polarity):
        return None
    pairs = [
        (one, other)
        for other in frames(new.content)
        if not other.state
        for one in frames(old.content)
        if _one_thing(one, other, old.content) and _another(one, other)
    ]
    if not pairs:
        return None
    if all(in_part(new.content, other.value) or in_part(old.content, one.value) for one, other in pairs):
        return NONE
    kinds = {_told(one, other, new.content) for one, other in pairs}
    if Kind.REPLACE not in kinds:
        return Relation(Kind.AMBIGUOUS, "another value of one thing") if Kind.AMBIGUOUS in kinds else NONE
    if len({one.topic for one in frames(old.content) if not one.state}) > 1:
        # Replaced as a whole, what else it says would be lost.
        return Relation(Kind.AMBIGUOUS, "part of it is said to have changed")
    return Relation(Kind.REPLACE, "another value of what has one at a time")


def topics(text: str) -> frozenset[frozenset[str]]:
    """The things that a statement says what they are, each by its words."""
    return frozenset(one.topic for one in frames(text))


def _told(one: Frame, other: Frame, said: str) -> Kind:
    if is_over(one.value, said):
        return Kind.REPLACE
    if "name" in other.kinds and one_of_many(other.noun) and one.verbs & other.verbs <= _NAMING:
        return Kind.NONE
    if "about" in other.kinds and not other.now:
        return Kind.AMBIGUOUS  # it may be the same in other words
    alone = one_time(other.noun) if other.kinds & {"day", "clock"} else sole(other.noun)
    if (other.now and other.steady) or "version" in other.kinds or (alone and _of_one_sort(one, other)):
        return Kind.REPLACE
    return Kind.AMBIGUOUS if other.steady else Kind.NONE


def _of_one_sort(one: Frame, other: Frame) -> bool:
    """Can only one of the values hold? A date and its weekday, a city and a floor may both."""
    kinds = one.kinds & other.kinds
    if kinds == {"place"}:
        return one.value.split(" ")[0] == other.value.split(" ")[0] or not (one.value + other.value).isascii()
    if falls_on(one.noun, one.value) != falls_on(other.noun, other.value):
        return False
    return kinds != {"day"} or bool(figures(one.value)) == bool(figures(other.value))


def _one_thing(one: Frame, other: Frame, said: str) -> bool:
    """The newer one may leave out whose the thing is. It may add what the older statement says beside."""
    if not one.verbs & other.verbs or not _comparable(one.kinds, other.kinds):
        return False
    if one.topic == other.topic:
        return one.noun.count("'s") == other.noun.count("'s")  # but for "my manager's manager"
    if (len(other.topic) >= _LEAST or other.every) and other.topic < one.topic:
        return True
    return one.topic < other.topic and other.topic <= wording(said).content


def _comparable(one: frozenset[str], other: frozenset[str]) -> bool:
    """Kinds in common, or amounts of which one has no unit."""
    return bool(one & other) or ("number" in one | other and all(_counted(kind) for kind in one | other))


def _counted(kind: str) -> bool:
    return kind.split(":")[0] not in _UNCOUNTED


def _another(one: Frame, other: Frame) -> bool:
    """Another value, not the same one with more or less detail."""
    mine, theirs = fold(one.value), fold(other.value)
    if mine == theirs or (not (mine + theirs).isascii() and (mine in theirs or theirs in mine)):
        return False
    numbers = figures(one.value)
    if numbers and numbers == figures(other.value) and not names(one.value) ^ names(other.value):
        return False
    before, after = set(content_terms(one.value)), set(content_terms(other.value))
    return not before or not after or not (before <= after or after <= before)


@lru_cache(maxsize=20_000)
def frames(text: str) -> tuple[Frame, ...]:
    """The frames of a statement, clause by clause."""
    text = text.replace("’", "'")
    parts = [clause.strip() for clause in _CLAUSE.split(text) if clause and clause.strip()]
    clauses = [clause for clause in parts if not _ADDS.search(clause.lower())]
    if CHINESE.search(text):
        return (*frames_zh.read(clauses), *frames_en.read(clauses, text))
    return tuple(frames_en.read(clauses, text))
