"""Two near statements without a common slot: their wording is laid side by side.

The same sentence with one stretch exchanged says another value of the same thing ("The capital of X is A", "... is
B"): whether it replaces depends on the words before the value. Everything else is a repeat or nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.extraction.slots import FUNCTIONAL
from streams.memory.settle.guards import denials, guard
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.leftover import CHINESE
from streams.memory.settle.single import in_part, occasion, one_of_many
from streams.memory.settle.wanted import of_two_things
from streams.memory.settle.wording import Wording, content_terms, figures, spelled_out, wording
from streams.ports import ModelProfile

# Measured on notes of two note takers about one fact, and on notes that stand side by side.
WEIGHT_OF_WORDS: Final = 0.8
TWO_THINGS: Final = 0.4
ALIKE_SOON: Final = 1.1
ALIKE_LATER: Final = 1.9
# A fact may have changed since: what is said again after this long, in other words, must agree better to be a repeat.
SOON: Final = timedelta(days=2)
# Share of what the newer text rejects that the older one must have upheld to be replaced.
REJECTED_SHARE: Final = 0.6
# A value is short: what is longer than this is another sentence, not another value.
MAX_VALUE_WORDS: Final = 8
COPULAS: Final = frozenset(["is", "was", "are", "were", "be", "am", "'s", "named", "called", "是", "为", "叫", "在"])
_AUXILIARY: Final = COPULAS | frozenset(["has", "have", "had", "does", "do", "did", "will", "can"])
ATTITUDES: Final = frozenset({"like", "want", "interest", "sustain"})
_SELF: Final = frozenset({"i", "we", "user", "我", "我们"})
_PREPOSITIONS: Final = frozenset(
    [
        "by",
        "in",
        "on",
        "at",
        "of",
        "to",
        "from",
        "with",
        "for",
        "about",
        "as",
        "into",
        "over",
        "under",
        "near",
        "behind",
        "between",
        "beside",
        "opposite",
    ]
)
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
    soon = new.occurred_at - old.occurred_at <= SOON
    fired = guard(old, new, nearly_equal=similarity >= (halfway(profile) if soon else profile.duplicate), soon=soon)
    if one.key == other.key:
        return Relation(Kind.REPEAT, "the same words") if fired is None else NONE
    if opposite(old, new):
        return Relation(Kind.REPLACE, "the opposite of what was said")
    if rejects(one, other):
        return Relation(Kind.REPLACE, "names it as no longer so, or as second choice")
    swapped = exchange(one.words, other.words)
    same_figures = bool(one.figures) and one.figures == other.figures
    if swapped is not None and same_figures and _all_figures(swapped):
        swapped = None  # the same numbers in another spelling
    if swapped is not None and _name_against_state(old, new, swapped):
        return NONE
    if swapped is not None and another_value(swapped):
        if denials(old) == denials(new) and single_valued(swapped):
            if in_part(new.content):
                return NONE
            if _one_of_several(swapped):
                return Relation(Kind.AMBIGUOUS, "may be another of several")
            return Relation(Kind.REPLACE, "another value of what has one at a time")
        if figures(" ".join(swapped.old)) and figures(" ".join(swapped.new)):
            return Relation(Kind.AMBIGUOUS, "the same but for a figure")
        return NONE
    if fired is None and alike(old.content, new.content, similarity, profile, soon=soon):
        return Relation(Kind.REPEAT, "near in meaning, and no difference that counts")
    return NONE


def _one_of_several(swapped: Exchange) -> bool:
    """ "My friend is called Paul" names one of the friends, "my appointment is on Monday" one that takes place."""
    noun = list(swapped.before)
    while noun and (noun[-1] in _AUXILIARY or noun[-1] in _PREPOSITIONS):
        noun.pop()
    if not {"my", "our", "我", "咱"} & set(swapped.before):
        return False  # of others it is told as it is in a lexicon
    named = "".join(noun) if noun and not noun[-1].isascii() else " ".join(noun)
    return one_of_many(named) or occasion(named)


def _name_against_state(old: MemoryRecord, new: MemoryRecord, swapped: Exchange) -> bool:
    """What something is called, and how it is ("our wiki is Confluence", "our wiki is down now"), by a speaker who
    writes names with capitals."""
    one, other = "".join(swapped.old), "".join(swapped.new)
    if CHINESE.match(other):
        return bool(_HOW_ZH.search(other)) != bool(_HOW_ZH.search(one))
    if _HOW_EN.match(" ".join(swapped.new)):
        return not _HOW_EN.match(" ".join(swapped.old))
    stated = not _capital(new.content, swapped.new) or (len(swapped.new) == 1 and _quality(swapped.new[0]))
    return new.content[:1].isupper() and _capital(old.content, swapped.old) and stated


# How somebody or something is, or where from: 广东人, "closed on Mondays".
_HOW_ZH: Final = re.compile(r"[人的族派型座控迷]$|^[很太挺好真不没]|得|开[门放]|关[门了]|休息")
_HOW_EN: Final = re.compile(r"(?:very|so|too|really|quite|pretty|not|open|closed|down|full|busy|away|ill|sick)\b")


def _quality(word: str) -> bool:
    """How somebody is, not who: "my dentist is Indian"."""
    return word.endswith(("ish", "ese")) or (word.endswith("ian") and not word.endswith("lian"))


def _capital(text: str, words: tuple[str, ...]) -> bool:
    """Whether the words stand in the text with a capital that is not its first letter, or with a figure. Of other
    scripts: always."""
    stretch, lowered = " ".join(words), text.lower()
    at = lowered.find(stretch)
    if at < 0 or not words[0].isascii() or len(lowered) != len(text):
        return True
    return text[at : at + len(stretch)] != stretch or any(map(str.isdigit, stretch))


def _all_figures(swapped: Exchange) -> bool:
    """What was exchanged is a number in two spellings ("五千", "5000")."""
    return bool(figures("".join(swapped.old)) and figures("".join(swapped.new)))


def another_value(swapped: Exchange) -> bool:
    """Is what was exchanged a value or the subject, and not the same in other words?

    The exchanged words have content on either side and none in common. Words at the head of a text are its subject
    when a verb follows; a note without a subject ("Afraid of heights") begins with its verb, which may vary.
    """
    old, new = set(content_of(swapped.old)), set(content_of(swapped.new))
    if not old or not new or old & new or _spelled_otherwise(swapped):
        return False
    if swapped.before:
        return bool(content_of(swapped.before))
    return bool(swapped.after) and swapped.after[0] in _AUXILIARY


def _spelled_otherwise(swapped: Exchange) -> bool:
    """An abbreviation and the words that it stands for, or two words of one stem and one beginning."""
    one, other = sorted((swapped.old, swapped.new), key=len)
    return len(one) == 1 and spelled_out(one[0], other) == frozenset(other)


def content_of(words: tuple[str, ...]) -> tuple[str, ...]:
    return content_terms(" ".join(words))


def single_valued(swapped: Exchange) -> bool:
    """Do the words before a value say that there is one at a time?

    A relation of which a thing has one ("is married to", "was born in"), what a thing was made by ("was built by"), or
    an identity ("the capital of X is", "我的生日是").
    """
    before = swapped.before
    if not before or (swapped.old[0] != swapped.new[0] and {swapped.old[0], swapped.new[0]} & _PREPOSITIONS):
        return False  # another relation, not another value
    has_verb = any(w in _AUXILIARY or (w.isascii() and len(w) > 3 and w.endswith("s")) for w in before)
    if has_verb and any(w in FUNCTIONAL for w in before[-8:]):
        return True
    if before[-1] == "by":
        return has_verb and before[0] not in _SELF
    return before[-1] in COPULAS and (before[0] == "the" or any(w in _OF or w.endswith("'s") for w in before))


def rejects(one: Wording, other: Wording) -> bool:
    """The newer text puts second, or ends, what the older one was about ("X" and then "Y over X")."""
    upheld = one.content - one.rejected
    rejection = other.rejected - one.rejected - _said_first(other)
    return bool(rejection) and len(rejection & upheld) >= REJECTED_SHARE * len(rejection)


def _said_first(text: Wording) -> frozenset[str]:
    """Terms that stand outside of what is rejected as well: they name the topic."""
    return frozenset(term for term in text.rejected if text.said.count(term) > 1)


def opposite(old: MemoryRecord, new: MemoryRecord) -> bool:
    """The same content, affirmed by one and denied by the other."""
    one, other = wording(old.content), wording(new.content)
    if bool(denials(old)) == bool(denials(new)) or not one.content or not other.content:
        return False
    if not (one.denied or other.denied or old.polarity != new.polarity):
        return False
    if one.figures != other.figures:
        return False
    shared = len(one.content & other.content)
    smaller, larger = sorted((len(one.content), len(other.content)))
    return shared >= 0.8 * smaller and shared >= 0.7 * larger


def halfway(profile: ModelProfile) -> float:
    return (profile.conflict + profile.duplicate) / 2


def alike(old: str, new: str, similarity: float, profile: ModelProfile, *, soon: bool) -> bool:
    """Near enough to be one statement: by meaning alone, or by less of it when the words agree as well."""
    one, other = wording(old), wording(new)
    if similarity >= profile.duplicate:
        return True
    # That both tell a liking says nothing of what is liked.
    told, told_other = one.content - ATTITUDES, other.content - ATTITUDES
    shared = len(told & told_other)
    smaller, larger = sorted((len(told), len(told_other)))
    if not smaller:
        return False
    # One half of the way from `conflict` to `duplicate` when every word agrees, a bit over `duplicate` when none does.
    nearer = (similarity - profile.conflict) / (profile.duplicate - profile.conflict)
    if of_two_things(old, new):
        nearer -= TWO_THINGS
    return nearer + WEIGHT_OF_WORDS * (shared / smaller + shared / larger) >= (ALIKE_SOON if soon else ALIKE_LATER)
