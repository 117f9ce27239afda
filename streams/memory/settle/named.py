"""Who or what fills a place that one thing has, said to be another now.

"My landlord is Mr Keller", then "my landlord is Mrs Ahmadi now"; 组长是王磊, then 组长换成刘洋了. The value must be a
name: how somebody or something is ("my landlord is away now") replaces nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.extraction.patterns.zh import SURNAME
from streams.memory.settle.guards import of_user_for_good
from streams.memory.settle.wording import content_terms

_NOW: Final = r"(?:\s(?P<now{}>now|currently|these days))?"
_EN: Final = re.compile(
    r"^(?:and |so |but )?(?P<topic>(?:my|our|the|his|her|their|[A-Z][\w-]*'s) [\w' -]{1,40}?)"
    + _NOW.format(1)
    + r" (?P<verb>is|are|is called|runs? on|uses?|is hosted on|lives? in|works? (?:at|for))"
    + _NOW.format(2)
    + r" (?P<value>(?-i:(?:Mrs?|Ms|Dr)\.? )?(?-i:[A-Z])[\w.+#&-]*(?: (?-i:[A-Z]|\d)[\w.+#&-]*){0,3})"
    + _NOW.format(3)
    + r"[.!]?$",
    re.IGNORECASE,
)
# A person is told by a title, or by a surname and one or two characters that end the clause.
_ZH_VALUE: Final = (
    r"(?:[A-Za-z][\w.+#-]*(?: [A-Z0-9][\w.+#-]*){0,3}"
    r"|[\u4e00-\u9fff]{1,2}(?:医生|老师|先生|女士|阿姨|叔叔|师傅|经理|总|姐|哥)"
    rf"|{SURNAME}[\u4e00-\u9fff]{{1,2}})"
)
_ZH: Final = re.compile(
    r"^(?P<topic>[^，。！？!?；;,]{1,15}?)(?P<now>现在|目前)?(?:已经|都)?"
    r"(?P<verb>是|叫|用的是|用的|用|换成|改成|改为|改用|换到)了?(?P<value>" + _ZH_VALUE + r")了?$"
)
_CLAUSE: Final = re.compile(r"[,;:—](?!\d)|[.!](?=\s|$)|[，。；！\n]|(?<=[\w?？])(?=[?？])")
_VERBS: Final = {
    **dict.fromkeys(("is", "are", "is called", "是", "叫"), frozenset({"is"})),
    **dict.fromkeys(
        ("run on", "runs on", "use", "uses", "is hosted on", "用的是", "用的", "用", "改用"), frozenset({"use"})
    ),
    **dict.fromkeys(("live in", "lives in"), frozenset({"live"})),
    **dict.fromkeys(("work at", "works at", "work for", "works for"), frozenset({"work"})),
    **dict.fromkeys(("换成", "改成", "改为", "换到"), frozenset({"is", "use"})),
}
_SAYS_CHANGE: Final = frozenset({"换成", "改成", "改为", "改用", "换到"})
# Of these one has many.
_MANY: Final = re.compile(
    r"\b(?:friends?|colleagues?|clients?|customers?|cousins?|neighbou?rs?|classmates?|students?|kids?|pets?)\b"
    r"|朋友|同事|客户|同学|学生|邻居|亲戚"
)
# Names that tell how somebody is, or when: "my boss is German now", "the review is Monday now".
_NO_NAME: Final = re.compile(
    r"\w*(?:ish|ese|[^l]ian)$|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day$|(?-i:I|OK)$", re.IGNORECASE
)
_OPEN: Final = re.compile(
    r"\b(?:if|might|maybe|perhaps|could|wish|whether|not|n't)\b|[?？]|如果|要是|假如|可能|也许|听说|希望|吗$|不是"
)


@dataclass(frozen=True, slots=True)
class _Filled:
    topic: frozenset[str]
    verbs: frozenset[str]
    value: str
    changed: bool


def named_anew(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer statement name another who or what for what the older one named, and say that it is so now?"""
    if not of_user_for_good(old, new):
        return False
    return any(
        one.topic == other.topic and one.verbs & other.verbs and one.value.casefold() != other.value.casefold()
        for other in _filled(new.content)
        if other.changed
        for one in _filled(old.content)
    )


def filled_in(text: str) -> frozenset[frozenset[str]]:
    """The things that a statement names who or what for, each by its words."""
    return frozenset(one.topic for one in _filled(text))


@lru_cache(maxsize=20_000)
def _filled(text: str) -> tuple[_Filled, ...]:
    if _OPEN.search(text.casefold()):
        return ()
    return tuple(one for clause in _CLAUSE.split(text) if clause and (one := _of(clause.strip())) is not None)


def _of(clause: str) -> _Filled | None:
    found = _EN.match(clause) or _ZH.match(clause)
    if found is None or _MANY.search(found["topic"].casefold()) or _NO_NAME.match(found["value"]):
        return None
    verb = found["verb"].casefold()
    topic = frozenset(content_terms(found["topic"]))
    now = any(value for name, value in found.groupdict().items() if name.startswith("now"))
    return _Filled(topic, _VERBS[verb], found["value"], now or verb in _SAYS_CHANGE) if topic else None
