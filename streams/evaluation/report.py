"""The figures of a run: one share a dimension, and the goal that it is held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from streams.evaluation.checks import Check, Dimension

# What a standing installation should reach; `recall` (questions in other words) is reported without one.
GOALS: Final[Mapping[Dimension, float]] = {
    "completeness": 0.90,
    "accuracy": 0.97,
    "conflict": 0.95,
    "unrelated": 1.00,
    "timeline": 0.95,
    "isolation": 1.00,
}


@dataclass(frozen=True, slots=True)
class Score:
    """`n` checks of which `passed` held; `share` is None where there was nothing to check."""

    dimension: Dimension
    passed: int
    n: int

    @property
    def share(self) -> float | None:
        return self.passed / self.n if self.n else None

    @property
    def goal(self) -> float | None:
        return GOALS.get(self.dimension)


def scores(checks: Sequence[Check]) -> list[Score]:
    """One score a dimension, always all of them, in the same order."""
    return [
        Score(name, sum(c.passed for c in checks if c.dimension == name), sum(c.dimension == name for c in checks))
        for name in get_args(Dimension)
    ]


def below(found: Sequence[Score], floors: Mapping[Dimension, float] = GOALS) -> list[Score]:
    """Scores under their floor. What could not be measured is not under it."""
    return [s for s in found if s.share is not None and s.dimension in floors and s.share < floors[s.dimension]]
