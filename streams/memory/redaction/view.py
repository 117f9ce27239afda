"""The text as a recognizer reads it: disguises taken off, every position mapped back to the input.

People write numbers in full width, in Chinese numerals, as words, as HTML references, with zero-width characters or
keycap emoji between the digits. The view folds all of that, so that a recognizer knows plain digits only. Placeholders
of an earlier pass become one barrier character that nothing reads across: redaction stays idempotent.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right

from streams.memory.look import Look
from streams.memory.redaction.placeholders import PLACEHOLDER

BARRIER = "\ufffc"


class _Fold(dict[int, str]):
    """One character for one: digits of any script, full-width forms, dashes and spaces to ASCII. Filled on demand."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = self._fold(chr(code))
        return folded

    @staticmethod
    def _fold(char: str) -> str:
        if char == BARRIER:  # only a placeholder may be a barrier
            return " "
        digit = unicodedata.digit(char, None)
        if digit is not None:
            return str(digit)
        category = unicodedata.category(char)
        if category == "Pd" or char == "\u2212":
            return "-"
        if category == "Zs":
            return " "
        plain = _QUOTES.get(char) or unicodedata.normalize("NFKC", char)
        return plain if len(plain) == 1 else char


_QUOTES = {"“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"', "『": '"', "』": '"'}
_FOLD = _Fold()

_CHINESE_DIGITS = {
    **dict(zip("零一二三四五六七八九", "0123456789", strict=True)),
    **dict(zip("〇壹贰叁肆伍陆柒捌玖", "0123456789", strict=True)),
    **dict(zip("○幺貳參陸", "01236", strict=True)),
}
_ENGLISH_DIGITS = {
    "zero": "0", "oh": "0", "one": "1", "two": "2", "three": "3", "four": "4",
    "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
}  # fmt: skip
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\u20e3\ufe00-\ufe0f\ufeff"
)
_HAN = "".join(_CHINESE_DIGITS)
_WORDS = "|".join(_ENGLISH_DIGITS)
_EMOJI = "\U0001f300-\U0001faff\u2600-\u27bf"
# Four digits in a row are a number that is read out; fewer are words ("一三五上班", "one two punch").
_EDIT = re.compile(
    rf"(?P<placeholder>{PLACEHOLDER.pattern})"
    r"|(?P<entity>&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});)"
    rf"|(?P<invisible>[{_INVISIBLE}]+)"
    rf"|(?P<emoji>(?<![0-9])(?:[0-9][{_EMOJI}][{_EMOJI}{_INVISIBLE}]{{0,3}}){{3,}}[0-9](?![0-9]))"
    rf"|(?P<han>(?:[0-9{_HAN}][ ,.、\-{_INVISIBLE}]{{0,2}}){{3,}}[0-9{_HAN}])"
    rf"|(?P<words>(?<![A-Za-z])(?:(?:{_WORDS})[\s,.\-]{{1,3}}){{3,}}(?:{_WORDS})(?![A-Za-z]))",
    re.IGNORECASE,
)
_HAN_DIGIT = re.compile(rf"[{_HAN}]|[{_INVISIBLE}]+")
_BETWEEN_DIGITS = re.compile(rf"[{_EMOJI}{_INVISIBLE}]+")
_HIDDEN = re.compile(rf"[{_INVISIBLE}]+")
_WORD_DIGIT = re.compile(rf"{_WORDS}|,(?=\s)", re.IGNORECASE)
# The edits are rare: most texts have none of these and are their own view.
_MAY_EDIT = Look(
    re.compile(
        rf"[\[&{_INVISIBLE}]|[0-9][{_EMOJI}]|[{_HAN}].?.?[0-9{_HAN}]|[0-9].?.?[{_HAN}]|\b(?:{_WORDS})\b[\s,.\-]{{1,3}}\b(?:{_WORDS})\b",
        re.IGNORECASE,
    ),
    wide=True,
)


class View:
    """`text` for recognizers, and the way back to the input (`original`)."""

    __slots__ = ("_ends", "_origins", "_starts", "original", "text")

    def __init__(self, text: str) -> None:
        self.original = text
        folded = text if text.isascii() else text.translate(_FOLD)
        self._starts: list[int] = [0]
        self._origins: list[int] = [0]
        self._ends: list[int | None] = [None]
        self.text = self._edit(folded) if _MAY_EDIT.may(folded) else folded

    def _edit(self, folded: str) -> str:
        out: list[str] = []
        length = 0
        position = 0

        def replace(start: int, end: int, by: str) -> None:
            """Put `by` (one character or none) for folded[start:end]."""
            nonlocal length, position
            out.append(folded[position:start])
            length += start - position
            position = end
            if by:
                self._starts.append(length)
                self._origins.append(start)
                self._ends.append(end)
                out.append(by)
                length += 1
            self._starts.append(length)
            self._origins.append(end)
            self._ends.append(None)

        for edit in _EDIT.finditer(folded):
            start, end = edit.span()
            match edit.lastgroup:
                case "placeholder":
                    replace(start, end, BARRIER)
                case "entity":
                    plain = html.unescape(edit.group()).translate(_FOLD)
                    if len(plain) == 1:
                        replace(start, end, plain)
                case "invisible":
                    replace(start, end, "")
                case "emoji":
                    for between in _BETWEEN_DIGITS.finditer(folded, start, end):
                        replace(*between.span(), "")
                case "han":
                    for digit in _HAN_DIGIT.finditer(folded, start, end):
                        replace(*digit.span(), _CHINESE_DIGITS.get(digit.group(), ""))
                case _:
                    for word in _WORD_DIGIT.finditer(folded, start, end):
                        # A pause is no more than the space behind it.
                        replace(*word.span(), _ENGLISH_DIGITS.get(word.group().lower(), ""))
        out.append(folded[position:])
        return "".join(out)

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the input that view.text[start:end] was read from; `start < end`."""
        first, last = self._origin(start)[0], self._origin(end - 1)[1]
        # What hides behind the last character (the frame of a keycap emoji) goes with it.
        hidden = _HIDDEN.match(self.original, last)
        return first, hidden.end() if hidden else last

    def _origin(self, position: int) -> tuple[int, int]:
        piece = bisect_right(self._starts, position) - 1
        start = self._origins[piece] + position - self._starts[piece]
        end = self._ends[piece]
        return start, start + 1 if end is None else end
