"""Producing: every record that memstream writes goes through here, acknowledged by the broker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from streams.errors import BadData, DependencyDown
from streams.health import Health
from streams.kafka import make_producer
from streams.outcome import Outbound
from streams.settings import Settings
from streams.topics import MAX_DEAD_LETTER_BYTES

if TYPE_CHECKING:
    from aiokafka import AIOKafkaProducer


class Emitter:
    """One producer a process. `send` returns when the broker has acknowledged all records, in order per partition."""

    def __init__(self, settings: Settings, health: Health) -> None:
        self._prefix = settings.topic_prefix
        self._settings = settings
        self._health = health
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()
        self._stopped = False

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

    async def send(self, records: Sequence[Outbound]) -> None:
        """Raises `DependencyDown("kafka")`, or `BadData("too_large")` for a record that no broker of ours takes."""
        from aiokafka.errors import KafkaError, MessageSizeTooLargeError

        if not records:
            return
        producer = await self._running()
        try:
            pending = [
                await producer.send(
                    record.topic if record.exact else self._prefix + record.topic,
                    value=record.value,
                    key=record.key,
                    partition=record.partition,
                    headers=list(record.headers),
                )
                for record in records
            ]
            for result in await asyncio.gather(*pending, return_exceptions=True):
                if isinstance(result, BaseException):
                    raise result
        except MessageSizeTooLargeError:
            raise BadData("too_large") from None
        except KafkaError as error:
            self._health.failed("kafka", type(error).__name__)
            if not error.retriable:
                # An idempotent producer whose sequence is broken never recovers; a new one begins a new sequence.
                await self._discard(producer)
            raise DependencyDown("kafka", type(error).__name__) from None
        self._health.succeeded("kafka")

    async def _running(self) -> AIOKafkaProducer:
        async with self._starting:
            if self._producer is None and not self._stopped:
                await self.start()
            if self._producer is None:
                raise DependencyDown("kafka", "the producer is stopped")
            return self._producer

    async def _discard(self, producer: AIOKafkaProducer) -> None:
        async with self._starting:
            if self._producer is not producer:
                return
            self._producer = None
        await asyncio.gather(asyncio.create_task(producer.stop()), return_exceptions=True)
