"""Two workers on one store, while partitions move between them: the same memories as with one worker and one client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest

from schemas import ConversationEvent
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.app import HARD_EXIT
from tests.chaos.test_kill import SEED, assert_same, fresh, reference
from tests.harness import Pipeline, Process, end_state, eventually
from tests.traffic import traffic

EVENTS, USERS, PUBLISHERS, CONNECTIONS = 600, 10, 100, 20


async def received(line: Pipeline, count: int) -> None:
    async def so_many() -> bool:
        return len(await line.receipts()) >= count

    await eventually(so_many, every=0.1, what=f"{count} receipts")


async def at_the_end(line: Pipeline, events: Sequence[ConversationEvent]) -> dict[str, dict[str, dict[str, object]]]:
    await line.all_received({event.event_id for event in events}, seconds=300)
    await line.drained(seconds=200)
    return await end_state(line)


@pytest.mark.timeout(600)
async def test_a_hundred_publishers_and_a_rebalance(kafka: EmbeddedKafka, soak: int) -> None:
    events = list(traffic(SEED + soak + 3, EVENTS, USERS))
    expected = await reference(kafka, SEED + soak + 3, EVENTS, USERS)
    async with fresh(kafka, shared_store=True) as line, AsyncExitStack() as stack:
        # Without a name of its own a member that joins or leaves moves partitions at once.
        unnamed = {"MEMSTREAM_KAFKA_GROUP_INSTANCE_ID": ""}
        first, second, third = (line.worker(**unnamed) for _ in range(3))
        await asyncio.gather(first.start(), second.start())
        clients = [await stack.enter_async_context(line.client()) for _ in range(CONNECTIONS)]

        async def publish(number: int, part: Sequence[ConversationEvent]) -> None:
            for event in part[number::PUBLISHERS]:
                await clients[number % CONNECTIONS].publish(event, deadline=60)

        async def all_publish(part: Sequence[ConversationEvent]) -> None:
            await asyncio.gather(*(publish(number, part) for number in range(PUBLISHERS)))

        await all_publish(events[:200])
        joining = asyncio.create_task(third.start())
        await all_publish(events[200:400])
        await joining
        first.terminate()
        await all_publish(events[400:])
        # Told to stop in the middle of a rebalance it may not be through in time: nothing is lost either way.
        assert await first.gone() in (0, HARD_EXIT)
        assert_same(await at_the_end(line, events), expected)


@pytest.mark.timeout(600)
async def test_a_rolling_upgrade_under_load(kafka: EmbeddedKafka, soak: int) -> None:
    events = list(traffic(SEED + soak + 3, EVENTS, USERS))
    expected = await reference(kafka, SEED + soak + 3, EVENTS, USERS)
    async with fresh(kafka, shared_store=True) as line:
        workers = [line.worker(), line.worker()]
        await asyncio.gather(*(worker.start() for worker in workers))
        left = iter([events[at : at + 100] for at in range(0, EVENTS, 100)])
        published = 0

        async def publish() -> None:
            nonlocal published
            published += len(await line.publish(next(left)))

        async def stopped(worker: Process) -> None:
            worker.terminate()
            assert await worker.gone() == 0

        await publish()
        for worker in workers:
            await received(line, published // 2)
            await asyncio.gather(publish(), stopped(worker))
            await publish()
            assert len(await line.receipts()) < published, "what belongs to the one that is away waits for it"
            await worker.start()
        await publish()
        assert_same(await at_the_end(line, events), expected)
