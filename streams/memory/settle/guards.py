"""Guards: differences that forbid to call two statements one, however near they are."""

from __future__ import annotations

import re
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.settle.contrasts import contrast
from streams.memory.settle.discourse import discourse
from streams.memory.settle.wording import Wording, content_terms, key, name_of, spelled_out, wording, words


def same_subject(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Are both about one person or thing?

    A note names the user's own matters without saying whose they are ("Nickname is Kit"): a subject that the other
    statement, which is about the user, mentions as well is no other subject.
    """
    one, other = _subject(old), _subject(new)
    if old.speaker != new.speaker:
        return False
    if one == other:
        return True
    return (one == "user" and _theirs(old, other)) or (other == "user" and _theirs(new, one))


def of_user_for_good(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Has the user said both, and neither for a time only?"""
    return old.role == new.role == "user" and not (old.temporary or new.temporary)


def _theirs(record: MemoryRecord, name: str) -> bool:
    """Does it say something of `name`, or that the user has it? "With my sister" does not."""
    said = key(record.content)
    own = rf"{_A_FEW}{re.escape(name)}\b"
    return bool(re.search(rf"^(?:the )?{re.escape(name)}\b|\b{re.escape(name)} (?:is|was|are|were)\b", said)) or (
        bool(re.search(rf"\b(?:has|have|had|user s|my) {own}", said)) and not re.search(rf"\b{_BESIDE} {own}", said)
    )


_A_FEW = r"(?:(?:my|their|his|her|an?|the) )?(?:\w+ )?"
_BESIDE = "(?:with|for|to|from|by|about|like|than|and|of|on|at)"


def _subject(record: MemoryRecord) -> str:
    """A note says "the user" where users say "I", or nothing at all ("Has a dog")."""
    name = key(record.subject or "user")
    return "user" if name in _THE_USER else name


# A note may begin with whose matter it is not: "Name is Kit", "Has a dog".
_THE_USER = frozenset({"the user", "i", "me", "has", "is", "was", "name", "full name", "nickname", "用户", "我"})


def same_interval(old: MemoryRecord, new: MemoryRecord) -> bool:
    return (old.valid_from, old.valid_until) == (new.valid_from, new.valid_until)


def _dated(record: MemoryRecord) -> bool:
    return record.valid_from is not None or record.valid_until is not None


def value_of(record: MemoryRecord) -> Wording:
    return wording(record.value or record.content)


def same_value(old: MemoryRecord, new: MemoryRecord) -> bool:
    one, other = value_of(old), value_of(new)
    if one.key == other.key:
        return True
    same = bool(one.content) and one.content == other.content and one.figures == other.figures
    return same and not _swapped(one, other)


def _swapped(one: Wording, other: Wording) -> bool:
    """The same numbers in another order: the sixth of May is not the fifth of June."""
    mine, theirs = ([word for word in text.words if word[0].isdigit()] for text in (one, other))
    return mine != theirs and sorted(mine) == sorted(theirs)


_AN_OBJECT = 2  # words; Chinese is counted in pairs of characters, about twice as many
ADDS: Final = re.compile(r"\b(?:also|too|as well|in addition|besides)\b|另外|(?<!一)也(?!许)|还(?=[会有喜爱想在要养])")


def _adds(old: MemoryRecord, new: MemoryRecord) -> bool:
    """The same frame with another object, said as something more: "Paul plays the cello", "Paul also plays chess"."""
    if not ADDS.search(key(new.content)) or ADDS.search(key(old.content)):
        return False
    one, other = wording(old.content).content, wording(new.content).content
    most = _AN_OBJECT if all(map(str.isascii, other)) else 2 * _AN_OBJECT
    return 0 < len(other - one) <= most and 0 < len(one - other) <= most


# Something is another now, or over: what it says beside that is no repeat of what was before.
_CHANGES = re.compile(
    r"\b(?:switched|changed|moved|upgraded|renamed|replaced|retired|finished|stopped|quit|sold|closed|left|no longer"
    r"|instead"
    r"|these days|gone off|now)\b"
    r"|[换改]|不[^，。]{1,6}了|[完走掉]了|离职|退休|出国|辞|转[走到学岗]|调[到整]|搬|升[到级]|以后|从今|轮到|现在(?!起)"
)
_SELDOM = frozenset({"sometimes", "rarely", "never"})
_ONLY = frozenset({"only"})


def _apart(one: frozenset[str], other: frozenset[str], telling: frozenset[str]) -> bool:
    """Both say how often and not the same, or one says something that silence does not mean."""
    return bool(one and other and not one & other) or (one & telling) != (other & telling)


def guard(old: MemoryRecord, new: MemoryRecord, *, nearly_equal: bool, soon: bool = False) -> str | None:
    """The first difference that counts, in words; None when there is none.

    What the newer one leaves out may be missing: it then adds nothing to what is kept. What it adds counts, but for
    names beside a text that is nearly equal. `soon`: said within days, when more words of denial are no change yet.
    """
    one, other = wording(old.content), wording(new.content)
    if not _only_left_out(old, new) and (
        denies(old, new) != denies(new, old) or (not soon and denials(old) != denials(new))
    ):
        return "one affirms what the other denies"
    if (other.figures and one.figures != other.figures) or _swapped(one, other):
        return "the figures differ"
    if other.rejected and other.rejected.isdisjoint(one.rejected | one.content | one.figures):
        return "it says what comes second"
    if _adds(old, new):
        return "it is said as something more"
    if (different := contrast(old.content, new.content)) is not None:
        return different
    if _apart(one.often, other.often, _SELDOM) or _apart(one.quantity, other.quantity, _ONLY):
        return "how often or how many differs"
    if _names_differ(one, other, nearly_equal=nearly_equal):
        return "the names differ"
    if _CHANGES.search(key(new.content)) and not _CHANGES.search(key(old.content)) and other.content - one.content:
        return "it says that something has changed"
    if old.temporary != new.temporary or (_dated(old) and _dated(new) and not same_interval(old, new)):
        return "they hold at different times"
    if old.operation != new.operation or (discourse(new.content).names and not discourse(old.content).names):
        return "one takes back or corrects"
    return None


def _only_left_out(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer one say nothing of what the older one denies beside what it affirms ("a drawing, not a photo")?"""
    withheld = wording(old.content).withheld
    aside = bool(withheld) and old.polarity == new.polarity == "positive" and not denials(new)
    return (
        aside and not withheld & wording(new.content).content and len(withheld) <= len(wording(old.content).content) / 2
    )


# A reason, what comes second, and what stands in parentheses.
_ASIDE: Final = re.compile(
    r"\([^()]*\)|\b(?:because|since|although|though|due to|in order to|to avoid|instead of|rather than)\b[^,;.()]*"
    r"|因为[^，。；]*|（[^（）]*）"
)


def denies(record: MemoryRecord, other: MemoryRecord) -> bool:
    """Does it deny outright? Aside, only when it is of something that the other one speaks of as well."""
    if not denials(record):
        return False
    plain = _ASIDE.sub(" ", record.content)
    return (
        record.polarity == "negative"
        or wording(plain).denials > 0
        or not wording(record.content).withheld.isdisjoint(wording(other.content).content)
    )


def denials(record: MemoryRecord) -> int:
    """How often a statement denies; at least once when extraction read it as negative."""
    return max(wording(record.content).denials, int(record.polarity == "negative"))


def _names_differ(one: Wording, other: Wording, *, nearly_equal: bool) -> bool:
    added, left_out = _missing(other, one), _missing(one, other)
    return bool(added) and (bool(left_out) or not nearly_equal)


def _missing(text: Wording, other: Wording) -> frozenset[str]:
    """Names of a text that the other has in no form: not as a word, nor abbreviated, nor spelled out."""
    there = {
        form
        for word in other.words
        for part in (word, *word.split("-"))
        for form in (name_of(part), part.removesuffix("s"))
    }
    missing = text.names - other.names - other.content - there
    if not missing:
        return missing
    # A word without content is no abbreviation: "is" does not stand for "Ian Smith".
    short = (form for form in there if content_terms(form) or form in other.names)
    spelled = frozenset(word for form in short for word in spelled_out(form, text.words))
    return frozenset(
        name
        for name in missing - spelled
        if not {p for word in words(name) for p in word.split("-")} <= there and not spelled_out(name, other.words)
    )
