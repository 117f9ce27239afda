"""The gateway as one ASGI application."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from streams.client import MemoryClient, MemoryClientError
from streams.health import Health
from streams.http.envelope import Envelope
from streams.http.guard import Guard
from streams.http.imports import add_imports
from streams.http.models import Import, ImportFile
from streams.http.problems import HANDLERS, MEDIA_TYPE, ProblemDetails
from streams.http.routes import make_router
from streams.metrics import REGISTRY
from streams.settings import Settings

TITLE = "memstream"
# Whoever asks for readiness more often gets the last answer: anybody may ask.
PING_SECONDS = 1.0


def make_app(settings: Settings, client: MemoryClient, health: Health) -> FastAPI:
    """Raises `ConfigurationError` for a file of keys that can't be read."""
    app = FastAPI(
        title=TITLE,
        version=version("memstream"),
        # The documents' pages would load scripts from elsewhere; the document itself is served.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        exception_handlers=HANDLERS,
    )
    app.add_middleware(Envelope)
    router = make_router(Guard(settings), client)
    app.state.sending = add_imports(router, settings, client)
    app.include_router(router)
    add_probes(app, health, client.ping)
    document: list[dict[str, Any]] = []

    def openapi() -> dict[str, Any]:
        if not document:
            document.append(openapi_of(app))
        return document[0]

    app.openapi = openapi  # type: ignore[method-assign]
    return app


def add_probes(app: FastAPI, health: Health, ping: Callable[[], Awaitable[None]]) -> None:
    """`/healthz`, `/readyz` and `/metrics`, for machines that have no key. They tell nothing of any user."""
    asked_at, problem = -math.inf, ""

    async def kafka_problem() -> str:
        nonlocal asked_at, problem
        if time.monotonic() - asked_at > PING_SECONDS:
            asked_at = time.monotonic()
            try:
                await ping()
            except MemoryClientError as error:
                problem = str(error)
            else:
                problem = ""
        return problem

    @app.get("/healthz", include_in_schema=False)
    async def alive() -> PlainTextResponse:
        ok, text = health.alive()
        return PlainTextResponse(text + "\n", 200 if ok else 503)

    @app.get("/readyz", include_in_schema=False)
    async def ready() -> PlainTextResponse:
        ok, text = health.ready()
        down = await kafka_problem() if ok else ""
        return PlainTextResponse((down or text) + "\n", 200 if ok and not down else 503)

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """The document, with what FastAPI can't know: the key, and problems as answers."""
    made = get_openapi(title=app.title, version="1", routes=app.routes)
    parts = made["components"]
    for model in (ProblemDetails, Import, ImportFile):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        parts["schemas"] |= {**schema.pop("$defs", {}), model.__name__: schema}
    for unused in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(unused, None)
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    problem = {
        "description": "RFC 9457; `detail` says what to do. 429 and 503 carry Retry-After.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    }
    for path in made["paths"].values():
        for operation in path.values():
            operation["security"] = [{"key": []}]
            operation["responses"].pop("422", None)
            operation["responses"] |= {"4XX": problem, "5XX": problem}
    return made
