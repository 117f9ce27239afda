"""The second step of a question: "what does my boss drink?" asks about Li Wei, if it was said that the boss is Li Wei.

A fact is a bridge when the question has its slot in words (whose and what) and not its value: then the value's words
are looked for as well. So is one that says who somebody is ("my dentist is Dr. Okafor"), be it on the way ("my sister
Ada plays chess"): then the name is.
What was said decides, so no name has to be known in advance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from schemas import Layer, MemoryRecord
from streams.memory.lexical import fold, terms
from streams.memory.ranking.query import Understanding

# A name, not a sentence.
MOST_CHARS: Final = 40
# "My sister is called Ada": whoever asks about the sister asks about Ada.
_NAME: Final = frozenset({"name", "nickname"})
# "My dentist is Dr. Okafor", 我的房东是李先生: somebody of one's own, and a name.
_IS_NAMED: Final = re.compile(
    r"^\W*(?:(?i:my|our) (?P<whom>[\w ]{2,30}?)(?:['’]s name)? (?:is|is called|is named|was) "
    r"(?P<name>(?:[A-Z][\w'’-]*\.? ?){1,4})\W*$"
    r"|我们?家?的?(?P<whose>[\u4e00-\u9fff]{1,6}?)(?:的名字)?(?:是|叫做?|名叫)(?P<called>[\u4e00-\u9fff]{2,4})[。！!.]?$)"
)


def bridged(understanding: Understanding, records: Iterable[MemoryRecord]) -> frozenset[str]:
    """Terms of what the question asks about in other words: values of facts, and names.

    `records` are what is current. A dialogue asks nothing in such a way.
    """
    if understanding.dialogue:
        return frozenset()
    asked = frozenset(understanding.words)
    kindred = asked | understanding.added.keys()
    found: set[str] = set()
    meant: list[MemoryRecord] = []
    for record in records:
        if record.layer is not Layer.FACT:
            continue
        named = _introduced(record, asked) | _named(record, asked)
        found |= named
        if _means(record, asked, kindred, bool(named)):
            meant.append(record)
    # "My sister's employer" is not one's own.
    of_others = {record.attribute for record in meant if _of_another(record)}
    for record in meant:
        if _of_another(record) or record.attribute not in of_others:
            found.update(terms(record.value or ""))
    return frozenset(found)


def _of_another(record: MemoryRecord) -> bool:
    return fold(record.subject or "user") != "user"


def _named(record: MemoryRecord, asked: frozenset[str]) -> frozenset[str]:
    """The name in "my dentist is Dr. Okafor", if the question asks about the dentist."""
    said = _IS_NAMED.match(record.content)
    if said is None:
        return frozenset()
    whom = terms(said["whom"] or said["whose"])
    named = frozenset(terms(said["name"] or said["called"]))
    return named if whom and asked.issuperset(whom) and asked.isdisjoint(named) else frozenset()


def _introduced(record: MemoryRecord, asked: frozenset[str]) -> frozenset[str]:
    """The name of a fact's subject, if the words say right before it whom the question asks about: "my sister Ada"."""
    name = fold(record.subject or "user")
    before, _, _ = fold(record.content).partition(name)
    whom = terms(before.split()[-1])[-1:] if before.strip() and before.rstrip()[-1].isalpha() else []
    named = frozenset(terms(name))
    return named if whom and whom[0] in asked and asked.isdisjoint(named) else frozenset()


def _means(record: MemoryRecord, asked: frozenset[str], kindred: frozenset[str], introduced: bool) -> bool:
    """Whether the question has the slot of a fact in words, and not what fills it."""
    if record.cardinality != "single" or not record.attribute or not record.value:
        return False
    of_another = _of_another(record)
    whose = set(terms(record.subject or "")) if of_another and not introduced else set()
    what = set() if of_another and record.attribute in _NAME else set(terms(record.attribute))
    named = terms(record.value)
    if len(record.value) > MOST_CHARS or any(c.isdigit() for c in record.value) or not asked.isdisjoint(named):
        return False
    return bool(whose | what) and whose <= asked and what <= kindred
