"""Nothing is remembered that was not said: names, numbers and dates of a memory must occur in its source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from streams.memory.extraction.lang import CJK, fold

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_LATIN_NAME = re.compile(r"(?<![.!?。！？] )(?<!^)\b[A-Z][\w’'-]+")
_CHINESE_RUN = re.compile(rf"[{CJK}]{{2,}}")
_NUMERALS = str.maketrans("零〇一二两三四五六七八九", "001223456789")
_COUNTING = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty
"""
_ENGLISH_NUMERALS = {word: str(number) for number, word in enumerate(_COUNTING.split())}


def grounded(content: str, source: str, *, value: str | None = None, dates: Iterable[datetime] = ()) -> bool:
    """Whether all numbers and names of `content` (and the words of `value`) occur in `source` or are one of `dates`.

    Chinese has no capitals: a run of Chinese characters counts as said when at least 60 % of its character pairs do.
    """
    said = fold(source)
    numbers = set(_NUMBER.findall(said)) | set(_NUMBER.findall(said.translate(_NUMERALS)))
    numbers |= {_ENGLISH_NUMERALS[word] for word in re.findall(r"[a-z]+", said) if word in _ENGLISH_NUMERALS}
    for moment in dates:
        numbers |= {str(moment.year), str(moment.month), str(moment.day), f"{moment.month:02}", f"{moment.day:02}"}
        numbers |= {f"{moment.hour:02}:{moment.minute:02}", f"{moment.hour}:{moment.minute:02}", str(moment.hour)}
    if any(number not in numbers and number not in said for number in _NUMBER.findall(fold(content))):
        return False
    if any(fold(name) not in said for name in _LATIN_NAME.findall(content) if fold(name) not in _OUR_WORDS):
        return False
    pairs = [run[i : i + 2] for run in _CHINESE_RUN.findall(content) for i in range(len(run) - 1)]
    if pairs and sum(pair in source for pair in pairs) < 0.6 * len(pairs):
        return False
    return value is None or all(word in said for word in re.findall(r"[^\W_]{2,}", fold(value)))


# Words that a rewording in the third person brings in.
_OUR_WORDS = frozenset({"user", "user's", "the"})
