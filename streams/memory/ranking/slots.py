"""What a question in the first person asks to know of oneself: "Where do I live?" asks for the city.

Its words are mostly not those of the answer ("we've moved to Antwerp"), and the model puts them far apart; but the fact
was stored with its slot. Only what everybody has one of at a time is listed: there the slot says what is meant.
"""

from __future__ import annotations

import re
from typing import Final

from schemas import Layer, MemoryRecord
from streams.memory.lexical import fold

# attributes: (English, Chinese)
_ASKED: Final = {
    ("city",): (
        r"\bwhere (?:do|did|am|was|is|were) (?:i|my home)\b(?: currently| now)?(?: (?:live|living|reside|based))?"
        r"\W*(?:$|now|then|back then|at the moment|these days|currently|before|in \d{4})"
        r"|\b(?:which|what) (?:city|town|place|country)\b.*\b(?:live|home|reside|living|based)\b"
        r"|\bmy home ?(?:town|city)\b",
        r"住(?:在)?(?:哪|什么地方|何处)|家(?:现在|目前|当时|以前|原来)?(?:是)?在哪|哪[个座]?城市|在哪[里儿]?(?:住|生活|定居)",
    ),
    ("employer",): (
        r"\bwhere (?:do|did) i work\b|\bmy (?:current |new |old |former |last )?(?:employer|company|workplace)\b"
        r"|\bwho (?:employs|employed) me\b|\b(?:which|what) (?:company|firm)\b.*\b(?:i|me)\b",
        r"在?哪(?:里|儿|家|个)?(?:公司|单位|地方)?(?:上班|工作|任职|就职|供职)|哪家(?:公司|单位)|(?:公司|单位)叫什么",
    ),
    ("occupation",): (
        r"\bmy (?:job|profession|occupation|job title)\b|\bwhat do i do for (?:a living|work)\b",
        r"我[^，。？?]{0,6}(?:职业|做什么工作|干什么的|什么职位)",
    ),
    ("name", "nickname"): (
        r"\bmy (?:full |real |first |last )?name\b|\bwhat (?:am i called|should you call me)\b|\bwho am i\b",
        r"我(?:叫什么|的?名字|姓什么|是谁)|称呼我|我[^，。？?]{0,4}被?称呼|叫我什么",
    ),
    ("birthday",): (r"\bmy birthday\b|\bwhen was i born\b", r"我[^，。？?]{0,6}(?:生日|出生)"),
    ("age",): (r"\bhow old am i\b|\bmy age\b", r"我[^，。？?]{0,4}(?:几岁|多大年纪|年龄)"),
    ("boss", "manager", "supervisor", "老板", "领导", "经理", "导师"): (
        r"\bmy (?:\w+ )?(?:boss|manager|supervisor|superior)\b|\bwho do i report to\b",
        r"我[^，。？?]{0,4}(?:上司|领导|老板|上级|主管|经理|导师)",
    ),
    ("spouse", "wife", "husband", "老婆", "老公", "妻子", "丈夫"): (
        r"\bmy (?:wife|husband|spouse)['’]?s? name\b|\bwho am i married to\b",
        r"我(?:的)?(?:老婆|老公|妻子|丈夫|爱人|太太)(?:叫|是谁|的?名字)",
    ),
}
_FIRST_PERSON: Final = re.compile(r"\b(?:i|my|me)\b|我", re.IGNORECASE)
# "my sister's job": asked of somebody else.
_OF_ANOTHER: Final = re.compile(
    r"\b(?:my|our) (?:\w+ )?(?:sister|brother|mother|father|mom|mum|dad|son|daughter|friend|colleague|neighbou?r|uncle"
    r"|aunt|cousin|partner|boyfriend|girlfriend|parents?|kids?|child(?:ren)?|wife|husband|boss|manager)['’]?s?\b"
    r"(?! name)"
    r"|我(?:的|家)?(?:妹妹?|姐姐?|哥哥?|弟弟?|[爸妈]+|母亲|父亲|儿子|女儿|孩子|朋友|同事|邻居|叔叔|阿姨|表[哥弟姐妹]|爷爷|奶奶"
    r"|外[公婆]|室友)",
    re.IGNORECASE,
)
_ABOUT_PEOPLE: Final = frozenset({"boss", "spouse"})
_EXPRESSIONS: Final = tuple(
    (frozenset(names), re.compile(f"{english}|{chinese}", re.IGNORECASE))
    for names, (english, chinese) in _ASKED.items()
)


def asked_slots(question: str) -> frozenset[str]:
    """Attributes that a question about oneself asks for; none for a question about somebody or something else.

    >>> sorted(asked_slots("Where do I live?")), sorted(asked_slots("Where does my sister live?"))
    (['city'], [])
    """
    if not _FIRST_PERSON.search(question):
        return frozenset()
    found: set[str] = set()
    other = bool(_OF_ANOTHER.search(question))
    for names, expression in _EXPRESSIONS:
        if (not other or names & _ABOUT_PEOPLE) and expression.search(question):
            found |= names
    return frozenset(found)


def fills(record: MemoryRecord, slots: frozenset[str]) -> bool:
    """Whether a memory is the asker's own value of a slot that was asked for."""
    if record.layer is not Layer.FACT or record.attribute not in slots:
        return False
    subject = fold(record.subject or "user")
    return subject == "user" or (record.speaker is not None and subject == fold(record.speaker))
