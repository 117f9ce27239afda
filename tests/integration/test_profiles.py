"""What holds now of a user is read once, and again as soon as `records` tells of a change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio

from schemas import Layer, MemoryRecord, Tenant
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.adapters.store.edge import EdgeStore
from streams.agents.profiles import IDLE_SECONDS, SETTLING_SECONDS, Profiles, changes_from_now
from streams.compacted import Follower
from streams.topics import memory_key
from tests.contract.store_parts import PROFILE, memory
from tests.harness import Pipeline, pipeline
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


async def ids(profiles: Profiles, tenant: Tenant) -> list[str]:
    return [record.memory_id for page in await profiles.of(tenant, limit=100) for record in page]


async def test_kept_until_records_tells_of_a_change(line: Pipeline, store: Counting) -> None:
    clock = Clock()
    profiles = Profiles(store, lambda: changes_from_now(line.settings), clock)
    try:
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
    finally:
        await profiles.close()


async def test_without_a_broker_it_is_read_each_time(line: Pipeline, store: Counting) -> None:
    clock = Clock()
    away = line.settings.model_copy(update={"kafka_bootstrap": "127.0.0.1:1"})
    profiles = Profiles(store, lambda: Follower(away, "records", from_end=True), clock)
    for _ in range(3):
        clock.now += SETTLING_SECONDS + 1
        assert len(await ids(profiles, ANN)) == 1
    assert store.reads == 3
    await profiles.close()
