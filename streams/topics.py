"""The topic table: one declaration of every topic, from which they are created, checked and documented."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel

from schemas import (
    Access,
    CandidateEvent,
    ConversationEvent,
    DecayTick,
    Fence,
    ForgetCommand,
    Job,
    MemoryRecord,
    PairVerdict,
    RecallReply,
    RecallRequest,
    Receipt,
    RedactedEvent,
    ReExtractCommand,
    RestoreCommand,
    Supersede,
    Tenant,
)
from streams.errors import ConfigurationError, DependencyDown
from streams.kafka import admin, key_hash
from streams.limits import MAX_RECORD_BYTES
from streams.settings import SHARDS, Settings

if TYPE_CHECKING:
    from aiokafka.admin import AIOKafkaAdminClient

# A broker answers a creation before it lists the topic: at once as a rule, seconds later on a busy machine.
VISIBLE_SECONDS = 60.0
HOUR = 3_600_000
DAY = 24 * HOUR
# Kafka looks for what to delete every five minutes, and leaves a deleted file for one more.
DELETED_WITHIN = timedelta(minutes=6)
# What a stage makes of an event is larger than the event: each thing worth keeping names its place, kind and time.
MAX_DERIVED_BYTES = 8 * MAX_RECORD_BYTES
# A dead letter carries its record whole and the headers that say why.
DEAD_LETTER_ROOM = 64 * 1024
MAX_DEAD_LETTER_BYTES = MAX_DERIVED_BYTES + DEAD_LETTER_ROOM


@dataclass(frozen=True, slots=True)
class Topic:
    """One row. `partitioned` topics have `settings.partitions` partitions, the others one.

    `beside`: what else stands on it. `schemas.control` says what tells them apart. `ids_only`: holds ids, times and
    numbers, and nothing that anybody said.
    """

    name: str
    key: Literal["tenant", "tenant/memory", "tenant/event", "tenant/fence", "tenant/job", "shard", "source"]
    model: type[BaseModel] | None
    flow: str
    cleanup: Literal["delete", "compact"] = "delete"
    retention_ms: int | None = None
    partitioned: bool = True
    max_bytes: int = MAX_RECORD_BYTES
    beside: tuple[type[BaseModel], ...] = ()
    ids_only: bool = False

    @property
    def keeps_text(self) -> timedelta | None:
        """For how long what was said may stand here after it was written; None where nothing is, or where erasure
        takes it out by its key.

        Kafka deletes a segment as a whole, when the newest record in it is past the retention.
        """
        if self.retention_ms is None or self.ids_only:
            return None
        return timedelta(milliseconds=self.retention_ms + self.segment_ms) + DELETED_WITHIN

    @property
    def segment_ms(self) -> int:
        """Of a topic with a retention. Kafka's own, a week, would keep what is past the retention for as long."""
        return (self.retention_ms or 0) // 4

    @property
    def models(self) -> tuple[type[BaseModel], ...]:
        """Of its values; none where they are as they came."""
        return () if self.model is None else (self.model, *self.beside)

    def config(self) -> dict[str, str]:
        """The settings that the topic must have on the broker."""
        common = {
            "cleanup.policy": self.cleanup,
            "message.timestamp.type": "LogAppendTime",
            "max.message.bytes": str(self.max_bytes + 64 * 1024),  # batch and header overhead
        }
        if self.cleanup == "compact":
            return common | {"max.compaction.lag.ms": str(DAY), "delete.retention.ms": str(7 * DAY)}
        return common | {"retention.ms": str(self.retention_ms), "segment.ms": str(self.segment_ms)}


TOPICS: tuple[Topic, ...] = (
    Topic("conversations", "tenant", ConversationEvent, "clients, http -> redact", retention_ms=DAY),
    Topic(
        "redacted",
        "tenant",
        RedactedEvent,
        "redact, memory -> extract",
        retention_ms=3 * DAY,
        max_bytes=MAX_DERIVED_BYTES,
    ),
    Topic(
        "candidates",
        "tenant",
        CandidateEvent,
        "redact, extract -> memory",
        retention_ms=3 * DAY,
        max_bytes=MAX_DERIVED_BYTES,
    ),
    Topic(
        "supersede",
        "tenant",
        Supersede,
        "memory, clients -> memory, change feeds",
        retention_ms=7 * DAY,
        beside=(PairVerdict,),
    ),
    Topic(
        "commands",
        "tenant",
        ForgetCommand,
        "clients, http -> memory",
        retention_ms=7 * DAY,
        beside=(RestoreCommand, ReExtractCommand),
        ids_only=True,
    ),
    Topic("access", "tenant", Access, "recall -> memory", retention_ms=7 * DAY, ids_only=True),
    Topic("decay", "shard", DecayTick, "memory -> memory", retention_ms=7 * DAY, ids_only=True),
    Topic(
        "records",
        "tenant/memory",
        MemoryRecord,
        "memory -> rebuild, change feeds",
        cleanup="compact",
        beside=(Supersede, PairVerdict),
    ),
    Topic("receipts", "tenant/event", Receipt, "memory -> rebuild, change feeds", cleanup="compact"),
    Topic("fences", "tenant/fence", Fence, "memory -> rebuild", cleanup="compact"),
    Topic("jobs", "tenant/job", Job, "clients, http, memory -> clients, http, memory", cleanup="compact"),
    Topic("recall.requests", "tenant", RecallRequest, "clients, http -> recall", retention_ms=HOUR),
    Topic(
        "replies.shared", "tenant", RecallReply, "recall, memory -> clients, http", retention_ms=HOUR, partitioned=False
    ),
    Topic(
        "dead-letters",
        "source",
        None,
        "extract, memory -> redrive",
        retention_ms=14 * DAY,
        max_bytes=MAX_DEAD_LETTER_BYTES,
    ),
    Topic(
        "dead-letters.raw",
        "source",
        None,
        "redact -> redrive",
        retention_ms=7 * DAY,
        max_bytes=MAX_RECORD_BYTES + DEAD_LETTER_ROOM,
    ),
)
BY_NAME: Mapping[str, Topic] = {topic.name: topic for topic in TOPICS}


