"""What an earlier state of the code wrote is read: `earlier/records.json`, made by its own stages, a topic at a time
(`jobs` by the first that wrote them).

The records lack the fields that were added since. They stay as they are: a change that they don't survive needs a
`schema_version` of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from schemas import Job, MemoryRecord
from streams.adapters.store.payload import RECORD, memory_record
from streams.contract import UNIONS
from streams.topics import BY_NAME, TOPICS

EARLIER: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "earlier" / "records.json").read_text(encoding="utf-8")
)


def test_every_topic_has_some() -> None:
    assert EARLIER.keys() == {topic.name for topic in TOPICS if topic.model}
    new = {"linked", "digest_of"}
    assert not [r for r in EARLIER["records"] if new & r["value"].keys()], "made by today's code"
    assert new <= MemoryRecord.model_fields.keys()
    assert not [r for r in EARLIER["jobs"] if "sent" in r["value"]]
    assert "sent" in Job.model_fields


@pytest.mark.parametrize(
    ("topic", "record"), [(topic, record) for topic, records in EARLIER.items() for record in records]
)
def test_it_is_read_as_it_was_meant(topic: str, record: dict[str, Any]) -> None:
    found = (UNIONS.get(topic) or TypeAdapter(BY_NAME[topic].model)).validate_json(json.dumps(record["value"]))
    again = json.loads(found.model_dump_json(exclude_none=True))
    assert kept(record["value"], again) == record["value"]


def kept(given: Any, found: Any) -> Any:
    """Of `found` what `given` has as well."""
    if isinstance(given, dict):
        return {name: kept(value, found[name]) for name, value in given.items() if name in found}
    if isinstance(given, list) and len(given) == len(found):
        return [kept(*both) for both in zip(given, found, strict=True)]
    return found


def test_a_point_of_the_store_is_read() -> None:
    values = [record["value"] for record in EARLIER["records"] if "memory_id" in record["value"]]
    for value in values:
        record = memory_record({RECORD: json.dumps(value)})
        assert (record.memory_id, record.linked, record.archived_at) == (value["memory_id"], (), None)
    assert values
