"""A date in a line of its own, above the messages of that day, as messengers show them.

2026年3月2日 星期一      —— 2026-03-02 ——      Monday, March 2, 2026      2026/03/02（週一）
"""

from __future__ import annotations

import re
from typing import NamedTuple

DATE = r"\d{4}\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}"
WEEKDAY = r"(?:星期|周|週|礼拜)[一二三四五六日天]|(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
# What stands around a date: rules, brackets, marks of direction.
AROUND = " \t\u3000\u200e\u200f-—–─=*_~·•[]【】()（）,，.:："
MOST_CHARS = 40

_BEFORE, _BEHIND = rf"(?:[(（]?(?:{WEEKDAY})[)）]?[,，]?\s*)?", rf"(?:[,，]?\s*[(（]?(?:{WEEKDAY})[)）]?)?"
_WHOLE = [
    re.compile(f"{_BEFORE}{date}{_BEHIND}", re.IGNORECASE)
    for date in (
        f"(?P<date>{DATE})日?",
        rf"{MONTH}\s*{DAY},?\s+(?P<year>\d{{4}})",
        rf"{DAY}\s+{MONTH},?\s+(?P<year>\d{{4}})",
    )
]
# Of which day nobody can tell from the text alone.
_PART = re.compile(
    rf"今天|昨天|前天|today|yesterday|{WEEKDAY}|{_BEFORE}(?:\d{{1,2}}\s*月\s*\d{{1,2}}\s*[日号]"
    rf"|\d{{1,2}}([-/.])\d{{1,2}}\1\d{{2,4}}|\d{{1,2}}/\d{{1,2}}|{MONTH}\s*\d{{1,2}}(?:st|nd|rd|th)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+{MONTH.replace('?P<month>', '?:')}){_BEHIND}",
    re.IGNORECASE,
)


class Header(NamedTuple):
    """`day`: year, month, day as written, which may be no date; None when the line does not name all three."""

    day: tuple[int, int, int] | None


def header(line: str) -> Header | None:
    """None for a line that is more than a date."""
    core = line.strip(AROUND)
    if not core or len(core) > MOST_CHARS:
        return None
    for form in _WHOLE:
        if found := form.fullmatch(core):
            return Header(_day(found))
    return Header(None) if _PART.fullmatch(core) else None


def numbers(date: str) -> tuple[int, int, int]:
    """Year, month and day of what `DATE` matched."""
    year, month, day = map(int, re.findall(r"\d+", date))
    return year, month, day


def _day(found: re.Match[str]) -> tuple[int, int, int]:
    named = found.groupdict()
    if "date" in named:
        return numbers(named["date"])
    return int(named["year"]), MONTHS.index(named["month"][:3].lower()) + 1, int(named["day"])
