"""Calls to an OpenAI-compatible server: when to wait, when to try again, when not to try at all.

The SDK's own retries are off (`max_retries=0`), so that one place decides.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from streams.adapters.openai_errors import Misconfigured, failure
from streams.errors import ConfigurationError, DependencyDown, Refused

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Result = TypeVar("Result")
Answer = TypeVar("Answer", bound=BaseModel)
Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How much is asked of a server. Times are in seconds.

    A retry waits a random time up to `backoff_seconds`, twice that before the next, and so on up to
    `max_backoff_seconds`, and at least what the server asked for in Retry-After. After `open_after` failed attempts
    in a row nothing is sent for `open_seconds`; then one call may try.
    """

    attempts: int = 3
    backoff_seconds: float = 0.5
    max_backoff_seconds: float = 8.0
    timeout_seconds: float = 60.0
    requests_per_minute: float | None = None
    open_after: int = 5
    open_seconds: float = 15.0


class CircuitBreaker:
    """Closed: all calls pass. Open: none does, at once. Half open: one probe passes, its outcome decides."""

    def __init__(self, dependency: str, open_after: int, open_seconds: float, clock: Clock = time.monotonic) -> None:
        self._dependency = dependency
        self._open_after = open_after
        self._open_seconds = open_seconds
        self._clock = clock
        self._failures = 0
        self._opens_at: float | None = None  # when a probe may pass; None while closed
        self._probing = False

    @property
    def closed(self) -> bool:
        return self._opens_at is None

    def check(self) -> None:
        """Raise `DependencyDown` with the seconds left when a call can't pass now."""
        if self._opens_at is None:
            return
        left = self._opens_at - self._clock()
        if left > 0 or self._probing:
            raise DependencyDown(
                self._dependency,
                f"not asked, after {self._failures} failures in a row",
                retry_after=max(left, 1.0) if self._probing else left,
            )

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Run one attempt. A refusal is a sign of life; a cancelled attempt says nothing."""
        self.check()
        probe = self._opens_at is not None
        self._probing = self._probing or probe
        try:
            yield
        except DependencyDown as down:
            self._failed(down.retry_after)
            raise
        except Refused:
            self._succeeded()
            raise
        else:
            self._succeeded()
        finally:
            if probe:
                self._probing = False

    def _succeeded(self) -> None:
        self._failures = 0
        self._opens_at = None

    def _failed(self, retry_after: float | None) -> None:
        self._failures += 1
        if self._failures >= self._open_after:
            self._opens_at = self._clock() + max(self._open_seconds, retry_after or 0.0)


class TokenBucket:
    """At most `per_minute` requests a minute on the long run, with bursts of ten seconds' worth."""

    def __init__(self, per_minute: float, clock: Clock = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._capacity = max(1.0, per_minute / 6)
        self._clock = clock
        self._tokens = self._capacity
        self._filled_at = clock()

    def reserve(self, longest: float) -> float | None:
        """Take a token and return the seconds until it is due; None, and nothing taken, when over `longest`."""
        now = self._clock()
        self._tokens = min(self._capacity, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
        wait = max(0.0, (1 - self._tokens) / self._rate)
        if wait > longest:
            return None
        self._tokens -= 1
        return wait

    @property
    def interval(self) -> float:
        return 1 / self._rate


class GuardedCalls:
    """Runs calls to one server under a `CallPolicy`; SDK errors become `DependencyDown` and `Refused`."""

    def __init__(
        self,
        dependency: str,
        policy: CallPolicy,
        *,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._dependency = dependency
        self._policy = policy
        self._clock = clock
        self._sleep = sleep
        self._breaker = CircuitBreaker(dependency, policy.open_after, policy.open_seconds, clock)
        self._bucket = TokenBucket(policy.requests_per_minute, clock) if policy.requests_per_minute else None

    async def run(self, call: Callable[[], Awaitable[Result]], *, deadline_seconds: float) -> Result:
        """The result of `call`, tried as often as the policy says, before the deadline.

        A wait that would pass the deadline is not begun: the caller gets the failure, with its `retry_after`, at once.
        """
        ends_at = self._clock() + deadline_seconds
        retrying = AsyncRetrying(
            retry=retry_if_exception(self._worth_another_try),
            stop=stop_after_attempt(self._policy.attempts) | stop_before_delay(deadline_seconds),
            wait=self._wait,
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(self._attempt, call, ends_at)

    async def _attempt(self, call: Callable[[], Awaitable[Result]], ends_at: float) -> Result:
        import openai

        self._breaker.check()
        await self._take_turn(ends_at - self._clock())
        seconds = min(self._policy.timeout_seconds, ends_at - self._clock())
        with self._breaker.watch():
            try:
                async with asyncio.timeout(seconds):
                    return await call()
            except TimeoutError:
                # Covers a server that keeps the connection alive byte by byte, which a read time-out never notices.
                raise DependencyDown(self._dependency, f"no answer within {seconds:.3g} s") from None
            except openai.OpenAIError as error:
                raise failure(error, self._dependency) from None

    async def _take_turn(self, longest: float) -> None:
        if self._bucket is None:
            return
        wait = self._bucket.reserve(longest)
        if wait is None:
            raise DependencyDown(self._dependency, "our own rate limit", retry_after=self._bucket.interval)
        if wait:
            await self._sleep(wait)

    def _worth_another_try(self, error: BaseException) -> bool:
        return isinstance(error, DependencyDown) and not isinstance(error, Misconfigured) and self._breaker.closed

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, DependencyDown) else None
        backoff = wait_random_exponential(self._policy.backoff_seconds, self._policy.max_backoff_seconds)(state)
        return backoff + (asked or 0.0)


def connect(base_url: str, key: SecretStr | str | None, timeout_seconds: float) -> AsyncOpenAI:
    """The SDK's client without its retries, and without its DEBUG log, which holds whole requests in openai 2."""
    try:
        from openai import AsyncOpenAI
    except ImportError as error:
        raise ConfigurationError("the package openai is not installed: pip install openai") from error
    sdk_log = logging.getLogger("openai")
    sdk_log.setLevel(max(sdk_log.level, logging.INFO))
    secret = key.get_secret_value() if isinstance(key, SecretStr) else key
    # Local servers want no key, the SDK wants one.
    return AsyncOpenAI(base_url=base_url, api_key=secret or "none", timeout=timeout_seconds, max_retries=0)


def read_answer(kind: type[Answer], body: bytes, dependency: str) -> Answer:
    """`body` as `kind`. The SDK believes any JSON, and takes other text for an answer; we do not."""
    try:
        return kind.model_validate_json(body)
    except ValidationError:
        raise DependencyDown(dependency, "the answer is not what the API promises") from None
