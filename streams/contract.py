"""The wire contract as files: JSON Schemas beside the models, and AsyncAPI in the docs.

`python -m streams.contract` writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

import schemas
from schemas.control import COMMANDS, RECORDS, ErasureReceipt, ReExtractReceipt, RestoreReceipt
from schemas.recall import ErrorReply, EventOutcome
from streams.asyncapi import document
from streams.topics import TOPICS

FOLDER = Path(schemas.__file__).parent / "json"
ASYNCAPI = Path(schemas.__file__).parents[1] / "docs" / "asyncapi.yaml"
UNIONS: dict[str, TypeAdapter[Any]] = {"commands": COMMANDS, "records": RECORDS}
# The replies topics carry these beside the reply of the topic table.
ALSO: dict[str, type[BaseModel]] = {
    "replies.shared.error": ErrorReply,
    "replies.shared.outcome": EventOutcome,
    "replies.shared.erasure": ErasureReceipt,
    "replies.shared.re-extract": ReExtractReceipt,
    "replies.shared.restore": RestoreReceipt,
}


def json_schemas() -> Mapping[str, Any]:
    """By file name without its ending: the JSON Schema (draft 2020-12) of the values of a topic."""
    made: dict[str, Any] = {}
    models = {topic.name: topic.model for topic in TOPICS if topic.model is not None} | ALSO
    for name, model in models.items():
        adapter: TypeAdapter[Any] = UNIONS.get(name) or TypeAdapter(model)
        made[name] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": name,
            **adapter.json_schema(mode="serialization"),
        }
    return made


def as_text(schema: Any) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def asyncapi() -> str:
    """The AsyncAPI document as YAML."""
    import yaml

    return yaml.safe_dump(document(), sort_keys=False, allow_unicode=True, width=120)


def main() -> None:
    ASYNCAPI.write_text(asyncapi(), encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    wanted = {f"{name}.json": as_text(schema) for name, schema in json_schemas().items()}
    for old in FOLDER.glob("*.json"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
