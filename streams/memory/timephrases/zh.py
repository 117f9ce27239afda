# ruff: noqa: E501  # a pattern or a row of a table reads best on one line
"""Chinese: how the words of `zh_words` combine into tokens. Patterns read folded text (`text.fold`)."""

import re
from datetime import datetime

from streams.memory.timephrases.calendar import Span
from streams.memory.timephrases.digits import CLOCKS, DATES, ZONES, checked, clock
from streams.memory.timephrases.feasts import RULES, WEAK
from streams.memory.timephrases.numerals import HAN, han
from streams.memory.timephrases.tokens import (
    IMPOSSIBLE,
    Duration,
    Lexer,
    Pattern,
    Relative,
    When,
    alternatives,
    two_digit_year,
)
from streams.memory.timephrases.zh_words import (
    BARE_UNITS,
    BINDING,
    EDGE_WORDS,
    EDGES,
    LUNAR_MONTHS,
    PARTS,
    RELATIVES,
    SHORT_PARTS,
    SOME,
    UNITS,
    WEEKDAYS,
)
from streams.memory.timephrases.zones import OFFSETS, PLACES

FEASTS = [name for name in RULES if not name.isascii()]
NUMBER = rf"(?:\d{{1,4}}(?:\.\d{{1,2}})?|[{HAN}]{{1,6}}|[俩仨])"
# A numeral up to 99; two bare digits in a row (两三点) are a guess, not a number.
SMALL = r"(?:\d{1,2}|[零〇](?=[点时])|[零〇]?(?:[二两三四五六七八九]?十[一二三四五六七八九]?|[廿卅][一二三四五六七八九]?|[一二两三四五六七八九](?![一二三四五六七八九])))"
MONTH = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
LUNAR_DAY = r"(?:初[一二三四五六七八九十]|[一二三四五六七八九十廿卅]{1,3}|\d{1,2})"
YEAR4 = r"(?:\d{4}|[零〇一二三四五六七八九]{4})"
WEEK = r"(?:周|星期|礼拜)"
UNIT = alternatives(UNITS)
ALONE = r"(?<![\d.$¥€£第])"
DIGIT_WEEKDAY = "[一二三四五六日天1-7]"
# What makes 号 a thing's number, and 点 a point, a bit or a decimal.
THING = r"(?![线楼门房机位选厅馆院店台舱桌床车码人球库仓井站])"
NO_POINT = r"(?![点也都儿不没就滴意原理内经注]|建[议立]|要[求点领]|看法|想法|[一二三四五六七八九十\d]+[度%])"


def integer(text: str | None) -> int | None:
    if not text:
        return None
    try:
        value = han(text)
    except ValueError:
        return None
    return int(value) if value == int(value) else None


def _year(m: "re.Match[str]") -> When | None:
    year = integer(m["y"])
    if year is None:
        return None
    year = two_digit_year(year) if len(m["y"]) == 2 else year
    return When(year=year) if 1000 <= year <= 2999 else None


def _month(m: "re.Match[str]") -> When | object | None:
    month, day = integer(m["m"]), integer(m["d"])
    if month is None or not 1 <= month <= 12 or (m["d"] and day is None):
        return None
    return When(month=month) if day is None else checked(None, month, day) or IMPOSSIBLE


def _day(m: "re.Match[str]") -> When | None:
    day = integer(m["d"])
    return When(day=day) if day is not None and 1 <= day <= 31 else None


def _lunar(m: "re.Match[str]") -> When | None:
    named = m["m"]
    month = LUNAR_MONTHS.get(named) or integer(named) if named else 1
    day = integer(m["d"].removeprefix("初")) if m["d"] else None
    if month is None or not 1 <= month <= 12 or (day is not None and not 1 <= day <= 30):
        return None
    return When(year=integer(m["y"]), month=month, day=day, lunar=True, leap="闰" in m.group() or None)


# 一点 is "a bit" nearly everywhere; one o'clock stands behind a part of the day, a day or a word like 到.
ONE_EXPECTED = re.compile(
    r"(?:[上中下正]午|[早晚]上|凌晨|半夜|夜里|午后|[今明昨后前]天|[日号]|周[一二三四五六日末]|[到至从在约于]|[-~:])$"
)


PART_BEFORE = re.compile(r"(?:[午昼晚早夜晨]|[早晚]上|夜里)$")


