"""A new version takes over what an earlier one wrote, wherever its records stand at that moment."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.cli import rebuild
from tests.contract.test_earlier import EARLIER
from tests.harness import end_state, pipeline
from tests.integration.raw import Raw, produce

SETTLED = ("e0", "e1")


def earlier(topic: str, *event_ids: str) -> Iterable[Raw]:
    """What belongs to these events."""
    for record in EARLIER[topic]:
        value = record["value"]
        if {value.get("event_id"), *(source["event_id"] for source in value.get("sources", ()))} & set(event_ids):
            yield Raw(json.dumps(value, ensure_ascii=False).encode(), record["key"].encode(), topic=topic)


async def test_records_of_an_earlier_version_are_worked_off(
    kafka: EmbeddedKafka, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pipeline(kafka.bootstrap, topic_prefix) as line:
        # Two events are remembered, the third was redacted, the fourth extracted as well.
        await produce(line, [*earlier("records", *SETTLED), *earlier("receipts", *SETTLED)])
        await rebuild.replace_embedded(line.settings.model_copy(update={"data_dir": line.folder / "worker"}))
        await produce(line, [*earlier("redacted", "e2"), *earlier("candidates", "e3")])
        await line.worker().start()
        receipts = await line.all_received(record["value"]["event_id"] for record in EARLIER["receipts"])
        for record in EARLIER["receipts"]:
            told = receipts[record["value"]["event_id"]]
            assert (told.outcome, list(told.memory_ids)) == (record["value"]["outcome"], record["value"]["memory_ids"])

        # All of it once more, from the clients on: the same events.
        state = await line.compacted("records")
        everything = [raw for topic in ("conversations", "redacted", "candidates") for raw in earlier(topic, *receipts)]
        await produce(line, everything)
        await line.drained()
        assert await line.receipts() == receipts
        assert await line.compacted("records") == state

        # A memory of then is replaced by one of now.
        async with line.client(namespace="shop", deadline=60) as memory:
            new = await memory.publish_and_wait(user_id="张三", speaker="张三", text="I moved to Graz.")
            (city,) = (m for m in new.memories if m.attribute == "city")
            await line.drained()
            chain = await memory.history(city.memory_id, user_id="张三")
        assert {m.value for m in chain} >= {"Bonn", "Oslo", "Graz"}
        assert not [letter async for letter in line.records("dead-letters")]
        found = await end_state(line)
        assert found["store"] == found["records"]
