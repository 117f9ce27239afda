"""The grammar that both languages share: from tokens to spans of local time.

    phrase   = set | range | open | counted | point | duration
    range    = [from | between] point (to | and) point
    open     = (before | after | since | until) point | point (before | after) | point "or later"
    counted  = next 3 days | within 2 weeks | 过去两年
    point    = part of a description { [glue] part }          "next week" "on" "Tuesday" "at" "9 am"
    part     = When | shift unit | edge point | ordinal unit "of" point | duration (ago | later | from point) ...

A part is a partial description (`When`); neighbours unite as long as they do not contradict each other, so word order
needs no rules of its own. Every function takes a token index and returns what it read with the index behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from streams.memory.timephrases.calendar import (
    CLOCK_UNITS,
    DAY,
    LENGTH,
    OutOfCalendar,
    Span,
    day,
    iso_week,
    midnight,
    nth_unit,
    nth_weekday,
    shift,
    unit_span,
)
from streams.memory.timephrases.place import PARTS, Tense, hour_of, place
from streams.memory.timephrases.tokens import DATE_FIELDS, Clock, Duration, Relative, Token, When

MAX_DEPTH = 3  # "the end of the first week of next month" nests twice; deeper is no human phrase
MAX_PARTS = 8
MAX_GLUE = 2
EDGES = {"start": (0.0, 0.34), "middle": (0.34, 0.67), "end": (0.67, 1.0), "early": (0.0, 0.5), "late": (0.5, 1.0)}

TENS = {"first ten": 0, "second ten": 10, "last ten": 20}  # 上旬, 中旬, 下旬
YEAR_EDGES = {"start": (0, 2), "middle": (5, 8), "end": (10, 12)}  # months
MONTH_EDGES = {"start": (0, 5), "middle": (10, 20), "end": (24, 31)}  # days


@dataclass(frozen=True, slots=True)
class Reading:
    """A phrase that was read: where it lies, and which sides carry a day and a time of day of their own."""

    form: str  # point, range, duration, set
    span: Span | None
    dated: bool = True
    fuzzy: bool = False
    grain: str = "day"


class Grammar:
    """Reads phrases from one text's tokens. `reference` is naive local time."""

    def __init__(self, tokens: Sequence[Token], reference: datetime, tense: Tense) -> None:
        self._reference = reference
        self._tokens = [self._grounded(t) for t in tokens]
        self._tense = tense
        self._points: dict[tuple[int, int], tuple[When, int] | None] = {}

    def _grounded(self, token: Token) -> Token:
        """Words like "tomorrow" put in place."""
        said = token.value
        if not isinstance(said, Relative):
            return token
        try:
            if said.nth is not None:
                year = said.year or shift(self._reference, said.steps, "year").year
                return replace(
                    token, value=When(base=nth_unit(unit_span(day(year, 1, 1), "year"), said.unit, said.nth))
                )
            span = unit_span(self._reference, said.unit, said.steps)
            if said.count > 1 and span.start is not None:
                span = replace(span, end=shift(span.start, said.count, said.unit))
            if said.edge is not None:
                span = self._post_edge(said.edge, span)
            follows = True if said.follows else None
            return replace(token, value=When(base=span, part=said.part, clock=said.clock, follows=follows))
        except OutOfCalendar:
            return replace(token, kind="word", value=None)

    # --- reading one phrase -------------------------------------------------------------------------------------

    def phrase(self, i: int) -> tuple[Reading, int] | None:
        """The longest phrase that begins at token `i`."""
        best: tuple[Reading, int] | None = None
        for rule in (self._set, self._range, self._lasting, self._open, self._counted, self._single, self._duration):
            try:
                found = rule(i)
            except OutOfCalendar:
                continue
            if found and (best is None or found[1] > best[1]):
                best = found
        return best

    def _kind(self, i: int) -> str:
        return self._tokens[i].kind if i < len(self._tokens) else "end"

    def _value(self, i: int) -> Any:
        return self._tokens[i].value

    def _skip(self, i: int, *kinds: str, limit: int = MAX_GLUE) -> int:
        while limit and self._kind(i) in kinds:
            i, limit = i + 1, limit - 1
        return i

    def _place(self, when: When) -> Span:
        return place(when, self._reference, self._tense)

    # --- single points ------------------------------------------------------------------------------------------

    def _single(self, i: int) -> tuple[Reading, int] | None:
        start = self._skip(i, "on", "in", "at", "approx", "the", "of", limit=3)
        found = next(filter(None, (self._point(k) for k in range(i, start + 1))), None)
        if found is None and start > i and self._kind(start - 1) in ("on", "at", "the"):
            found = self._number_alone(start, self._kind(start - 1), self._kind(start - 2) if start - 2 >= i else "")
        if found is None:
            return None
        when, j = found
        span = self._place(when)
        fuzzy = span.fuzzy or any(self._kind(k) == "approx" for k in range(i, start)) or self._kind(j) == "approx"
        if self._kind(j) == "approx":
            j += 1
        # "last minute" and "next hour" last; a clock time and "5 minutes ago" are moments.
        whole = span.timed and when.clock is None and span.start is not None and span.grain in CLOCK_UNITS
        lasting = whole and span.grain != "second" and span.end == shift(span.start or self._reference, 1, span.grain)
        return Reading("range" if lasting else "point", span, self._dated(when), fuzzy, span.grain), j

    @staticmethod
    def _dated(when: When) -> bool:
        return when.has(*DATE_FIELDS)

    def _number_alone(self, i: int, before: str, earlier: str) -> tuple[When, int] | None:
        """ "at 7", "on the 27th", "on 15": only where nothing follows that the number could count."""
        if self._kind(i) not in ("num", "ord") or self._kind(i + 1) not in (
            "end",
            "stop",
            "comma",
            "glue",
            "at",
            "approx",
            "when",
            "to",
        ):
            return None
        n = self._value(i)
        if before == "at" and self._kind(i) == "num" and n == int(n) and 1 <= n <= 24:
            return self._extend(When(clock=Clock(int(n))), i + 1)
        if before == "on" and self._kind(i) == "num" and 1 <= n <= 31 and self._kind(i + 1) in ("at", "when"):
            found = self._extend(When(day=int(n)), i + 1)
            if found[0].clock is not None:
                return found
        if before == "the" and self._kind(i) == "ord" and i == 1 and self._kind(i + 1) == "end" and n <= 31:
            return When(day=int(n)), i + 1
        if (
            before in ("on", "the")
            and n == int(n)
            and 1 <= n <= 31
            and ((self._kind(i) == "ord" and (earlier == "on" or n > 3)) or (before == "the" and n > 12))
        ):
            return self._extend(When(day=int(n)), i + 1)
        return None

    def _point(self, i: int, depth: int = 0) -> tuple[When, int] | None:
        if depth > MAX_DEPTH:
            return None
        key = (i, depth)
        if key not in self._points:
            self._points[key] = None
            try:
                found = self._part(i, depth)
                self._points[key] = found and self._extend(*found, depth=depth)
            except OutOfCalendar:
                pass
        return self._points[key]

    def _extend(self, when: When, j: int, depth: int = 0) -> tuple[When, int]:
        """Unite with what follows for as long as it adds to the description."""
        for _ in range(MAX_PARTS):
            found = self._postfix(when, j, depth) or self._next(when, j, depth)
            if found is None:
                break
            when, j = found
        return when, j

    def _next(self, when: When, j: int, depth: int) -> tuple[When, int] | None:
        """The next part, over at most three words of glue, if it fits to what was said."""
        last = self._skip(j, "comma", "on", "in", "at", "of", "the", "glue", "approx", "for", limit=3)
        for k in range(j, last + 1):
            try:
                part = self._part(k, depth, follows=when)
            except OutOfCalendar:
                continue
            part = part or self._loose_number(when, j, k)
            if part is not None and self._compatible(when, part[0]):
                both = when.unite(part[0])
                if both is not None:
                    return both, part[1]
        return None

    def _loose_number(self, when: When, j: int, k: int) -> tuple[When, int] | None:
        """ "this morning at 7", "tonight around 7", "7, this morning", "8pm on the 15th"."""
        if self._kind(k) not in ("num", "ord"):
            return None
        n = self._value(k)
        glue = {self._kind(x) for x in range(j, k)}
        if n != int(n) or self._kind(k + 1) in ("unit", "word"):
            return None
        if (
            self._kind(k) == "num"
            and when.clock is None
            and glue & {"at", "approx", "for"}
            and 0 < n <= 24
            and (when.part or when.base or when.has("weekday", "day"))
        ):
            return When(clock=Clock(int(n))), k + 1
        if glue & {"on"} and when.clock is not None and not self._dated(when) and 1 <= n <= 31:
            return When(day=int(n)), k + 1
        if (
            when.weekday is not None
            and not when.has("day", "month", "base", "step")
            and 1 <= n <= 31
            and glue <= {"the"}
        ):
            closed = self._kind(k + 1) in ("end", "stop")
            if self._kind(k) == "ord" or (closed and ("the" in glue or n > 12)):
                return When(day=int(n)), k + 1
        return None

    def _compatible(self, when: When, more: When) -> bool:
        timed = when.base is not None and when.base.timed
        if timed and more.has("clock", "part"):
            return False
        for a, b in ((when, more), (more, when)):
            if a.base is not None:
                grain = a.base.grain
                if b.year is not None and not (a.base.grain in ("day",) and a.offset is None):
                    return False
                if b.has("month") and LENGTH[grain] < LENGTH["quarter"] and not a.offset:
                    return grain == "day" and b.day is not None
                if (
                    b.has("clock", "part")
                    and LENGTH[grain] > LENGTH["day"]
                    and not (a.offset or a.has("day", "weekday", "feast") or b.has("day", "weekday", "feast"))
                ):
                    return False
            if a.feast is not None and b.has("month", "day", "weekday"):
                return False
            if a.month is not None and not (a.day or b.day) and b.has("clock", "part", "weekday"):
                return False
            if (
                a.year is not None
                and not a.has("month", "feast")
                and b.has("clock", "part", "weekday")
                and not b.has("month")
            ):
                return False
            if a.season is not None and b.has("month", "day", "weekday", "clock", "part"):
                return False
        return True

    # --- parts --------------------------------------------------------------------------------------------------

    def _part(self, i: int, depth: int, follows: When | None = None) -> tuple[When, int] | None:
        match self._kind(i):
            case "when":
                return self._with_from(self._value(i), i + 1, depth)
            case "loose" if follows is not None:  # forms that are a date or a time only next to another
                return self._value(i), i + 1
            case "the":
                return self._the(i, depth)
            case "shift":
                return self._last_of(i, depth) or self._shifted(i, depth)
            case "unit":
                return self._numbered_unit(i) or self._unit_after(i, depth)
            case "edge":
                return self._edge(i, depth)
            case "weekof":
                return self._week_of(i, depth)
            case "ord" | "num":
                return self._hour_in_part(i) or self._weekdays_away(i) or self._nth(i, depth)
            case "nth":
                n, unit = self._value(i)
                return When(base=nth_unit(unit_span(self._reference, "year"), unit, n)), i + 1
            case "in":
                return self._in(i)
            case "dur":
                return self._counted_point(i, depth)
        return None

    def _with_from(self, when: When, j: int, depth: int) -> tuple[When, int]:
        if self._kind(j) == "ordafter":  # "March after next"
            when = replace(when, step=self._value(j))
            if when.weekday is not None and when.month is None:
                when = replace(when, step=1 + (when.weekday > self._reference.weekday()) * 0)
                ahead = (when.weekday - self._reference.weekday()) % 7 or 7  # type: ignore[operator]
                start = shift(midnight(self._reference), ahead + 7, "day")
                return When(base=unit_span(start, "day")), j + 1
            return when, j + 1
        return when, j

    def _the(self, i: int, depth: int) -> tuple[When, int] | None:
        j = i + 1
        if self._kind(j) == "unit":
            found = self._numbered_unit(j) or self._unit_after(j, depth)
            if found:
                return found
            if self._value(j) in ("week", "month", "year", "quarter", "weekend", "half", "decade"):
                return When(base=unit_span(self._reference, self._value(j))), j + 1
            return None
        if self._kind(j) in ("when", "shift", "edge", "ord", "last", "dur", "num"):
            return self._part(j, depth)
        return None

    def _unit_after(self, i: int, depth: int) -> tuple[When, int] | None:
        """ "month after next", "week before last", "week of April 10th", "day before"."""
        unit = self._value(i)
        j = i + 1
        if self._kind(j) == "ordafter":
            return When(base=unit_span(self._reference, unit, self._value(j))), j + 1
        if self._kind(j) in ("of", "beginning", "since", "from"):
            found = self._point(
                self._skip(j, "of", "beginning", "since", "from", "on", "in", "the", limit=4), depth + 1
            )
            if found is None and self._kind(j) == "of":
                k = self._skip(j + 1, "the")
                if self._kind(k) in ("ord", "num") and 1 <= self._value(k) <= 31:
                    found = When(day=int(self._value(k))), k + 1
            if found and LENGTH[unit] > LENGTH["day"]:
                start = self._place(found[0]).start
                if start is not None and self._place(found[0]).grain == "day":
                    if unit == "weekend" and start.weekday() < 2:  # the weekend of a Monday is the one before it
                        start = shift(start, -start.weekday() - 1, "day")
                    return When(base=unit_span(start, unit)), found[1]
        if (
            unit in ("day", "minute", "hour")
            and self._kind(j) in ("before", "after")
            and self._tokens[i - 1].kind == "the"
        ):
            sign = -1 if self._kind(j) == "before" else 1
            found = self._point(j + 1, depth + 1)
            if found:
                start = self._place(found[0]).start
                if start is not None:
                    return When(base=unit_span(shift(start, sign, unit), unit)), found[1]
            if self._kind(j + 1) in ("end", "stop"):
                return When(base=unit_span(shift(self._reference, sign, unit), unit)), j + 1
        return None

    def _week_of(self, i: int, depth: int) -> tuple[When, int] | None:
        found = self._point(self._skip(i + 1, "the", limit=1), depth + 1)
        start = found and self._place(found[0]).start
        return (When(base=unit_span(start, "week")), found[1]) if found and start else None

    def _numbered_unit(self, i: int) -> tuple[When, int] | None:
        """ "week 10", "quarter 3"."""
        if self._value(i) == "week" and self._kind(i + 1) == "num" and 1 <= self._value(i + 1) <= 53:
            year = self._reference.year
            return When(base=iso_week(year, int(self._value(i + 1)))), i + 2
        return None

    def _shifted(self, i: int, depth: int) -> tuple[When, int] | None:
        """ "next week", "last Friday", "this March", "上上周末", "next Christmas"."""
        step = self._value(i)
        j = i + 1
        ref = self._reference
        if self._kind(j) == "unit" or (self._kind(j) == "units" and self._value(j) == "season"):
            unit = self._value(j)
            return When(base=unit_span(ref, unit, step), offset=None), j + 1
        if self._kind(j) == "when":
            when: When = self._value(j)
            if when.part is not None and when == When(part=when.part):
                return When(base=unit_span(ref, "day", step), part=when.part), j + 1
            if when.has("weekday") and not when.has("month", "base"):
                return replace(when, step=step), j + 1
            if when.has("month", "feast", "season") and not when.has("year", "base"):
                return replace(when, step=step), j + 1
        return None

    def _edge(self, i: int, depth: int) -> tuple[When, int] | None:
        """ "end of March", "early next week", "the beginning of 2017", "rest of the week"."""
        edge = self._value(i)
        k = self._skip(i + 1, "of", "the", "in", "approx", "my", limit=3)
        found = self._point(k, depth + 1)
        if found is None and self._kind(k) == "unit":
            found = When(base=unit_span(self._reference, self._value(k))), k + 1
        if found is None:
            return None
        return When(base=self._edge_of(edge, self._place(found[0]))), found[1]

    def _edge_of(self, edge: str, span: Span) -> Span:
        if span.start is None or span.end is None:
            raise OutOfCalendar
        start, end, ref = span.start, span.end, self._reference
        if edge in ("rest", "later"):
            if not start <= ref < end:
                raise OutOfCalendar
            begin = ref if span.grain == "day" else midnight(ref)
            if edge == "later" and span.grain != "day":
                begin = max(begin, _cut(start, end, 0.5))
            return Span(begin, end, span.grain, span.grain == "day")
        if edge == "earlier":
            return Span(start, max(midnight(ref), start + DAY), span.grain)
        if span.grain == "day":
            raise OutOfCalendar
        low, high = EDGES[edge]
        return Span(_cut(start, end, low), _cut(start, end, high), span.grain, span.timed, fuzzy=True)

    def _nth(self, i: int, depth: int) -> tuple[When, int] | None:
        """ "first Monday of last month", "last day of October", "third quarter", "20th of next month"."""
        if self._kind(i) == "shift":
            n, j = -1, i + 1
        else:
            n, j = self._value(i), i + 1
            if n != int(n) or not 0 < n < 400:
                return None
            n = int(n)
            if self._kind(i) == "ord" and self._kind(j) == "shift" and self._value(j) == -1:
                n, j = -n, j + 1
        if self._kind(j) == "dur" and abs(n) == 1:
            return self._first_or_last_few(n, j, depth)
        if self._kind(j) == "unit":
            unit = self._value(j)
        elif (
            self._kind(j) == "when"
            and self._value(j).weekday is not None
            and self._value(j) == When(weekday=self._value(j).weekday)
        ):
            unit = self._value(j).weekday
        elif self._kind(j) in ("of", "shift"):
            found = self._point(self._skip(j, "of", "the"), depth + 1)
            if found and found[0].base is not None and found[0].base.grain == "month" and 1 <= n <= 31:
                return found[0].unite(When(day=n)) or When(day=n), found[1]
            return None
        else:
            return None
        if self._kind(i) == "num":
            return None
        k = self._skip(j + 1, "of", "in", "the", "glue", limit=3)
        if self._kind(k) == "loose" and self._value(k).year is not None and isinstance(unit, str):
            return When(base=self._nth_of(self._place(self._value(k)), unit, n)), k + 1
        close = k > j + 1 or (self._kind(i) == "ord" and self._kind(k) in ("when", "shift"))
        found = self._point(k, depth + 1) if close else None
        if found is None and isinstance(unit, int) and self._kind(i) == "ord":
            return When(base=self._nth_of(unit_span(self._reference, "month"), unit, n)), j + 1
        if found is None and unit in ("quarter", "half") and n > 0:
            return When(base=nth_unit(unit_span(self._reference, "year"), str(unit), n)), j + 1
        if found is None:
            return None
        return When(base=self._nth_of(self._place(found[0]), unit, n)), found[1]

    def _first_or_last_few(self, sign: int, j: int, depth: int) -> tuple[When, int] | None:
        """ "the first 2 weeks of 2021", "last three days of May"."""
        amount: Duration = self._value(j)
        count, unit = amount.parts[0]
        if self._kind(j + 1) not in ("of", "in"):
            return None
        found = self._point(self._skip(j + 1, "of", "in", "the", limit=2), depth + 1)
        return found and (When(base=self._few(self._place(found[0]), sign, count, unit)), found[1])

    @staticmethod
    def _few(whole: Span, sign: int, count: float, unit: str) -> Span:
        if count * LENGTH[unit] > LENGTH[whole.grain] * 1.1:
            raise OutOfCalendar
        one = nth_unit(whole, unit, sign)
        if one.start is None or one.end is None:
            raise OutOfCalendar
        if sign > 0:
            return replace(one, end=shift(one.start, count, unit))
        return replace(one, start=shift(one.end, -count, unit))

    def _last_of(self, i: int, depth: int) -> tuple[When, int] | None:
        """ "last Friday of October", which is no last Friday."""
        try:
            return self._nth(i, depth) if self._value(i) == -1 else None
        except OutOfCalendar:
            return None

    def _hour_in_part(self, i: int) -> tuple[When, int] | None:
        """ "3 in the morning", "12 lunchtime"."""
        k = self._skip(i + 1, "in", "at", "the", limit=2)
        n = self._value(i)
        if self._kind(i) == "num" and self._kind(k) == "when" and 0 < n <= 12 and n == int(n):
            part: When = self._value(k)
            if part == When(part=part.part) and (k > i + 1 or part.part == "lunch"):
                return When(clock=Clock(int(n)), part=part.part), k + 1
        if self._kind(i) == "num" and self._kind(k) == "loose" and 0 < n <= 12 and self._value(k).part:
            return When(clock=Clock(int(n)), part=self._value(k).part), k + 1  # 3 in the AM
        if self._kind(i) == "num" and 0 < n <= 12 and n == int(n):
            # "eight tonight", "9 tomorrow evening"; a bare "9 tomorrow" only where nothing comes before
            k = self._skip(i + 1, "comma", limit=1)
            if self._kind(k) in ("when", "shift"):
                day = self._part(k, MAX_DEPTH)
                if day is not None:
                    day = self._extend(*day, depth=MAX_DEPTH)
                    when = day[0]
                    opening = i == 0 or self._kind(i - 1) in ("at", "from", "between", "to", "approx", "comma")
                    today = when.base is not None and when.base.grain == "day" and not when.offset
                    if when.clock is None and today and (when.part or (opening and k == i + 1)):
                        return replace(when, clock=Clock(int(n))), day[1]
        return None

    def _weekdays_away(self, i: int) -> tuple[When, int] | None:
        """ "4 Tuesdays from now", "2 Thursdays ago"."""
        if self._kind(i + 1) != "weekdays" or self._kind(i + 2) not in ("ago", "later"):
            return None
        n, weekday = int(self._value(i)), self._value(i + 1)
        here = midnight(self._reference)
        if self._kind(i + 2) == "later":
            days = ((weekday - here.weekday()) % 7 or 7) + 7 * (n - 1)
        else:
            days = -((here.weekday() - weekday) % 7 or 7) - 7 * (n - 1)
        return When(base=unit_span(shift(here, days, "day"), "day")), i + 3

    def _nth_of(self, whole: Span, unit: str | int, n: int, monday: bool = False) -> Span:
        if whole.start is None or whole.end is None:
            raise OutOfCalendar
        if isinstance(unit, int):
            return unit_span(nth_weekday(whole.start, whole.end, unit, n), "day")
        if LENGTH[unit] >= LENGTH[whole.grain]:
            raise OutOfCalendar
        if monday and unit == "week" and whole.grain == "month":  # 第一周 begins on the month's first Monday
            return unit_span(nth_weekday(whole.start, whole.end, 0, n), "week")
        return nth_unit(whole, unit, n)

    def _postfix(self, when: When, j: int, depth: int) -> tuple[When, int] | None:
        """What Chinese puts behind: 三月底, 九月下旬, 十月的第一个星期一, 今年前三季度."""
        k = self._skip(j, "glue", limit=1)
        kind = self._kind(k)
        if kind == "unit" and self._value(k) == "weekend" and when.feast is not None:
            return self._weekend_around(self._place(when)), k + 1
        if kind == "postedge" and k == j:
            span = self._place(when)
            return When(base=self._post_edge(self._value(k), span)), k + 1
        if kind == "nth" and not when.has("clock", "part", "month"):
            n, unit = self._value(k)
            return When(base=self._nth_of(self._place(when), unit, n)), k + 1
        if kind == "postord":
            n, unit = self._value(k)
            if unit is None:
                nxt = self._kind(k + 1)
                if nxt == "unit":
                    unit = self._value(k + 1)
                elif nxt == "when" and self._value(k + 1).weekday is not None:
                    unit = self._value(k + 1).weekday
                else:
                    return None
                return When(base=self._nth_of(self._place(when), unit, n, monday=True)), k + 2
            return When(base=self._nth_of(self._place(when), unit, n, monday=True)), k + 1
        if kind == "firstlast":
            sign, count, unit = self._value(k)
            return When(base=self._few(self._place(when), sign, count, unit)), k + 1
        return None

    @staticmethod
    def _weekend_around(feast: Span) -> When:
        """The weekend next to a feast; a Monday feast makes it a long one."""
        if feast.start is None:
            raise OutOfCalendar
        weekday = feast.start.weekday()
        saturday = shift(feast.start, -2 - weekday if weekday < 2 else 5 - weekday, "day")
        return When(base=Span(saturday, shift(saturday, 3 if weekday == 0 else 2, "day"), "weekend"))

    def _post_edge(self, edge: str, span: Span) -> Span:
        """Chinese edges: 月初 is the first five days, 月底 the last week, 年底 the last two months."""
        start, end = span.start, span.end
        if start is None or end is None:
            raise OutOfCalendar
        if edge in TENS:
            if span.grain != "month":
                raise OutOfCalendar
            first = start + TENS[edge] * DAY
            return Span(first, min(end, first + 10 * DAY) if edge != "last ten" else end, "day", fuzzy=True)
        if edge in ("first half", "last half"):
            middle = start + 15 * DAY
            return Span(start, middle, "day") if edge == "first half" else Span(middle, end, "day")
        if span.grain == "year":
            low, high = YEAR_EDGES[edge]
            return Span(shift(start, low, "month"), shift(start, high, "month"), "month", fuzzy=True)
        if span.grain == "month":
            low, high = MONTH_EDGES[edge]
            return Span(start + low * DAY, min(end, start + high * DAY), "day", fuzzy=True)
        return self._edge_of(edge, span)

    # --- counting ------------------------------------------------------------------------------------------------

    def _in(self, i: int) -> tuple[When, int] | None:
        """ "in two weeks", "in 1d, 2hr and 5min"."""
        found = self._amount(self._skip(i + 1, "approx", "the", limit=1))
        if found is None:
            return None
        amount, j = found
        if self._kind(j) in ("ago", "later", "from"):
            return None
        return self._offset(self._reference, amount, 1), j

    def _amount(self, i: int) -> tuple[Duration, int] | None:
        """One duration, or several in a row: 一年又一个月21天."""
        if self._kind(i) != "dur":
            return None
        amount: Duration = self._value(i)
        j = i + 1
        for _ in range(5):
            k = self._skip(j, "comma", "and", "glue", limit=2)
            if self._kind(k) != "dur" or self._kind(k + 1) in ("ago", "later"):
                if (
                    self._kind(k) != "dur"
                    or k - j > 1
                    or (self._kind(j) in ("and",) and self._tokens[k].value.unit == amount.unit)
                ):
                    break
            more: Duration = self._value(k)
            if {u for _, u in more.parts} & {u for _, u in amount.parts}:
                break
            amount = Duration(amount.parts + more.parts, amount.fuzzy or more.fuzzy)
            j = k + 1
        return amount, j

    def _offset(self, origin: datetime, amount: Duration, sign: int) -> When:
        moment = origin
        for number, unit in amount.parts:
            moment = shift(moment, sign * number, unit)
        smallest = min((u for _, u in amount.parts), key=lambda u: LENGTH[u])
        if smallest in CLOCK_UNITS:
            return When(base=replace(unit_span(moment, "second"), grain=smallest, timed=True, fuzzy=amount.fuzzy))
        span = replace(unit_span(moment, "day"), grain=smallest, fuzzy=amount.fuzzy)
        return When(base=span, offset=True)

    def _counted_point(self, i: int, depth: int) -> tuple[When, int] | None:
        """ "3 days ago", "two weeks after next Friday", "三天前", "4 tuesdays from now"."""
        found = self._amount(i)
        if found is None:
            return None
        amount, j = found
        kind = self._kind(j)
        if kind in ("ago", "later") or (kind in ("before", "after") and self._kind(j + 1) in ("end", "stop")):
            return self._offset(self._reference, amount, -1 if kind in ("ago", "before") else 1), j + 1
        if kind in ("from", "after", "before", "since"):
            sign = -1 if kind == "before" else 1
            origin = self._point(self._skip(j + 1, "the", limit=1), depth + 1)
            if origin is None:
                return None
            start = self._place(origin[0]).start
            if start is None:
                return None
            if amount.unit in CLOCK_UNITS and not self._place(origin[0]).timed:
                return None
            return self._offset(start, amount, sign), origin[1]
        return None

    def _counted(self, i: int) -> tuple[Reading, int] | None:
        """Stretches counted from the reference: "past 3 days", "within two weeks", "3天内", 近两年."""
        j = self._skip(i, "in", "the", "on", "within", limit=4)
        within = any(self._kind(k) == "within" for k in range(i, j))
        step: int | None = None
        if self._kind(j) == "shift":
            step, j = self._value(j), j + 1
        found: tuple[Duration, int] | None
        if self._kind(j) == "num" and self._kind(j + 1) == "shift" and self._kind(j + 2) == "units":
            found, step = (Duration(((self._value(j), self._value(j + 2)),)), j + 3), self._value(j + 1)
        elif step == 0 or (step is None and not within and self._kind(j) != "dur"):
            return None
        else:
            found = self._amount(self._skip(j, "approx", limit=1))
        if found is None:
            return None
        amount, j = found
        if step is None and not within:
            if self._kind(j) != "inside":
                return None
            j += 1
        elif self._kind(j) in ("ago", "later", "before", "after", "from"):
            return None
        elif self._kind(j) == "inside":
            j += 1
        sign = -1 if step is not None and step < 0 else 1
        other = self._reference
        for number, unit in amount.parts:
            other = shift(other, sign * number, unit)
        a, b = sorted((self._reference, other))
        timed = amount.unit in CLOCK_UNITS
        if not timed:
            a, b = midnight(a), midnight(b)
            if sign > 0 and step is not None and not within:
                a, b = a + DAY, b + DAY
            elif sign > 0:
                b = b + DAY
        return Reading("range", Span(a, b, amount.unit, timed), True, True, amount.unit), j

    def _lasting(self, i: int) -> tuple[Reading, int] | None:
        """ "from 4pm for thirty minutes", "for 2 hours from 2pm"."""
        j = self._skip(i, "from", "for", limit=1)
        if self._kind(j) == "dur":
            found = self._amount(j)
            if found is None:
                return None
            amount, k = found
            k = self._skip(k, "comma", limit=1)
            starting = self._kind(k) in ("beginning", "since") or (
                self._kind(k) == "from" and (self._kind(i) == "for" or self._value(k).startswith("start"))
            )
            if not starting:
                return None
            point = self._point(self._skip(k, "from", "beginning", "since", "the", "at", limit=3))
            if point is None:
                return None
            when, end = point
        else:
            point = self._point(self._skip(j, "on", "at", limit=1))
            if point is None:
                return None
            when, k = point
            if self._kind(k) == "from" and when.clock is None:
                more = self._point(k + 1)
                both = more and when.unite(more[0])
                if not more or not both:
                    return None
                when, k = both, more[1]
            if self._kind(k) != "for":
                return None
            found = self._amount(k + 1)
            if found is None:
                return None
            amount, end = found
        start = self._place(when).start
        if start is None:
            return None
        if when.clock is None:
            if amount.unit in CLOCK_UNITS or self._kind(j) != "dur":
                return None
            for number, unit in amount.parts:
                stop_at = shift(start, number, unit)
            return Reading("range", Span(start, stop_at, amount.unit), True, amount.fuzzy, amount.unit), end
        stop = self._offset(start, amount, 1).base
        if stop is None or stop.start is None:
            return None
        stop_at = stop.start if amount.unit in CLOCK_UNITS else shift(start, amount.parts[0][0], amount.unit)
        return Reading("range", Span(start, stop_at, "minute", True), self._dated(when), amount.fuzzy, "minute"), end

    def _duration(self, i: int) -> tuple[Reading, int] | None:
        j = self._skip(i, "for", limit=1)
        found = self._amount(j)
        if found is None:
            return None
        return Reading("duration", None, False, found[0].fuzzy, found[0].unit), found[1]

    # --- ranges --------------------------------------------------------------------------------------------------

    def _range(self, i: int) -> tuple[Reading, int] | None:
        """Two points with "to" or "and"; each side lends the other what it left out."""
        lead, j = None, i
        before: When | None = None
        if self._kind(j) not in ("from", "between"):
            # "Monday between 3 and 5", "tomorrow from 10 to 12", "Monday 8 to 9"
            head = self._point(self._skip(j, "on", "in", "the", limit=2))
            if head is not None:
                k = self._skip(head[1], "comma", "at", limit=1)
                if self._kind(k) in ("from", "between", "num"):
                    before, j = head[0], k
        if self._kind(j) in ("from", "between"):
            lead, j = self._kind(j), j + 1
        j = self._skip(j, "the", "at", "on", "approx", limit=2)
        best: tuple[Reading, int] | None = None
        for left, k in self._sides(j):
            joined = self._kind(k)
            if joined not in ("to", "and"):
                continue
            k = self._skip(k + 1, "the", "at", "on", "approx", limit=2)
            for right, end in self._sides(k):
                amid = self._kind(end) == "amid"
                if joined == "and" and lead != "between" and not amid:
                    continue
                try:
                    found = self._between(left, right, before, lead, end)
                except OutOfCalendar:
                    continue
                end += amid or self._kind(end) == "inside"
                if found is not None and (best is None or end > best[1]):
                    best = found, end
        return best

    def _sides(self, i: int) -> list[tuple[When | int, int]]:
        """Readings of one side: a point, or a bare number that takes its meaning from the other side."""
        sides: list[tuple[When | int, int]] = []
        if self._kind(i) == "loose" and self._value(i).clock is not None:
            sides.append(self._extend(self._value(i), i + 1))
        for found in (self._point(i), self._safe_part(i)):
            if found is not None:
                sides.append(found)
        if self._kind(i) in ("num", "ord") and self._value(i) == int(self._value(i)):
            number = int(self._value(i))
            if 1 <= number <= 31:
                day_tail = self._extend(When(day=number), i + 1)
                base = day_tail[0].base
                if day_tail[0].has("month", "year") or (base is not None and base.grain in ("month", "year")):
                    sides.append(day_tail)
            if self._kind(i) == "num" and number <= 24:
                hour_tail = self._extend(When(clock=Clock(number)), i + 1)
                if hour_tail[0].has(*DATE_FIELDS, "part"):
                    sides.append(hour_tail)
            sides.append((number, i + 1))
        return sides

    def _safe_part(self, i: int) -> tuple[When, int] | None:
        try:
            return self._part(i, 0)
        except OutOfCalendar:
            return None

    def _between(
        self, left: When | int, right: When | int, before: When | None, lead: str | None, end: int
    ) -> Reading | None:
        if isinstance(left, int) and isinstance(right, int):
            if before is None and (lead is None or self._kind(end) in ("word", "unit", "dur", "weekdays")):
                return None
            monthly = before is not None and (
                before.month is not None or (before.base is not None and before.base.grain == "month")
            )
            if not monthly and not (0 <= left <= 24 and 0 <= right <= 24):
                return None
            left, right = (
                (When(day=left), When(day=right)) if monthly else (When(clock=Clock(left)), When(clock=Clock(right)))
            )
        elif isinstance(left, int):
            assert isinstance(right, When)
            liked = self._like(left, right)
            if liked is None:
                return None
            left = liked
        elif isinstance(right, int):
            liked = self._like(right, left)
            if liked is None:
                return None
            right = liked
        assert isinstance(left, When) and isinstance(right, When)
        if before is not None:
            left, right = left.unite(before) or left, right.unite(before) or right
            if not (self._compatible(before, left) and self._compatible(before, right)):
                return None
        return self._join(left, right)

    @staticmethod
    def _like(number: int, other: When) -> When | None:
        """A bare number as the same kind of thing as the other side's last word."""
        if other.clock is not None and number <= 24:
            return When(clock=Clock(number, half=None))
        if other.day is not None and 1 <= number <= 31:
            return When(day=number)
        if other.month is not None and other.day is None and 1 <= number <= 12 and not other.has("base"):
            return When(month=number)
        if other.year is not None and not other.has("month") and 1900 <= number <= 2100:
            return When(year=number)
        if other.weekday is not None and 1 <= number <= 24:
            return None
        return None

    def _join(self, left: When, right: When) -> Reading | None:
        """Both sides placed: what one left out comes from the other, and the end lies after the beginning."""
        if right.follows and not self._dated(left):
            left = left.unite(When(base=unit_span(self._reference, "day"))) or left
        if right.follows and (began := self._place(left).start) is not None:
            right = replace(right, base=unit_span(began, "day", 1))
        left_timed, right_timed = left.has("clock", "part"), right.has("clock", "part")
        if right_timed and not self._dated(right) and self._dated(left) and not _is_now(left):
            right = right.fill(left, (*DATE_FIELDS, "offset"))
        elif left_timed and not self._dated(left) and self._dated(right) and not _is_now(right):
            left = left.fill(right, (*DATE_FIELDS, "offset"))
        else:
            left, right = self._share(left, right)
        if left.clock is not None and right.clock is not None:
            if left.part is None and left.clock.half is None and right.part is not None:
                left = replace(left, part=right.part)
            elif right.part is None and right.clock.half is None and left.part is not None:
                right = replace(right, part=left.part)
            left, right = _share_half(left, right)
        dated = self._dated(left) or self._dated(right)
        a, b = self._place(left), self._place(right)
        if _is_now(left) and not b.timed:
            a = unit_span(self._reference, "day")
        elif _is_now(right) and not a.timed:
            b = unit_span(self._reference, "day")
        if a.start is None or b.start is None or b.end is None:
            return None
        if _is_now(right) and a.start > b.start:
            a = place(left, self._reference, "past")
        elif (
            self._tense == "future"
            and _floats(left)
            and _floats(right)
            and not (a.timed or b.timed)
            and b.start < a.start
        ):
            earlier = place(left, self._reference, "past")  # the range that we are in
            if earlier.start is not None and earlier.start <= self._reference < b.end:
                a = earlier
        assert a.start is not None
        if (b.start if b.timed else b.end) <= a.start:
            b = self._after(left, right, a, b)
        moment = b.timed and b.grain != "daypart"
        end = b.start if moment else b.end
        if end is None or end <= a.start:
            return None
        timed = a.timed or b.timed
        grain = a.grain if timed else b.grain
        return Reading("range", Span(a.start, end, grain, timed), dated, a.fuzzy or b.fuzzy, grain)

    def _share(self, left: When, right: When) -> tuple[When, When]:
        if left.has("base") or right.has("base"):
            if (
                left.base is not None
                and not right.has("base", "month", "year", "weekday", "feast")
                and right.day is not None
            ):
                right = right.fill(left, ("base", "offset"))
            if (
                right.base is not None
                and not left.has("base", "month", "year", "weekday", "feast")
                and left.day is not None
            ):
                left = left.fill(right, ("base", "offset"))
            if left.base is not None and left.base.grain == "year" and right.month is not None and right.year is None:
                right = right.fill(left, ("base", "offset"))
            if (
                left.base is not None
                and left.base.grain == "week"
                and right.weekday is not None
                and not right.has("month", "base", "step")
            ):
                right = right.fill(left, ("base", "offset"))
            return left, right
        if left.day is not None and left.month is None and right.month is not None and right.day is not None:
            left = left.fill(right, ("month",))
        if right.day is not None and right.month is None and left.month is not None:
            right = right.fill(left, ("month",))
        if right.weekday is not None and left.step is not None and left.weekday is not None and right.step is None:
            right = replace(right, step=left.step)
        if left.year is not None and right.year is None and right.has("month"):
            candidate = replace(right, year=left.year)
            if (left.month or 1, left.day or 1) > (right.month or 12, right.day or 31):
                candidate = replace(candidate, year=left.year + 1)
            right = candidate
        elif right.year is not None and left.year is None and left.has("month"):
            candidate = replace(left, year=right.year)
            if (left.month or 1, left.day or 1) > (right.month or 12, right.day or 31):
                candidate = replace(candidate, year=right.year - 1)
            left = candidate
        return left, right

    def _after(self, left: When, right: When, a: Span, b: Span) -> Span:
        """The end moved to its first place after the beginning."""
        assert a.start is not None and b.start is not None
        if right.clock is not None and not (self._dated(right) and not self._dated(left)):
            if right.clock.half is None and right.part is None and right.clock.hour <= 12:
                later = replace(b, start=b.start + timedelta(hours=12), end=(b.end or b.start) + timedelta(hours=12))
                if later.start is not None and later.start > a.start:
                    return later
            return replace(b, start=b.start + DAY, end=(b.end or b.start) + DAY)
        tense_free = replace(right, year=None)
        if right.weekday is not None and not right.has("month", "day"):
            start = shift(midnight(a.start), (right.weekday - a.start.weekday()) % 7 or 7, "day")
            return unit_span(start, "day")
        if right.year is None or right.has("month", "feast"):
            return place(tense_free, a.start, "future")
        return b

    # --- open ends -----------------------------------------------------------------------------------------------

    def _open(self, i: int) -> tuple[Reading, int] | None:
        """ "before Friday", "since 2019", "周五之前", "2018 or later"."""
        kind = self._kind(i)
        amount = self._amount(i + 1) if kind == "after" else None
        if amount is not None and self._kind(amount[1]) not in ("from", "before", "after"):  # "after 5 days"
            when, j = self._offset(self._reference, amount[0], 1), amount[1]
            return Reading("range", replace(self._place(when), end=None), True, True, amount[0].unit), j
        if kind in ("before", "after", "since", "until", "from", "at_least", "at_most"):
            found = self._point(self._skip(i + 1, "the", "on", "in", "at", "approx", limit=2))
            if found is None or (kind == "from" and self._kind(found[1]) not in ("onwards", "since")):
                return None
            j = found[1] + (self._kind(found[1]) in ("onwards", "since"))
            if kind == "from":
                kind = "since"
        else:
            found = self._point(self._skip(i, "on", "in", "at", "the", limit=2))
            if found is None:
                return None
            kind = self._kind(found[1])
            j = found[1] + 1
            if kind not in ("postbefore", "postafter", "onwards", "or_later", "or_earlier", "ago", "later"):
                return None
        span = self._place(found[0])
        dated = self._dated(found[0])
        if kind in ("before", "postbefore", "ago"):
            opened = replace(span, start=None, end=span.start)
        elif kind in ("until", "at_most", "or_earlier"):
            opened = replace(span, start=None, end=span.start if span.timed else span.end)
        elif kind in ("after", "postafter", "later"):
            opened = replace(span, start=span.start if span.timed else span.end, end=None)
        else:
            opened = replace(span, end=None)
        return Reading("range", opened, dated, span.fuzzy, span.grain), j

    # --- sets ----------------------------------------------------------------------------------------------------

    def _set(self, i: int) -> tuple[Reading, int] | None:
        """ "every Monday at 9", "每周一", "9am every day", "daily"."""
        j = i
        if self._kind(j) == "when" or self._kind(j) in ("at", "on"):
            clock = self._point(self._skip(j, "at", "on", limit=1))
            if clock is None or self._dated(clock[0]):
                return None
            j = self._skip(clock[1], "comma", "on", limit=1)
            if self._kind(j) not in ("every", "set", "weekdays"):
                return None
        elif self._kind(j) in ("ord", "num") and self._kind(j + 1) == "of" and self._kind(j + 2) == "every":
            j += 2
        if self._kind(j) in ("set", "weekdays"):
            grain, j = self._value(j) if self._kind(j) == "set" else "week", j + 1
        elif self._kind(j) == "every":
            j = self._skip(j + 1, "other", "num", "ord", limit=2)
            if self._kind(j) == "unit":
                grain, j = self._value(j), j + 1
            elif self._kind(j) == "dur":
                grain, j = self._value(j).unit, j + 1
            elif self._kind(j) == "when":
                when: When = self._value(j)
                grain = (
                    "week" if when.weekday is not None else "year" if when.has("month", "feast", "season") else "day"
                )
                j += 1
            else:
                return None
        else:
            return None
        for _ in range(3):
            k = self._skip(j, "at", "on", "in", "the", "approx", "glue", limit=2)
            more = self._part(k, 0) if self._kind(k) in ("when", "the") else None
            if more is None or more[0].has("year", "base"):
                break
            j = more[1]
        return Reading("set", None, False, False, grain), j


def _floats(when: When) -> bool:
    """A month or a day without a year."""
    return when.month is not None and not when.has("year", "base", "step")


def _is_now(when: When) -> bool:
    return when.base is not None and when.base.grain == "second" and not when.offset


def _share_half(left: When, right: When) -> tuple[When, When]:
    """ "5 to 6pm" begins at five in the afternoon, "11 to 3pm" in the morning."""
    a, b = left.clock, right.clock
    assert a is not None and b is not None
    half = b.half or (PARTS[right.part][2] if right.part else None)
    if a.half is None and left.part is None and not a.exact and a.hour <= 12 and half in ("am", "pm"):
        end = hour_of(b, right.part) * 60 + (b.minute or 0)
        start = hour_of(replace(a, half=half), None) * 60 + (a.minute or 0)
        other = "am" if half == "pm" else "pm"
        left = replace(left, clock=replace(a, half=half if start < end else other))
    return left, right


def _cut(start: datetime, end: datetime, share: float) -> datetime:
    """A whole day at `share` of the way."""
    return start + round((end - start).days * share) * DAY
