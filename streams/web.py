"""`/metrics`, `/healthz` and `/readyz` of a worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.metadata import version

from aiohttp import web
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from streams.disk import watch_disk
from streams.errors import ConfigurationError
from streams.health import Health
from streams.metrics import BUILD, REGISTRY
from streams.settings import Settings


async def serve_metrics(settings: Settings, health: Health) -> Callable[[], Awaitable[None]]:
    """Start serving; returns what stops it. Raises `ConfigurationError` when the port is taken."""
    BUILD.info({"version": version("memstream")})
    watch_disk(settings)

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(REGISTRY), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def alive(_: web.Request) -> web.Response:
        ok, text = health.alive()
        return web.Response(text=text + "\n", status=200 if ok else 503)

    async def ready(_: web.Request) -> web.Response:
        ok, text = health.ready()
        return web.Response(text=text + "\n", status=200 if ok else 503)

    app = web.Application()
    app.add_routes([web.get("/metrics", metrics), web.get("/healthz", alive), web.get("/readyz", ready)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, settings.metrics_host, settings.metrics_port).start()
    except OSError:
        await runner.cleanup()
        raise ConfigurationError(
            f"port {settings.metrics_port} is in use: set MEMSTREAM_METRICS_PORT to another one, or 0 for none"
        ) from None
    return runner.cleanup
