"""Records as they come from clients that are not ours: librdkafka sends any bytes, keys, headers and codecs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from confluent_kafka import KafkaException, Producer

from schemas import DecayTick
from streams.settings import SHARDS
from tests.harness import Pipeline

RawHeaders = Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Raw:
    """A record to produce; `topic` without the prefix. `partition` -1: by key, as Java clients do."""

    value: bytes | None
    key: bytes | None = None
    headers: RawHeaders = ()
    topic: str = "conversations"
    partition: int = -1


async def produce(pipeline: Pipeline, records: Iterable[Raw], *, codec: str = "none") -> None:
    """In the order given; returns when the broker has them all."""
    producer = Producer(
        {
            "bootstrap.servers": pipeline.settings.kafka_bootstrap,
            "partitioner": "murmur2_random",
            "enable.idempotence": True,
            "message.max.bytes": 64 * 1024 * 1024,
            "compression.type": codec,
            "linger.ms": 0,
        }
    )
    failed: list[str] = []

    def delivered(error: object, _: object) -> None:
        if error is not None:
            failed.append(str(error))

    for record in records:
        try:
            producer.produce(
                pipeline.settings.topic_prefix + record.topic,
                value=record.value,
                key=record.key,
                headers=list(record.headers),
                partition=record.partition,
                on_delivery=delivered,
            )
        except KafkaException as error:
            failed.append(str(error))
    left = await asyncio.to_thread(producer.flush, 60)
    assert not failed, failed
    assert left == 0


async def window_ends(pipeline: Pipeline, end: datetime, shards: Iterable[int] = range(SHARDS)) -> None:
    """A tick for each of `shards`, as the timer would emit it."""
    ticks = (DecayTick(shard=shard, window_start=end - timedelta(hours=6), window_end=end) for shard in shards)
    await produce(
        pipeline,
        [
            Raw(tick.to_bytes(), str(tick.shard).encode(), (), "decay", tick.shard % pipeline.settings.partitions)
            for tick in ticks
        ],
    )
