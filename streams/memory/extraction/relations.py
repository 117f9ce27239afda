"""General statements about named things: "The capital of Italy is Rome", "Fatah was founded by Yasser Arafat".

The wording between subject and object is the relation; its words decide whether a thing has one at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SMALL = "of for in on at by to with from as"
_NAME = r"[^,;:!?()\n]{2,80}?"
_OF = re.compile(
    rf"^(?:The|the) (?P<a>(?:[a-z][\w-]* ){{0,5}}?[a-z][\w-]*) (?:of|for|at) (?P<s>{_NAME}) (?:is|was|are)(?: now)? (?P<v>.{{1,80}}?)[.!]?$"
)
_WHERE = re.compile(
    rf"^(?:The|the) (?P<a>[a-z][\w -]{{2,30}}?) (?:where|that|which|in which|who) (?P<s>{_NAME}) (?P<r>(?:was|is|are|were)? ?[a-z]+(?:ed|s)?(?: in| at| by| for)?)"
    r" is (?P<v>.{1,80}?)[.!]?$"
)
_POSSESSIVE = re.compile(
    rf"^(?P<s>[A-Z]{_NAME})['’]s (?P<a>[a-z][\w -]{{2,30}}?) (?:is|was|are)(?: now)? (?P<v>.{{1,80}}?)[.!]?$"
)
_PASSIVE = re.compile(
    rf"^(?P<s>[A-Za-z][^,;:!?()\n]{{1,80}}?) (?:is|was|are|were)(?: now)? (?P<a>(?!(?:to|not|about|going|very|so)\b)(?:(?:a|an|the) )?[a-z][\w-]*(?: [a-z][\w-]*){{0,4}}? (?:{_SMALL.replace(' ', '|')})"
    r"(?: the [a-z]+ of)?) (?P<v>.{1,80}?)[.!]?$"
)
_ACTIVE = re.compile(
    rf"^(?P<s>[A-Z]{_NAME}) (?P<a>(?:works?|worked|plays?|played|speaks?|spoke|lives?|lived|died|studied|studies|teaches|writes|wrote|runs|reports)"
    rf"(?: (?:{_SMALL.replace(' ', '|')}))?(?: the [a-z]+ of)?) (?P<v>.{{1,80}}?)[.!]?$"
)
_CHINESE = re.compile(
    r"^(?P<s>[^，。！？我你他她它这那的\s]{2,20})的(?P<a>[\u4e00-\u9fff]{2,8}?)(?:现在)?(?:是|为|叫)(?P<v>[^，。！？什哪谁吗呢\n]{1,30})[。！]?$"
)
_PRONOUN = re.compile(r"^(?:i|you|he|she|it|we|they|this|that|these|those|there|here|what|who|how|why|when|where|my|your|our|his|her|its|their|which"
                      r"|if|so|then|and|but|all|everything|something|nothing|one|same|thing|first|next|last|only|best|problem|reason|point|idea|goal|rest)\b", re.IGNORECASE)  # fmt: skip
_HEDGED = re.compile(r"\b(?:i|you|we|me|my|your|please|can|could|would|should|might|maybe|perhaps|if)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Relation:
    """`attribute` is the normalised relation phrase, e.g. `capital`, `founded by`, `born in the city of`."""

    subject: str
    attribute: str
    value: str


def relation(sentence: str) -> Relation | None:
    """The relation that a short general statement with a named subject says, else None.

    >>> relation("The capital of Italy is Rome.")
    Relation(subject='Italy', attribute='capital', value='Rome')
    >>> relation("The capital of Italy is lovely.") is None
    True
    """
    if len(sentence) > _LONGEST or _HEDGED.search(sentence):
        return None
    chinese = _CHINESE.match(sentence)
    if chinese:
        return Relation(chinese["s"], chinese["a"], chinese["v"])
    for expression in (_OF, _WHERE, _POSSESSIVE, _PASSIVE, _ACTIVE):
        match = expression.match(sentence)
        if match and not _PRONOUN.match(match["s"]) and _named(match["s"], match["v"], match["a"]):
            attribute = match["a"]
            if expression is _WHERE:
                attribute = f"{attribute} {match['r'].strip()}"
            return Relation(match["s"].strip(), _normal(attribute), match["v"].strip().rstrip("."))
    return None


def _named(subject: str, value: str, attribute: str) -> bool:
    """Both sides are short noun phrases, and either both are names or the relation says what kind the value is."""
    if len(subject.split()) > 9 or len(value.split()) > 10 or re.search(r"\b(?:that|which|who|to|is|are)\b", value):
        return False
    both = bool(_PROPER.search(subject)) and bool(re.match(r"(?:the |a |an )?[A-Z\d]", value))
    return both or bool(_KIND.search(attribute))


_LONGEST = 160  # longer ones are prose
_PROPER = re.compile(r"^(?!The following|Let\b|Here\b|Each\b|Some\b|Many\b|Most\b|Every\b|Id\b|Im\b)[A-Z]|\s[A-Z]")
_KIND = re.compile(r"\b(?:sport|position|language|genre|type|country|city|religion|music)\b")


def _normal(attribute: str) -> str:
    words = [w for w in attribute.lower().split() if w not in ("the", "a", "an", "now", "current", "currently")]
    return " ".join(words)
