# ruff: noqa: E501  # a list of words reads best on one line
"""English: what stands around a word that only sometimes speaks of time, and the words that show the tense."""

import re

from streams.memory.timephrases.en_words import (
    DECADES,
    LONG_UNITS,
    MONTHS,
    NOON,
    PARTS,
    RELATIVES,
    SEASONS,
    SETS,
    WEEKDAYS,
)
from streams.memory.timephrases.feasts import RULES
from streams.memory.timephrases.numerals import ENGLISH_WORDS
from streams.memory.timephrases.tokens import alternatives

FEASTS = [name for name in RULES if name.isascii() and not name.isdigit()]
M, W = alternatives(MONTHS), alternatives(WEEKDAYS)
SHORT_EXPECTED = re.compile(
    r"(?:\b(?:in|for|within|last|lasted|lasts|next|past|every|about|after|takes?|took|of)\s|\d\s?[a-z]{1,5},?\s?|\band\s)$"
)
SHORT_AFTER = re.compile(r"\s?(?:ago|later|from now|earlier|,?\s?\d+\s?(?:h|m|s|min|hr)s?(?![a-z]))")
A_SECOND = re.compile(r"\b(?:in|for|wait|just|me|half|within|takes?)\sa\ssecond|a\ssecond\s(?:ago|later|from)")
LIGHT = frozenset({"sunset", "sunrise", "dawn", "dusk"})  # times of day only behind a preposition
NAMES = frozenset({"jan", "mar", "dec"})
PREPOSITION = re.compile(
    r"\b(?:in|of|since|by|until|till|during|last|next|this|every|each|mid|early|late|on|before|after|past|from|between"
    r"|to|through|thru|and|or|previous|coming|current|week|weekend)[\s-]+$"
)
YEAR_BEFORE = re.compile(
    r"(?:^|[\u4e00-\u9fff]|\b(?:in|of|since|by|from|until|till|to|before|after|during|through|throughout|year|years|fy|cy|and|or|the"
    r"|early|late|mid|around|about|circa|(?:later|earlier|greater|older|newer)\sthan|on|for|between|this|that|not|last|ago)[\s-]+|[,&/(=]\s?|(?:[a-z]|\d[./]\d\d?|(?:19|20)\d\d)\s?-\s?)$"
)
YEAR_OF_OLD = re.compile(r"\b(?:in|since|by|until|from|of|before|after|year)\s$")  # in 1862
COUNTED_THINGS = re.compile(
    r"\s?(?:euros?|dollars?|usd|eur|pounds?|yuan|rmb|people|users?|items?|rows?|tokens?|lines?|words?|pages?|times|points?"
    r"|calories|kcal|steps|met(?:er|re)s?|miles?|km|kg|feet|mb|gb|units?|characters?|bytes?|%)(?![a-z])"
)
YEAR_AFTER = re.compile(
    r"\s?(?:-|to|until|till|through)\s?(?:19|20)\d\d(?!\d)|\s(?:or|and)\s(?:later|after|before|earlier)(?![a-z])"
)
TIME_TAIL = re.compile(r"(?:\d|[,-]|[ap]m)\s*$")
CLAUSE_END = re.compile(
    r"\s*(?:$|[.,!?;:)\u4e00-\u9fff-]|(?:to|and|or|at|morning|afternoon|evening|night|until|through|of|last|next|this|for"
    r"|i|we|he|she|they|it|when|with|in|is|was|will)\b|after\s(?:the\s)?next|\d)"
)
NUMBERED = re.compile(
    rf"\s?(?:-|to|through)\s?(?:{W})(?![a-z])|"
    rf"(?:\s(?:to|until|till|through|thru)\s|\s?-\s?)(?:{M})(?![a-z])|"
    r"\.?,?[\s-]?(?:\d|the\s(?:\d|first|second|third)|'\d\d)|\safter\s(?:the\s)?next|\sin\s(?:a|one|\d+)\syear"
)


def stands(m: "re.Match[str]") -> bool:
    """A word like "may", "march" or "sun" that here is a time: alone, with a number, or where a time is expected."""
    before, after = m.string[max(0, m.start() - 14) : m.start()], m.string[m.end() : m.end() + 16]
    if not before.strip() and not after.strip(" .!?"):
        return m.group() not in NAMES
    if NUMBERED.match(after):
        return True
    expected = PREPOSITION.search(before) or TIME_TAIL.search(before)
    return bool(expected and CLAUSE_END.match(after))


def stands_at(m: "re.Match[str]") -> bool:
    """After "3 may" no verb follows."""
    return CLAUSE_END.match(m.string[m.end() : m.end() + 16]) is not None


# Words without which an English clause has no time phrase (digits aside), and the words that show its tense.
_CUE_WORDS = {
    word
    for table in (
        DECADES,
        MONTHS,
        WEEKDAYS,
        SEASONS,
        LONG_UNITS,
        PARTS,
        RELATIVES,
        NOON,
        SETS,
        {f"{w}s" for w in WEEKDAYS},
    )
    for phrase in table
    for word in re.findall(r"[a-z]{2,}", phrase)
} - {
    "at",
    "this",
    "of",
    "the",
    "in",
    "and",
    "possible",
    "office",
    "working",
    "business",
    "soon",
    "just",
    "close",
    "on",
    "as",
    "time",
    "after",
    "work",
}
_CUE_WORDS |= {w for name in FEASTS for w in re.findall(r"[a-z]{4,}", name)} - {"good", "black", "jr", "fool"}
_CUE_WORDS |= ENGLISH_WORDS | {"eod", "clock", "ish", "eve", "now", "noonish", "ago", "today", "workweek", "am", "pm"}
_CUE_WORDS -= {"one", "half"}
CUES = re.compile(rf"\d|(?<![a-z])(?:{'|'.join(sorted(_CUE_WORDS))})(?![a-z])")
PAST = re.compile(
    r"(?<![a-z'])(?:was|were|had|went|did|came|met|got|made|saw|bought|took|left|began|said|told|ate|gave|found|lost|won"
    r"|broke|flew|drove|wrote|sold|paid|built|chose|fell|grew|felt|heard|kept|knew|spent|taught|thought|wore|became|drank|ran|sat|stood|slept|rode|sang|swam|won|hit|read|understood|forgot|shut"
    r"|(?!need|need|proceed|exceed|succeed|speed|feed|indeed|hundred|wed)[a-z]{2,}ed)(?![a-z])"
)
FUTURE = re.compile(
    # What was arranged lies ahead: "booked for Thursday", "postponed to March 26".
    r"(?<![a-z])(?:(?:booked|scheduled|planned|arranged|set|reserved) (?:for|on)"
    r"|(?:moved|postponed|rescheduled|pushed|delayed|extended|brought forward|pushed back) (?:to|until)|will|shall|going to|gonna|plan|plans|should|would|could|can|must|need|want|wants|please|let|tomorrow|next"
    r"|schedule|remind|book|due|by|until|hope|expect|may|is|are|am|be|getting)(?![a-z])|'(?:ll|re|m)(?![a-z])"
)
