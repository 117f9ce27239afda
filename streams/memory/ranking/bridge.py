"""The second step of a question: "what does my boss drink?" asks about Li Wei, if it was said that the boss is Li Wei.

A fact is a bridge when the question has its slot in words (whose and what) and not its value: then the value's words
are looked for as well. What was said decides, so no name has to be known in advance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas import Layer, MemoryRecord
from streams.memory.lexical import fold, terms
from streams.memory.ranking.query import Understanding

# A name, not a sentence.
MOST_CHARS: Final = 40
# "My sister is called Ada": whoever asks about the sister asks about Ada.
_NAME: Final = frozenset({"name", "nickname"})


def bridged(understanding: Understanding, records: Iterable[MemoryRecord]) -> frozenset[str]:
    """Terms of the values that the question asks about in other words.

    `records` are what is current. A dialogue asks nothing in such a way.
    """
    if understanding.dialogue:
        return frozenset()
    asked = frozenset(understanding.words)
    kindred = asked | understanding.added.keys()
    return frozenset(term for record in records if _means(record, asked, kindred) for term in terms(record.value or ""))


def _means(record: MemoryRecord, asked: frozenset[str], kindred: frozenset[str]) -> bool:
    """Whether the question has the slot of a fact in words, and not what fills it."""
    if record.layer is not Layer.FACT or record.cardinality != "single" or not record.attribute or not record.value:
        return False
    subject = fold(record.subject or "user")
    of_another = subject != "user"
    whose = set(terms(subject)) if of_another else set()
    what = set() if of_another and record.attribute in _NAME else set(terms(record.attribute))
    named = terms(record.value)
    if len(record.value) > MOST_CHARS or any(c.isdigit() for c in record.value) or not asked.isdisjoint(named):
        return False
    return bool(whose | what) and whose <= asked and what <= kindred
