"""From evidence to a relevance in 0-1, and the line under which nothing is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from schemas import MemoryRecord
from streams.memory.decay.fading import effective_importance
from streams.memory.ranking.query import Understanding
from streams.memory.ranking.score import Judged
from streams.memory.ranking.weights import Weights

DAY: Final = timedelta(days=1)


def threshold(understanding: Understanding, candidates: int, with_model: bool, weights: Weights) -> float:
    """The support that an answer needs among so many candidates."""
    if understanding.dialogue:
        least = weights.threshold_dialogue
    elif with_model:
        least = weights.threshold
    else:
        least = weights.threshold_words_only
    return least + weights.threshold_growth * math.log(max(1, candidates))


def relevance(support: float, needed: float, weights: Weights) -> float:
    """0-1; 0.5 at the threshold."""
    return 1 / (1 + math.exp(-(support - needed) / weights.relevance_width))


def floor(judged: Sequence[Judged], needed: float, weights: Weights) -> float:
    """The support under which nothing is shown: infinite when no memory is convincing, since then none answers."""
    convincing = any(one.support >= needed for one in judged)
    return needed * weights.threshold_share if convincing else math.inf


def recency(record: MemoryRecord, now: datetime, weights: Weights) -> float:
    """1 / (1 + 0.05 days since the last access), 0-1."""
    seen = record.last_access_time or record.occurred_at
    return 1 / (1 + weights.recency_per_day * max(0.0, (now - seen) / DAY))


def worth(judged: Judged, understanding: Understanding, now: datetime, weights: Weights) -> float:
    """What orders the answer: the evidence, then importance and recency.

    Evidence is on a scale where 1 is a clear difference, so these two decide between what answers equally well. A
    question about the past ("when …?", "in May …") wants no recent memory for being recent: there recency is nothing.
    """
    historic = understanding.asks == "time" or bool(understanding.periods)
    recent = 0.0 if historic else weights.order_recency * recency(judged.record, now, weights)
    return judged.evidence + weights.order_importance * effective_importance(judged.record, now) / 5 + recent


def final_score(judged: Judged, needed: float, now: datetime, weights: Weights) -> tuple[float, Mapping[str, float]]:
    """The final score and its three parts, each already weighted."""
    parts = {
        "relevance": weights.relevance * relevance(judged.support, needed, weights),
        "importance": weights.importance * effective_importance(judged.record, now) / 5,
        "recency": weights.recency * recency(judged.record, now, weights),
    }
    return sum(parts.values()), parts
