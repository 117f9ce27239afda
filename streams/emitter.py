"""Producing: every record that memstream writes goes through here, acknowledged by the broker."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streams.errors import BadData, DependencyDown
from streams.health import Health
from streams.kafka import make_producer
from streams.outcome import Outbound
from streams.settings import Settings
from streams.topics import MAX_DEAD_LETTER_BYTES

if TYPE_CHECKING:
    from aiokafka import AIOKafkaProducer

log = logging.getLogger(__name__)

# A broker that takes longer to say which it is takes nothing.
PING_SECONDS = 10.0
# How long a reply topic that was not there is taken as not there: one look costs the broker a list of all topics.
ABSENT_SECONDS = 10.0


class Emitter:
    """One producer a process. `send` returns when the broker has acknowledged all records, in order per partition."""

    def __init__(self, settings: Settings, health: Health) -> None:
        self._prefix = settings.topic_prefix
        self._settings = settings
        self._health = health
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()
        self._stopped = False
        # Reply topics that were not there, and until when that is believed.
        self._absent: dict[str, float] = {}

    async def start(self) -> None:
        """Raises `DependencyDown("kafka")`."""
        from aiokafka.errors import KafkaError

        producer = make_producer(self._settings, max_request_size=MAX_DEAD_LETTER_BYTES + 128 * 1024)
        try:
            await producer.start()
        except (KafkaError, OSError) as error:
            await producer.stop()
            raise DependencyDown("kafka", type(error).__name__) from None
        self._producer = producer

    async def stop(self) -> None:
        self._stopped = True
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def ping(self) -> None:
        """Tells `Health` whether the broker answers: what is sent tells as well, but only when something is, and in an
        outage only after minutes of trying."""
        from aiokafka.errors import KafkaError

        try:
            producer = await self._running()
            async with asyncio.timeout(PING_SECONDS):
                answers = await producer.client.force_metadata_update()
        except (KafkaError, OSError, DependencyDown):
            answers = False
        if answers:
            self._health.succeeded("kafka")
        elif self._health.failed("kafka", "no answer"):
            log.warning("the broker does not answer")

    async def send(self, records: Sequence[Outbound]) -> None:
        """Raises `DependencyDown("kafka")`, or `BadData`: "too_large" for a record that no broker of ours takes,
        "unknown_reply_topic" or "unknown_reply_partition" for a reply to where nobody can listen."""
        from aiokafka.errors import KafkaError, MessageSizeTooLargeError, TopicAuthorizationFailedError

        if not records:
            return
        producer = await self._running()
        try:
            pending = [await self._accept(producer, record) for record in records]
            failed: KafkaError | None = None
            for acknowledged in pending:
                # In turn: those of one batch come together, and one that is there costs no turn of the event loop.
                try:
                    await acknowledged
                except KafkaError as error:
                    failed = failed or error
            if failed is not None:
                raise failed
        except MessageSizeTooLargeError:
            raise BadData("too_large") from None
        except TopicAuthorizationFailedError as error:
            if any(record.exact for record in records):
                raise BadData("reply_topic_not_allowed") from None
            raise DependencyDown("kafka", type(error).__name__) from None
        except KafkaError as error:
            self._health.failed("kafka", type(error).__name__)
            if not error.retriable:
                # An idempotent producer whose sequence is broken never recovers; a new one begins a new sequence.
                await self._discard(producer)
            raise DependencyDown("kafka", type(error).__name__) from None
        self._health.succeeded("kafka")

    async def _accept(self, producer: AIOKafkaProducer, record: Outbound) -> Any:
        """A future of the acknowledgement."""
        topic = record.topic if record.exact else self._prefix + record.topic
        if record.exact:
            await self._check_reply(producer, topic, record.partition)
        headers: Any = list(record.headers)
        if record.key is not None or record.value is not None:
            return await producer.send(
                topic, value=record.value, key=record.key, partition=record.partition, headers=headers
            )
        # A dead letter of a record with neither: legal in Kafka, refused by `send`.
        batch = producer.create_batch()
        batch.append(key=None, value=None, timestamp=None, headers=headers)
        batch.close()
        partitions = await producer.partitions_for(topic)
        return await producer.send_batch(batch, topic, partition=random.choice(sorted(partitions)))

    async def _check_reply(self, producer: AIOKafkaProducer, topic: str, partition: int | None) -> None:
        """The producer would wait a minute for a topic that is not there, and whoever misspelt it may ask often."""
        partitions = producer.client.cluster.partitions_for_topic(topic)
        if partitions is None and self._absent.get(topic, 0.0) < time.monotonic():
            partitions = (await producer.client.fetch_all_metadata()).partitions_for_topic(topic)
        if partitions is None:
            now = time.monotonic()
            self._absent = {name: until for name, until in self._absent.items() if until > now}
            self._absent.setdefault(topic, now + ABSENT_SECONDS)
            raise BadData("unknown_reply_topic")
        self._absent.pop(topic, None)
        if partition is not None and partition not in partitions:
            raise BadData("unknown_reply_partition")

    async def _running(self) -> AIOKafkaProducer:
        async with self._starting:
            if self._producer is None and not self._stopped:
                await self.start()
            if self._producer is None:
                raise DependencyDown("kafka", "the producer is stopped")
            return self._producer

    async def _discard(self, producer: Any) -> None:
        async with self._starting:
            current = self._producer is producer
            if current:
                self._producer = None
        if not current:
            return
        await asyncio.gather(asyncio.create_task(producer.stop()), return_exceptions=True)
