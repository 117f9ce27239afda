"""What a newer statement does to an older one: one pure function of the two and their nearness.

Because it looks at nothing else, the relations among a set do not depend on how or when its members arrived.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schemas.memory import Layer, MemoryRecord, MemoryType
from streams.memory.settle.wording import Wording, key, wording
from streams.ports import ModelProfile


class Kind(StrEnum):
    NONE = "none"  # both stand
    REPEAT = "repeat"  # the newer says the same
    REPLACE = "replace"  # the newer takes the older one's place
    AMBIGUOUS = "ambiguous"  # the rules can't tell


@dataclass(frozen=True, slots=True)
class Relation:
    kind: Kind
    reason: str = ""


NONE = Relation(Kind.NONE)


def relate(old: MemoryRecord, new: MemoryRecord, similarity: float | None, profile: ModelProfile) -> Relation:
    """`similarity`: cosine rounded to 3 decimals, None when under the profile's conflict threshold."""
    if old.memory_type is MemoryType.DIGEST or new.memory_type is MemoryType.DIGEST or old.layer is not new.layer:
        return NONE
    if new.layer is Layer.EPISODE:
        return _episodes(old, new)
    if old.slot is not None and old.slot == new.slot:
        return _same_slot(old, new, similarity, profile)
    if similarity is None or not _same_subject(old, new):
        return NONE
    return _near(old, new, similarity, profile)


def _episodes(old: MemoryRecord, new: MemoryRecord) -> Relation:
    if (old.speaker, old.role) == (new.speaker, new.role) and key(old.content) == key(new.content):
        return Relation(Kind.REPEAT, "the same words by the same speaker")
    return NONE


def _same_subject(old: MemoryRecord, new: MemoryRecord) -> bool:
    return key(old.subject or "user") == key(new.subject or "user") and old.speaker == new.speaker


def _same_interval(old: MemoryRecord, new: MemoryRecord) -> bool:
    return (old.valid_from, old.valid_until) == (new.valid_from, new.valid_until)


def _overlap(old: MemoryRecord, new: MemoryRecord) -> bool:
    starts_before_end = new.valid_until is None or (old.valid_from or old.occurred_at) < new.valid_until
    ends_after_start = old.valid_until is None or (new.valid_from or new.occurred_at) < old.valid_until
    return starts_before_end and ends_after_start


def _value(record: MemoryRecord) -> Wording:
    return wording(record.value or record.content)


def same_value(old: MemoryRecord, new: MemoryRecord) -> bool:
    one, other = _value(old), _value(new)
    return one.key == other.key or bool(one.content and one.content == other.content and one.figures == other.figures)


def _same_slot(old: MemoryRecord, new: MemoryRecord, similarity: float | None, profile: ModelProfile) -> Relation:
    name = (new.attribute or "").replace("_", " ")
    same = same_value(old, new)
    single = "single" in (old.cardinality, new.cardinality)
    if new.temporary or old.temporary:
        return _temporary(old, new, same=same, single=single)
    if new.operation == "retract":
        return _retract(old, new, same=same, single=single, name=name)
    if old.operation == "retract":
        if same or single or _names_value(old.value, new):
            return Relation(Kind.REPLACE, f"said again after it was taken back ({name})")
        return NONE
    if same and old.polarity == new.polarity:
        return Relation(Kind.REPEAT, f"the same value of the same slot ({name})")
    if same:
        return Relation(Kind.REPLACE, f"the opposite of what was said ({name})")
    if new.operation == "correct" and _names_value(new.replaced_value, old):
        return Relation(Kind.REPLACE, f"corrected ({name})")
    if not single:
        if similarity is not None and similarity >= profile.duplicate and guard(old, new) is None:
            return Relation(Kind.REPEAT, f"near in meaning in the same slot ({name})")
        return NONE
    if old.polarity != new.polarity:
        return NONE if old.polarity == "negative" else Relation(Kind.NONE)
    if _contained(old, new):
        return NONE
    return Relation(Kind.REPLACE, f"a newer value of a slot that has one at a time ({name})")


def _names_value(named: str | None, record: MemoryRecord) -> bool:
    """Does `named` mean the value of `record`?"""
    if not named:
        return False
    one, other = wording(named), _value(record)
    return one.key == other.key or (
        bool(one.content) and (one.content <= other.content or (bool(other.content) and other.content <= one.content))
    )


def _contained(old: MemoryRecord, new: MemoryRecord) -> bool:
    """One value is the other with more detail ("Berlin" and "Berlin, Mitte"): neither retires the other."""
    one, other = _value(old), _value(new)
    if not one.content or not other.content or one.figures != other.figures:
        return False
    return one.content < other.content or other.content < one.content


def _temporary(old: MemoryRecord, new: MemoryRecord, *, same: bool, single: bool) -> Relation:
    if old.temporary != new.temporary:
        return NONE  # each holds in its own interval
    if same and _same_interval(old, new) and old.polarity == new.polarity:
        return Relation(Kind.REPEAT, "the same temporary change")
    if single and not same and _overlap(old, new):
        return Relation(Kind.REPLACE, "a newer change for the same time")
    return NONE


def _retract(old: MemoryRecord, new: MemoryRecord, *, same: bool, single: bool, name: str) -> Relation:
    if old.operation == "retract":
        return Relation(Kind.REPEAT, f"taken back already ({name})") if same else NONE
    if same or _names_value(new.value, old) or (single and not new.value):
        return Relation(Kind.REPLACE, f"taken back ({name})")
    return NONE


def _near(old: MemoryRecord, new: MemoryRecord, similarity: float, profile: ModelProfile) -> Relation:
    fired = guard(old, new)
    exact = wording(old.content).key == wording(new.content).key
    if fired is None and (exact or similarity >= profile.duplicate):
        return Relation(Kind.REPEAT, "the same words" if exact else "near in meaning, and no difference that counts")
    return NONE


def guard(old: MemoryRecord, new: MemoryRecord) -> str | None:
    """The first difference that forbids to call two near statements one, in words; None when there is none."""
    one, other = wording(old.content), wording(new.content)
    if old.polarity != new.polarity or one.negated != other.negated:
        return "one affirms what the other denies"
    if one.figures != other.figures:
        return "the figures differ"
    if one.often != other.often or one.quantity != other.quantity:
        return "how often or how many differs"
    if one.names != other.names:
        return "the names differ"
    if not _same_interval(old, new) or old.temporary != new.temporary:
        return "they hold at different times"
    if old.operation != new.operation:
        return "one takes back or corrects"
    if old.value and new.value and old.slot == new.slot and not same_value(old, new):
        return "the values differ"
    return None
