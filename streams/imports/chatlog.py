"""Messages copied out of a messenger, in Chinese or English.

2026-03-02 09:00 Alice: I moved to Bonn.          [2026/3/2, 9:00:15 AM] Alice: I moved to Bonn.
2026年3月2日 下午3:05 张三：我搬到杭州了                张三 2026-03-02 15:05:00 (the text on the next lines)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from schemas import Message
from streams.imports.conversations import Found, Problem, split

OPEN, DATE = r"[\u200e\s\[【(（]*", r"\d{4}\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}"
WEEKDAY = r"(?:星期|周|週|礼拜)[一二三四五六日天]|(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?"
# The hours that a word stands for; 晚上12:30 is no time of the day that it names, and is refused.
HALVES = {
    **dict.fromkeys(("am", "上午", "凌晨", "清晨", "早晨", "早上"), range(12)),
    "中午": range(10, 15),
    **dict.fromkeys(("pm", "下午", "午后"), range(12, 24)),
    **dict.fromkeys(("傍晚", "晚上"), range(16, 24)),
}
# Spaces are only ever matched by one part at a time: a line of nothing but spaces must not take minutes.
WHEN = (
    rf"{OPEN}(?P<date>{DATE})日?[,，T\s]*(?:[(（]?(?:{WEEKDAY})[)）]?[,，\s]*)?(?:(?P<before>{'|'.join(HALVES)})\s*)?"
    r"(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?:[:：](?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?(?!\d)"
    r"(?:\s*(?P<after>[ap]m)\b)?(?P<offset>Z(?![a-z])|\s*(?:UTC|GMT)?[-+]\d{2}:?\d{2}(?!\d)|\s*(?:UTC|GMT)(?![-+\w]))?"
    r"\s*[\]】)）]?"
)
NAME = r"(?P<name>[^:：\s][^:：]{0,99}?)"
TIME = re.compile(WHEN, re.IGNORECASE)
# Behind the time: `name: text`, or the name alone with the text on the lines below it.
NAMED = re.compile(rf"\s*(?:[-–—]\s*)?(?!(?:UTC|GMT)[-+]){NAME}(?:[:：](?:$|\s+|(?<=：)|(?=[^\d/\s]))(?P<text>.*))?$")
BEHIND = re.compile(rf"(?!\d{{4}}){NAME} {WHEN}$", re.IGNORECASE)
# Nobody's words may become those of whoever spoke before.
DATED = re.compile(rf"{OPEN}{DATE}.{{0,20}}?\d{{1,2}}\s*(?:[:：.]\s*\d{{2}}|[点點时時]|[ap]\.?m\b)", re.IGNORECASE)
# 3/2/26, 9:00: the third of February or the second of March.
AMBIGUOUS = re.compile(rf"{OPEN}\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}},?\s+\d{{1,2}}[:：]\d{{2}}")


class Head(NamedTuple):
    """When and who, and the text that stands in the same line."""

    when: re.Match[str]
    name: str
    text: str = ""


def head(line: str) -> Head | None:
    if when := TIME.match(line):
        said = NAMED.match(line.rstrip(), when.end())
        return said and Head(when, said["name"].strip(), said["text"] or "")
    when = BEHIND.match(" ".join(line.replace("\u200e", " ").split()))
    return when and Head(when, when["name"])


def read(lines: Iterable[str], zone: ZoneInfo) -> Found:
    """Lines without a time belong to the message above them. A naive time is one of `zone`."""
    return split(messages(lines, zone))


def messages(lines: Iterable[str], zone: ZoneInfo) -> Iterator[tuple[str, Message] | Problem]:
    """Each with the line at which it began."""
    begun: tuple[int, datetime, str] | None = None
    said: list[str] = []
    for number, given in enumerate(lines, 1):
        line = given.removesuffix("\n").removesuffix("\r")
        found = head(line)
        at, problem = None, ""
        if found is not None:
            try:
                at = moment(found.when, zone)
            except (ValueError, OverflowError):
                problem = "no such date or time"
        elif DATED.match(line):
            problem = "time not understood"
        elif AMBIGUOUS.match(line):
            problem = "a date must begin with its year"
        elif begun is not None:
            said.append(line)
            continue
        elif not line.strip():
            continue
        else:
            problem = "begins with no `time name:`; a date must begin with its year"
        yield from message(begun, said)
        if problem:
            yield Problem(f"line {number}", problem)
        if found is None or at is None:
            # What follows belongs to it, and is no part of the message before.
            begun, said = (number, datetime.min, ""), []
        else:
            begun, said = (number, at, found.name), [found.text]
    yield from message(begun, said)


def message(begun: tuple[int, datetime, str] | None, lines: Sequence[str]) -> Iterator[tuple[str, Message] | Problem]:
    """`begun`: its first line, time and speaker; nobody's are left out."""
    number, at, name = begun or (0, datetime.min, "")
    whole = "\n".join(lines).strip()
    if name and whole:
        yield f"line {number}", Message(text=whole, speaker=name, time=at)
    elif name:
        yield Problem(f"line {number}", "no text follows the name")


def moment(found: re.Match[str], zone: ZoneInfo) -> datetime:
    """Raises `ValueError` or `OverflowError`."""
    year, month, day = map(int, re.findall(r"\d+", found["date"]))
    hour, half = int(found["hour"]), (found["before"] or found["after"] or "").lower()
    if half:
        later = (hour + 12) % 24 if hour <= 12 else hour
        hour = next((one for one in (hour, later) if one in HALVES[half]), -1)
    fraction, offset = (found["fraction"] or "")[:6].ljust(6, "0"), (found["offset"] or "").strip().upper()
    if offset.startswith("-") and not found["second"]:
        raise ValueError("09:00-10:00 is from nine to ten")
    place = datetime.strptime(offset.lstrip("UTCGM") or "Z", "%z").tzinfo if offset else zone
    second = int(found["second"] or 0)
    return datetime(year, month, day, hour, int(found["minute"]), second, int(fraction), place).astimezone(UTC)
