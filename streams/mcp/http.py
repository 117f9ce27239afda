"""Over streamable HTTP, for agents elsewhere. The API keys and limits are those of the gateway."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streams.errors import ConfigurationError
from streams.http.envelope import Envelope
from streams.http.guard import Guard, GuardedRequest, check_headers
from streams.http.problems import Problem, answer
from streams.http.server import bound_socket, listening
from streams.mcp.link import Link
from streams.mcp.server import MemoryServer
from streams.mcp.stopping import stop_signal
from streams.settings import Settings

PATH = "/mcp"


class Gate:
    """What every request passes first, as at the gateway: sound headers, a key for the namespace, its rate, the size
    and pace of the body, a place in flight."""

    def __init__(self, app: ASGIApp, guard: Guard, namespace: str) -> None:
        self._app, self._guard, self._namespace = app, guard, namespace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            check_headers(request)
            caller = self._guard.authenticate(request)
            caller.namespace(self._namespace)
            await self._guard.count(caller)
            if request.method != "POST":
                # Nothing is ever sent but answers: an open stream would only hold a place.
                raise Problem(405, "method-not-allowed", "send each message with POST", headers={"Allow": "POST"})
            request.state.caller = caller
            body = await GuardedRequest(request, self._guard.settings).body()
            with self._guard.place():
                await self._app(scope, again(body, receive), send)
        except Problem as problem:
            await answer(problem, None)(scope, receive, send)


def again(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again


async def serve_http(
    settings: Settings, link: Link, *, namespace: str, user_id: str | None, say: Callable[[str], None]
) -> None:
    """On `settings.http_host` and `http_port`, until SIGINT or SIGTERM. Raises `ConfigurationError`."""
    if settings.http_auth == "off" and not is_loopback(settings.http_host):
        raise ConfigurationError(
            f"without API keys (MEMSTREAM_HTTP_AUTH=off) whoever reaches {settings.http_host} could read all memories: "
            "set MEMSTREAM_HTTP_AUTH=keys, or listen on 127.0.0.1"
        )
    guard = Guard(settings)
    # Before anything runs: an error inside the sessions' task group would come out wrapped.
    check_host(settings)
    listener = bound_socket(settings, "the MCP server", "choose another with --port")
    stop = stop_signal()
    server = MemoryServer(link, user_id)
    # No tool sends anything but its answer, so there is no session to keep.
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.http_max_body_bytes,
        transport_security=transport_security(settings),
    )
    gate = Envelope(Gate(app, guard, namespace))
    try:
        async with (
            server.session_manager.run(),
            listening(gate, settings, listener) as (host, port),
        ):
            say(f"ready: MCP on http://{f'[{host}]' if ':' in host else host}:{port}{PATH}. Ctrl-C stops.")
            await stop.wait()
    finally:
        await link.close()


def transport_security(settings: Settings) -> TransportSecuritySettings:
    """A page in a browser can make its own name mean this machine, but it has no API key: names matter without keys."""
    host = settings.http_host
    names = {f"[{host}]" if ":" in host else host, "localhost", "127.0.0.1", "[::1]"}
    hosts = [allowed for name in sorted(names) for allowed in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=settings.http_auth == "off",
        allowed_hosts=hosts,
        allowed_origins=[f"http://{allowed}" for allowed in hosts],
    )


def check_host(settings: Settings) -> None:
    """Raises `ConfigurationError` when no port at all of `settings.http_host` can be listened on."""
    try:
        bound_socket(settings.model_copy(update={"http_port": 0})).close()
    except (ConfigurationError, UnicodeError):
        raise ConfigurationError(
            f"the MCP server can't listen on {settings.http_host}: that is no address of this machine; "
            "choose another with --host"
        ) from None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
