"""`memstream optimize`: the embedded store's files made compact, with a graph for each user of very many memories."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Annotated

import typer

from streams.cli.common import err, fail, run
from streams.cli.worker import end_as_ctrl_c, one_owner
from streams.disk import folder_bytes, free_bytes
from streams.errors import DependencyDown, MemstreamError
from streams.settings import load_settings
from streams.store_folders import in_use

# Of the store's size: the new files stand beside the old ones.
ROOM = 1.5
_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>


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
    """The closed store in `folder`, optimized by a process of its own: the engine lets no signal through.

    Raises `DependencyDown`; the store is then as it was.
    """
    from streams.adapters.store.edge import LEAST_FREE_BYTES

    needed, free = round(ROOM * folder_bytes(folder)) + LEAST_FREE_BYTES, free_bytes(folder)
    if free < needed:
        raise DependencyDown(
            "store", f"optimizing needs {needed // 2**20} MiB of free disk and there are {free // 2**20}: make room"
        )
    told, tell = Pipe(duplex=False)
    child = get_context("spawn").Process(target=_optimize, args=(folder, tell, os.getpid()))
    child.start()
    tell.close()
    try:
        with err.status("building graphs"):
            await asyncio.to_thread(child.join)
    finally:
        child.kill()
        child.join()
    if child.exitcode != 0:
        why = told.recv() if told.poll() else f"exit code {child.exitcode}"
        raise DependencyDown("store", f"it could not be optimized ({why}); it is as it was")


def _optimize(folder: Path, tell: Connection, parent: int) -> None:
    """In the child, which must not outlive the parent: it has the store locked."""
    from streams.adapters.store import edge

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it is gone already
        sys.exit(1)
    try:
        edge.optimize(folder)
    except MemstreamError as error:
        tell.send(str(error))
        sys.exit(1)
