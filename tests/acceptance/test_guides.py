"""The quick starts of docs/http.md, docs/imports.md and docs/mcp.md do what they say, against a real `memstream up`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.acceptance.command import MEMSTREAM, Up, clean_environment, memstream
from tests.acceptance.test_readme import Block, blocks
from tests.harness import free_port

DOCS = Path(__file__).parents[2] / "docs"
MCP = (DOCS / "mcp.md").read_text(encoding="utf-8")


def steps(guide: str) -> list[Block]:
    found = blocks((DOCS / guide).read_text(encoding="utf-8"))
    return [block for block in found if block.language == "bash" and not block.code.startswith("memstream up")]


HTTP = steps("http.md")
IMPORTS = [step for step in steps("imports.md") if step.prints]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(tmp_path_factory.mktemp("guide"), {"MEMSTREAM_HTTP_PORT": str(free_port())}) as running:
        yield running


def test_every_step_says_what_it_prints() -> None:
    assert len(HTTP) == 4
    assert all(step.prints for step in HTTP)
    assert len(IMPORTS) == 2


@pytest.mark.parametrize("step", [*HTTP, *IMPORTS], ids=str)
def test_step(step: Block, up: Up) -> None:
    port = up.settings["MEMSTREAM_HTTP_PORT"]
    assert f"HTTP on http://127.0.0.1:{port}" in up.said
    done = up.run("bash", "-euo", "pipefail", "-c", step.code.replace("localhost:8000", f"127.0.0.1:{port}"))
    assert done.returncode == 0, done.stderr
    step.check(done.stdout)


async def test_an_agent_configured_as_the_guide_says(up: Up) -> None:
    (given,) = (json.loads(block.code) for block in blocks(MCP) if block.language == "json")
    server = given["mcpServers"]["memory"]
    assert (server["command"], server["env"].keys()) == ("memstream", {"MEMSTREAM_KAFKA_BOOTSTRAP"})
    port = up.kafka_port
    address = server["env"]["MEMSTREAM_KAFKA_BOOTSTRAP"].replace("9092", port)
    environment = {**clean_environment(up.settings), "MEMSTREAM_KAFKA_BOOTSTRAP": address}
    started = StdioServerParameters(command=str(MEMSTREAM), args=server["args"], env=environment, cwd=up.folder)
    with (up.folder / "mcp.log").open("w") as log:
        async with Client(stdio_client(started, errlog=log)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == set(re.findall(r"^\| `(\w+)` \|", MCP.split("## The tools")[1], re.MULTILINE))
            said = {"text": "I keep bees on the roof of the old mill."}
            stored = (await client.call_tool("remember", said)).structured_content
            assert stored is not None
            assert stored["status"] == "stored", stored
            asked = {"query": "What do I keep on the roof of the old mill?"}
            found = (await client.call_tool("recall", asked)).structured_content
            assert found is not None
            assert "bees" in found["memories"][0]["content"], found


def test_keys_by_the_command_line(tmp_path: Path) -> None:
    made = memstream("keys", "add", "demo", "--namespace", "shop", "--rate", "5/minute", folder=tmp_path)
    assert re.fullmatch(r"msk_[0-9a-f]{12}_[\w-]{43}\n", made.stdout)
    key_id = made.stdout.split("_")[1]
    listed = memstream("keys", "list", folder=tmp_path).stdout
    assert listed == f"{key_id}  demo  shop: write, query, update, profile, history, turns; 5/minute\n"
    for wrong in (["-n", "*"], ["-n", "shop", "--verbs", "fly"], ["-n", "shop", "--rate", "often"]):
        assert memstream("keys", "add", "x", *wrong, folder=tmp_path).returncode == 2
    assert memstream("keys", "remove", key_id, folder=tmp_path).returncode == 0
    assert memstream("keys", "remove", key_id, folder=tmp_path).returncode == 1
    assert memstream("keys", "list", folder=tmp_path).stdout == ""


def test_the_gateway_needs_a_port(tmp_path: Path) -> None:
    settings = {"MEMSTREAM_KAFKA_BOOTSTRAP": "127.0.0.1:1", "MEMSTREAM_HTTP_PORT": "0"}
    told = memstream("worker", "--roles", "http", folder=tmp_path, settings=settings)
    assert (told.returncode, "MEMSTREAM_HTTP_PORT" in told.stderr) == (1, True)
