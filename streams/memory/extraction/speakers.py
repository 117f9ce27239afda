"""Who says what about whom: the speaker about themself, about a person of theirs, about a named third, or not for real.

A question, a hypothesis, a quotation of somebody else, a joke taken back: none of these is a statement.
"""

from __future__ import annotations

import re

from streams.memory.extraction.cued import Cued

_GENERIC_SPEAKERS = frozenset({"user", "human", "me", "用户", "我", "guest", "customer", "client"})
_POSSESSIVE = re.compile(r"^(?:my|our)\s+", re.IGNORECASE)
_CHINESE_POSSESSIVE = re.compile(r"^(?:我们|我|咱们?)(?:的|家(?:的)?)?(?=.)")
_FIRST_PERSON = frozenset({"i", "we", "me", "my", "our", "the", "我", "我们", "咱", "咱们", "我家", "本人", "俺"})
_KIN_WITH_NAME = re.compile(
    r"^(?:[Mm]y|[Oo]ur)\s+(?!.* with )[a-z' -]*?,?\s+(?P<name>[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)*)$"
)
PRONOUNS = frozenset(
    {"his", "her", "their", "him", "them", "he", "she", "they", "it", "他", "她", "它", "他们", "她们", "this", "that"}
)

_COUNTERFACTUAL = Cued(
    "suppose supposing imagine assume assuming let lets pretend what if hypothetically wish hypothetical "
    "fictional fictionalised fictionalized argument poem story song haiku limerick rap lyrics script scene tale sketch",
    r"^\W*(?:suppose|supposing|imagine|assume|assuming|let['’]?s say|pretend|what if|hypothetically)\b"
    r"|\bif (?:i|we|you|he|she|they|my \w+) (?:were|was|had|did|could|won|lived|owned|became)\b|\b(?:as if i"
    r"|i wish i|if only)\b"
    r"|\bin a (?:hypothetical|fictional(?:i[sz]ed)?)\b|\bfor the sake of argument\b"
    # Who is "I" in a story that is asked for, nobody knows.
    r"|^\W*(?:(?:please|can you|could you|now|ok(?:ay)?)\W+)*(?:write|tell|make|compose|give|create|generate|draft"
    r"|sing)\b[^.!?\n]{0,30}\b(?:poem|story|song|haiku|limerick|rap|lyrics|script|scene|tale|sketch)\b[^.!?\n]{0,30}"
    r"\b(?:where|in which)\b"
    r"|^\W*(?:(?:要是|如果|若是)(?:哪一?天|有一?天|有朝一日)|哪一?天)[^。？?]{1,20}?(?:我们?|咱们?)(?:就|要|会|一定|肯定|第一|非)"
    r"|^\W*(?:假如|假设|假使|要是我|倘若|万一|设想|比如|例如|譬如)|^\W*如果(?:我|你|他"
    r"|她)?[^，]{0,20}，?[^，]*(?:会|就能|就想|愿意)|假装|假定",
)
_CONDITION = Cued("if", r"^\W*(?:and |but |so |ok,? |okay,? )?if\b|^\W*(?:那|但)?(?:如果|要是)")
_JOKE = Cued(
    "kidding jk joking sure right",
    # "Yeah right, and I'm the Pope"
    r"^\W*(?:(?:oh|yeah|ok)\W+)?(?:(?:lol|lmao|pfft|h[aeh]{2,40})\W+(?:(?:oh|yeah|ok)\W+)?"
    r"(?:sure|right)\W+and i(?:['’]m| am) (?:the\b|(?-i:[A-Z]))"
    r"|(?:sure|right)\W+and i(?:['’]m| am) (?:the|an?) (?:queen|king|pope|emperor|president)\b)"
    r"|\b(?:just kidding|jk|(?:only|just|was|i['’]m) joking|kidding)\b|(?:开(?:个|的)?玩笑|逗你(?:玩)?|骗你的"
    r"|瞎说的|说着玩)(?:的|呢|啦)?",
)
# "What I said earlier was a joke" is itself worth knowing.
_TAKES_BACK = re.compile(
    r"\b(?:earlier|before|that (?:\w+ ){0,4}(?:thing|line|bit|part|comment)|when i said|i said|was)\b|刚才|刚刚"
    r"|上次|之前"
    r"|前面|那[句个段次]",
    re.IGNORECASE,
)
# Each character of the laughter is read in one way only: with "哈+" in a repetition thirty of them would take minutes.
_KIDDING = Cued(
    "kidding joking jk",
    r"^(?:ha|lol|no|ok|[哈嘿]|\W)*(?:(?:i(?:['’]m| am| was) )?(?:just |only )?(?:kidding|joking)|jk)\b"
    r"|^(?:[哈嘿我]|\W|就是|只是)*(?:开(?:个|的)?玩笑|逗你(?:玩)?|骗你的|瞎说的|说着玩)",
)
_REPORTED = re.compile(
    r"^\W*(?:he|she|they|somebody|someone|people|everyone|the (?:article|book|author|news|report|movie|film"
    r"|character|song))"
    r" (?:said|says|say|told|claims?|claimed|wrote|writes|think|thinks)\b"
    r"|^\W*(?:(?:and|but|so)\W+)?(?:i|we|he|she|they)(?: was| were| is|['’](?:s|m|re)) (?:just |all )?like,? ?"
    r"(?:[\"“]|(?:ok(?:ay)?|oh|um+|uh|what|yes|yeah|wow|wtf|omg|dude|bro|hey|huh|please|no(?= way|\W*$|,))\b)"
    r"|^\W*(?:他|她|他们|有人|别人|人家|书上|新闻|网上|文章|电影里|小说里)(?:说|讲|写|认为|声称)",
    re.IGNORECASE,
)
# What follows in the same clause is asked, denied or believed of the speaker, not stated by them.
_NOT_STATED = Cued(
    "whether if say said claim claimed mean meant thinks thought believes believed assumes assumed think believe "
    "assume",
    r"\b(?:whether|ask(?:s|ed|ing)?\b[^,.;]{0,30}\bif|wonder(?:s|ed|ing)?\b[^,.;]{0,10}\bif"
    r"|(?:never|didn['’]?t|did not|don['’]?t|do not|doesn['’]?t|does not) (?:say|said|claim|claimed|mean|meant)"
    r"|(?:thinks|thought|believe[sd]|assume[sd]|(?:you|they|people|[a-z]{3,}s)(?: all)? (?:think|believe|assume))"
    r"(?= (?:that )?(?:i|we)\b))\b"
    r"|是否|是不是|以为|没(?:有)?说过?",
)
_CLAUSE_END = re.compile(r"[,，;；.。!！?？\n]")
_QUOTED_WHOLE = re.compile(r"^\W*[\"“「『].{8,}[\"”」』]\W*$", re.DOTALL)
_OPENS_QUOTATION = re.compile('["“「『]')
_QUOTATION = re.compile(r"[\"“「『][^\"“”「」『』\n]{0,400}[\"”」』]")


