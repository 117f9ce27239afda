"""A record as large as any may be is remembered, and holds nobody else up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.client import MemoryClient
from streams.limits import MAX_RECORD_BYTES
from tests.harness import Pipeline, pipeline
from tests.integration.test_ordinary import LONG, PLAIN, as_json, chat


@pytest.fixture
async def line(kafka: EmbeddedKafka, topic_prefix: str) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, topic_prefix, partitions=1) as made:
        await made.worker().start()
        yield made


def chronicle(size: int) -> list[str]:
    """Messages of forty sentences each, `size` bytes of them, in characters drawn at random: the same on every run,
    and no two alike."""
    rng = random.Random(19)
    found: list[str] = []
    while size > 0:
        sentences = ["我" + "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(24)) for _ in range(40)]
        found.append("。".join(sentences) + "。")
        size -= len(found[-1].encode()) + 12
    return found


OTHERS = ("Ann", "张三", "Bo")


async def others_are_there(memory: MemoryClient) -> None:
    for user in OTHERS:
        await memory.publish_and_wait(chat(f"of {user}", PLAIN, user_id=user))


async def rounds_answered_before(under_way: asyncio.Task[Any], memory: MemoryClient) -> int:
    """How often each of the others had an answer, before that was finished."""
    rounds = 0
    while not under_way.done():
        answers = await asyncio.gather(*(memory.recall("Where are the bees?", user_id=user) for user in OTHERS))
        assert all(answer.memories for answer in answers)
        rounds += not under_way.done()
    return rounds


@pytest.mark.timeout(900)
async def test_a_large_record_is_remembered_and_holds_up_no_recall(line: Pipeline) -> None:
    told = chronicle(1_900_000)
    wanted = told[300].split("。")[5]
    large = as_json(chat("large", *told))
    assert 1_900_000 < len(large) < MAX_RECORD_BYTES
    async with line.client(namespace="shop", deadline=60) as memory:
        await others_are_there(memory)
        waiting = asyncio.create_task(memory.publish_and_wait(chat("large", *told), deadline=600))
        # Hundreds, where nothing holds them up.
        assert await rounds_answered_before(waiting, memory) >= 30
        outcome = await waiting
        assert (outcome.outcome, outcome.memories) == ("stored", ()), "its memories make more than a record may hold"
        assert outcome.extra["memories_left_out"] > 300
        found = await memory.recall(wanted, user_id="user of large", threshold=False)
    assert wanted in found.memories[0].memory.content


async def test_thirty_thousand_characters_hold_up_no_recall(line: Pipeline) -> None:
    async with line.client(namespace="shop", deadline=60) as memory:
        await others_are_there(memory)
        waiting = asyncio.create_task(memory.publish_and_wait(chat("long", LONG)))
        assert await rounds_answered_before(waiting, memory) >= 1
        assert (await waiting).memories
