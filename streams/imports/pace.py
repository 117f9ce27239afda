"""How far an import may run ahead of those who work it off. Pure: the time is an argument."""

from __future__ import annotations

from collections import deque

# What is said meanwhile waits for no more than what is on its way: ten seconds of work, whatever a conversation costs.
SECONDS = 10.0
# Enough to get going, and to keep a slow model busy.
LEAST_AHEAD = 100
MOST_AHEAD = 2000


class Pace:
    """As many conversations may be without an outcome as got theirs within the last ten seconds."""

    def __init__(self) -> None:
        self._ended: deque[tuple[float, int]] = deque()
        self._count = 0

    def ended(self, now: float, count: int) -> None:
        """`now`: any clock in seconds that only goes forward."""
        self._ended.append((now, count))
        self._count += count
        while self._ended[0][0] < now - SECONDS:
            self._count -= self._ended.popleft()[1]

    @property
    def ahead(self) -> int:
        return min(MOST_AHEAD, max(LEAST_AHEAD, self._count))
