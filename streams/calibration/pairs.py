"""Labelled pairs of texts: what thresholds are measured on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

from streams.calibration.items import CHINESE, ENGLISH

Label = Literal["answer", "duplicate", "conflict", "unrelated"]
LABELS: Final[tuple[Label, ...]] = get_args(Label)
Languages = Literal["en", "zh", "en,zh"]
# Of each label. A threshold comes from one half of them: fewer are no measurement, and built-in ones are added.
LEAST: Final = 20
# Explicit unrelated pairs that stand for themselves; under that, texts of different facts are unrelated pairs too.
LEAST_UNRELATED: Final = 200


class Pair(NamedTuple):
    """answer: `b` answers the question `a`. duplicate: both say the same. conflict: the same with another value.
    unrelated: about different things."""

    a: str
    b: str
    label: Label


def built_in(languages: Languages = "en,zh") -> list[Pair]:
    """Made-up facts, each said in four ways: three pairs a fact."""
    items = (ENGLISH if "en" in languages else []) + (CHINESE if "zh" in languages else [])
    return [
        pair
        for item in items
        for pair in (
            Pair(item.question, item.statement, "answer"),
            Pair(item.statement, item.paraphrase, "duplicate"),
            Pair(item.statement, item.changed, "conflict"),
        )
    ]


def filled(given: Sequence[Pair], languages: Languages = "en,zh") -> list[Pair]:
    """`given`, and the built-in pairs of each label of which there are too few to measure."""
    extra = [
        pair
        for label in LABELS
        if sum(1 for _ in of_label(given, label)) < LEAST
        for pair in of_label(built_in(languages), label)
    ]
    # Repeats of a pair would weigh it twice, and stand in both halves.
    return list(dict.fromkeys([*given, *extra]))


def facts(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Pairs that share a text are about one fact; facts in the order of their first pair."""
    fact_of: dict[str, list[Pair]] = {}
    for pair in pairs:
        one, other = fact_of.setdefault(pair.a, []), fact_of.setdefault(pair.b, [])
        if one is not other:
            # The smaller one's texts move over.
            kept, gone = (one, other) if len(one) >= len(other) else (other, one)
            kept += gone
            moved = {text for p in gone for text in (p.a, p.b)} | {pair.a, pair.b}
            fact_of |= dict.fromkeys(moved, kept)
        fact_of[pair.a].append(pair)
    distinct = {id(fact): fact for fact in fact_of.values()}
    return list(distinct.values())


def halves(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Every other fact, and every other unrelated pair: what a threshold comes from, and what it is tried on."""
    linked = facts(pair for pair in pairs if pair.label != "unrelated")
    unrelated = [pair for pair in pairs if pair.label == "unrelated"]
    first, second = ([pair for fact in linked[half::2] for pair in fact] + unrelated[half::2] for half in (0, 1))
    return first, second


def of_label(pairs: Iterable[Pair], label: Label) -> Iterator[Pair]:
    return (pair for pair in pairs if pair.label == label)
