"""Messages copied out of a messenger, in Chinese or English.

2026-03-02 09:00 Alice: I moved to Bonn.          [2026/3/2, 9:00:15 AM] Alice: I moved to Bonn.
2026年3月2日 下午3:05 张三：我搬到杭州了                张三 2026-03-02 15:05:00 (the text on the next lines)

Where the first message has no date of its own, dates may stand above them (`days`): `15:05 张三：我搬到杭州了` will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from schemas import Message
from streams.imports.conversations import Found, Unread, split
from streams.imports.days import DATE, WEEKDAY, header, numbers

OPEN = r"[\u200e\s\[【(（]{0,16}"
# The hours that a word stands for; 晚上12:30 is no time of the day that it names, and is refused.
HALVES = {
    **dict.fromkeys(("am", "上午", "凌晨", "清晨", "早晨", "早上"), range(12)),
    "中午": range(10, 15),
    **dict.fromkeys(("pm", "下午", "午后"), range(12, 24)),
    **dict.fromkeys(("傍晚", "晚上"), range(16, 24)),
}
# Spaces are only ever matched by one part at a time: a line of nothing but spaces must not take minutes.
CLOCK = (
    rf"(?:(?P<before>{'|'.join(HALVES)})\s*)?"
    r"(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?:[:：](?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?(?!\d)"
    r"(?:\s*(?P<after>[ap]m)\b)?(?P<offset>Z(?![a-z])|\s*(?:UTC|GMT)?[-+]\d{2}:?\d{2}(?!\d)|\s*(?:UTC|GMT)(?![-+\w]))?"
    r"\s*[\]】)）]?"
)
WHEN = rf"{OPEN}(?P<date>{DATE})日?[,，T\s]*(?:[(（]?(?:{WEEKDAY})[)）]?[,，\s]*)?{CLOCK}"
NAME = r"(?P<name>[^:：\s][^:：]{0,99}?)"
COLON = r"[:：](?:\s+|(?<=：)|(?=[^\d/\s]))"
TIME = re.compile(WHEN, re.IGNORECASE)
# Behind the time: `name: text`, or the name alone with the text on the lines below it.
NAMED = re.compile(rf"\s*(?:[-–—]\s*)?(?!(?:UTC|GMT)[-+]){NAME}(?:(?:[:：]$|{COLON})(?P<text>.*))?$")
BEHIND = re.compile(rf"(?!\d{{4}}){NAME} {WHEN}$", re.IGNORECASE)
# A longer line is no name and time: with every length of a name in turn, a long one would take minutes.
MOST_BEHIND = 200
# Below a date that stands alone. 10:30 may begin a line of somebody's text: a message has a name and a text as well.
TIME_OF_DAY = re.compile(OPEN + CLOCK, re.IGNORECASE)
SAID = re.compile(rf"\s*(?:[-–—]\s*)?{NAME}(?:{COLON}|\t)(?P<text>\S.*)$")
# Nobody's words may become those of whoever spoke before.
DATED = re.compile(rf"{OPEN}{DATE}.{{0,20}}?\d{{1,2}}\s*(?:[:：.]\s*\d{{2}}|[点點时時]|[ap]\.?m\b)", re.IGNORECASE)
# 3/2/26, 9:00: the third of February or the second of March.
AMBIGUOUS = re.compile(rf"{OPEN}\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}},?\s+\d{{1,2}}[:：]\d{{2}}")
# What a messenger says itself, in a line of its own; it is nobody's text, and no part of the message above it. It calls
# who reads it "你": "我退出了群聊" is somebody's own text.
NOTICE = re.compile(
    r"""\W{0,2}(?!我)(?:
        [^\n:：]{1,40}撤回了(?:一条|成员.{1,40}的一条)消息
      | [^\n:：]{1,40}(?:邀请|通过扫描).{1,200}加入了?群聊
      | [^\n:：]{1,40}(?:加入|退出)了?群聊
      | [^\n:：]{1,40}将.{1,40}移出了?群聊
      | 你已添加了.{1,40}[，,]现在可以开始聊天了
      | .{1,40}开启了朋友验证.{0,80}
      | 以[上下]是(?:打招呼的内容|新消息)
      | (?:对方|你)?(?:已取消|已拒绝|未接听)(?:的?通话)?
      | (?:你|your?|this)\s?(?:deleted\ this\ message|message\ was\ deleted)
      | messages\ and\ calls\ are\ end-to-end\ encrypted.{0,200}
    )\W{0,2}$""",
    re.IGNORECASE | re.VERBOSE,
)
YEAR_FIRST = "a date must begin with its year"


class Head(NamedTuple):
    """When and who, and the text that stands in the same line. `day`: year, month and day as they were written."""

    day: tuple[int, int, int]
    when: re.Match[str]
    name: str
    text: str = ""


class Nobody(NamedTuple):
    """A line that ends the message above it and begins none. `reason` says what was not understood, if anything."""

    reason: str = ""


# What a line is; None: text of the message above it.
Mark = Head | Nobody | None


def head(line: str) -> Head | None:
    if when := TIME.match(line):
        said = NAMED.match(line.rstrip(), when.end())
        return said and Head(numbers(when["date"]), when, said["name"].strip(), said["text"] or "")
    spaced = " ".join(line.replace("\u200e", " ").split())
    when = BEHIND.match(spaced) if len(spaced) <= MOST_BEHIND else None
    return when and Head(numbers(when["date"]), when, when["name"])


def notice(line: str) -> bool:
    when = TIME.match(line) or TIME_OF_DAY.match(line)
    return NOTICE.match(line[when.end() if when else 0 :].strip(" \t-–—")) is not None


def unclear(line: str) -> Nobody | None:
    if DATED.match(line):
        return Nobody("time not understood")
    return Nobody(YEAR_FIRST) if AMBIGUOUS.match(line) else None


class Reader:
    """Tells what each line is. The first message decides whether a time without a date begins one.

    Below a date that stands alone, time only goes on: else a date is missing in between.
    """

    def __init__(self) -> None:
        self._below: bool | None = None
        self._day: tuple[int, int, int] | None = None
        self._latest = (0, 0, 0, 0)

    def mark(self, line: str) -> Mark:
        if notice(line):
            return Nobody()
        if found := head(line):
            self._below = self._below or False
            return found
        mark = None if self._below is False else self._below_a_date(line)
        self._below = self._below or (True if isinstance(mark, Head) else self._below)
        return mark or unclear(line)

    def _below_a_date(self, line: str) -> Mark:
        if above := header(line):
            self._day, self._latest = above.day, (0, 0, 0, 0)
            return Nobody() if above.day else Nobody("this date says not which year, month and day")
        when = TIME_OF_DAY.match(line)
        if when is None:
            return None
        said = SAID.match(line.rstrip(), when.end())
        if said is None:
            return Nobody("begins with a time, but not with `time name: text`")
        if self._day is None:
            return Nobody("no date with its year stands above it")
        try:
            at = clock(when)
        except ValueError:
            return Nobody("no such time")
        if at < self._latest:
            return Nobody("is earlier than what stands above it: a date is missing in between")
        self._latest = at
        return Head(self._day, when, said["name"].strip(), said["text"])


def read(lines: Iterable[str], zone: ZoneInfo) -> Found:
    """Lines without a time belong to the message above them. A naive time is one of `zone`."""
    return split(messages(lines, zone))


def messages(lines: Iterable[str], zone: ZoneInfo) -> Iterator[tuple[str, Message] | Unread]:
    """Each with the line at which it began."""
    reader = Reader()
    begun: tuple[int, datetime, str] | None = None
    said: list[str] = []
    for number, given in enumerate(lines, 1):
        line = given.removesuffix("\n").removesuffix("\r")
        mark = reader.mark(line)
        if mark is None and begun is not None:
            said.append(line)
            continue
        if mark is None and not line.strip():
            continue
        yield from message(begun, said)
        # What follows a line that is not understood belongs to it, and is no part of the message before.
        begun, said = (number, datetime.min, ""), []
        if isinstance(mark, Head):
            try:
                begun, said = (number, moment(mark, zone), mark.name), [mark.text]
            except (ValueError, OverflowError):
                yield Unread(f"line {number}", "no such date or time")
        elif mark is None:
            yield Unread(f"line {number}", f"begins with no `time name:`; {YEAR_FIRST}")
        elif mark.reason:
            yield Unread(f"line {number}", mark.reason)
        else:
            begun = None
    yield from message(begun, said)


def message(begun: tuple[int, datetime, str] | None, lines: Sequence[str]) -> Iterator[tuple[str, Message] | Unread]:
    """`begun`: its first line, time and speaker; nobody's are left out."""
    number, at, name = begun or (0, datetime.min, "")
    whole = "\n".join(lines).strip()
    if name and whole:
        yield f"line {number}", Message(text=whole, speaker=name, time=at)
    elif name:
        yield Unread(f"line {number}", "no text follows the name")


def clock(when: re.Match[str]) -> tuple[int, int, int, int]:
    """Hour, minute, second, microsecond. Raises `ValueError`."""
    hour, half = int(when["hour"]), (when["before"] or when["after"] or "").lower()
    if half:
        later = (hour + 12) % 24 if hour <= 12 else hour
        hour = next((one for one in (hour, later) if one in HALVES[half]), -1)
    if not 0 <= hour < 24:
        raise ValueError("no such hour")
    return hour, int(when["minute"]), int(when["second"] or 0), int((when["fraction"] or "")[:6].ljust(6, "0"))


def moment(found: Head, zone: ZoneInfo) -> datetime:
    """Raises `ValueError` or `OverflowError`."""
    when, offset = found.when, (found.when["offset"] or "").strip().upper()
    if offset.startswith("-") and not when["second"]:
        raise ValueError("09:00-10:00 is from nine to ten")
    place = datetime.strptime(offset.lstrip("UTCGM") or "Z", "%z").tzinfo if offset else zone
    return datetime(*found.day, *clock(when), place).astimezone(UTC)
