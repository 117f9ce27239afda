"""Who gets through to an endpoint, and how often: keys, namespaces, verbs, rates, places in flight."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from streams.errors import ConfigurationError
from streams.http import guard
from streams.http.keys import VERBS, KeyRing, new_key, read_keys, write_keys
from tests.unit.http.gateway import PASSED, QUESTION, Waiting, add_key, application, gateway, settings_for


def kind(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["detail"]
    return str(problem["type"]).removeprefix("urn:memstream:problem:")


# Keys


async def test_a_key_opens_its_endpoints(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    async with gateway(settings, add_key(settings)) as http:
        assert (await http.post("/memory/query", json=QUESTION)).status_code == PASSED


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer msk_",
        "Bearer msk_000000000000_AAAA",
        "Bearer {id}",
        "Bearer msk_{id}_AAAA",
        "Bearer {token}x",
        "Bearer {half}",
        "Bearer {sha256}",
        "Bearer msk_{id}_{sha256}",
        "Basic {token}",
        "{token}",
        "Bearer é_ü_ß",
    ],
)
async def test_without_a_valid_key_nothing_opens(tmp_path: Path, header: str) -> None:
    settings = settings_for(tmp_path)
    token = add_key(settings)
    (key,) = read_keys(settings.http_keys)
    sent = header.format(token=token, half=token[:-1], id=key.id, sha256=key.sha256)
    async with gateway(settings) as http:
        headers = {"Authorization": sent.encode("latin-1")} if sent else {}
        answer = await http.post("/memory/query", json=QUESTION, headers=headers)  # type: ignore[arg-type]
        assert (answer.status_code, kind(answer)) == (401, "no-valid-key")
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_every_endpoint_of_memory_asks_for_a_key(tmp_path: Path) -> None:
    async with application(settings_for(tmp_path)) as app, gateway(settings_for(tmp_path)) as http:
        paths = app.openapi()["paths"]
        assert len(paths) >= 9
        for path, operations in paths.items():
            for method in operations:
                answer = await http.request(method, path.format(memory_id="m", task_id="task_" + "0" * 32), json={})
                assert (path, answer.status_code) == (
                    path,
                    415 if method == "get" else 401,
                ) or answer.status_code == 401


def test_the_file_holds_no_key(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    token = add_key(settings)
    text = settings.http_keys.read_text(encoding="utf-8")
    assert token not in text
    assert token.split("_", 2)[2] not in text
    assert os.stat(settings.http_keys).st_mode & 0o077 == 0


def test_keys_come_and_go_without_a_restart(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    ring = KeyRing(settings.http_keys)
    token = add_key(settings)
    assert ring.verify(token) is not None
    settings.http_keys.write_text("{", encoding="utf-8")
    assert ring.verify(token) is not None, "a file that can't be read changes nothing"
    write_keys(settings.http_keys, ())
    assert ring.verify(token) is None


@pytest.mark.parametrize(
    "change",
    [
        {"namespaces": ["*"], "default_namespace": "*"},
        {"namespaces": []},
        {"default_namespace": "elsewhere"},
        {"verbs": ["everything"]},
        {"verbs": []},
        {"rate": "often"},
        {"sha256": "plain text key"},
        {"verb": ["query"]},
    ],
    ids=str,
)
def test_a_bad_file_stops_the_start(tmp_path: Path, change: dict[str, Any]) -> None:
    _, key = new_key(name="test", namespaces=["shop"], default_namespace="shop", verbs=["query"])
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [{**key.model_dump(mode="json", exclude_none=True), **change}]}))
    with pytest.raises(ConfigurationError, match="not a file of API keys"):
        KeyRing(path)


@pytest.mark.parametrize(("seconds", "said"), [(600.0, 1), (0.0, 3)])
async def test_authorization_that_is_off_is_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, seconds: float, said: int
) -> None:
    monkeypatch.setattr(guard, "REMIND_SECONDS", seconds)
    with caplog.at_level(logging.WARNING, logger=guard.__name__):
        async with gateway(settings_for(tmp_path, http_auth="off")) as http:
            for _ in range(2):
                assert (await http.post("/memory/query", json=QUESTION)).status_code == PASSED
    assert caplog.text.count("authorization is OFF") == said


# Namespaces and verbs


@pytest.mark.parametrize(
    ("namespace", "status"),
    [(None, PASSED), ("shop", PASSED), ("lab", PASSED), ("SHOP", 403), ("shop ", 403), ("ｓhop", 403), ("bank", 403)],
)
async def test_a_key_is_bound_to_its_namespaces(tmp_path: Path, namespace: str | None, status: int) -> None:
    settings = settings_for(tmp_path)
    token = add_key(settings, verbs=VERBS)
    named = {} if namespace is None else {"namespace": namespace}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("write", {"conversation": "hello"}),
        ("query", {"query": "hello"}),
        ("delete", {"memory_ids": ["m"]}),
        ("delete", {"filters": {"tags": ["x"]}}),
        ("forget", {"everything": True}),
        ("restore", {"memory_ids": ["m"]}),
        ("export", {}),
    ]
    async with gateway(settings, token) as http:
        for verb, body in calls:
            answer = await http.post(f"/memory/{verb}", json={"user_id": "u", **named, **body})
            assert (verb, answer.status_code) == (verb, status)
        for path in ("/memory/profile", "/memory/history/m"):
            assert (await http.get(path, params={"user_id": "u", **named})).status_code == status


async def test_a_key_is_bound_to_its_verbs(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    async with gateway(settings, add_key(settings, verbs=["profile"])) as http:
        assert (await http.get("/memory/profile", params={"user_id": "u"})).status_code == PASSED
        for path in ("write", "query", "update", "delete", "forget", "restore", "export"):
            answer = await http.post(f"/memory/{path}", json={})
            assert (answer.status_code, kind(answer)) == (403, "forbidden-verb")


# Rates and places


async def test_a_key_has_its_rate(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, http_rate="3/day")
    one, other = add_key(settings), add_key(settings, rate="1/day")
    async with gateway(settings) as http:

        async def ask(token: str) -> httpx.Response:
            return await http.post("/memory/query", json=QUESTION, headers={"Authorization": f"Bearer {token}"})

        assert [(await ask(one)).status_code for _ in range(4)] == [PASSED, PASSED, PASSED, 429]
        assert [(await ask(other)).status_code for _ in range(2)] == [PASSED, 429]
        refused = await ask(one)
        assert kind(refused) == "rate-limited"
        assert 1 <= int(refused.headers["retry-after"]) <= 2 * 86_400


async def test_more_than_fits_is_told_to_come_back(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, http_max_in_flight=2)
    Waiting.again()
    async with gateway(settings, add_key(settings), Waiting) as http:
        under_way = [asyncio.create_task(http.post("/memory/query", json=QUESTION)) for _ in range(2)]
        await Waiting.under_way(2)
        refused = await http.post("/memory/query", json=QUESTION)
        assert (refused.status_code, kind(refused)) == (429, "overloaded")
        assert refused.headers["retry-after"] == "1"
        assert (await http.get("/healthz")).status_code == 200
        Waiting.go.set()
        assert [(await task).status_code for task in under_way] == [200, 200]
        assert (await http.post("/memory/query", json=QUESTION)).status_code == 200
