"""A long import whose importer and worker die in the middle: one outcome a conversation, nothing is there twice."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from bench.imports import history
from schemas import Job
from streams.adapters.kafka_broker import EmbeddedKafka
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
