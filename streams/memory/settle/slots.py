"""Two statements of one slot: the same value repeats, another value of a single-valued slot replaces."""

from __future__ import annotations

import re
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle.guards import ADDS, same_interval, same_value, value_of
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.single import falls_on, in_part, occasion, one_of_many
from streams.memory.settle.texts import near_texts
from streams.memory.settle.wording import wording
from streams.ports import ModelProfile


def same_slot(old: MemoryRecord, new: MemoryRecord, similarity: float | None, profile: ModelProfile) -> Relation:
    name = (new.attribute or "").replace("_", " ")
    same = same_value(old, new)
    single = "single" in (old.cardinality, new.cardinality)
    if new.operation == "retract":
        return _retracted(old, new, same=same, single=single, name=name)
    if old.operation == "retract":
        return _after_retraction(old, new, same=same, single=single, name=name)
    if old.temporary or new.temporary:
        return _temporary(old, new, same=same, single=single)
    if same and old.polarity == new.polarity:
        return Relation(Kind.REPEAT, f"the same value of the same slot ({name})")
    if same:
        return Relation(Kind.REPLACE, f"the opposite of what was said ({name})")
    if new.replaced_value and _means(new.replaced_value, old):
        return Relation(Kind.REPLACE, f"names it as no longer so ({name})")
    if not single:
        return NONE if similarity is None else near_texts(old, new, similarity, profile)
    if new.polarity == "negative":
        return NONE  # "not in Bonn" says nothing of Berlin
    if old.polarity == "positive" and _detailed(old, new):
        return NONE
    if ADDS.search(fold(new.content)) and not ADDS.search(fold(old.content)):
        return NONE  # "also a teacher" is one still
    if in_part(new.content, new.value) or _of_another_sort(old, new):
        return NONE
    if _may_be_another(new) or (new.attribute == "meeting_time" and _named_apart(old, new)):
        return Relation(Kind.AMBIGUOUS, f"may be another of several ({name})")
    return Relation(Kind.REPLACE, f"a newer value of what has one at a time ({name})")


def _means(named: str, record: MemoryRecord) -> bool:
    """Does `named` mean the value of `record`?"""
    one, other = wording(named), value_of(record)
    if one.key == other.key:
        return True
    if not one.content or not other.content or one.figures != other.figures:
        return False
    return one.content <= other.content or other.content <= one.content


def _detailed(old: MemoryRecord, new: MemoryRecord) -> bool:
    """One value is the other with more detail ("Berlin", "Berlin Mitte"): neither retires the other."""
    one, other = value_of(old), value_of(new)
    if not one.content or not other.content or one.figures != other.figures:
        return False
    return one.content < other.content or other.content < one.content


_CHANGED: Final = re.compile(
    r"\b(?:now|instead|moved|pushed|postponed|rescheduled|brought|changed|renamed|shifted|extended|delayed|earlier|later"
    r"|from now on|new|sorry|not|wrong|meant|misread|\w+n['’]t)\b|不是|错|改|换|推迟|提前|延|挪|调|顺延|现在|以后"
)
# Words that tell who somebody is, not what they work as.
_WHO: Final = re.compile(
    r"\b(?:native|immigrant|expat|introvert|extrovert|christian|muslim|buddhist|atheist|widow(?:er)?|teen|woman|man|girl|boy"
    r"|female|male|mom|mum|dad|parent|volunteer|team|sleeper|lover|member|owner)$"
)
_SOME_DAYS: Final = re.compile(r"\bon (?:the side|\w+days|weekends)\b|周末|业余|兼职")


def _of_another_sort(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Two values that may both hold: a date and its weekday; who somebody is, and what they work as or beside."""
    if falls_on(new.attribute or "", new.value or "") != falls_on(old.attribute or "", old.value or ""):
        return True
    if new.attribute != "occupation":
        return False
    one, other = (bool(_WHO.search(fold(record.value or ""))) for record in (old, new))
    return one != other or bool(_SOME_DAYS.search(fold(new.content)))


def _named_apart(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does each have a name that the other has not: a flight to Lisbon, a flight to Porto?"""
    one, other = wording(old.content).names, wording(new.content).names
    return bool(one - other) and bool(other - one)


def _may_be_another(new: MemoryRecord) -> bool:
    """Is it about something of which one may have several, and not said to have changed?"""
    if new.operation == "correct" or _CHANGED.search(fold(new.content)):
        return False
    if new.attribute == "meeting_time":
        return occasion(new.subject or "")
    several = new.subject if new.attribute == "name" else new.attribute if new.subject in (None, "user") else None
    return one_of_many(several or "")


def _temporary(old: MemoryRecord, new: MemoryRecord, *, same: bool, single: bool) -> Relation:
    """A change for a while stands beside what holds for good, and is replaced by a newer one for the same while."""
    if old.temporary != new.temporary:
        return NONE
    if same and same_interval(old, new) and old.polarity == new.polarity:
        return Relation(Kind.REPEAT, "the same change for the same time")
    if single and not same and _overlap(old, new):
        return Relation(Kind.REPLACE, "a newer change for the same time")
    return NONE


def _overlap(old: MemoryRecord, new: MemoryRecord) -> bool:
    starts_before_end = new.valid_until is None or (old.valid_from or old.occurred_at) < new.valid_until
    ends_after_start = old.valid_until is None or (new.valid_from or new.occurred_at) < old.valid_until
    return starts_before_end and ends_after_start


def _retracted(old: MemoryRecord, new: MemoryRecord, *, same: bool, single: bool, name: str) -> Relation:
    taken_back = same or (not new.value and single) or (new.value is not None and _means(new.value, old))
    if not taken_back:
        return NONE
    if old.operation == "retract":
        return Relation(Kind.REPEAT, f"taken back already ({name})")
    return Relation(Kind.REPLACE, f"taken back ({name})")


def _after_retraction(old: MemoryRecord, new: MemoryRecord, *, same: bool, single: bool, name: str) -> Relation:
    if new.temporary or new.polarity == "negative":
        return NONE
    if same or single or (old.value is not None and _means(old.value, new)):
        return Relation(Kind.REPLACE, f"said again after it was taken back ({name})")
    return NONE
