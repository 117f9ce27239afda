"""Ranges of two points: from Monday to Wednesday, 3-5pm, between May and July, 3月1号到5号.

range = [from | between] point (to | and) point
"""

from dataclasses import replace
from datetime import timedelta

from streams.memory.timephrases.calendar import DAY, OutOfCalendar, Span, midnight, shift, unit_span
from streams.memory.timephrases.cursor import Reading, has_day
from streams.memory.timephrases.fit import fits
from streams.memory.timephrases.place import place
from streams.memory.timephrases.points import Points
from streams.memory.timephrases.sides import floats, is_now, like, share, share_half
from streams.memory.timephrases.tokens import DATE_FIELDS, Clock, When


class Ranges(Points):
    """Reads ranges."""

    def ranged(self, i: int) -> tuple[Reading, int] | None:
        """Two points with "to" or "and"; each side lends the other what it left out."""
        lead, j = None, i
        before: When | None = None
        if self.kind(j) not in ("from", "between"):
            # "Monday between 3 and 5", "tomorrow from 10 to 12", "Monday 8 to 9"
            head = self.point(self.skip(j, "on", "in", "the", limit=2))
            if head is not None:
                k = self.skip(head[1], "comma", "at", limit=1)
                if self.kind(k) in ("from", "between", "num"):
                    before, j = head[0], k
        if self.kind(j) in ("from", "between"):
            lead, j = self.kind(j), j + 1
        j = self.skip(j, "the", "at", "on", "in", "approx", limit=2)
        best: tuple[Reading, int] | None = None
        for left, k in self.sides(j):
            joined = self.kind(k)
            if joined not in ("to", "until", "and"):
                continue
            k = self.skip(k + 1, "the", "at", "on", "approx", limit=2)
            for right, end in self.sides(k):
                amid = self.kind(end) == "amid"
                if joined == "and" and lead != "between" and not amid:
                    continue
                try:
                    found = self.between(left, right, before, lead, end)
                except OutOfCalendar:
                    continue
                end += amid or self.kind(end) in ("inside", "closing")
                if found is not None and (best is None or end > best[1]):
                    best = found, end
        return best

    def sides(self, i: int) -> list[tuple[When | int, int]]:
        """Readings of one side: a point, or a bare number that takes its meaning from the other side."""
        sides: list[tuple[When | int, int]] = []
        if self.kind(i) == "loose" and self.value(i).clock is not None:
            sides.append(self.extend(self.value(i), i + 1))
        for found in (self.point(i), self.safe_part(i)):
            if found is not None:
                sides.append(found)
        if self.kind(i) in ("num", "ord") and self.value(i) == int(self.value(i)):
            number = int(self.value(i))
            if 1 <= number <= 31:
                day_tail = self.extend(When(day=number), i + 1)
                base = day_tail[0].base
                if day_tail[0].has("month", "year") or (base is not None and base.grain in ("month", "year")):
                    sides.append(day_tail)
            if self.kind(i) == "num" and number <= 24:
                hour_tail = self.extend(When(clock=Clock(number)), i + 1)
                if hour_tail[0].has(*DATE_FIELDS, "part"):
                    sides.append(hour_tail)
            if self.kind(i) == "num":
                sides.append((number, i + 1))
            elif 1 <= number <= 31:
                sides.append((When(day=number), i + 1))
        return sides

    def safe_part(self, i: int) -> tuple[When, int] | None:
        try:
            return self.part(i, 0)
        except OutOfCalendar:
            return None

    def between(
        self, left: When | int, right: When | int, before: When | None, lead: str | None, end: int
    ) -> Reading | None:
        if isinstance(left, int) and isinstance(right, int):
            if before is None and (lead is None or self.kind(end) in ("word", "unit", "dur", "weekdays")):
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
            liked = like(left, right)
            if liked is None:
                return None
            left = liked
        elif isinstance(right, int):
            liked = like(right, left)
            if liked is None:
                return None
            right = liked
        assert isinstance(left, When)
        assert isinstance(right, When)
        if before is not None:
            left, right = left.unite(before) or left, right.unite(before) or right
            if not (fits(before, left) and fits(before, right)):
                return None
        return self.joined(left, right)

    def joined(self, left: When, right: When) -> Reading | None:
        """Both sides placed: what one left out comes from the other, and the end lies after the beginning."""
        if right.follows and not has_day(left):
            left = left.unite(When(base=unit_span(self.reference, "day"))) or left
        if right.follows and (began := self.place(left).start) is not None:
            right = replace(right, base=unit_span(began, "day", 1))
        left_timed, right_timed = left.has("clock", "part"), right.has("clock", "part")
        if right_timed and not has_day(right) and has_day(left) and not is_now(left):
            right = right.fill(left, (*DATE_FIELDS, "offset"))
        elif left_timed and not has_day(left) and has_day(right) and not is_now(right):
            left = left.fill(right, (*DATE_FIELDS, "offset"))
        else:
            left, right = share(left, right)
        if left.clock is not None and right.clock is not None:
            if left.part is None and left.clock.half is None and right.part is not None:
                left = replace(left, part=right.part)
            elif right.part is None and right.clock.half is None and left.part is not None and not right.follows:
                shared = replace(right, part=left.part)
                began, ends = self.place(left).start, self.place(shared).start
                right = shared if began is not None and ends is not None and began < ends else right
            left, right = share_half(left, right)
            left, right = left.fill(right, ("zone",)), right.fill(left, ("zone",))
        dated = has_day(left) or has_day(right)
        a, b = self.place(left), self.place(right)
        if is_now(left) and not b.timed:
            a = unit_span(self.reference, "day")
        elif is_now(right) and not a.timed:
            b = unit_span(self.reference, "day")
        begins, ends = a.start, b.start
        if begins is None or ends is None or b.end is None:
            return None
        if is_now(right) and begins > ends:
            a = place(left, self.reference, "past")
        elif self.tense == "future" and floats(left) and floats(right) and not (a.timed or b.timed) and ends < begins:
            earlier = place(left, self.reference, "past")  # the range that we are in
            if earlier.start is not None and earlier.start <= self.reference < b.end:
                a = earlier
        if a.start is None or b.start is None or b.end is None:
            return None
        if (b.start if b.timed else b.end) <= a.start:
            b = self.moved_after(left, right, a, b)
        elif right.clock is not None and right.part is None and right.clock.half is None and not right.clock.exact:
            earlier = self.place(replace(right, clock=replace(right.clock, half="am")))  # 10 at night until 6
            if earlier.start is not None and a.start < earlier.start <= a.start + DAY / 2:
                b = earlier
        moment = b.timed and b.grain != "daypart"
        end = b.start if moment else b.end
        if end is None or end <= a.start:
            return None
        timed = a.timed or b.timed
        grain = a.grain if timed else b.grain
        return Reading("range", Span(a.start, end, grain, timed), dated, a.fuzzy or b.fuzzy, grain)

    def moved_after(self, left: When, right: When, a: Span, b: Span) -> Span:
        """The end moved to its first place after the beginning."""
        assert a.start is not None
        assert b.start is not None
        if right.clock is not None and not (has_day(right) and not has_day(left)):
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
