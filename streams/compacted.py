"""Reading a compacted topic from its start to where it ended when the reading began."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from streams.errors import ConfigurationError, DependencyDown
from streams.kafka import connection
from streams.settings import Settings
from streams.topics import MAX_DERIVED_BYTES

# A broker that takes connections and answers nothing for so long is as good as gone.
SILENT_SECONDS = 30.0
# `records` holds directives beside memories.
DIRECTIVE = b"/directive%3A"


@dataclass(frozen=True, slots=True)
class Entry:
    """`value` is None for a tombstone; `timestamp` in milliseconds since 1970, by the broker's clock."""

    partition: int
    offset: int
    key: bytes
    value: bytes | None
    timestamp: int = 0

    @property
    def tenant_key(self) -> str:
        return self.key.rpartition(b"/")[0].decode()


async def read(settings: Settings, topic: str, start: Mapping[int, int] | None = None) -> AsyncIterator[list[Entry]]:
    """Batches in the order of each partition. `start`: offsets to go on from, by partition.

    Raises `ConfigurationError` when there is no such topic, `DependencyDown("kafka")` when no broker answers.
    """
    from aiokafka import AIOKafkaConsumer, TopicPartition
    from aiokafka.errors import KafkaError

    name = settings.topic_prefix + topic
    consumer = AIOKafkaConsumer(
        **connection(settings), enable_auto_commit=False, max_partition_fetch_bytes=MAX_DERIVED_BYTES
    )
    try:
        async with asyncio.timeout(SILENT_SECONDS):
            await consumer.start()
            await consumer._client.set_topics([name])
            partitions = consumer.partitions_for_topic(name)
            if not partitions:
                raise ConfigurationError(
                    f"the topic {name} does not exist: start a worker or run `memstream topics --create`"
                )
            places = [TopicPartition(name, partition) for partition in sorted(partitions)]
            consumer.assign(places)
            ends = await consumer.end_offsets(places)
            for place, first in (await consumer.beginning_offsets(places)).items():
                consumer.seek(place, max(first, (start or {}).get(place.partition, 0)))
            unread = [place for place in places if await consumer.position(place) < ends[place]]
        silent = 0
        while unread:
            before = [await consumer.position(place) for place in unread]
            for place, records in (await consumer.getmany(*unread, timeout_ms=1000)).items():
                yield [
                    Entry(place.partition, record.offset, record.key, record.value, record.timestamp)
                    for record in records
                    if record.key is not None and record.offset < ends[place]
                ]
            # What compaction removed leaves gaps, so that the position tells more than the last offset.
            moved = before != [await consumer.position(place) for place in unread]
            silent = 0 if moved else silent + 1
            if silent > SILENT_SECONDS:  # a wait for nothing takes a second
                raise TimeoutError
            unread = [place for place in unread if await consumer.position(place) < ends[place]]
    except (KafkaError, OSError) as error:
        raise DependencyDown("kafka", f"{settings.kafka_bootstrap} does not answer ({type(error).__name__})") from None
    finally:
        await consumer.stop()


async def latest(settings: Settings, topic: str, prefix: bytes = b"") -> dict[bytes, bytes]:
    """The value that each key has now; `prefix`: only keys that begin so. Tombstones are left out."""
    found: dict[bytes, bytes] = {}
    async for entries in read(settings, topic):
        for entry in entries:
            if not entry.key.startswith(prefix):
                continue
            if entry.value is None:
                found.pop(entry.key, None)
            else:
                found[entry.key] = entry.value
    return found