def _clock(m: "re.Match[str]") -> When | None:
    """三点, 三点半, 三点一刻, 三点零五分, 三点十五, 三点多; 三点一 and 三点搭一 name the mark of the minute hand."""
    hour, minute = integer(m["h"]), integer(m["m"])
    if hour is None or (m["m"] and minute is None):
        return None
    if (
        (
            m["h"] == "一"
            and not (m["m"] or m["half"] or m["quarter"])
            and not ONE_EXPECTED.search(m.string[: m.start()][-3:])
        )
        and not re.match("[钟整]", m.string[m.end() - 1 : m.end() + 1])
        and m.group()[-1] not in "钟整"
    ):
        return None
    if m["quarter"]:
        minute = 15 * (integer(m["quarter"]) or 1)
    elif m["half"]:
        minute = 30
    elif minute is not None and not m["unit"] and (m["mark"] or m["m"] in "一二三四五六七八九"):
        if not m["mark"] and not PART_BEFORE.search(m.string, 0, m.start()):
            return None  # a decimal
        minute *= 5
    found = clock(hour, minute, integer(m["s"]), exact=hour > 12 or hour == 0)
    return found and When(clock=found.clock, fuzzy=bool(m["about"]) or None or False)


def _to_hour(m: "re.Match[str]") -> When | None:
    hour, minutes = integer(m["h"]), 15 if m["q"] else integer(m["m"])
    if hour is None or minutes is None or not 0 < hour <= 24 or not 0 < minutes < 60:
        return None
    return clock((hour - 1) or 12, 60 - minutes)


def is_guess(text: str) -> bool:
    """两三, 七八: two digits in a row."""
    return len(text) == 2 and text.isalpha() and not set(text) & set("十百千万廿卅零〇几")


def quantity(text: str) -> float | None:
    """An amount; 几 stands for three, a guess for its lower number."""
    if text in SOME:
        return 3
    if is_guess(text):
        text = text[0]
    elif text.isalpha() and len(text) > 2 and not set(text) & set("十百千万廿卅"):
        return None
    try:
        return han(text.replace("几", "三"))
    except ValueError:
        return None


def _decade(m: "re.Match[str]") -> When | None:
    decade = integer(m["d"])
    century = integer(m["c"]) if m["c"] else None
    if decade is None or decade % 10 or decade > 90:
        return None
    year = (century - 1) * 100 + decade if century else decade + (2000 if decade < 30 else 1900)
    return _ten_years(year) if year > 0 else None


def _ten_years(year: int) -> When:
    return When(base=Span(datetime(year, 1, 1), datetime(year + 10, 1, 1), "decade"))


def _century(m: "re.Match[str]") -> When | None:
    century = integer(m["c"])
    if century is None or not 1 <= century <= 30:
        return None
    return When(base=Span(datetime(century * 100 - 99, 1, 1), datetime(century * 100 + 1, 1, 1), "century"))


def _hours(m: "re.Match[str]") -> When | None:
    """两三点: about the first of them."""
    hour = integer(m["a"])
    found = None if hour is None else clock(hour, None)
    return found and When(clock=found.clock, fuzzy=True)


def _duration(m: "re.Match[str]") -> Duration | None:
    amount = quantity(m["n"])
    if amount is None or (m["u"] == "月" and "个" not in m.group() and m["n"] not in ("俩", "仨")):
        return None
    fuzzy = bool(m["more"] or m["tail"]) or "几" in m["n"] or m["n"] in SOME or is_guess(m["n"])
    if m["half"] or m["year_half"]:
        amount += 0.5
    return Duration(((amount, UNITS[m["u"]]),), fuzzy)


def _shift(m: "re.Match[str]") -> int:
    word = m["s"]
    if word[0] in "之此以随":
        return 1 if word[1] == "后" else -1
    if word[0] in "上下":
        return -len(word) if word[0] == "上" else len(word)
    return {"过去": -1, "最近": -1, "近": -1, "前": -1, "未来": 1, "后": 1, "今后": 1, "接下来": 1, "往后": 1}.get(
        word, 0
    )


def _quarter(m: "re.Match[str]") -> tuple[int, str] | None:
    n = 1 if m["n"] == "首" else integer(m["n"])
    return (n, "quarter") if n is not None and 1 <= n <= 4 else None


def _ordinal(m: "re.Match[str]") -> tuple[int, str | None] | None:
    n = {"最后一": -1, "首": 1, "头一": 1}.get(m["n"]) or integer(m["n"].removeprefix("第"))
    return (n, UNITS.get(m["u"] or "")) if n and abs(n) < 400 else None


def _first_last(m: "re.Match[str]") -> tuple[int, int, str] | None:
    n, unit = integer(m["n"]), UNITS[m["u"]]
    if m["u"] == "季度":
        unit = "quarter"
    return (-1 if "后" in m["s"] else 1, n, unit) if n and n < 400 else None


