"""The dead-letter topics on a broker: read whole, sent back, marked, deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from streams.batches import batched
from streams.dead_letters import LETTER_TOPICS, Box, Letter, LetterId, Verdict, marker, read, redriven
from streams.emitter import Emitter
from streams.errors import ConfigurationError, DependencyDown
from streams.health import Health
from streams.kafka import admin, connection
from streams.settings import Settings

if TYPE_CHECKING:
    from aiokafka import AIOKafkaConsumer, ConsumerRecord

# Records under way at once when letters go back. Each may be 16 MiB.
REDRIVE_BATCH = 20
# A marker is a hundred bytes.
MARK_BATCH = 1000


class DeadLetters:
    """Opened with `dead_letters(settings)`. All methods raise `DependencyDown("kafka")`."""

    def __init__(self, settings: Settings, consumer: AIOKafkaConsumer, places: Sequence[tuple[str, int]]) -> None:
        """`places`: topic, with its prefix, and partition."""
        self._settings = settings
        self._consumer = consumer
        self._places = places

    async def box(self) -> Box:
        """Everything that lies there now. Values are read and not kept."""
        prefix = self._settings.topic_prefix
        return Box.of([read(record, prefix) async for record in self._records()])

    async def value(self, letter: LetterId) -> tuple[bytes | None, bytes | None] | None:
        """Key and value of one letter; None when it is not there."""
        async for record in self._records({letter}):
            return record.key, record.value
        return None

    async def redrive(self, letters: Collection[Letter]) -> AsyncIterator[Letter]:
        """Send them back, as they came; yields each that is acknowledged and marked.

        The marker comes second: a crash between the two leaves the letter open, and a record that is sent back twice
        changes nothing.
        """
        by_id = {letter.id: letter for letter in letters}
        prefix = self._settings.topic_prefix
        async with _emitter(self._settings) as emitter:
            batch: list[tuple[Letter, Any]] = []
            async for record in self._records(by_id):
                found = read(record, prefix)
                if isinstance(found, Letter) and found == by_id[found.id]:
                    batch.append((found, redriven(record, found)))
                if len(batch) == REDRIVE_BATCH:
                    async for letter in _send(emitter, batch):
                        yield letter
                    batch = []
            async for letter in _send(emitter, batch):
                yield letter

    async def mark(self, letters: Iterable[LetterId], verdict: Verdict) -> None:
        async with _emitter(self._settings) as emitter:
            for part in batched(sorted(letters), MARK_BATCH):
                await emitter.send([marker(letter, verdict) for letter in part])

    async def delete_settled(self) -> bool:
        """Let Kafka delete the letters at the start of each partition that are settled. False when the broker forbids
        it to us: then they go with their retention."""
        from aiokafka import TopicPartition
        from aiokafka.admin import RecordsToDelete
        from aiokafka.errors import TopicAuthorizationFailedError

        before = (await self.box()).deletable()
        if not before:
            return True
        wanted = {
            TopicPartition(self._settings.topic_prefix + topic, partition): RecordsToDelete(offset)
            for (topic, partition), offset in before.items()
        }
        async with admin(self._settings) as client:
            try:
                await client.delete_records(wanted)
            except TopicAuthorizationFailedError:
                return False
        return True

    async def _records(self, only: Collection[LetterId] | None = None) -> AsyncIterator[ConsumerRecord]:
        """From the start of both topics, or from the first of `only`, to where they end now."""
        from aiokafka.errors import KafkaError

        try:
            async for record in self._read(only):
                if only is None or LetterId(self._short(record.topic), record.partition, record.offset) in only:
                    yield record
        except KafkaError as error:
            raise DependencyDown("kafka", type(error).__name__) from None

    async def _read(self, only: Collection[LetterId] | None) -> AsyncIterator[ConsumerRecord]:
        from aiokafka import TopicPartition

        consumer = self._consumer
        places = [TopicPartition(*place) for place in self._places]
        starts, ends = dict(await consumer.beginning_offsets(places)), dict(await consumer.end_offsets(places))
        if only is not None:
            for place in places:
                here = [one.offset for one in only if (one.topic, one.partition) == (self._short(place[0]), place[1])]
                starts[place] = max(starts[place], min(here, default=ends[place]))
                ends[place] = min(ends[place], max(here, default=-1) + 1)
        left: set[TopicPartition] = {place for place in places if starts[place] < ends[place]}
        consumer.assign(sorted(left))
        for place in left:
            consumer.seek(place, starts[place])
        while left:
            for place, records in (await consumer.getmany(*left, timeout_ms=1000)).items():
                for record in records:
                    if record.offset < ends[place]:
                        yield record
            left = {place for place in left if await consumer.position(place) < ends[place]}

    def _short(self, topic: str) -> str:
        return topic.removeprefix(self._settings.topic_prefix)


@asynccontextmanager
async def dead_letters(settings: Settings) -> AsyncIterator[DeadLetters]:
    """Raises `DependencyDown("kafka")` when no broker answers, `ConfigurationError` when a topic is missing."""
    from aiokafka import AIOKafkaConsumer
    from aiokafka.errors import KafkaError

    places = await _places(settings)
    consumer = AIOKafkaConsumer(**connection(settings), enable_auto_commit=False)
    try:
        await consumer.start()
    except (KafkaError, OSError) as error:
        await consumer.stop()
        raise DependencyDown("kafka", f"{settings.kafka_bootstrap} does not answer ({type(error).__name__})") from None
    try:
        yield DeadLetters(settings, consumer, places)
    finally:
        await consumer.stop()


async def _places(settings: Settings) -> list[tuple[str, int]]:
    names = [settings.topic_prefix + topic for topic in LETTER_TOPICS]
    async with admin(settings) as client:
        rows = {row["topic"]: row for row in await client.describe_topics(names)}
    for name in names:
        if not rows.get(name, {}).get("partitions"):
            raise ConfigurationError(f"topic {name} does not exist: run `memstream topics --create`")
    return [(name, row["partition"]) for name in names for row in rows[name]["partitions"]]


@asynccontextmanager
async def _emitter(settings: Settings) -> AsyncIterator[Emitter]:
    emitter = Emitter(settings, Health())
    await emitter.start()
    try:
        yield emitter
    finally:
        await emitter.stop()


async def _send(emitter: Emitter, batch: Sequence[tuple[Letter, Any]]) -> AsyncIterator[Letter]:
    await emitter.send([record for _, record in batch])
    await emitter.send([marker(letter.id, "redriven") for letter, _ in batch])
    for letter, _ in batch:
        yield letter
