"""A standing wish that is replaced by name: "I always want the aisle seat", then "from now on a window seat instead".

Both end in the same noun, of which each says another kind: what else is said of seats stands beside it.
"""

from __future__ import annotations

import re
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle.guards import of_user_for_good
from streams.memory.settle.wording import content_terms

_STANDS: Final = re.compile(
    r"\b(?:always|usually|normally|generally|every time|prefer\w*|by default)\b"
    r"|总是?|一直|每次|一向|通常|一般|平时|习惯|更?喜欢|默认"
)
_FROM_NOW: Final = re.compile(
    r"\b(?:from now on|going forward|from (?:today|here) on)\b|以后|今后|往后|从(?:现在|今天|今)起?"
)
_INSTEAD: Final = re.compile(r"\b(?:instead|rather)\b|改|换|别再?|不再")
_CLAUSE: Final = re.compile(r"[,.;:!?—。\n]")
_END: Final = re.compile(
    r"(?:[\s,]|please|instead|rather|from now on|going forward|thanks|by default|for me|now"
    r"|了|吧|就好|就行|谢谢|啊|哦)+$"
)


def may_replace(text: str) -> bool:
    """Does it say that something is wanted instead from now on?"""
    now = fold(text)
    return bool(_FROM_NOW.search(now) and _INSTEAD.search(now))


def instead(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer one put another kind in the place of the kind that the older one always wants?"""
    if not of_user_for_good(old, new):
        return False
    said, now = fold(old.content), fold(new.content)
    if not (may_replace(now) and _STANDS.search(said)):
        return False
    one, other = _wish(said, _STANDS), _wish(now, _INSTEAD) or _wish(now, _FROM_NOW)
    return len(one) > 1 and len(other) > 1 and one[-1] == other[-1] and one[-2] != other[-2]


def _wish(text: str, cue: re.Pattern[str]) -> tuple[str, ...]:
    """The content of the clause that has the cue, without what follows the wish."""
    clause = next((part for part in _CLAUSE.split(text.replace("from now on,", "from now on")) if cue.search(part)), "")
    return content_terms(_END.sub("", clause).replace("的", " "))
