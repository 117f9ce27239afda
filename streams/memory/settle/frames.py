"""What a clause says that one thing is: "my landlord is Mrs Roth", "the grant deadline is May 17", 后端换成Go了.

A frame has a topic (what is spoken of, by its words, whose it is among them), a verb, and a value of a kind. Words that
belong to neither stay in the topic or spoil the frame, so that "for this project my manager is Raj" is about something
else than "my manager is Helen". Two frames with one topic and two values of a kind tell of a change when a word says so,
or when one has only one of it at a time (`single`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.extraction.patterns.zh import SURNAME
from streams.memory.lexical import fold
from streams.memory.settle.guards import of_user_for_good
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.single import in_part, occasion, one_of_many, sole
from streams.memory.settle.values import kinds_of
from streams.memory.settle.wording import content_terms, wording

_CLAUSE: Final = re.compile(
    r"[,;:—](?!\d)|(?<!\bProf)(?<!\bDr)(?<!\bMrs)(?<!\bMr)(?<!\bMs)[.!](?=\s|$)|[，。；！\n：]|(?<=[\w?？])(?=[?？])|\s(?:and|but|so|because)\s(?!\w+ (?:me|I)\b)"
)
_NOW_WORDS: Final = r"now|currently|these days|nowadays"
_FROM_NOW: Final = (
    rf"(?:{_NOW_WORDS}|from (?:now|here|today) on(?:wards)?|going forward|as of (?:\w+ ?){{1,3}}|since (?:last )?\w+"
    r"|starting (?:\w+ ?){1,2}|instead)"
)
_NAME: Final = (
    r"(?:(?:the|an?) )?(?:(?-i:Mrs?|Ms|Dr|Prof|Professor|Frau|Herr|Mme|Se[ñn]ora?)\.? )?(?-i:[A-Z\d])[\w.+#&'’-]*"
    r"(?: (?-i:(?:of |the |de |van )?[A-Z\d])[\w.+#&'’-]*){0,3}"
)
_VERBS_EN: Final = {
    "is": "is", "are": "is", "will be": "is", "is called": "is", "is named": "is", "are called": "is",
    "runs on": "use", "run on": "use", "uses": "use", "use": "use", "is hosted on": "at", "is deployed on": "at",
    "lives in": "live", "live in": "live", "works at": "work", "works for": "work", "work at": "work",
    "work for": "work",
}  # fmt: skip
_EN: Final = re.compile(
    r"^(?:\w+ing \w+ )?(?P<topic>(?:(?P<det>my|our|the) |[A-Z][\w-]*['’]s )?[\w'’-]+(?: [\w'’/-]+){0,6}?)"
    rf"(?: (?P<now1>{_NOW_WORDS}))?(?P<verb> (?:is called|is named|are called|will be|is hosted on|is deployed on|runs? on"
    r"|uses?|lives? in|works? (?:at|for)|is|are)|['’]s(?= ))"
    rf"(?: (?P<now2>{_NOW_WORDS}))? (?P<rest>.+?)(?:,? (?P<now3>{_FROM_NOW}))?[.!]*$",
    re.IGNORECASE,
)
# "Raj is my manager now", "Mei owns the backend from here on".
_IS_MINE: Final = re.compile(
    rf"^(?P<value>{_NAME})(?: is|['’]s)(?: (?P<now1>now))? (?:my|our) (?P<topic>[\w'’ -]{{2,30}}?)"
    rf"(?: (?P<now2>{_FROM_NOW}))?[.!]*$",
    re.IGNORECASE,
)
_LOOKS_AFTER: Final = re.compile(
    rf"^(?P<value>{_NAME})(?: (?P<now1>now|currently))? (?:handles|runs|owns|leads|manages|maintains|covers|looks after"
    r"|takes care of|took over|has taken over|is (?:now )?(?:in charge of|responsible for|leading|running|handling))"
    rf" (?P<topic>(?:the|our|my|all) [\w'’ -]{{2,40}}?)(?: (?P<now2>{_FROM_NOW}))?[.!]*$",
    re.IGNORECASE,
)
_REPORT: Final = re.compile(
    rf"^(?:I|we)(?: (?P<now1>now))? (?P<topic>report) (?:directly )?to (?P<value>{_NAME})(?: (?P<now2>{_FROM_NOW}))?[.!]*$",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    rf"\b(?:my|our) (?P<topic>[a-z][\w' -]{{2,24}}?), (?P<value>(?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+){{0,2}})"
    r"(?=[.,!]|$)",
    re.IGNORECASE,
)
# Words that no thing is named by: a clause with one of them before its verb is no frame.
_NO_TOPIC: Final = re.compile(
    r"\b(?:i|you|he|she|it|they|we|this|that|these|those|there|here|what|who|which|where|when|how|why|and|or|not|never|was"
    r"|were|be|been|his|her|their|its|your|another|other|second|first|also|too|both|each|every|one|some|all|any|if|then"
    r"|yesterday|today|tomorrow|news|point|problem|idea|thing|reason|plan|only)\b"
)
_ADDS: Final = re.compile(r"\b(?:also|too|as well|another|besides)\b|[也还]|另一|又一")
_NEW: Final = re.compile(r"\b(?:brand )?(?:new|current|latest)\b|新的?(?=[^，]{2})|现任|目前的|现在的")
_OWN: Final = re.compile(r"^(?:my|our|the)\b|^(?:我们|咱们|我家|我|咱)(?:家)?的?")
_LEAD_ZH: Final = re.compile(r"^(?:(?:新学期|这学期|今年|最近|从?(?:今天|今|现在|下周|下个?月|[\d一二三四五六七八九十]+月)起|如今|现在|目前|那|反正|对了)了?)+")

_ADV_ZH: Final = r"(?P<adv>(?:现在|目前|如今|以后|今后|最近|已经|从[^，]{1,6}起|改|就|都)*)"
_VERBS_ZH: Final = {
    "是": "is", "叫": "is", "用的是": "use", "用的": "use", "用": "use", "放在": "at", "存在": "at", "部署在": "at",
    "托管在": "at", "住在": "live", "住": "live", "在": "at", "上班在": "work",
}  # fmt: skip
_CHANGED_ZH: Final = ("换成", "改成", "改为", "改用", "换到", "变成", "迁到", "搬到", "轮到", "换")
_ZH: Final = re.compile(
    rf"^(?P<topic>[^，。！？!?；;,]{{1,16}}?){_ADV_ZH}"
    rf"(?P<verb>{'|'.join((*_CHANGED_ZH[:-1], '用的是', '用的', '用', '是', '叫', '放在', '存在', '部署在', '托管在', '住在', '住', '换', '在'))})了?"
    r"(?P<value>[^，。！？!?；;,]{1,16}?)(?:了|啦|吧|哈|哦|上(?=$)|里(?=$))*$"
)
_MINE_ZH: Final = re.compile(
    r"^(?P<value>[^，。！？!?；;,的]{1,6}?)(?P<adv>(?:现在|目前|以后|升|成了?)*)(?:是|当)(?:我们?|咱们?)(?:家)?的?(?P<topic>[^，。！？!?；;,]{2,8}?)了?$"
)
_LOOKS_AFTER_ZH: Final = re.compile(
    r"^(?P<topic>[^，。！？!?；;,]{1,12}?)(?P<adv>(?:现在|目前|以后|今后|改|已经|就|都)*)(?:由|归|交给|转给)(?P<value>[^，。！？!?；;,]{1,5}?)"
    r"(?:来|在)?(?:负责|管|带|跟进|接手|做|教)?了?$"
)
_NAME_ZH: Final = re.compile(
    r"(?:[A-Za-z][\w.+#-]*(?: [A-Za-z0-9][\w.+#-]*){0,3}"
    r"|[\u4e00-\u9fff]{1,3}(?:医生|老师|先生|女士|阿姨|叔叔|师傅|经理|教授|律师|主任|教练|总|姐|哥|工)"
    rf"|[小老阿][\u4e00-\u9fff]{{1,2}}|{SURNAME}[\u4e00-\u9fff]{{1,2}}|欧阳[\u4e00-\u9fff]{{1,2}})$"
)
_NO_TOPIC_ZH: Final = re.compile(r"[他她它你您不没]|这|那个|别人|以前|之前|另|第二|还|也|谁|什么|哪|怎|是")
_STATE_ZH: Final = re.compile(r"[很太挺好真]|不|没|的$|得|着|什么|哪|谁|吗")
_LEAST: Final = 2  # terms of a topic that may stand for a longer one
_OTHER: Final = "other"
# What keeps a value from being a name: how somebody or something is, or when.
_NO_NAME: Final = re.compile(r"\w*(?:ish|ese|[^l]ian)$|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?$|(?-i:I|OK)$", re.I)


@dataclass(frozen=True, slots=True)
class Frame:
    """`kinds`: "name", "place", "day", "clock", "number", the unit of an amount, or "other". `now`: said to be so now, or
    to have changed. `noun`: the words of the topic as they stand."""

    topic: frozenset[str]
    verbs: frozenset[str]
    kinds: frozenset[str]
    value: str
    now: bool
    noun: str


def filled_anew(old: MemoryRecord, new: MemoryRecord) -> Relation | None:
    """What the newer statement does to the older one by giving one thing another value; None when they have no thing in
    common. `NONE`: they have, and both stand; they are no repeats."""
    if not of_user_for_good(old, new) or "negative" in (old.polarity, new.polarity):
        return None
    pairs = [
        (one, other)
        for other in frames(new.content)
        for one in frames(old.content)
        if _one_thing(one, other, old.content) and _another(one, other)
    ]
    if not pairs:
        return None
    if all(in_part(new.content, other.value) or in_part(old.content, one.value) for one, other in pairs):
        return NONE
    kinds = {_told(other) for _, other in pairs}
    if Kind.REPLACE not in kinds:
        return Relation(Kind.AMBIGUOUS, "another value of one thing") if Kind.AMBIGUOUS in kinds else NONE
    if len({one.topic for one in frames(old.content)}) > 1:
        # Replaced as a whole, what else it says would be lost.
        return Relation(Kind.AMBIGUOUS, "part of it is said to have changed")
    return Relation(Kind.REPLACE, "another value of what has one at a time")


def topics(text: str) -> frozenset[frozenset[str]]:
    """The things that a statement says what they are, each by its words."""
    return frozenset(one.topic for one in frames(text))


def _told(frame: Frame) -> Kind:
    if one_of_many(frame.noun):
        return Kind.NONE
    return Kind.REPLACE if frame.now or sole(frame.noun) else Kind.AMBIGUOUS


def _one_thing(one: Frame, other: Frame, said: str) -> bool:
    """The newer one may leave out whose the thing is. It may add what the older statement says beside."""
    if not one.verbs & other.verbs or not one.kinds & other.kinds:
        return False
    if one.topic == other.topic or (len(other.topic) >= _LEAST and other.topic < one.topic):
        return True
    return one.topic < other.topic and other.topic <= wording(said).content


def _another(one: Frame, other: Frame) -> bool:
    """Another value, not the same one with more or less detail."""
    mine, theirs = fold(one.value), fold(other.value)
    if mine == theirs or mine in theirs or theirs in mine:
        return False
    before, after = set(content_terms(one.value)), set(content_terms(other.value))
    return not before or not after or not (before <= after or after <= before)


@lru_cache(maxsize=20_000)
def frames(text: str) -> tuple[Frame, ...]:
    """The frames of a statement, clause by clause."""
    found = [_frame(clause.strip()) for clause in _CLAUSE.split(text.replace("’", "'")) if clause and clause.strip()]
    named = [
        _made(beside["topic"], "is", beside["value"], now=False)
        for beside in _BESIDE.finditer(text)
        if sole(beside["topic"])
    ]
    return tuple(one for one in (*found, *named) if one is not None)


def _frame(clause: str) -> Frame | None:
    if _ADDS.search(clause.casefold()):
        return None
    for expression, verb in ((_REPORT, "report"), (_IS_MINE, "is"), (_LOOKS_AFTER, "look after"), (_EN, "")):
        if (found := expression.match(clause)) is not None:
            now = any(value for name, value in found.groupdict().items() if name.startswith("now"))
            said = verb or _VERBS_EN[found["verb"].strip().casefold().replace("'s", "is")]
            return _made(found["topic"], said, found["value"] if verb else found["rest"], now=now)
    return _chinese(_LEAD_ZH.sub("", clause))


def _made(topic: str, verb: str, value: str, *, now: bool) -> Frame | None:
    """An English frame. "For the kitchen" after the value belongs to the topic."""
    noun = topic.casefold()
    if _NO_TOPIC.search(noun):
        return None
    of_what = re.match(r"(?P<value>.+?) (?P<more>(?:for|of) (?:the |my |our )?[\w'-]+(?: [\w'-]+)?)$", value)
    if of_what is not None and not re.search(r"\b(?:for|of)\b", noun):
        value, topic = of_what["value"], f"{topic} {of_what['more']}"
    value = value.strip(" '\"“”")
    kinds = _kinds(value, verb)
    terms = frozenset(content_terms(_NEW.sub(" ", _OWN.sub(" ", topic.casefold()))))
    if not terms or kinds is None:
        return None
    return Frame(terms, frozenset({verb}), kinds, value, now or bool(_NEW.search(noun)), _head(noun))


def _head(noun: str) -> str:
    """"The contractor for the roof" is a contractor."""
    return re.split(r"\s(?:for|of|on|at|in|with|to)\s", noun)[0]


_PLACED: Final = re.compile(r"^(?:at|in|on|with) (?P<where>.+)$", re.IGNORECASE)
_FULL_NAME: Final = re.compile(rf"{_NAME}$")
_ADDRESS: Final = re.compile(r"(?:the )?(?:\w+ ){0,2}(?:floor|room|desk|building|gate|terminal|level|unit)(?: [\w.]+)?$|\d+\w? [A-Z].*$|(?:room|floor|desk|gate|level) \w+$")


def _kinds(value: str, verb: str) -> frozenset[str] | None:
    timed = kinds_of(value)
    if timed:
        return timed
    placed = _PLACED.match(value)
    if placed is not None:
        where = placed["where"]
        named = _FULL_NAME.match(where) or _ADDRESS.match(where)
        return frozenset({"place"}) if named and not _NO_NAME.match(where.split()[0]) else None
    if _FULL_NAME.match(value) and not _NO_NAME.match(value) and len(value) > 1:
        return frozenset({"name"})
    return None


def _chinese(clause: str) -> Frame | None:
    if (found := _MINE_ZH.match(clause)) is not None and _NAME_ZH.match(found["value"]):
        return _made_zh(found["topic"], frozenset({"is"}), found["value"], frozenset({"name"}), now=bool(found["adv"]))
    if (found := _LOOKS_AFTER_ZH.match(clause)) is not None and _NAME_ZH.match(found["value"]):
        return _made_zh(found["topic"], frozenset({"look after"}), found["value"], frozenset({"name"}), now=bool(found["adv"]))
    found = _ZH.match(clause)
    if found is None:
        return None
    changed = found["verb"] in _CHANGED_ZH
    verbs = frozenset({"is", "use", "at"}) if changed else frozenset({_VERBS_ZH[found["verb"]]})
    value = found["value"]
    kinds = kinds_of(value)
    if not kinds and _NAME_ZH.match(value):
        kinds = frozenset({"name"})
    if not kinds and re.search(r"(?:楼|层|室|号|区|路|街|座|栋|城|中心|大厦|市)$", value):
        kinds = frozenset({"place"})
    if not kinds and not _STATE_ZH.search(value) and len(value) <= 8:
        kinds = frozenset({_OTHER})
    used = changed or found["verb"].startswith("用")
    if kinds & {"name", _OTHER} and used:
        kinds = frozenset({"name", _OTHER})
    elif _OTHER in kinds and not sole(_OWN.sub("", found["topic"])):
        return None  # "小李现在是素食者" tells how somebody is
    return _made_zh(found["topic"], verbs, value, kinds, now=changed or bool(re.search("现在|目前|如今|以后|今后|起", found["adv"])))


def _made_zh(topic: str, verbs: frozenset[str], value: str, kinds: frozenset[str], *, now: bool) -> Frame | None:
    noun = _OWN.sub("", topic).strip()
    now = now or bool(_NEW.search(noun))
    plain = _NEW.sub("", noun).replace("的", "").removesuffix("时间")
    if not kinds or not plain or _NO_TOPIC_ZH.search(plain):
        return None
    terms = frozenset(content_terms(plain))
    return Frame(terms, verbs, kinds, value, now, noun) if terms else None
