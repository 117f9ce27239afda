r"""A first look at a text by RE2: may an expression match it at all?

`re` tries every alternative at every place. RE2 reads a text once, whatever it looks for, but knows neither look-around
nor back references, and counted repetitions make its automata large. So those are left out or loosened: a look says
"may" or "no", and `re` has the last word.

Classes such as `\w` and `\b` are ASCII to RE2. In a text whose letters and spaces are, everything else (’ “ — 😀)
counts as one and the same character; for other texts there is a second form, looser except with `re.ASCII`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

import re2

# Of the automaton of one look. When it is full RE2 begins anew, which costs time and no result.
_MAX_BYTES: Final = 8 << 20
_CHARACTER: Final = r"(?:\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|[^\x00-\x7f])"
_TOKEN = re.compile(
    r"(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<around>\(\?(?:<?[=!]))"
    r"|(?P<again>\(\?P=\w+\)|\\[1-9])"
    r"|(?P<kind>\\[sdw])"
    r"|(?P<edge>\\[bB])"
    r"|(?P<end>\\Z|\$)"
    rf"|(?P<other>{_CHARACTER})"
    r"|\\."
    r"|(?P<open>\()"
    r"|(?P<close>\))"
    r"|(?P<times>\{\d+(?:,\d*)?\}\??)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_RANGE_BEYOND = re.compile(rf"{_CHARACTER}(?:-{_CHARACTER})?")
_KIND = re.compile(r"\\[sdw]")
_BEYOND = re.compile(r"[^\x00-\x7f]")
_LETTER_OR_SPACE_BEYOND = re.compile(r"(?:\w|\s)(?<![\x00-\x7f])")
# The simple case folding of RE2 knows no dotless i.
_AS_I = re.compile("[\u0130\u0131]")
_ANYTHING: Final = r"(?s:.)*"
_NONE: Final[tuple[int, ...]] = ()


def loosened(expression: re.Pattern[str], *, wide: bool = False) -> str:
    r"""An expression for RE2 that is found in every text that `expression` is found in, and in more.

    `wide`: for texts in UTF-8, else for what stands for them in Latin-1 (see `_narrow`).

    >>> print(loosened(re.compile(r"(?<!\d)(?P<q>['’])ab{2,3}(?=c)$")))
    (?P<q>['\xff])ab+(?:\n?\z)
    """
    out: list[str] = []
    depth, around = 0, 0  # `around`: the depth of the look-around that is left out, 0 outside of any
    position = 0
    for token in _TOKEN.finditer(expression.pattern):
        if not around:
            out.append(expression.pattern[position : token.start()])
        position = token.end()
        kind = token.lastgroup
        if kind in ("open", "around"):
            depth += 1
            around = around or (depth if kind == "around" else 0)
        elif kind == "close":
            depth -= 1
            if depth < around:
                around = 0
                continue
        if not around:
            out.append(_loosened(kind, token.group(), expression.flags, wide))
    out.append(expression.pattern[position:])
    flags = "".join(
        name for name, flag in (("i", re.IGNORECASE), ("s", re.DOTALL), ("m", re.MULTILINE)) if expression.flags & flag
    )
    return (f"(?{flags})" if flags else "") + "".join(out)


def _loosened(kind: str | None, said: str, flags: int, wide: bool) -> str:
    unicode = wide and not flags & re.ASCII
    match kind:
        case "class":
            return _class(said, wide, unicode)
        case "kind":
            return f"[{_kind(said, unicode)}]"
        case "other":
            return _escaped(said) if wide else _one(said)
        case "edge" if unicode or said == r"\B":
            return ""
        case "again":
            return _ANYTHING
        case "end" if not (said == "$" and flags & re.MULTILINE):
            return r"(?:\n?\z)" if said == "$" else r"\z"
        case "times":
            return "*" if said.startswith("{0") else "+"
    return said


def _class(said: str, wide: bool, unicode: bool) -> str:
    excludes = said.startswith("[^")
    if not wide:
        # What a class leaves out must not leave out all that is not ASCII.
        said = _RANGE_BEYOND.sub("" if excludes else lambda found: _one(found.group()), said)
        if said == "[^]":
            return r"[\x00-\xff]"
    said = _KIND.sub(lambda found: _kind(found.group(), unicode and not excludes), _escaped(said))
    # Not "no letter": RE2 knows fewer letters.
    return f"(?:{said}|[^\\x00-\\x7f])" if unicode and excludes and re.search(r"\\[WDS]", said) else said


def _one(beyond: str) -> str:
    """For a character or a range beyond ASCII: \\xff, and \\xfe for a letter or a space, which is in no such text."""
    character = chr(int(beyond[2:], 16)) if beyond.startswith("\\") and len(beyond) in (6, 10) else beyond
    return r"\xfe" if len(character) == 1 and (character.isalnum() or character.isspace()) else r"\xff"


def _kind(said: str, unicode: bool) -> str:
    # RE2's \s has fewer characters.
    ascii_only = r"\s\x0b\x1c-\x1f" if said == r"\s" else said
    return ascii_only + r"\x{80}-\x{10ffff}" if unicode else ascii_only


def _escaped(said: str) -> str:
    return _ESCAPED.sub(lambda found: rf"\x{{{found[1] or found[2]}}}", said)


class Look:
    """Which of several expressions may be found in a text, or at its beginning. Compiled when it is first needed.

    `wide`: looks at texts with letters beyond ASCII too, which pays where the text is long or is seldom searched;
    otherwise everything may be in such a text.
    """

    __slots__ = ("_all", "_anchored", "_expressions", "_sets", "_wide")

    def __init__(self, *expressions: re.Pattern[str], anchored: bool = False, wide: bool = False) -> None:
        self._expressions = expressions
        self._all = range(len(expressions))
        self._anchored = anchored
        self._wide = wide
        self._sets: list[re2.Set | None] = [None, None]

    def may(self, text: str) -> bool:
        """Whether any of them may be."""
        return bool(self.which(text))

    def which(self, text: str) -> Sequence[int]:
        """The places of those that may be, in any order."""
        seen = _narrow(text)
        if seen is not None:
            return (self._sets[False] or self._compiled(wide=False)).Match(seen) or _NONE
        return (self._sets[True] or self._compiled(wide=True)).Match(_utf8(text)) or _NONE if self._wide else self._all

    def _compiled(self, *, wide: bool) -> re2.Set:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MAX_BYTES
        if not wide:
            options.encoding = re2.Options.Encoding.LATIN1
        made = re2.Set.MatchSet(options) if self._anchored else re2.Set.SearchSet(options)
        for expression in self._expressions:
            try:
                made.Add(loosened(expression, wide=wide))
            except re2.error:  # what neither form knows
                made.Add(_ANYTHING)
        made.Compile()
        self._sets[wide] = made
        return made


def forget() -> None:
    """Keep nothing of the texts that were looked at."""
    _narrow.cache_clear()
    _utf8.cache_clear()


@lru_cache(maxsize=64)  # a sentence is looked at many times in a row
def _narrow(text: str) -> bytes | None:
    """What RE2 sees of a text whose letters and spaces are ASCII; None for others."""
    if text.isascii():
        return text.encode()
    return None if _LETTER_OR_SPACE_BEYOND.search(text) else _BEYOND.sub("\xff", text).encode("latin-1")


@lru_cache(maxsize=64)
def _utf8(text: str) -> bytes:
    return _AS_I.sub("i", text).encode("utf-8", "replace")


class Looked:
    """An expression that `re` searches for only where a look says that it may be."""

    __slots__ = ("_look", "expression")

    def __init__(self, expression: str, flags: int = 0) -> None:
        self.expression = re.compile(expression, flags)
        self._look = Look(self.expression, wide=True)

    def search(self, text: str) -> re.Match[str] | None:
        return self.expression.search(text) if self._look.which(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        return self.expression.match(text) if self._look.which(text) else None

    def sub(self, by: Callable[[re.Match[str]], str], text: str) -> str:
        return self.expression.sub(by, text) if self._look.which(text) else text

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.expression.finditer(text) if self._look.which(text) else iter(())
