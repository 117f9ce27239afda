"""Erasure down to the bytes: in compacted topics once Kafka has compacted them, in the store's files once it was
rebuilt; while messages of the same user flow; and killed at each of its steps."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from schemas import Job
from streams.adapters.embedders.constant import ConstantEmbedder
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.agents.erasure import ERASURE_STEPS
from streams.cli import rebuild
from streams.client import MemoryClient
from streams.imports.tasks import put
from streams.kafka import admin, make_producer
from streams.runner import RUNNER_STEPS
from streams.topics import BY_NAME, TOPICS
from tests.harness import Pipeline, end_state, eventually, pipeline

WHO = {"namespace": "shop", "user_id": "u1"}
OTHER = {"namespace": "shop", "user_id": "u2"}
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
# Words that stand nowhere else, what they are told by, and what is told of somebody else.
WORDS = ("Quillhaven", "Vexfordham", "Zarabetha", "Brackleby")
SAID = (
    "I live in Quillhaven near the river.",
    "I moved to Vexfordham.",
    "My sister Zarabetha plays the violin.",
    "My sister Zarabetha plays the violin.",
)
LEFT = "Ottergate"
COMPACTED = [topic.name for topic in TOPICS if topic.cleanup == "compact"]
# The same static member each time, so that a restart gets its partitions back at once.
SAME = {"MEMSTREAM_KAFKA_GROUP_INSTANCE_ID": "one"}


async def tell(memory: MemoryClient, texts: Sequence[str], ids: str = "e") -> list[str]:
    """Ids of what is remembered of it."""
    told: list[str] = []
    for number, text in enumerate(texts):
        at = AT + timedelta(minutes=number)
        outcome = await memory.publish_and_wait(
            event_id=f"{ids}{number}", text=text, session_id="s", occurred_at=at, deadline=90, **WHO
        )
        told += [m.memory_id for m in outcome.memories]
    return told


def holding(files: Iterable[Path], words: Sequence[str] = WORDS) -> dict[str, list[str]]:
    """Files in which any of the words stands, with those that do."""
    found: dict[str, list[str]] = {}
    for file in files:
        try:
            content = file.read_bytes()
        except FileNotFoundError:  # Kafka puts a compacted segment in the place of others
            continue
        if there := [word for word in words if word.encode() in content]:
            found["/".join(file.parts[-2:])] = there
    return found


def logs(kafka: EmbeddedKafka, line: Pipeline) -> list[Path]:
    """Files of the compacted topics, those that are about to be deleted included."""
    names = {f"{line.settings.topic_prefix}{name}" for name in COMPACTED}
    return [
        file
        for folder in (kafka.log.parent / "log").iterdir()
        if folder.name.rpartition("-")[0] in names
        for file in folder.iterdir()
    ]


def store_files(line: Pipeline) -> list[Path]:
    return [file for file in (line.folder / "worker" / "store").rglob("*") if file.is_file()]


async def compact(kafka: EmbeddedKafka, line: Pipeline) -> None:
    """Has Kafka compact, and waits until no segment holds any of the words."""
    quick = {"min.cleanable.dirty.ratio": "0.01", "segment.ms": "100", "file.delete.delay.ms": "0"}
    prefix = line.settings.topic_prefix
    async with admin(line.settings) as client:
        await client.alter_configs(
            [
                ConfigResource(ConfigResourceType.TOPIC, prefix + name, {**BY_NAME[name].config(), **quick})
                for name in COMPACTED
            ]
        )
    async with make_producer(line.settings, max_request_size=100_000) as producer:

        async def gone() -> bool:
            for name in COMPACTED:  # only a closed segment is cleaned
                await producer.send_and_wait(prefix + name, None, key=b"shop/nobody/roll", partition=0)
            return not holding(logs(kafka, line))

        await eventually(gone, what="compaction to take the words out")


@pytest.mark.timeout(600)
async def test_nothing_that_was_said_is_left(
    kafka: EmbeddedKafka, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pipeline(kafka.bootstrap, topic_prefix, partitions=1) as line:
        await line.worker().start()
        async with line.client(deadline=60) as memory:
            old, new, *_ = await tell(memory, SAID)
            await memory.supersede(old, new, reason="Brackleby told me", **WHO)
            await memory.recall("Where is Quillhaven?", **WHO)
            kept = await memory.publish_and_wait(event_id="o", text=f"I live in {LEFT}.", **OTHER)
            task = Job(job_id="j", state="running", event_ids=WORDS, started_at=AT, updated_at=AT, **WHO)
            await put(memory, task)
            await line.drained()
            there = {word for words in holding(logs(kafka, line)).values() for word in words}
            assert there == set(WORDS), "the scan finds what there is"
            assert holding(store_files(line))

            await memory.forget(everything=True, **WHO)
            await compact(kafka, line)

            # Delivered again, under their old ids and under new ones.
            assert await tell(memory, SAID) == []
            assert await tell(memory, SAID, "again") == []
            await line.drained()
            assert await memory.export(**WHO) == []
            assert (await memory.recall("Where is Quillhaven?", threshold=False, **WHO)).memories == ()
            assert {m.memory_id for m in await memory.export(**OTHER)} == {m.memory_id for m in kept.memories}
        await compact(kafka, line)
        await end_state(line)  # `records` and the store hold the same; the worker has ended
        monkeypatch.setattr("streams.app.embedder_of", lambda _: ConstantEmbedder())
        await rebuild.replace_embedded(line.settings.model_copy(update={"data_dir": line.folder / "worker"}))
        assert holding(store_files(line)) == {}
        assert holding(store_files(line), [LEFT])


@pytest.mark.timeout(300)
async def test_while_the_same_user_speaks(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    """What is dated before the command goes, however late it is through; what is said after it stays."""
    async with pipeline(kafka.bootstrap, topic_prefix, partitions=1, batch_max=4) as line:
        await line.worker().start()
        events = [
            {"event_id": f"e{n}", "text": f"I have been to town number {n}.", "occurred_at": AT, **WHO}
            for n in range(60)
        ]
        messages = [{**{k: v for k, v in e.items() if k != "text"}, "messages": [{"text": e["text"]}]} for e in events]
        async with line.client(deadline=90) as memory:
            flowing = asyncio.create_task(line.publish(messages))

            async def some() -> int:
                return len(await line.receipts())

            await eventually(some, every=0.02, what="the first of them to be stored")
            await memory.forget(everything=True, **WHO)
            await flowing
            new = await memory.publish_and_wait(event_id="new", text=f"I live in {LEFT} now.", **WHO)
            await line.all_received([*(str(e["event_id"]) for e in events), "new"])
            await line.drained()
            assert new.memories
            assert {m.source.event_id for m in await memory.export(**WHO)} == {"new"}
        state = await end_state(line)
        assert state["records"] == state["store"]


@pytest.mark.timeout(600)
async def test_a_crash_at_any_step_ends_the_same(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    """One worker after another dies over a command of its own user; the last one finishes them all."""
    steps = [*ERASURE_STEPS, *(f"commands.{step}" for step in RUNNER_STEPS)]
    async with pipeline(kafka.bootstrap, topic_prefix, partitions=1) as line:
        worker = line.worker(**SAME)
        await worker.start()
        users = [f"user {number}" for number in range(len(steps))]
        events = [
            {
                "event_id": f"{user} {n}",
                "namespace": "shop",
                "user_id": user,
                "occurred_at": AT,
                "messages": [{"text": t}],
            }
            for user in [*users, "bystander"]
            for n, t in enumerate(SAID)
        ]
        await line.publish(events)
        await line.all_received(str(event["event_id"]) for event in events)
        await line.drained()
        worker.kill()
        async with line.client(namespace="shop", deadline=120) as memory:
            asked = []
            for user, step in zip(users, steps, strict=True):
                dying = line.worker(crash=step, **SAME)
                dying.spawn()
                asked.append(asyncio.create_task(memory.forget(user_id=user, everything=True, deadline=240)))
                assert await dying.gone(120) == -signal.SIGKILL, dying.tail()
            await line.worker(**SAME).start()
            receipts = await asyncio.gather(*asked)
            assert len({receipt.fence_id for receipt in receipts}) == len(steps)
            await line.publish(events)
            await line.drained()
            assert [await memory.export(user_id=user) for user in users] == [[]] * len(users)
            assert await memory.export(user_id="bystander")
        state = await end_state(line)
        assert state["records"] == state["store"]
        assert {str(one["user_id"]) for one in state["records"].values()} == {"bystander"}
