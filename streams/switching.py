"""The embedded store and its model changed for new ones while everything runs.

`memstream rebuild` makes the new store beside the running one, in a process of its own, and then asks for the switch
with a file. The worker, which owns the store and is the one writer:

1. holds its stages: what comes waits in Kafka, recall goes on;
2. reads into the new store what was written since the other process had caught up;
3. holds requests as well, for as long as it takes to close a store, rename two folders and open one;
4. goes on with the new store and its model, and takes the file away.

Killed before the renames it is asked again at its next start, by the same file; between them, the next start finds
which of the two stores is whole (`mend`); after them, everything is done but the file.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

from streams.adapters.store import Store, make_store
from streams.agents.commands import ANSWERS, FOUND
from streams.agents.timer import DONE, SYSTEM, WINDOWS, WRITER
from streams.errors import DependencyDown, MemstreamError
from streams.ports import Doc, Embedder
from streams.rebuild import Rebuild
from streams.runner import Runner, describe
from streams.settings import SHARDS, Settings
from streams.store_folders import Wanted, new_folder, old_folder, refuse, switch, wanted

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
AGAIN_SECONDS = 30.0
# Points at which a test may stop the process.
STEPS = ("switch.held", "switch.read", "switch.placed")


class Changing:
    """Stands for whatever is `now` behind it."""

    def __init__(self, now: Any) -> None:
        self.now = now

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now, name)


@dataclass(frozen=True)
class Switching:
    """`make_embedder`: of other settings. `changed`: what was remembered of the old store is no longer true. `failed`:
    the worker can't go on."""

    settings: Settings
    runner: Runner
    store: Changing
    embedder: Changing
    make_embedder: Callable[[Settings], Embedder]
    changed: Callable[[], None]
    failed: Callable[[str], None]
    at_step: Callable[[str], None] = lambda step: None

    @property
    def folder(self) -> Path:
        return Path(self.settings.data_dir) / "store"

    async def run(self) -> None:
        """For ever."""
        # Of a switch after which the process was killed.
        await self._remove_old()
        while True:
            try:
                if (asked := wanted(self.folder)) is not None:
                    await self._change(asked)
            except (DependencyDown, TimeoutError) as error:
                why = str(error) or "a stage does not end what it has begun"
                log.warning("the switch to another store waits: %s", why)
                await asyncio.sleep(AGAIN_SECONDS)
            except MemstreamError as error:
                log.error("no switch to another store: %s", error)
                refuse(self.folder, str(error))
            except Exception as error:
                log.error("no switch to another store: %s", describe(error))
                refuse(self.folder, "internal error, which the worker's log names")
            await asyncio.sleep(LOOK_SECONDS)

    async def _change(self, new: Wanted) -> None:
        embedder = await asyncio.to_thread(self.make_embedder, new.applied(self.settings))
        try:
            await self._change_to(embedder)
        except BaseException:
            if self.embedder.now is not embedder:
                await embedder.close()
            raise

    async def _change_to(self, embedder: Embedder) -> None:
        async with self.runner.batches_held():
            new = make_store(None, new_folder(self.folder), embedder.profile)
            await new.open()
            self.at_step("switch.held")
            try:
                told = await Rebuild(self.settings, new, embedder).run()
                await carry_over(self.store.now, new)
            finally:
                await new.close()
            self.at_step("switch.read")
            async with self.runner.requests_held():
                await self._put_in_place(embedder)
            await self.store.put_docs(SYSTEM, [Doc(WRITER, WRITER, {})])
        log.info("switched to the new store: %d memories were read at the end", told.memories)
        await self._remove_old()

    async def _remove_old(self) -> None:
        await asyncio.to_thread(rmtree, old_folder(self.folder), ignore_errors=True)

    async def _put_in_place(self, embedder: Embedder) -> None:
        old_embedder = self.embedder.now
        await self.store.now.close()
        try:
            switch(self.folder)
            self.at_step("switch.placed")
            placed = make_store(None, self.folder, embedder.profile)
            await placed.open()
        except BaseException as error:
            # Without a store it answers nothing; the next start finds one.
            self.failed(f"the switch to another store: {describe(error)}")
            raise
        self.store.now, self.embedder.now = placed, embedder
        self.changed()
        await old_embedder.close()


async def carry_over(old: Store, new: Store) -> None:
    """What is in no topic: how far the windows are, and which commands were answered."""
    shards = [str(shard) for shard in range(SHARDS)]
    for kind in (WINDOWS, DONE):
        await new.put_docs(SYSTEM, await old.get_docs(SYSTEM, kind, shards))
    for tenant in await old.tenants_with_docs(ANSWERS, FOUND):
        await new.put_docs(tenant, await old.find_docs(tenant, ANSWERS, FOUND))
        await asyncio.sleep(0)  # recall goes on meanwhile
