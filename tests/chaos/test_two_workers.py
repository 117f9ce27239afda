"""Two workers on one store, while partitions move between them: the same memories as with one worker and one client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from schemas import ConversationEvent, Fence, Message, Tenant
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.app import HARD_EXIT
from streams.cli import rebuild
from streams.imports.conversations import Conversation
from streams.imports.task import batch
from streams.imports.tasks import Tasks
from tests.chaos.test_kill import SEED, assert_same, fresh, reference
from tests.contract.test_earlier import EARLIER
from tests.harness import Pipeline, Process, end_state, eventually
from tests.integration.raw import Raw, produce
from tests.traffic import traffic

SHOP = Tenant(namespace="shop", user_id="张三")
EVENTS, USERS, PUBLISHERS, CONNECTIONS = 600, 10, 100, 20


async def received(line: Pipeline, count: int) -> None:
    async def so_many() -> bool:
        return len(await line.receipts()) >= count

    await eventually(so_many, every=0.1, what=f"{count} receipts")


async def at_the_end(line: Pipeline, events: Sequence[ConversationEvent]) -> dict[str, dict[str, dict[str, object]]]:
    await line.all_received({event.event_id for event in events}, seconds=300)
    await line.drained(seconds=200)
    await line.one_receipt_each()
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


def left(topic: str, *event_ids: str) -> Iterator[Raw]:
    """What an earlier version wrote there; with `event_ids` what belongs to these events."""
    for record in EARLIER[topic]:
        value = record["value"]
        about = {value.get("event_id"), *(source["event_id"] for source in value.get("sources", ()))}
        if not event_ids or about & set(event_ids):
            yield Raw(json.dumps(value, ensure_ascii=False).encode(), record["key"].encode(), topic=topic)


@pytest.mark.timeout(600)
async def test_a_rolling_upgrade_under_load(kafka: EmbeddedKafka, soak: int) -> None:
    """One worker after the other is replaced, while events flow and the log has records of an earlier version, on
    every topic: some stand there when the new workers come, the others come meanwhile."""
    events = list(traffic(SEED + soak + 3, EVENTS, USERS))
    expected = await reference(kafka, SEED + soak + 3, EVENTS, USERS)
    history = [
        Conversation("line 1", datetime(2026, 3, 2, 9, 10, tzinfo=UTC), (Message(text="I keep bees in Graz."),)),
        Conversation("line 2", datetime(2026, 3, 2, 9, 11, tzinfo=UTC), (Message(text="我的猫叫豆豆。"),)),
    ]
    async with fresh(kafka, shared_store=True) as line:
        # Two events are remembered, the third was redacted, the fourth extracted as well.
        kept = [*left("records", "e0", "e1"), *left("receipts", "e0", "e1"), *left("fences"), *left("jobs")]
        await produce(line, kept)
        await rebuild.rebuild_into(line.settings.model_copy(update={"qdrant_url": ""}), line.store_url)
        under_way = [*left("redacted", "e2"), *left("access"), *left("replies.shared")]
        await produce(line, under_way)
        workers = [line.worker(), line.worker()]
        await asyncio.gather(*(worker.start() for worker in workers))
        parts = iter([events[at : at + 100] for at in range(0, EVENTS, 100)])
        meanwhile = iter([[*left("candidates", "e3"), *left("supersede"), *left("decay")], [*left("commands")]])
        published = 0

        async def publish() -> None:
            nonlocal published
            published += len(await line.publish(next(parts)))

        async def stopped(worker: Process) -> None:
            worker.terminate()
            assert await worker.gone() == 0

        await publish()
        for worker in workers:
            await received(line, published // 2)
            await asyncio.gather(publish(), stopped(worker), produce(line, next(meanwhile)))
            await publish()
            assert len(await line.receipts()) < published, "what belongs to the one that is away waits for it"
            await worker.start()
        await publish()

        # A question is no event: it is for a worker that is there.
        asked = ("correlation_id", b"then")
        headers = (("reply_to", f"{line.settings.topic_prefix}replies.shared".encode()), asked)
        await produce(line, [replace(raw, headers=headers) for raw in left("recall.requests")])

        async def answered() -> bool:
            return any([asked in reply.headers async for reply in line.records("replies.shared")])

        await eventually(answered, what="the answer to an earlier question")

        # An import that the earlier version began goes on.
        async with line.client(deadline=60) as client:
            made = batch(SHOP, history)
            async with await Tasks(line.settings, client).begin(made) as task:
                assert (task.job.job_id, task.job.known) == (EARLIER["jobs"][0]["value"]["job_id"], 1)
                sent = [event_id async for event_id in client.publish_many(made.events.events(task.open()))]
                await task.all_sent()
                then = {record["value"]["event_id"]: record["value"] for record in EARLIER["receipts"]}
                receipts = await line.all_received({*then, *sent, *(event.event_id for event in events)}, seconds=300)
                status = await task.status()
                assert (status.state, status.stored, status.duplicate) == ("done", 2, 1)
        # Nothing of then is lost, nor made anew.
        for event_id, was in then.items():
            assert (receipts[event_id].outcome, list(receipts[event_id].memory_ids)) == (
                was["outcome"],
                was["memory_ids"],
            )
        ids = {memory_id for was in then.values() for memory_id in was["memory_ids"]}

        # All of it once more, from the clients on: the same events.
        await line.drained(seconds=200)
        state = await line.compacted("records")
        again = [raw for topic in ("conversations", "redacted", "candidates") for raw in left(topic)]
        await produce(line, again)
        await line.drained()
        assert await line.receipts() == receipts
        assert await line.compacted("records") == state
        await line.one_receipt_each()

        # A memory of then is replaced by one of now.
        async with line.client(namespace=SHOP.namespace, deadline=60) as memory:
            new = await memory.publish_and_wait(user_id=SHOP.user_id, speaker=SHOP.user_id, text="I moved to Graz.")
            (city,) = (m for m in new.memories if m.attribute == "city")
            await line.drained()
            chain = await memory.history(city.memory_id, user_id=SHOP.user_id)
        assert {m.value for m in chain} >= {"Oslo", "Graz"}
        assert not [letter async for letter in line.records("dead-letters")]
        found = await end_state(line)
        assert found["store"] == found["records"]
        assert ids <= found["records"].keys()
        # What clients had asked for is done: a replacement, and a session that is not to come back.
        (asked_for,) = [record["value"] for record in EARLIER["supersede"] if not record["value"]["inferred"]]
        assert found["records"][asked_for["old_id"]]["superseded_by"] == asked_for["new_id"]
        fences = [Fence.from_bytes(value) for value in (await line.compacted("fences")).values()]
        assert {"f1", "c1"} <= {fence.fence_id for fence in fences}
        others = {
            where: {one: record for one, record in state.items() if record["namespace"] != SHOP.namespace}
            for where, state in found.items()
        }
        assert_same(others, expected)
