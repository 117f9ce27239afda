"""What holds now of a user, kept until `records` tells of a change."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from schemas import Layer, MemoryRecord, MemoryStatus, Tenant
from streams.compacted import Follower
from streams.errors import ConfigurationError, DependencyDown
from streams.paging import pages
from streams.ports import MemoryStore, Where
from streams.settings import Settings

Pages = list[list[MemoryRecord]]

HOLDS_NOW = Where(layers=(Layer.FACT,), statuses=(MemoryStatus.ACTIVE,))
MOST_KEPT = 512
# Memories, of all users together and of one: each is a few KB.
MOST_MEMORIES = 20_000
LARGEST_KEPT = 5_000
# `records` has a change before the store has it: a user of whom it told so lately is read anew.
SETTLING_SECONDS = 15.0
# Where the store came later than that (it hung, the writer stood still), what was read too early is shown no longer.
OLDEST_SECONDS = 120.0
# After a longer silence there would be much to read up on, and what is kept is worth little.
IDLE_SECONDS = 60.0
FOLLOWING_SECONDS = 1.0


def changes_from_now(settings: Settings) -> Follower:
    return Follower(settings, "records", from_end=True, ahead_bytes=1024**2)


class Profiles:
    """`follower`: of `records`, from its end; a new one is made after a silence. `clock`: seconds, monotonic."""

    def __init__(
        self, store: MemoryStore, follower: Callable[[], Follower], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._make, self._clock = store, follower, clock
        self._follower: Follower | None = None
        self._turn = asyncio.Lock()
        self._kept: OrderedDict[str, tuple[float, Pages]] = OrderedDict()
        self._memories = 0
        self._changed: dict[str, float] = {}
        self._begun = self._asked = clock()

    async def of(self, tenant: Tenant, *, limit: int) -> Pages:
        """Pages of at most `limit` memories. Raises what the store raises."""
        async with self._turn:
            await self._follow()
        began = self._clock()
        if (known := self._kept.get(tenant.key)) is not None:
            at, found = known
            if began - at <= OLDEST_SECONDS:
                self._kept.move_to_end(tenant.key)
                return found
        found = [page async for page in pages(self._store, tenant, HOLDS_NOW, limit=limit)]
        quiet_since = max(self._changed.get(tenant.key, 0.0), self._begun)
        if began - quiet_since > SETTLING_SECONDS:
            self._keep(tenant.key, began, found)
        return found

    def _keep(self, key: str, at: float, found: Pages) -> None:
        self._drop(key)
        size = sum(map(len, found))
        if size > LARGEST_KEPT:
            return
        self._kept[key] = (at, found)
        self._memories += size
        while len(self._kept) > MOST_KEPT or self._memories > MOST_MEMORIES:
            self._drop(next(iter(self._kept)))
        # What a user has forgotten leaves the memory of the process too, though nobody asks again.
        asyncio.get_running_loop().call_later(OLDEST_SECONDS, self._drop_of, key, at)

    def _drop_of(self, key: str, at: float) -> None:
        if key in self._kept and self._kept[key][0] == at:
            self._drop(key)

    def _drop(self, key: str) -> None:
        _, found = self._kept.pop(key, (0.0, []))
        self._memories -= sum(map(len, found))

    def _drop_all(self) -> None:
        self._kept.clear()
        self._memories = 0

    async def close(self) -> None:
        follower, self._follower = self._follower, None
        if follower is not None:
            await follower.close()

    async def _follow(self) -> None:
        """Forgets what has changed. Where `records` can't be followed nothing is kept: that costs a reading, never the
        truth."""
        now = self._clock()
        if now - self._asked > IDLE_SECONDS:
            await self.close()
        self._asked = now
        if self._follower is None:
            self._follower, self._begun = self._make(), now
            self._drop_all()
        try:
            async with asyncio.timeout(FOLLOWING_SECONDS):
                async for entries in self._follower.new():
                    for key in {entry.tenant_key for entry in entries}:
                        self._drop(key)
                        self._changed[key] = now
        except (ConfigurationError, DependencyDown, TimeoutError):
            self._drop_all()
            await self.close()
        if len(self._changed) > 10 * MOST_KEPT:
            self._changed = {key: at for key, at in self._changed.items() if now - at <= SETTLING_SECONDS}
