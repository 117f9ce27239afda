"""What a recognizer is, and helpers to look at the words around a finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from streams.memory.redaction.model import Hit

# Scores: of two findings that overlap the higher one stands, so a checksum beats a label and a label beats a shape.
SHAPE = 40
LABELLED = 60
CHECKED = 80
CERTAIN = 100


@dataclass(frozen=True, slots=True)
class Recognizer:
    """A pure function from a folded text (see `view`) to findings in it.

    `trigger` is a cheap search that is done first. `find` is called with what lies within `reach` characters of a
    trigger; with the whole text when that is no longer, or `reach` is None, and the trigger may be in it. It must take
    time linear in what it is given.
    """

    name: str
    entities: frozenset[str]
    trigger: re.Pattern[str]
    find: Callable[[str], Iterable[Hit]]
    reach: int | None = 400

    def hits(self, text: str) -> Iterator[Hit]:
        """The findings in `text`, in which the trigger may be."""
        if self.reach is None or len(text) <= self.reach:
            yield from self.find(text)
            return
        for start, end in self._windows(text, self.reach):
            for hit in self.find(text[start:end]):
                # What touches a cut may be a part of something else.
                if (hit.start > 0 or start == 0) and (hit.end < end - start or end == len(text)):
                    yield Hit(hit.entity, hit.start + start, hit.end + start, hit.score)

    def _windows(self, text: str, reach: int) -> Iterator[tuple[int, int]]:
        step = reach // 2  # triggers closer than this are not looked at one by one
        found = self.trigger.search(text)
        while found:
            start, end = max(0, found.start() - reach), found.end() + step + reach
            found = self.trigger.search(text, found.end() + step)
            while found and found.start() - reach <= end:
                end = found.end() + step + reach
                found = self.trigger.search(text, found.end() + step)
            yield start, min(end, len(text))


def before(text: str, start: int, size: int = 40) -> str:
    """The lower-case text just before a position, at most `size` characters."""
    return text[max(0, start - size) : start].lower()


def after(text: str, end: int, size: int = 24) -> str:
    """The lower-case text just after a position, at most `size` characters."""
    return text[end : end + size].lower()
