"""What every request passes before its endpoint: the key, its rate, the size and pace of the body, a place in flight.

The check belongs to the route, not to a path: no spelling of a path leads around it. It looks at headers first, so
that nobody without a key can make the gateway read a body.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from pydantic_core import from_json
from starlette.requests import ClientDisconnect

from streams import metrics
from streams.http.keys import VERBS, ApiKey, KeyRing
from streams.http.problems import Problem, try_again
from streams.settings import Settings

log = logging.getLogger(__name__)

# Without keys there is no namespace of a key to fall back to.
DEFAULT_NAMESPACE = "default"
REMIND_SECONDS = 600.0
MAX_HEAD_BYTES = 64 * 1024
JSON, FORM = "application/json", "multipart/form-data"
# Endpoints that take a file as well as JSON.
FILES = ("import",)
# Forms of one key that are in memory at a time.
MOST_UPLOADS = 2
# A second value of one of these would be read by one program and ignored by another.
ONCE = ("authorization", "content-length", "content-type", "host", "idempotency-key", "prefer")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `key` is None when authorization is off."""

    key: ApiKey | None

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """Those that the key is bound to; None: all."""
        return None if self.key is None else self.key.namespaces

    def namespace(self, given: str | None) -> str:
        """The namespace that the request works in. Raises `Problem` 403 for one that the key is not bound to."""
        if self.key is None:
            return given if given is not None else DEFAULT_NAMESPACE
        if given is None:
            return self.key.default_namespace
        if given not in self.key.namespaces:
            raise Problem(403, "forbidden-namespace", "this API key is not bound to that namespace")
        return given

    def require(self, verb: str) -> None:
        """Raises `Problem` 403 for what the key may not do."""
        if self.key is not None and verb not in self.key.verbs:
            raise Problem(403, "forbidden-verb", f"this API key may not {verb}")


class Guard:
    """One a gateway. Raises `ConfigurationError` for a file of keys that can't be read."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._keys = KeyRing(settings.http_keys) if settings.http_auth == "keys" else None
        self._rate = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._rates: dict[str, RateLimitItem] = {}
        self._in_flight = 0
        self._uploads: Counter[str] = Counter()
        self._remind_at = 0.0
        self.remind()
        if self._keys is not None and not len(self._keys):
            log.warning("there is no API key yet: `memstream keys add NAME --namespace NAMESPACE` makes one")

    def remind(self) -> None:
        """Authorization that is off is said again and again."""
        if self._keys is None and time.monotonic() >= self._remind_at:
            self._remind_at = time.monotonic() + REMIND_SECONDS
            log.warning("authorization is OFF (MEMSTREAM_HTTP_AUTH=off): whoever reaches the port may do everything")

    def authenticate(self, request: Request) -> Caller:
        """Raises `Problem` 401."""
        self.remind()
        if self._keys is None:
            return Caller(None)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        key = self._keys.verify(token.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Problem(
                401,
                "no-valid-key",
                "send an API key as `Authorization: Bearer KEY`; `memstream keys add` makes one",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return Caller(key)

    async def count(self, caller: Caller) -> None:
        """Raises `Problem` 429 when the key has used up its rate."""
        if caller.key is None:
            return
        text = caller.key.rate or self.settings.http_rate
        rate = self._rates.setdefault(text, parse(text))
        if not await self._rate.hit(rate, caller.key.id):
            window = await self._rate.get_window_stats(rate, caller.key.id)
            raise try_again(
                429, "rate-limited", f"this API key may make {rate}; slow down", window.reset_time - time.time()
            )

    @contextmanager
    def place(self) -> Iterator[None]:
        """One of the places in flight. Raises `Problem` 429 when all are taken."""
        if self._in_flight >= self.settings.http_max_in_flight:
            raise try_again(429, "overloaded", "too many requests are under way; try again in a moment", 1)
        self._in_flight += 1
        metrics.HTTP_IN_FLIGHT.set(self._in_flight)
        try:
            yield
        finally:
            self._in_flight -= 1
            metrics.HTTP_IN_FLIGHT.set(self._in_flight)

    @contextmanager
    def upload(self, caller: Caller) -> Iterator[None]:
        """One of the key's places for a file: nobody else waits for whoever sends one slowly. Raises `Problem` 429."""
        who = caller.key.id if caller.key else ""
        if self._uploads[who] >= MOST_UPLOADS:
            raise try_again(429, "overloaded", f"send at most {MOST_UPLOADS} files at a time", 5)
        self._uploads[who] += 1
        try:
            yield
        finally:
            self._uploads[who] -= 1
            if not self._uploads[who]:
                del self._uploads[who]


