"""Stretches with one point or none: open ends, counted from the reference, lasting, recurring.

open    = (before | after | since | until) point | point (before | after) | point "or later"
counted = next 3 days | within 2 weeks | 过去两年
lasting = point "for" duration | "for" duration "from" point
set     = every unit [point] | point every unit
"""

from dataclasses import replace

from streams.memory.timephrases.calendar import CLOCK_UNITS, DAY, Span, midnight, shift
from streams.memory.timephrases.cursor import Reading, has_day
from streams.memory.timephrases.fit import fits
from streams.memory.timephrases.points import Points
from streams.memory.timephrases.tokens import Duration, When

OPENING = frozenset({"before", "after", "since", "until", "from", "at_least", "at_most"})


class Stretches(Points):
    """Reads open, counted, lasting and recurring times."""

    def open_ended(self, i: int) -> tuple[Reading, int] | None:
        """Reads "before Friday", "since 2019", "after 5 days", "today after 2pm", 周五之前, "2018 or later"."""
        return self.opened_before(i) or self.opened_behind(i)

    def opened_before(self, i: int) -> tuple[Reading, int] | None:
        """The word that opens stands before the point, perhaps with the day before both."""
        day: When | None = None
        j = i
        if self.kind(i) not in OPENING:
            head = self.point(self.skip(i, "on", "the", limit=2))
            if head is None or head[0].has("clock", "part") or self.kind(head[1]) not in OPENING - {"from"}:
                return None
            day, j = head
        kind = self.kind(j)
        amount = self.amount(j + 1) if kind == "after" and day is None else None
        if amount is not None and self.kind(amount[1]) not in ("from", "before", "after"):
            when, end = self.offset(self.reference, amount[0], 1), amount[1]
            return Reading("range", replace(self.place(when), end=None), True, True, amount[0].unit), end
        found = self.point(self.skip(j + 1, "the", "on", "in", "at", "approx", limit=2))
        if found is None:
            return None
        when, end = found
        if day is not None:
            both = day.unite(when)
            if both is None or has_day(when) or when.clock is None or not fits(day, when):
                return None
            when = both
        closed = self.kind(end) in ("onwards", "since", "closing")
        if kind == "from" and not (closed or self.value(j).startswith(("start", "beginning"))):
            return None
        return self.opened(when, kind), end + closed

    def opened_behind(self, i: int) -> tuple[Reading, int] | None:
        found = self.point(self.skip(i, "on", "in", "at", "the", limit=2))
        if found is None:
            return None
        when, j = found
        kind = self.kind(j)
        if kind in ("onwards", "or_later", "or_earlier") or (kind in ("ago", "later") and not self.value(j).isascii()):
            return self.opened(when, kind), j + 1
        return None

    def opened(self, when: When, kind: str) -> Reading:
        span = self.place(when)
        moment = span.timed and span.grain in CLOCK_UNITS
        if kind in ("before", "ago"):
            side = replace(span, start=None, end=span.start)
        elif kind in ("until", "at_most", "or_earlier"):
            side = replace(span, start=None, end=span.start if moment else span.end)
        elif kind in ("after", "later"):
            side = replace(span, start=span.start if moment else span.end, end=None)
        else:
            side = replace(span, end=None)
        return Reading("range", side, has_day(when), span.fuzzy, span.grain)

    def counted(self, i: int) -> tuple[Reading, int] | None:
        """Stretches counted from the reference: "past 3 days", "within two weeks", "coming weeks", 3天内, 近两年."""
        j = self.skip(i, "in", "the", "on", "within", limit=4)
        within = any(self.kind(k) == "within" for k in range(i, j))
        step: int | None = None
        if self.kind(j) == "num" and self.kind(j + 1) in ("shift", "closest") and self.kind(j + 2) == "units":
            amount = Duration(((self.value(j), self.value(j + 2)),))  # "5 past years"
            return self.stretch(amount, self.value(j + 1), within), j + 3
        if self.kind(j) in ("shift", "closest"):
            step, j = self.value(j), j + 1
            if self.kind(j) == "units" and step and self.value(j) in ("day", "week", "month", "year"):
                return self.stretch(Duration(((3, self.value(j)),), fuzzy=True), step, within), j + 1
        found = self.amount(self.skip(j, "approx", limit=1))
        if found is None:
            return None
        amount, j = found
        if step is None and not within:
            return (self.stretch(amount, None, True), j + 1) if self.kind(j) == "inside" else None
        if self.kind(j) in ("ago", "later", "before", "after", "from"):
            return None
        if step == 0 and amount.unit in CLOCK_UNITS:
            return None
        return self.stretch(amount, step, within), j + (self.kind(j) == "inside")

    def stretch(self, amount: Duration, step: int | None, within: bool) -> Reading:
        """From the reference forward (`step` 1 or none), back (-1) or both ways (0). "Next 3 days" begins tomorrow."""
        ahead = back = self.reference
        for number, unit in amount.parts:
            ahead, back = shift(ahead, number, unit), shift(back, -number, unit)
        a = self.reference if step is None or step > 0 else back
        b = self.reference if step is not None and step < 0 else ahead
        timed = amount.unit in CLOCK_UNITS
        if not timed:
            later = DAY if step is not None and step > 0 and not within else 0 * DAY
            a, b = midnight(a) + later, midnight(b) + (later if b == self.reference or later else DAY)
            if step is not None and step < 0:
                b = midnight(self.reference)
        return Reading("range", Span(a, b, amount.unit, timed), True, amount.fuzzy or step == 0, amount.unit)

    def lasting(self, i: int) -> tuple[Reading, int] | None:
        """Reads "from 4pm for thirty minutes", "for 2 hours from 2pm"."""
        j = self.skip(i, "from", "for", limit=1)
        if self.kind(j) == "dur":
            found = self.amount(j)
            if found is None:
                return None
            amount, k = found
            k = self.skip(k, "comma", limit=1)
            starting = self.kind(k) in ("beginning", "since") or (
                self.kind(k) == "from" and (self.kind(i) == "for" or self.value(k).startswith("start"))
            )
            if not starting:
                return None
            point = self.point(self.skip(k, "from", "beginning", "since", "the", "at", limit=3))
            if point is None:
                return None
            when, end = point
        else:
            point = self.point(self.skip(j, "on", "at", limit=1))
            if point is None:
                return None
            when, k = point
            if self.kind(k) == "from" and when.clock is None:
                more = self.point(k + 1)
                both = more and when.unite(more[0])
                if not more or not both:
                    return None
                when, k = both, more[1]
            if self.kind(k) != "for":
                return None
            found = self.amount(k + 1)
            if found is None:
                return None
            amount, end = found
        start = self.place(when).start
        if start is None:
            return None
        if when.clock is None:
            if amount.unit in CLOCK_UNITS or self.kind(j) != "dur":
                return None
            for number, unit in amount.parts:
                stop_at = shift(start, number, unit)
            return Reading("range", Span(start, stop_at, amount.unit), True, amount.fuzzy, amount.unit), end
        stop = self.offset(start, amount, 1).base
        if stop is None or stop.start is None:
            return None
        stop_at = stop.start if amount.unit in CLOCK_UNITS else shift(start, amount.parts[0][0], amount.unit)
        return Reading("range", Span(start, stop_at, "minute", True), has_day(when), amount.fuzzy, "minute"), end

    def duration(self, i: int) -> tuple[Reading, int] | None:
        j = self.skip(i, "for", limit=1)
        found = self.amount(j)
        if found is None:
            return None
        return Reading("duration", None, False, found[0].fuzzy, found[0].unit), found[1]

    def recurring(self, i: int) -> tuple[Reading, int] | None:
        """Reads "every Monday at 9", "每周一", "9am every day", "daily"."""
        j = i
        if self.kind(j) == "when" or self.kind(j) in ("at", "on"):
            clock = self.point(self.skip(j, "at", "on", limit=1))
            if clock is None or has_day(clock[0]):
                return None
            j = self.skip(clock[1], "comma", "on", limit=1)
            if self.kind(j) not in ("every", "set", "weekdays"):
                return None
        elif self.kind(j) in ("ord", "num") and self.kind(j + 1) == "of" and self.kind(j + 2) == "every":
            j += 2
        if self.kind(j) in ("set", "weekdays"):
            grain, j = self.value(j) if self.kind(j) == "set" else "week", j + 1
        elif self.kind(j) == "every":
            j = self.skip(j + 1, "other", "num", "ord", "shift", limit=2)
            if self.kind(j) == "unit":
                grain, j = self.value(j), j + 1
            elif self.kind(j) == "dur":
                grain, j = self.value(j).unit, j + 1
            elif self.kind(j) == "when":
                when: When = self.value(j)
                grain = (
                    "week" if when.weekday is not None else "year" if when.has("month", "feast", "season") else "day"
                )
                j += 1
            else:
                return None
        else:
            return None
        if self.kind(j) == "of" and self.kind(j + 2) == "unit":  # every last Friday of the month
            grain, j = self.value(j + 2), j + 3
        for _ in range(3):
            k = self.skip(j, "at", "on", "in", "the", "approx", "glue", limit=2)
            if self.kind(k - 1) == "at" and self.kind(k) == "num" and 0 < self.value(k) <= 24:
                j = k + 1
                break
            more = self.part(k, 0) if self.kind(k) in ("when", "the") else None
            if more is None or more[0].has("year", "base"):
                break
            j = more[1]
        return Reading("set", None, False, False, grain), j
