"""Expressions that are looked for only where one of their words stands: looking up is far cheaper than searching."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from streams.memory.extraction.lang import CJK
from streams.memory.look import Look

_WORD = re.compile(r"[a-z]+")
_CHINESE = re.compile(f"[{CJK}]")
_ANY_CHINESE = "中"


class Cued:
    """Searches like its expression, but a text without Chinese only where it holds one of `words` (lower case, with no
    letter of a to z beside it): each English match has to hold one."""

    __slots__ = ("_look", "_words", "expression")

    def __init__(self, words: str, expression: str) -> None:
        self.expression = re.compile(expression, re.IGNORECASE)
        self._look = Look(self.expression)
        self._words = frozenset((*words.split(), _ANY_CHINESE))

    def search(self, text: str) -> re.Match[str] | None:
        # Mostly no: asked so often that a call in between shows.
        if self._words.isdisjoint(words_of(text)) or not self._look.which(text):
            return None
        return self.expression.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        if self._words.isdisjoint(words_of(text)) or not self._look.which(text):
            return iter(())
        return self.expression.finditer(text)


@lru_cache(maxsize=32)  # a sentence is asked about many times in a row
def words_of(text: str) -> frozenset[str]:
    """Runs of the letters a to z in a text, in lower case, and a mark if it holds Chinese."""
    found = _WORD.findall(text.casefold())
    if not text.isascii() and _CHINESE.search(text):
        found.append(_ANY_CHINESE)
    return frozenset(found)
