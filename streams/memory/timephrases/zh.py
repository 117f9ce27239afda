"""Chinese: tables of words and the patterns built from them. Reads folded text (`text.fold`), so simplified only."""

import re

from streams.memory.timephrases.digits import PATTERNS as DIGITS
from streams.memory.timephrases.digits import checked, clock
from streams.memory.timephrases.feasts import RULES, TERMS, WEAK
from streams.memory.timephrases.numerals import HAN, han
from streams.memory.timephrases.tokens import Clock, Duration, Pattern, Relative, When, alternatives, two_digit_year

WEEKDAYS = {c: i for i, c in enumerate("一二三四五六日")} | {"天": 6, "末": 7} | {str(i): i - 1 for i in range(1, 8)}
UNITS = {
    "秒钟": "second", "秒": "second", "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day",
    "周": "week", "星期": "week", "礼拜": "week", "个周": "week", "周末": "weekend", "月": "month", "季度": "quarter",
    "季": "quarter", "年": "year", "世纪": "century", "年代": "decade", "晚上": "day", "晚": "day", "宿": "day",
}  # fmt: skip
PARTS = {
    "凌晨": "small hours", "清晨": "early morning", "清早": "early morning", "大清早": "early morning",
    "一大早": "early morning", "早晨": "morning", "早上": "morning", "早间": "morning", "朝早": "morning",
    "上午": "morning", "午前": "morning", "中午": "noon", "正午": "noon", "晌午": "noon", "午间": "noon",
    "午后": "afternoon", "下午": "afternoon", "晏昼": "afternoon", "傍晚": "dusk", "黄昏": "dusk", "晚上": "night",
    "晚间": "night", "夜晚": "night", "夜里": "night", "夜间": "night", "夜": "night", "晚": "night", "早": "morning",
    "深夜": "late night", "半夜": "midnight", "午夜": "midnight", "大半夜": "midnight", "白天": "daytime",
    "上昼": "morning", "下昼": "afternoon", "夜晚黑": "night", "听晚": "night",
}  # fmt: skip
SHORT_PARTS = frozenset("夜晚早")  # only behind a day
DAYS = {
    "今天": 0, "今日": 0, "今儿": 0, "今": 0, "当天": 0, "明天": 1, "明日": 1, "明儿": 1, "听日": 1, "明": 1, "次日": 1,
    "翌日": 1, "隔天": 1, "第二天": 1, "后天": 2, "后日": 2, "大后天": 3, "大后日": 3, "昨天": -1, "昨日": -1,
    "昨儿": -1, "琴日": -1, "寻日": -1, "昨": -1, "前天": -2, "前日": -2, "前儿": -2, "大前天": -3, "大前日": -3,
    "第三天": 2,
}  # fmt: skip
YEARS = {
    "今年": 0, "本年": 0, "本年度": 0, "今年度": 0, "这一年": 0, "当年": 0, "年内": 0, "明年": 1, "来年": 1, "后年": 2,
    "大后年": 3, "去年": -1, "上年": -1, "上一年": -1, "前年": -2, "大前年": -3, "下一年": 1, "下年": 1, "这年": 0,
}  # fmt: skip
NOW = ("现在", "此时", "此刻", "当前", "目前", "如今", "眼下", "此时此刻", "当下", "刚刚", "刚才", "而家", "依家")
SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
EDGES = {
    "初": "start", "年初": "start", "月初": "start", "底": "end", "末": "end", "中": "middle", "上旬": "上旬",
    "中旬": "中旬", "下旬": "下旬", "上半年": "上半", "下半年": "下半", "上半月": "上半", "下半月": "下半", "尾": "end",
    "中期": "middle", "初期": "start", "末期": "end", "头": "start",
}  # fmt: skip

