"""The grammar that both languages share: from the tokens of a clause to readings.

    phrase = set | range | lasting | open | counted | point | duration

Of the rules that read something at a token, the one that reads the longest phrase wins, then the first.
"""

from streams.memory.timephrases.calendar import CLOCK_UNITS, OutOfCalendar, shift
from streams.memory.timephrases.cursor import Reading, has_day
from streams.memory.timephrases.ranges import Ranges
from streams.memory.timephrases.stretches import Stretches

# Kinds of tokens that no phrase begins with.
NEVER_FIRST = frozenset(
    {
        "word",
        "stop",
        "comma",
        "and",
        "to",
        "glue",
        "ago",
        "later",
        "onwards",
        "or_later",
        "or_earlier",
        "inside",
        "amid",
    }
    | {"units", "postord", "closing", "other", "beginning", "ordafter"}
)


LEADING = frozenset({"on", "in", "at", "the", "of", "for", "approx", "from", "between", "within", "before", "after"})
LEADING |= {"since", "until", "at_least", "at_most"}


class Grammar(Ranges, Stretches):
    """Reads phrases from one clause."""

    def phrase(self, i: int) -> tuple[Reading, int] | None:
        """The longest phrase that begins at token `i`."""
        first = self.skip(i, *LEADING, limit=4)
        if self.kind(first) in NEVER_FIRST or self.kind(first) == "end" or (first == i and self.kind(i) == "loose"):
            return None
        best: tuple[Reading, int] | None = None
        for rule in (
            self.recurring,
            self.ranged,
            self.lasting,
            self.open_ended,
            self.counted,
            self.single,
            self.duration,
        ):
            try:
                found = rule(i)
            except (OutOfCalendar, OverflowError):  # the latter at the ends of the calendar only
                continue
            if found and not _is_empty(found[0]) and (best is None or found[1] > best[1]):
                best = found
        return best

    def single(self, i: int) -> tuple[Reading, int] | None:
        start = self.skip(i, "on", "in", "at", "approx", "the", "of", limit=3)
        found = next(filter(None, (self.point(k) for k in range(i, start + 1))), None)
        if found is None and start > i and self.kind(start - 1) in ("on", "at", "the"):
            found = self.number_alone(start, self.kind(start - 1), self.kind(start - 2) if start - 2 >= i else "")
        if found is None and self.kind(start) == "loose" and self.value(start).clock and self.kind(start - 1) == "at":
            found = self.extend(self.value(start), start + 1)  # "at 7p"
        if found is None:
            return None
        when, j = found
        span = self.place(when)
        fuzzy = span.fuzzy or any(self.kind(k) == "approx" for k in range(i, start)) or self.kind(j) == "approx"
        if self.kind(j) == "approx":
            j += 1
        # "last minute" and "next hour" last; a clock time and "5 minutes ago" are moments.
        whole = span.timed and when.clock is None and span.start is not None and span.grain in CLOCK_UNITS
        lasting = whole and span.grain != "second" and span.end == shift(span.start or self.reference, 1, span.grain)
        return Reading("range" if lasting else "point", span, has_day(when), fuzzy, span.grain), j


def _is_empty(reading: Reading) -> bool:
    """No time at all: the second half of the last days of a week."""
    span = reading.span
    return span is not None and span.start is not None and span.end is not None and span.end <= span.start
