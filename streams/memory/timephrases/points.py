"""Points: descriptions of one time, put together from parts.

    point = part { [glue] part }      "next week" "on" "Tuesday" "at" "9 am"
    part  = When | shift unit | edge point | ordinal unit "of" point | duration (ago | later | from point) | ...

Neighbours unite as long as they do not contradict each other, so word order needs no rules of its own. Every method
takes a token index and returns what it read with the index behind it, or `None`.
"""

from dataclasses import replace

from streams.memory.timephrases.calendar import (
    CLOCK_UNITS,
    LENGTH,
    OutOfCalendar,
    Span,
    day,
    iso_week,
    midnight,
    nth_unit,
    shift,
    unit_span,
)
from streams.memory.timephrases.cursor import MAX_DEPTH, MAX_PARTS, Cursor, has_day
from streams.memory.timephrases.edges import TENS, edge_of, few, nth_of, post_edge, weekend_around
from streams.memory.timephrases.fit import fits
from streams.memory.timephrases.tokens import Clock, Duration, When

# What may follow a number that counts nothing.
NOT_COUNTED = frozenset({"end", "stop", "comma", "glue", "at", "approx", "when", "to"})


class Points(Cursor):
    """Reads single points in time."""

    def point(self, i: int, depth: int = 0) -> tuple[When, int] | None:
        if depth > MAX_DEPTH:
            return None
        key = (i, depth)
        if key not in self.memo:
            self.memo[key] = None
            try:
                found = self.part(i, depth)
                self.memo[key] = found and self.extend(*found, depth=depth)
            except OutOfCalendar:
                pass
        return self.memo[key]

    def extend(self, when: When, j: int, depth: int = 0) -> tuple[When, int]:
        """Unite with what follows for as long as it adds to the description."""
        for _ in range(MAX_PARTS):
            found = self.postfix(when, j, depth) or self.next(when, j, depth)
            if found is None:
                break
            when, j = found
        return when, j

    def next(self, when: When, j: int, depth: int) -> tuple[When, int] | None:
        """The next part, over at most three words of glue, if it fits to what was said."""
        last = self.skip(j, "comma", "on", "in", "at", "of", "the", "glue", "approx", "for", limit=3)
        for k in range(j, last + 1):
            try:
                part = self.part(k, depth, follows=when)
            except OutOfCalendar:
                continue
            part = part or self.loose_number(when, j, k)
            if part is not None and fits(when, part[0]):
                both = when.unite(part[0])
                if both is not None:
                    return both, part[1]
        return None

    def postfix(self, when: When, j: int, depth: int) -> tuple[When, int] | None:
        """What Chinese puts behind: 三月底, 九月下旬, 十月的第一个星期一, 今年前三季度."""
        k = self.skip(j, "glue", limit=1)
        kind = self.kind(k)
        if kind == "unit" and self.value(k) == "weekend" and when.feast is not None:
            return When(base=weekend_around(self.place(when))), k + 1
        if kind == "nthday" and self.value(k):
            span = self.place(when)
            if span.grain == "day" and span.start is not None and when.feast is not None:  # 国庆第三天
                return When(base=unit_span(shift(span.start, self.value(k) - 1, "day"), "day")), k + 1
            if span.grain != "day":
                return When(base=nth_of(span, "day", self.value(k))), k + 1
        if kind == "edgeword":
            unit, edge = self.value(k)
            span = self.place(when)
            return (When(base=post_edge(edge, span, self.reference)), k + 1) if span.grain == unit else None
        if kind == "shift" and self.kind(k + 1) == "dur" and abs(self.value(k)) == 1 and k == j:
            return self.around_or_inside(when, self.value(k), k + 1)
        if kind == "when" and when.base is not None and self.value(k) == When(base=unit_span(self.reference, "day")):
            if when.offset:  # 三年前的今天
                return when, k + 1
            if when.base.grain == "year" and when.base.start is not None:  # 去年的今天
                years = when.base.start.year - self.reference.year
                return When(base=unit_span(shift(self.reference, years, "year"), "day")), k + 1
        if kind == "postedge" and k == j:
            span = self.place(when)
            return When(base=post_edge(self.value(k), span, self.reference)), k + 1
        if kind == "nth" and not when.has("clock", "part", "month"):
            n, unit = self.value(k)
            return When(base=nth_of(self.place(when), unit, n)), k + 1
        if kind == "postord":
            n, unit = self.value(k)
            if unit is None and self.kind(k + 1) == "when":  # 第一个星期一
                unit, k = self.value(k + 1).weekday, k + 1
            if unit is None:
                return None
            return When(base=nth_of(self.place(when), unit, n, monday=True)), k + 1
        if kind == "firstlast":
            sign, count, unit = self.value(k)
            return When(base=few(self.place(when), sign, count, unit)), k + 1
        return None

    def around_or_inside(self, when: When, sign: int, k: int) -> tuple[When, int] | None:
        """国庆前两天 lies before the feast, 这个月前两天 at the beginning of the month."""
        span, amount = self.place(when), self.value(k)
        if span.start is None or len(amount.parts) != 1:
            return None
        if span.grain == "day" and when.has("feast", "day", "weekday"):
            return self.offset(span.start, amount, sign), k + 1
        if LENGTH[span.grain] <= LENGTH["day"]:
            return None
        return When(base=few(span, -sign, *amount.parts[0])), k + 1

    def part(self, i: int, depth: int, follows: When | None = None) -> tuple[When, int] | None:
        match self.kind(i):
            case "when" if self.kind(i + 1) in ("after", "before") and self.value(i) == When(
                weekday=self.value(i).weekday
            ):
                return self.weekday_beside(i, 1, depth) or self.after_next(self.value(i), i + 1)
            case "when":
                return self.after_next(self.value(i), i + 1)
            case "loose" if follows is not None:  # forms that are a date or a time only next to another
                return self.value(i), i + 1
            case "zone" if follows is None or follows.clock is not None:
                return (When(zone=self.value(i)), i + 1) if follows is not None else self.zoned(i, depth)
            case "the":
                return self.the(i, depth)
            case "shift":
                return self.last_of(i, depth) or self.shifted(i, depth)
            case "closest":
                return self.closest(i)
            case "unit":
                found = self.numbered_unit(i) or self.unit_after(i, depth)
                if found is None and self.value(i) == "weekend":
                    return When(base=unit_span(self.reference, "weekend")), i + 1
                return found
            case "nthday" if self.value(i) and self.value(i) > 1:  # 第二天: counted from the day that was spoken of
                span = unit_span(self.reference, "day", self.value(i) - 1)
                return When(base=span, follows=True if self.value(i) == 2 else None), i + 1
            case "edgeword":  # 年底
                unit, edge = self.value(i)
                return When(base=post_edge(edge, unit_span(self.reference, unit), self.reference)), i + 1
            case "postedge" if self.value(i) in TENS and follows is None:  # 中旬
                return When(base=post_edge(self.value(i), unit_span(self.reference, "month"), self.reference)), i + 1
            case "edge":
                return self.edge(i, depth)
            case "weekof":
                return self.week_of(i, depth)
            case "ord" | "num":
                return self.hour_in_part(i) or self.weekdays_away(i) or self.nth(i, depth)
            case "nth":
                n, unit = self.value(i)
                return When(base=nth_unit(unit_span(self.reference, "year"), unit, n)), i + 1
            case "in":
                return self.ahead(i)
            case "dur":
                return self.counted_point(i, depth)
        return None

    def weekday_beside(self, i: int, n: int, depth: int) -> tuple[When, int] | None:
        """Reads "the Friday after Thanksgiving", "third Tuesday before Christmas"."""
        found = self.point(self.skip(i + 2, "the"), depth + 1)
        if found is None or found[0].has("clock", "part"):
            return None
        span, weekday = self.place(found[0]), self.value(i).weekday
        if span.start is None or span.end is None:
            return None
        if self.kind(i + 1) == "after":
            days = (weekday - span.end.weekday()) % 7 + 7 * (n - 1)
            return When(base=unit_span(shift(span.end, days, "day"), "day")), found[1]
        days = ((span.start.weekday() - weekday) % 7 or 7) + 7 * (n - 1)
        return When(base=unit_span(shift(span.start, -days, "day"), "day")), found[1]

    def zoned(self, i: int, depth: int) -> tuple[When, int] | None:
        """Reads 北京时间晚上八点."""
        found = self.point(i + 1, depth + 1)
        if found is None or found[0].clock is None or found[0].zone is not None:
            return None
        return replace(found[0], zone=self.value(i)), found[1]

    def after_next(self, when: When, j: int) -> tuple[When, int]:
        """The description, and what follows makes of it: "March after next", "the Friday before last"."""
        if self.kind(j) != "ordafter":
            return when, j
        steps: int = self.value(j)
        if when.weekday is None or when.month is not None:
            return replace(when, step=steps), j + 1
        here = midnight(self.reference)
        ahead = (when.weekday - here.weekday()) % 7
        days = (ahead or 7) + 7 if steps > 0 else ahead - 14
        return When(base=unit_span(shift(here, days, "day"), "day")), j + 1

    def the(self, i: int, depth: int) -> tuple[When, int] | None:
        j = i + 1
        if self.kind(j) == "unit":
            found = self.numbered_unit(j) or self.unit_after(j, depth)
            if found:
                return found
            if self.value(j) in ("week", "month", "year", "quarter", "weekend", "half", "decade"):
                return When(base=unit_span(self.reference, self.value(j))), j + 1
            return None
        if self.kind(j) in ("when", "shift", "closest", "edge", "ord", "closest", "dur", "num"):
            return self.part(j, depth)
        return None

    def unit_after(self, i: int, depth: int) -> tuple[When, int] | None:
        """Reads "month after next", "week before last", "week of April 10th", "day before"."""
        unit = self.value(i)
        j = i + 1
        if self.kind(j) == "ordafter":
            return When(base=unit_span(self.reference, unit, self.value(j))), j + 1
        if self.kind(j) in ("of", "beginning", "since", "from"):
            found = self.point(self.skip(j, "of", "beginning", "since", "from", "on", "in", "the", limit=4), depth + 1)
            if found is None and self.kind(j) == "of":
                k = self.skip(j + 1, "the")
                if self.kind(k) in ("ord", "num") and 1 <= self.value(k) <= 31:
                    found = When(day=int(self.value(k))), k + 1
            if found and self.place(found[0]).grain == unit:  # the month of May
                return found
            if found and LENGTH[unit] > LENGTH["day"]:
                start = self.place(found[0]).start
                if start is not None and self.place(found[0]).grain == "day":
                    if unit == "weekend" and start.weekday() < 2:  # the weekend of a Monday is the one before it
                        start = shift(start, -start.weekday() - 1, "day")
                    return When(base=unit_span(start, unit)), found[1]
        if (
            unit in ("day", "minute", "hour")
            and self.kind(j) in ("before", "after")
            and self.tokens[i - 1].kind == "the"
        ):
            sign = -1 if self.kind(j) == "before" else 1
            found = self.point(j + 1, depth + 1)
            if found:
                start = self.place(found[0]).start
                if start is not None:
                    return When(base=unit_span(shift(start, sign, unit), unit)), found[1]
            if self.kind(j + 1) in ("end", "stop"):
                return When(base=unit_span(shift(self.reference, sign, unit), unit)), j + 1
        return None

    def week_of(self, i: int, depth: int) -> tuple[When, int] | None:
        found = self.point(self.skip(i + 1, "the", limit=1), depth + 1)
        start = found and self.place(found[0]).start
        return (When(base=unit_span(start, "week")), found[1]) if found and start else None

    def numbered_unit(self, i: int) -> tuple[When, int] | None:
        """Reads "week 10", "quarter 3"."""
        if self.value(i) == "week" and self.kind(i + 1) == "num" and 1 <= self.value(i + 1) <= 53:
            week = int(self.value(i + 1))
            k = self.skip(i + 2, "of", "in", "comma", "the", limit=2)
            if self.kind(k) in ("when", "loose") and self.value(k) == When(year=self.value(k).year):
                return When(base=iso_week(self.value(k).year, week)), k + 1
            return When(base=iso_week(self.reference.year, week)), i + 2
        return None

    def closest(self, i: int) -> tuple[When, int] | None:
        """Reads "this coming Sunday", "this past Friday"; "coming week" is the next one."""
        when, step = (self.value(i + 1), self.value(i)) if self.kind(i + 1) == "when" else (None, 0)
        if when is None or when != When(weekday=when.weekday):
            return self.shifted(i, 0)
        here = midnight(self.reference)
        ahead = (when.weekday - here.weekday()) % 7
        days = (ahead or 7) if step > 0 else ahead - 7
        return When(base=unit_span(shift(here, days, "day"), "day")), i + 2

    def shifted(self, i: int, depth: int) -> tuple[When, int] | None:
        """Reads "next week", "last Friday", "this March", "上上周末", "next Christmas"."""
        step = self.value(i)
        j = i + 1
        ref = self.reference
        if self.kind(j) == "edgeword":  # 下月初
            unit, edge = self.value(j)
            return When(base=post_edge(edge, unit_span(ref, unit, step), ref)), j + 1
        if self.kind(j) == "unit" or (self.kind(j) == "units" and self.value(j) == "season"):
            unit = self.value(j)
            return When(base=unit_span(ref, unit, step), offset=None), j + 1
        if self.kind(j) == "when":
            when: When = self.value(j)
            if when.part is not None and when == When(part=when.part):
                return When(base=unit_span(ref, "day", step), part=when.part), j + 1
            if when.has("weekday") and not when.has("month", "base"):
                return replace(when, step=step), j + 1
            if when.has("month", "feast", "season") and not when.has("year", "base"):
                return replace(when, step=step), j + 1
        return None

    def edge(self, i: int, depth: int) -> tuple[When, int] | None:
        """Reads "end of March", "early next week", "the beginning of 2017", "rest of the week"."""
        edge = self.value(i)
        k = self.skip(i + 1, "of", "the", "in", "approx", "my", limit=3)
        found = self.point(k, depth + 1)
        if found is None and self.kind(k) == "unit":
            found = When(base=unit_span(self.reference, self.value(k))), k + 1
        if found is None:
            return None
        return When(base=edge_of(edge, self.place(found[0]), self.reference)), found[1]

    def nth(self, i: int, depth: int) -> tuple[When, int] | None:
        """Reads "first Monday of last month", "last day of October", "third quarter", "20th of next month"."""
        if self.kind(i) == "shift":
            n, j = -1, i + 1
        else:
            n, j = self.value(i), i + 1
            if n != int(n) or not 0 < n < 400:
                return None
            n = int(n)
            if self.kind(i) == "ord" and self.kind(j) == "shift" and self.value(j) == -1:
                n, j = -n, j + 1
        if self.kind(j) == "dur" and abs(n) == 1:
            return self.first_or_last_few(n, j, depth)
        if self.kind(j) == "unit" and self.value(j) == "century" and 0 < n < 31:
            return When(base=Span(day(n * 100 - 99, 1, 1), day(n * 100 + 1, 1, 1), "century")), j + 1
        if self.kind(j) == "unit":
            unit = self.value(j)
        elif (
            self.kind(j) == "when"
            and self.value(j).weekday is not None
            and self.value(j) == When(weekday=self.value(j).weekday)
        ):
            unit = self.value(j).weekday
            if self.kind(j + 1) in ("after", "before") and n > 0:
                return self.weekday_beside(j, n, depth)
        elif self.kind(j) in ("of", "shift"):
            found = self.point(self.skip(j, "of", "the"), depth + 1)
            if found and found[0].base is not None and found[0].base.grain == "month" and 1 <= n <= 31:
                return found[0].unite(When(day=n)) or When(day=n), found[1]
            return None
        else:
            return None
        if self.kind(i) == "num":
            return None
        k = self.skip(j + 1, "of", "in", "the", "glue", limit=3)
        if self.kind(k) == "loose" and self.value(k).year is not None and isinstance(unit, str):
            return When(base=nth_of(self.place(self.value(k)), unit, n)), k + 1
        close = k > j + 1 or (self.kind(i) == "ord" and self.kind(k) in ("when", "shift"))
        found = self.point(k, depth + 1) if close else None
        if found is None and isinstance(unit, int) and self.kind(i) == "ord":
            return When(base=nth_of(unit_span(self.reference, "month"), unit, n)), j + 1
        if found is None and unit in ("quarter", "half") and n > 0:
            return When(base=nth_unit(unit_span(self.reference, "year"), str(unit), n)), j + 1
        if found is None:
            return None
        return When(base=nth_of(self.place(found[0]), unit, n)), found[1]

    def first_or_last_few(self, sign: int, j: int, depth: int) -> tuple[When, int] | None:
        """Reads "the first 2 weeks of 2021", "last three days of May"."""
        amount: Duration = self.value(j)
        count, unit = amount.parts[0]
        if self.kind(j + 1) not in ("of", "in"):
            return None
        found = self.point(self.skip(j + 1, "of", "in", "the", limit=2), depth + 1)
        return found and (When(base=few(self.place(found[0]), sign, count, unit)), found[1])

    def last_of(self, i: int, depth: int) -> tuple[When, int] | None:
        """Reads "last Friday of October", which is no last Friday."""
        try:
            return self.nth(i, depth) if self.value(i) == -1 else None
        except OutOfCalendar:
            return None

    def hour_in_part(self, i: int) -> tuple[When, int] | None:
        """Reads "3 in the morning", "12 lunchtime"."""
        k = self.skip(i + 1, "in", "at", "the", limit=2)
        n = self.value(i)
        if self.kind(i) == "num" and self.kind(k) == "when" and 0 < n <= 12 and n == int(n):
            part: When = self.value(k)
            if part == When(part=part.part) and (k > i + 1 or part.part == "lunch"):
                return When(clock=Clock(int(n)), part=part.part), k + 1
        if self.kind(i) == "num" and self.kind(k) == "loose" and 0 < n <= 12 and self.value(k).part:
            return When(clock=Clock(int(n)), part=self.value(k).part), k + 1  # 3 in the AM
        if self.kind(i) == "num" and 0 < n <= 12 and n == int(n):
            # "eight tonight", "9 tomorrow evening"; a bare "9 tomorrow" only where nothing comes before
            k = self.skip(i + 1, "comma", limit=1)
            if self.kind(k) in ("when", "shift"):
                day = self.part(k, MAX_DEPTH)
                if day is not None:
                    day = self.extend(*day, depth=MAX_DEPTH)
                    when = day[0]
                    opening = i == 0 or self.kind(i - 1) in ("at", "from", "between", "to", "approx", "comma")
                    today = when.base is not None and when.base.grain == "day" and not when.offset
                    if when.clock is None and today and (when.part or (opening and k == i + 1)):
                        return replace(when, clock=Clock(int(n))), day[1]
        return None

    def weekdays_away(self, i: int) -> tuple[When, int] | None:
        """Reads "4 Tuesdays from now", "2 Thursdays ago"."""
        if self.kind(i + 1) != "weekdays" or self.kind(i + 2) not in ("ago", "later"):
            return None
        n, weekday = int(self.value(i)), self.value(i + 1)
        here = midnight(self.reference)
        if self.kind(i + 2) == "later":
            days = ((weekday - here.weekday()) % 7 or 7) + 7 * (n - 1)
        else:
            days = -((here.weekday() - weekday) % 7 or 7) - 7 * (n - 1)
        return When(base=unit_span(shift(here, days, "day"), "day")), i + 3

    def number_alone(self, i: int, before: str, earlier: str) -> tuple[When, int] | None:
        """Reads "at 7", "on the 27th", "on 15": only where nothing follows that the number could count."""
        if self.kind(i) not in ("num", "ord") or self.kind(i + 1) not in NOT_COUNTED:
            return None
        n = self.value(i)
        if before == "at" and self.kind(i) == "num" and n == int(n) and 1 <= n <= 24:
            return self.extend(When(clock=Clock(int(n))), i + 1)
        if before == "on" and self.kind(i) == "num" and 1 <= n <= 31 and self.kind(i + 1) in ("at", "when"):
            found = self.extend(When(day=int(n)), i + 1)
            if found[0].clock is not None:
                return found
        if before == "the" and self.kind(i) == "ord" and i == 1 and self.kind(i + 1) == "end" and n <= 31:
            return When(day=int(n)), i + 1
        if (
            before in ("on", "the")
            and n == int(n)
            and 1 <= n <= 31
            and ((self.kind(i) == "ord" and (earlier == "on" or n > 3)) or (before == "the" and n > 12))
        ):
            return self.extend(When(day=int(n)), i + 1)
        return None

    def loose_number(self, when: When, j: int, k: int) -> tuple[When, int] | None:
        """Reads "this morning at 7", "tonight around 7", "7, this morning", "8pm on the 15th"."""
        if self.kind(k) not in ("num", "ord"):
            return None
        n = self.value(k)
        glue = {self.kind(x) for x in range(j, k)}
        if n != int(n) or self.kind(k + 1) in ("unit", "word"):
            return None
        if (
            self.kind(k) == "num"
            and when.clock is None
            and glue & {"at", "approx", "for"}
            and 0 < n <= 24
            and (when.part or when.base or when.has("weekday", "day"))
        ):
            return When(clock=Clock(int(n))), k + 1
        if glue & {"on"} and when.clock is not None and not has_day(when) and 1 <= n <= 31:
            return When(day=int(n)), k + 1
        if (
            when.weekday is not None
            and not when.has("day", "month", "base", "step")
            and 1 <= n <= 31
            and glue <= {"the"}
        ):
            closed = self.kind(k + 1) in ("end", "stop")
            if self.kind(k) == "ord" or (closed and ("the" in glue or n > 12)):
                return When(day=int(n)), k + 1
        return None

    def ahead(self, i: int) -> tuple[When, int] | None:
        """Reads "in two weeks", "in 1d, 2hr and 5min"."""
        if self.value(i) in ("over", "during"):
            return None
        found = self.amount(self.skip(i + 1, "approx", "the", limit=1))
        if found is None:
            return None
        amount, j = found
        if self.kind(j) in ("ago", "later", "from"):
            return None
        return self.offset(self.reference, amount, 1), j

    def counted_point(self, i: int, depth: int) -> tuple[When, int] | None:
        """Reads "3 days ago", "two weeks after next Friday", "三天前", "4 tuesdays from now"."""
        found = self.amount(i)
        if found is None:
            return None
        amount, j = found
        kind = self.kind(j)
        if kind in ("ago", "later") or (kind in ("before", "after") and self.kind(j + 1) in ("end", "stop")):
            return self.offset(self.reference, amount, -1 if kind in ("ago", "before") else 1), j + 1
        if kind in ("from", "after", "before", "since"):
            sign = -1 if kind == "before" else 1
            origin = self.point(self.skip(j + 1, "the", limit=1), depth + 1)
            if origin is None:
                return None
            start = self.place(origin[0]).start
            if start is None:
                return None
            if amount.unit in CLOCK_UNITS and not self.place(origin[0]).timed:
                return None
            return self.offset(start, amount, sign), origin[1]
        return None
