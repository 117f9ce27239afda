"""Attach resolved time to a statement: what its time phrases mean, counted from when it was said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import re2

from schemas import TimeRef
from streams.memory.timephrases import EARLIEST, LATEST, TimePhrase, interval, resolve
from streams.memory.timephrases.feasts import RULES

# No time phrase is without one of these; the resolver is far slower than this look. RE2 sees all of them in one pass.
_MAY_HOLD_TIME = re2.Set.SearchSet()
_MAY_HOLD_TIME.Add(
    r"(?i)\d{1,2}(?::\d\d| ?[ap]\.?m\b|[./-]\d|(?:st|nd|rd|th)\b)|\b(?:19|20)\d\d\b|\bat \d|\bago\b|\b(?:yester|to"
    r"|week)?days?\b|\bweek|\bmonth|\byears?\b|\bquarter"
    r"|morning|evening|afternoon|noon\b|night|\btomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:spring"
    r"|summer|autumn|winter)\b|hour|minute"
    r"|\b(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)|\bmay\b|christmas|easter|o['’]clock|\bnow\b|\bnext\b"
    # "This" alone points at a thing; a week or a Friday that it points at is found by itself.
    r"|\blast\b|\bthis (?:coming |past )?(?:moment|time|second|season|decade|century)|\bq[1-4]\b"
    r"|[今明昨后前去][天年晚早日夜]|[早晚上下中]午|[早晚]上|周|星期|礼拜|月|年|号|点|[\d一二三四五六七八九十]日|节"
    r"|季度|小时|分钟|刚才|凌晨|傍晚|[春夏秋冬]天|半夜"
)
_MAY_HOLD_TIME.Add("(?i)" + "|".join(re.escape(name) for name in RULES if not name.isdigit()))
_MAY_HOLD_TIME.Compile()
_SINCE = re.compile(r"\b(?:since|from|starting|as of|beginning)\W*(?:the )?\Z|(?:从|自|自从)\Z", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|through|by the end of|up to)\W*(?:the )?\Z|(?:到|直到|截止到?)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Timing:
    """`since`/`until`: bounds that the wording sets ("from May on", "until Friday"), UTC."""

    time: TimeRef | None = None
    since: datetime | None = None
    until: datetime | None = None


NEVER = Timing()
_VAGUE = frozenset({"month", "quarter", "half", "season", "year"})
_EXACT = frozenset({"day", "daypart", "hour", "minute"})


def _precise_first(phrases: Sequence[TimePhrase]) -> Sequence[TimePhrase]:
    """ "At the end of the month, on May 30": a date says more than the vague phrase before it."""
    if len(phrases) > 1 and (phrases[0].fuzzy or phrases[0].granularity in _VAGUE) and phrases[0].value is not None:
        exact = [p for p in phrases[1:] if p.kind in ("date", "datetime") and p.granularity in _EXACT and not p.fuzzy]
        return [*exact, *phrases] if len(exact) == 1 else phrases
    return phrases


def timing(text: str, said_at: datetime, zone: str) -> Timing:
    """The first time phrase of a text that has a place in time, as [start, end) in UTC.

    A time of day alone ("at 9") has no day of its own: its words are kept, both sides stay open.
    """
    if not _MAY_HOLD_TIME.Match(text.encode("utf-8", "surrogatepass")):
        return NEVER
    bare: TimePhrase | None = None
    for phrase in _precise_first(resolve(text, said_at, zone)):
        if phrase.kind in ("duration", "set"):
            continue
        if phrase.kind in ("time", "timerange"):
            bare = bare or phrase
            continue
        start, end = interval(phrase, zone)
        before, after = text[max(0, phrase.start - 16) : phrase.start], text[phrase.end : phrase.end + 3]
        begin, stop = (None if start == EARLIEST else start), (None if end == LATEST else end)
        since = (
            begin if stop is None or _SINCE.search(before) or after.startswith(("起", "开始", "以后", "之后")) else None
        )
        until = stop if begin is None or _UNTIL.search(before) or after.startswith(("为止", "之前", "以前")) else None
        return Timing(TimeRef(text=phrase.text, start=begin, end=stop, granularity=phrase.granularity), since, until)
    return Timing(TimeRef(text=bare.text, granularity=bare.granularity)) if bare else NEVER
