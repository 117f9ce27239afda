"""Time phrases of a text, resolved against the moment it was written. Pure: the wall clock is never read.

`resolve` finds "next Friday at 5", 下周三下午, "end of Q3", 大后天, 农历八月十五 and the like in English, Chinese and
mixtures of both. Values are naive wall time in the zone of the speaker; `interval` turns a phrase into aware UTC.

Conventions: weeks begin on Monday; "next Friday" is the Friday of the coming calendar week and "this Friday" that of
the current one; a date without a year is the coming one unless the sentence speaks of the past; ends are exclusive.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from streams.memory.timephrases.calendar import CLOCK_UNITS, DAY, MIDNIGHT, shift
from streams.memory.timephrases.grammar import Grammar, Reading
from streams.memory.timephrases.model import Granularity, Kind, TimePhrase
from streams.memory.timephrases.text import fold
from streams.memory.timephrases.tokens import Lexer, Token

__all__ = ["Granularity", "Kind", "TimePhrase", "interval", "resolve"]


@lru_cache(maxsize=3)
def _lexer(lang: str) -> Lexer:
    from streams.memory.timephrases import en, zh

    return {"en": en.build, "zh": zh.build}[lang]()


HAN_CHARACTER = re.compile(r"[\u4e00-\u9fff]")
LATIN_WORD = re.compile(r"[a-z]{2}")


def resolve(text: str, reference: datetime, zone: str = "UTC", lang: str | None = None) -> list[TimePhrase]:
    """All time phrases of `text`, in order and without overlap.

    Args:
        text: any length; work is linear in it.
        reference: when it was said. An aware one is taken to `zone`; a naive one is wall time in `zone`.
        zone: IANA name of the speaker's time zone.
        lang: "en" or "zh" to read one language only; `None` reads both.

    Raises:
        ZoneInfoNotFoundError: unknown `zone`.
    """
    local = reference.astimezone(ZoneInfo(zone)).replace(tzinfo=None) if reference.tzinfo else reference
    folded = fold(text)
    phrases: list[TimePhrase] = []
    for code in ("zh", "en") if lang is None else (lang,):
        if lang is None and code == "zh" and not HAN_CHARACTER.search(folded):
            continue
        if lang is None and code == "en" and phrases and not LATIN_WORD.search(folded):
            continue
        phrases += _phrases(text, folded, local, code)
    return _apart(phrases)


def _phrases(text: str, folded: str, reference: datetime, lang: str) -> Iterable[TimePhrase]:
    tokens = _separated(_lexer(lang).tokens(folded), folded)
    grammar = Grammar(tokens, reference, "future" if lang == "en" else "near")
    i = 0
    while i < len(tokens):
        found = grammar.phrase(i) if tokens[i].kind != "stop" else None
        if found is None:
            i += 1
            continue
        reading, j = found
        start, end = tokens[i].start, tokens[j - 1].end
        yield _phrase(text, start, end, reading, reference)
        i = j


def _separated(tokens: Iterable[Token], text: str) -> list[Token]:
    """The tokens with a stop wherever something other than a space lies between two of them."""
    result: list[Token] = []
    position = 0
    for token in tokens:
        if text[position : token.start].strip(" \t"):
            result.append(Token("word" if text[position:token.start].strip(" \t")[0].isalnum() else "stop", None, position, token.start))
        result.append(token)
        position = token.end
    if text[position:].strip(" \t"):
        result.append(Token("word" if text[position:].strip(" \t")[0].isalnum() else "stop", None, position, len(text)))
    return result


def _phrase(text: str, start: int, end: int, reading: Reading, reference: datetime) -> TimePhrase:
    said = text[start:end]
    span = reading.span
    grain: Granularity = reading.grain  # type: ignore[assignment]
    if span is None:
        kind: Kind = "set" if reading.form == "set" else "duration"
        return TimePhrase(said, start, end, kind, None, None, grain, reading.fuzzy)
    ranged = reading.form == "range" or (not span.timed and span.grain != "day") or span.grain == "daypart"
    if not span.timed and span.start and span.end and span.end - span.start <= timedelta(days=1) and reading.form == "point":
        ranged = False
    if not reading.dated:
        return TimePhrase(
            said, start, end, "timerange" if ranged else "time", _time(span.start), _time(span.end) if ranged else None,
            grain, reading.fuzzy, reference.date(),
        )  # fmt: skip
    if span.timed:
        return TimePhrase(
            said, start, end, "datetimerange" if ranged else "datetime", span.start, span.end if ranged else None,
            grain, reading.fuzzy,
        )  # fmt: skip
    return TimePhrase(
        said, start, end, "daterange" if ranged else "date", span.start and span.start.date(),
        span.end.date() if ranged and span.end else None, grain, reading.fuzzy,
    )  # fmt: skip


def _time(moment: datetime | None) -> time | None:
    return moment and moment.time()


def _apart(phrases: list[TimePhrase]) -> list[TimePhrase]:
    """Of overlapping phrases the longest, then the first."""
    chosen: list[TimePhrase] = []
    for phrase in sorted(phrases, key=lambda p: (p.start - p.end, p.start)):
        if all(phrase.end <= other.start or phrase.start >= other.end for other in chosen):
            chosen.append(phrase)
    return sorted(chosen, key=lambda p: p.start)


EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


def interval(phrase: TimePhrase, zone: str = "UTC") -> tuple[datetime, datetime]:
    """What a phrase covers, as aware UTC [start, end): a day its 23 to 25 hours, "3pm" that hour, "3:15" that minute.

    Open sides are `EARLIEST` and `LATEST`. `zone` is the one that `resolve` was given. A wall time that the clocks
    skip in spring is read as if they had not been set yet; one that comes twice in autumn is the first.

    Raises:
        ValueError: durations and sets, which have no place in time.
        ZoneInfoNotFoundError: unknown `zone`.
    """
    if phrase.value is None and phrase.end_value is None:
        raise ValueError(f"a {phrase.kind} has no place in time")
    where = ZoneInfo(zone)
    start = _moment(phrase.value, phrase.anchor)
    end = _moment(phrase.end_value, phrase.anchor)
    if end is None and start is not None and phrase.kind in ("date", "datetime", "time"):
        unit = phrase.granularity if phrase.kind != "date" and phrase.granularity in CLOCK_UNITS else "day"
        end = shift(start, 1, unit if phrase.kind == "date" or phrase.granularity in CLOCK_UNITS else "minute")
    if start is not None and end is not None and end <= start:
        end += DAY  # a night that ends after midnight
    return (
        EARLIEST if start is None else start.replace(tzinfo=where).astimezone(UTC),
        LATEST if end is None else end.replace(tzinfo=where).astimezone(UTC),
    )


def _moment(value: datetime | date | time | None, anchor: date | None) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, time):
        return datetime.combine(anchor or date.min, value)
    return datetime.combine(value, MIDNIGHT)
