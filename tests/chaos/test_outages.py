"""Dependencies that die or misbehave while events flow: nothing lost, nothing twice, the backlog drains by itself."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from schemas import ConversationEvent
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.app import HARD_EXIT
from tests.chaos.test_kill import SEED, assert_same, undisturbed
from tests.harness import Pipeline, end_state, eventually, free_port, pipeline
from tests.misbehaving import Misbehaving, Step
from tests.traffic import traffic

EMBEDDER = "openai:text-embedding-3-small"
DIMENSION = 1536
# After some failures in a row the circuit stays open for 15 s before the next request goes out.
PATIENCE = 180.0


def chats(count: int) -> list[ConversationEvent]:
    return list(traffic(SEED + 1, count, 12))


@asynccontextmanager
async def fresh(kafka: EmbeddedKafka, **settings: Any) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, f"t{uuid.uuid4().hex[:12]}.", **settings) as made:
        yield made


async def status(port: int, path: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/{path}") as answer:
        return answer.status


async def unready_but_alive(port: int) -> None:
    """Readiness tells that a dependency is down; liveness does not: waiting is not being stuck."""

    async def unready() -> bool:
        return await status(port, "readyz") == 503

    await eventually(unready, what="readiness to tell")
    assert await status(port, "healthz") == 200


async def ready_again(port: int) -> None:
    async def ready() -> bool:
        return await status(port, "readyz") == 200

    await eventually(ready, what="readiness to come back")


async def told_down_and_up(
    server: Misbehaving, endpoint: str, line: Pipeline, events: list[ConversationEvent], port: int
) -> None:
    """A model that answers nothing good for as long as it takes to be told of, and then does."""
    server.always(endpoint, Step("status", status=503))
    await line.publish(events)
    await unready_but_alive(port)
    server.always(endpoint, Step())
    await ready_again(port)


async def finished(line: Pipeline, events: list[ConversationEvent]) -> dict[str, Any]:
    await line.all_received({e.event_id for e in events}, seconds=400)
    await line.drained(seconds=200)
    await line.one_receipt_each()
    return await end_state(line)


@pytest.mark.timeout(600)
async def test_broker_killed_under_load(own_kafka: EmbeddedKafka, kafka: EmbeddedKafka) -> None:
    events = chats(600)
    expected = await undisturbed(kafka, events)
    port = free_port()
    async with fresh(own_kafka) as line:
        await line.worker(MEMSTREAM_METRICS_PORT=str(port)).start()
        published = asyncio.create_task(line.publish(events))
        await eventually(line.receipts, what="the first receipt")
        await own_kafka.kill()
        await unready_but_alive(port)
        await own_kafka.start()
        await published
        await ready_again(port)
        assert_same(await finished(line, events), expected)


@pytest.mark.timeout(600)
async def test_store_down_for_half_a_minute(kafka: EmbeddedKafka) -> None:
    events = chats(400)
    expected = await undisturbed(kafka, events)
    port = free_port()
    async with fresh(kafka, shared_store=True) as line:
        store = line.processes[0]
        await line.worker(MEMSTREAM_METRICS_PORT=str(port)).start()
        await line.publish(events[:200])
        await eventually(line.receipts, what="the first receipt")
        store.kill()
        await line.publish(events[200:])
        await unready_but_alive(port)
        await asyncio.sleep(30)
        assert await status(port, "healthz") == 200, "waiting is not being stuck"
        await store.start()
        state = await finished(line, events)
        assert_same(state, expected)
        await ready_again(port)


@pytest.mark.timeout(600)
async def test_a_process_whose_loop_is_held_up_is_gone_in_time(kafka: EmbeddedKafka) -> None:
    events = chats(60)
    expected = await undisturbed(kafka, events)
    async with fresh(kafka) as line:
        stuck = line.worker(crash="acked:2:stuck")
        await stuck.start()
        await line.publish(events)

        async def held_up() -> bool:
            return "stuck" in stuck.tail()

        await eventually(held_up, what="the loop to be held up")
        stuck.terminate()
        assert await stuck.gone() == HARD_EXIT, "not killed by anybody else"
        await line.worker().start()
        assert_same(await finished(line, events), expected)


FAILURES = [
    [Step("status", status=500)] * 6,
    [Step("status", status=429, headers={"Retry-After": "1"})] * 3,
    [Step("garbage"), Step("html"), Step("truncated"), Step("wrong_shape")],
    [Step("cut"), Step("refuse")] * 2,
    [Step("hang")],
]


@pytest.mark.timeout(600)
async def test_embedder_that_misbehaves(kafka: EmbeddedKafka) -> None:
    events, port = chats(150), free_port()
    async with Misbehaving(dimension=DIMENSION) as server:
        options = {"embedder": EMBEDDER, "embedder_base_url": server.base_url, "embedder_api_key": "none"}
        expected = await undisturbed(kafka, events, **options)
        bad = [Step("wrong_dimension"), Step("nan"), Step("wrong_count")]
        async with fresh(kafka, **options) as line:
            await line.worker(MEMSTREAM_METRICS_PORT=str(port)).start()
            await told_down_and_up(server, "embeddings", line, events[:10], port)
            for failure, part in zip([*FAILURES, bad], range(0, 150, 25), strict=True):
                server.script("embeddings", *failure)
                wanted = server.requests("embeddings") + len(failure)
                await line.publish(events[part : part + 25])
                await server.reached("embeddings", wanted, seconds=PATIENCE)
                server.release()
            assert_same(await finished(line, events), expected)


@pytest.mark.timeout(600)
async def test_language_model_that_misbehaves(kafka: EmbeddedKafka) -> None:
    events, port = chats(100), free_port()
    async with Misbehaving() as server:
        options = {"extractor": "model", "chat_base_url": server.base_url, "chat_api_key": "none", "chat_model": "m"}
        expected = await undisturbed(kafka, events, **options)
        async with fresh(kafka, **options) as line:
            await line.worker(MEMSTREAM_METRICS_PORT=str(port)).start()
            await told_down_and_up(server, "chat", line, events[:10], port)
            for failure, part in zip(FAILURES, range(0, 100, 20), strict=True):
                server.script("chat", *failure)
                wanted = server.requests("chat") + len(failure)
                await line.publish(events[part : part + 20])
                await server.reached("chat", wanted, seconds=PATIENCE)
                server.release()
            state = await finished(line, events)
            assert_same(state, expected)
            receipts = await line.receipts()
            assert not [r for r in receipts.values() if r.outcome == "parked"]
