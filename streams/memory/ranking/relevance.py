"""From evidence to a relevance in 0-1, and the line under which nothing is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from schemas import MemoryRecord
from streams.memory.decay.fading import effective_importance
from streams.memory.ranking.score import Judged
from streams.memory.ranking.weights import Weights

DAY: Final = timedelta(days=1)


SUPPORT: Final = ("words", "meaning", "person", "date")


def support(judged: Judged) -> float:
    """The evidence that ties a memory to this very query, without what its kind is worth for any."""
    return sum(judged.parts.get(name, 0.0) for name in SUPPORT)


def relevance(judged: Judged, weights: Weights) -> float:
    """0-1; 0.5 at the threshold."""
    return 1 / (1 + math.exp(-(support(judged) - weights.threshold) / weights.threshold_slope))


def recency(record: MemoryRecord, now: datetime, weights: Weights) -> float:
    """1 / (1 + 0.05 days since the last access), 0-1."""
    seen = record.last_access_time or record.occurred_at
    return 1 / (1 + weights.recency_per_day * max(0.0, (now - seen) / DAY))


def final_score(judged: Judged, now: datetime, weights: Weights) -> tuple[float, Mapping[str, float]]:
    """The final score and its three parts, each already weighted."""
    parts = {
        "relevance": weights.relevance * relevance(judged, weights),
        "importance": weights.importance * effective_importance(judged.record, now) / 5,
        "recency": weights.recency * recency(judged.record, now, weights),
    }
    return sum(parts.values()), parts
