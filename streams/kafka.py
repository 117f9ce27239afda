"""Connections to Kafka from the settings: the same security for producers, consumers, admin and Faust."""

from __future__ import annotations

import random
import ssl
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_fixed

from streams.errors import ConfigurationError, DependencyDown

if TYPE_CHECKING:
    from aiokafka import AIOKafkaProducer
    from aiokafka.admin import AIOKafkaAdminClient

    from streams.settings import Settings


def ssl_context(settings: Settings) -> ssl.SSLContext | None:
    """None unless the protocol is SSL or SASL_SSL. Raises `ConfigurationError` for unreadable files."""
    if "SSL" not in settings.kafka_security_protocol:
        return None
    try:
        context = ssl.create_default_context(cafile=settings.kafka_ssl_cafile)
        if settings.kafka_ssl_certfile:
            context.load_cert_chain(settings.kafka_ssl_certfile, settings.kafka_ssl_keyfile)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(f"MEMSTREAM_KAFKA_SSL_*: {error.strerror or error}") from None
    return context


def connection(settings: Settings) -> dict[str, Any]:
    """Keyword arguments that every aiokafka client takes."""
    if not settings.kafka_bootstrap:
        raise ConfigurationError(
            "no broker: set MEMSTREAM_KAFKA_BOOTSTRAP=host:port, or start the embedded one with `memstream up`"
        )
    options: dict[str, Any] = {
        "bootstrap_servers": settings.kafka_bootstrap,
        "security_protocol": settings.kafka_security_protocol,
        "ssl_context": ssl_context(settings),
    }
    if settings.kafka_security_protocol.startswith("SASL"):
        options |= {
            "sasl_mechanism": settings.kafka_sasl_mechanism,
            "sasl_plain_username": settings.kafka_username,
            "sasl_plain_password": settings.kafka_password.get_secret_value(),
        }
    return options


def make_producer(settings: Settings, *, max_request_size: int) -> AIOKafkaProducer:
    """Not started. Idempotent, acknowledged by all replicas, keyed like Kafka's own clients (murmur2)."""
    from aiokafka import AIOKafkaProducer

    return AIOKafkaProducer(
        **connection(settings),
        acks="all",
        enable_idempotence=True,
        request_timeout_ms=60_000,
        max_request_size=max_request_size,
        compression_type=None,
        max_batch_size=256 * 1024,
        partitioner=_partition,
    )


# Longer than the keys of most tenants. A dead letter keeps its record's key, which may be as large as the record.
LONGEST_KEPT_KEY = 4096
# Longer than the key of any tenant, with what stands beside it. Hashing a megabyte takes a third of a second.
LONGEST_KEY = 16 * 1024
# For the coordinator of a group to be there.
GROUPS_SECONDS = 10.0


def key_hash(key: bytes) -> int:
    """Kafka's own hash of a key (murmur2), not negative: modulo the number of partitions it is the partition."""
    return _kept_hash(key) if len(key) <= LONGEST_KEPT_KEY else _kept_hash.__wrapped__(key)


# A tenant's records come together, and the hash is computed in Python.
@lru_cache(maxsize=4096)
def _kept_hash(key: bytes) -> int:
    from aiokafka.partitioner import murmur2

    return int(murmur2(key)) & 0x7FFFFFFF


async def members(settings: Settings, groups: Sequence[str]) -> dict[str, int]:
    """How many consumers each group has; one that never was has none. Raises `DependencyDown`."""
    from aiokafka.errors import KafkaError, for_code

    def passes(error: BaseException) -> bool:
        # To ask for the first group of all makes the broker's own topic of groups.
        return isinstance(error, KafkaError) and error.retriable

    found: dict[str, int] = {}
    async with admin(settings) as client:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception(passes), wait=wait_fixed(0.5), stop=stop_after_delay(GROUPS_SECONDS), reraise=True
        ):
            with attempt:
                for name in groups:  # one by one: aiokafka can't read an answer about several
                    (answer,) = await client.describe_consumer_groups([name])
                    ((code, _name, _state, _type, _protocol, who, *_),) = answer.groups
                    if code:
                        raise for_code(code)()
                    found[name] = len(who)
    return found


def _partition(key: bytes | None, all_partitions: Sequence[int], available: Sequence[int]) -> int:
    """As aiokafka's own partitioner, but for keys that are none of ours: theirs would hold up the event loop."""
    if key is None:
        return random.choice(available or all_partitions)
    made = key_hash(key) if len(key) <= LONGEST_KEY else zlib.crc32(key)
    return all_partitions[made % len(all_partitions)]


@asynccontextmanager
async def admin(settings: Settings) -> AsyncIterator[AIOKafkaAdminClient]:
    """Raises `DependencyDown("kafka")` when no broker answers."""
    from aiokafka.admin import AIOKafkaAdminClient
    from aiokafka.errors import KafkaError

    client = AIOKafkaAdminClient(**connection(settings), request_timeout_ms=20_000)
    try:
        await client.start()
    except (KafkaError, OSError) as error:
        await client.close()
        raise DependencyDown("kafka", f"{settings.kafka_bootstrap} does not answer ({type(error).__name__})") from None
    try:
        yield client
    except KafkaError as error:
        raise DependencyDown("kafka", type(error).__name__) from None
    finally:
        await client.close()
