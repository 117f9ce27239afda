"""Requests made from the OpenAPI document by schemathesis, and what every answer has to keep to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]


def ask(
    schema: Any, verb: str, mode: GenerationMode, examples: int, change: Callable[[Any], None] = lambda case: None
) -> Counter[int]:
    """Makes `examples` requests to one endpoint; `change` has each before it is sent. How many answers of each status.

    Raises `AssertionError` and what schemathesis raises for an answer that is not as the document says.
    """
    operations = (found.ok() for found in schema.get_all_operations())
    (operation,) = (one for one in operations if one.definition.raw["operationId"] == verb)
    wanted = CHECKS if mode is GenerationMode.POSITIVE else [*CHECKS, checks.negative_data_rejection]
    answers: Counter[int] = Counter()

    @seed(1)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def once(case: Any) -> None:
        change(case)
        answer = case.call()
        answers[answer.status_code] += 1
        assert answer.status_code != 500, answer.text
        case.validate_response(answer, checks=wanted)

    once()
    return answers
