r"""A first look at a text by RE2: may an expression match it at all?

`re` tries every alternative at every place. RE2 reads a text once, whatever it looks for, but knows neither look-around
nor back references, and counted repetitions make its automata large. So those are left out or loosened: a look says
"may" or "no", and `re` has the last word. In a text with letters beyond ASCII everything may be, for `\w` and `\b` of
RE2 know ASCII only; what else is not ASCII (’ “ — 😀) is one and the same character to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

import re2

# Of the automaton of one look. When it is full RE2 begins anew, which costs time and no result.
_MAX_BYTES: Final = 8 << 20
_OTHER: Final = r"\xff"  # any character that is not ASCII
_SPACE: Final = r"\s\x0b\x1c-\x1f"  # RE2's \s has fewer
_CHARACTER: Final = r"(?:\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|[^\x00-\x7f])"
_TOKEN = re.compile(
    r"(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<around>\(\?(?:<?[=!]))"
    r"|(?P<again>\(\?P=\w+\)|\\[1-9])"
    r"|(?P<space>\\s)"
    r"|(?P<end>\\Z|\$)"
    rf"|(?P<other>{_CHARACTER})"
    r"|\\."
    r"|(?P<open>\()"
    r"|(?P<close>\))"
    r"|(?P<times>\{\d+(?:,\d*)?\}\??)",
    re.DOTALL,
)
_OF_CLASS = re.compile(rf"{_CHARACTER}(?:-{_CHARACTER})?")
_BEYOND = re.compile(r"[^\x00-\x7f]")
_LETTER_OR_SPACE_BEYOND = re.compile(r"(?:\w|\s)(?<![\x00-\x7f])")
_NONE: Final[tuple[int, ...]] = ()


def loosened(expression: re.Pattern[str]) -> str:
    r"""An expression for RE2 that is found in every text that `expression` is found in, and in more.

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
            out.append(_loosened(kind, token.group(), expression.flags))
    out.append(expression.pattern[position:])
    flags = "".join(
        name for name, flag in (("i", re.IGNORECASE), ("s", re.DOTALL), ("m", re.MULTILINE)) if expression.flags & flag
    )
    return (f"(?{flags})" if flags else "") + "".join(out)


def _loosened(kind: str | None, said: str, flags: int) -> str:
    match kind:
        case "class":
            # What a class leaves out must not leave out all that is not ASCII.
            said = _OF_CLASS.sub("" if said.startswith("[^") else lambda _: _OTHER, said)
            return r"[\x00-\xff]" if said == "[^]" else said.replace(r"\s", _SPACE)
        case "other":
            return _OTHER
        case "again":
            return r"[\x00-\xff]*"
        case "space":
            return f"[{_SPACE}]"
        case "end" if not (said == "$" and flags & re.MULTILINE):
            return r"(?:\n?\z)" if said == "$" else r"\z"
        case "times":
            return "*" if said.startswith("{0") else "+"
    return said


class Look:
    """Which of several expressions may be found in a text, or at its beginning. Compiled when it is first needed."""

    __slots__ = ("_anchored", "_expressions", "_set")

    def __init__(self, *expressions: re.Pattern[str], anchored: bool = False) -> None:
        self._expressions = expressions
        self._anchored = anchored
        self._set: re2.Set | None = None

    def may(self, text: str) -> bool:
        """Whether any of them may be."""
        seen = _seen(text)
        return seen is None or bool((self._set or self._compiled()).Match(seen))

    def which(self, text: str) -> Sequence[int] | None:
        """The places of those that may be, in any order; None for all of them."""
        seen = _seen(text)
        return None if seen is None else (self._set or self._compiled()).Match(seen) or _NONE

    def _compiled(self) -> re2.Set:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MAX_BYTES
        options.encoding = re2.Options.Encoding.LATIN1
        made = re2.Set.MatchSet(options) if self._anchored else re2.Set.SearchSet(options)
        for expression in self._expressions:
            made.Add(loosened(expression))
        made.Compile()
        self._set = made
        return made


@lru_cache(maxsize=64)  # a sentence is looked at many times in a row
def _seen(text: str) -> bytes | None:
    """What RE2 sees of a text; None when that is not enough."""
    if text.isascii():
        return text.encode()
    return None if _LETTER_OR_SPACE_BEYOND.search(text) else _BEYOND.sub("\xff", text).encode("latin-1")


class Looked:
    """An expression that `re` searches for only where a look says that it may be."""

    __slots__ = ("_look", "expression")

    def __init__(self, expression: str, flags: int = 0) -> None:
        self.expression = re.compile(expression, flags)
        self._look = Look(self.expression)

    def search(self, text: str) -> re.Match[str] | None:
        return self.expression.search(text) if self._look.may(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        return self.expression.match(text) if self._look.may(text) else None

    def sub(self, by: Callable[[re.Match[str]], str], text: str) -> str:
        return self.expression.sub(by, text) if self._look.may(text) else text

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.expression.finditer(text) if self._look.may(text) else iter(())
