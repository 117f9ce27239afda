"""Two near statements without a common slot: their wording is laid side by side.

The same sentence with one stretch exchanged says another value of the same thing ("The capital of X is A", "... is
B"): whether it replaces depends on the words before the value. Everything else is a repeat or nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.extraction.slots import FUNCTIONAL
from streams.memory.settle.guards import guard
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.wording import Wording, wording
from streams.ports import ModelProfile

# A value is short: what is longer than this is another sentence, not another value.
MAX_VALUE_WORDS: Final = 8
COPULAS: Final = frozenset(["is", "was", "are", "were", "be", "am", "'s", "named", "called", "是", "为", "叫", "在"])
_AUXILIARY: Final = COPULAS | frozenset(["has", "have", "had", "does", "do", "did", "will", "can"])
_OF: Final = frozenset(["of", "的", "'s", "my", "our", "your", "his", "her", "their", "its"])


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two texts that differ in one stretch: what stands before and after it, and its two readings."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]


def exchange(old: tuple[str, ...], new: tuple[str, ...]) -> Exchange | None:
    """The stretch in which two texts differ, when both have something there and share more than they differ in."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not middle_old or not middle_new or max(len(middle_old), len(middle_new)) > MAX_VALUE_WORDS:
        return None
    if head + tail < 2:
        return None
    return Exchange(old[:head], old[len(old) - tail :], middle_old, middle_new)


def near_texts(old: MemoryRecord, new: MemoryRecord, similarity: float, profile: ModelProfile) -> Relation:
    one, other = wording(old.content), wording(new.content)
    fired = guard(old, new)
    if one.key == other.key:
        return Relation(Kind.REPEAT, "the same words") if fired is None else NONE
    if opposite(one, other):
        return Relation(Kind.REPLACE, "the opposite of what was said")
    swapped = exchange(one.words, other.words)
    if swapped is not None and one.negated == other.negated and another_value(swapped):
        if not _has_verb(swapped.before):
            return NONE
        return (
            Relation(Kind.REPLACE, "another value of what has one at a time") if single_valued(swapped.before) else NONE
        )
    if fired is None and alike(one, other, similarity, profile):
        return Relation(Kind.REPEAT, "near in meaning, and no difference that counts")
    return NONE


def another_value(swapped: Exchange) -> bool:
    """Is what was exchanged a value or the subject, and not the same in other words?

    The exchanged words have content on either side and none in common. Words at the head of a text are its subject
    when a verb follows; a note without a subject ("Afraid of heights") begins with its verb, which may vary.
    """
    old, new = set(content_of(swapped.old)), set(content_of(swapped.new))
    if not old or not new or old & new:
        return False
    if swapped.before:
        return bool(content_of(swapped.before))
    return bool(swapped.after) and swapped.after[0] in _AUXILIARY


def content_of(words: tuple[str, ...]) -> tuple[str, ...]:
    return wording(" ".join(words)).said


def _has_verb(before: tuple[str, ...]) -> bool:
    return any(w in _AUXILIARY or w in FUNCTIONAL or re.fullmatch(r"[a-z]{3,}s", w) for w in before)


def single_valued(before: tuple[str, ...]) -> bool:
    """Do the words before a value say that there is one at a time? A copula after "the ... of", or a relation of
    which a thing has one ("born in", "was founded by")."""
    if any(w in FUNCTIONAL for w in before[-8:]) and any(w in _AUXILIARY or w.endswith("s") for w in before):
        return True
    return before[-1] in COPULAS and any(w in _OF or w.endswith("'s") for w in before)


def opposite(one: Wording, other: Wording) -> bool:
    """The same content, affirmed by one and denied by the other."""
    if one.negated == other.negated or not one.content or not other.content:
        return False
    if one.figures != other.figures:
        return False
    shared = len(one.content & other.content)
    smaller, larger = sorted((len(one.content), len(other.content)))
    return shared >= 0.8 * smaller and shared >= 0.7 * larger


def alike(one: Wording, other: Wording, similarity: float, profile: ModelProfile) -> bool:
    """Near enough to be one statement: by meaning alone, or by less of it when the words agree as well."""
    if similarity >= profile.duplicate:
        return True
    shared = len(one.content & other.content)
    smaller, larger = sorted((len(one.content), len(other.content)))
    if not smaller:
        return False
    span = profile.duplicate - profile.conflict
    return (similarity - profile.conflict) / span + 0.5 * (shared / smaller + shared / larger) >= 1.0
