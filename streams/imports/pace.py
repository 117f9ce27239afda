"""How far an import may run ahead of those who work it off. Pure: the time is an argument."""

from __future__ import annotations

from collections import deque

# What is said meanwhile waits for no more than what is on its way: ten seconds of work, whatever a conversation costs.
SECONDS = 10.0
# A batch in the writer and one on its way there: who finds less waits for more. Three rounds of a slow model.
LEAST_AHEAD = 200
MOST_AHEAD = 2000
# A rate is told of no less than that: the first outcomes come in a bundle.
LEAST_SECONDS = 1.0


class Pace:
    """As many conversations may be without an outcome as get theirs within ten seconds, by the rate of the last ten,
    or of all the time since the first was sent: an import that began with little would not keep a worker busy."""

    def __init__(self, now: float) -> None:
        """`now`: any clock in seconds that only goes forward."""
        self._began = now
        self._seconds = LEAST_SECONDS
        self._ended: deque[tuple[float, int]] = deque()
        self._count = 0

    def ended(self, now: float, count: int) -> None:
        self._seconds = min(SECONDS, max(LEAST_SECONDS, now - self._began))
        self._ended.append((now, count))
        self._count += count
        while self._ended[0][0] < now - SECONDS:
            self._count -= self._ended.popleft()[1]

    @property
    def ahead(self) -> int:
        return min(MOST_AHEAD, max(LEAST_AHEAD, round(self._count * SECONDS / self._seconds)))