def subject_of(said: str | None, speaker: str | None) -> str | None:
    """The subject of a statement: `user` or the speaker's name for the first person, a name, a relation ("wife").

    None when it is a pronoun that points at something that was said before.
    """
    who = (said or "").strip()
    folded = who.casefold()
    if not who or folded in _FIRST_PERSON:
        return first_person(speaker)
    if folded in PRONOUNS:
        return None
    named = _KIN_WITH_NAME.match(who)
    if named:
        return named["name"]
    who = re.sub(r"(?:['’]s|的)$", "", who)
    if who in _FIRST_PERSON:
        return first_person(speaker)
    if _POSSESSIVE.match(who):
        return _POSSESSIVE.sub("", who).lower()
    if _CHINESE_POSSESSIVE.match(who) and len(who) > 1:
        return _CHINESE_POSSESSIVE.sub("", who) or first_person(speaker)
    return re.sub(r"^(?:the|this|that)\s+", "", who, flags=re.IGNORECASE)


def first_person(speaker: str | None) -> str:
    """`user`, or the display name when the client gave one: two people in one chat are two subjects."""
    if speaker and speaker.strip() and speaker.strip().casefold() not in _GENERIC_SPEAKERS:
        return speaker.strip()
    return "user"


def unreal(sentence: str) -> str | None:
    """Why a sentence states nothing about the real world: `hypothesis`, `joke`, `reported`, `quotation`, else None."""
    if _JOKE.search(sentence) and not _TAKES_BACK.search(sentence):
        return "joke"
    if _COUNTERFACTUAL.search(sentence):
        return "hypothesis"
    if _QUOTED_WHOLE.match(sentence):
        return "quotation"
    if _REPORTED.match(sentence):
        return "reported"
    return None


def conditional(sentence: str) -> bool:
    """Opens with "if": it may tell what the speaker wants, but states no fact."""
    return _CONDITION.search(sentence) is not None


def not_stated(sentence: str) -> list[tuple[int, int]]:
    """The parts of a sentence that its speaker does not state: in quotation marks, or asked, denied, believed."""
    quotations = _QUOTATION.finditer(sentence) if _quotes(sentence) else ()
    parts = [(match.start() + 1, match.end() - 1) for match in quotations]
    for match in _NOT_STATED.finditer(sentence):
        end = _CLAUSE_END.search(sentence, match.end())
        parts.append((match.end(), end.start() if end else len(sentence)))
    return parts


def _quotes(sentence: str) -> bool:
    return '"' in sentence or (not sentence.isascii() and _OPENS_QUOTATION.search(sentence) is not None)


def takes_back(sentence: str) -> bool:
    """Opens by saying that what was said just before was a joke."""
    return _KIDDING.search(sentence) is not None


def without_quotations(sentence: str) -> str:
    """The sentence with quoted words blanked out, same length: what is quoted was said by somebody else."""
    if not _quotes(sentence):
        return sentence
    return _QUOTATION.sub(lambda match: " " * len(match.group()), sentence)
