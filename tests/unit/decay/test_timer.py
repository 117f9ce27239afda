"""The ticks of the windows, and what a worker tells of how far its shards are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from schemas import DecayTick
from streams import metrics
from streams.agents.timer import WindowTimer
from streams.memory.decay import WINDOW
from tests.memory_role import SETTINGS, MemoryRole

START = datetime(2026, 1, 1, 1, tzinfo=UTC)
STUCK = 3


class Clocked:
    """A role with the timer of its windows. `held`: its partitions; `now`: its time."""

    def __init__(self) -> None:
        self.role = MemoryRole()
        self.held = set(range(SETTINGS.partitions))
        self.now = START
        self._timer = WindowTimer(
            self.role.store,
            self.role.kept,  # type: ignore[arg-type]
            SETTINGS,
            lambda: self.held,
            lambda: self.now,
        )

    async def pass_window(self, *, stuck: bool) -> None:
        """A window ends and is worked off, that of one shard only unless it is `stuck`."""
        self.now += WINDOW
        await self._timer.tick()
        ticks = [DecayTick.from_bytes(r.value or b"") for r in self.role.kept.records if r.topic == "decay"]
        self.role.kept.records.clear()
        assert ticks
        for tick in ticks:
            if not (stuck and tick.shard == STUCK):
                await self.role.tell("decay", tick, self.now)
        await self._timer.tick()

    async def told(self) -> float:
        await self._timer.tick()
        value = metrics.REGISTRY.get_sample_value("memstream_window_last_end_timestamp_seconds")
        assert value is not None
        return value

    async def age(self) -> timedelta:
        return self.now - datetime.fromtimestamp(await self.told(), UTC)


@pytest.fixture
def clocked() -> Clocked:
    return Clocked()


async def test_one_shard_that_stands_still_shows_until_it_is_given_up(clocked: Clocked) -> None:
    await clocked.pass_window(stuck=False)
    assert await clocked.age() < WINDOW
    for missed in (1, 2):
        await clocked.pass_window(stuck=True)
        assert missed * WINDOW < await clocked.age() < (missed + 1) * WINDOW
    clocked.held.discard(STUCK % SETTINGS.partitions)
    assert await clocked.age() < WINDOW


async def test_a_shard_that_never_had_a_window_gets_late_too(clocked: Clocked) -> None:
    for _ in range(3):
        await clocked.pass_window(stuck=True)
    assert await clocked.age() > 2 * WINDOW


async def test_who_holds_no_shard_has_nothing_to_tell(clocked: Clocked) -> None:
    await clocked.pass_window(stuck=False)
    assert await clocked.told()
    clocked.held.clear()
    assert await clocked.told() == 0
