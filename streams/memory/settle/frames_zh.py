"""Chinese clauses that give one thing a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from streams.memory.extraction.patterns.zh import SURNAME
from streams.memory.settle.frame import NEW, OTHER, Frame
from streams.memory.settle.single import sole
from streams.memory.settle.values import kinds_of
from streams.memory.settle.wording import content_terms

_ANY: Final = r"[^，。！？!?；;,]"
_NOW: Final = re.compile("现在|目前|如今|以后|今后|起|改|成")
_ADVERB: Final = (
    r"(?P<adv>(?:现在|目前|如今|以后|今后|最近|已经|从[^，]{1,6}起|一般|通常|平时|主要|一直|总是|最后|最终|改|就|都)*)"
)
_VERBS: Final = {
    **dict.fromkeys(("是", "写"), ("is",)),
    "叫": ("is", "called"),
    **dict.fromkeys(("用的是", "用的", "用", "买的是"), ("use",)),
    "有": ("has",),
    **dict.fromkeys(("放在", "存在", "部署在", "托管在", "在"), ("at",)),
    **dict.fromkeys(("定在", "固定在", "安排在"), ("is", "at")),
    **dict.fromkeys(("住在", "住"), ("live",)),
}
_USED: Final = frozenset({"用的是", "用的", "用", "买的是"})
_PUT: Final = frozenset({"放在", "存在", "部署在", "托管在", "定在"})
_CHANGED: Final = (
    *("换成", "改成", "改为", "改用", "改在", "换到", "变成", "迁到", "搬到", "升到", "涨到"),
    *("调到", "转到", "轮到", "换", "定了用"),
)
# The longest first, and no part of another: 现在 is no place.
_WHOLE: Final = {"在": "(?<![现署管放存定排])在", "有": "(?<![只没])有"}
_SAYS: Final = "|".join(_WHOLE.get(verb, verb) for verb in sorted((*_VERBS, *_CHANGED), key=len, reverse=True))
_IS: Final = re.compile(
    rf"^(?P<topic>{_ANY}{{1,16}}?)(?:帮我|给我)?{_ADVERB}(?P<verb>{_SAYS})了?"
    rf"(?P<value>{_ANY}{{1,16}}?)(?:了|啦|吧|哈|哦|上(?=$)|里(?=$))*$"
)
_AMOUNT: Final = re.compile(
    rf"^(?P<topic>{_ANY}{{1,10}}?){_ADVERB}(?:只有|只|大概|大约|差不多|就)?(?P<value>(?:每个?月|一个?月|每年"
    rf"|一年)?约?[\d一二两三四五六七八九十].{{0,10}})$"
)
_MINE: Final = re.compile(
    rf"^(?P<value>[^，。！？!?；;,的]{{1,6}}?)(?P<adv>(?:现在|目前|以后|升|成了?)*)(?:是|当)(?:我们?|咱们?)(?:家)?的?"
    rf"(?P<topic>{_ANY}{{2,8}}?)了?$"
)
_LOOKS_AFTER: Final = re.compile(
    rf"^(?P<topic>{_ANY}{{1,12}}?)(?P<adv>(?:现在|目前|以后|今后|改|已经|就|都)*)(?:由|归|交给|转给|轮到"
    rf"|是(?={_ANY}+(?:主持|负责|管)))"
    rf"(?P<value>{_ANY}{{1,5}}?)(?:来|在)?(?:负责|主持|管|带|跟进|接手|做|教)?了?$"
)
_DOING: Final = re.compile(
    rf"^(?:我们?)?(?P<adv>(?:现在|最近|目前|正|改)*)(?P<topic>在备考|备考|在学|在看|在追|在读|学|看|追|读|开的是"
    rf"|开(?![了会通心始]))"
    rf"(?P<value>{_ANY}{{1,12}}?)(?:了|呢)?$"
)
_DOSE: Final = re.compile(
    rf"^(?:我)?(?:现在|改|就)*(?:每[天晚])?(?P<when>早上|中午|晚上|睡前)?(?:现在|改|就)*(?:"
    rf"(?:吃|服用?)(?P<a1>[\d一二两三四五半]+(?:毫克|片|粒|颗|克))的?(?P<d1>{_ANY}{{2,8}})"
    rf"|(?P<d2>[^，。吃服现改]{{2,8}}?)(?:现在|改|就|每[天晚])*(?:吃|服用?)(?P<a2>[\d一二两三四五半]+(?:毫克|片|粒|颗"
    rf"|克)))了?$"
)
_RIDE: Final = re.compile(
    rf"^(?:我们?)?(?P<adv>(?:现在|最近|目前|平时|一般|通常|每天|都|就|改)*)(?P<value>(?:坐|骑|开|走"
    rf"|打){_ANY}{{1,8}}?)(?P<topic>上班|上学)了?$"
)
# "手机套餐升级了，现在是99元", "公司配了新电脑，是MacBook": the thing, then its value.
_THING_CHANGED: Final = re.compile(
    rf"^(?:(?:我们?|公司|单位)?(?:刚|已经|给我|给)*(?:换|配|发"
    rf"|买)了?(?:一?[个台部家])?(?:新的?)?(?P<topic>{_ANY}{{1,6}}?)了?"
    rf"|(?:我们?的?)?(?P<thing>{_ANY}{{1,8}}?)(?:换|改|升级?|搬|涨|调|改签|改名)(?:了|家|人|地方|(?P<more>题目))*)$"
)
_SAYS_CHANGE: Final = re.compile("换|新|改|升|搬|涨|调")
_IT_IS: Final = re.compile(
    rf"^(?:现在|目前|新的|就|改)*(?:是|叫|用的是|用|找的是|去的是|在|做|写)(?P<value>{_ANY}{{1,14}}?)(?:了|啦)?$"
)
_NAME: Final = re.compile(
    r"(?:[A-Za-z][\w.+#-]*(?: [A-Za-z0-9][\w.+#-]*){0,3}"
    r"|[\u4e00-\u9fff]{1,3}(?:医生|老师|先生|女士|阿姨|叔叔|师傅|经理|教授|律师|主任|教练|总|姐|哥|工)"
    rf"|[小老阿](?:[\u4e00-\u9fff]{{1,2}}|[A-Z]\w*)|{SURNAME}[\u4e00-\u9fff]{{1,2}}|欧阳[\u4e00-\u9fff]{{1,2}}"
    rf"|《[^》]+》)$"
)
_PLACE: Final = re.compile(r"(?:楼|层|室|号|区|路|街|座|栋|城|中心|大厦|市|班|组|部)$")
# Of places only those of one sort take each other's place: floors, groups, classes, streets.
_LIKE: Final = {"楼": "楼", "层": "楼", "组": "组", "部": "组", "班": "班"}
_OWN: Final = re.compile(r"^(?:我们|咱们|我家|我|咱|家里)(?:家|组|团队|部门|公司|班)?的?")
_LEAD: Final = re.compile(
    r"^(?:(?:新学期|这学期|今年|最近|从?(?:今天|今|现在|下周|这周|下个?月|[\d一二三四五六七八九十]+月)起|如今|现在"
    r"|目前|那|反正|对了)了?)+"
)
_MYSELF: Final = re.compile(r"^(?:我们?家?|自己)$")
# Who told it, of what is so.
_TOLD: Final = re.compile(r"^(?:领导|老板|老师|医生|客户|对方|公司|通知|学校)(?:说|通知|那边说)")
# "咖啡我现在改喝拿铁了"
_TOPICAL: Final = re.compile(
    rf"^(?P<topic>[^，。我你他她]{{1,6}})我(?P<adv>(?:现在|以后|最近|都|一直"
    rf"|改)*)(?:[喝用吃穿]|[记存放写]在)(?P<value>{_ANY}{{1,8}}?)(?:里|上)?了?$"
)
# "我们用Jira管任务"
_DONE_WITH: Final = re.compile(
    rf"^(?:我们?|咱们?)(?P<adv>(?:现在|以后|最近|都|一直|改)*)用(?P<value>{_ANY}{{1,8}}?)(?P<verb>管|记|写|画|剪"
    rf"|存)(?P<topic>{_ANY}{{2,6}}?)了?$"
)
# "邮件都用英文写": the language or tool that something is done in.
_DONE_IN: Final = re.compile(
    rf"^(?:以后)?(?:请|麻烦)?(?:帮我|给我)?(?P<topic>{_ANY}{{1,10}}?)(?P<adv>(?:以后|今后|现在|改)*)(?P<every>(?:全"
    rf"|全部|都|一律|统一)*)"
    rf"用(?P<value>{_ANY}{{1,6}}?)(?P<verb>写|回复|回|说|发|做)(?:吧|了)?$"
)
_FROM_NOW: Final = re.compile(r"^(?:以后|今后|往后|从今往后)(?:的)?")
_NO_TOPIC: Final = re.compile(
    r"[他她它你您不没]|这|那个|别人|以前|之前|另|第二|还|也|谁|什么|哪|怎|是|明天|今天|昨天|想"
)
_STATE: Final = re.compile(r"[很太挺好真]|不|没|的$|得|着|什么|哪|谁|吗|多$|少$|^个|^一[个只条位]")
_CONSUMED: Final = re.compile(r"^[喝吃穿](?=[\u4e00-\u9fff]{2})")  # "我喝咖啡一直是美式": the coffee
_SHORT: Final = 3
_MOST: Final = 8  # characters of a value that is no name


def read(clauses: Sequence[str]) -> Iterator[Frame]:
    """The frames of the clauses of a text."""
    for clause in clauses:
        if (one := _of(clause)) is not None:
            yield one
    for before, clause in pairwise(clauses):
        if (one := _of_two(before, clause)) is not None:
            yield one


def _of(clause: str) -> Frame | None:
    lead = _LEAD.match(clause)
    later = lead is not None and bool(re.search("现在|目前|如今|起|新学期", lead.group()))
    clause = clause[lead.end() :] if lead is not None else clause
    later = later or _FROM_NOW.match(clause) is not None
    clause = _FROM_NOW.sub("", clause)
    clause = _TOLD.sub("", clause)
    if (found := _DONE_WITH.match(clause)) is not None:
        now = _said_now(found, later=later) or clause.endswith("了")
        return _made(f"{found['verb']}{found['topic']}", ("use",), found["value"], frozenset({OTHER}), now=now)
    if (found := _TOPICAL.match(clause)) is not None and (kinds := _kinds(found["value"])):
        return _made(found["topic"], ("is", "use"), found["value"], kinds, now=_said_now(found, later=later))
    if (found := _DONE_IN.match(clause)) is not None:
        now = later or bool(found["adv"])
        one = _made(found["topic"], (found["verb"],), found["value"], frozenset({OTHER}), now=now)
        return replace(one, every=bool(found["every"])) if one is not None else None
    for expression, verb in ((_MINE, "is"), (_LOOKS_AFTER, "look after")):
        if (found := expression.match(clause)) is not None and _NAME.match(found["value"]):
            changed = later or bool(found["adv"]) or "轮到" in clause or "转给" in clause
            return _made(found["topic"], (verb,), found["value"], frozenset({"name"}), now=changed)
    if (found := _DOSE.match(clause)) is not None:
        amount, drug = found["a1"] or found["a2"], found["d1"] or found["d2"]
        when = found["when"] or ""
        terms = frozenset({"吃", when, *content_terms(drug)})
        return Frame(terms, frozenset({"do"}), kinds_of(amount), amount, True, "")
    if (found := _RIDE.match(clause)) is not None:
        now = _said_now(found, later=later)
        return Frame(frozenset({"go", found["topic"]}), frozenset({"do"}), frozenset({"ride"}), found["value"], now, "")
    if (found := _DOING.match(clause)) is not None and (kinds := _kinds(found["value"])):
        root = found["topic"].removeprefix("在").removesuffix("的是")
        now = _said_now(found, later=later)
        return Frame(frozenset({"i", root}), frozenset({"do"}), kinds, found["value"], now, "", steady=root == "开")
    if (found := _IS.match(clause)) is not None:
        return _is(found, later=later)
    if (found := _AMOUNT.match(clause)) is not None and sole(found["topic"]):
        kinds = kinds_of(found["value"])
        return _made(found["topic"], ("is",), found["value"], kinds, now=_said_now(found, later=later))
    return None


def _said_now(found: re.Match[str], *, later: bool) -> bool:
    return later or _NOW.search(found["adv"]) is not None


def _is(found: re.Match[str], *, later: bool) -> Frame | None:
    changed = found["verb"] in _CHANGED
    value, alone = found["value"], sole(found["topic"])
    if alone:
        value = value.removesuffix("的")
    if found["verb"] == "有" and not kinds_of(value):
        return None
    if found["verb"] == "写" and not alone:
        return None
    verbs = ("is", "called", "use", "at", "live") if changed else _VERBS[found["verb"]]
    kinds = _kinds(value)
    used = changed or found["verb"] in _USED
    state = OTHER in kinds and not used and found["verb"] not in _PUT and not alone
    if used and kinds & {"name", OTHER}:
        kinds = frozenset({"name", OTHER})
    now = changed or _said_now(found, later=later) or found.group().endswith("了")
    return _made(found["topic"], verbs, value, kinds, now=now, state=state)


def _of_two(before: str, clause: str) -> Frame | None:
    changed, value = _THING_CHANGED.match(before), _IT_IS.match(clause)
    if changed is None or value is None or not _SAYS_CHANGE.search(before):
        return None
    kinds = _kinds(value["value"])
    if kinds & {"name", OTHER}:
        kinds = frozenset({"name", OTHER})
    thing = changed["topic"] or f"{changed['thing']}{changed['more'] or ''}"
    one = _made(thing, ("is", "called", "use", "at"), value["value"], kinds, now=True)
    # What is given another name is no second one.
    return replace(one, noun="") if one is not None and "改名" in before else one


def _kinds(value: str) -> frozenset[str]:
    value = value.removeprefix("新来的")
    timed = kinds_of(value)
    if timed:
        return timed
    if _NAME.match(value):
        return frozenset({"name"})
    if (place := _PLACE.search(value)) is not None:
        return frozenset({f"place:{_LIKE.get(place.group(), '')}"})
    return frozenset({OTHER}) if not _STATE.search(value) and len(value) <= _MOST else frozenset()


def _made(
    topic: str, verbs: tuple[str, ...], value: str, kinds: frozenset[str], *, now: bool, state: bool = False
) -> Frame | None:
    noun = _OWN.sub("", topic).strip()
    now = now or bool(NEW.search(noun))
    plain = NEW.sub("", noun).replace("的", "").removesuffix("时间").removeprefix("项目" if len(noun) > _SHORT else "")
    if _CONSUMED.match(plain):
        plain = plain[1:]
    if len(plain) > 2:
        plain = plain.removesuffix("名字")
    if not plain and _MYSELF.match(topic) and any(":" in kind for kind in kinds):
        return Frame(frozenset({"我"}), frozenset(verbs), kinds, value, now, "")
    if not kinds or not plain or _NO_TOPIC.search(plain):
        return None
    terms = frozenset(content_terms(plain))
    return Frame(terms, frozenset(verbs), kinds, value, now, noun, state=state) if terms else None
