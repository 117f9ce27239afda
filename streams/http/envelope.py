"""Around every request: its id, its metrics, its line in the log, an answer when the code fails, a bound on sending."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streams import metrics
from streams.http.problems import Problem, answer
from streams.logs import about

log = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# A reader that takes longer than this for one piece (64 KiB) has gone away.
SEND_SECONDS = 30.0
# What a refused client may still be sending is read, so that it gets to see the refusal.
REFUSED_SECONDS = 2.0
REFUSED_BYTES = 32 * 1024 * 1024
PIECE = 64 * 1024


class Envelope:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, receive, send)
        with about(request_id=exchange.request_id):
            await self._answer(exchange, scope)

    async def _answer(self, exchange: Exchange, scope: Scope) -> None:
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except Exception as error:
            log.error("%s: %s", exchange.route, type(error).__name__)
            if exchange.status:
                raise Aborted from None  # the server closes the connection: the reader sees that it is not all
            problem = Problem(500, "bug", "the gateway failed; its log has the request id")
            await answer(problem, exchange.request_id)(scope, exchange.receive, exchange.send)
        finally:
            exchange.ended()


class Aborted(Exception):
    """An answer that had begun could not be finished."""


class Exchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        self.request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope["request_id"] = self.request_id
        self.status = 0
        self._scope = scope
        self._receive = receive
        self._send = send
        self._more_body = True
        # A client that asked first is sent no `100 Continue` before its body is wanted: it sends nothing till then.
        self._asks_first = headers.get("expect", "").lower() == "100-continue"
        self._started = time.perf_counter()

    @property
    def route(self) -> str:
        """The pattern, never the path: a path has ids."""
        return str(getattr(self._scope.get("route"), "path", "none"))

    async def receive(self) -> Message:
        self._asks_first = False
        message = await self._receive()
        self._more_body = message["type"] == "http.request" and message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self.request_id
            headers["x-content-type-options"] = "nosniff"
            headers["cache-control"] = "no-store"
            if self.status >= 400 and self._more_body:
                if not self._asks_first:
                    await self._drain()
                if self._more_body:
                    headers["connection"] = "close"
            metrics.HTTP_SECONDS.labels(self.route).observe(time.perf_counter() - self._started)
            await self._out(message)
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        for at in range(0, max(1, len(body)), PIECE):
            last = at + PIECE >= len(body)
            await self._out({**message, "body": body[at : at + PIECE], "more_body": more or not last})

    async def _out(self, message: Any) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self._send(message)

    async def _drain(self) -> None:
        taken = 0
        try:
            async with asyncio.timeout(REFUSED_SECONDS):
                while self._more_body and taken < REFUSED_BYTES:
                    taken += len((await self.receive()).get("body", b""))
        except TimeoutError:
            pass

    def ended(self) -> None:
        status = self.status or 499  # the client had gone before there was an answer
        metrics.HTTP_REQUESTS.labels(self.route, str(status)).inc()
        level = logging.WARNING if status >= 500 else logging.DEBUG
        milliseconds = (time.perf_counter() - self._started) * 1000
        log.log(level, "%s -> %d in %.0f ms", self.route, status, milliseconds)