class GuardedRequest(Request):
    """Its body is JSON, or a form, of a bounded size that arrived in time."""

    def __init__(self, request: Request, settings: Settings, *, form: bool = False) -> None:
        super().__init__(request.scope, request.receive)
        self._most, self._seconds = settings.http_max_body_bytes, settings.http_body_seconds
        if form:
            self._seconds *= max(1, settings.http_max_upload_bytes / self._most)
            self._most = settings.http_max_upload_bytes

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            try:
                async with asyncio.timeout(self._seconds):
                    self._body = await self._read()
            except TimeoutError:
                raise Problem(408, "slow-body", f"the body did not arrive within {self._seconds:g} s") from None
            except ClientDisconnect:
                raise Problem(400, "incomplete-body", "the connection ended before the body did") from None
        return self._body

    async def _read(self) -> bytes:
        declared = self.headers.get("content-length", "0")
        read = bytearray()
        if not (declared.isascii() and declared.isdigit()) or int(declared) > self._most:
            raise too_large(self._most)
        async for chunk in self.stream():
            read += chunk
            if len(read) > self._most:
                raise too_large(self._most)
        return bytes(read)

    async def json(self) -> Any:
        try:
            # Depth is bounded (200): Python's own reader would run out of stack.
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise Problem(400, "not-json", f"the body is not JSON: {error}") from None


def too_large(most: int) -> Problem:
    return Problem(413, "too-large", f"a body has at most {most} bytes; send it in parts")


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def check_headers(request: Request, *, files: bool = False) -> None:
    """What a proxy and the gateway could read differently. Raises `Problem` 400, 415 or 431."""
    if sum(len(name) + len(value) for name, value in request.headers.raw) > MAX_HEAD_BYTES:
        raise Problem(431, "headers-too-large", f"headers have at most {MAX_HEAD_BYTES} bytes")
    names = [name.decode("latin-1") for name, _ in request.headers.raw]
    twice = [name for name in ONCE if names.count(name) > 1]
    if twice:
        raise Problem(400, "repeated-header", f"{', '.join(twice)}: send it once")
    if "transfer-encoding" in names and "content-length" in names:
        raise Problem(400, "ambiguous-length", "send either Content-Length or Transfer-Encoding")
    queries = [name for name, _ in request.query_params.multi_items()]
    if len(set(queries)) < len(queries):
        raise Problem(400, "repeated-parameter", "send each query parameter once")
    if request.method == "POST":
        if media_type(request) not in ((JSON, FORM) if files else (JSON,)):
            also = f", or a file as the part `file` of a form, `{FORM}`" if files else ""
            raise Problem(415, "not-json", f"send JSON with `Content-Type: {JSON}`{also}")
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Problem(415, "encoded-body", "send the body without Content-Encoding")


def guarded(guard: Guard) -> type[APIRoute]:
    """The class of the routes that need a key. A route's name is the verb that the key must have."""

    class GuardedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()
            verb = self.name
            if verb not in VERBS:
                raise ValueError(f"no key could be bound to {verb}")

            async def pass_guard(request: Request) -> Response:
                check_headers(request, files=verb in FILES)
                caller = guard.authenticate(request)
                caller.require(verb)
                await guard.count(caller)
                form = verb in FILES and media_type(request) == FORM
                checked = GuardedRequest(request, guard.settings, form=form)
                checked.state.caller = caller
                checked.state.settings = guard.settings
                with guard.upload(caller) if form else nullcontext():
                    await checked.body()
                    with guard.place():
                        return await handle(checked)

            return pass_guard

    return GuardedRoute
