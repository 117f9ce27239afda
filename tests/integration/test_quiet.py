"""Everything that a whole run prints, at its most talkative: no text of a conversation and no id of a user is in it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import httpx
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.adapters.openai_calls import CallPolicy
from tests.harness import Process, eventually, free_port, pipeline
from tests.integration.raw import Raw, produce
from tests.misbehaving import Misbehaving, Step

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "import sys; from streams.cli import main; sys.exit(main())"]
# Words that nothing but a conversation, and the id of its user, holds.
SAID = ("quokka", "短尾袋鼠")
WHO = ("walrus-4711", "海象四七")
SPEAKER, SESSION = "Zebulon", "ocelot room"
TEXTS = [
    f"I always feed the {SAID[0]} before the train to Bonn, by the window seat please.",
    f"我住在杭州，我喜欢{SAID[1]}，下周三要去北京见客户。",
    f"My passport number is E12345678 and the {SAID[0]} has 13812345678.",
    f"My password is {SAID[0]}-opensesame-9.",
    "hi!",
    f"{SAID[1]} " * 9000,
]


async def test_nothing_that_was_said_is_printed(kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path) -> None:
    async with (
        Misbehaving() as chat,
        pipeline(
            kafka.bootstrap,
            topic_prefix,
            partitions=1,
            extractor="model",
            chat_base_url=chat.base_url,
            chat_model="misbehaving",
            http_port=free_port(),
            http_auth="off",
            log_level="DEBUG",
        ) as line,
    ):
        chat.script("chat", *[Step("status", status=503)] * CallPolicy().attempts, Step("garbage"))
        worker = line.worker()
        await worker.start()
        environment = {**line.environment, "MEMSTREAM_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
        printed: list[str] = []

        # An import by the command, of which a part can't be read.
        history = tmp_path / "history.jsonl"
        rows = [{"time": "2026-03-02T09:00:00Z", "text": text, "speaker": SPEAKER} for text in TEXTS]
        lines = [json.dumps(row) for row in rows]
        history.write_text("\n".join([*lines, f"{SAID[0]} is no JSON"]) + "\n", encoding="utf-8")
        whose = ("--namespace", "shop", "--user", WHO[0])
        importer = Process([*COMMAND, "import", str(history), *whose, "--watch"], environment, tmp_path / "import.log")
        importer.spawn()
        assert await importer.gone(120) == 1, importer.tail()

        # Requests to the gateway, right and wrong ones.
        url = f"http://127.0.0.1:{line.settings.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=60, headers={"Prefer": "wait=30"}) as http:
            who = {"user_id": WHO[1], "namespace": "shop"}
            for text in TEXTS[:5]:
                written = await http.post("/memory/write", json={**who, "conversation": text, "session_id": SESSION})
                assert written.status_code in (200, 202, 422), written.text
            assert (await http.post("/memory/query", json={**who, "query": SAID[1]})).status_code == 200
            assert (await http.post("/memory/query", json={**who, "query": [SAID[0]]})).status_code == 422
            assert (await http.get("/memory/profile", params={"user_id": WHO[1], SAID[0]: "x"})).status_code == 422
            assert (await http.get(f"/memory/{SAID[0]}")).status_code == 404
            texts = {"conversations": [{"time": "2026-03-02T09:00:00Z", "text": text} for text in TEXTS]}
            assert (await http.post("/memory/import", json={**who, **texts})).status_code in (200, 202)

        # What no stage can read.
        bad = [b"{" + SAID[0].encode(), json.dumps({"user_id": WHO[0], "text": SAID[1]}).encode()]
        await produce(line, [Raw(value, WHO[0].encode()) for value in bad])

        # An agent by MCP.
        said_by_mcp = tmp_path / "mcp.log"
        server = StdioServerParameters(
            command=COMMAND[0],
            args=[*COMMAND[1:], "mcp", "--namespace", "shop", "--user", WHO[0], "--deadline", "30"],
            env={**os.environ, **environment},
            cwd=tmp_path,
        )
        with said_by_mcp.open("w") as log:
            async with Client(stdio_client(server, errlog=log)) as agent:
                assert not (await agent.call_tool("remember", {"text": TEXTS[0], "session_id": SESSION})).is_error
                assert not (await agent.call_tool("recall", {"query": SAID[0]})).is_error
                assert (await agent.call_tool("recall", {"query": SAID[0], SAID[0]: 1})).is_error

        async def all_parked() -> bool:
            return worker.log.read_text(errors="replace").count("stage redact parked a record") >= len(bad)

        await eventually(all_parked, what="what can't be read to be parked")
        await line.drained()
        worker.terminate()
        assert await worker.gone(30) == 0
        for log_file in (worker.log, importer.log, said_by_mcp):
            printed.append(log_file.read_text(encoding="utf-8", errors="replace"))

    # It was talkative: what is to be looked through is there.
    assert "parked a record" in printed[0]
    assert "skipped a record" in printed[0]
    assert "stage extract waits" in printed[0]
    assert "/memory/query -> 422" in printed[0]
    everything = "\n".join(printed)
    found = [
        word for word in (*SAID, *WHO, SPEAKER, SESSION, "opensesame", "E12345678", "13812345678") if word in everything
    ]
    assert not found, [line for line in everything.splitlines() if any(word in line for word in found)][:5]
    assert "Traceback" not in everything
