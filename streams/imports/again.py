"""An import outlasts a broker that is away: it tries again, with longer and longer pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from streams.client import DeadlineExceeded, Unavailable
from streams.errors import DependencyDown

AWAY = (Unavailable, DeadlineExceeded, DependencyDown)
MOST_SECONDS = 30.0


def persistent(
    say: Callable[[str], None],
    begun: Callable[[], bool] = lambda: True,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncRetrying:
    """Attempts until one ends well, or what made it fail is no outage. `say`: of each outage and of how long it waits.

    What fails before it has `begun` is not tried again: an address that is wrong stays wrong. `sleep`: of the pauses.
    """

    def tell(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        say(f"{error}; trying again in {state.upcoming_sleep:.0f} s")

    return AsyncRetrying(
        sleep=sleep,
        retry=retry_if_exception(lambda error: isinstance(error, AWAY) and begun()),
        wait=wait_random_exponential(multiplier=2, min=1, max=MOST_SECONDS),
        before_sleep=tell,
        reraise=True,
    )
