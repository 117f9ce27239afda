"""From a description (`When`) and a reference to a span of local time. Pure.

Where the year, the month or the week is left out, the tense decides: `future` takes the first day on or after
the reference, `past` the last one before it, `current` the one of the reference's own year unless that lies more
than eight months back.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Literal

from streams.memory.timephrases.calendar import (
    DAY,
    MIDNIGHT,
    MONTHS_OF,
    OutOfCalendar,
    Span,
    day,
    midnight,
    monday,
    season_span,
    shift,
    unit_span,
)
from streams.memory.timephrases.feasts import (
    TERM_OF_SEASON,
    feast_dates,
    feast_days,
    feast_of_lunar_year,
    lunar_date,
    lunar_year,
)
from streams.memory.timephrases.tokens import Clock, When

Tense = Literal["future", "past", "current"]

# Hours of the parts of a day: begin, end, and the half of the day an hour said with it belongs to.
PARTS: dict[str, tuple[int, int, str]] = {
    "small hours": (0, 6, "am"),
    "early morning": (5, 9, "am"),
    "morning": (6, 12, "am"),
    "late morning": (10, 12, "am"),
    "noon": (11, 13, "noon"),
    "early afternoon": (12, 15, "pm"),
    "afternoon": (12, 18, "pm"),
    "late afternoon": (15, 18, "pm"),
    "dusk": (17, 19, "pm"),
    "evening": (18, 22, "night"),
    "early evening": (17, 20, "night"),
    "late evening": (20, 24, "night"),
    "night": (18, 24, "night"),
    "late night": (22, 24, "night"),
    "mid morning": (10, 12, "am"),
    "midnight": (0, 5, "night"),
    "daytime": (8, 18, "day"),
    "business hours": (9, 18, "day"),
    "breakfast": (7, 9, "am"),
    "lunch": (11, 13, "noon"),
    "after lunch": (13, 16, "pm"),
    "after breakfast": (9, 12, "am"),
    "after work": (17, 21, "pm"),
    "after dinner": (20, 23, "night"),
    "dinner": (18, 20, "pm"),
}


EIGHT_MONTHS = timedelta(days=243)


# People who say neither "am" nor "pm" mean the hours in which people meet: "Friday at 5" is in the afternoon.
LAST_AFTERNOON_HOUR = 6


def hour_of(clock: Clock, part: str | None) -> int:
    """Hour 0 to 24 of a clock time, read with the part of the day it was said with. 24 is the coming midnight."""
    hour, half = clock.hour, clock.half
    if half is None and part is not None and not (clock.exact and hour > 12):
        half = PARTS[part][2]
    if half is None and not clock.exact and 1 <= hour <= LAST_AFTERNOON_HOUR:
        half = "pm"
    if half == "am":
        return 0 if hour == 12 else hour
    if half == "pm":
        return hour if hour >= 12 or hour == 0 else hour + 12
    if half == "night":  # 8 at night, 12 at night, 3 at night
        return 24 if hour == 12 else hour + 12 if 5 <= hour < 12 else hour
    if half == "noon" or (half == "day" and hour < 8):
        return hour + 12 if hour < 10 else hour
    return hour


def place(when: When, reference: datetime, tense: Tense) -> Span:
    """Where `when` lies. Raises `OutOfCalendar` for days that do not exist or descriptions without a place."""
    span = _date(when, reference, tense)
    if when.clock is None and when.part is None:
        return replace(span, fuzzy=span.fuzzy or when.fuzzy)
    if span.start is None:
        raise OutOfCalendar
    start = span.start
    if when.clock is None:
        assert when.part is not None
        begin, end, _ = PARTS[when.part]
        return Span(
            start + timedelta(hours=begin), start + timedelta(hours=end), "daypart", True, when.fuzzy or span.fuzzy
        )
    clock = when.clock
    hour = hour_of(clock, when.part)
    if not (0 <= hour <= 24 and (clock.minute or 0) < 60 and (clock.second or 0) < 60):
        raise OutOfCalendar
    moment = start + timedelta(hours=hour, minutes=clock.minute or 0, seconds=clock.second or 0)
    grain = "hour" if clock.minute is None else "minute" if clock.second is None else "second"
    return Span(moment, shift(moment, 1, grain), grain, True, when.fuzzy or span.fuzzy)


def _date(when: When, reference: datetime, tense: Tense) -> Span:
    if when.lunar and when.month is not None:
        return _lunar(when, reference, tense)
    if when.base is not None:
        return _within(when, when.base)
    if when.feast is not None:
        return _feast(when, reference, tense)
    if when.season is not None:
        return _season(when, reference, tense)
    if when.year is not None:
        return _in_year(when, when.year)
    if when.month is not None:
        return _month(when, reference, tense)
    if when.day is not None:
        return _monthday(when, reference, tense)
    if when.weekday is not None:
        return _weekday(when.weekday, when.step, reference, tense)
    return unit_span(reference, "day")


def _choose(make: Callable[[int], Span], around: int, reference: datetime, tense: Tense, step: int | None) -> Span:
    """Of `make(around)` and its neighbours, in order of time, the one that tense and step ask for."""
    try:
        return _chosen(make, range(around - 2, around + 3), reference, tense, step)
    except OutOfCalendar:  # 29 February may be eight years away
        return _chosen(make, range(around - 9, around + 10), reference, tense, step)


def _chosen(make: Callable[[int], Span], numbers: range, reference: datetime, tense: Tense, step: int | None) -> Span:
    here = midnight(reference)
    past: list[Span] = []
    rest: list[Span] = []
    for number in numbers:
        try:
            span = make(number)
        except OutOfCalendar:
            continue
        (past if span.end is not None and span.end <= here else rest).append(span)
    if step is not None and step < 0:
        return _item(past, len(past) + step)
    if step is not None and step > 0:
        return _item([s for s in rest if _begins(s) > here], step - 1)
    if not rest or (tense == "past" and past and _begins(rest[0]) > here):
        return _item(past, len(past) - 1)
    if tense == "current" and past and _begins(past[-1]).year == here.year:
        return past[-1] if here - _begins(past[-1]) < EIGHT_MONTHS else rest[0]
    return rest[0]


def _item(spans: list[Span], index: int) -> Span:
    if not 0 <= index < len(spans):
        raise OutOfCalendar
    return spans[index]


def _begins(span: Span) -> datetime:
    assert span.start is not None
    return span.start


def _in_year(when: When, year: int) -> Span:
    if when.month is None:
        if when.day is not None or when.weekday is not None:
            raise OutOfCalendar
        return unit_span(day(year, 1, 1), "year")
    start = day(year, when.month, when.day or 1)
    if when.day is not None and when.weekday is not None and start.weekday() != when.weekday:
        return unit_span(start, "day").roughly()
    return unit_span(start, "day" if when.day is not None else "month")


def _month(when: When, reference: datetime, tense: Tense) -> Span:
    def make(year: int) -> Span:
        span = _in_year(when, year)
        if span.fuzzy:  # another weekday than the one that was said
            raise OutOfCalendar
        return span

    if when.step == 0:
        return _in_year(when, reference.year)
    if when.weekday is not None:
        try:
            return _chosen(make, range(reference.year - 1, reference.year + 2), reference, tense, when.step)
        except OutOfCalendar:  # the weekday is a slip
            when = replace(when, weekday=None)
    return _choose(make, reference.year, reference, tense, when.step)


def _monthday(when: When, reference: datetime, tense: Tense) -> Span:
    """The nth of a month; with a weekday the nearest month where both agree ("Friday the 13th")."""

    def make(steps: int) -> Span:
        month = shift(midnight(reference).replace(day=1), steps, "month")
        found = day(month.year, month.month, when.day or 1)
        if when.weekday is not None and found.weekday() != when.weekday:
            raise OutOfCalendar
        return unit_span(found, "day")

    if when.weekday is not None:
        ahead = [] if tense == "past" else list(range(2, 30))
        for steps in [0, -1, *([1] if ahead else []), *ahead, *range(-2, -30, -1)]:
            try:
                return make(steps)
            except OutOfCalendar:
                continue
        raise OutOfCalendar
    if tense == "current" and when.step is None:
        return _chosen(make, range(2), midnight(reference).replace(day=1), "future", None)
    return _choose(make, 0, reference, tense, when.step)


def _weekday(weekday: int, step: int | None, reference: datetime, tense: Tense) -> Span:
    """A bare weekday is the coming one (today counts) or the past one; with a step it lies in that week."""
    if step is not None:
        return unit_span(shift(monday(reference), 7 * step + weekday, "day"), "day")
    ahead = (weekday - reference.weekday()) % 7
    if tense == "past":
        ahead -= 7
    return unit_span(shift(midnight(reference), ahead, "day"), "day")


def _feast(when: When, reference: datetime, tense: Tense) -> Span:
    assert when.feast is not None
    name = when.feast

    def make(year: int) -> Span:
        dates = feast_dates(name, year)
        if not dates:
            raise OutOfCalendar
        start = datetime.combine(dates[0], MIDNIGHT)
        return Span(start, start + feast_days(name) * DAY, "day")

    if when.year is not None:
        return make(when.year)
    if when.step == 0:
        return make(reference.year)
    if tense == "current" and when.step is None and (lunar := feast_of_lunar_year(name, reference.date())) is not None:
        return unit_span(datetime.combine(lunar, MIDNIGHT), "day")
    return _choose(make, reference.year, reference, tense, when.step)


def _season(when: When, reference: datetime, tense: Tense) -> Span:
    assert when.season is not None
    season = when.season
    if when.year is not None:
        return season_in(season, when.year)
    if when.step == 0:
        current = season_in(season, reference.year)
        earlier = season_in(season, reference.year - 1)
        return earlier if earlier.end is not None and earlier.end > midnight(reference) else current
    return _choose(lambda year: season_in(season, year), reference.year, reference, tense, when.step)


def season_in(name: str, year: int) -> Span:
    """The season that begins in `year`; a Chinese one (春, 夏, 秋, 冬) from its solar term to the next season's."""
    if name not in TERM_OF_SEASON:
        return season_span(name, year)
    order = list(TERM_OF_SEASON)
    following = order[(order.index(name) + 1) % 4]
    first = feast_dates(TERM_OF_SEASON[name], year)
    last = feast_dates(TERM_OF_SEASON[following], year + (name == order[-1]))
    if not first or not last:
        raise OutOfCalendar
    return Span(datetime.combine(first[0], MIDNIGHT), datetime.combine(last[0], MIDNIGHT), "season")


