"""A correction: a statement that takes back something said before, whatever slot either of them has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.settle.discourse import discourse
from streams.memory.settle.guards import denials, denies
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.order import order
from streams.memory.settle.people import became, may_tell
from streams.memory.settle.standing import instead, may_replace
from streams.memory.settle.wording import wording
from streams.ports import ModelProfile

# Share of the older statement's content words that a correction must take up: fewer words in common mean that it
# speaks of something else. A plain denial, which says nothing about an earlier statement, must take up more.
TAKEN_UP: Final = 0.15
TAKEN_UP_BY_DENIAL: Final = 0.5
# Texts with this share of words in common say the same, if both deny as much.
SAME: Final = 0.7
# Longer statements are corrected in part: coverage counts up to so many words.
ENOUGH_WORDS: Final = 12
# Of the statements of one event, a correction also takes back those that it fits this much as well as the best.
NEARLY: Final = 0.75
# A slip of the tongue is set right at once, by the right name alone: "Sorry, I meant Oakwood Primary".
_MEANT: Final = re.compile(
    r"^\W*(?:(?:oh|ah|no|wait|actually)\W+)*(?:(?:sorry|oops|whoops|my bad)\W+)+i meant\b", re.IGNORECASE
)
_ONE_DAY: Final = re.compile(
    r"\b(?:this (?:morning|afternoon|evening)|today|tonight|yesterday|last night)\b.*\binstead\b"
    r"|\binstead\b.*\b(?:this (?:morning|afternoon|evening)|today|tonight|yesterday|last night)\b",
    re.IGNORECASE,
)
AT_ONCE: Final = timedelta(minutes=30)
# The tag by which the store finds what may take back something.
TAG: Final = "correction"


def may_take_back(record: MemoryRecord) -> bool:
    """Can this statement correct others? Such records are stored with `TAG`."""
    return record.role == "user" and (record.operation == "correct" or _takes_back(record.content))


@lru_cache(maxsize=20_000)
def _takes_back(text: str) -> bool:
    said = discourse(text)
    return said.corrects or said.denies or bool(_MEANT.match(text)) or may_replace(text) or may_tell(text)


def take_back(old: MemoryRecord, new: MemoryRecord, similarity: float, profile: ModelProfile) -> Relation:
    if old.role != "user" or not may_take_back(new) or old.speaker != new.speaker:
        return NONE
    if old.source.event_id == new.source.event_id or similarity < profile.recall:
        return NONE
    one, other = wording(old.content), wording(new.content)
    shared = len(one.content & other.content)
    taken_up = shared / max(1, min(len(one.content), ENOUGH_WORDS))
    strength = round(similarity + min(1.0, taken_up), 6)
    said = discourse(new.content)
    if instead(old, new):
        return Relation(Kind.TAKE_BACK, "wanted instead from now on", strength)
    if became(old, new):
        return Relation(Kind.TAKE_BACK, "somebody who is something else now", strength)
    as_before = denials(old) == denials(new)
    if as_before and shared >= SAME * max(len(one.content), len(other.content)):
        return NONE  # it says once more what was said
    slip = _MEANT.match(new.content) and new.occurred_at - old.occurred_at <= AT_ONCE
    if slip and shared and one.names - other.names and other.names - one.names:
        return Relation(Kind.TAKE_BACK, "another name was meant", strength)
    if slip and len(one.figures) == 1 and one.figures < other.figures:
        return Relation(Kind.TAKE_BACK, "another number was meant", strength)  # "I meant 9:40, not 9:10"
    halfway = (profile.conflict + profile.duplicate) / 2
    if said.corrects and (taken_up >= TAKEN_UP or similarity >= halfway):
        return Relation(Kind.TAKE_BACK, "corrects what was said", strength)
    # "I ran with Tom instead of Anna this morning" denies no habit.
    of_another = bool(_ONE_DAY.search(new.content)) and not other.rejected & one.content
    denied = not as_before and (denies(new, old) or not denials(new))
    if said.denies and denied and not of_another and taken_up >= TAKEN_UP_BY_DENIAL:
        return Relation(Kind.TAKE_BACK, "denies what was said", strength)
    return NONE


def best_fits(fitting: Iterable[tuple[MemoryRecord, Relation]]) -> list[tuple[MemoryRecord, Relation]]:
    """What a correction is about: of all that was said before, whatever its status, the event that it fits best, and
    there what it fits nearly as well. A function of the texts alone, so that one search finds it."""
    found = [one for one in fitting if one[1].kind is Kind.TAKE_BACK]
    if not found:
        return []
    best, most = max(found, key=lambda one: (one[1].strength, order(one[0])))
    return [
        (record, relation)
        for record, relation in found
        if record.source.event_id == best.source.event_id and relation.strength >= NEARLY * most.strength
    ]
