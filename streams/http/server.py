"""The gateway on its port, inside a worker's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streams import metrics
from streams.client import MemoryClient, Unavailable
from streams.errors import ConfigurationError, DependencyDown
from streams.health import Health
from streams.http.app import make_app
from streams.http.crowd import REFUSED_SECONDS, SPARE, refuse, room
from streams.http.envelope import Envelope
from streams.http.guard import MAX_HEAD_BYTES
from streams.http.problems import Problem, answer
from streams.imports.standing import Watch
from streams.settings import Settings

log = logging.getLogger(__name__)

# Between two requests of a kept connection.
IDLE_SECONDS = 75
BACKLOG = 1024
GATEWAY = "the HTTP gateway"
OTHER_PORT = "set MEMSTREAM_HTTP_PORT to another port, or to 0 for no gateway"


class Server(uvicorn.Server):
    """Leaves signals to the worker, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bounded(seconds: float, most: int) -> type[asyncio.Protocol]:
    """Connections whose headers are not there within `seconds`, or have no end, are closed: uvicorn waits for ever.

    Those above `most` are refused. Uvicorn's own limit refuses everybody while they are there, and bounds nothing.
    """
    full = Envelope(refuse)

    class BoundedProtocol(HttpToolsProtocol):
        _headers_due: asyncio.TimerHandle | None = None
        _head_bytes = 0
        _seconds = seconds

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            above = len(self.connections) - most
            if above > SPARE:
                metrics.HTTP_CONNECTIONS_REFUSED.labels("closed").inc()
                transport.abort()
                return
            if above > 0:
                metrics.HTTP_CONNECTIONS_REFUSED.labels("answered").inc()
                self.app = full
                self._seconds = min(seconds, REFUSED_SECONDS)
            self._wait_for_headers()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._wait_for_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            idle = self.cycle is None or self.cycle.response_complete
            if idle and self._headers_due is None and self.timeout_keep_alive_task is None:
                # A byte that begins no request has ended the patience with an idle connection: it gets ours.
                self._wait_for_headers()
            if self._headers_due is not None:
                self._head_bytes += len(data)
                if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                    self._send_400(f"headers have at most {MAX_HEAD_BYTES} bytes")

        def send_400_response(self, msg: str) -> None:
            self._send_400("this is no sound HTTP request: a client or a proxy on the way has broken it")

        def _send_400(self, detail: str) -> None:
            """Where there is no request, no application answers."""
            metrics.HTTP_REQUESTS.labels("none", "400").inc()
            made = answer(Problem(400, "not-http", detail, headers={"Connection": "close"}), None)
            head = b"".join(b"%s: %s\r\n" % header for header in made.raw_headers)
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\n%s\r\n%s" % (head, made.body))
            self.transport.close()

        def on_headers_complete(self) -> None:
            self._stop_waiting()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait_for_headers(self) -> None:
            self._stop_waiting()
            self._headers_due = self.loop.call_later(self._seconds, self.timeout_keep_alive_handler)

        def _stop_waiting(self) -> None:
            self._head_bytes = 0
            if self._headers_due is not None:
                self._headers_due.cancel()
                self._headers_due = None

    return BoundedProtocol


def bound_socket(settings: Settings, what: str = GATEWAY, advice: str = OTHER_PORT) -> socket.socket:
    """`what` can't listen and `advice` are words of the error. Raises `ConfigurationError` when the port is taken."""
    family = socket.AF_INET6 if ":" in settings.http_host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.http_host, settings.http_port))
    except OSError as error:
        bound.close()
        raise ConfigurationError(
            f"{what} can't listen on {settings.http_host}:{settings.http_port} ({error.strerror}): {advice}"
        ) from None
    return bound


@contextlib.asynccontextmanager
async def listening(
    app: ASGIApp, settings: Settings, listener: socket.socket | None = None
) -> AsyncIterator[tuple[str, int]]:
    """Serves `app` on `listener`, or where the settings say; yields the address.

    At the end no new connection is taken, and what is under way may end.

    Raises `ConfigurationError`.
    """
    with contextlib.closing(listener or bound_socket(settings)) as listener:
        server = Server(
            uvicorn.Config(
                app,
                http=bounded(settings.http_body_seconds, room(settings.http_max_connections)),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                # Addresses are used for nothing, so nobody is believed about them.
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=int(settings.drain_seconds),
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        await server.listening.wait()
        try:
            yield listener.getsockname()[:2]
        finally:
            server.should_exit = True
            await asyncio.gather(serving, return_exceptions=True)


async def serve_http(settings: Settings, health: Health) -> Callable[[], Awaitable[None]]:
    """Start serving; returns what stops it. Raises `ConfigurationError`, `DependencyDown`."""
    async with contextlib.AsyncExitStack() as stack:
        client = MemoryClient(settings=settings, service=settings.http_reply_service)
        app = make_app(settings, client, health)
        try:
            await stack.enter_async_context(client)
        except Unavailable as error:
            raise DependencyDown("kafka", str(error)) from None
        stack.push_async_callback(app.state.sending.close)
        stack.push_async_callback(_in_background(Watch(settings).run()))
        address = await stack.enter_async_context(listening(app, settings))
        log.info("HTTP on %s:%d", *address)
        return stack.pop_all().aclose


def _in_background(work: Coroutine[Any, Any, None]) -> Callable[[], Awaitable[None]]:
    """Returns what ends it."""
    task = asyncio.create_task(work)

    async def end() -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    return end
