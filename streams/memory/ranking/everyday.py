"""Everyday words: what else a question's words may be called in what was said, in English and in Chinese.

The table is `everyday.txt`, to be read and edited: lines of words that stand for one another, and lines "kind >
members". A word of a question brings its synonyms of both languages and the members of the kind that it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    text = (resources.files("streams.memory.ranking") / "everyday.txt").read_text("utf-8")
    synonyms, members = _read(text.splitlines())
    by_term: dict[str, list[Entry]] = {}
    for entry in synonyms:
        by_term.setdefault(entry[0], []).append(entry)
    return by_term, synonyms, members


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
