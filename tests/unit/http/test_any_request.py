"""Requests made from the OpenAPI document, right and wrong ones: no bug answers, and every answer is as it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from streams.http.keys import VERBS
from tests.unit.http.gateway import application, settings_for

EXAMPLES = 25
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def schema(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    """Of the real application without Kafka: what passes is answered 503."""
    folder = tmp_path_factory.mktemp("gateway")
    async with application(settings_for(folder, http_auth="off", http_max_in_flight=1000)) as app:
        yield schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.parametrize("verb", sorted(VERBS))
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_answer_is_as_the_document_says(schema: Any, verb: str, mode: GenerationMode) -> None:
    operations = (found.ok() for found in schema.get_all_operations())
    (operation,) = (one for one in operations if one.definition.raw["operationId"] == verb)
    answers: Counter[int] = Counter()

    @seed(1)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        answer = case.call()
        answers[answer.status_code] += 1
        assert answer.status_code != 500, answer.text
        case.validate_response(answer, checks=CHECKS)

    ask()
    assert answers.total() >= EXAMPLES // 2
    if mode is GenerationMode.POSITIVE:
        assert answers[503], f"nothing passed the reading of the request: {answers}"
