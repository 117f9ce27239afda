"""What a newer statement does to an older one: one pure function of the two and their nearness.

Because it looks at nothing else, the relations among a set do not depend on how or when its members arrived.
"""

from __future__ import annotations

from schemas.memory import Layer, MemoryRecord, MemoryType
from streams.memory.settle.about import about_one
from streams.memory.settle.bounds import bound_moved
from streams.memory.settle.changes import changed, set_in
from streams.memory.settle.correction import take_back
from streams.memory.settle.exchanged import exchanged
from streams.memory.settle.frames import filled_anew
from streams.memory.settle.guards import same_subject
from streams.memory.settle.habits import habit_moved
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.over import brought_to_an_end
from streams.memory.settle.restated import restated
from streams.memory.settle.slots import same_slot
from streams.memory.settle.texts import near_texts
from streams.memory.settle.wording import key
from streams.ports import ModelProfile


def relate(old: MemoryRecord, new: MemoryRecord, similarity: float | None, profile: ModelProfile) -> Relation:
    """`similarity`: cosine rounded to 3 decimals, None when it was under the threshold of the search."""
    if MemoryType.DIGEST in (old.memory_type, new.memory_type):
        return NONE
    if old.layer is new.layer is Layer.EPISODE:
        found = _episodes(old, new)
    elif old.layer is new.layer is Layer.FACT:
        found = _facts(old, new, similarity, profile)
    else:
        found = NONE
    if found.kind is Kind.NONE and similarity is not None:
        return take_back(old, new, similarity, profile)
    return found


def _facts(old: MemoryRecord, new: MemoryRecord, similarity: float | None, profile: ModelProfile) -> Relation:
    if similarity is not None and similarity < profile.conflict:
        # Facts are searched around from there on. Of some pairs a lower nearness is known by chance (they arrived
        # together, or a correction was looked for): it must count for none, or arrival would decide.
        similarity = None
    if old.speaker != new.speaker:
        return NONE if old.slot is None or old.slot != new.slot else same_slot(old, new, similarity, profile)
    found_by = similarity is not None or about_one(old, new) or (old.slot is not None and old.slot == new.slot)
    if found_by and habit_moved(old, new):
        return Relation(Kind.REPLACE, "a habit that is another now")
    if found_by and bound_moved(old, new):
        return Relation(Kind.REPLACE, "a bound that is another from now on")
    if found_by and restated(old, new):
        return Relation(Kind.REPLACE, "said again with another value")
    if found_by and exchanged(old, new):
        return Relation(Kind.REPLACE, "exchanged for another")
    if found_by and brought_to_an_end(old, new):
        return Relation(Kind.REPLACE, "said to be over")
    anew = filled_anew(old, new) if found_by else None
    if anew is not None and anew.kind is Kind.REPLACE:
        return anew
    found = _by_slot_or_words(old, new, similarity, profile)
    # What gives one thing two values says it twice in no case.
    return anew if anew is not None and found.kind in (Kind.NONE, Kind.REPEAT) else found


def _by_slot_or_words(
    old: MemoryRecord, new: MemoryRecord, similarity: float | None, profile: ModelProfile
) -> Relation:
    if old.slot is not None and old.slot == new.slot:
        return same_slot(old, new, similarity, profile)
    if similarity is None and not about_one(old, new):
        return NONE
    if changed(old, new):
        if len(set_in(old.content)) > 1:
            # Replaced as a whole, what else it says would be lost.
            return Relation(Kind.AMBIGUOUS, "part of it is said to have changed")
        return Relation(Kind.REPLACE, "says that it has changed")
    if similarity is None or not same_subject(old, new):
        return NONE
    return near_texts(old, new, similarity, profile)


def _episodes(old: MemoryRecord, new: MemoryRecord) -> Relation:
    if old.slot is not None and old.slot != new.slot:
        return NONE  # the slot of an episode is its words
    if (old.speaker, old.role) == (new.speaker, new.role) and key(old.content) == key(new.content):
        return Relation(Kind.REPEAT, "the same words by the same speaker")
    return NONE
