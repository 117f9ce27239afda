"""Corrections inside one sentence: "not Tuesday but Wednesday", "Bonn, not Berlin", 不是周二而是周三, 不叫李雷，叫李磊.

The sentence is reduced to what holds, so that every wording of a slot also understands its correction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streams.memory.extraction.cued import Cued

_OLD = r"(?P<o>[^,;.!?\n，。；！？]{1,40}?)"
_NO_CLAUSE = r"(?!(?:it|they|he|she|i|we|you|that|this|there)\b)(?=\S)"
_AUXILIARY = (
    r"(?<!do )(?<!does )(?<!did )(?<!can )(?<!could )(?<!will )(?<!would )(?<!should )(?<!have )(?<!has )"
    r"(?<!am )(?<!['’]m )"
)
# Words of which one is in it, the form, what holds.
_FORMS = (
    # "is not (on) Tuesday but (on) Wednesday"
    (
        "but",
        rf"(?P<k>\b(?:is|are|was|were|am)|['’](?:s|re|m))(?: not|n['’]t) {_OLD},? but (?:rather )?{_NO_CLAUSE}",
        r"\g<k> ",
    ),
    # "isn't Tuesday, it's Wednesday"
    (
        "not isn aren wasn weren amn sn ren mn",
        rf"(?P<k>\b(?:is|are|was|were|am)|['’](?:s|re|m))(?: not|n['’]t) {_OLD}, (?:it['’]?s|it is|they['’]re|i['’]m"
        rf"|i am) (?=\S)",
        r"\g<k> ",
    ),
    ("but", rf"{_AUXILIARY}\bnot {_OLD},? but (?:rather )?{_NO_CLAUSE}", ""),
    # "Bonn, not Berlin", "on Wednesday instead of Tuesday"
    (
        "not",
        rf"(?:,| —|—| -) ?(?:and )?not (?!that|only|just|sure|really|so|too|very|yet|any|a\b){_OLD}(?=$|[.!;])",
        "",
    ),
    ("instead rather", rf" (?:instead of|rather than) {_OLD}(?=$|[,.!;])", ""),
    ("", r"不是(?P<o>[^，。；！？\n]{1,30}?)[，,]?\s*(?:而是|是)(?=\S)", "是"),
    (
        "",
        r"不(?P<k>叫|住在?|在|姓|用|喜欢|去|要|爱)(?P<o>[^，。；！？\n]{1,30}?)[，,]\s*(?:我|而是|现在|其实|改"
        r"|是)*(?P=k)(?=\S)",
        r"\g<k>",
    ),
    ("", r"(?P<k>[^，。；！？\n]{2,40})[，,]\s*(?:而)?不是(?P<o>[^，。；！？\n]{1,30}?)(?=[。！]|$)", r"\g<k>"),
)
_CONTRASTS = tuple((Cued(words, expression), holds) for words, expression, holds in _FORMS)
_CORRECTS = Cued(
    "correction correct correcting misspoke meant mistyped mistake typo wrong sorry earlier before",
    r"\b(?:correction|correct(?:ing)? (?:myself|that|something)|i (?:misspoke|meant|mistyped)|what i meant"
    r"|my mistake|typo|i was wrong|sorry, (?:i|it))\b"
    r"|\b(?:earlier|before)\b.{0,40}\b(?:wrong|mistake|not|said)\b|更正|纠正|说错|记错|写错|打错|搞错|弄错|口误"
    r"|笔误|应该是",
)
_DENIES = Cued("not t instead rather", r"\b(?:not|instead|rather)\b|n['’]t\b|不")
_ARTICLE = re.compile(r"^(?:on|in|at|to|the|a|an) ", re.IGNORECASE)
_ENDS = Cued(
    "longer more anymore quit stopped gave given",
    r"\b(?:no longer|any ?more|any longer|quit|stopped|gave up|given up)\b|不再|戒了|早就不|已经不"
    r"|没再|[不没][^，。！？]{1,12}了(?=$|[，。！\s])",
)


@dataclass(frozen=True, slots=True)
class Contrast:
    """`text` is the sentence without what it denies; `old` is what it denies, if it names it."""

    text: str
    old: str | None = None


def contrast(sentence: str) -> Contrast:
    """
    >>> contrast("The meeting is not on Tuesday but on Wednesday.")
    Contrast(text='The meeting is on Wednesday.', old='Tuesday')
    >>> contrast("我不叫李国宇，叫李国松")
    Contrast(text='我叫李国松', old='李国宇')
    """
    if not _DENIES.search(sentence):
        return Contrast(sentence)
    for expression, holds in _CONTRASTS:
        match = expression.search(sentence)
        if match:
            kept = sentence[: match.start()] + match.expand(holds) + sentence[match.end() :]
            return Contrast(kept, _ARTICLE.sub("", match["o"].strip()))
    return Contrast(sentence)


def corrects(sentence: str) -> bool:
    """Whether the sentence says that an earlier statement was wrong (not merely that things have changed)."""
    return bool(_CORRECTS.search(sentence))


def ends(sentence: str) -> bool:
    """Whether the sentence says that something is over."""
    return bool(_ENDS.search(sentence))
