"""Is somebody or something said to be over: left, retired, sold, finished?

A clause of its own that says nothing more: "Hanna left early" and "I finished Dune for my book club" end nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from streams.memory.settle.wording import content_terms

_CLAUSE: Final = re.compile(r"[,;:—](?!\d)|[.!?](?=\s|$)|[，。；！？\n]|\s(?:and|but|so)\s")
_OF_MINE: Final = re.compile(
    r"^(?:(?:I|we)(?:'ve| have|'m| am)? )?(?:just |finally )?(?:sold|finished|quit|left|gave up|dropped"
    r"|cancel(?:l)?ed|fired|lost"
    r"|stopped (?:going to|reading|using|watching|learning|playing)|done with|moved out of|moved away from"
    r"|decided against) (?:my |the |our |that )?(?P<what>[\w' .-]{2,40}?)(?: (?:for good|last \w+|in \w+"
    r"|already))?[.!]*$",
    re.IGNORECASE,
)
_ITSELF: Final = re.compile(
    r"^(?P<what>[A-Z][\w' .-]{1,40}?)(?:'s| has| is| was| got)? (?:left|retired|quit|closed|died|gone|shut down"
    r"|resigned|fired"
    r"|moved (?:away|on|abroad|out)|broke)(?: (?:down|for good|the (?:company|team|firm|job)|us|last \w+"
    r"|in \w+))?[.!]*$"
)
_CHINESE: Final = re.compile(
    r"^(?:我|我们|那[个本部]|这[个本部])?(?:把)?《?(?P<what>[^，。！？《》的]{1,12}?)》?(?:已经|早就|都|也)?"
    r"(?:不[^，。]{1,2}了|[看读学追用喝吃]完了|离职了?|退休了?|出国了?|辞职了?|[调搬]走了?|走了|卖掉?了|倒闭了?|关门了"
    r"|关了|停了|坏了|丢了|转走了?)$"
)


@lru_cache(maxsize=20_000)
def _ended(text: str) -> tuple[frozenset[str], ...]:
    clauses = (clause.strip() for clause in _CLAUSE.split(text.replace("’", "'")) if clause)
    found = (_OF_MINE.match(c) or _ITSELF.match(c) or _CHINESE.match(c) for c in clauses)
    return tuple(frozenset(content_terms(hit["what"])) for hit in found if hit is not None)


def is_over(value: str, said: str) -> bool:
    """Does `said` tell that what `value` names is over? Part of a name may stand for it ("the Skoda")."""
    named = frozenset(content_terms(value))
    return any(what and what <= named for what in _ended(said))
