"""Requests made from the OpenAPI document, right and wrong ones: no bug answers, and every answer is as it says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import schemathesis
from schemathesis import GenerationMode

from streams.http.keys import VERBS
from tests.any_request import ask
from tests.unit.http.gateway import application, settings_for

EXAMPLES = 25


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def schema(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    """Of the real application without Kafka: what passes is answered 503."""
    folder = tmp_path_factory.mktemp("gateway")
    async with application(settings_for(folder, http_auth="off", http_max_in_flight=1000)) as app:
        yield schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.parametrize("verb", sorted(VERBS))
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_answer_is_as_the_document_says(schema: Any, verb: str, mode: GenerationMode) -> None:
    answers = ask(schema, verb, mode, EXAMPLES)
    assert answers.total() >= EXAMPLES // 2
    if mode is GenerationMode.POSITIVE:
        assert answers[503], f"nothing passed the reading of the request: {answers}"
