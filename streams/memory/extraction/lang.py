"""Script and length: what counts as Chinese text, how long a memory may be, words of a text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

CJK = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’][A-Za-z]+)*")
_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:['’.:-][^\W_{CJK}]+)*")

# A CJK character says about as much as three Latin letters: both limits are some two spoken sentences.
MAX_CJK = 100
MAX_LATIN = 300


@lru_cache(maxsize=32)  # a sentence is asked about many times in a row
def language(text: str) -> str:
    """`zh` when at least a third of the words are Chinese characters counted in pairs, else `en`."""
    characters = 0 if text.isascii() else len(_CJK_CHARACTER.findall(text))
    if not characters:
        return "en"
    return "zh" if characters >= len(_LATIN_WORD.findall(text)) else "en"


def is_chinese(text: str) -> bool:
    return language(text) == "zh"


def limit(text: str, cjk: int = MAX_CJK, latin: int = MAX_LATIN) -> int:
    """The longest that a memory with this wording may be, in characters."""
    return cjk if is_chinese(text) else latin


def words(text: str) -> list[str]:
    """Lower-case words; each Chinese character is a word of its own."""
    return _WORD.findall(fold(text))


def fold(text: str) -> str:
    """Same characters in one form for comparing: NFKC, case and apostrophes folded. Length may change."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
