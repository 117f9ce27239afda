"""Cut chat text into sentences, by place: no character is lost and every sentence knows where it stands.

Chat has missing punctuation, emoji as full stops, mixed scripts, bullet lists and quoted blocks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streams.memory.extraction.lang import CJK

# Dots that end no sentence: abbreviations, initials, decimals (the last by the look-ahead for a space).
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|a\.m|p\.m|approx|no|fig|inc|ltd|jr|sr|dept|est|jan|feb|mar|apr"
    r"|jun|jul|aug|sept?|oct|nov|dec)|(?-i:\b[A-HJ-Z]))\.$",
    re.IGNORECASE,
)
_EMOJI = r"\U0001f300-\U0001faff\u2600-\u27bf"
# It begins with a class, so that `re` skips all other characters; behind it one look back tells which it was.
_BREAK = re.compile(
    r"[。！？!?….；;~～\n" + _EMOJI + r"](?:"
    r"(?<=[。！？!?…])[。！？!?…]*[”’\"'」』）)]*\s*"  # full stops of both scripts with what closes after them
    r"|(?<=\.)\.*[”’\"')]*(?=\s|$|[" + CJK + r"])\s*"
    r"|(?<=[；;])(?=\s|[" + CJK + r"])\s*"
    r"|(?<=[" + _EMOJI + r"])[" + _EMOJI + r"]*[\ufe0f\u200d" + _EMOJI + r"]*\s*"
    r"|(?<=[~～])[~～]*(?=\s|[" + CJK + r"]|$)\s*"
    r"|(?<=\n)\s*)"
)
_SPACE_BETWEEN_CJK = re.compile(rf"(?<=[{CJK}])[ \u3000]+(?=[{CJK}])")
_OPENING, _CLOSING = "“「『（(", "”」』）)"
_LONGEST_QUOTATION = 200  # after that an opening mark was never meant to be closed
_LONGEST_SENTENCE = 600  # characters
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
# What follows after a space belongs to what is only supposed.
_SUPPOSES = re.compile(r"^\W*(?:那|但)?(?:要是|如果|若是|假如|假设|假使|倘若|万一|哪一?天|就算|即使|除非)|^\W*等\S+了$")
# One clause, asked without a question mark; "I wonder whether" tells of a doubt, "whether or not" of neither.
_ASKS = re.compile(
    r"^(?!.*(?:考虑|[纠糾][结結]|[犹猶]豫|[决決]定|[讨討][论論]|商量|知道|[确確][定認认]|想|看看|不管|[无無][论論]|取[决決]|[试試測测]|怕|担心|[觉覺]得|喜[欢歡]))"
    r"[^，,：:“”「」『』\"]{0,8}?(?:(?P<verb>[要去是会會能可该該行好用吃喝来來做买買换換走养養搬订訂])不(?P=verb)|有[没沒]有"
    r"|[^，,：:“”「」『』\"]{0,20}[吗嗎][~～。!！…\s]*$)[^，,：:“”「」『』\"]*$"
)
_BULLET = re.compile(r"^(?:[-*•·]|\d{1,2}[.)、](?!\d)|[(（]\d{1,2}[)）])\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is message[start:end] without surrounding space; `question` when it ends in a question mark."""

    start: int
    end: int
    text: str
    question: bool = False


def sentences(text: str) -> list[Sentence]:
    """Sentences of a message in order. A quotation is never cut inside. Linear in the length of the text.

    >>> [s.text for s in sentences("我叫李雷。你好吗？I met Dr. Wu at 3.5 km")]
    ['我叫李雷。', '你好吗？', 'I met Dr. Wu at 3.5 km']
    """
    found: list[Sentence] = []
    start = 0
    inside_quotation = _Quotations(text)
    for match in _BREAK.finditer(text):
        if match.group().startswith(".") and _ABBREVIATION.search(text, max(0, match.start() - 8), match.start() + 1):
            continue
        if "\n" not in match.group() and inside_quotation(match.start()):
            continue
        _add(found, text, start, match.end())
        start = match.end()
    _add(found, text, start, len(text))
    if text.isascii() and all(len(whole.text) <= _LONGEST_SENTENCE for whole in found):
        return found
    return [piece for whole in found for part in _unpunctuated(whole) for piece in _bounded(part)]


def _bounded(sentence: Sentence) -> list[Sentence]:
    """A run-on text is cut at spaces or commas, so that no later step sees more than a long sentence at once."""
    parts: list[Sentence] = []
    while len(sentence.text) > _LONGEST_SENTENCE:
        window = sentence.text[:_LONGEST_SENTENCE]
        cut = max(window.rfind(mark) for mark in " ,，、;；:") + 1
        cut = cut if cut > _LONGEST_SENTENCE // 2 else _LONGEST_SENTENCE
        head, rest = sentence.text[:cut].rstrip(), sentence.text[cut:].lstrip()
        parts.append(Sentence(sentence.start, sentence.start + len(head), head))
        if not rest:
            return parts
        start = sentence.end - len(rest)
        sentence = Sentence(start, sentence.end, rest, sentence.question)
    return [*parts, sentence]


class _Quotations:
    """Whether a place lies inside an open quotation or bracket of the same line, asked in ascending order."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._open, self._since = text, 0, 0, 0
        self._any = any(mark in text for mark in _OPENING)

    def __call__(self, place: int) -> bool:
        if not self._any:
            return False
        for at in range(self._at, place):
            character = self._text[at]
            if character in _OPENING:
                self._since = at
                self._open += 1
            elif character in _CLOSING:
                self._open = max(0, self._open - 1)
            elif character == "\n":
                self._open = 0
        self._at = place
        return self._open > 0 and place - self._since < _LONGEST_QUOTATION


def _add(found: list[Sentence], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if not stripped:
        return
    start += len(piece) - len(piece.lstrip())
    bullet = _BULLET.match(stripped)
    if bullet and bullet.end() < len(stripped):
        start += bullet.end()
        stripped = stripped[bullet.end() :]
    if not _LETTER_OR_DIGIT.search(stripped):
        return
    tail = stripped.rstrip("”’\"'」』）)~～ ")
    found.append(Sentence(start, start + len(stripped), stripped, tail.endswith(("?", "？")) or asks(stripped)))


def asks(text: str) -> bool:
    """Whether a Chinese sentence asks without a question mark.

    >>> asks("要不要养只猫呢"), asks("我在考虑要不要养猫")
    (True, False)
    """
    return not text.isascii() and _ASKS.match(text) is not None


def _unpunctuated(sentence: Sentence) -> list[Sentence]:
    """A long Chinese line whose only breaks are spaces is several sentences."""
    gaps = [] if sentence.text.isascii() else list(_SPACE_BETWEEN_CJK.finditer(sentence.text))
    if not gaps or any(mark in sentence.text for mark in "，,、"):
        return [sentence]
    parts: list[Sentence] = []
    start = 0
    for end, following in [(gap.start(), gap.end()) for gap in gaps] + [(len(sentence.text), len(sentence.text))]:
        piece = sentence.text[start:end]
        last = end == len(sentence.text)
        if not last and _SUPPOSES.match(piece) and not _SPACE_BETWEEN_CJK.search(piece):
            continue
        question = sentence.question if last else asks(piece)
        parts.append(Sentence(sentence.start + start, sentence.start + end, piece, question))
        start = following
    return parts
