"""Reading a compacted topic: from its start to its present end, and on from there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streams.errors import ConfigurationError, DependencyDown
from streams.kafka import connection
from streams.settings import Settings
from streams.topics import MAX_DERIVED_BYTES

if TYPE_CHECKING:
    from aiokafka import AIOKafkaConsumer, TopicPartition

# A broker that takes connections and answers nothing for so long is as good as gone.
SILENT_SECONDS = 30.0
# `records` holds clients' directives and a model's verdicts on pairs beside memories.
DIRECTIVE = b"/directive%3A"
VERDICT = b"/verdict%3A"


def is_memory(key: bytes) -> bool:
    return DIRECTIVE not in key and VERDICT not in key


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


class Follower:
    """A topic read on and on over one connection. `places`: the offset to go on from, by partition.

    `from_end`: only what comes after the first call. `ahead_bytes`: of a partition, what is fetched before it is asked
    for.
    """

    def __init__(
        self,
        settings: Settings,
        topic: str,
        start: Mapping[int, int] | None = None,
        *,
        from_end: bool = False,
        ahead_bytes: int = MAX_DERIVED_BYTES,
    ) -> None:
        self._from_end, self._ahead_bytes = from_end, ahead_bytes
        self._settings = settings
        self._name = settings.topic_prefix + topic
        self.places = dict(start or {})
        self._consumer: AIOKafkaConsumer | None = None

    async def new(self) -> AsyncIterator[list[Entry]]:
        """What came since, at least up to where the topic ends now, in batches in the order of each partition.

        Raises `ConfigurationError` when there is no such topic, `DependencyDown("kafka")` when no broker answers.
        """
        with _as_dependency(self._settings):
            async with asyncio.timeout(SILENT_SECONDS):
                consumer = await self._started()
                ends = await consumer.end_offsets(consumer.assignment())
            silent = 0
            unread = [place for place in ends if await consumer.position(place) < ends[place]]
            while unread:
                before = [await consumer.position(place) for place in unread]
                for entries in await self._fetch(consumer, unread, 1.0):
                    yield entries
                silent = 0 if before != [await consumer.position(place) for place in unread] else silent + 1
                if silent > SILENT_SECONDS:  # a wait for nothing takes a second
                    raise TimeoutError
                # What compaction removed leaves gaps, so that the position tells more than the last offset.
                unread = [place for place in unread if await consumer.position(place) < ends[place]]

    async def arriving(self, seconds: float) -> list[list[Entry]]:
        """The next ones as soon as there are any; none after `seconds`. Raises as `new`."""
        with _as_dependency(self._settings):
            return await self._fetch(await self._started(), [], seconds)

    def go_back(self, places: Mapping[int, int]) -> None:
        """Go on from there, where that is before what was read, or nothing was."""
        from aiokafka import TopicPartition

        for partition in places.keys() | self.places.keys():
            before = places.get(partition, 0)
            self.places[partition] = min(before, self.places.get(partition, before))
            if self._consumer is not None:
                self._consumer.seek(TopicPartition(self._name, partition), self.places[partition])

    async def close(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            # In a task of its own: a consumer whose broker is gone ends its stop with CancelledError.
            await asyncio.gather(asyncio.create_task(consumer.stop()), return_exceptions=True)

    async def _started(self) -> AIOKafkaConsumer:
        from aiokafka import AIOKafkaConsumer

        if self._consumer is None:
            self._consumer = AIOKafkaConsumer(
                **connection(self._settings), enable_auto_commit=False, max_partition_fetch_bytes=self._ahead_bytes
            )
            try:
                await self._start(self._consumer)
            except BaseException:
                # The next call begins anew.
                await self.close()
                raise
        return self._consumer

    async def _start(self, consumer: AIOKafkaConsumer) -> None:
        from aiokafka import TopicPartition

        await consumer.start()
        await consumer._client.set_topics([self._name])
        partitions = consumer.partitions_for_topic(self._name)
        if not partitions:
            raise ConfigurationError(
                f"the topic {self._name} does not exist: start a worker or run `memstream topics --create`"
            )
        places = [TopicPartition(self._name, partition) for partition in sorted(partitions)]
        consumer.assign(places)
        asked = consumer.end_offsets if self._from_end else consumer.beginning_offsets
        for place, first in (await asked(places)).items():
            self.places[place.partition] = max(first, self.places.get(place.partition, 0))
            consumer.seek(place, self.places[place.partition])

    async def _fetch(
        self, consumer: AIOKafkaConsumer, places: Sequence[TopicPartition], seconds: float
    ) -> list[list[Entry]]:
        found = await consumer.getmany(*places, timeout_ms=round(seconds * 1000))
        for place, records in found.items():
            self.places[place.partition] = records[-1].offset + 1
        return [
            [
                Entry(place.partition, record.offset, record.key, record.value, record.timestamp)
                for record in records
                if record.key is not None
            ]
            for place, records in found.items()
        ]


@contextmanager
def _as_dependency(settings: Settings) -> Iterator[None]:
    from aiokafka.errors import KafkaError

    try:
        yield
    except (KafkaError, OSError) as error:
        raise DependencyDown("kafka", f"{settings.kafka_bootstrap} does not answer ({type(error).__name__})") from None


async def read(settings: Settings, topic: str, start: Mapping[int, int] | None = None) -> AsyncIterator[list[Entry]]:
    """All of a topic from `start` (offsets by partition) to its present end; as `Follower.new`."""
    follower = Follower(settings, topic, start)
    try:
        async for entries in follower.new():
            yield entries
    finally:
        await follower.close()


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
