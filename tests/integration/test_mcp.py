"""`memstream mcp` in front of a real pipeline, asked by the official client as an agent would."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO, Any, cast

import httpx2
import pytest
import pytest_asyncio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.requests import Request

from schemas import MemoryRecord
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.client import MemoryClient, Unavailable
from streams.http.keys import VERBS, new_key, write_keys
from streams.mcp.http import transport_security
from streams.mcp.link import Link
from streams.mcp.server import MemoryServer
from streams.settings import Settings
from tests.harness import Pipeline, Process, free_port, pipeline

pytestmark = pytest.mark.asyncio(loop_scope="module")
ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "import sys; from streams.cli import main; sys.exit(main())", "mcp"]
TOOLS = ["remember", "recall", "profile", "history", "forget"]
TRIP = "我下周三下午要去北京见客户，需要提前订高铁票，靠窗座位 🚄"
ASKED = "去北京见客户要订什么票？"
# Phrases that nothing but a conversation and its user's id hold.
SAID, WHO = "zebra crossing near the old mill", "walrus-4711"


class Server:
    """How to start `memstream mcp` against one prefix; `log` is what it says on stderr."""

    def __init__(self, running: Pipeline, folder: Path) -> None:
        self.environment = {
            **running.environment,
            "MEMSTREAM_DATA_DIR": str(folder),
            "MEMSTREAM_HTTP_KEYS_FILE": str(folder / "keys.json"),
            "PYTHONPATH": str(ROOT),
        }
        self.folder = folder
        self.log = folder / "mcp.log"

    @contextlib.asynccontextmanager
    async def agent(self, *options: str, **environment: str) -> AsyncIterator[Client]:
        started = StdioServerParameters(
            command=COMMAND[0],
            args=[*COMMAND[1:], "--namespace", "shop", *options],
            env={**os.environ, **self.environment, **environment},
            cwd=self.folder,
        )
        with self.log.open("a") as log:
            async with Client(stdio_client(started, errlog=log)) as client:
                yield client

    def popen(self, *options: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, "--namespace", "shop", *options],
            env={**os.environ, **self.environment, **environment},
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    async with pipeline(kafka.bootstrap, "mcp.", partitions=2) as running:
        await running.worker().start()
        yield Server(running, tmp_path_factory.mktemp("mcp"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lonely(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """Topics, and nobody who works on them."""
    async with pipeline(kafka.bootstrap, "mcplonely.", partitions=2) as running:
        yield Server(running, tmp_path_factory.mktemp("lonely"))


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    (said,) = result.content
    assert said.type == "text"
    assert "Traceback" not in said.text
    return said.text


def contents(answer: dict[str, Any]) -> list[str]:
    return [memory["content"] for memory in answer["memories"]]


async def test_tools_explain_themselves(server: Server) -> None:
    async with server.agent() as anybody, server.agent("--user", "1001") as one:
        for client, asks_who in ((anybody, True), (one, False)):
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == TOOLS
            for tool in tools:
                arguments = tool.input_schema["properties"]
                assert tool.description
                assert tool.output_schema
                assert "link" not in arguments
                assert ("user_id" in arguments) == asks_who
                assert all(argument.get("description") for argument in arguments.values())
            told = {tool.name: tool for tool in tools}
            assert all("never instructions" in (told[name].description or "") for name in ("recall", "profile"))
            assert "confirm" in told["forget"].input_schema["required"]
            hints = {name: tool.annotations for name, tool in told.items()}
            assert [name for name in TOOLS if hints[name] and hints[name].destructive_hint] == ["forget"]
            assert [name for name in TOOLS if hints[name] and hints[name].read_only_hint] == TOOLS[1:4]
        assert "never follow instructions" in (anybody.instructions or "")


async def test_what_is_remembered_is_recalled_and_forgotten(server: Server) -> None:
    async with server.agent() as client:
        made = await call(
            client,
            "remember",
            user_id="1001",
            text=TRIP,
            said_at="2026-03-02T09:00:00+08:00",
            timezone="Asia/Shanghai",
        )
        assert made["status"] == "stored"
        assert "never follow instructions" in made["note"].lower()
        found = await call(client, "recall", user_id="1001", query=ASKED)
        assert TRIP in contents(found)
        assert "never follow instructions" in found["note"].lower()
        assert found["memories"][0]["said_at"] == "2026-03-02T01:00:00Z"
        assert (await call(client, "recall", user_id="1002", query=ASKED))["memories"] == []
        assert (await call(client, "profile", user_id="1002"))["memories"] == {}

        ids = [memory["memory_id"] for memory in made["memories"]]
        assert TRIP in contents(
            await call(client, "history", user_id="1001", memory_id=found["memories"][0]["memory_id"])
        )
        assert "no memory with that id" in await failure(client, "history", user_id="1002", memory_id=ids[0])

        refused = await failure(client, "forget", user_id="1001", memory_ids=ids, confirm=False)
        assert "nothing was removed" in refused
        other = await call(client, "forget", user_id="1002", memory_ids=ids, confirm=True)
        assert (other["status"], other["summary"]) == ("erased", "nothing was there to remove")
        assert TRIP in contents(await call(client, "recall", user_id="1001", query=ASKED))

        erased = await call(client, "forget", user_id="1001", memory_ids=ids, confirm=True)
        assert erased["status"] == "erased"
        assert sum(erased["removed"].values()) == len(ids)
        assert f"removed for good: {len(ids)} memories" in erased["summary"]
        assert (await call(client, "recall", user_id="1001", query=ASKED))["memories"] == []


async def test_a_server_of_one_user_has_no_other(server: Server) -> None:
    async with server.agent("--user", "2001") as client:
        assert (await call(client, "remember", text="I always take the window seat."))["status"] == "stored"
        known = (await call(client, "profile"))["memories"]
        assert known
        assert all(memory["memory_type"] == kind for kind, memories in known.items() for memory in memories)
        assert contents(await call(client, "recall", query="Which seat do I take?"))
        assert "unknown argument" in await failure(client, "recall", query="Which seat?", user_id="2002")
    async with server.agent("--user", "2002") as client:
        assert not contents(await call(client, "recall", query="Which seat do I take?"))
        assert (await call(client, "remember", text="Great, thanks!"))["status"] == "skipped"


async def test_bad_arguments_are_named(server: Server) -> None:
    async with server.agent() as client:
        assert "user_id: Field required" in await failure(client, "recall", query="seat")
        assert "top_k: " in await failure(client, "recall", user_id="1", query="seat", top_k=500)
        assert "user_id: " in await failure(client, "recall", user_id="*", query="seat")
        assert "query: " in await failure(client, "recall", user_id="1", query="")
        assert "query" in await failure(client, "recall", user_id="1", query="  ")
        assert "timezone" in await failure(client, "remember", user_id="1", text="tomorrow", timezone="Mars/Base")
        assert "said_at: " in await failure(client, "remember", user_id="1", text="tomorrow", said_at="soon")
        told = await failure(client, "recall", user_id="1", query="seat", speling=SAID)
        assert "unknown argument" in told
        assert SAID not in told
        assert "no such tool" in await failure(client, "fly")
        for scopes in ({}, {"everything": True, "session_id": "s"}, {"memory_ids": []}):
            assert "exactly one" in await failure(client, "forget", user_id="1", confirm=True, **scopes)
        backwards = {"since": "2026-03-02T09:00:00Z", "until": "2026-03-01T09:00:00Z"}
        assert "before until" in await failure(client, "forget", user_id="1", confirm=True, **backwards)
        assert "blank" in await failure(client, "forget", user_id="1", confirm=True, session_id=" ")


async def test_without_a_broker_or_a_worker_it_says_so(server: Server, lonely: Server) -> None:
    nowhere = {"MEMSTREAM_KAFKA_BOOTSTRAP": f"127.0.0.1:{free_port()}"}
    async with server.agent("--user", WHO, **nowhere) as client:
        for tool, arguments in (("recall", {"query": SAID}), ("remember", {"text": SAID}), ("profile", {})):
            told = await failure(client, tool, **arguments)
            assert "is Kafka running?" in told
            assert "memstream doctor" in told
    async with server.agent("--user", WHO, MEMSTREAM_KAFKA_BOOTSTRAP="") as client:
        assert "memstream up" in await failure(client, "recall", query=SAID)
    async with lonely.agent("--user", WHO, "--deadline", "1") as client:
        assert "is a worker with the role recall running?" in await failure(client, "recall", query=SAID)
        assert (await call(client, "remember", text=SAID))["status"] == "queued"
        assert (await call(client, "forget", everything=True, confirm=True))["status"] == "queued"
    for log in (server.log, lonely.log):
        told = log.read_text()
        assert "recall failed: " in told
        assert SAID not in told
        assert WHO not in told
        assert "Traceback" not in told


def lines(stream: IO[str]) -> Iterator[dict[str, Any]]:
    for line in stream:
        yield json.loads(line)


@pytest.mark.parametrize("end", ["stdin", signal.SIGTERM, signal.SIGINT], ids=str)
async def test_it_speaks_nothing_but_the_protocol_and_ends_with_0(server: Server, end: str | signal.Signals) -> None:
    process = server.popen("--user", WHO)
    assert process.stdin is not None
    assert process.stdout is not None
    answers = lines(process.stdout)

    def send(method: str, number: int | None, **params: Any) -> None:
        identity = {} if number is None else {"id": number}
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **identity}) + "\n")
        process.stdin.flush()

    def talk() -> None:
        about = {"name": "test", "version": "1"}
        send("initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
        assert next(answers)["result"]["serverInfo"]["name"] == "memstream"
        send("notifications/initialized", None)
        send("tools/call", 2, name="remember", arguments={"text": f"Remember that I live at the {SAID} 🦭."})
        answer = next(answers)
        assert (answer["id"], answer["result"].get("isError", False)) == (2, False)
        send("tools/call", 3, name="recall", arguments={"query": SAID, "top_k": SAID})
        assert next(answers)["result"]["isError"]

    try:
        await asyncio.to_thread(talk)
        if isinstance(end, signal.Signals):
            process.send_signal(end)
            assert await asyncio.to_thread(process.wait, 30) == 0
        out, told = await asyncio.to_thread(process.communicate, timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, told
    assert out == ""
    assert "recall failed: ValidationError" in told
    assert SAID not in told
    assert WHO not in told
    assert "Traceback" not in told


@contextlib.asynccontextmanager
async def over_http(port: int, key: str) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


async def test_over_http_with_the_gateways_keys(server: Server) -> None:
    shop, own = new_key(name="shop", namespaces=["shop"], default_namespace="shop", verbs=VERBS)
    lab, other = new_key(name="lab", namespaces=["lab"], default_namespace="lab", verbs=VERBS)
    look, reader = new_key(name="look", namespaces=["shop"], default_namespace="shop", verbs=["query"])
    write_keys(server.folder / "keys.json", (own, other, reader))
    port = free_port()
    command = [*COMMAND, "--namespace", "shop", "--http", "--port", str(port)]
    process = Process(command, server.environment, server.folder / "http.log")
    await process.start()
    try:
        async with over_http(port, shop) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            assert (await call(client, "remember", user_id=WHO, text=TRIP))["status"] == "stored"
            assert TRIP in contents(await call(client, "recall", user_id=WHO, query=ASKED))
            assert not contents(await call(client, "recall", user_id="3002", query=ASKED))
        async with over_http(port, look) as client:
            assert TRIP in contents(await call(client, "recall", user_id=WHO, query=ASKED))
            assert "may not forget" in await failure(client, "forget", user_id=WHO, everything=True, confirm=True)
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            for key, status in (("none", 401), (f"{shop}x", 401), (lab, 403)):
                answer = await http.post("/mcp", json={}, headers={"Authorization": f"Bearer {key}"})
                assert (answer.status_code, "Traceback" in answer.text) == (status, False)
            http.headers["Authorization"] = f"Bearer {shop}"
            assert (await http.get("/mcp", headers={"Accept": "text/event-stream"})).status_code == 405
            assert (await http.post("/mcp", content="text")).status_code == 415
            # As a proxy with TLS passes them on.
            for name in ("memory.example.com", "localhost"):
                listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
                accepted = {"Host": name, "Accept": "application/json, text/event-stream"}
                assert (await http.post("/mcp", json=listing, headers=accepted)).status_code == 200
            # What a refused body leaves on a connection is no request.
            for _ in range(5):
                assert (await http.post("/mcp", json={"text": "a" * 3_000_000})).status_code == 413
                assert (await http.post("/mcp", content="text")).status_code == 415
        taken = await asyncio.to_thread(server.popen("--http", "--port", str(port)).communicate, timeout=60)
        assert f"the MCP server can't listen on 127.0.0.1:{port}" in taken[1]
        assert "--port" in taken[1]
        process.terminate()
        assert await process.gone() == 0
    finally:
        process.kill()
    told = process.log.read_text()
    assert WHO not in told
    assert TRIP not in told
    assert "Traceback" not in told


@pytest.mark.parametrize("bound", ["127.0.0.1", "127.0.0.2", "localhost", "::1"])
async def test_without_keys_a_foreign_name_is_refused(bound: str) -> None:
    async def refusal(**headers: str) -> int | None:
        sent = {"content-type": "application/json", **headers}
        raw = [(name.encode(), value.encode()) for name, value in sent.items()]
        found = await checks.validate_request(Request({"type": "http", "headers": raw}), is_post=True)
        return None if found is None else found.status_code

    checks = TransportSecurityMiddleware(transport_security(Settings(http_host=bound, http_auth="off")))
    own = f"[{bound}]" if ":" in bound else bound
    for name in (own, "localhost", "127.0.0.1"):
        assert await refusal(host=name) is None
        assert await refusal(host=f"{name}:8808", origin=f"http://{name}:8808") is None
    for name in ("evil.example", "evil.example:8808", "localhost.evil.example", f"{own}.evil.example:8808", ""):
        assert await refusal(host=name) == 421
    assert await refusal(host=own, origin="http://evil.example") == 403


class Fake:
    """A client whose broker is silent until `there`, and whose worker answers in another form."""

    there = False

    async def __aenter__(self) -> Fake:
        if not self.there:
            await asyncio.sleep(60)
        return self

    async def profile(self, user_id: str) -> list[MemoryRecord]:
        return [MemoryRecord.model_validate_json(b"{}")]


async def test_calls_wait_together_for_a_silent_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.mcp.link.CONNECT_SECONDS", 0.2)
    made: list[MemoryClient] = []

    def connect() -> MemoryClient:
        made.append(cast(MemoryClient, Fake()))
        return made[-1]

    link = Link(connect)
    calls = [asyncio.create_task(link.client()) for _ in range(5)]
    await asyncio.sleep(0)
    calls[0].cancel()
    failures = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(failed) for failed in failures] == [asyncio.CancelledError, *[Unavailable] * 4]
    assert len(made) == 1
    monkeypatch.setattr(Fake, "there", True)
    assert [await link.client(), await link.client()] == [made[1]] * 2
    assert len(made) == 2


async def test_the_end_does_not_wait_for_a_silent_broker() -> None:
    link = Link(lambda: cast(MemoryClient, Fake()))
    call = asyncio.create_task(link.client())
    await asyncio.sleep(0)
    await asyncio.wait_for(link.close(), 5)
    await asyncio.wait([call])
    assert call.cancelled()


async def test_a_worker_of_another_version_is_no_fault_of_the_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fake, "there", True)
    server = MemoryServer(Link(lambda: cast(MemoryClient, Fake())))
    with pytest.raises(ToolError, match="the same version of memstream everywhere"):
        await server.call_tool("profile", {"user_id": "1"})
    with pytest.raises(ToolError, match="mend the arguments: user_id: "):
        await server.call_tool("profile", {"user_id": ""})


async def test_wrong_use_is_refused_before_it_starts(server: Server) -> None:
    everywhere = server.popen("--http", "--host", "0.0.0.0", "--port", "0", MEMSTREAM_HTTP_AUTH="off")
    _, told = await asyncio.to_thread(everywhere.communicate, timeout=60)
    assert everywhere.returncode == 1
    assert "MEMSTREAM_HTTP_AUTH=keys" in told
    nowhere = server.popen("--http", "--host", "a..b")
    _, told = await asyncio.to_thread(nowhere.communicate, timeout=60)
    assert nowhere.returncode == 1
    assert "no address of this machine" in told
    assert "--host" in told
    assert "--port" not in told
    nobody = server.popen("--user", "*")
    _, told = await asyncio.to_thread(nobody.communicate, timeout=60)
    assert nobody.returncode == 2
    assert "--user: " in told


async def test_without_the_extra_it_names_it(server: Server) -> None:
    without = "import sys; sys.modules['mcp'] = None; from streams.cli import main; sys.exit(main())"
    told = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", without, "mcp", "--namespace", "shop"],
        env={**os.environ, **server.environment},
        cwd=server.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.returncode == 1
    assert told.stderr == "memstream: the packages for MCP are not installed: pip install 'memstream[mcp]'\n"
