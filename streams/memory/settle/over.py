"""Is somebody or something said to be over: left, retired, sold, finished?

A clause of its own that says nothing more: "Hanna left early" and "I finished Dune for my book club" end nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold
from streams.memory.settle.leftover import missing, size
from streams.memory.settle.restated import may_follow, spoken_of
from streams.memory.settle.wording import content_terms

_CLAUSE: Final = re.compile(r"[,;:—](?!\d)|[.!?](?=\s|$)|[，。；！？\n]|\s(?:and|but|so)\s")
_OF_MINE: Final = re.compile(
    r"^(?:(?:I|we)(?:'ve| have|'m| am)? )?(?:just |finally |already )?(?:sold|finished|quit|left|gave up|given up"
    r"|dropped|cancel(?:l)?ed|closed|ended|got rid of|fired|lost"
    r"|stopped (?:going to|reading|using|watching|learning|playing)|done with|moved out of|moved away from"
    r"|decided against) (?:my |the |our |that )?(?P<what>[\w' .-]{2,40}?)(?: (?:for good|last \w+|in \w+"
    r"|already|(?:an?|two|three|four|five|six|\d+|a few) (?:days?|weeks?|months?|years?) ago))?[.!]*$",
    re.IGNORECASE,
)
_ITSELF: Final = re.compile(
    r"^(?P<what>[A-Z][\w' .-]{1,40}?)(?:'s| has| is| was| got)? (?:left|retired|quit|closed|died|gone|shut down"
    r"|resigned|fired"
    r"|moved (?:away|on|abroad|out)|broke)(?: (?:down|for good|(?:the|our) \w+|us|last \w+"
    r"|in \w+))?[.!]*$"
)
_CHINESE: Final = re.compile(
    r"^(?:我|我们|那[个本部]|这[个本部])?(?:上(?:周|个?月)|去年|[一二两三四五六七八九十几\d]+(?:天|周|个月|年)前)?(?:把)?《?(?P<what>[^，。！？《》的把]{1,12}?)》?(?:我们?)?(?:已经|早就|都|也)?"
    r"(?:不[^，。]了|[看读学追用喝吃考]完了|戒[了掉]|退[了掉]|退订了|注销了|取消了|[考通]过了|结束了|离职了?|退休了?|出国了?|辞职了?|[调搬]走了?|走了|卖掉?了|倒闭了?|关门了"
    r"|关了|停了|坏了|丢了|转走了?)$"
)


def _clauses(text: str) -> list[str]:
    return [clause.strip() for clause in _CLAUSE.split(text.replace("’", "'")) if clause]


@lru_cache(maxsize=20_000)
def _ended(text: str) -> tuple[str, ...]:
    """Who or what is said to be over, as it is named."""
    clauses = _clauses(text)
    found = (_OF_MINE.match(c) or _ITSELF.match(c) or _CHINESE.match(c) for c in clauses)
    return tuple(hit["what"] for hit in found if hit is not None)


def is_over(value: str, said: str) -> bool:
    """Does `said` tell that what `value` names is over? Part of a name may stand for it ("the Skoda")."""
    named = frozenset(content_terms(value))
    return any(what and what <= named for what in (frozenset(content_terms(part)) for part in _ended(said)))


_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|went|bought|got|took|saw|met|found|made|came|lost|won|sold|paid"
    r"|(?!need|feed|speed)\w{3,}ed)\b|[了过](?=$|\W)"
)
_TASTE: Final = re.compile(
    r"\b(?:lov\w+|lik\w+|hat\w+|prefer\w*|favou?rite|enjoy\w*|fan|think|believe|want\w*|hop\w+|wish\w*|plan\w*)\b"
    r"|喜欢|讨厌|想|打算|希望|觉得"
)
# What is over with the thing that it was of.
_OF_ANYTHING: Final = re.compile(
    r"\b(?:accounts?|memberships?|subscriptions?|contracts?|lease|courses?|class(?:es)?|lessons?|job)\b|会员|账号|订阅"
)
# 我儿子不学小提琴了: who and what, without the word that denies.
_NO_LONGER: Final = re.compile(r"^[^，。]{0,6}?(?P<how>(?:现在|已经|都)*不再?)(?P<what>[^，。]{2,12}?)了$")
_MOST_UNSAID: Final = 1


def brought_to_an_end(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer one tell that what the older one says to have or to do is over: "I cancelled Netflix"?"""
    ends = given_up(new.content)
    said = fold(old.content).replace("’", "'")
    if not ends or _PAST.search(said) or _TASTE.search(said) or not may_follow(old, new):
        return False
    there = _plainly(said)
    return any(not missing(what, there) and size(missing(there, what)) <= _MOST_UNSAID for what in ends)


@lru_cache(maxsize=20_000)
def _given_up(text: str) -> tuple[str, ...]:
    """What the user says to have ended."""
    found = ((c, _OF_MINE.match(c) or _CHINESE.match(c) or _NO_LONGER.match(c)) for c in _clauses(text))
    return tuple(
        clause[: hit.start("how")] + hit["what"] if "how" in hit.groupdict() else hit["what"]
        for clause, hit in found
        if hit
    )


def given_up(text: str) -> frozenset[frozenset[str]]:
    """What the user says to have ended, each by its words."""
    return frozenset(what for what in map(_plainly, _given_up(text)) if what)


def _plainly(text: str) -> frozenset[str]:
    return spoken_of(_OF_ANYTHING.sub(" ", fold(text)))
