"""The OpenAPI document: a golden file, and true of the application."""

from __future__ import annotations

import json

from streams.http.document import FILE, document
from streams.http.keys import VERBS


async def test_the_golden_file_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == await document(), (
        "run `python -m streams.http.document` and review what changed for callers"
    )


def test_every_endpoint_has_a_key_a_verb_and_problems() -> None:
    made = json.loads(FILE.read_text(encoding="utf-8"))
    operations = {
        f"{method} {path}": operation
        for path, methods in made["paths"].items()
        for method, operation in methods.items()
    }
    assert {operation["operationId"] for operation in operations.values()} == set(VERBS)
    for path, operation in operations.items():
        assert operation["security"] == [{"key": []}], path
        assert {"4XX", "5XX"} < operation["responses"].keys(), path


def test_references_lead_somewhere() -> None:
    text = FILE.read_text(encoding="utf-8")
    known = json.loads(text)["components"]["schemas"]
    used = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert used == known.keys()
    assert used >= {"Write", "Written", "ProblemDetails", "FieldProblem"}
