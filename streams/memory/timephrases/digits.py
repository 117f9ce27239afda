# ruff: noqa: E501  # a pattern or a row of a table reads best on one line
"""Dates and clock times in digits, the same in every language."""

import re
from dataclasses import replace
from typing import Any

from streams.memory.timephrases.calendar import OutOfCalendar
from streams.memory.timephrases.calendar import day as existing_day
from streams.memory.timephrases.tokens import IMPOSSIBLE, Clock, Pattern, When, alternatives, two_digit_year
from streams.memory.timephrases.zones import OFFSETS, PLACES

# A number may not continue another one: versions, prices, phone numbers, fractions.
EDGE_LEFT = r"(?<![\da-z_$€£¥#%])(?<!\d[.,:/])(?<![$€£¥]\s)"
EDGE_RIGHT = r"(?![\d_%])(?![.,:/-]\d)"
AMPM = r"(?:[ap]\s?\.?\s?m(?![a-z])\.?|[ap](?![a-z.'/]))"
MERIDIEM = r"(?:\s?\.?\s?(?P<half>[ap])(?:\s?\.?\s?m\.?)(?![a-z])|(?P<short>[ap])(?![\w'/]))"


def checked(year: int | None, month: int, day: int) -> When | None:
    """The date, or `None` if no year has it."""
    try:
        existing_day(year or 2000, month, day)
    except OutOfCalendar:
        return None
    return When(year=year, month=month, day=day)


def year_of(text: str) -> int:
    number = int(text.lstrip("'"))
    return two_digit_year(number) if len(text.lstrip("'")) <= 2 else number


def _ymd(m: "re.Match[str]") -> When | object:
    year, a, b = int(m["y"]), int(m["m"]), int(m["d"])
    return checked(year, a, b) or checked(year, b, a) or IMPOSSIBLE


def _day_month_year(m: "re.Match[str]") -> When | None:
    """Slashes and dashes put the month first unless only the other order exists; dots put the day first."""
    a, b, year = int(m["a"]), int(m["b"]), year_of(m["y"])
    first, second = (b, a) if m["s"] == "." else (a, b)
    return checked(year, first, second) or checked(year, second, first)


DATE_BEFORE = re.compile(r"(?:\b(?:on|by|until|before|after|from|to|since|and|due|date)\s|[\u4e00-\u9fff])$")


