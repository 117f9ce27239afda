"""What holds now of a user is read once, and again as soon as `records` tells of a change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from schemas import Layer, MemoryRecord, Tenant
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.adapters.store.edge import EdgeStore
from streams.agents.profiles import IDLE_SECONDS, OLDEST_SECONDS, SETTLING_SECONDS, Profiles, changes_from_now
from streams.compacted import Follower
from streams.errors import DependencyDown
from streams.topics import memory_key
from tests.contract.store_parts import PROFILE, memory
from tests.harness import Pipeline, eventually, pipeline
from tests.integration.raw import Raw, produce

ANN, BO = (Tenant(namespace="shop", user_id=name) for name in ("安", "Bo/1"))


class Counting(EdgeStore):
    """The real one, and how often it was read."""

    reads = 0

    async def find(self, *args: Any, **options: Any) -> tuple[list[MemoryRecord], str | None]:
        self.reads += 1
        return await super().find(*args, **options)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest_asyncio.fixture
async def line(kafka: EmbeddedKafka, topic_prefix: str) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, topic_prefix, partitions=2) as made:
        yield made


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Counting]:
    made = Counting(tmp_path / "store", PROFILE)
    await made.open()
    for tenant in (ANN, BO):
        await made.upsert(tenant, [memory(tenant, 1, layer=Layer.FACT), memory(tenant, 2, layer=Layer.EPISODE)])
    yield made
    await made.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def profiles(line: Pipeline, store: Counting, clock: Clock) -> AsyncIterator[Profiles]:
    made = Profiles(store, lambda: changes_from_now(line.settings), clock)
    yield made
    await made.close()


async def ids(profiles: Profiles, tenant: Tenant) -> list[str]:
    return [record.memory_id for page in await profiles.of(tenant, limit=100) for record in page]


async def test_kept_until_records_tells_of_a_change(
    line: Pipeline, store: Counting, clock: Clock, profiles: Profiles
) -> None:
    first = memory(ANN, 1).record.memory_id
    for _ in range(2):
        assert await ids(profiles, ANN) == [first]
    assert store.reads == 2, "what has changed before it began to follow is unknown"
    clock.now += SETTLING_SECONDS + 1
    for _ in range(3):
        assert await ids(profiles, ANN) == [first]
        assert len(await ids(profiles, BO)) == 1
    assert store.reads == 4
    third = memory(ANN, 3, layer=Layer.FACT)
    await produce(line, [Raw(b"{}", memory_key(ANN, third.record.memory_id), topic="records")])
    assert await ids(profiles, ANN) == [first]
    await store.upsert(ANN, [third])
    assert sorted(await ids(profiles, ANN)) == sorted([first, third.record.memory_id]), "the store was later"
    clock.now += SETTLING_SECONDS + 1
    for _ in range(3):
        assert len(await ids(profiles, ANN)) == 2
        assert len(await ids(profiles, BO)) == 1
    assert store.reads == 7, "another user's change costs nothing"
    await store.delete(ANN, [first])
    clock.now += IDLE_SECONDS + 1
    assert await ids(profiles, ANN) == [third.record.memory_id], "after a silence all is read anew"


async def test_a_request_that_ran_out_of_time_leaves_nothing_half_started(
    line: Pipeline, store: Counting, clock: Clock, profiles: Profiles
) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await ids(profiles, ANN)
    for _ in range(2):
        clock.now += SETTLING_SECONDS + 1
        assert len(await ids(profiles, ANN)) == 1
    third = memory(ANN, 3, layer=Layer.FACT)
    await store.upsert(ANN, [third])
    await produce(line, [Raw(b"{}", memory_key(ANN, third.record.memory_id), topic="records")])
    assert len(await ids(profiles, ANN)) == 2


async def test_a_store_that_came_late_is_read_in_the_end(store: Counting, clock: Clock, profiles: Profiles) -> None:
    for _ in range(2):
        assert len(await ids(profiles, ANN)) == 1
        clock.now += SETTLING_SECONDS + 1
    await store.upsert(ANN, [memory(ANN, 3, layer=Layer.FACT)])
    until = clock.now + OLDEST_SECONDS
    while clock.now < until:
        await ids(profiles, BO)
        clock.now += IDLE_SECONDS / 2
    assert len(await ids(profiles, ANN)) == 2


async def test_all_that_is_kept_has_a_limit(
    store: Counting, clock: Clock, profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streams.agents.profiles.MOST_MEMORIES", 1)
    await ids(profiles, ANN)
    clock.now += SETTLING_SECONDS + 1
    store.reads = 0
    for tenant in (ANN, ANN, BO, BO, ANN):
        assert len(await ids(profiles, tenant)) == 1
    assert store.reads == 3, "of two users the one who asked last"


async def test_where_records_cannot_be_followed_it_is_read_each_time(
    line: Pipeline, store: Counting, clock: Clock
) -> None:
    away = line.settings.model_copy(update={"kafka_bootstrap": "127.0.0.1:1"})
    for settings, topic in ((away, "records"), (line.settings, "not-there")):
        store.reads = 0
        profiles = Profiles(store, lambda: Follower(settings, topic, from_end=True), clock)  # noqa: B023
        for _ in range(3):
            clock.now += SETTLING_SECONDS + 1
            assert len(await ids(profiles, ANN)) == 1
        assert store.reads == 3
        await profiles.close()


async def test_what_could_not_be_started_says_so_each_time(line: Pipeline) -> None:
    away = line.settings.model_copy(update={"kafka_bootstrap": "127.0.0.1:1"})
    follower = Follower(away, "records")
    for _ in range(2):
        with pytest.raises(DependencyDown):
            await anext(follower.new(), None)
    await follower.close()


async def test_what_is_kept_goes_though_nobody_asks(
    store: Counting, clock: Clock, profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streams.agents.profiles.OLDEST_SECONDS", 0.01)
    await ids(profiles, ANN)
    clock.now += SETTLING_SECONDS + 1
    await ids(profiles, ANN)

    async def read_anew() -> bool:
        before = store.reads
        await ids(profiles, ANN)
        return store.reads > before

    await eventually(read_anew, what="what was kept to go by the clock of the loop alone")
