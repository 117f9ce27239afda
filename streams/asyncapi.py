"""The AsyncAPI 3 document of the topics, from the topic table. `python -m streams.contract` writes it anew.

Operations are those of memstream's roles; what clients and change feeds do is the other side of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, TypeAdapter

from schemas.control import COMMANDS, ErasureReceipt, ReExtractReceipt, RestoreReceipt
from schemas.recall import ErrorReply, EventOutcome, RecallReply
from streams.records import CORRELATION, DEAD_LETTER_PREFIX, REPLY_TOPIC
from streams.settings import ROLES, Settings
from streams.topics import TOPICS, Topic

PREFIX: str = Settings.model_fields["topic_prefix"].default
PARTITIONS: int = Settings.model_fields["partitions"].default
SCHEMAS = "#/components/schemas/"
# Of AsyncAPI's bindings for Kafka.
BINDING = "0.5.0"
# Whoever asks for a reply names its topic in a header; so this channel has no address of its own.
REPLIES = "replies"
ANSWERS: Mapping[str, type[BaseModel]] = {
    "RecallReply": RecallReply,
    "ErrorReply": ErrorReply,
    "EventOutcome": EventOutcome,
    "ErasureReceipt": ErasureReceipt,
    "RestoreReceipt": RestoreReceipt,
    "ReExtractReceipt": ReExtractReceipt,
}
# Which of them answer what is published on a topic, and the role that sends them.
ANSWERED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "recall.requests": ("recall", ("RecallReply", "ErrorReply")),
    "conversations": ("memory", ("EventOutcome", "ErrorReply")),
    "commands": ("memory", ("ErasureReceipt", "RestoreReceipt", "ReExtractReceipt", "ErrorReply")),
}
KEYS: Mapping[str, str] = {
    "tenant": "`namespace/user_id`, each percent-encoded",
    "tenant/memory": (
        "`namespace/user_id/memory_id`, each percent-encoded; `directive:` and `verdict:` at the place of the id begin "
        "what is no memory"
    ),
    "tenant/event": "`namespace/user_id/event_id`, each percent-encoded",
    "tenant/fence": "`namespace/user_id/fence_id`, each percent-encoded",
    "tenant/job": "`namespace/user_id/job_id`, each percent-encoded",
    "shard": "number of the shard, 0 to 63",
    "source": "as the record came",
}


def document() -> dict[str, Any]:
    """The whole document, as what YAML or JSON can hold."""
    messages, schemas = _messages()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "memstream",
            "version": version("memstream"),
            "description": (
                "Long-term memory for LLM agents as an event-driven stream processor on Kafka. Topics have the prefix "
                f"`{PREFIX}` unless MEMSTREAM_TOPIC_PREFIX says otherwise. A record with the headers `reply_to` and "
                "`correlation_id` takes them along from stage to stage, and the last one replies. Several models on "
                "one topic are told apart by the header `ce_type`."
            ),
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "kafka": {
                "host": "localhost:9092",
                "protocol": "kafka",
                "description": "MEMSTREAM_KAFKA_BOOTSTRAP; any Apache Kafka 3.x or 4.x.",
            }
        },
        "channels": {topic.name: _channel(topic) for topic in TOPICS} | {REPLIES: _replies()},
        "operations": dict(_operations()),
        "components": {
            "messages": messages,
            "messageTraits": {"cloudEvent": _cloud_event(), "deadLetter": _dead_letter()},
            "correlationIds": {"correlation": {"location": f"$message.header#/{CORRELATION[0]}"}},
            "schemas": schemas,
        },
    }


def carried(topic: Topic) -> tuple[str, ...]:
    """Names of the messages on a topic."""
    if topic.name.startswith("replies."):
        return tuple(ANSWERS)
    if topic.name == "commands":
        return ("Command",)
    return tuple(model.__name__ for model in topic.models) or ("Parked",)


def _channel(topic: Topic) -> dict[str, Any]:
    config = topic.config()
    settings: dict[str, Any] = {"cleanup.policy": [config["cleanup.policy"]]}
    for name in ("retention.ms", "delete.retention.ms", "max.message.bytes"):
        if name in config:
            settings[name] = int(config[name])
    kafka = {
        "topic": PREFIX + topic.name,
        "partitions": PARTITIONS if topic.partitioned else 1,
        "topicConfiguration": settings,
        "bindingVersion": BINDING,
    }
    return {
        "address": PREFIX + topic.name,
        "description": f"{topic.flow}. Key: {KEYS[topic.key]}.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in carried(topic)},
        "bindings": {"kafka": kafka},
    }


def _replies() -> dict[str, Any]:
    return {
        "address": None,
        "description": f"The topic that a header names: `{PREFIX}replies.<service>`.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in ANSWERS},
    }


def _operations() -> Iterator[tuple[str, Any]]:
    """`<role>.<receives|sends>.<topic>`: what each role reads and writes, and what it answers."""
    for topic in TOPICS:
        writers, readers = (set(side.split(", ")) for side in topic.flow.split(" -> "))
        for role in ROLES:
            if role in readers:
                yield f"{role}.receives.{topic.name}", _operation("receive", topic.name, carried(topic))
            if role in writers:
                yield f"{role}.sends.{topic.name}", _operation("send", topic.name, carried(topic))
        if topic.name in ANSWERED:
            by, answers = ANSWERED[topic.name]
            answer = _operation("receive", topic.name, carried(topic))
            answer["description"] = f"Answered by {by}, when a reply was asked for."
            answer["reply"] = {
                "address": {"location": f"$message.header#/{REPLY_TOPIC[0]}"},
                "channel": {"$ref": f"#/channels/{REPLIES}"},
                "messages": [{"$ref": f"#/channels/{REPLIES}/messages/{name}"} for name in answers],
            }
            yield f"{by}.answers.{topic.name}", answer


def _operation(action: str, channel: str, messages: tuple[str, ...]) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{name}"} for name in messages],
    }


def _messages() -> tuple[dict[str, Any], dict[str, Any]]:
    """Messages by name, and the schemas that they refer to."""
    adapters: dict[str, TypeAdapter[Any]] = {"Command": COMMANDS}
    for topic in TOPICS:
        if topic.name != "commands" and not topic.name.startswith("replies."):
            adapters |= {model.__name__: TypeAdapter(model) for model in topic.models}
    adapters |= {name: TypeAdapter(model) for name, model in ANSWERS.items()}
    made, shared = TypeAdapter.json_schemas(
        [(name, "serialization", adapter) for name, adapter in adapters.items()], ref_template=SCHEMAS + "{model}"
    )
    schemas = dict(shared.get("$defs", {}))
    messages: dict[str, Any] = {}
    for name in adapters:
        payload = made[name, "serialization"]
        if "$ref" not in payload:
            schemas[name] = payload
            payload = {"$ref": SCHEMAS + name}
        messages[name] = {
            "name": name,
            "contentType": "application/json",
            "correlationId": {"$ref": "#/components/correlationIds/correlation"},
            "traits": [{"$ref": "#/components/messageTraits/cloudEvent"}],
            "payload": payload,
        }
    messages["Parked"] = {
        "name": "Parked",
        "title": "A record that no stage could process, byte for byte",
        "contentType": "application/octet-stream",
        "traits": [{"$ref": "#/components/messageTraits/deadLetter"}],
        "payload": {},
    }
    return messages, {name: _plain(schema) for name, schema in sorted(schemas.items())}


def _plain(schema: Any) -> Any:
    """AsyncAPI's `discriminator` is a name, and has no mapping."""
    if isinstance(schema, dict):
        return {
            name: inner["propertyName"] if name == "discriminator" and isinstance(inner, dict) else _plain(inner)
            for name, inner in schema.items()
        }
    return [_plain(inner) for inner in schema] if isinstance(schema, list) else schema