N = rf"(?:\d{{1,4}}(?:\.\d{{1,2}})?|[{HAN}]{{1,6}})"
SMALL = r"(?:\d{1,2}|[零〇]?[一二两三四五六七八九十廿卅]{1,3})"
WEEK = r"(?:周|星期|礼拜)"
NOT_DIGIT = r"(?<![\d.$¥€£])"
# What makes 号 the number of a thing, 点 a point and 日 a country.
THING_NUMBER = r"(?![线楼门房机位选厅馆院店台舱桌床车码人球库仓井站]|[文本]号)"
NO_POINT = r"(?![点也都儿不没就滴建意要原理内经看注想五八]|[一二三四五六七八九十]+[度%])"


def _int(text: str) -> int | None:
    try:
        value = han(text)
    except ValueError:
        return None
    return int(value) if value == int(value) else None


def _year(m: "re.Match[str]") -> When | None:
    text = m["y"]
    year = _int(text)
    if year is None:
        return None
    if len(text) == 2:
        year = two_digit_year(year)
    return When(year=year) if 1000 <= year <= 2999 else None


def _month(m: "re.Match[str]") -> When | None:
    month = _int(m["m"])
    if month is None or not 1 <= month <= 12:
        return None
    if m["d"]:
        day = _int(m["d"])
        return None if day is None else checked(None, month, day)
    return When(month=month)


def _day(m: "re.Match[str]") -> When | None:
    day = _int(m["d"])
    return When(day=day) if day is not None and 1 <= day <= 31 else None


LUNAR_MONTHS = {"正": 1, "腊": 12, "冬": 11}


def _lunar(m: "re.Match[str]") -> When | None:
    month: int | None = None
    if m["m"]:
        month = LUNAR_MONTHS.get(m["m"]) or _int(m["m"])
    elif m["big"]:
        month = 1
    day = None
    if m["d"]:
        day = _int(m["d"].removeprefix("初"))
    if month is None or not 1 <= month <= 12 or (day is not None and not 1 <= day <= 30):
        return None
    year = None
    if m["y"]:
        year = _int(m["y"])
    return When(year=year, month=month, day=day, lunar=True)


def _weekday(m: "re.Match[str]") -> When | None:
    weekday = WEEKDAYS[m["w"]]
    return When(weekday=weekday) if weekday < 7 else None


def _clock(m: "re.Match[str]") -> When | None:
    hour = _int(m["h"])
    if hour is None:
        return None
    minute: int | None = None
    if m["q"]:
        minute = 15 * (_int(m["q"]) or 1)
    elif m["half"]:
        minute = 30
    elif m["m"]:
        minute = _int(m["m"])
        if minute is None:
            return None
        if m["tick"]:  # 三点一, 三点搭一: the minute hand on the one
            minute = minute * 5 if len(m["m"]) == 1 and minute < 12 else minute
    second = _int(m["s"]) if m["s"] else None
    found = clock(hour, minute, second, exact=hour > 12 or hour == 0)
    fuzzy = bool(m["about"])
    return found and When(clock=found.clock, fuzzy=fuzzy)


def _to_hour(m: "re.Match[str]") -> When | None:
    hour, minutes = _int(m["h"]), 15 if m["q"] else _int(m["m"] or "")
    if hour is None or minutes is None or not 0 < hour <= 24 or not 0 < minutes < 60:
        return None
    return clock((hour - 1) or 12, 60 - minutes)


def _duration(m: "re.Match[str]") -> Duration | None:
    unit = UNITS.get(m["u"])
    if unit is None:
        return None
    fuzzy = bool(m["more"]) or m["n"] in ("几", "数", "好几", "若干")
    if m["n"] in ("几", "数", "好几", "若干"):
        amount: float = 3
    else:
        try:
            amount = han(m["n"])
        except ValueError:
            return None
    if m["half"] or m["halfway"]:
        amount += 0.5
    return Duration(((amount, unit),), fuzzy)


def _shift(m: "re.Match[str]") -> int:
    word = m["s"]
    if word[0] in "上":
        return -len(word)
    if word[0] in "下":
        return len(word)
    return {"过去": -1, "近": -1, "最近": -1, "前": -1, "未来": 1, "后": 1, "今后": 1, "接下来": 1, "往后": 1}.get(word, 0)