def _lunar(when: When, reference: datetime, tense: Tense) -> Span:
    assert when.month is not None
    month, leap = when.month, bool(when.leap)

    def make(year: int) -> Span:
        first = lunar_date(year, month, when.day or 1, leap)
        if first is None:
            raise OutOfCalendar
        start = datetime.combine(first, MIDNIGHT)
        if when.day is not None:
            return unit_span(start, "day")
        last = lunar_date(year, month, 30, leap) or lunar_date(year, month, 29, leap)
        if last is None:
            raise OutOfCalendar
        return Span(start, datetime.combine(last, MIDNIGHT) + DAY, "month")

    if when.year is not None:
        return make(when.year)
    if when.base is not None and when.base.start is not None:
        return make(when.base.start.year)
    here = lunar_year(reference.date())
    if here is None:
        raise OutOfCalendar
    if tense == "current" and when.step is None:
        return make(here)
    return _choose(make, here, reference, tense, when.step)


def _within(when: When, base: Span) -> Span:
    """The described day or month inside a span that is known already."""
    if base.start is None:
        raise OutOfCalendar
    inner = when.has("feast", "season", "month", "day", "weekday")
    if not inner:
        return base
    whole = unit_span(base.start, base.grain) if when.offset and base.grain != "day" else base
    if whole.start is None or whole.end is None:
        raise OutOfCalendar
    start, end = whole.start, whole.end
    if when.feast is not None:
        name = when.feast
        dates = [datetime.combine(d, MIDNIGHT) for y in (start.year, (end - DAY).year) for d in feast_dates(name, y)]
        for found in dates:
            if start <= found < end:
                return unit_span(found, "day")
        raise OutOfCalendar
    if when.season is not None:
        return season_in(when.season, start.year)
    if when.month is not None:
        for year in range(start.year, (end - DAY).year + 1):
            span = _in_year(when, year)
            if span.start is not None and span.end is not None and span.start < end and span.end > start:
                return span
        raise OutOfCalendar
    if whole.grain == "day":
        if (when.day is not None and start.day != when.day) or (
            when.weekday is not None and start.weekday() != when.weekday
        ):
            return replace(whole, fuzzy=True)
        return whole
    if when.day is not None:
        if whole.grain in MONTHS_OF and whole.grain != "month":
            raise OutOfCalendar
        found = start
        while found < end:
            if found.day == when.day:
                return unit_span(found, "day")
            found += DAY
        raise OutOfCalendar
    assert when.weekday is not None
    if whole.grain not in ("week", "weekend", "fortnight"):
        raise OutOfCalendar
    return unit_span(shift(monday(start), when.weekday, "day"), "day")


def last_day(span: Span) -> date | None:
    return None if span.end is None else (span.end - timedelta(microseconds=1)).date()
