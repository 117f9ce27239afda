"""What a statement is about, as tags by which the store finds other statements about it, however far their words are.

"My physio is Hanna" and "since the move my physio is Luis" may be too far apart for the search by nearness.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from schemas.memory import Layer, MemoryRecord
from streams.memory.settle.bounds import bounded
from streams.memory.settle.changes import set_in
from streams.memory.settle.frames import topics
from streams.memory.settle.habits import doings
from streams.memory.settle.over import given_up
from streams.memory.settle.restated import set_anew

ABOUT: Final = "about:"
MOST: Final = 4  # of a statement


@lru_cache(maxsize=20_000)
def about(text: str) -> tuple[str, ...]:
    """The tags of what a text gives a value or a time, in order."""
    things = {
        thing
        for found in (topics(text), doings(text), set_in(text), bounded(text), set_anew(text), given_up(text))
        for thing in found
    }
    return tuple(sorted(ABOUT + " ".join(sorted(thing)) for thing in things))[:MOST]


def places(record: MemoryRecord) -> tuple[str, ...]:
    """Where others about the same are looked for: its slot and its tags of this kind. Only stored tags count, so that
    what a search finds and what is compared are one."""
    tags = tuple(tag for tag in record.tags if tag.startswith(ABOUT)) if record.layer is Layer.FACT else ()
    return tags if record.slot is None else (record.slot, *tags)


def about_one(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Do both have a tag of this kind in common?"""
    return not {tag for tag in old.tags if tag.startswith(ABOUT)}.isdisjoint(new.tags)
