"""`memstream doctor` asks the endpoints of models, over real HTTP, whether they have the models that are configured."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web

from streams.app import chat_of, embedder_of
from streams.cli.doctor import Check, examine
from streams.errors import ConfigurationError
from streams.settings import load_settings
from tests.acceptance.command import QUICK, memstream
from tests.misbehaving import Misbehaving, Step

KEY = "sk-opensesame"


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Misbehaving]:
    """Has the one model `misbehaving`."""
    async with Misbehaving() as running:
        yield running


@pytest.fixture
def configured(server: Misbehaving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The chat model of the server; what a test sets comes on top."""
    chosen = {
        **QUICK,
        "MEMSTREAM_DATA_DIR": str(tmp_path),
        "MEMSTREAM_KAFKA_BOOTSTRAP": "",
        "MEMSTREAM_EXTRACTOR": "model",
        "MEMSTREAM_CHAT_MODEL": "misbehaving",
        "MEMSTREAM_CHAT_BASE_URL": server.base_url,
        "MEMSTREAM_CHAT_API_KEY": KEY,
    }
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


async def check(name: str) -> Check:
    found = {check.name: check async for check in examine()}
    assert KEY not in "".join(check.detail for check in found.values())
    return found[name]


async def test_a_model_that_is_there(server: Misbehaving, configured: pytest.MonkeyPatch) -> None:
    told = await check("chat endpoint")
    assert told.ok
    assert "has misbehaving" in told.detail
    assert server.headers("models")[0]["Authorization"] == f"Bearer {KEY}"


async def test_a_model_that_is_not_there(configured: pytest.MonkeyPatch) -> None:
    configured.setenv("MEMSTREAM_CHAT_MODEL", "llama-9")
    told = await check("chat endpoint")
    assert not told.ok
    assert "does not list llama-9; it has misbehaving" in told.detail
    configured.setenv("MEMSTREAM_CHAT_MODEL", "")
    told = await check("chat endpoint")
    assert (told.ok, "MEMSTREAM_CHAT_MODEL" in told.detail) == (False, True)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Step("status", status=401), "check the key"),
        (Step("status", status=404), "end in /v1?"),
        (Step("status", status=503), "HTTP 503"),
        (Step("garbage"), "not what the API promises"),
        (Step("html"), "not what the API promises"),
        (Step("wrong_shape"), "not what the API promises"),
        (Step("refuse"), "the connection failed"),
    ],
    ids=lambda value: f"{value.mode}{value.status}" if isinstance(value, Step) else "",
)
async def test_an_endpoint_that_does_not_say(
    server: Misbehaving, configured: pytest.MonkeyPatch, step: Step, said: str
) -> None:
    server.always("models", step)
    told = await check("chat endpoint")
    assert not told.ok
    assert said in told.detail
    assert "MEMSTREAM_CHAT_BASE_URL" in told.detail


async def test_the_embedder_is_proven_by_a_vector(server: Misbehaving, configured: pytest.MonkeyPatch) -> None:
    configured.setenv("MEMSTREAM_EXTRACTOR", "rules")
    configured.setenv("MEMSTREAM_EMBEDDER", "openai:bge-m3")
    configured.setenv("MEMSTREAM_EMBEDDER_DIMENSION", "384")
    configured.setenv("MEMSTREAM_EMBEDDER_BASE_URL", server.base_url)
    told = await check("embedder endpoint")
    assert told.ok
    assert "does not list bge-m3" in told.detail
    server.always("models", Step("status", status=404))
    assert (await check("embedder endpoint")).ok
    assert (await check("model")).ok


async def test_the_command_says_it_and_fails(server: Misbehaving, tmp_path: Path) -> None:
    settings = {
        "MEMSTREAM_EXTRACTOR": "model",
        "MEMSTREAM_CHAT_MODEL": "llama-9",
        "MEMSTREAM_CHAT_BASE_URL": server.base_url,
    }
    told = await asyncio.to_thread(memstream, "doctor", folder=tmp_path, settings=settings)
    assert told.returncode == 1
    assert "FAIL chat endpoint: " in told.stdout
    assert server.requests("models") == 1


async def test_an_address_that_is_none(configured: pytest.MonkeyPatch) -> None:
    for address in ("nonsense", "http://user:opensesame@127.0.0.1:1/v1"):
        configured.setenv("MEMSTREAM_CHAT_BASE_URL", address)
        told = await check("chat endpoint")
        assert not told.ok
        assert "opensesame" not in told.detail


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("BASE_URL", "http://localhost:port/v1"),
        ("BASE_URL", "http://localhost:99999/v1"),
        ("BASE_URL", "localhost:11435/v1"),
        ("API_KEY", "schlüssel"),
    ],
)
async def test_a_setting_that_no_request_can_be_made_of(
    configured: pytest.MonkeyPatch, setting: str, value: str
) -> None:
    configured.setenv("MEMSTREAM_EMBEDDER", "openai:bge-m3")
    configured.setenv("MEMSTREAM_EMBEDDER_DIMENSION", "384")
    for what in ("CHAT", "EMBEDDER"):
        configured.setenv(f"MEMSTREAM_{what}_{setting}", value)
    for name in ("chat endpoint", "embedder endpoint", "model"):
        told = await check(name)
        assert not told.ok
        assert f"correct MEMSTREAM_{'CHAT' if name.startswith('chat') else 'EMBEDDER'}_{setting}: " in told.detail
        assert value not in told.detail
    # And so do whoever makes the models: workers and other commands.
    settings = load_settings()
    for make, what in ((chat_of, "CHAT"), (embedder_of, "EMBEDDER")):
        with pytest.raises(ConfigurationError, match=f"correct MEMSTREAM_{what}_{setting}: "):
            make(settings)


@pytest.mark.parametrize(
    ("listed", "ok", "said"),
    [
        (None, False, "it has no model"),
        ([{"id": "models/misbehaving"}], True, "has misbehaving"),
        ([{"id": "other/misbehaving"}], False, "it has other/misbehaving"),
    ],
)
async def test_lists_of_other_servers(
    server: Misbehaving, configured: pytest.MonkeyPatch, listed: object, ok: bool, said: str
) -> None:
    async def answer(*_: object) -> web.Response:
        return web.json_response({"data": listed})

    configured.setattr(server, "_answer", answer)
    told = await check("chat endpoint")
    assert (told.ok, said in told.detail) == (ok, True)


async def test_a_key_in_the_address_is_not_shown(server: Misbehaving, configured: pytest.MonkeyPatch) -> None:
    configured.setenv("MEMSTREAM_CHAT_BASE_URL", f"{server.base_url}?api_key=opensesame@home")
    told = await check("chat endpoint")
    assert told.detail.startswith(f"{server.base_url} ")
