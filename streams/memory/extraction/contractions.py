"""Apostrophes that chat leaves out: "im vegan, dont call before 10" is read as "i'm vegan, don't call before 10".

Every wording knows contractions with their apostrophe only. What is found is told in the words of the message.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from streams.memory.extraction.cued import words_of

_WORDS = frozenset({
    "im", "ive", "hes", "shes", "thats", "youre", "theyre", "dont", "doesnt", "didnt", "cant", "couldnt", "wont",
    "wouldnt", "shouldnt", "isnt", "arent", "wasnt", "werent", "hasnt", "havent", "hadnt",
})  # fmt: skip
# "its", "were", "well" and "id" are words of their own; "IM" is a message, and "im Haus" is German.
_MISSING = re.compile(
    r"(?<![\w'’-])(?:"
    r"(?:[iI](?=m\b(?! [A-Z])|ve\b)|(?:[hH]e|[sS]he|[tT]hat)(?=s\b)|(?:[yY]ou|[tT]hey)(?=re\b))"
    r"|(?:[dD]o|[dD]oes|[dD]id|[cC]a|[cC]ould|[wW]o|[wW]ould|[sS]hould|[iI]s|[aA]re|[wW]as|[wW]ere|[hH]as|[hH]ave|[hH]ad)n"
    r"(?=t\b))(?!\w{1,2}['’-])"
)
_GIVEN = re.compile(r"(?<=[a-zA-Z])'(?=(?:m|ve|s|re|t)\b)")


class Restored:
    """`text` with its apostrophes, and the way back to the message."""

    __slots__ = ("_places", "_said", "text")

    def __init__(self, said: str) -> None:
        self._said = said
        # Where one is missing, counted in `text`: each moves the ones after it.
        found = () if _WORDS.isdisjoint(words_of(said)) else _MISSING.finditer(said)
        self._places = [missing.end() + n for n, missing in enumerate(found)]
        self.text = "".join(self._pieces()) if self._places else said

    def _pieces(self) -> Iterator[str]:
        position = 0
        for n, place in enumerate(self._places):
            yield self._said[position : place - n]
            yield "'"
            position = place - n
        yield self._said[position:]

    def __bool__(self) -> bool:
        """Whether any was missing."""
        return bool(self._places)

    def place(self, at: int) -> int:
        """A place in the message for one in `text`."""
        return at - bisect_left(self._places, at)

    def words(self, read: str, start: int, end: int) -> str:
        """What was read from text[start:end], as the message says it.

        >>> Restored("im vegan").words("I'm vegan", 0, 9), Restored("dont call").words("don't call", 0, 10)
        ('Im vegan', 'dont call')
        """
        if self.text[start:end] == read:
            return self._said[self.place(start) : self.place(end)]
        return _GIVEN.sub("", read)
