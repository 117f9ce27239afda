"""What both lexers hand to the grammar, and how a table of patterns becomes a lexer."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from streams.memory.look import Look
from streams.memory.timephrases.calendar import Span


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day. `half` is "am" or "pm" where it was said; `None` leaves an hour up to 12 open."""

    hour: int
    minute: int | None = None
    second: int | None = None
    half: str | None = None
    exact: bool = False  # written on the 24-hour clock: 08:00, 13h


@dataclass(frozen=True, slots=True)
class When:
    """A description of a time, as far as the words say it. Adjacent descriptions unite to a fuller one."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None  # Monday 0
    feast: str | None = None
    season: str | None = None
    lunar: bool | None = None
    leap: bool | None = None  # 闰: the second month of that number
    base: Span | None = None  # a place in time that is known already: "next week", "two days ago"
    offset: bool | None = None  # `base` came from counting; its grain is the unit counted in
    clock: Clock | None = None
    part: str | None = None
    step: int | None = None  # "next March" 1, "last March" -1, "this March" 0
    zone: str | None = None  # of the clock time, if it was said
    follows: bool | None = None  # 次日: the day after the one that was said before
    fuzzy: bool = False

    def unite(self, other: "When") -> "When | None":
        """Both descriptions as one, or `None` where they speak of the same thing twice."""
        values = {}
        for name in FIELDS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not None and theirs is not None and mine != theirs:
                return None
            values[name] = theirs if mine is None else mine
        return When(**values, fuzzy=self.fuzzy or other.fuzzy)

    def fill(self, other: "When", names: Iterable[str]) -> "When":
        """This description with gaps among `names` filled from the other side of a range."""
        return replace(self, **{n: getattr(other, n) for n in names if getattr(self, n) is None})

    def has(self, *names: str) -> bool:
        return any(getattr(self, n) is not None for n in names)


FIELDS = tuple(f for f in When.__dataclass_fields__ if f != "fuzzy")
DATE_FIELDS = ("year", "month", "day", "weekday", "feast", "season", "base", "step")


@dataclass(frozen=True, slots=True)
class Relative:
    """A unit counted from the one that holds the reference: "tomorrow", 去年, "tonight"."""

    unit: str
    steps: int
    part: str | None = None
    clock: Clock | None = None
    edge: str | None = None
    count: int = 1
    follows: bool = False
    nth: int | None = None  # the nth `unit` of the year `year`, or of the reference's year moved by `steps`
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Duration:
    """Amounts by unit, as in "1 year 2 months"; `fuzzy` for "a few"."""

    parts: tuple[tuple[float, str], ...]
    fuzzy: bool = False

    @property
    def unit(self) -> str:
        return self.parts[-1][1]


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    value: Any
    start: int
    end: int


MOST_AHEAD = 200  # characters to the end of a clause that are looked at from each place where a token may begin
IMPOSSIBLE = object()  # what a pattern reads from a date that does not exist: nothing, and none of its parts either


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of token: a regular expression and what a match means. `read` returns `None` to decline."""

    kind: str
    regex: str
    read: Callable[["re.Match[str]"], Any] = field(default=lambda m: m.group())
    first: Literal["any", "digit", "other"] = "any"  # what it begins with; a hint that only saves time


def _renamed(regex: str, suffix: int) -> str:
    return re.sub(r"\(\?P(<[a-z]+|=[a-z]+)", rf"(?P\1_{suffix}", regex)


class Lexer:
    """Tokens of a text in order; the first pattern that matches and accepts at a place wins.

    `starts` finds the places where a token may begin: a cheap expression that spares the dear ones.
    """

    def __init__(self, patterns: Sequence[Pattern], starts: str) -> None:
        self._starts = re.compile(starts)
        self.patterns = patterns
        self._patterns = [(p, re.compile(p.regex)) for p in patterns]
        self._look = Look(*(regex for _, regex in self._patterns), anchored=True)
        # These say which pattern is the first to match at a place; groups are renamed, for patterns share their names.
        self._unions = {
            first: re.compile(
                "|".join(
                    f"(?P<p{i}>{_renamed(p.regex, i)})" for i, p in enumerate(patterns) if p.first in ("any", first)
                )
            )
            for first in ("digit", "other")
        }

    def tokens(self, text: str) -> Iterable[Token]:
        position = 0
        while start := self._starts.search(text, position):
            position = start.start()
            token = self._at(text, position)
            if token is None:
                position = max(start.end(), position + 1)
            else:
                yield token
                position = token.end

    def _at(self, text: str, position: int) -> Token | None:
        for pattern, regex in self._to_try(text, position):
            match = regex.match(text, position)
            if match and match.end() > position:
                value = pattern.read(match)
                if value is IMPOSSIBLE:
                    return Token("stop", None, position, match.end())
                if value is not None:
                    return Token(pattern.kind, value, position, match.end())
        return None

    def _to_try(self, text: str, position: int) -> Iterable[tuple[Pattern, "re.Pattern[str]"]]:
        """The patterns that may match at a place, in order."""
        if len(text) - position <= MOST_AHEAD:
            return [self._patterns[i] for i in sorted(self._look.which(text[position:]))]
        union = self._unions["digit" if "0" <= text[position] <= "9" else "other"].match(text, position)
        if union is None or union.lastgroup is None:
            return ()
        return self._patterns[int(union.lastgroup[1:]) :]


def alternatives(words: Iterable[str]) -> str:
    """A group that matches any of the words, the longest first."""
    return "(?:" + "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True)) + ")"


@lru_cache(maxsize=4096)
def two_digit_year(number: int) -> int:
    """Years of two digits lie between 1970 and 2069 (POSIX strptime has 1969 to 2068)."""
    return number + (2000 if number < 70 else 1900)
