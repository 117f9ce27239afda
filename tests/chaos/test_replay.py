"""Everything delivered again, from the first offset: nothing changes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata

from streams.adapters.kafka_broker import EmbeddedKafka
from tests.chaos.test_kill import SEED, assert_same, fresh
from tests.chaos.test_steps import commands, ticks
from tests.harness import Pipeline, end_state, eventually
from tests.integration.raw import Raw, produce
from tests.traffic import repeated, traffic

EVENTS, TENANTS = 120, 8
GROUPS: Mapping[str, tuple[str, ...]] = {
    "redact": ("conversations",),
    "extract": ("redacted",),
    "memory": ("candidates", "supersede", "commands", "access", "decay"),
}


async def rewind(line: Pipeline, role: str) -> None:
    """The group of a role starts again at the first record, as after a lost commit or an operator's reset."""
    places = [
        TopicPartition(line.settings.topic_prefix + topic, partition)
        for topic in GROUPS[role]
        for partition in range(line.settings.partitions)
    ]
    consumer = AIOKafkaConsumer(
        bootstrap_servers=line.settings.kafka_bootstrap,
        group_id=line.settings.topic_prefix + role,
        enable_auto_commit=False,
    )
    await consumer.start()
    try:
        consumer.assign(places)

        async def committed() -> bool:
            # Refused as long as the broker believes in the static member that was stopped.
            try:
                await consumer.commit({place: OffsetAndMetadata(0, "") for place in places})
            except KafkaError:
                return False
            return True

        await eventually(committed, what=f"the offsets of {role} to be reset")
    finally:
        await consumer.stop()


@pytest.mark.timeout(900)
async def test_everything_again_changes_nothing(kafka: EmbeddedKafka, soak: int) -> None:
    seed = SEED + soak
    events = list(traffic(seed, EVENTS, TENANTS))
    async with fresh(kafka) as line:
        await line.publish(repeated(events, seed))
        await line.worker().start()
        await line.all_received({event.event_id for event in events}, seconds=300)
        await line.drained(seconds=300)
        await produce(line, ticks())
        await line.drained(seconds=300)
        await produce(line, await commands(line))
        await line.drained(seconds=300)
        before = await line.receipts()
        expected = await end_state(line)
        raw = [Raw(r.value, r.key, r.headers, partition=r.partition) async for r in line.records("conversations")]

        # The offsets of every stage are lost.
        for role in GROUPS:
            await rewind(line, role)
        await line.worker().start()
        await line.drained(seconds=300)
        assert await line.receipts() == before
        assert_same(await end_state(line), expected)

        # The same bytes are published again, as by a client that retries or a mirror that starts over.
        await produce(line, raw)
        await line.worker().start()
        await line.drained(seconds=300)
        assert await line.receipts() == before
        assert_same(await end_state(line), expected)
        assert [letter async for letter in line.records("dead-letters")] == []
