"""Wordings of slots as data: one table a language, looked up by trigger words before any expression runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from streams.memory.extraction.cued import words_of
from streams.memory.look import Looked

Polarity = Literal["positive", "negative"]
Operation = Literal["assert", "retract", "correct"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One wording.

    Groups of `expression`: `s` subject (`t`: a better one), `a` attribute noun, `v` (or `w`) value, `o` replaced value,
    `n` (or `m`) negation.

    `attribute` may be `*`: then the noun in group `a` names the slot or is the relation itself.
    `value`: what to store when there is no group `v`. Tried only on sentences that hold one of `triggers`.
    """

    attribute: str
    triggers: tuple[str, ...]
    expression: Looked
    value: str | None = None
    polarity: Polarity = "positive"
    operation: Operation = "assert"


class Wordings:
    """Writes expressions in short form: `<name>` is a fragment, every `(` groups without capturing."""

    def __init__(self, fragments: Mapping[str, str], *, boundary: str = "") -> None:
        self._fragments = fragments
        self._boundary = boundary

    def expand(self, short: str) -> str:
        """The expression that a short form stands for."""
        long = re.sub(r"(?<!\\)\((?!\?)", "(?:", short)
        for _ in range(4):  # fragments may name fragments
            long = re.sub(r"<([a-z_]+)>", self._fragment, long)
        return long

    def _fragment(self, match: re.Match[str]) -> str:
        # `(?P<v>...)` looks like a fragment but is not one.
        name = match.group(1)
        if match.string[max(0, match.start() - 3) : match.start()] == "(?P":
            return match.group()
        return re.sub(r"(?<!\\)\((?!\?)", "(?:", self._fragments[name])

    def __call__(
        self,
        attribute: str,
        triggers: str,
        short: str,
        *,
        value: str | None = None,
        polarity: Polarity = "positive",
        operation: Operation = "assert",
    ) -> Pattern:
        expression = Looked(f"{self._boundary}(?:{self.expand(short)})", re.IGNORECASE)
        return Pattern(attribute, tuple(triggers.split()), expression, value, polarity, operation)


class Table:
    """Patterns of one language in order of precedence, indexed by trigger."""

    def __init__(self, patterns: Iterable[Pattern], *, by_word: bool) -> None:
        self._patterns: Sequence[Pattern] = tuple(patterns)
        self._by_trigger: dict[str, list[int]] = {}
        for place, pattern in enumerate(self._patterns):
            for trigger in pattern.triggers:
                self._by_trigger.setdefault(trigger, []).append(place)
        self._by_word = by_word

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self._patterns)

    def matching(self, folded: str) -> list[Pattern]:
        """The patterns worth trying on a text, folded or ASCII, in order of precedence."""
        if self._by_word:
            found = self._by_trigger.keys() & words_of(folded)
        else:
            found = {trigger for trigger in self._by_trigger if trigger in folded}
        places = {place for trigger in found for place in self._by_trigger[trigger]}
        return [self._patterns[place] for place in sorted(places)]


@cache
def table(lang: str) -> Table:
    if lang == "zh":
        from streams.memory.extraction.patterns.zh import PATTERNS as CHINESE

        return Table(CHINESE, by_word=False)
    from streams.memory.extraction.patterns.en import PATTERNS as ENGLISH

    return Table(ENGLISH, by_word=True)