def _cloud_event() -> dict[str, Any]:
    names = {
        "ce_specversion": "1.0",
        "ce_id": "id of the event that this record comes from, or of the request",
        "ce_type": "`memstream.<kind>.v1`",
        "ce_source": "`/memstream/<role>`",
        "ce_time": "RFC 3339",
        "ce_causationid": "the event that caused it",
        "content-type": "application/json",
        REPLY_TOPIC[0]: "topic that the answer goes to; also `" + "`, `".join(REPLY_TOPIC[1:]) + "`",
        CORRELATION[0]: "echoed in the answer; also `" + "`, `".join(CORRELATION[1:]) + "`",
        "traceparent": "W3C trace context, taken along",
    }
    return {"headers": _headers(names, "CloudEvents 1.0, Kafka binding in binary mode. None is required of clients.")}


def _dead_letter() -> dict[str, Any]:
    names = {
        "topic": "where it came from",
        "partition": "where it came from",
        "offset": "where it came from",
        "stage": "which stage parked it",
        "reason": "a word such as `not_json` or `too_large`",
        "exception.class.name": "of the error",
        "attempts": "how often it was tried",
        "appended_at": "RFC 3339: when it first came, kept when it is sent back",
        "failed_at": "RFC 3339",
        "redriven_count": "how often it was sent back",
        "value_bytes_left_out": "size of a value that was too large to keep",
        "settled": "`redriven` or `dropped`: then this is no letter, it says what became of one",
        "letter": "offset of that letter in this partition",
    }
    ours = {DEAD_LETTER_PREFIX + name: about for name, about in names.items()}
    return {"headers": _headers(ours, "Beside the headers that the record had.")}


def _headers(names: Mapping[str, str], about: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": about,
        "properties": {name: {"type": "string", "description": what} for name, what in names.items()},
    }
