"""Words of a text, as search sees them: CJK character bigrams, Latin stems, numbers and codes whole.

Chinese is searched by character bigrams: segmented words cost ten points of recall. English by Snowball stems
without stop words, irregular forms brought to their base. Everything is NFKC- and case-folded first, so full width
and half width, capital and small, are one.
"""

from __future__ import annotations

import re
import threading
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import Stemmer

from schemas.memory import Statement
from streams.memory.lexicon import IRREGULAR, STOP_WORDS
from streams.ports import SparseVector

# BM25 with a fixed average length, so that a passage's weights depend on nothing but its own text: an index that
# another memory can't change is replay-safe. 12 terms is the length of a chat turn without its stop words.
K1: Final = 0.9
B: Final = 0.3
AVERAGE_LENGTH: Final = 12.0

# Speakers that are no one's name.
ROLE_NAMES: Final = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", "用户", "助手"})

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    rf"|(?P<latin>[^\W_{_CJK}]+(?:(?:[-_./:'’]|(?<=\d),(?=\d))[^\W_{_CJK}]+)*)"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DIGIT = re.compile(r"\d")
_stemmers = threading.local()


def fold(text: str) -> str:
    """NFKC and case folding: what makes two spellings the same text for search."""
    return unicodedata.normalize("NFKC", text).casefold()


def _plain(word: str) -> str:
    """Latin letters without their accents: café = cafe."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The term of one folded Latin word: irregular form, then Snowball English."""
    word = _plain(word)
    base = IRREGULAR.get(word, word)
    stemmer = getattr(_stemmers, "english", None)
    if stemmer is None:
        # A Snowball stemmer holds state while it runs: one a thread.
        stemmer = _stemmers.english = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(base))


def _word_terms(word: str) -> Iterable[str]:
    word = word.replace("’", "'")
    if word in STOP_WORDS:
        return
    head, _, tail = word.partition("'")
    # Possessive and contraction: "Anna's" is Anna, "they've" is they; "o'brien" is kept whole.
    if tail and tail not in ("s", "d", "m", "t", "ll", "re", "ve"):
        yield head + tail
        return
    if head not in STOP_WORDS and (len(head) > 1 or not head.isascii()):
        yield stem(head)


def terms(text: str) -> list[str]:
    """The terms of a text in their order, repeats kept.

    >>> terms("She went running with 3 dogs")
    ['go', 'run', '3', 'dog']
    >>> terms("靠窗座位")
    ['靠窗', '窗座', '座位']
    """
    found: list[str] = []
    for match in _TOKEN.finditer(fold(text)):
        token = match.group()
        if match.lastgroup == "cjk":
            found += [token[i : i + 2] for i in range(len(token) - 1)] or [token]
        elif _DIGIT.search(token):
            # A code or number is one term with what joins it: 2023-05-07, 10:30, a-1024, v2.1, 3.5.
            found.append(token.replace(",", "") if _GROUPED_NUMBER.fullmatch(token) else token)
        else:
            for word in _WORD.findall(token):
                found += _word_terms(word)
    return found


@lru_cache(maxsize=100_000)
def term_id(term: str) -> int:
    """A term's index in the sparse space: CRC-32, the same in every process and version."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def tf_weight(tf: float, length: float) -> float:
    """BM25's term-frequency part for a term that occurs `tf` times among `length` terms."""
    return tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / AVERAGE_LENGTH))


def _vector(weights: dict[int, float]) -> SparseVector:
    ordered = sorted(weights.items())
    return SparseVector(tuple(i for i, _ in ordered), tuple(w for _, w in ordered))


def sparse_passage(text: str) -> SparseVector:
    """What a memory is found by: BM25 weights without IDF, which the store applies."""
    counts = Counter(terms(text))
    length = counts.total()
    weights: dict[int, float] = {}
    for term, tf in counts.items():
        index = term_id(term)
        weights[index] = max(weights.get(index, 0.0), tf_weight(tf, length))
    return _vector(weights)


def sparse_terms(weighted: dict[str, float]) -> SparseVector:
    """A sparse query of chosen terms."""
    weights: dict[int, float] = {}
    for term, weight in weighted.items():
        weights[term_id(term)] = max(weights.get(term_id(term), 0.0), weight)
    return _vector(weights)


def sparse_query(text: str) -> SparseVector:
    """Every distinct term of a query once."""
    return sparse_terms(dict.fromkeys(terms(text), 1.0))


def passage_text(statement: Statement) -> str:
    """What is embedded of a memory: "Speaker: text" where the speaker has a name, else the text."""
    speaker = (statement.speaker or "").strip()
    if not speaker or fold(speaker) in ROLE_NAMES:
        return statement.content
    return f"{speaker}: {statement.content}"
