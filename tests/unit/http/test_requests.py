"""What a request may look like: tenants, bodies, headers, paths; and how it is refused."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from streams.http.keys import VERBS
from tests.unit.http.gateway import PASSED, QUESTION, add_key, gateway, settings_for

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    settings = settings_for(tmp_path_factory.mktemp("gateway"), http_max_body_bytes=10_000)
    async with gateway(settings, add_key(settings, verbs=VERBS)) as made:
        yield made


@pytest.fixture
def http(shared: httpx.AsyncClient) -> Iterator[httpx.AsyncClient]:
    """With a key for everything, unless a test takes it away."""
    headers = shared.headers.copy()
    yield shared
    shared.headers = headers


def kind(answer: httpx.Response) -> str:
    return str(answer.json()["type"]).removeprefix("urn:memstream:problem:")


# Tenants

NOBODY = [
    None, "", " ", "　", "*", "＊", "%", "**", ["a"], ["a", "b"], {"$ne": 1}, {"any": ["a"]}, True, 1.5, "a\u0000b",
]  # fmt: skip


@pytest.mark.parametrize("user_id", NOBODY, ids=repr)
@pytest.mark.parametrize("path", ["query", "forget", "export"])
async def test_one_user_and_no_other_thing(http: httpx.AsyncClient, path: str, user_id: object) -> None:
    more = {"query": {"query": "q"}, "forget": {"everything": True}, "export": {}}[path]
    for body in ({"user_id": user_id, **more}, {"user_id": "u", "namespace": user_id or "*", **more}):
        answer = await http.post(f"/memory/{path}", json=body)
        assert (answer.status_code, kind(answer)) == (422, "invalid-request")
        assert answer.json()["errors"][0]["field"].split(".")[0] in ("user_id", "namespace")


async def test_the_turns_of_one_session(http: httpx.AsyncClient) -> None:
    for query in ("", "session_id=", "session_id=s&limit=0", "session_id=s&limit=51", "session_id=s&turns=3"):
        assert (await http.get(f"/memory/turns?user_id=u&{query}")).status_code == 422, query
    assert (await http.get("/memory/turns?session_id=s")).status_code == 422
    assert (await http.get("/memory/turns?user_id=u&session_id=s&limit=50")).status_code == PASSED


@pytest.mark.parametrize("path", ["/memory/profile", "/memory/history/m"])
async def test_one_user_in_a_query_string(http: httpx.AsyncClient, path: str) -> None:
    for query in (
        "",
        "user_id=",
        "user_id=*",
        "user_id=%20",
        "user_id[]=a",
        "user_id=u&namespace=*",
        "user_id=u&all=1",
    ):
        assert (await http.get(f"{path}?{query}")).status_code == 422, query
    for query in ("user_id=a&user_id=b", "user_id=a&namespace=shop&namespace=lab"):
        answer = await http.get(f"{path}?{query}")
        assert (answer.status_code, kind(answer)) == (400, "repeated-parameter")
    assert (await http.get(f"{path}?user_id=1001")).status_code == PASSED


@pytest.mark.parametrize("user_id", [1001, "1001", "张三", "a b", 10**40])
async def test_numbers_and_texts_are_users(http: httpx.AsyncClient, user_id: object) -> None:
    assert (await http.post("/memory/query", json={"user_id": user_id, "query": "q"})).status_code == PASSED


# Bodies

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("write", {}, "conversation"),
    ("write", {"conversation": " "}, "conversation"),
    ("write", {"conversation": "a", "messages": [{"content": "b"}]}, "conversation"),
    ("write", {"conversation": "a", "importance_threshold": 1.5}, "importance_threshold"),
    ("write", {"conversation": "a", "importance_treshold": 0.5}, "importance_treshold"),
    ("write", {"conversation": ["a"]}, "conversation"),
    ("write", {"messages": [{"content": "a", "role": "boss"}]}, "messages.0.role"),
    ("write", {"messages": [{"text": "a"}]}, "messages.0"),
    ("write", {"conversation": "a", "timezone": "Mars/Base"}, "timezone"),
    ("write", {"conversation": "a", "time": "soon"}, "time"),
    ("query", {}, "query"),
    ("query", {"query": "q", "top_k": 0}, "top_k"),
    ("query", {"query": "q", "top_k": 51}, "top_k"),
    ("query", {"query": "q", "filters": {"user_id": "other"}}, "filters.user_id"),
    ("query", {"query": "q", "filters": {"types": ["secret"]}}, "filters.types.0"),
    ("query", {"query": "q", "format": "html"}, "format"),
    ("query", {"query": "q", "prompt_role": "assistant"}, "prompt_role"),
    ("update", {"memory_id": "m"}, "content"),
    ("delete", {}, "memory_ids"),
    ("delete", {"filters": {}}, "filter"),
    ("delete", {"filters": {"tags": []}}, "filter"),
    ("delete", {"memory_ids": ["m"], "filters": {"tags": ["a"]}}, "memory_ids"),
    # A filter that names nothing would match everything.
    ("delete", {"memory_ids": ["m"], "filters": {}}, "memory_ids"),
    ("delete", {"memory_ids": ["m"], "filters": {"tags": []}}, "memory_ids"),
    ("delete", {"memory_ids": ["m"] * 1001}, "memory_ids"),
    ("forget", {}, "everything"),
    ("forget", {"everything": True, "session_id": "s"}, "everything"),
    ("forget", {"everything": "please"}, "everything"),
    ("restore", {"memory_ids": []}, "memory_ids"),
]


@pytest.mark.parametrize(("path", "body", "named"), REFUSED, ids=str)
async def test_what_can_not_work_is_named(http: httpx.AsyncClient, path: str, body: dict[str, Any], named: str) -> None:
    answer = await http.post(f"/memory/{path}", json={"user_id": "u", **body})
    assert (answer.status_code, kind(answer)) == (422, "invalid-request")
    assert named in json.dumps(answer.json()["errors"])


async def test_no_refusal_quotes_what_was_said(http: httpx.AsyncClient, caplog: pytest.LogCaptureFixture) -> None:
    said = "my password is opensesame"
    bodies: list[dict[str, Any]] = [
        {"user_id": [said], "conversation": said},
        {"user_id": "u", "conversation": [said]},
        {"user_id": "u", "messages": [{"content": said, "role": said, "time": said}], "timezone": said},
        {"user_id": "u", "conversation": said, "session_id": {"x": said}, "wait": said},
    ]
    with caplog.at_level(logging.DEBUG):
        for body in bodies:
            answer = await http.post("/memory/write", json=body)
            assert answer.status_code == 422
            assert "opensesame" not in answer.text
        await http.post("/memory/write", content=b'{"user_id": "opensesame', headers=JSON)
        await http.get("/memory/history/opensesame?user_id=opensesame")
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("httpx")]
    assert ours
    assert "opensesame" not in "".join(ours)


JSON = {"Content-Type": "application/json"}
NOT_JSON = {
    "empty": b"",
    "half": b'{"user_id": "u", "query": ',
    "nesting": b"[" * 5000 + b"]" * 5000,
    "nested objects": b'{"a":' * 1500 + b"1" + b"}" * 1500,
    "NaN": b'{"user_id": "u", "query": "q", "top_k": NaN}',
    "lone surrogate": b'{"user_id": "u", "query": "\\ud800"}',
    "not UTF-8": b'{"user_id": "u", "query": "\xff"}',
    "a long number": b'{"user_id": ' + b"9" * 9000 + b', "query": "q"}',
    "two documents": b'{"user_id": "u", "query": "q"}{}',
}


@pytest.mark.parametrize("name", NOT_JSON)
async def test_what_is_not_json(http: httpx.AsyncClient, name: str) -> None:
    answer = await http.post("/memory/query", content=NOT_JSON[name], headers=JSON)
    assert answer.status_code in (400, 422)
    assert kind(answer) in ("not-json", "invalid-request")


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"null", b"[" * 100 + b"]" * 100])
async def test_json_that_is_no_object(http: httpx.AsyncClient, body: bytes) -> None:
    assert (await http.post("/memory/query", content=body, headers=JSON)).status_code == 422


async def test_a_body_has_a_limit(http: httpx.AsyncClient) -> None:
    fits = json.dumps({**QUESTION, "query": "q" * 9000}).encode()
    assert (await http.post("/memory/query", content=fits, headers=JSON)).status_code == PASSED
    large = json.dumps({**QUESTION, "query": "q" * 10_000}).encode()

    async def in_pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(large), 1000):
            yield large[at : at + 1000]

    for content in (large, in_pieces()):
        answer = await http.post("/memory/query", content=content, headers=JSON)
        assert (answer.status_code, kind(answer)) == (413, "too-large")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, PASSED),
        ({"Content-Type": "APPLICATION/JSON"}, PASSED),
    ],
    ids=str,
)
async def test_only_json_is_read(http: httpx.AsyncClient, headers: dict[str, str], status: int) -> None:
    answer = await http.post("/memory/query", content=json.dumps(QUESTION).encode(), headers=headers)
    assert answer.status_code == status


# Headers and paths


async def test_requests_have_ids(http: httpx.AsyncClient) -> None:
    given = await http.get("/healthz", headers={"X-Request-Id": "chat-7.12"})
    assert given.headers["x-request-id"] == "chat-7.12"
    for bad in ("a b", "x" * 65, "a;b", "<script>"):
        assert (await http.get("/healthz", headers={"X-Request-Id": bad})).headers["x-request-id"] != bad
    first, second = await http.get("/healthz"), await http.get("/healthz")
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


async def test_idempotency_keys_are_event_ids(http: httpx.AsyncClient) -> None:
    body = {"user_id": "u", "conversation": "hello"}
    for key, status in (("chat-7/12", PASSED), ("x" * 512, PASSED), ("x" * 513, 422), (" ", 422)):
        answer = await http.post("/memory/write", json=body, headers={"Idempotency-Key": key})
        assert (key[:9], answer.status_code) == (key[:9], status)


@pytest.mark.parametrize("name", ["Authorization", "Content-Type", "Idempotency-Key", "Prefer"])
async def test_a_header_that_decides_comes_once(http: httpx.AsyncClient, name: str) -> None:
    own = {"Authorization": http.headers["authorization"], "Content-Type": "application/json"}.get(name, "a")
    others = [("Content-Type", "application/json")] if name != "Content-Type" else []
    # The client's own Authorization is added by itself where the test sends none.
    twice = [(name, own), (name, own), *others]
    answer = await http.post("/memory/query", content=json.dumps(QUESTION).encode(), headers=twice)
    assert (answer.status_code, kind(answer)) == (400, "repeated-header")


@pytest.mark.parametrize(
    "path",
    [
        "/memory/query/",
        "//memory/query",
        "/memory//query",
        "/MEMORY/QUERY",
        "/memory/./query",
        "/healthz/../memory/query",
        "/memory/history/../query",
        "/memory%2Fquery/x",
        "/memory/query;x=1",
        "/memory/query%00",
        "/memory/%2e%2e/memory/query",
        "/docs",
        "/redoc",
        "/memory/history/a%2F..%2Fb",
        "/memory/history/",
        "/",
    ],
)
async def test_no_spelling_of_a_path_leads_around_the_guard(http: httpx.AsyncClient, path: str) -> None:
    """Without a key, so whatever is answered did not pass."""
    del http.headers["authorization"]
    for method in ("GET", "POST"):
        request = http.build_request(method, "/", json=QUESTION if method == "POST" else None)
        request.url = request.url.copy_with(raw_path=path.encode())
        assert (await http.send(request)).status_code in (401, 404, 405)


async def test_only_the_probes_are_open(http: httpx.AsyncClient) -> None:
    del http.headers["authorization"]
    assert (await http.get("/healthz")).text == "ok\n"
    assert (await http.get("/readyz")).status_code == 503  # no broker
    assert "memstream_http_requests_total" in (await http.get("/metrics")).text
    assert (await http.get("/openapi.json")).json()["openapi"].startswith("3.1")
    for method in ("OPTIONS", "HEAD", "TRACE", "PUT", "DELETE", "GET"):
        assert (await http.request(method, "/memory/query")).status_code == 405


async def test_metrics_name_patterns_not_ids(http: httpx.AsyncClient) -> None:
    await http.get("/memory/history/mem_of_somebody?user_id=somebody")
    await http.get("/a/path/of/somebody")
    text = (await http.get("/metrics")).text
    assert 'route="/memory/history/{memory_id}",status="503"' in text
    assert "somebody" not in text
