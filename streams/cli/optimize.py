"""`memstream optimize`: the embedded store's files made compact, with a graph for each user of very many memories."""

from __future__ import annotations

import asyncio
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from streams.cli.common import err, fail, run
from streams.cli.worker import end_as_ctrl_c, one_owner
from streams.errors import DependencyDown
from streams.settings import load_settings
from streams.store_folders import in_use


def register(app: typer.Typer) -> None:
    app.command("optimize")(optimize)


def optimize(
    data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept (default: .memstream).")] = None,
) -> None:
    """Make the files of the embedded store compact, and build a graph for each user with thousands of memories.

    For when no worker runs (`memstream rebuild` ends with the same, beside a running one). A user's search then looks
    at hundreds of vectors and not at all of them. Takes minutes for 100,000 memories; ended before, it changes nothing.
    """
    settings = load_settings(data_dir=data_dir)
    if settings.qdrant_url:
        fail("the Qdrant of MEMSTREAM_QDRANT_URL does this by itself, beside its searches", 2)
    folder = Path(settings.data_dir) / "store"
    if not folder.exists():
        fail(f"nothing was ever kept in {settings.data_dir}")
    if in_use(folder):
        fail("a worker has the store open: stop it first, or run `memstream rebuild`, which goes on beside it")
    end_as_ctrl_c()
    with one_owner(settings):
        run(optimized(folder))
    err.print("done")


async def optimized(folder: Path) -> None:
    """The closed store in `folder`, optimized by a process of its own: the engine lets no signal through."""
    from streams.adapters.store import edge

    child = get_context("spawn").Process(target=edge.optimize, args=(folder,))
    child.start()
    try:
        with err.status("building graphs"):
            await asyncio.to_thread(child.join)
    finally:
        child.kill()
        child.join()
    if child.exitcode != 0:
        raise DependencyDown("store", f"it could not be optimized (exit code {child.exitcode}); it is as it was")
