"""The few numbers that recall is tuned by. All are set by hand; none is learned from a data set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from streams.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much. The parts of the evidence are in units of its own spread: 1.0 is a clear difference."""

    # Final score, DESIGN: 0.7 relevance + 0.1 importance / 5 + 0.2 recency.
    relevance: float = 0.7
    importance: float = 0.1
    recency: float = 0.2
    # Recency halves after 1 / per_day days without an access.
    recency_per_day: float = 0.05
    # In the order, beside evidence of which 1 is a clear difference: enough to decide between equals. (Ordering by the
    # final score itself costs evidence recall: what is asked about is often old.)
    order_importance: float = 0.1
    order_recency: float = 0.1

    # Hits of each search, and turns on either side of a hit that are scored with it.
    prefetch: int = 20
    # A dialogue has many topics, and no one of them stands out.
    prefetch_dialogue: int = 50
    neighbours: int = 2

    # Words: IDF-weighted coverage of the query, in units of its usual spread; synonyms and members of a kind less.
    words: float = 1.0
    words_of_dialogue: float = 0.7
    words_spread: float = 0.155
    synonyms: float = 0.3
    members: float = 0.3
    # What a chat model says in other words.
    rewritten: float = 0.3
    # The name of whom or what the question means by other words.
    bridge: float = 0.8
    # Meaning: cosine above the candidates' mean, in units of its usual spread.
    meaning: float = 1.0
    meaning_spread: float = 0.16

    # Support for an answer: coverage + cosine of the turn or one beside it (a profile's `recall` cosine counts as
    # `usual_cosine`) + matches. Nothing is shown unless one memory reaches the threshold, and nothing
    # below this share of it: what comes after a convincing one may be less so.
    # The best of many unrelated memories is better than the best of few: the threshold grows with ln(candidates).
    threshold: float = 0.285
    threshold_growth: float = 0.09
    threshold_share: float = 0.6
    threshold_words_only: float = 0.0
    # A dialogue has many words and no single one that must be met.
    threshold_dialogue: float = -0.115
    usual_cosine: float = 0.35
    # What a turn must say by itself to be shown, where there is a model: talk of something else that stands beside an
    # answer borrows nearly all of its support.
    support_alone: float = 0.25
    # Any two talks share words, so beside the meaning words count less; without a model they are all there is.
    support_words: float = 0.7
    support_person: float = 0.1
    support_date: float = 0.3
    # Who asks did not say it, and what is wished or imagined is not so.
    support_question: float = -0.15
    support_wished: float = -0.4
    # What extraction found no fact in is seldom what is asked for; the more candidates, the less that says.
    support_unkept: float = -0.12
    # The asker's own value of the very slot that was asked for: an answer, whatever its words.
    support_slot: float = 0.5
    # Relevance is a logistic function of support, 0.5 at the threshold, of this width.
    relevance_width: float = 0.2

    # What a turn takes over from the turns around it, for words and for meaning: the one before, the one before if it
    # is a question (a turn answers it), the one after; the second on either side a share of the first.
    before: tuple[float, float] = (0.4, 0.25)
    before_question: tuple[float, float] = (0.7, 0.5)
    after: tuple[float, float] = (0.45, 0.28)
    second: float = 0.8
    # "What books …?" is answered in many places: the turns around count this share, meaning that much more.
    context_of_several: float = 0.5
    meaning_of_several: float = 1.3

    # Matches.
    person: float = 1.0
    date: float = 2.0
    slot: float = 2.0
    # "When …?" wants a turn with a time in it, "how many …?" one with a number, "where …?" one with a place.
    asked_for: float = 0.8
    # What holds something worth a fact.
    kept: float = 0.4
    # What kind of turn it is: a question tells little, an answer more, a long one more, one in the first person more.
    question: float = -0.5
    answer: float = 0.1
    length: float = 0.3
    first_person: float = 0.3
    # A turn beside one that is already in the list mostly repeats why that one is there.
    beside: float = -0.5
    # In a long answer to a dialogue: one spread more like the best than the others are.
    akin: float = 0.1


DEFAULT = Weights()

# One number each; what a turn takes over from those around it comes in pairs and stays as it is.
SETTABLE: Final = tuple(f.name for f in fields(Weights) if isinstance(getattr(DEFAULT, f.name), int | float))
_COUNTS: Final = tuple(name for name in SETTABLE if isinstance(getattr(DEFAULT, name), int))
# Units, and hits without which nothing is found.
_POSITIVE: Final = (
    *(name for name in SETTABLE if name.endswith(("_spread", "_width"))),
    "prefetch",
    "prefetch_dialogue",
)


def weighted(given: Mapping[str, object]) -> Weights:
    """`DEFAULT` with other numbers for the names that are given. Raises `ConfigurationError` with all that is wrong."""
    problems = [problem for name, value in given.items() if (problem := _problem(name, value))]
    if problems:
        raise ConfigurationError(f"MEMSTREAM_RECALL_WEIGHTS: {'; '.join(problems)}. Names: {', '.join(SETTABLE)}")
    return replace(DEFAULT, **given)  # type: ignore[arg-type]


def _problem(name: str, value: object) -> str | None:
    if name not in SETTABLE:
        return f"there is no weight {name!r}"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return f"{name} must be a number"
    if name in _COUNTS and (not isinstance(value, int) or not 0 <= value <= 1000):
        return f"{name} must be a whole number from 0 to 1000"
    if name in _POSITIVE and value <= 0:
        return f"{name} must be above 0"
    return None