def _quarter(m: "re.Match[str]") -> Relative | None:
    n = 1 if m["n"] == "首" else _int(m["n"])
    unit = "quarter"
    return Relative(unit, 0, nth=n) if n is not None and 1 <= n <= 4 else None


def _post_ord(m: "re.Match[str]") -> tuple[int, str | None] | None:
    n = -1 if m["n"] == "最后一" else 1 if m["n"] in ("首", "头一") else _int(m["n"].removeprefix("第"))
    if n is None or n == 0 or n > 400:
        return None
    unit = UNITS.get(m["u"]) if m["u"] else None
    if m["w"]:
        return None
    return n, unit


def _first_last(m: "re.Match[str]") -> tuple[int, int, str] | None:
    n = _int(m["n"])
    unit = UNITS.get(m["u"])
    if n is None or unit is None or not 0 < n < 400:
        return None
    return (-1 if m["s"] in ("最后", "后") else 1), n, unit


def _feast(m: "re.Match[str]") -> When | None:
    name = m.group()
    text = m.string
    if name in WEAK:
        around = text[max(0, m.start() - 2) : m.start()] + "|" + text[m.end() : m.end() + 2]
        if not re.search(r"[年天日后前节期]", around) and m.end() - m.start() < len(text.strip()):
            return None
    return When(feast=name)


FEASTS = [name for name in RULES if not name.isascii() and name not in ("过年", "正月十五")]
DAY_PARTS = {d + p: Relative("day", DAYS[d], PARTS[p]) for d in ("今", "明", "昨", "当", "后", "前") if d in DAYS for p in SHORT_PARTS}
UNIT = alternatives(UNITS)
COUNTED = r"(?:个)?"


