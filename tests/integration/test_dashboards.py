"""Every query of every panel, asked of a real Prometheus that scraped a real worker."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
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
from tests.misbehaving import Misbehaving, Step
from tests.prometheus import Query, binary, panels

RULES = Path(__file__).parents[2] / "deploy" / "prometheus"
SAID = "My passport number is E12345678, call me on 13812345678 about the seats by the window."
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
        """The series that it answers with now; none while it starts."""
        assert self._process.poll() is None, (self._folder / "prometheus.log").read_text(encoding="utf-8")
        try:
            found = await self._client.get("/api/v1/query", params={"query": query})
        except httpx.TransportError:
            return []
        if found.status_code == 503:  # it listens before it is ready
            return []
        answer = found.json()
        assert answer["status"] == "success", answer
        return list(answer["data"]["result"])


@pytest.fixture
async def line(kafka: EmbeddedKafka, topic_prefix: str) -> AsyncIterator[Pipeline]:
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
            http_port=free_port(),
            http_auth="off",
        ) as made,
    ):
        # The client itself tries so often; then there is a failed attempt to count.
        chat.script("chat", *[Step("status", status=503)] * CallPolicy().attempts)
        await made.worker().start()
        yield made


class Traffic:
    """A little of everything that a panel counts."""

    def __init__(self, line: Pipeline) -> None:
        self._line = line
        self._rounds = 0

    async def round(self) -> None:
        self._rounds += 1
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
                *(Raw(tick.to_bytes(), str(tick.shard).encode(), topic="decay", partition=0) for tick in ticks),
            ],
        )

    async def _recall(self) -> None:
        async with self._line.client(namespace="shop", deadline=30) as memory:
            await memory.recall("Which seats?", user_id="u1", format="prompt")
            with pytest.raises(DeadlineExceeded):
                await memory.recall("Which seats?", user_id="u1", deadline=0.000_001)
        async with httpx.AsyncClient(timeout=30) as http:
            asked = {"user_id": "u1", "namespace": "shop", "query": "Which seats?"}
            answer = await http.post(f"http://127.0.0.1:{self._line.settings.http_port}/memory/query", json=asked)
            assert answer.status_code == 200, answer.text
            history = {"user_id": "u1", "namespace": "shop", "conversations": [{"text": f"{SAID} {self._rounds}"}]}
            begun = await http.post(f"http://127.0.0.1:{self._line.settings.http_port}/memory/import", json=history)
            assert begun.status_code in (200, 202), begun.text


async def test_every_panel_has_data(line: Pipeline, tmp_path: Path) -> None:
    traffic = Traffic(line)
    async with Prometheus(tmp_path, line.settings.metrics_port) as prometheus:
        # From here on every counter is seen before it moves.
        await eventually(lambda: prometheus.ask('up{job="memstream"} == 1'), what="the first scrape")
        answers: dict[Query, list[dict[str, Any]]] = {}

        async def answered() -> bool:
            await traffic.round()
            for query in panels():
                if not answers.get(query):
                    answers[query] = await prometheus.ask(query.promql.replace("$__rate_interval", "1m"))
            return all(answers.values())

        try:
            await eventually(answered, seconds=90, every=0.5)
        except AssertionError:
            pytest.fail(f"no data for {[str(query) for query in panels() if not answers.get(query)]}")
        for query, series in answers.items():
            named = set(re.findall(r"{{(\w+)}}", query.legend))
            assert all(named <= one["metric"].keys() for one in series), query
        # The rules were read too, and of the alerts the one that should has fired.
        await eventually(
            lambda: prometheus.ask('ALERTS{alertname="MemstreamDeadLetters", stage="redact", reason="not_json"}'),
            what="the alert of the dead letters",
        )
