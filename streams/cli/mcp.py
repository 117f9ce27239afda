"""`memstream mcp`: memory as tools of an agent, over stdio or HTTP."""

from __future__ import annotations

import logging
from typing import Annotated

import pydantic
import typer

from schemas import Name
from streams.cli.common import err, fail, run, settings_for_client
from streams.client import MemoryClient
from streams.logs import set_up_logs
from streams.settings import load_settings


def register(app: typer.Typer) -> None:
    app.command("mcp")(mcp)


def mcp(
    namespace: Annotated[str, typer.Option(help="Namespace of the users.")],
    user: Annotated[
        str | None, typer.Option(help="The one user whose memory this is. Default: each tool takes a user_id.")
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of stdio.")] = False,
    host: Annotated[str, typer.Option(help="With --http: the address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --http; 0 for any free one.")] = 8808,
    deadline: Annotated[float, typer.Option(min=0.1, max=60, help="Seconds that a call may take.")] = 10.0,
) -> None:
    """Serve memory to agents as MCP tools: remember, recall, profile, history, forget."""
    try:
        from streams.mcp.http import serve_http
        from streams.mcp.link import Link
        from streams.mcp.stdio import serve_stdio
    except ModuleNotFoundError:
        fail("the packages for MCP are not installed: pip install 'memstream[mcp]'")
    namespace = one_name("--namespace", namespace)
    user = None if user is None else one_name("--user", user)
    settings = load_settings(http_host=host, http_port=port)
    set_up_logs(settings)
    # It would tell of each failed call in the words of its answer.
    logging.getLogger("mcp").setLevel(logging.WARNING)

    def connect() -> MemoryClient:
        return MemoryClient(settings=settings_for_client(), namespace=namespace, deadline=deadline)

    async def serve() -> None:
        link = Link(connect)
        if http:
            await serve_http(settings, link, namespace=namespace, user_id=user, say=lambda line: err.print(line))
        else:
            await serve_stdio(link, user)

    run(serve())


def one_name(option: str, value: str) -> str:
    try:
        return pydantic.TypeAdapter[str](Name).validate_python(value)
    except pydantic.ValidationError as error:
        fail(f"{option}: {error.errors(include_input=False, include_url=False, include_context=False)[0]['msg']}", 2)
