"""What kind of thing a question wants: a time, a place, a reason …, by its words; and the cue of one in what was said.

Cues, not readings: to resolve the time phrases or the names in a hundred candidates would cost more than the search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Wanted = Literal["time", "number", "place", "reason", "feeling", "title"]


@dataclass(frozen=True, slots=True)
class _Kind:
    asks: re.Pattern[str]
    cue: re.Pattern[str]


def _kind(asks: str, cue: str, cue_flags: re.RegexFlag = re.IGNORECASE) -> _Kind:
    return _Kind(re.compile(asks, re.IGNORECASE), re.compile(cue, cue_flags))


# The first that a question matches is what it wants.
_KINDS: Final[dict[Wanted, _Kind]] = {
    "time": _kind(
        r"^\W*(?:since |by |until )?when\b|\b(?:what|which) (?:date|day|month|year|time|week)\b|\bhow long ago\b"
        r"|什么时候|何时|几点|几号|哪一?[天年月周日]|多久(?:前|以前|之前)|时间",
        r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|just|since|morning|evening|days?|weeks?"
        r"|weekends?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july"
        r"|august|september|october|november|december|\d{4})\b"
        r"|[昨今明后前]天|[上下本这去今明前][周年月]|星期|周[一二三四五六日末]|礼拜|[\d一二三四五六七八九十]+[年月日号天点]"
        r"|刚刚|刚才|最近",
    ),
    "number": _kind(
        r"\bhow (?:many|much|long|old|often|far|tall|big)\b|\bwhat (?:number|age|price|amount|size)\b"
        r"|多少|几[个次岁只位本天年月周名条件]|多[大长久高远]",
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
        r"|thousand|once|twice|couple|few|several|dozen|half)\b|[一二两三四五六七八九十百千万半几]",
    ),
    "place": _kind(
        r"^\W*(?:from |in |at |to )?(?:where\b|(?:what|which) (?:\w+ )?(?:city|cities|country|countries|states?|places?"
        r"|towns?|locations?|areas?|venue|region|continent)\b)"
        r"|哪里|哪儿|何处|什么地方|哪[个座些]?(?:城市|国家|省|地方|地区)",
        r"(?<=[a-z,] )(?:in|at|to|from|near|around|through|visit(?:ed|ing)?) (?:the )?[A-Z][a-z]+"
        r"|\b(?:in|at|near|around) (?:a|the|my|our) \w+"
        r"|(?:在|去了?|到了?|回|来自|前往|搬到)[^\W\d_a-zA-Z的了过着家]{2}",
        re.NOFLAG,
    ),
    "reason": _kind(
        r"\bwhy\b|\b(?:reasons?|motivat\w+|inspir\w+)\b|为什么|为何|为啥|怎么会|原因",
        r"\b(?:because|since|so that|inspired|motivat\w+|reasons?|wanted|helps?|in order)\b"
        r"|因为|由于|所以|为了|原因|想要",
    ),
    "feeling": _kind(
        r"\bhow (?:did|does|do|has|is|was) .*\b(?:feel\w*|felt|react\w*)\b|\bwhat (?:emotions?|feelings?)\b"
        r"|\bfeel(?:ings?)? (?:about|when|after|during|while)\b|\breact\w* to\b|感觉|心情|感受|情绪|什么反应",
        r"\b(?:feel\w*|felt|happy|sad|excited|proud|nervous|great|amazing|awesome|scared|thankful|grateful|relieved"
        r"|stress\w*|thrilled)\b|感[觉到动]|觉得|[开伤担]心|高兴|难过|生气|紧张|害怕|激动|兴奋|失望|焦虑|满意|骄傲|压力",
    ),
    "title": _kind(
        r"\b(?:books?|movies?|films?|songs?|series|shows?|games?|novels?|albums?|titles?)\b"
        r"|[哪什].{0,3}(?:书|电影|歌|小说|[电视]剧|游戏|专辑|节目)|(?:书|电影|歌|小说|剧|游戏|专辑|节目)(?:叫|是)什么",
        r"[\"“][A-Z]|(?<=[a-z,] )[A-Z][a-z]+ (?:[A-Z]|of|the|and)|《",
        re.NOFLAG,
    ),
}

_BE_OR_DO: Final = r"(?:do|does|did|is|are|was|were|has|have|had|will|would|can|could|should|might|may)\b"
# "What activities …", "what are …", "what do both …", "how many times …": more than one memory answers.
_SEVERAL: Final = re.compile(
    rf"^\W*(?:(?:in|on|at|for|with|from|to|by|of) )?(?:what|which)(?: (?:kinds?|types?|sorts?) of)?"
    rf"(?: (?!{_BE_OR_DO})[\w'’-]+){{0,3}}? (?!{_BE_OR_DO}|this\b)[\w-]*[^\Wsui'’]s\b(?!['’])"
    r"|^\W*(?:what|which|who) (?:are|were)\b|\bboth\b|\bsimilarit|\bin common\b|^\W*how many \w+s\b"
    r"|哪些|哪几|[都还]有[什哪谁]|有什么|分别|都[^，。？?]{0,8}(?:什么|哪|谁)|共同",
    re.IGNORECASE,
)


def wanted(question: str) -> Wanted | None:
    """The kind of thing a question asks for; None for any other.

    >>> wanted("Where did we meet?"), wanted("他为什么迟到？"), wanted("Do I like tea?")
    ('place', 'reason', None)
    """
    return next((name for name, kind in _KINDS.items() if kind.asks.search(question)), None)


def holds(text: str, kind: Wanted) -> bool:
    """Whether a text has the cue of such a thing."""
    return _KINDS[kind].cue.search(text) is not None


def wants_several(question: str) -> bool:
    """Whether more than one memory is asked for.

    >>> wants_several("What hobbies does she have?"), wants_several("What does James like?")
    (True, False)
    """
    return _SEVERAL.search(question) is not None
