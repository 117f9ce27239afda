"""What a wish or a taste is about: the noun after its verb ("prefers a chat FORMAT for stories")."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from streams.memory.settle.wording import content_terms, wording

_WANTED: Final = re.compile(
    r"\b(?:prefers?|(?:dis)?likes?|enjoys?|loves?|hates?|wants?|requires?|requests?|seeks?|interest(?:ed)? in|avoids?"
    r"|values|appreciates?) (?!to |that )(?P<what>.+?)(?=\s(?:for|in|of|with|on|to|over|than|that|who|which|from|about"
    r"|because|due|when|like|such|by|as|at|during|and|but|or)\b|[(,;:.]|$)",
    re.IGNORECASE,
)


@lru_cache(maxsize=20_000)
def _head(text: str) -> str | None:
    """The noun that says what is wanted or liked."""
    wanted = _WANTED.search(text)
    what = content_terms(wanted["what"]) if wanted is not None else ()
    return what[-1] if what else None


def of_two_things(one: str, other: str) -> bool:
    """Is what each of them wants something that the other one does not name: a format, an approach?"""
    mine, theirs = _head(one), _head(other)
    if mine is None or theirs is None:
        return False
    return mine not in wording(other).content and theirs not in wording(one).content
