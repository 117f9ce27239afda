"""`memstream rebuild`: the store made anew from what Kafka keeps, also for another embedding model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.common import err, fail, kafka_folder, run, settings_for_client
from streams.cli.worker import end_as_ctrl_c, one_owner
from streams.errors import ConfigurationError
from streams.settings import Settings, load_settings

if TYPE_CHECKING:
    from streams.rebuild import Rebuilt


def register(app: typer.Typer) -> None:
    app.command("rebuild")(rebuild)


def rebuild(
    into: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An empty Qdrant to build in, beside the running system."),
    ] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept (default: .memstream).")] = None,
) -> None:
    """Make the store anew from the topics `fences`, `receipts` and `records`, with the model of MEMSTREAM_EMBEDDER.

    Without --into: the embedded store, while `memstream up` is stopped; the old one is replaced at the end.
    With --into: another Qdrant, while everything runs; run it again to catch up.
    Killed, it goes on where it was. Nothing is extracted again, no chat model is asked.
    """
    settings = load_settings(data_dir=data_dir)
    if into is not None:
        told = run(rebuild_into(settings_for_client(data_dir=data_dir), into))
    elif settings.qdrant_url:
        fail(
            "workers share the Qdrant of MEMSTREAM_QDRANT_URL: name an empty one with --into URL, "
            "then point the workers at it",
            2,
        )
    else:
        end_as_ctrl_c()
        with one_owner(settings):
            told = run(rebuild_here(settings))
    err.print(
        f"done: {told.memories} memories ({told.embedded} embedded), {told.receipts} receipts, {told.fences} fences",
        soft_wrap=True,
    )


async def rebuild_here(settings: Settings) -> Rebuilt:
    async with broker_of(settings) as connected:
        return await replace_embedded(connected)


@asynccontextmanager
async def broker_of(settings: Settings) -> AsyncIterator[Settings]:
    """The settings with a broker: the one that is named, else the embedded one, started for as long as this lasts."""
    from streams.adapters.kafka_broker import EmbeddedKafka

    if settings.kafka_bootstrap:
        yield settings
        return
    folder = kafka_folder(settings)
    if not folder.exists():
        raise ConfigurationError(f"nothing was ever kept in {settings.data_dir}")
    broker = EmbeddedKafka(folder)
    try:
        await broker.start(progress=say)
        yield settings.model_copy(update={"kafka_bootstrap": broker.bootstrap})
    finally:
        await asyncio.shield(broker.stop())


async def replace_embedded(settings: Settings) -> Rebuilt:
    from streams.app import embedder_of
    from streams.rebuild import Rebuild, TooOld, beside, discard, sole_owner, switch

    folder = Path(settings.data_dir) / "store"
    embedder = embedder_of(settings)
    try:
        with sole_owner(folder):
            for attempt in (1, 2):
                try:
                    async with beside(folder, embedder) as store:
                        told = await Rebuild(settings, store, embedder, say).run()
                    break
                except TooOld:
                    if attempt == 2:
                        raise
                    discard(folder)
            switch(folder)
        return told
    finally:
        await embedder.close()


async def rebuild_into(settings: Settings, url: str) -> Rebuilt:
    from streams.adapters.store import make_store
    from streams.app import embedder_of
    from streams.rebuild import Rebuild

    if url.rstrip("/") == settings.qdrant_url.rstrip("/"):
        raise ConfigurationError("--into names the Qdrant that the workers use: name another, empty one")
    embedder = embedder_of(settings)
    store = make_store(url, None, embedder.profile, api_key=settings.qdrant_api_key.get_secret_value() or None)
    try:
        await store.open()
        return await Rebuild(settings, store, embedder, say).run()
    finally:
        await store.close()
        await embedder.close()


def say(line: str) -> None:
    err.print(line, markup=False, soft_wrap=True)
