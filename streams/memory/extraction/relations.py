"""General statements about named things: "The capital of Italy is Rome", "Fatah was founded by Yasser Arafat".

The wording between subject and object is the relation; its words decide whether a thing has one at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streams.memory.look import Looked

_SMALL = "of for in on at by to with from as"
_NAME = r"[^,;!?()\n]{2,80}?"
_OF = re.compile(
    rf"^(?:The|the) (?P<a>(?:[a-z][\w-]* ){{0,5}}?[a-z][\w-]*) (?:of|for|at) (?P<s>{_NAME}) (?:is|was"
    rf"|are)(?: now)? (?P<v>.{{1,80}}?)[.!]?$"
)
_WHERE = re.compile(
    rf"^(?:The|the) (?P<a>[a-z][\w -]{{2,30}}?) (?:where|that|which|in which|who) (?P<s>{_NAME}) (?P<r>(?:was|is"
    rf"|are|were)? ?[a-z]+(?:ed|s)?(?: in| at| by| for)?)"
    r" is (?P<v>.{1,80}?)[.!]?$"
)
_THAT = re.compile(
    r"^(?:The|the) (?P<a>[a-z][\w -]{2,30}? (?:that|which"
    r"|who) [a-z]+) (?P<s>(?=[A-Z\d])[^,;!?()\n]{2,80}?) is (?P<v>.{1,80}?)[.!]?$"
)
_POSSESSIVE = re.compile(
    rf"^(?P<s>[A-Z]{_NAME})['’]s (?P<a>[a-z][\w -]{{2,30}}?) (?:is|was|are)(?: now)? (?P<v>.{{1,80}}?)[.!]?$"
)
_PASSIVE = re.compile(
    rf"^(?P<s>[A-Za-z\d][^,;:!?()\n]{{1,80}}?) (?:is|was|are|were)(?: now)? (?P<a>(?!(?:to|not|about|going|very"
    rf"|so)\b)(?:(?:a|an|the) )?[a-z][\w-]*(?: [a-z][\w-]*){{0,4}}? (?:{_SMALL.replace(' ', '|')})"
    r"(?: the [a-z]+ of)?) (?P<v>.{1,80}?)[.!]?$"
)
_ACTIVE = re.compile(
    rf"^(?P<s>[A-Z]{_NAME}) (?P<a>(?:works?|worked|plays?|played|speaks?|spoke|lives?|lived|died|studied|studies"
    rf"|teaches|writes|wrote|runs|reports)"
    rf"(?: (?:{_SMALL.replace(' ', '|')}))?(?: the [a-z]+ of)?) (?P<v>.{{1,80}}?)[.!]?$"
)
_CHINESE = re.compile(
    r"^(?P<s>[^，。！？我你他她它这那的\s]{2,20})的(?P<a>[\u4e00-\u9fff]{2,8}?)(?:现在)?(?:是|为|叫)(?P<v>[^，。！？什哪谁吗呢\n]{1,30})[。！]?$"
)
_OF_NAMED = (_POSSESSIVE, _PASSIVE, _ACTIVE)
_OF_THE = (_THAT, _OF, _WHERE, *_OF_NAMED)
# Words that open a clause, not a title: "All Shook Up was performed by ..." is about a song.
_PRONOUN = re.compile(
    r"^(?:[Ii]|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey|[Tt]h(?:is|at|ese|ose|ere|en)|[Hh]ere|[Ww]hat|[Ww]ho|[Hh]ow"
    r"|[Ww]hy|[Ww]hen|[Ww]here|[Mm]y|[Yy]our|[Oo]ur"
    r"|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|[Ww]hich|[Ii]f|[Ss]o|[Aa]nd|[Bb]ut|[Aa]ll|[Ee]verything|[Ss]omething"
    r"|[Nn]othing|[Oo]ne|[Ss]ame|[Ff]irst|[Nn]ext|[Ll]ast"
    r"|[Oo]nly|[Bb]est|[Pp]roblem|[Rr]eason|[Pp]oint|[Ii]dea|[Gg]oal|[Rr]est|[Ll]et['’]?s?)(?:$| [a-z]|['’])"
)
_HEDGED = Looked(
    r"\b(?:I(?=['’]| [a-z])|i|you|we|me|my|your|please|can|could|would|should|might|maybe|perhaps"
    r"|if)\b"
)


@dataclass(frozen=True, slots=True)
class Relation:
    """`attribute` is the normalised relation phrase, e.g. `capital`, `founded by`, `born in the city of`."""

    subject: str
    attribute: str
    value: str


def general(sentence: str) -> bool:
    """Whether a sentence is short and speaks neither of who talks nor of what may be: what follows asks for that."""
    return len(sentence) <= _LONGEST and _HEDGED.search(sentence) is None


def relation(sentence: str) -> Relation | None:
    """The relation that a `general` statement with a named subject says, else None.

    >>> relation("The capital of Italy is Rome.")
    Relation(subject='Italy', attribute='capital', value='Rome')
    >>> relation("The capital of Italy is lovely.") is None
    True
    """
    chinese = None if sentence.isascii() else _CHINESE.match(sentence)
    if chinese:
        return Relation(chinese["s"], chinese["a"], chinese["v"])
    for expression in _OF_THE if sentence.startswith(("The ", "the ")) else _OF_NAMED:
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
    name = bool(re.match(r"(?:the |a |an )?[A-Z\d]", value))
    return (name and (bool(_PROPER.search(subject)) or attribute.endswith("ed by"))) or bool(_KIND.search(attribute))


_LONGEST = 160  # longer ones are prose
_PROPER = re.compile(r"^(?!The following|Let\b|Here\b|Each\b|Some\b|Many\b|Most\b|Every\b|Id\b|Im\b)[A-Z\d]|\s[A-Z]")
_KIND = re.compile(r"\b(?:sport|position|language|genre|field|type|country|city|religion|music)\b")


def _normal(attribute: str) -> str:
    words = [w for w in attribute.lower().split() if w not in ("the", "a", "an", "now", "current", "currently")]
    return " ".join(words)


_ENGLISH_THIRD = re.compile(
    r"^(?P<s>He|She|(?!(?:It|This|That|There|What|Here|Everything|Something|Nothing|Everyone|Someone|Let|Please"
    r"|Yes|No|The|Each|Which|Who|Where|When|How"
    r"|Why|If|So|And|But|Also|Just|Now|Then|Thanks|Does|Is|Was|Has)\b)[A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:(?:also|now"
    r"|just|still|recently|always|usually) )?"
    r"(?:is|was|has|had|will|can(?:not|['’]t)?|does(?: not|n['’]t)|did(?: not|n['’]t)|"
    r"(?:work|live|move|join|run|lead|manage|own|administer|handle|organi[sz]e|teach|stud[yi]|speak|like|love|hate"
    r"|prefer|play|need|want|adopt|marr[yi]|turn"
    r"|retire|graduate|visit|travel|use|drive|eat|drink|start|finish|quit|plan|know|report|help|collect|train|cook"
    r"|paint|sing|volunteer|coach|design|maintain)"
    r"(?:e?s|e?d)|got|took|went|left|bought|wrote|met|taught|spoke|ran|led)\b"
)
_CHINESE_THIRD = re.compile(
    r"^(?P<s>[他她]|[小老阿][赵钱孙李周吴郑王冯陈蒋沈韩杨朱秦许何吕张孔曹严金魏姜谢邹潘葛范彭马方袁柳唐薛贺罗郝于余顾孟黄萧尹姚邵汪毛戴宋熊董梁杜贾江郭梅林钟徐高夏蔡田胡霍卢莫邓洪崔龚程陆段侯武刘叶龙黎赖乔关]"
    r"|[赵钱孙李周吴郑王冯陈蒋沈韩杨朱秦许何吕张曹严魏姜谢潘范彭马方袁唐薛罗郝余顾孟黄萧姚邵汪戴宋熊董梁杜贾江郭林钟徐高夏蔡田胡霍卢邓洪崔龚程陆段侯武刘叶黎乔][\u4e00-\u9fff]{1,2}?)"
    r"(?:现在|最近|已经|刚刚?|也|还|就|都|今天|明天|昨天|下周|上周|这周|每天|平时)*(?:在|是|有|喜欢|讨厌|负责|管|要|会|去|搬|换|买|住|对|把|得了|升|离职|结婚)"
)
# A Latin name in a Chinese sentence: only with what people do, since products have such names too.
_LATIN_THIRD = re.compile(
    r"^(?P<s>[A-Z][a-z]+)\s?(?:现在|最近|已经|刚刚?|也|还|就|都|要|会|今天|明天|昨天|[下上这]周|[下上这]个?月)*\s?"
    r"(?:换(?:组|工作|岗)|跳槽|离职|辞职|入职|转岗|升职|升了|调(?:去|到)|结婚|怀孕|生了|出差|请假|休假|搬(?:家|去|到)|毕业|退休|生病|回国"
    r"|出国|负责|住在|喜欢|讨厌|爱吃|不吃|不喝|对\S{1,6}过敏)"
)


def third_person(sentence: str) -> str | None:
    """Whom a `general` statement about somebody else is about, as said: a name or a pronoun; None when it is no such.

    >>> third_person("She administers the GitHub org"), third_person("It works now")
    ('She', None)
    """
    match = _ENGLISH_THIRD.match(sentence)
    if match is None and not sentence.isascii():
        match = _CHINESE_THIRD.match(sentence) or _LATIN_THIRD.match(sentence)
    return match["s"] if match else None
