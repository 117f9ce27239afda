"""Pieces of a span: beginnings and ends, nth units, the weekend around a feast. Pure."""

from dataclasses import replace
from datetime import datetime, timedelta

from streams.memory.timephrases.calendar import (
    DAY,
    LENGTH,
    OutOfCalendar,
    Span,
    midnight,
    nth_unit,
    nth_weekday,
    shift,
    unit_span,
)

EDGES = {"start": (0.0, 0.34), "middle": (0.34, 0.67), "end": (0.67, 1.0), "early": (0.0, 0.5), "late": (0.5, 1.0)}
TENS = {"first ten": 0, "second ten": 10, "last ten": 20}  # 上旬, 中旬, 下旬
YEAR_EDGES = {"start": (0, 2), "middle": (5, 8), "end": (10, 12)}  # months
MONTH_EDGES = {"start": (0, 5), "middle": (10, 20), "end": (24, 31)}  # days


def edge_of(edge: str, span: Span, reference: datetime) -> Span:
    """A piece of a span: its start, middle, end, early or late half; the rest of it, or what has passed of it."""
    if span.start is None or span.end is None:
        raise OutOfCalendar
    start, end, today = span.start, span.end, midnight(reference)
    if edge == "to date":
        return Span(start, today, span.grain)
    if edge in ("rest", "later"):
        if not start <= reference < end:
            raise OutOfCalendar
        if span.grain == "day":
            return Span(reference, end, "day", timed=True)
        return Span(today if edge == "rest" else max(today, cut(start, end, 0.5)), end, span.grain)
    if edge == "earlier":
        return Span(start, max(start + DAY, min(today, cut(start, end, 0.5))), span.grain)
    if edge == "end" and span.grain == "day":
        return Span(end - timedelta(minutes=1), end, "minute", timed=True)
    low, high = EDGES[edge]
    if span.grain in ("day", "daypart"):
        hours = (end - start).total_seconds() / 3600
        begin, stop = (start + timedelta(hours=round(hours * share)) for share in (low, high))
        return Span(begin, stop, "daypart", timed=True, fuzzy=True)
    return Span(cut(start, end, low), cut(start, end, high), span.grain, span.timed, fuzzy=True)


def post_edge(edge: str, span: Span, reference: datetime) -> Span:
    """Chinese edges: 月初 is the first five days, 月底 the last week, 年底 the last two months."""
    start, end = span.start, span.end
    if start is None or end is None:
        raise OutOfCalendar
    if edge == "to date":
        return edge_of(edge, span, reference)
    if edge in TENS:
        if span.grain != "month":
            raise OutOfCalendar
        first = start + TENS[edge] * DAY
        return Span(first, min(end, first + 10 * DAY) if edge != "last ten" else end, "day", fuzzy=True)
    if edge in ("early", "late", "rest"):
        return edge_of(edge, span, reference)
    if edge in ("first half", "last half"):
        middle = start + (3 if span.grain == "week" else 15) * DAY
        return Span(start, middle, "day") if edge == "first half" else Span(middle, end, "day")
    if span.grain == "year":
        low, high = YEAR_EDGES[edge]
        return Span(shift(start, low, "month"), shift(start, high, "month"), "month", fuzzy=True)
    if span.grain == "month":
        low, high = MONTH_EDGES[edge]
        return Span(start + low * DAY, min(end, start + high * DAY), "day", fuzzy=True)
    return edge_of(edge, span, reference)


def nth_of(whole: Span, unit: str | int, n: int, monday: bool = False) -> Span:
    if whole.start is None or whole.end is None:
        raise OutOfCalendar
    if isinstance(unit, int):
        return unit_span(nth_weekday(whole.start, whole.end, unit, n), "day")
    if LENGTH[unit] >= LENGTH[whole.grain]:
        raise OutOfCalendar
    if monday and unit == "week" and whole.grain == "month":  # 第一周 begins on the month's first Monday
        return unit_span(nth_weekday(whole.start, whole.end, 0, n), "week")
    return nth_unit(whole, unit, n)


def few(whole: Span, sign: int, count: float, unit: str) -> Span:
    if count * LENGTH[unit] > LENGTH[whole.grain] * 1.1:
        raise OutOfCalendar
    one = nth_unit(whole, unit, sign)
    if one.start is None or one.end is None:
        raise OutOfCalendar
    if sign > 0:
        return replace(one, end=shift(one.start, count, unit))
    return replace(one, start=shift(one.end, -count, unit))


def weekend_around(feast: Span) -> Span:
    """The weekend next to a feast; a Monday feast makes it a long one."""
    if feast.start is None:
        raise OutOfCalendar
    weekday = feast.start.weekday()
    saturday = shift(feast.start, -2 - weekday if weekday < 2 else 5 - weekday, "day")
    return Span(saturday, shift(saturday, 3 if weekday == 0 else 2, "day"), "weekend")


def cut(start: datetime, end: datetime, share: float) -> datetime:
    """A whole day at `share` of the way; a year is cut by months."""
    if share == 0.5 and (start.month, start.day) == (1, 1) and end.year == start.year + 1:
        return start.replace(month=7)
    return start + round((end - start).days * share) * DAY