def _feast(m: "re.Match[str]") -> When | None:
    """Names that are also plain words count next to another time word or alone."""
    if m.group() in WEAK:
        around = m.string[max(0, m.start() - 2) : m.start()] + m.string[m.end() : m.end() + 1]
        if not re.search(r"[年天日后前节期在到]", around) and m.group() != m.string.strip():
            return None
    return When(feast=m.group())


DATE_WORDS = (
    Pattern("when", alternatives(FEASTS) + r"(?!老人|树|帽)", _feast),
    Pattern("when", rf"(?:农历|阴历|旧历)(?:(?P<y>{YEAR4})年)?(?:大年)?(?:(?P<m>正|腊|冬|{MONTH})月)(?:份)?(?P<d>{LUNAR_DAY})?[日号]?", _lunar),
    Pattern("when", rf"(?:(?P<y>{YEAR4})年)(?:农历|阴历|旧历)(?:(?P<m>正|腊|冬|{MONTH})月)(?P<d>{LUNAR_DAY})?[日号]?", _lunar),
    Pattern("when", rf"(?P<y>)闰(?P<m>{MONTH})月(?P<d>{LUNAR_DAY})?[日号]?", _lunar),
    Pattern("when", rf"(?P<y>)(?P<m>正|腊)月(?P<d>{LUNAR_DAY})?[日号]?", _lunar),
    # Only the lunar calendar writes its days with 初, 廿 and 卅.
    Pattern("when", rf"(?P<y>)(?P<m>冬|{MONTH})月(?P<d>初[一二三四五六七八九十]|[廿卅][一二三四五六七八九]?)", _lunar),
    Pattern("when", r"(?<![\d一二三四五六七八九零〇今去明前本])(?P<y>)(?P<m>)年(?P<d>初[一二三四五六七八九十])(?!月)", _lunar),
    Pattern("when", r"(?P<y>)(?P<m>)大年(?P<d>初[一二三四五六七八九十])", _lunar),
)  # fmt: skip
RELATIVE_WORDS = (
    Pattern("set", r"[一每]个?(?P<u>天|周|星期|礼拜|月|年|季度)[一二两三四五六七八九十几\d]{1,2}[次回趟]", lambda m: UNITS[m["u"]]),
    Pattern("nthday", r"第(?P<n>[一二三四五六七八九十]{1,3}|\d{1,2})[天日]", lambda m: integer(m["n"])),
    Pattern("when", r"[今去明](?=[春夏秋冬](?![天季节]))", lambda m: Relative("year", {"今": 0, "去": -1, "明": 1}[m.group()])),
    Pattern("when", rf"[早晚](?!一点[^钟半])(?={SMALL}(?:点|时|:\d\d))", lambda m: When(part=PARTS[m.group()])),
    Pattern("set", r"天天|日日(?=.)", lambda m: "day"),
    Pattern("every", r"每(?:逢|隔|一)?个?(?=[\d一二两三四五六七八九十半几周星礼天日月年季晚早小上下中工分秒春夏秋冬])", lambda m: 1),
    Pattern("when", r"今[日天](?!头条)|(?<![日号节])当[日天]|(?<![一二两三四五六七八九十几每\d])本日(?!本)|" + alternatives(w for w in RELATIVES if w not in ("今日", "今天", "本日", "当日", "当天")), lambda m: RELATIVES[m.group()]),
    Pattern("in", rf"再?过(?=[{HAN}\d几半])"),
    Pattern("edgeword", alternatives(EDGE_WORDS) + r"(?![级学衣国心文午旬])", lambda m: EDGE_WORDS[m.group()]),
    Pattern("nth", r"[上下]半年", lambda m: (1 if m.group()[0] == "上" else 2, "half")),
)  # fmt: skip
CALENDAR = (
    Pattern("when", ALONE + rf"(?P<y>{YEAR4}|两千零[一二三四五六七八九]|两千[零一二]?[一二三四五]?十[一二三四五六七八九]?|[零〇0][零〇一二三四五六七八九\d])\s?年度?(?![代多])", _year),
    Pattern("when", rf"{ALONE}(?:(?P<c>\d\d|二十一?|十[一二三四五六七八九])世纪)?(?P<d>\d0|[一二三四五六七八九]?十|[一二三四五六七八九]零)年代", _decade),
    Pattern("when", r"(?:上个?世纪)(?P<c>)(?P<d>\d0|[一二三四五六七八九]?十)年代", _decade),
    Pattern("when", ALONE + r"(?P<y>(?:1[5-9]|20)\d0)年代", lambda m: _ten_years(int(m["y"]))),
    Pattern("when", rf"{ALONE}(?P<c>\d\d|二十一?|十[一二三四五六七八九])世纪", _century),
    Pattern("when", ALONE + r"(?P<y>[5-9]\d|[五六七八九][零〇一二三四五六七八九])年(?![以之]?[前后来内间]|[多半代老前后])", _year),
    Pattern("when", ALONE + rf"(?P<y>\d\d|[一二三四五六七八九][零〇一二三四五六七八九])年(?=[底初末春夏秋冬]|\s?{SMALL}月|第|[上下]半|[一二三四]季|{alternatives(FEASTS)})", _year),
    Pattern("when", ALONE + rf"(?P<m>{MONTH})月(?:份)?\s?(?P<d>{SMALL})(?:[日号]|(?![\d点时:个年月周天多分]))", _month),
    Pattern("when", ALONE + rf"(?P<m>{MONTH})月(?P<d>)份?(?![亮饼经子])", _month),
    Pattern("when", ALONE + r"(?P<m>1[0-2]|0?[1-9])/(?P<d>3[01]|[12]\d|0?[1-9])[日号]", _month),
    Pattern("when", ALONE + rf"(?P<d>{SMALL})(?:号|日(?!(?:[之以]?[内后前])|之计|三餐|[本元语文式游化常均]))" + THING, _day),
    Pattern("when", rf"(?<![一二两三四五六七八九十\d几半]){WEEK}(?P<w>{DIGIT_WEEKDAY})(?![个\d])", lambda m: When(weekday=WEEKDAYS[m["w"]])),
    Pattern("when", r"(?<=[年今去明])[春夏秋冬](?![节晚])[天季]?|[春夏秋冬][天季]", lambda m: When(season=m.group()[0])),
    Pattern("nth", r"第?(?P<n>[一二三四首1-4])个?季(?:度|(?<=第.季)|(?<=年.季))(?!节)|q(?P<q>[1-4])季?度?", lambda m: (int(m["q"]), "quarter") if m["q"] else _quarter(m)),
)  # fmt: skip
NO_CLOCK_PARTS = "(?P<quarter>)(?P<half>)(?P<m>)(?P<s>)(?P<mark>)(?P<unit>)"
CLOCK_WORDS = (
    Pattern("when", rf"{ALONE}(?P<h>{SMALL})点(?:钟)?差(?:(?P<m>{SMALL})分钟?|(?P<q>一刻钟?))", _to_hour),
    Pattern("when", rf"差(?:(?P<m>{SMALL})分钟?|(?P<q>一刻钟?))到?(?P<h>{SMALL})点", _to_hour),
    Pattern("when", ALONE + rf"(?P<h>{SMALL})[点时]过?(?:(?P<quarter>[一三])刻|(?P<half>半)|(?P<m>{SMALL})(?P<unit>分)(?!钟|[之以]?[前后内])(?:(?P<s>{SMALL})秒)?)(?P<mark>)(?P<about>多|许)?", _clock),
    Pattern("when", ALONE + rf"(?P<h>(?![零〇]点[一二三四五六七八九\d](?!十)){SMALL})点(?P<mark>[搭踏])?(?P<m>[零〇]?[一二三四五六七八九十]{{1,3}}|\d{{1,2}})(?![\d.%度个点倍年月周天件位人次名])(?P<quarter>)(?P<half>)(?P<s>)(?P<unit>)(?P<about>)", _clock),
    Pattern("when", ALONE + rf"(?P<h>{SMALL})(?:点|时(?![间候代常光尚差]))(?P<about>多|许)?(?:钟|整)?(?![\d一二三四五六七八九十]){NO_CLOCK_PARTS}{NO_POINT}", _clock),
    Pattern("when", r"(?<![一二三四五六七八九十\d])(?:(?P<a>[一二两三四五六七八九十])(?P<b>[二三四五六七八九十]))点(?:多)?钟?" + NO_POINT, _hours),
    Pattern("when", alternatives(p for p in PARTS if p not in SHORT_PARTS), lambda m: When(part=PARTS[m.group()])),
    Pattern("loose", r"[早晚夜](?![餐饭点安会宴班操读课些])", lambda m: When(part=PARTS[m.group()])),
)  # fmt: skip
DURATIONS = (
    Pattern("dur", rf"{ALONE}(?P<n>{NUMBER}|十几|几十|好几|好多|好些|几|数|若干)\s?(?P<more>多|来|余)?个?(?:多|来)?(?P<half>半)?整?(?P<u>{UNIT})(?:(?<=年)(?P<year_half>半)(?!年))?(?P<tail>多)?(?!之计|[底初末代级份本元语文钟])", _duration),
    Pattern("dur", rf"{ALONE}(?P<n>[一两三]|\d)刻钟", lambda m: Duration(((15 * (integer(m["n"]) or 1), "minute"),))),
    Pattern("dur", rf"{ALONE}(?P<n>{NUMBER}|几|半)个钟(?!头)", lambda m: Duration(((quantity(m["n"]) or 1, "hour"),), m["n"] == "几")),
    Pattern("dur", rf"(?P<n>半)(?P<more>)(?P<half>)(?P<year_half>)(?P<tail>)个?(?P<u>{UNIT})", _duration),
)  # fmt: skip
COUNTED = rf"(?:\s?(?:[{HAN}\d几数半]{{1,6}})(?:多|来|余)?个?半?(?:{UNIT}|周|季))"
ORDERED = (
    Pattern("shift", rf"(?P<s>上{{1,4}}|下{{1,4}}|这|本|今|当|前|后|过去|未来|最近|近|今后|接下来|往后|[之此以随]后(?=[\d一二两三四五六七八九十几])|[之此以]前(?=[\d一二两三四五六七八九十几]))的?(?:(?<=[上下这])一(?=个?(?:{WEEK}|月|季|年|世纪)))?个?(?={WEEK}|月|季|年|世纪|{COUNTED})(?!月[球亮饼])", _shift),
    Pattern("postord", rf"(?P<n>第[一二三四五六七八九十\d]{{1,3}}|首|头一|最后一)个?(?:(?P<u>周末|天|日|{WEEK}(?!{DIGIT_WEEKDAY})|月|季度)|(?={WEEK}{DIGIT_WEEKDAY}))", _ordinal),
    Pattern("firstlast", rf"(?P<s>前|最后|后|头)\s?(?P<n>[一二两三四五六七八九十\d]{{1,3}})个?(?P<u>{UNIT})", _first_last),
    Pattern("postedge", alternatives(EDGES) + r"(?![级学衣国心文午])", lambda m: EDGES[m.group()]),
    Pattern("until", r"到(?=.{1,12}为止)"),
    *(Pattern(kind, alternatives(words.split()) + ("(?![面期边来者])" if kind in ("ago", "later") else "")) for kind, words in BINDING.items()),
    Pattern("to", r"-+"),
    Pattern("unit", alternatives(BARE_UNITS), lambda m: BARE_UNITS[m.group()]),
    Pattern("num", ALONE + rf"(?:\d{{1,4}}|[{HAN}]{{1,4}})(?=\s?(?:-|到|至|和|与|~))", lambda m: integer(m.group())),
    Pattern("when", r"(?<=[-到至~])(?P<y>(?:19|20)\d\d)(?!\d|年)", _year),
)  # fmt: skip
_FIRST = {w[0] for table in (FEASTS, RELATIVES, PARTS, EDGES, BARE_UNITS, SOME) for w in table}
_FIRST |= {w[0] for words in BINDING.values() for w in words.split()}
_FIRST |= {name[0] for name in (*PLACES, *OFFSETS)}
_FIRST |= set(HAN) | set(
    "俩仨不早直去再截直闰随此之以春夏秋冬周星礼第首最头这本今当上下过未近往接每天日差半正腊冬农阴旧大,、-~q"
)
STARTS = rf"[{re.escape(''.join(sorted(_FIRST)))}]|(?<!\d)\d|(?<=\d{{4}}[-/.]\d\d[-/.]\d\d)\d"


def build() -> Lexer:
    # The first match wins: a feast before the day it names, a shift (前3天) before the duration in it.
    patterns = [
        *DATE_WORDS,
        *ZONES,
        *DATES,
        *CLOCKS,
        *RELATIVE_WORDS,
        *CALENDAR,
        *CLOCK_WORDS,
        *DURATIONS,
        *ORDERED,
    ]
    return Lexer(patterns, STARTS)


CUES = re.compile(
    r"[\d年月日号天周点时分秒晨早晚午夜昼节旬季初底末纪钟期拜春夏秋冬刚现此当目如眼而依明今昨]"
    + "|"
    + alternatives(FEASTS)
)
# What has been arranged ("约了周五") lies ahead.
PAST = re.compile(r"(?<![约订定])(?<![说约]好)(?<!安排)(?<!报名)了|过(?![年节去后完])|曾|那时|当初|已经")
FUTURE = re.compile(r"要|会|打算|准备|计划|将|想|应该|必须|得|请|提醒|安排|快|还没|再过")
