"""The JSON Schemas beside the models are what the models say, and the models keep their promises."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import schemas
from schemas import CandidateEvent, ConversationEvent, MemoryRecord, PairVerdict, RecallRequest, Supersede, Tenant
from schemas.control import RECORDS
from streams.agents.judging import verdict_outbound
from streams.agents.writer import directive_outbound, record_outbound
from streams.compacted import is_memory
from streams.contract import FOLDER, as_text, json_schemas
from streams.topics import BY_NAME, SHARDS, TOPICS, shard_of

EVENT = {"event_id": "e", "namespace": "n", "user_id": "u", "messages": [{"text": "hello"}]}


def test_golden_files_are_current() -> None:
    wanted = {f"{name}.json": as_text(schema) for name, schema in json_schemas().items()}
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert found == wanted, "run `python -m streams.contract` and review what changed for readers of the topics"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_golden_files_are_json_schemas(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def test_every_topic_with_a_model_has_a_schema() -> None:
    assert {topic.name for topic in TOPICS if topic.model} <= {path.stem for path in FOLDER.glob("*.json")}


def test_examples_in_docstrings() -> None:
    for module in pkgutil.iter_modules(schemas.__path__):
        failed, _ = doctest.testmod(importlib.import_module(f"schemas.{module.name}"))
        assert failed == 0, module.name


def test_what_is_written_fits_the_schema() -> None:
    written = json.loads(ConversationEvent.model_validate(EVENT).to_bytes())
    jsonschema.validate(written, json.loads((FOLDER / "conversations.json").read_text(encoding="utf-8")))


def test_everything_on_records_fits_the_schema_and_its_key_tells_what_it_is() -> None:
    tenant = Tenant(namespace="n", user_id="u")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    memory = MemoryRecord.model_validate(
        {
            "memory_id": "m",
            "layer": "fact",
            "memory_type": "fact",
            "content": "hello",
            "session_id": "s",
            "occurred_at": at,
            "created_at": at,
            "sources": [{"event_id": "e"}],
            **tenant.model_dump(),
        }
    )
    directive = Supersede(old_id="a", new_id="b", occurred_at=at, **tenant.model_dump())
    verdict = PairVerdict(older="a", newer="b", label="duplicate", **tenant.model_dump())
    schema = json.loads((FOLDER / "records.json").read_text(encoding="utf-8"))
    for sent, model in (
        (record_outbound(tenant, memory), MemoryRecord),
        (directive_outbound(tenant, directive), Supersede),
        (verdict_outbound(tenant, verdict, at), PairVerdict),
    ):
        jsonschema.validate(json.loads(sent.value or b""), schema)
        assert type(RECORDS.validate_json(sent.value or b"")) is model
        assert is_memory(sent.key or b"") is (model is MemoryRecord)


def test_unknown_fields_are_tolerated() -> None:
    newer = {**EVENT, "added_later": {"x": 1}, "messages": [{"text": "hello", "mood": "fine"}]}
    assert ConversationEvent.model_validate(newer) == ConversationEvent.model_validate(EVENT)


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(ValidationError):
        ConversationEvent.model_validate({**EVENT, "schema_version": 2})


@pytest.mark.parametrize(
    "name", ["", " ", "\t", "*", "%", "**", "＊", "\u200b", None, True, 1.5, [], ["u"], {"$ne": 1}]
)
@pytest.mark.parametrize("field", ["namespace", "user_id"])
@pytest.mark.parametrize("model", [ConversationEvent, CandidateEvent, MemoryRecord, RecallRequest])
def test_a_tenant_is_one_tenant(model: type, field: str, name: object) -> None:
    with pytest.raises(ValidationError) as refused:
        model.model_validate({**EVENT, "query": "q", field: name})
    assert any(error["loc"] == (field,) for error in refused.value.errors())


def test_a_number_and_its_digits_are_the_same_user() -> None:
    assert ConversationEvent.model_validate({**EVENT, "user_id": 1001}).tenant == Tenant(namespace="n", user_id="1001")


NAMES = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=40).filter(
    lambda name: bool(name.strip()) and not set(name) & set("*%?＊％？") and any(c.isalnum() for c in name)
)


@given(NAMES, NAMES)
def test_a_key_is_its_tenant(namespace: str, user: str) -> None:
    tenant = Tenant(namespace=namespace, user_id=user)
    assert Tenant.from_key(tenant.key) == tenant
    assert tenant.key.count("/") == 1
    assert tenant.key.isascii()


@given(NAMES, NAMES, st.sampled_from([1, 2, 4, 8, 16, 32, 64]))
def test_a_shard_lies_in_one_partition(namespace: str, user: str, partitions: int) -> None:
    from aiokafka.partitioner import DefaultPartitioner

    tenant = Tenant(namespace=namespace, user_id=user)
    every = list(range(partitions))
    assert DefaultPartitioner()(tenant.key.encode(), every, every) == shard_of(tenant) % partitions
    assert shard_of(tenant) < SHARDS


def test_every_handled_topic_of_a_tenant_has_the_same_partitions() -> None:
    assert all(BY_NAME[name].partitioned for name in ("candidates", "supersede", "commands", "access", "decay"))
