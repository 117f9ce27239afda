"""A Kafka record as a stage sees it, its headers, and its value as a model."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from schemas import Tenant
from streams.errors import BadData

# Kafka tells a header without a value from an empty one.
Headers = tuple[tuple[str, bytes | None], ...]
Model = TypeVar("Model", bound=BaseModel)

# Request/reply headers, ours and those of Spring's ReplyingKafkaTemplate. The first that is there counts.
REPLY_TOPIC = ("reply_to", "kafka_replyTopic")
CORRELATION = ("correlation_id", "kafka_correlationId")
REPLY_PARTITION = "kafka_replyPartition"
# Taken along from stage to stage.
CARRIED = frozenset((*REPLY_TOPIC, *CORRELATION, REPLY_PARTITION, "traceparent", "tracestate"))
DEAD_LETTER_PREFIX = "__memstream.errors."
# Ids of the events of an import begin so.
IMPORTED = "imp_"
FIRST_APPENDED = DEAD_LETTER_PREFIX + "appended_at"


@dataclass(frozen=True, slots=True)
class Inbound:
    """`topic` without the prefix; `timestamp` is when the broker appended it (LogAppendTime)."""

    topic: str
    partition: int
    offset: int
    timestamp: datetime
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    # Filled by `decode`, so that a value is parsed once.
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def lane(self) -> str:
        """What keeps its order: the records of one key, or those of a partition that have none."""
        return self.key.hex() if self.key else f"no key/{self.partition}"

    @property
    def partition_lane(self) -> str:
        """Wider than a tenant: what has to be waited for is waited for once for many records."""
        return str(self.partition)

    @property
    def computed_lane(self) -> str:
        """For a stage that only computes: two, of which one is computed while the other waits for the broker. Each
        request to it costs, so what it gets goes out in few."""
        return str(self.partition % 2)

    @property
    def first_appended(self) -> datetime:
        """When the record came to its topic, also of one that was parked and redriven since."""
        told = header(self.headers, FIRST_APPENDED)
        try:
            # A clock may not be set forward by it: a fence is held against this time.
            return min(self.timestamp, datetime.fromisoformat(told[1].decode())) if told else self.timestamp
        except (ValueError, TypeError):
            return self.timestamp

    @property
    def event_id(self) -> str | None:
        """Of the event that it is or comes from, as far as that is known without reading the value."""
        for model in self.cache.values():
            if hasattr(model, "event_id"):
                return str(model.event_id)
        told = header(self.headers, "ce_causationid", "ce_id")
        return told[1].decode("utf-8", "replace") if told else None

    @property
    def place(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"

    @property
    def carried(self) -> Headers:
        return tuple((name, value) for name, value in self.headers if name in CARRIED)


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """Where an answer goes. `correlation` is the header as it came: its bytes are echoed under its own name."""

    topic: str
    partition: int | None
    headers: Headers


def header(headers: Headers, *names: str) -> tuple[str, bytes] | None:
    """The first that is there with a value, in the order of `names`."""
    for wanted in names:
        for name, value in headers:
            if name == wanted and value is not None:
                return name, value
    return None


def reply_to(headers: Headers) -> ReplyTo | None:
    """None when no reply was asked for. Raises `BadData("bad_reply_header")`."""
    target = header(headers, *REPLY_TOPIC)
    if target is None:
        return None
    try:
        topic = target[1].decode("ascii")
    except UnicodeDecodeError:
        raise BadData("bad_reply_header", "the reply topic is not ASCII") from None
    partition = header(headers, REPLY_PARTITION)
    if partition is not None and len(partition[1]) != 4:
        raise BadData("bad_reply_header", "the reply partition is not a 4-byte integer")
    correlation = header(headers, *CORRELATION)
    return ReplyTo(
        topic=topic,
        partition=int.from_bytes(partition[1], "big") if partition else None,
        headers=(correlation,) if correlation else (),
    )


def event_type(kind: str) -> bytes:
    """The value of `ce_type`."""
    return f"memstream.{kind}.v1".encode()


def cloud_event(kind: str, event_id: str, source: str, time: datetime, carried: Headers = ()) -> Headers:
    """CloudEvents 1.0, Kafka binding, binary mode; `causationid` is the event that this record comes from."""
    return (
        ("ce_specversion", b"1.0"),
        ("ce_id", event_id.encode()),
        ("ce_type", event_type(kind)),
        ("ce_source", f"/memstream/{source}".encode()),
        ("ce_time", time.astimezone(UTC).isoformat().encode()),
        ("ce_causationid", event_id.encode()),
        ("content-type", b"application/json"),
        *carried,
    )


def decode(record: Inbound, model: type[Model]) -> Model:
    """The value as `model`. Raises `BadData` with a reason that never quotes the value."""
    cached = record.cache.get(model.__name__)
    if isinstance(cached, model):
        return cached
    value = record.value
    if value is None:
        raise BadData("null_value")
    try:
        parsed = model.model_validate_json(value.removeprefix(codecs.BOM_UTF8))
    except ValidationError as error:
        raise BadData(*_reason(error)) from None
    # The engine of the embedding model ends a text at NUL, so what follows would be remembered and never found.
    if b"\\u0000" in value and "\x00" in _all_text(parsed):
        raise BadData("nul_character")
    record.cache[model.__name__] = parsed
    return parsed


def _all_text(model: BaseModel) -> str:
    """All strings of a model, joined; escapes that the author typed as text stay text."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            for key, inner in value.items():
                walk(key)
                walk(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                walk(inner)

    walk(model.model_dump())
    return "\n".join(found)


def _reason(error: ValidationError) -> tuple[str, str]:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "json_invalid":
        # A lone surrogate is valid in a JSON escape and in nothing that UTF-8 can carry.
        return ("lone_surrogate" if "surrogate" in first["msg"] or "hex escape" in first["msg"] else "not_json"), ""
    if where == "schema_version":
        return "unknown_schema_version", ""
    if first["loc"][:1] in (("namespace",), ("user_id",)):
        return "bad_tenant", f"{where}: {first['type']}"
    return "bad_schema", f"{where}: {first['type']}"


def check_key(record: Inbound, tenant: Tenant) -> None:
    """A missing key is ordinary; one that names another tenant would break order: `BadData`."""
    if record.key and record.key != tenant.key.encode():
        raise BadData("key_mismatch")