def _month_day(m: "re.Match[str]") -> When | None:
    a, b = int(m["a"]), int(m["b"])
    mark = b == 10 or (a, b) in ((1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (24, 7))
    if mark and "/" in m.group() and not DATE_BEFORE.search(m.string, max(0, m.start() - 8), m.start()):
        return None  # marks, fractions and idioms: 9/10, 3/4, 24/7
    return checked(None, a, b) or checked(None, b, a)


def _month_year(m: "re.Match[str]") -> When | None:
    month = int(m["m"])
    return When(year=int(m["y"]), month=month) if 1 <= month <= 12 else None


def clock(
    hour: int, minute: int | None, second: int | None = None, half: str | None = None, exact: bool = False
) -> When | None:
    if hour > 24 or (minute or 0) > 59 or (second or 0) > 59 or (hour == 24 and minute):
        return None
    if half is not None and hour == 0 and minute is None:
        return None
    if half is not None and (hour > 12 or hour == 0):
        half, exact = None, True
    return When(clock=Clock(hour, minute, second, half and half + "m", exact))


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _colon(m: "re.Match[str]") -> When | None:
    hour = m["h"]
    exact = int(hour) > 12 or (len(hour) == 2 and hour[0] == "0")
    return clock(int(hour), int(m["m"]), _number(m["s"]), m["half"] or m["short"], exact)


def _with_meridiem(m: "re.Match[str]") -> When | None:
    return clock(int(m["h"]), _number(m["m"]), None, m["half"] or m["short"])


def _h(m: "re.Match[str]") -> When | None:
    return clock(int(m["h"]), _number(m["m"]), None, m["half"], True)


def _compact(m: "re.Match[str]") -> When | None:
    text = m.group()
    return checked(int(text[:4]), int(text[4:6]), int(text[6:]))


def _value(m: "re.Match[str]") -> Any:
    return float(m.group())


_DATES = (
    Pattern("when", r"(?<![\da-z_$€£¥#%.])(?<!\d[,:])(?P<y>[12]\d{3})\s?(?P<s>[-/.])\s?(?P<m>\d{1,2})\s?(?P=s)\s?(?P<d>\d{1,2})(?:t(?=\d)|(?![\d%])|(?=\d\d:\d\d))", _ymd),
    Pattern("when", EDGE_LEFT + r"(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2})(?![\d_%])(?![.,:/]\d)(?!-\d+(?![\d/.]))", _day_month_year),
    Pattern("when", EDGE_LEFT + r"(?P<y>(?:19|20)\d\d)\s(?P<m>0[1-9]|1[0-2])\s(?P<d>0[1-9]|[12]\d|3[01])" + EDGE_RIGHT, _ymd),
    Pattern("when", EDGE_LEFT + r"(?P<m>0?[1-9]|1[0-2])\s(?P<d>0?[1-9]|[12]\d|3[01])\s(?P<y>(?:19|20)\d\d)" + EDGE_RIGHT, _ymd),
    Pattern("when", r"(?<![\da-z_.])(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?![\d_.])", _compact),
    Pattern("when", EDGE_LEFT + r"(?P<m>\d{1,2})[/](?P<y>(?:19|20)\d\d)" + EDGE_RIGHT, _month_year),
    Pattern("when", EDGE_LEFT + r"(?P<y>(?:19|20)\d\d)(?:[/.-]|\s/\s?)(?P<m>0[1-9]|1[0-2])" + r"(?![\d_%])(?![.,:/]\d)", _month_year),
    Pattern("when", EDGE_LEFT + r"(?P<a>\d{1,2})/(?P<b>\d{1,2})(?!\s?h(?:ours?)?(?![a-z]))(?![a-z])(?![\d_%])(?![.,:/]\d)", _month_day),
    Pattern("when", EDGE_LEFT + r"(?<!\d-)(?P<a>0[1-9]|1[0-2](?=-0))-(?P<b>0[1-9]|[12]\d|3[01])(?!\s?[ap]\.?m)" + EDGE_RIGHT, _month_day),
    Pattern("when", r"(?<=\bon\s)(?P<a>\d{1,2})\.(?P<b>\d{1,2})(?![a-z%])" + EDGE_RIGHT, _month_day),
)  # fmt: skip
_CLOCKS = (
    Pattern("when", EDGE_LEFT + r"(?<!\d-)(?P<h>\d{1,2})\s?:\s?(?P<m>[0-5]\d)(?:\s?:\s?(?P<s>[0-5]\d)(?:\.\d{1,6})?)?(?:" + MERIDIEM + r")?(?!\d|:\d)", _colon),
    Pattern("when", r"(?<=\d-)(?P<h>\d{1,2}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?(?:" + MERIDIEM + r")?(?!\d|:\d)", _colon),
    Pattern("when", r"(?<=\d{4}[-/.]\d\d[-/.]\d\d)(?P<h>\d\d):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?(?P<half>)(?P<short>)(?!\d|:\d)", _colon),
    Pattern("when", r"(?<=\dt)(?P<h>\d\d):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:\.\d{1,6})?)?(?P<half>)(?P<short>)(?!\d|:\d)", _colon),
    Pattern("when", EDGE_LEFT + r"(?P<h>\d{1,2})(?:[.]?(?P<m>[0-5]\d))?\s?\.?\s?(?P<half>[ap])(?P<short>)\s?\.?\s?m\.?(?![a-z])", _with_meridiem),
    Pattern("loose", EDGE_LEFT + r"(?P<h>\d{1,2})(?P<m>)(?P<half>)(?P<short>[ap])(?![\w'/])", _with_meridiem),
    Pattern("when", EDGE_LEFT + r"(?P<h>\d{1,2})\s?h\s?(?P<m>[0-5]\d)(?![\da-z])(?:\s?(?P<half>[ap])\s?\.?m\.?)?", _h),
    Pattern("when", EDGE_LEFT + r"(?P<h>1[3-9]|2[0-3])h(?![\da-z])", lambda m: clock(int(m["h"]), None, exact=True)),
)  # fmt: skip
# Behind a clock time; elsewhere these letters mean nothing.
ZONES = (
    Pattern("zone", r"(?<=\d)z(?![a-z])", lambda m: "z"),
    Pattern("zone", r"(?<=:\d\d)\s?(?P<z>[+-]\d\d:?\d\d)(?!\d)", lambda m: m["z"]),
    Pattern("zone", r"(?<![a-z])(?:utc|gmt)[+-]\d{1,2}(?::\d\d)?(?![\d.])"),
    Pattern("zone", r"(?<![a-z])" + alternatives(n for n in OFFSETS if len(n) > 1) + r"(?![a-z])"),
    Pattern("zone", alternatives(PLACES)),
)
DATES = tuple(replace(p, first="digit") for p in _DATES)
CLOCKS = tuple(replace(p, first="digit") for p in _CLOCKS)
# A month and a day with a dot look like any decimal; they count only next to a weekday.
LOOSE_DATE = Pattern("loose", EDGE_LEFT + r"(?P<a>\d{1,2})\.(?P<b>\d{1,2})(?![a-z])" + EDGE_RIGHT, _month_day)  # fmt: skip
