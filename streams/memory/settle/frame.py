"""A frame: one thing, and the value that a clause gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

OTHER: Final = "other"  # the kind of a value that is neither a name nor anything counted
# "My new landlord", 新的房东: said of what takes the place of another.
NEW: Final = re.compile(r"\b(?:brand )?(?:new|current|latest)\b|新的?(?=[^，]{2})|现任|目前的|现在的")


@dataclass(frozen=True, slots=True)
class Frame:
    """`kinds`: "name", "place", "day", "clock", "money", "number", a unit, or "other".

    `now`: said to be so now, or to have changed. `noun`: the topic as it stands. `steady`: "now" is enough to tell that
    it took the place of what was before. `state`: it may tell how somebody is, not what fills a place. `every`: said of
    all of its kind.
    """

    topic: frozenset[str]
    verbs: frozenset[str]
    kinds: frozenset[str]
    value: str
    now: bool
    noun: str
    steady: bool = True
    state: bool = False
    every: bool = False
