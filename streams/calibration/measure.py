"""The mean and the thresholds of a model.

- `recall`: the cosine of question and statement that 98 % of the unrelated pairs stay under.
- `duplicate`: the cosine that 90 % of the pairs of one fact with two values stay under. Strict, since a repeat that is
  missed costs a line, and a change that is taken for a repeat is lost; no cosine tells the two apart well.
- `conflict`: the cosine of two statements that best tells the same fact with another value from unrelated ones.

They come from every other fact and are tried on the rest: those are the shares that a profile may claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from streams.adapters.embedders import centre
from streams.calibration.pairs import LEAST_UNRELATED, Label, Languages, Pair, facts, halves, of_label
from streams.calibration.sentences import generic_sentences
from streams.ports import Embedder, ModelProfile, Vectors

Cosines = NDArray[np.float32]
# Facts whose texts are paired with each other's; the number of pairs grows with its square.
MOST_FACTS: Final = 400
# With a pair of each label, in each half. Pairs that share a text are of one fact.
LEAST_FACTS: Final = 5
# Between two thresholds lies what is neither a repeat nor another subject.
LEAST_GAP: Final = 0.02


@dataclass(frozen=True, slots=True)
class Calibration:
    """`mean` is None when the model's profile had one already, which stays. `shares`: of the pairs that the thresholds
    did not come from, by threshold: how many of those that should reach it do, and how many of the others."""

    mean: tuple[float, ...] | None
    thresholds: Mapping[str, float]
    shares: Mapping[str, tuple[float, float]]


# By threshold: the pairs that should reach it, and those that should not.
TELLS: Final = {
    "recall": ("answers", "unrelated questions"),
    "duplicate": ("repeats", "changed"),
    "conflict": ("changed", "unrelated statements"),
}


async def calibrate(embedder: Embedder, pairs: Sequence[Pair], languages: Languages = "en,zh") -> Calibration:
    """`embedder` gives the model's own vectors (`make_embedder(..., centred=False)`).

    Raises `ValueError` when the pairs are of too few facts, or tell no other value from another subject.
    """
    parts = halves(pairs)
    needed: tuple[Label, ...] = ("answer", "duplicate", "conflict")
    for label in needed:
        if min(len(facts(of_label(half, label))) for half in parts) < LEAST_FACTS:
            raise ValueError(f"the pairs with the label {label} are of too few different facts")
    profile = embedder.profile
    mean = None
    if profile.mean is None:
        mean = tuple(round(value, 5) for value in (await measure_mean(embedder, languages)).tolist())
        profile = replace(profile, mean=mean)
    tuning, trial = [await cosines(embedder, profile, half) for half in parts]
    cuts = thresholds(tuning)
    if cuts["duplicate"] < cuts["conflict"] + LEAST_GAP:
        raise ValueError("by these pairs the model can't tell a fact with another value from another fact")
    shares = {
        cut: (float((trial[over] >= cuts[cut]).mean()), float((trial[under] >= cuts[cut]).mean()))
        for cut, (over, under) in TELLS.items()
    }
    return Calibration(mean, {name: round(cut, 3) for name, cut in cuts.items()}, shares)


async def measure_mean(embedder: Embedder, languages: Languages) -> Vectors:
    """Mean of unit passage vectors over generic sentences, shape (dimension,), not normalised; languages in equal
    parts."""
    english, chinese = generic_sentences()
    parts = [sentences for code, sentences in (("en", english), ("zh", chinese)) if code in languages]
    means = [(await embedder.embed_passages(sentences)).mean(axis=0) for sentences in parts]
    return np.asarray(np.mean(means, axis=0), dtype=np.float32)


async def cosines(embedder: Embedder, profile: ModelProfile, pairs: Sequence[Pair]) -> dict[str, Cosines]:
    """Of each kind of pair, after centring."""
    asked = [pair for pair in pairs if pair.label in ("answer", "unrelated")]
    questions = list(dict.fromkeys(pair.a for pair in asked))
    texts = list(dict.fromkeys([p.b for p in pairs] + [p.a for p in pairs if p.label != "answer"]))
    as_query = dict(
        zip(questions, centre(np.stack([await embedder.embed_query(q) for q in questions]), profile), strict=True)
    )
    as_passage = dict(zip(texts, centre(await embedder.embed_passages(texts), profile), strict=True))

    def between(a: Mapping[str, Vectors], some: Sequence[Pair]) -> Cosines:
        return np.array([a[pair.a] @ as_passage[pair.b] for pair in some], np.float32)

    unrelated = list(of_label(pairs, "unrelated"))
    across = [] if len(unrelated) >= LEAST_UNRELATED // 2 else _across(pairs)
    return {
        "answers": between(as_query, list(of_label(pairs, "answer"))),
        "repeats": between(as_passage, list(of_label(pairs, "duplicate"))),
        "changed": between(as_passage, list(of_label(pairs, "conflict"))),
        "unrelated questions": between(as_query, [*unrelated, *(pair for pair in across if pair.label == "answer")]),
        "unrelated statements": between(as_passage, [*unrelated, *(p for p in across if p.label == "unrelated")]),
    }


def _across(pairs: Sequence[Pair]) -> list[Pair]:
    """The question of each fact with the statement of each other one ("answer"), and their statements ("unrelated").

    Within a script only: texts of two are far apart whatever they say.
    """
    linked = facts(pair for pair in pairs if pair.label != "unrelated")[:MOST_FACTS]
    said = [(fact[0].b if fact[0].label == "answer" else fact[0].a) for fact in linked]
    made: list[Pair] = []
    for place, fact in enumerate(linked):
        question = next((pair.a for pair in fact if pair.label == "answer"), None)
        for other, statement in enumerate(said):
            if other == place or _wide(statement) is not _wide(said[place]):
                continue
            if question is not None:
                made.append(Pair(question, statement, "answer"))
            made.append(Pair(said[place], statement, "unrelated"))
    return made


def _wide(text: str) -> bool:
    return any("\u2e80" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7af" for c in text)


def best_split(higher: Cosines, lower: Cosines) -> float:
    """The threshold with the highest sum of (share of `higher` at or over it) and (share of `lower` under it)."""
    candidates = np.unique(np.concatenate((higher, lower)))
    scores = [(higher >= cut).mean() + (lower < cut).mean() for cut in candidates]
    place = int(np.argmax(scores))
    below = candidates[place - 1] if place else candidates[place]
    return float((candidates[place] + below) / 2)


def thresholds(cosines: Mapping[str, Cosines]) -> dict[str, float]:
    return {
        "recall": float(np.quantile(cosines["unrelated questions"], 0.98)),
        "duplicate": float(np.quantile(cosines["changed"], 0.90)),
        "conflict": best_split(cosines["changed"], cosines["unrelated statements"]),
    }