def build() -> list[Pattern]:
    return [
        Pattern("when", alternatives(FEASTS), _feast),
        Pattern("when", r"(?:农历|阴历|旧历)?(?:(?P<y>\d{4}|[零〇一二三四五六七八九]{4})年)?(?:农历|阴历|旧历)(?P<big>大年)?(?:(?P<m>正|腊|冬|十[一二]?|[一二三四五六七八九]|\d{1,2})月)(?:份)?(?P<d>初?[一二三四五六七八九十廿卅]{1,3}|\d{1,2})?[日号]?", _lunar),
        Pattern("when", r"(?:(?P<y>\d{4})年)?农历(?P<m>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?P<d>初?[一二三四五六七八九十廿卅]{1,3}|\d{1,2})?[日号]?(?P<big>)", _lunar),
        Pattern("when", r"(?P<y>)(?P<big>)(?P<m>正|腊)月(?P<d>初?[一二三四五六七八九十廿卅]{1,3}|\d{1,2})?[日号]?", _lunar),
        Pattern("when", r"(?P<y>)(?P<big>)(?P<m>十[一二]?|[一二三四五六七八九]|冬)月(?P<d>初[一二三四五六七八九十])", _lunar),
        Pattern("when", r"(?P<y>)(?P<m>)(?P<big>大年)(?P<d>初[一二三四五六七八九十])", _lunar),
        *DIGITS,
        # --- sets and durations that a day or month would otherwise begin ---
        Pattern("set", r"(?:天天|日日)(?=.)", lambda m: "day"),
        Pattern("every", r"每(?:逢|一)?个?(?=[\d一二两三四五六七八九十半几周星礼天日月年季晚早小上下中工分秒]|春|夏|秋|冬)", lambda m: 1),
        # --- relative words ---
        Pattern("when", alternatives(DAY_PARTS) + r"(?=.|$)", lambda m: DAY_PARTS[m.group()]),
        Pattern("when", alternatives(w for w in DAYS if len(w) > 1) + r"(?!头条)", lambda m: Relative("day", DAYS[m.group()])),
        Pattern("twoyears", r"今明两年", lambda m: 2),
        Pattern("when", alternatives(YEARS), lambda m: Relative("year", YEARS[m.group()])),
        Pattern("when", r"(?P<m>年初|年底|年末|年中|月初|月底|月末|月中|本月底|周初|月尾|年尾)(?!旬)", lambda m: Relative({"年": "year", "月": "month", "周": "week", "本": "month"}[m.group()[0]], 0, edge=EDGES[m.group()[-1]])),
        Pattern("when", r"(?:上半年|下半年)", lambda m: Relative("half", 0, nth=1 if m.group()[0] == "上" else 2)),
        Pattern("when", alternatives(NOW), lambda m: Relative("second", 0)),
        # --- dates ---
        Pattern("when", NOT_DIGIT + r"(?P<y>\d{4}|[零〇一二三四五六七八九]{4}|[零〇0][零〇一二三四五六七八九\d])\s?年(?:度)?(?![代前多])", _year),
        Pattern("when", NOT_DIGIT + r"(?P<y>\d{4}|[零〇0][零〇一二三四五六七八九\d])\s?年(?=之?前|以前)", _year),
        Pattern("when", NOT_DIGIT + rf"(?P<y>\d\d|[一二三四五六七八九][零〇一二三四五六七八九])年(?=[底初末春夏秋冬]|\s?{SMALL}月|第|上半|下半|[一二三四]季|{alternatives(FEASTS)})", _year),
        Pattern("when", NOT_DIGIT + rf"(?P<m>{SMALL})月(?:份)?\s?(?P<d>{SMALL})[日号]?(?![\d点时:个年月周天多分])", _month),
        Pattern("when", NOT_DIGIT + rf"(?P<m>{SMALL})月(?P<d>)(?:份)?(?!亮|饼|经|子)", _month),
        Pattern("when", NOT_DIGIT + rf"(?P<d>{SMALL})(?:号|日(?![本元语文游式化内后间子系常记程]|之计|[之以][内后前]))" + THING_NUMBER, _day),
        Pattern("when", r"(?<![一二两三四五六七八九十\d个几每半这上下])" + rf"{WEEK}(?P<w>[一二三四五六日天1-7])(?![个点\d]|[一-龥]?岁)", _weekday),
        Pattern("when", r"(?<=[每这上下])" + rf"{WEEK}(?P<w>[一二三四五六日天1-7])(?![个])", _weekday),
        Pattern("when", r"(?<=[每这上下今]个)" + rf"{WEEK}(?P<w>[一二三四五六日天1-7])(?![个])", _weekday),
        Pattern("when", r"(?P<s>[春夏秋冬])(?:天|季)", lambda m: When(season=SEASONS[m["s"]])),
        Pattern("when", r"(?:第?(?P<n>[一二三四首1-4])个?季度|q(?P<m>[1-4])季度?)", lambda m: _quarter(m) if m["n"] else Relative("quarter", 0, nth=int(m["m"]))),
        # --- clock ---
        Pattern("when", rf"差(?:(?P<m>{SMALL})分钟?|(?P<q>一刻钟?))(?:钟)?到?(?P<h>{SMALL})点", _to_hour),
        Pattern("when", NOT_DIGIT + rf"(?P<h>{SMALL})(?:点|时(?![间候代常光尚差]))(?:(?P<about>多|许|左右)?钟?(?![一二三四五六七八九十\d])(?P<q>)(?P<half>)(?P<m>)(?P<s>)(?P<tick>)|(?P<xabout>)(?P<xq>[一三])刻)" + NO_POINT, lambda m: _clock_short(m)),
        Pattern("when", NOT_DIGIT + rf"(?P<h>{SMALL})[点时](?:(?P<q>[一三])刻|(?P<half>半)|(?P<m>{SMALL}|零[一二三四五六七八九])分(?!钟?[之以]?[前后])(?:(?P<s>{SMALL})秒)?)(?P<tick>)(?P<about>多|许|左右)?", _clock),
        Pattern("when", NOT_DIGIT + rf"(?P<h>{SMALL})点(?P<tick>搭)?(?P<m>[零〇]?[一二三四五六七八九十]{{1,3}}|\d{{1,2}})(?P<q>)(?P<half>)(?P<s>)(?P<about>)(?![\d.%度个点倍年月周天])", _clock_tick),
        Pattern("when", alternatives(p for p in PARTS if p not in SHORT_PARTS), lambda m: When(part=PARTS[m.group()])),
        Pattern("loose", r"[早晚夜](?![餐饭点安会宴班操读课])", lambda m: When(part=PARTS[m.group()])),
        # --- durations ---
        Pattern("dur", r"(?<![\d.第])" + rf"(?P<n>{N}|几|数|好几|若干)(?P<more>多|来|余)?(?P<half>个半)?个?(?P<u>{UNIT})(?:(?<=年)(?P<halfway>半)(?!年))?(?P<tail>多)?(?![底初中末代级份本元语文])", _duration),
        Pattern("dur", rf"半(?P<n>)(?P<more>)(?P<half>)(?P<halfway>)个?(?P<u>{UNIT})", lambda m: Duration(((0.5, UNITS[m["u"]]),))),
        # --- order ---
        Pattern("shift", r"(?P<s>上{1,4}|下{1,4}|这|本|今|当|前|后|过去|未来|近|最近|今后|接下来|往后)(?:的)?(?:一(?=个?(?:周|星期|礼拜|月|季|年)))?个?(?=" + rf"{WEEK}|月|季度|季|年|世纪|周末|(?:[\d一二两三四五六七八九十几数半]|十)+个?(?:多)?个?半?{UNIT})", _shift),
        Pattern("postord", r"(?P<n>第[一二三四五六七八九十\d]{1,3}|首|头一|最后一)个?(?P<w>)(?:(?P<u>天|日|周(?![一二三四五六日天])|星期(?![一二三四五六日天])|礼拜(?![一二三四五六日天])|月|季度)|(?=星期|周|礼拜))", _post_ord),
        Pattern("firstlast", r"(?P<s>前|最后|头|后)(?P<n>[一二两三四五六七八九十\d]{1,3})个?(?P<u>" + UNIT + ")", _first_last),
        Pattern("postedge", alternatives(EDGES) + r"(?!级|学|衣|国)", lambda m: EDGES[m.group()]),
        Pattern("ago", r"(?:之|以)?前(?!面|期)", lambda m: -1),
        Pattern("inside", r"(?:之|以)?内|里|期间|之间|间|止|为止", lambda m: 0),
        Pattern("or_later", r"或之后|或以后|及以后|及之后|或者之后"),
        Pattern("or_earlier", r"或之前|或以前|及以前|及之前"),
        Pattern("later", r"(?:之|以)?后(?!面|来)|过后", lambda m: 1),
        Pattern("onwards", r"起|开始|以来|至今"),
        Pattern("from", r"从|自从|自|由"),
        Pattern("between", r"在(?=.{1,24}(?:之间|间))"),
        Pattern("to", r"到|至|直到|-|~"),
        Pattern("and", r"和|与|跟|及|、"),
        Pattern("glue", r"的|又|零"),
        Pattern("comma", r"[,，]"),
        Pattern("approx", r"左右|大约|大概|约|前后|上下"),
        Pattern("unit", alternatives(("周末", "周", "星期", "礼拜", "月份", "月", "季度", "季", "年", "世纪")), lambda m: {"月份": "month"}.get(m.group()) or UNITS[m.group()]),
        Pattern("num", NOT_DIGIT + rf"(?:\d{{1,4}}|[{HAN}]{{1,4}})(?=\s?(?:-|到|至|和|与|~))", lambda m: _int(m.group())),
    ]


def _clock_short(m: "re.Match[str]") -> When | None:
    hour = _int(m["h"])
    if hour is None:
        return None
    minute = 15 * (_int(m["xq"]) or 1) if m["xq"] else None
    found = clock(hour, minute, exact=hour > 12 or hour == 0)
    return found and When(clock=found.clock, fuzzy=bool(m["about"]))


def _clock_tick(m: "re.Match[str]") -> When | None:
    hour, minute = _int(m["h"]), _int(m["m"])
    if hour is None or minute is None:
        return None
    if m["tick"] or (len(m["m"]) == 1 and m["m"] in "一二三四五六七八九"):
        minute *= 5
    found = clock(hour, minute, exact=hour > 12 or hour == 0)
    return found


_ = (Clock, TERMS)
