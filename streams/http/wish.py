"""What a statement asks for: the clauses from the first word of need or wish to the end of its sentence."""

from __future__ import annotations

import re

import regex

_SENTENCE = regex.compile(r"[^。！？!?\n]+?(?=[。！？!?\n]|\.(?:\s|$)|$)")
_CLAUSE = re.compile(r"[^，,；;]+[，,；;]?")
_WISH = regex.compile(
    r"需要|想要|希望|想请|麻烦|请帮|帮我|得(?:先|提前)|"
    r"\b(?:needs?|would like|wants?|wish(?:es)?|hopes?|please|have to|has to|must)\b",
    regex.IGNORECASE,
)


def wish(text: str) -> str | None:
    """None when nothing is asked for.

    >>> wish("我下周三下午要去北京见客户，需要提前订高铁票，靠窗座位。")
    '需要提前订高铁票，靠窗座位'
    >>> wish("I fly to Rome on Friday, need a window seat. Bye.")
    'need a window seat'
    >>> wish("I live in Bonn.") is None
    True
    """
    for sentence in _SENTENCE.finditer(text):
        clauses = _CLAUSE.findall(sentence.group().strip())
        for at, clause in enumerate(clauses):
            if _WISH.search(clause):
                return "".join(clauses[at:]).strip(" ，,；;.") or None
    return None


def event(text: str) -> str | None:
    """What the first sentence says before it asks for something.

    >>> event("我下周三下午要去北京见客户，需要提前订高铁票，靠窗座位。")
    '我下周三下午要去北京见客户'
    >>> event("Please book a window seat.") is None
    True
    """
    first = _SENTENCE.search(text)
    clauses = _CLAUSE.findall(first.group().strip()) if first else []
    asked = next((at for at, clause in enumerate(clauses) if _WISH.search(clause)), len(clauses))
    return "".join(clauses[:asked]).strip(" ，,；;.") or None