def shard_of(tenant: Tenant) -> int:
    """Kafka's own hash of the tenant key, so that a shard lies in one partition as long as partitions divide 64."""
    return key_hash(tenant.key.encode()) % SHARDS


def memory_key(tenant: Tenant, memory_id: str) -> bytes:
    return f"{tenant.key}/{quote(memory_id, safe='')}".encode()


def job_key(tenant: Tenant, job_id: str) -> bytes:
    return f"{tenant.key}/{quote(job_id, safe='')}".encode()


def event_key(tenant: Tenant, event_id: str) -> bytes:
    return f"{tenant.key}/{quote(event_id, safe='')}".encode()


@dataclass(frozen=True, slots=True)
class TopicState:
    """What `check_topics` found: `problem` is empty when the topic is as it must be."""

    name: str
    partitions: int
    problem: str = ""


async def ensure_topics(settings: Settings, *, extra: Mapping[str, Topic] | None = None) -> list[TopicState]:
    """Create what is missing and check what is there. Never changes an existing topic."""
    async with admin(settings) as client:
        states = await _states(client, settings)
        missing = [name for name, state in states.items() if state is None]
        if missing:
            await _create(client, settings, missing)
            until = time.monotonic() + VISIBLE_SECONDS
            while any(state is None for state in states.values()) and time.monotonic() < until:
                await asyncio.sleep(0.1)
                states = await _states(client, settings)
    return [
        state or TopicState(settings.topic_prefix + name, 0, "was created but is not visible yet")
        for name, state in states.items()
    ]


async def check_topics(settings: Settings) -> list[TopicState]:
    async with admin(settings) as client:
        states = await _states(client, settings)
    return [
        state or TopicState(settings.topic_prefix + name, 0, "does not exist: run `memstream topics --create`")
        for name, state in states.items()
    ]


async def _create(client: AIOKafkaAdminClient, settings: Settings, names: list[str]) -> None:
    from aiokafka.admin import NewTopic
    from aiokafka.errors import for_code

    answer = await client.create_topics(
        [
            NewTopic(
                name=settings.topic_prefix + name,
                num_partitions=settings.partitions if BY_NAME[name].partitioned else 1,
                replication_factor=settings.kafka_replication_factor,
                topic_configs=BY_NAME[name].config(),
            )
            for name in names
        ],
        timeout_ms=30_000,
    )
    for row in answer.topic_errors:
        topic, code, message = row[0], row[1], row[2] if len(row) > 2 else ""
        if code not in (0, 36):  # 36: another process created it meanwhile
            error: Any = for_code(code)
            if getattr(error, "retriable", False):
                raise DependencyDown("kafka", f"topic {topic}: {error.__name__}")
            raise ConfigurationError(f"topic {topic} can't be created: {error.__name__} {message or ''}".strip())


async def _states(client: AIOKafkaAdminClient, settings: Settings) -> dict[str, TopicState | None]:
    from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

    full = {settings.topic_prefix + topic.name: topic for topic in TOPICS}
    found = {row["topic"]: len(row["partitions"]) for row in await client.describe_topics() if row["topic"] in full}
    configs: dict[str, dict[str, str]] = {}
    if found:
        answers = await client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in found])
        for answer in answers:
            for resource in answer.resources:
                configs[resource[3]] = {entry[0]: entry[1] for entry in resource[4]}
    states: dict[str, TopicState | None] = {}
    for name, topic in full.items():
        if name not in found:
            states[topic.name] = None
            continue
        states[topic.name] = TopicState(
            name, found[name], _problem(topic, found[name], configs.get(name, {}), settings)
        )
    return states


def _problem(topic: Topic, partitions: int, config: Mapping[str, str], settings: Settings) -> str:
    wanted = settings.partitions if topic.partitioned else 1
    if partitions != wanted:
        return (
            f"has {partitions} partitions, MEMSTREAM_PARTITIONS says {wanted}: a user's records would change partition"
        )
    wrong = [
        f"{key}={config.get(key)} (must be {value})"
        for key, value in topic.config().items()
        if not _fits(key, config.get(key), value)
    ]
    return ", ".join(wrong)


def _fits(key: str, found: str | None, wanted: str) -> bool:
    """A retention may be longer (raised while a backlog is worked off), a size limit larger, and segments are those of
    the topic's own time; the rest is exact."""
    if key == "segment.ms":
        return True
    if found is not None and key in ("retention.ms", "max.message.bytes"):
        return int(found) == -1 or int(found) >= int(wanted)
    return found == wanted
