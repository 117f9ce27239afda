"""What a recognizer is, and helpers to look at the words around a finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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

    `trigger` is a cheap search that is done first: without a match `find` is not called. `find` must take time
    linear in the text.
    """

    name: str
    entities: frozenset[str]
    trigger: re.Pattern[str]
    find: Callable[[str], Iterable[Hit]]


def before(text: str, start: int, size: int = 40) -> str:
    """The lower-case text just before a position, at most `size` characters."""
    return text[max(0, start - size) : start].lower()


def after(text: str, end: int, size: int = 24) -> str:
    """The lower-case text just after a position, at most `size` characters."""
    return text[end : end + size].lower()
