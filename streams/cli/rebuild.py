"""`memstream rebuild`: the store made anew from what Kafka keeps, also for another embedding model."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.common import err, fail, kafka_folder, run, settings_for_client
from streams.cli.optimize import optimized
from streams.cli.worker import end_as_ctrl_c, one_owner
from streams.errors import ConfigurationError
from streams.settings import PREFIX, Settings, load_settings
from streams.store_folders import (
    ask,
    asked,
    discard,
    in_use,
    new_folder,
    old_folder,
    refusal,
    sole_owner,
    switch,
    withdraw,
)

if TYPE_CHECKING:
    from streams.ports import Embedder
    from streams.rebuild import Rebuild, Rebuilt

# Records that a worker reads in no time while its stages are held.
FEW = 200
POLL_SECONDS = 0.2
REMIND_SECONDS = 30


def register(app: typer.Typer) -> None:
    app.command("rebuild")(rebuild)


def rebuild(
    into: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A Qdrant to build in, beside the running system."),
    ] = None,
    prefix: Annotated[
        str, typer.Option(help="Begins the names of the collections there, as MEMSTREAM_QDRANT_PREFIX does.")
    ] = "",
    data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept (default: .memstream).")] = None,
) -> None:
    """Make the store anew from the topics `fences`, `receipts` and `records`, with the model of MEMSTREAM_EMBEDDER.

    Without --into: the embedded store. It is built beside the old one, which answers meanwhile if `memstream up` runs,
    and takes its place at the end; recall waits for a moment.
    With --into: another Qdrant, or with --prefix other collections of the same, while everything runs; run it again to
    catch up.
    Killed, it goes on where it was. Nothing is extracted again, no chat model is asked.
    """
    settings = load_settings(data_dir=data_dir)
    told: Rebuilt | None
    if into is not None:
        told = run(rebuild_into(settings_for_client(data_dir=data_dir), into, prefix))
    elif settings.qdrant_url:
        fail(
            "workers share the Qdrant of MEMSTREAM_QDRANT_URL: name an empty one with --into URL, or new collections "
            "of the same with --into URL --prefix NAME, then point the workers at them",
            2,
        )
    elif in_use(settings.data_dir / "store"):
        told = run(rebuild_beside(settings_for_client(data_dir=data_dir)))
    else:
        end_as_ctrl_c()
        with one_owner(settings):
            told = run(rebuild_here(settings))
    if told is not None:
        memories = f"{told.memories} memories ({told.embedded} embedded)"
        err.print(f"done: {memories}, {told.receipts} receipts, {told.fences} fences", soft_wrap=True)


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
    """While no worker has it open."""
    from streams.app import embedder_of

    folder = Path(settings.data_dir) / "store"
    embedder = embedder_of(settings)
    try:
        with sole_owner(folder):
            told = await built(settings, folder, embedder)
            # A worker that ended before its switch, or was started with the new model, need not do it any more.
            withdraw(folder)
            switch(folder)
            rmtree(old_folder(folder), ignore_errors=True)
        return told
    finally:
        await embedder.close()


async def rebuild_beside(settings: Settings) -> Rebuilt | None:
    """While a worker has the store open: everything but the last moment is done here, the switch by the worker.

    None: that was asked for before."""
    from streams.app import embedder_of

    folder = Path(settings.data_dir) / "store"
    told = None
    if not asked(folder):
        embedder = embedder_of(settings)
        try:
            told = await built(settings, folder, embedder)
        finally:
            await embedder.close()
        ask(folder, settings)
    say("the worker is asked to switch: what is said now waits until it has, recall goes on")
    polls = 0
    while asked(folder):
        await asyncio.sleep(POLL_SECONDS)
        polls += 1
        if polls % (REMIND_SECONDS / POLL_SECONDS) == 0:
            say("still waiting: a worker that has ended switches at its next start")
    if refusal(folder).exists():
        raise ConfigurationError(f"the worker refused to switch: {refusal(folder).read_text(encoding='utf-8')}")
    say(f"switched: start it with MEMSTREAM_EMBEDDER={settings.embedder} from now on")
    return told


async def built(settings: Settings, folder: Path, embedder: Embedder) -> Rebuilt:
    """The new store beside `folder`, up to where the topics end."""
    from streams.adapters.store.edge import wants_graphs

    told = await filled(settings, folder, embedder)
    if wants_graphs(new_folder(folder)):
        say("building graphs for the users with many memories")
        await optimized(new_folder(folder))
        await filled(settings, folder, embedder)  # what came meanwhile
    return told


async def filled(settings: Settings, folder: Path, embedder: Embedder) -> Rebuilt:
    from streams.rebuild import Rebuild, TooOld, beside

    try:
        async with beside(folder, embedder) as store:
            return await caught_up(Rebuild(settings, store, embedder, say))
    except TooOld:
        discard(folder)
        async with beside(folder, embedder) as store:
            return await caught_up(Rebuild(settings, store, embedder, say))


async def caught_up(rebuild: Rebuild) -> Rebuilt:
    """Again as long as it takes less and less: the rest is for whoever stops the writing."""
    left, before = math.inf, 0
    while True:
        told = await rebuild.run()
        read = told.memories + told.receipts - before
        if read <= FEW or read > left / 2:
            return told
        left, before = read, before + read


async def rebuild_into(settings: Settings, url: str, prefix: str = "") -> Rebuilt:
    from streams.adapters.store import make_store
    from streams.app import embedder_of
    from streams.rebuild import Rebuild

    if (url.rstrip("/"), prefix) == (settings.qdrant_url.rstrip("/"), settings.qdrant_prefix):
        raise ConfigurationError(
            "--into names the Qdrant that the workers use: name another, empty one, or a --prefix of new collections"
        )
    if not re.fullmatch(PREFIX, prefix):
        raise ConfigurationError("--prefix: letters, digits and . _ - only, as in MEMSTREAM_QDRANT_PREFIX")
    embedder = embedder_of(settings)
    key = settings.qdrant_api_key.get_secret_value() or None
    store = make_store(url, None, embedder.profile, api_key=key, prefix=prefix)
    try:
        await store.open()
        return await Rebuild(settings, store, embedder, say).run()
    finally:
        await store.close()
        await embedder.close()


def say(line: str) -> None:
    err.print(line, markup=False, soft_wrap=True)
