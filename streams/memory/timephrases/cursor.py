"""The tokens of a clause with a reference: what all rules of the grammar stand on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from streams.memory.timephrases.calendar import (
    CLOCK_UNITS,
    LENGTH,
    OutOfCalendar,
    Span,
    day,
    nth_unit,
    shift,
    unit_span,
)
from streams.memory.timephrases.edges import post_edge
from streams.memory.timephrases.place import Tense, place
from streams.memory.timephrases.tokens import DATE_FIELDS, Duration, Relative, Token, When
from streams.memory.timephrases.zones import moved, zone_of

MAX_DEPTH = 3  # "the end of the first week of next month" nests twice; deeper is no human phrase
MAX_PARTS = 8  # parts of one description, and durations in a row
MAX_GLUE = 2  # words like "on the" between two parts


@dataclass(frozen=True, slots=True)
class Reading:
    """A phrase that was read. `form` is point, range, duration or set; the last two have no `span`.

    `dated` says that it names a day and not only a time of day.
    """

    form: str
    span: Span | None
    dated: bool = True
    fuzzy: bool = False
    grain: str = "day"


Point = tuple[When, int]  # a description and the index of the token behind it
Found = tuple[Reading, int]


def has_day(when: When) -> bool:
    return when.has(*DATE_FIELDS)


class Cursor:
    """Access to the tokens, and the arithmetic of counted times. `reference` is naive local time."""

    def __init__(self, tokens: Sequence[Token], reference: datetime, tense: Tense, zone: tzinfo = UTC) -> None:
        self.reference = reference
        self.zone = zone
        self.tense: Tense = tense
        self.tokens = [self.grounded(t) for t in tokens]
        self.kinds = [t.kind for t in self.tokens]
        self.memo: dict[tuple[int, int], Point | None] = {}

    def grounded(self, token: Token) -> Token:
        """Words like "tomorrow" put in place."""
        said = token.value
        if not isinstance(said, Relative):
            return token
        try:
            if said.nth is not None:
                year = said.year or shift(self.reference, said.steps, "year").year
                return replace(
                    token, value=When(base=nth_unit(unit_span(day(year, 1, 1), "year"), said.unit, said.nth))
                )
            span = unit_span(self.reference, said.unit, said.steps)
            if said.count > 1 and span.start is not None:
                span = replace(span, end=shift(span.start, said.count, said.unit))
            if said.edge is not None:
                span = post_edge(said.edge, span, self.reference)
            follows = True if said.follows else None
            return replace(token, value=When(base=span, part=said.part, clock=said.clock, follows=follows))
        except OutOfCalendar:
            return replace(token, kind="word", value=None)

    def kind(self, i: int) -> str:
        return self.kinds[i] if i < len(self.kinds) else "end"

    def value(self, i: int) -> Any:
        return self.tokens[i].value

    def skip(self, i: int, *kinds: str, limit: int = MAX_GLUE) -> int:
        while limit and self.kind(i) in kinds:
            i, limit = i + 1, limit - 1
        return i

    def place(self, when: When) -> Span:
        span = place(when, self.reference, self.tense)
        said = zone_of(when.zone) if when.zone and when.clock else None
        if said is None or span.start is None or span.end is None:
            return span
        try:
            return replace(span, start=moved(span.start, said, self.zone), end=moved(span.end, said, self.zone))
        except OverflowError as error:
            raise OutOfCalendar from error

    def amount(self, i: int) -> tuple[Duration, int] | None:
        """One duration, or several in a row: 一年又一个月21天."""
        if self.kind(i) != "dur":
            return None
        amount: Duration = self.value(i)
        j = i + 1
        for _ in range(5):
            k = self.skip(j, "comma", "and", "glue", limit=2)
            if self.kind(k) != "dur":
                break
            if self.kind(k + 1) in ("ago", "later") and k - j > 1:  # "for 3 months, and 2 days ago"
                break
            more: Duration = self.value(k)
            if {u for _, u in more.parts} & {u for _, u in amount.parts}:
                break
            amount = Duration(amount.parts + more.parts, amount.fuzzy or more.fuzzy)
            j = k + 1
        return amount, j

    def offset(self, origin: datetime, amount: Duration, sign: int) -> When:
        moment = origin
        for number, unit in amount.parts:
            moment = shift(moment, sign * number, unit)
        smallest = min((u for _, u in amount.parts), key=lambda u: LENGTH[u])
        if smallest in CLOCK_UNITS:
            return When(base=replace(unit_span(moment, "second"), grain=smallest, timed=True, fuzzy=amount.fuzzy))
        span = replace(unit_span(moment, "day"), grain=smallest, fuzzy=amount.fuzzy)
        return When(base=span, offset=True)
