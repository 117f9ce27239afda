"""Calendar arithmetic on naive local time: spans of a unit, shifts by units, nth weekdays. Pure."""

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

DAY = timedelta(days=1)
MIDNIGHT = datetime.min.time()
MONTHS_OF = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200, "season": 3}
SECONDS_OF = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "fortnight": 1_209_600}
# Mean lengths in seconds, to order units by size and to spread fractions of months over days.
LENGTH = {
    **SECONDS_OF,
    "daypart": 14_400,
    "workday": 86_400,
    "workweek": 432_000,
    "weekend": 172_800,
    **{u: 2_629_746 * m for u, m in MONTHS_OF.items()},
}
CLOCK_UNITS = frozenset({"second", "minute", "hour"})
SEASONS = {"spring": (3, 21), "summer": (6, 21), "autumn": (9, 23), "winter": (12, 21)}


class OutOfCalendar(ValueError):
    """A date that does not exist (31 June) or lies outside the years 1 to 9999."""


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open stretch of local time; `None` is an open side. `grain` is the unit it was said in."""

    start: datetime | None
    end: datetime | None
    grain: str
    timed: bool = False  # the sides are moments rather than whole days
    fuzzy: bool = False

    def roughly(self) -> "Span":
        return replace(self, fuzzy=True)


def day(year: int, month: int, number: int) -> datetime:
    try:
        return datetime(year, month, number)
    except ValueError as error:
        raise OutOfCalendar from error


def midnight(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), MIDNIGHT)


def add_months(moment: datetime, months: int) -> datetime:
    """The same day of another month, or its last day where that day does not exist."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= 9998:
        raise OutOfCalendar
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def shift(moment: datetime, amount: float, unit: str) -> datetime:
    """`moment` moved by `amount` units; halves of months and years count as 15 days and 6 months."""
    try:
        if unit in MONTHS_OF:
            months = amount * MONTHS_OF[unit]
            whole = int(months)
            return add_months(moment, whole) + timedelta(days=round((months - whole) * 30))
        if unit == "workday":
            return _add_workdays(moment, int(amount))
        if unit == "weekend":
            unit = "week"
        if unit == "daypart":
            unit = "day"
        seconds = amount * SECONDS_OF[unit]
        if abs(seconds) > 3e11:
            raise OutOfCalendar
        return moment + timedelta(seconds=seconds)
    except (OverflowError, ValueError) as error:
        raise OutOfCalendar from error


def _add_workdays(moment: datetime, days: int) -> datetime:
    weeks, rest = divmod(abs(days), 5)
    step = 1 if days > 0 else -1
    moment += timedelta(weeks=step * weeks)
    while rest or moment.weekday() > 4:
        moment += timedelta(days=step)
        rest -= moment.weekday() < 5 and rest > 0
    return moment


def monday(moment: datetime) -> datetime:
    return shift(midnight(moment), -moment.weekday(), "day")


def floor(moment: datetime, unit: str) -> datetime:
    """Start of the unit that holds `moment`. Weeks begin on Monday (ISO 8601)."""
    match unit:
        case "second":
            return moment.replace(microsecond=0)
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
        case "week" | "fortnight":
            return monday(moment)
        case "weekend":
            return shift(monday(moment), 5, "day")
        case "month":
            return midnight(moment).replace(day=1)
        case "quarter" | "half" | "year":
            size = MONTHS_OF[unit]
            return midnight(moment).replace(day=1, month=(moment.month - 1) // size * size + 1)
        case "decade":
            return day(max(1, moment.year // 10 * 10), 1, 1)
        case "century":
            return day(max(1, moment.year // 100 * 100), 1, 1)
        case "season":
            return current_season(moment)[1].start or moment
    return midnight(moment)


def unit_span(moment: datetime, unit: str, steps: int = 0) -> Span:
    """The unit `steps` after the one that holds `moment`."""
    if unit == "season":
        name, span = current_season(moment)
        order = list(SEASONS)
        years, index = divmod(order.index(name) + steps, 4)
        start = span.start or moment
        year = start.year + years
        return season_span(order[index], year)
    if unit == "workweek":
        start = shift(monday(moment), steps, "week")
        return Span(start, start + 5 * DAY, "week")
    start = shift(floor(moment, unit), steps, unit)
    end = shift(start, 2, "day") if unit == "weekend" else shift(start, 1, unit)
    return Span(start, end, unit, timed=unit in CLOCK_UNITS)


def season_span(name: str, year: int) -> Span:
    """Astronomical season of the northern hemisphere that begins in `year`, to the day."""
    order = list(SEASONS)
    following = order[(order.index(name) + 1) % 4]
    return Span(day(year, *SEASONS[name]), day(year + (name == "winter"), *SEASONS[following]), "season")


def current_season(moment: datetime) -> tuple[str, Span]:
    for year in (moment.year, moment.year - 1):
        for name in reversed(SEASONS):
            span = season_span(name, year)
            if span.start and span.start <= moment:
                return name, span
    raise OutOfCalendar


def nth_weekday(start: datetime, end: datetime, weekday: int, n: int) -> datetime:
    """The nth (negative: from the end) given weekday in [start, end)."""
    if n > 0:
        found = start + timedelta(days=(weekday - start.weekday()) % 7 + 7 * (n - 1))
    else:
        last = end - DAY
        found = last - timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-n - 1))
    if not start <= found < end:
        raise OutOfCalendar
    return found


def iso_week(year: int, number: int) -> Span:
    """Week `number` of `year`, counted from the week that holds the first Thursday."""
    try:
        start = datetime.combine(date.fromisocalendar(year, number, 1), MIDNIGHT)
    except ValueError as error:
        raise OutOfCalendar from error
    return Span(start, start + 7 * DAY, "week")


def nth_unit(whole: Span, unit: str, n: int) -> Span:
    """The nth unit inside a longer span; weeks belong to the month or year that holds their Thursday."""
    start, end = whole.start, whole.end
    if start is None or end is None:
        raise OutOfCalendar
    if unit == "weekend":
        saturday = nth_weekday(start, end, 5, n)
        return Span(saturday, saturday + 2 * DAY, "weekend")
    if unit in ("week", "fortnight"):
        unit_start = nth_weekday(start, end, 3, n) - 3 * DAY
        return Span(unit_start, unit_start + (14 if unit == "fortnight" else 7) * DAY, unit)
    if n > 0:
        found = shift(floor(start, unit) if unit != "day" else start, n - 1, unit)
    else:
        found = shift(end, n, unit)
    stop = shift(found, 1, unit)
    if found < start or found >= end:
        raise OutOfCalendar
    return Span(found, stop, unit, timed=unit in CLOCK_UNITS)
