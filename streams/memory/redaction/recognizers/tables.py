"""Secrets in a column: the head of a table says what its rows hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import LABELLED, Recognizer
from streams.memory.redaction.recognizers.keys import is_stand_in
from streams.memory.redaction.recognizers.tokens import EXPRESSION, MADE_UP

# What a head may say, and what a cell below it has to look like.
_COLUMNS = tuple(
    (re.compile(head, re.IGNORECASE), re.compile(cell))
    for head, cell in (
        (r"(?:\w{1,16}[ _])?(?:pass ?word|passwd|pwd|pass ?code)s?|[^|\t\n]{0,8}(?:密码|密碼|口令)", r"[!-~]{4,64}"),
        (r"(?:\w{1,16}[ _])?(?:pin|otp)(?: ?code)?s?|pin码|[^|\t\n]{0,4}验证码", r"[0-9]{4,8}"),
        (r"cv[cv]2?|安全码", r"[0-9]{3,4}"),
        (
            r"(?:\w{1,16}[ _])?(?:secret|token|api[ _]?key)|[^|\t\n]{0,8}(?:密钥|令牌)",
            r"(?=[!-~]*[A-Za-z])(?=[!-~]*[0-9])[!-~]{8,600}",
        ),
    )
)
_MOST_COLUMNS = 50
_NO_ROW = re.compile(r"[\s|:+=\-]*")  # the rule under a head


def _cells(line: str, mark: str) -> list[tuple[int, int]]:
    """Where the cells of a line stand, without the white space around them."""
    places = []
    start = 0
    for piece in line.split(mark):
        stripped = piece.strip(" `*")
        at = start + (piece.find(stripped) if stripped else 0)
        places.append((at, at + len(stripped)))
        start += len(piece) + 1
    return places


def _columns(text: str) -> Iterator[Hit]:
    columns: list[tuple[int, re.Pattern[str]]] = []
    mark, width = "", 0
    offset = 0
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        cells = _cells(body, mark) if mark else []
        if columns and len(cells) == width:
            if not _NO_ROW.fullmatch(body):
                for column, like in columns:
                    start, end = cells[column]
                    value = body[start:end]
                    # A type or an example stands in a description of a table.
                    described = is_stand_in(value) or EXPRESSION.search(value) or MADE_UP.search(value)
                    if like.fullmatch(value) and not described:
                        yield Hit("password", offset + start, offset + end, LABELLED)
        else:
            mark = next((one for one in "|\t" if one in body), "")
            cells = _cells(body, mark) if mark else []
            width = len(cells)
            columns = (
                []
                if width > _MOST_COLUMNS
                else [
                    (n, like) for n, span in enumerate(cells) for head, like in _COLUMNS if head.fullmatch(body, *span)
                ]
            )
        offset += len(line)


TABLE = Recognizer(
    "table",
    frozenset({"password"}),
    re.compile(r"(?:pass|pwd|pin|cvv|secret|token|key|密|口令|验证码|令牌)[^\n]{0,200}\n", re.IGNORECASE | re.ASCII),
    _columns,
    reach=None,
)
