"""Messages copied out of a messenger, in Chinese or English.

2026-03-02 09:00 Alice: I moved to Bonn.          [2026/3/2, 9:00:15 AM] Alice: I moved to Bonn.
2026年3月2日 下午3:05 张三：我搬到杭州了                张三 2026-03-02 15:05:00 (the text on the next lines)
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from schemas import Message
from streams.imports.conversations import Parsed, split

WHEN = (
    r"[\[【(（]?\s*(?P<year>\d{4})\s*[-/.年]\s*(?P<month>\d{1,2})\s*[-/.月]\s*(?P<day>\d{1,2})日?[,，T\s]*"
    r"(?P<before>上午|下午|凌晨|中午|晚上|[AaPp][Mm])?\s*(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?:[:：](?P<second>\d{2}))?"
    r"(?:\s*(?P<after>[AaPp][Mm])\b)?\s*[\]】)）]?"
)
NAME = r"(?P<name>[^:：\n]{1,100}?)"
# `time name: text`, then the same two as a line of their own with the text below it.
INLINE = re.compile(rf"^[\u200e\s]*{WHEN}\s*[-–—]?\s*{NAME}\s*[:：](?:\s+|(?<=：)|(?=[^\d/\s]))(?P<text>.*)$")
ABOVE = re.compile(rf"^[\u200e\s]*{WHEN}\s*{NAME}\s*[:：]?\s*$")
BEHIND = re.compile(rf"^[\u200e\s]*(?!\d{{4}}){NAME}\s+{WHEN}\s*$")
# 3/2/26, 9:00: the third of February or the second of March. Nobody's words may become those of whoever spoke before.
AMBIGUOUS = re.compile(r"^[\u200e\s\[(]*\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4},?\s+\d{1,2}[:：]\d{2}")


def parse(text: str, zone: ZoneInfo) -> Parsed:
    """Lines without a time belong to the message above them. A naive time is one of `zone`."""
    parsed = Parsed("chatlog")
    heads: list[tuple[int, datetime, str]] = []
    texts: list[list[str]] = []
    for number, line in enumerate(re.split(r"\r?\n", text), 1):
        found = INLINE.match(line) or ABOVE.match(line) or BEHIND.match(line)
        at, problem = None, ""
        if found is not None:
            try:
                at = moment(found, zone)
            except ValueError:
                problem = "no such date or time"
        elif AMBIGUOUS.match(line):
            problem = "a date must begin with its year"
        elif texts:
            texts[-1].append(line)
            continue
        elif not line.strip():
            continue
        else:
            problem = "begins with no `time name:`; a date must begin with its year"
        if problem:
            parsed.refuse(f"line {number}", problem)
        if found is None or at is None:
            # What follows belongs to it, and is no part of the message before.
            heads.append((number, datetime.min, ""))
            texts.append([])
        else:
            heads.append((number, at, found["name"].strip()))
            texts.append([found.groupdict().get("text") or ""])
    said: list[tuple[str, Message]] = []
    for (number, at, name), lines in zip(heads, texts, strict=True):
        whole = "\n".join(lines).strip()
        if name and whole:
            said.append((f"line {number}", Message(text=whole, speaker=name, time=at)))
        elif name:
            parsed.refuse(f"line {number}", "no text follows the name")
    parsed.conversations += split(said)
    return parsed


def moment(found: re.Match[str], zone: ZoneInfo) -> datetime:
    """Raises `ValueError`."""
    year, month, day, hour, minute = (int(found[name]) for name in ("year", "month", "day", "hour", "minute"))
    half = (found["before"] or found["after"] or "").lower()
    if (half in ("下午", "晚上", "pm") and hour < 12) or (half == "中午" and hour < 3):
        hour += 12
    elif half in ("am", "上午", "凌晨") and hour == 12:
        hour = 0
    return datetime(year, month, day, hour, minute, int(found["second"] or 0), tzinfo=zone).astimezone(UTC)
