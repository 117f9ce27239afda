"""Everyday words: what else something may be called, and what kind of thing it is, in English and in Chinese.

The table is `everyday.txt`, to be read and edited: lines of words that stand for one another, and lines "kind >
members". A word of a question brings its synonyms of both languages and the members of the kind that it names; two
members of one kind can stand in each other's place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from types import MappingProxyType

from streams.memory.lexical import terms

# The terms of one entry: several for a phrase or a Chinese word of three characters and more.
Entry = tuple[str, ...]
_Table = dict[Entry, list[Entry]]


@dataclass(frozen=True, slots=True)
class Expansion:
    """Terms that a query brings along, with their share (1 / number of terms of the entry) in 0-1."""

    synonyms: Mapping[str, float]
    members: Mapping[str, float]


NOTHING = Expansion(MappingProxyType({}), MappingProxyType({}))


def _entry(word: str) -> Entry:
    return tuple(dict.fromkeys(terms(word.replace("_", " "))))


def _read(lines: Sequence[str]) -> tuple[_Table, _Table]:
    synonyms: _Table = {}
    members: _Table = {}
    for line in lines:
        head, _, tail = line.partition("#")[0].partition(">")
        same, kinds = ([entry for word in part.split() if (entry := _entry(word))] for part in (head, tail))
        for entry in same:
            synonyms.setdefault(entry, []).extend(other for other in same if other != entry)
            members.setdefault(entry, []).extend(kinds)
    return synonyms, {entry: kinds for entry, kinds in members.items() if kinds}


@lru_cache(maxsize=1)
def _tables() -> tuple[dict[str, list[Entry]], _Table, _Table]:
    """Entries by their first term (to look up few of them), synonyms, members."""
    text = (resources.files("streams.memory") / "everyday.txt").read_text("utf-8")
    synonyms, members = _read(text.splitlines())
    by_term: dict[str, list[Entry]] = {}
    for entry in synonyms:
        by_term.setdefault(entry[0], []).append(entry)
    return by_term, synonyms, members


@lru_cache(maxsize=1)
def _kinds() -> dict[str, list[tuple[Entry, int, bool]]]:
    """Entries of the lines that tell of a kind, by their first term: (entry, line, whether it is a member)."""
    text = (resources.files("streams.memory") / "everyday.txt").read_text("utf-8")
    found: dict[str, list[tuple[Entry, int, bool]]] = {}
    for number, line in enumerate(text.splitlines()):
        head, _, tail = line.partition("#")[0].partition(">")
        for part, is_member in ((head, False), (tail, True)) if tail.strip() else ():
            for entry in filter(None, map(_entry, part.split())):
                found.setdefault(entry[0], []).append((entry, number, is_member))
    return found


def akin(one: AbstractSet[str], other: AbstractSet[str]) -> bool:
    """Do two texts, as sets of terms, name different things of one kind? One of them may name the kind itself.

    >>> akin({"latt"}, {"black", "coffe"}), akin({"latt"}, {"jazz"})
    (True, False)
    """

    def named(text: AbstractSet[str]) -> dict[int, tuple[set[Entry], bool]]:
        found: dict[int, tuple[set[Entry], bool]] = {}
        for term in text:
            for entry, number, is_member in _kinds().get(term, ()):
                if set(entry) <= text:
                    entries, member = found.get(number, (set(), False))
                    found[number] = (entries | {entry}, member or is_member)
        return found

    here, there = named(one), named(other)
    return any(
        (here[kind][1] or there[kind][1]) and here[kind][0] != there[kind][0] for kind in here.keys() & there.keys()
    )


def expand(query_terms: Sequence[str]) -> Expansion:
    """What the table adds to the terms of a query. A phrase is looked up when all of its terms are there.

    >>> sorted(expand(["boss"]).synonyms)[:2]
    ['manag', 'supervisor']
    """
    by_term, synonyms, members = _tables()
    present = set(query_terms)

    def gather(table: _Table) -> dict[str, float]:
        found: dict[str, float] = {}
        for term in present:
            for entry in by_term.get(term, ()):
                if present.issuperset(entry):
                    for other in table.get(entry, ()):
                        for added in other:
                            if added not in present:
                                found[added] = max(found.get(added, 0.0), 1 / len(other))
        return found

    same = gather(synonyms)
    return Expansion(same, {term: share for term, share in gather(members).items() if term not in same})
