"""The few numbers that recall is tuned by. All are set by hand; none is learned from a data set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the final score, and how many candidates a search brings."""

    relevance: float = 0.7
    importance: float = 0.1
    recency: float = 0.2
    # Recency halves after 1 / per_day days without an access.
    recency_per_day: float = 0.05
    # Hits of each search, and turns on either side of a hit that are scored with it.
    prefetch: int = 20
    neighbours: int = 2


DEFAULT = Weights()
