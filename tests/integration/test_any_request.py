"""Requests made from the OpenAPI document, before a real pipeline: what succeeds has the promised shape."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
import schemathesis
from schemathesis import GenerationMode

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.http.keys import VERBS
from tests.any_request import ask
from tests.harness import Process, free_port, pipeline

pytestmark = pytest.mark.asyncio(loop_scope="module")
EXAMPLES = 8
USER = {"user_id": "张三", "namespace": "shop"}


# Of what excludes each other, which a schema can't say.
CHOSEN: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "write": ({"conversation": "我搬到杭州了。"}, ("messages",)),
    "query": ({"query": "我住在哪里？"}, ("messages",)),
    "delete": ({}, ("filters",)),
    "forget": ({"session_id": "s"}, ("everything", "since", "until", "event_ids")),
}


class Known:
    """A user with memories, so that made-up requests can be about something. `schema` leads to the gateway."""

    def __init__(self, schema: Any, stages: Process, memory_id: str, task_id: str) -> None:
        self.schema, self.stages = schema, stages
        self._values = {"memory_id": memory_id, "task_id": task_id, "timezone": "Asia/Shanghai", **USER}

    def put_in(self, case: Any) -> None:
        """The rest of the request stays as it was made up."""
        for part in (case.path_parameters, case.query, case.body):
            if isinstance(part, dict):
                part |= {name: value for name, value in self._values.items() if name in part}
        verb = case.operation.definition.raw["operationId"]
        if isinstance(case.body, dict):
            if verb in ("delete", "restore"):
                case.body["memory_ids"] = [self._values["memory_id"]]
            chosen, others = CHOSEN.get(verb, ({}, ()))
            case.body |= chosen
            for other in others:
                case.body.pop(other, None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def known(kafka: EmbeddedKafka) -> AsyncIterator[Known]:
    options = {"http_port": free_port(), "http_auth": "off", "partitions": 1}
    async with pipeline(kafka.bootstrap, "anyrequest.", **options) as line:
        stages, gateway = line.worker(roles="redact,extract,memory,recall"), line.worker(roles="http")
        await asyncio.gather(stages.start(), gateway.start())
        url = f"http://127.0.0.1:{line.settings.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=90, headers={"Prefer": "wait=60"}) as http:
            said = {**USER, "session_id": "s", "conversation": "我住在杭州，每周二晚上打羽毛球。"}
            written = (await http.post("/memory/write", json=said)).json()
            task = {**USER, "conversations": [{"text": "I live in Bonn."}, {"text": "x", "time": "yesterday"}]}
            imported = (await http.post("/memory/import", json=task)).json()
        schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
        yield Known(schema, stages, written["memory_id"], imported["task_id"])


@pytest.mark.parametrize("verb", ["write", "update"])
async def test_who_does_not_wait_is_promised_a_shape_too(known: Known, verb: str) -> None:
    def impatient(case: Any) -> None:
        known.put_in(case)
        case.body["wait"] = False

    answers = ask(known.schema, verb, GenerationMode.POSITIVE, EXAMPLES // 2, impatient)
    assert answers[202], f"nothing was queued: {answers}"


# Those that take memories away come last.
@pytest.mark.parametrize("verb", sorted(VERBS, key=("delete", "forget").__contains__))
async def test_what_succeeds_has_the_promised_shape(known: Known, verb: str) -> None:
    answers = ask(known.schema, verb, GenerationMode.POSITIVE, EXAMPLES, known.put_in)
    assert answers[200], f"nothing succeeded: {answers}"


@pytest.mark.parametrize("verb", ["restore", "delete", "forget"])
async def test_nor_does_what_is_not_handled_in_time_surprise(known: Known, verb: str) -> None:
    known.stages.kill()

    def waits_a_second(case: Any) -> None:
        known.put_in(case)
        case.headers["Prefer"] = "wait=1"

    answers = ask(known.schema, verb, GenerationMode.POSITIVE, EXAMPLES // 2, waits_a_second)
    assert answers[202], f"nothing was queued: {answers}"
