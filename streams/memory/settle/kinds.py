"""The relations that a newer statement can have to an older one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    NONE = "none"  # both stand
    REPEAT = "repeat"  # the newer says the same
    REPLACE = "replace"  # the newer takes the older one's place
    TAKE_BACK = "take_back"  # the newer corrects something said before: the one that it fits best
    AMBIGUOUS = "ambiguous"  # the rules can't tell


@dataclass(frozen=True, slots=True)
class Relation:
    """`strength`: how well a correction fits what it may be about; comparable for one newer statement only."""

    kind: Kind
    reason: str = ""
    strength: float = 0.0


NONE = Relation(Kind.NONE)
