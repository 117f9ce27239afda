"""Imports whose importer, worker or broker dies in the middle: one outcome a conversation, nothing is there twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.imports import history
from schemas import ConversationEvent, Job
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.client import MemoryClient, Unavailable
from streams.health import Health
from streams.http.app import make_app
from streams.imports.pace import LEAST_AHEAD
from tests.chaos.test_kill import fresh
from tests.harness import Process, end_state, eventually
from tests.integration.test_imports import importer, sent, told

COUNT, REMEMBERED = 10_000, 2_000


def how_far(process: Process) -> int:
    """How many it says to have sent."""
    return max(map(int, re.findall(r"^sent (\d+)$", process.tail(), re.MULTILINE)), default=0)


async def until_sent(process: Process, count: int) -> None:
    async def so_many() -> bool:
        assert process.running, process.tail()
        return how_far(process) >= count

    await eventually(so_many, seconds=300, every=0.05, what=f"{count} to be sent")


@pytest.mark.timeout(900)
async def test_ten_thousand_conversations_and_kills(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    file = history(tmp_path / "history.jsonl", COUNT, 3, remembered=REMEMBERED)
    command = (str(file), "--namespace", "shop", "--user", "张三", "--watch")
    async with fresh(kafka) as line:
        worker = line.worker()
        await worker.start()
        first = importer(line, *command)
        await until_sent(first, COUNT // 4)
        worker.kill()
        first.kill()
        (job,) = [Job.from_bytes(value) for value in (await line.compacted("jobs")).values()]
        assert len(job.event_ids) == COUNT
        assert 0 < len(await line.receipts()) < COUNT // 2

        worker.spawn()
        second = importer(line, *command)
        await until_sent(second, COUNT // 4)
        worker.kill()
        assert second.running
        worker.spawn()
        said = await told(second, seconds=600)

        receipts = await line.all_received(job.event_ids)
        outcomes = Counter(receipt.outcome for receipt in receipts.values())
        assert outcomes == {"stored": REMEMBERED, "skipped": COUNT - REMEMBERED}
        assert f"done: {COUNT} conversations, {REMEMBERED} stored, {COUNT - REMEMBERED} skipped, because" in said
        memories = [memory_id for receipt in receipts.values() for memory_id in receipt.memory_ids]
        assert len(memories) == len(set(memories))

        before = await sent(line), await line.compacted("records"), await line.receipts()
        again = await told(importer(line, *command))
        assert f"done: {COUNT} conversations, {REMEMBERED} stored" in again
        assert (await sent(line), await line.compacted("records"), await line.receipts()) == before

        state = await end_state(line)
        assert state["store"] == state["records"]
        assert state["store"].keys() == set(memories)


@pytest.mark.timeout(600)
async def test_an_import_outlasts_a_broker_that_dies(own_kafka: EmbeddedKafka, tmp_path: Path) -> None:
    file = history(tmp_path / "history.jsonl", 3 * LEAST_AHEAD, 3, remembered=10)
    async with fresh(own_kafka) as line:
        # Nobody handles anything yet: it waits at the most that may be on its way.
        running = importer(line, str(file), "--namespace", "shop", "--user", "张三", "--watch")
        await until_sent(running, LEAST_AHEAD)
        await own_kafka.kill()

        async def tries_again() -> bool:
            assert running.running, running.tail()
            return "does not answer" in running.tail() and "trying again in" in running.tail()

        await eventually(tries_again, seconds=120, what="the importer to notice")
        await own_kafka.start()
        await line.worker(roles="redact,extract,memory").start()
        assert f"done: {3 * LEAST_AHEAD} conversations, 10 stored" in await told(running, seconds=300)


class Unlucky(MemoryClient):
    """The broker dies when it begins to send."""

    broker: EmbeddedKafka
    unlucky = True

    async def publish_many(self, events: Iterable[ConversationEvent | Mapping[str, Any]]) -> AsyncGenerator[str, None]:
        if self.unlucky:
            self.unlucky = False
            await self.broker.kill()
            raise Unavailable("Kafka: gone")
        async for event_id in super().publish_many(events):
            yield event_id


@pytest.mark.timeout(300)
async def test_a_gateway_goes_on_sending_when_the_broker_is_back(own_kafka: EmbeddedKafka) -> None:
    Unlucky.broker = own_kafka
    texts = [f"The archive box {n} is kept in room {n * 7}." for n in range(50)]
    body = {"user_id": "Ann", "conversations": [{"time": "2026-03-02T09:00:00Z", "text": text} for text in texts]}
    async with fresh(own_kafka) as line, Unlucky(settings=line.settings) as client:
        app = make_app(line.settings.model_copy(update={"http_auth": "off"}), client, Health())
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:
            answer = await http.post("/memory/import", json=body, headers={"Prefer": "wait=2"})
            assert (answer.status_code, answer.json()["sent"]) == (202, False), answer.text
            await own_kafka.start()

            async def all_of_it() -> bool:
                status = await http.get(f"/memory/import/{answer.json()['task_id']}")
                return status.status_code == 200 and bool(status.json()["sent"])

            await eventually(all_of_it, seconds=120, what="the rest to be sent")
        await app.state.sending.close()
        assert await sent(line) == len(texts)
