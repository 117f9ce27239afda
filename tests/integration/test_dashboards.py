"""Every query of every panel, asked of a real Prometheus that scraped a real worker."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from schemas import DecayTick
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.adapters.openai_calls import CallPolicy
from streams.client import DeadlineExceeded
from streams.topics import SHARDS
from tests.harness import Pipeline, eventually, free_port, pipeline
from tests.integration.raw import Raw, produce
from tests.memory_role import fact
from tests.memory_role import said as extracted
from tests.misbehaving import Misbehaving, Step
from tests.prometheus import Query, binary, panels

# Of all other panels the run moves something: 0 would not tell that they show it.
MAY_BE_NOTHING = {
    "Share of retention used by the backlog",
    "Backlog",
    "Event loop, how late",
    "HTTP requests that fail",
    "HTTP requests under way",
    "Imports that run",
    "Conversations of them without an outcome",
    "Done, of the import that runs longest",
    "Time left, of the import that takes longest",
    "Events that wait",
}
RULES = Path(__file__).parents[2] / "deploy" / "prometheus"
SAID = "My passport number is E12345678, call me on 13812345678 about the seats by the window."
CARD = "4111 1111 1111 1111"
TASK = "Remind me to send the report to Anna tomorrow."


class Prometheus:
    """The server on a port of its own, with the rules that are deployed; it looks twice a second."""

    def __init__(self, folder: Path, target: int) -> None:
        self._folder = folder
        self._port = free_port()
        self._client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{self._port}")
        for rules in ("records.yml", "alerts.yml"):
            shutil.copy(RULES / rules, folder)
        config = yaml.safe_load((RULES / "prometheus.yml").read_text(encoding="utf-8"))
        config["global"] = {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"}
        config["scrape_configs"] = [{"job_name": "memstream", "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config), encoding="utf-8")

    async def __aenter__(self) -> Prometheus:
        with (self._folder / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    binary("prometheus"),
                    f"--config.file={self._folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={self._folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{self._port}",
                ],
                stdout=log,
                stderr=log,
            )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()
        self._process.kill()
        self._process.wait(10)

    async def ask(self, query: str) -> list[dict[str, Any]]:
        """The series that have a value now; none while it starts. A quantile of nothing, NaN, is no value."""
        assert self._process.poll() is None, (self._folder / "prometheus.log").read_text(encoding="utf-8")
        try:
            found = await self._client.get("/api/v1/query", params={"query": query})
        except httpx.TransportError:
            return []
        if found.status_code == 503:  # it listens before it is ready
            return []
        answer = found.json()
        assert answer["status"] == "success", answer
        return [one for one in answer["data"]["result"] if isfinite(float(one["value"][1]))]


@pytest.fixture
async def traffic(kafka: EmbeddedKafka, topic_prefix: str) -> AsyncIterator[Traffic]:
    async with (
        Misbehaving() as chat,
        pipeline(
            kafka.bootstrap,
            topic_prefix,
            partitions=1,
            extractor="model",
            chat_base_url=chat.base_url,
            chat_model="misbehaving",
            metrics_port=free_port(),
            decay_windows=True,
            http_port=free_port(),
            http_auth="off",
            http_max_connections=1,
        ) as made,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{made.settings.http_port}", timeout=30) as http,
    ):
        await made.worker().start()
        yield Traffic(made, chat, http)


class Traffic:
    """A little of everything that a panel counts. `http` has the one connection that the gateway takes."""

    def __init__(self, line: Pipeline, chat: Misbehaving, http: httpx.AsyncClient) -> None:
        self._line, self._chat, self._http = line, chat, http
        self._rounds = 0

    @property
    def metrics_port(self) -> int:
        return self._line.settings.metrics_port

    async def round(self) -> None:
        self._rounds += 1
        # The client itself tries so often; then there is a failed attempt to count.
        self._chat.script("chat", *[Step("status", status=503)] * CallPolicy().attempts)
        said = {"namespace": "shop", "user_id": "u1", "occurred_at": "2026-03-02T09:00:00Z"}
        texts = {"said": SAID, "task": TASK, "small": "hi!"}
        events = [{**said, "event_id": f"{k} {self._rounds}", "messages": [{"text": t}]} for k, t in texts.items()]
        await self._line.publish(events)
        await self._recall()
        later = datetime.now(UTC) + timedelta(days=400)
        ticks = (DecayTick(shard=n, window_start=later - timedelta(hours=6), window_end=later) for n in range(SHARDS))
        await produce(
            self._line,
            [
                Raw(b"{poison"),
                self._missed(),
                *(Raw(tick.to_bytes(), str(tick.shard).encode(), topic="decay", partition=0) for tick in ticks),
            ],
        )

    def _missed(self) -> Raw:
        """What an extractor may have put together out of words that passed one by one."""
        event = extracted(f"missed {self._rounds}", datetime.now(UTC), fact("User pays by card", value=CARD))
        return Raw(event.to_bytes(), event.tenant.key.encode(), topic="candidates")

    async def _recall(self) -> None:
        async with self._line.client(namespace="shop", deadline=30) as memory:
            await memory.recall(TASK, user_id="u1", format="prompt")
            with pytest.raises(DeadlineExceeded):
                await memory.recall(TASK, user_id="u1", deadline=0.000_001)
        asked = {"user_id": "u1", "namespace": "shop", "query": TASK}
        answer = await self._http.post("/memory/query", json=asked)
        assert answer.status_code == 200, answer.text
        # Of an import one is remembered, one is refused and one is parked.
        said = f"{SAID} {self._rounds}"
        items = [{"text": said}, {"text": said, "time": "yesterday"}, {"text": "long " * 10_000 + said}]
        history = {"user_id": "u1", "namespace": "shop", "conversations": items}
        begun = await self._http.post("/memory/import", json=history)
        assert begun.status_code in (200, 202), begun.text
        async with httpx.AsyncClient(base_url=self._http.base_url, timeout=30) as another:
            assert (await another.get("/healthz")).status_code == 503


async def test_every_panel_has_data(traffic: Traffic, tmp_path: Path) -> None:
    async with Prometheus(tmp_path, traffic.metrics_port) as prometheus:
        # From here on every counter is seen before it moves.
        await eventually(lambda: prometheus.ask('up{job="memstream"} == 1'), what="the first scrape")
        answers: dict[Query, list[dict[str, Any]]] = {}

        async def answered() -> bool:
            await traffic.round()
            for query in panels():
                if not answers.get(query):
                    found = await prometheus.ask(query.promql.replace("$__rate_interval", "1m"))
                    moved = [one for one in found if float(one["value"][1])]
                    answers[query] = found if query.panel in MAY_BE_NOTHING else moved
            return all(answers.values())

        try:
            await eventually(answered, seconds=90, every=0.5)
        except AssertionError:
            pytest.fail(f"no data for {[str(query) for query in panels() if not answers.get(query)]}")
        for query, series in answers.items():
            named = set(re.findall(r"{{(\w+)}}", query.legend))
            assert all(named <= one["metric"].keys() for one in series), query
        # Why imports failed, whoever found out; and of the alerts those that should have fired.
        for query in (
            'stage_reason:memstream_import_failures:increase1d{stage="import", reason="invalid"} > 0',
            'stage_reason:memstream_import_failures:increase1d{stage="redact", reason="too_large"} > 0',
            'ALERTS{alertname="MemstreamDeadLetters", stage="redact", reason="not_json"}',
            'ALERTS{alertname="MemstreamRedactionGuard"}',
            'ALERTS{alertname="MemstreamImportFails"}',
        ):
            await eventually(partial(prometheus.ask, query), what=query)
