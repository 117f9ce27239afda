"""`memstream dead-letters` on a real broker: parked, listed, sent back until it is stored, dropped."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.cli import app
from tests.harness import Pipeline, Process, eventually, pipeline
from tests.integration.raw import Raw, produce

SAID = "I always take the window seat on trains to Osaka."
EVENT = {
    "event_id": "long",
    "namespace": "shop",
    "user_id": "u1",
    "messages": [{"text": SAID}],
}


@pytest.fixture
async def line(kafka: EmbeddedKafka, topic_prefix: str):
    async with pipeline(kafka.bootstrap, topic_prefix, partitions=1) as made:
        yield made


class Letters:
    """The command, as an operator types it; in this process, whose imports are done."""

    def __init__(self, line: Pipeline) -> None:
        self._environment = line.environment

    async def __call__(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        call = ["dead-letters", *arguments]
        done = await asyncio.to_thread(CliRunner().invoke, app, call, env=self._environment, input=stdin)
        assert done.exit_code == code, done.output
        return done.output

    async def open(self, *arguments: str) -> list[dict[str, Any]]:
        return [json.loads(row) for row in (await self("list", "--json", *arguments)).splitlines()]


@pytest.fixture
def letters(line: Pipeline) -> Letters:
    return Letters(line)


async def started(line: Pipeline, **settings: str) -> Process:
    """Always the same member of its groups, so that a restart waits for nobody."""
    worker = line.worker(MEMSTREAM_KAFKA_GROUP_INSTANCE_ID="w", **settings)
    await worker.start()
    return worker


async def parked(line: Pipeline, count: int) -> None:
    async def there() -> bool:
        return len([r async for r in line.records("dead-letters.raw") if r.value]) >= count

    await eventually(there, what=f"{count} dead letters")


async def test_a_poison_record_goes_back_until_it_is_stored(line: Pipeline, letters: Letters) -> None:
    worker = await started(line, MEMSTREAM_MAX_TEXT_CHARS="20")
    await line.publish([EVENT])
    await parked(line, 1)
    first_parked = datetime.now(UTC)

    (letter,) = await letters.open("--reason", "too_large", "--topic", "conversations", "--since", "2026-01-01")
    assert (letter["id"], letter["stage"], letter["event_id"]) == ("dead-letters.raw/0/0", "redact", "long")
    assert (letter["redriven"], letter["state"]) == (0, "open")
    assert await letters.open("--stage", "memory") == []
    shown = await letters("show", letter["id"])
    assert "source_topic: conversations" in shown
    assert "Osaka" not in shown
    assert "u1" not in shown
    assert SAID in await letters("show", letter["id"], "--value")

    # Nothing goes by accident.
    assert "would be redriven: 1" in await letters("redrive", "--all", "--dry-run")
    assert "nothing was done" in await letters("redrive", "--all", stdin="n\n", code=1)
    await letters("redrive", "--yes", code=2)
    assert [r.value async for r in line.records("dead-letters.raw") if not r.value] == []

    # Not mended yet: it comes back, and the count goes with it.
    for tries in (1, 2):
        assert "redriven: 1, refused: 0" in await letters("redrive", "--all", "--yes")
        await parked(line, tries + 1)
        (letter,) = await letters.open()
        assert letter["redriven"] == tries
    assert [row["state"] for row in await letters.open("--settled")] == ["redriven", "redriven", "open"]

    worker.terminate()
    await worker.gone()
    await started(line)
    await letters("redrive", letter["id"], "--yes")

    async def outcome() -> str:
        receipt = (await line.receipts()).get("long")
        return receipt.outcome if receipt is not None and receipt.outcome != "parked" else ""

    assert await eventually(outcome) == "stored"
    async with line.client(namespace="shop", deadline=30) as memory:
        told = {m.content: m for m in await memory.export(user_id="u1")}
    assert told[SAID].occurred_at < first_parked, "said when it first came, not when it was redriven"
    assert await letters.open() == []
    assert "not among the open letters" in await letters("redrive", letter["id"], "--yes", code=1)


async def test_what_is_dropped_is_deleted_as_far_as_kafka_can(line: Pipeline, letters: Letters) -> None:
    await started(line)
    await produce(line, [Raw(b"{garbage one"), Raw(b"{garbage two")])
    await parked(line, 2)
    first, second = [row["id"] for row in await letters.open()]

    assert "would be dropped: 2" in await letters("drop", "--stage", "redact", "--dry-run")
    assert "would be dropped: 0" in await letters("drop", "--stage", "memory", "--dry-run")
    assert "redriven: 0, refused: 0" in await letters("redrive", "--reason", "too_large", "--yes")
    assert [row["id"] for row in await letters.open()] == [first, second]

    # Behind an open one: settled, and told when its bytes are gone.
    assert "its text is gone by" in await letters("drop", second, "--yes")
    assert [row["id"] for row in await letters.open()] == [first]
    assert {r.value async for r in line.records("dead-letters.raw") if r.value} == {b"{garbage one", b"{garbage two"}

    assert "dropped: 1, deleted now: 1" in await letters("drop", first, "--yes")
    assert [r.value async for r in line.records("dead-letters.raw") if r.value] == []
    assert "no dead letters" in await letters("list", "--settled")
    assert "is not there" in await letters("show", first, code=1)
