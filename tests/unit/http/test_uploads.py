"""A chat history as a file over HTTP: what would be read of it, and what is refused with what to do about it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from streams.http.guard import MOST_UPLOADS
from streams.http.keys import VERBS
from streams.imports import task
from tests.harness import eventually
from tests.unit.http.gateway import PASSED, add_key, gateway, settings_for

pytestmark = pytest.mark.asyncio(loop_scope="module")
LIMIT = 200_000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    settings = settings_for(tmp_path_factory.mktemp("gateway"), http_max_body_bytes=10_000, http_max_upload_bytes=LIMIT)
    async with gateway(settings, add_key(settings, verbs=VERBS)) as made:
        yield made


async def upload(http: httpx.AsyncClient, content: str | bytes, status: int = 200, /, **fields: Any) -> dict[str, Any]:
    answer = await http.post(
        "/memory/import",
        data={"user_id": "1001", "preview": "true", **fields},
        files={"file": ("history", content if isinstance(content, bytes) else content.encode())},
    )
    assert answer.status_code == status, answer.text
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
    told: dict[str, Any] = answer.json()
    return told


LOG = "2026-03-02 09:00 Ann: I moved to Bonn.\n2026-03-02 09:01 张三：我搬到杭州了\n3/2/26, 12:02 PM - Bob: when?\n"
TREE = {
    "a": {"parent": None, "message": {"author": {"role": "user"}, "content": {"parts": ["I live in Bonn"]}}},
    "b": {"parent": "a", "message": {"author": {"role": "assistant"}, "content": {"parts": ["Noted."]}}},
}
HISTORIES = {
    "jsonl": '{"text": "I moved to Bonn.", "time": "2026-03-02T09:00:00"}\nnot JSON\n',
    "chatgpt": json.dumps([{"mapping": TREE, "current_node": "b"}]),
    "chatlog": LOG,
    "langchain": json.dumps([{"type": "human", "data": {"content": "I live in Bonn"}}]),
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("form", HISTORIES)
async def test_a_preview_of_every_format(http: httpx.AsyncClient, form: str, named: bool) -> None:
    told = await upload(http, HISTORIES[form], **({"format": form} if named else {}))
    assert (told["format"], told["conversations"]) == (form, 1)
    voices = {(voice["role"], voice.get("speaker"), voice["messages"]) for voice in told["voices"]}
    assert (
        voices
        == {
            "jsonl": {("user", None, 1)},
            "chatgpt": {("user", None, 1), ("assistant", None, 1)},
            "chatlog": {("user", "Ann", 1), ("user", "张三", 1)},
            "langchain": {("user", None, 1)},
        }[form]
    )


async def test_a_preview_tells_whose_words_of_when_and_what_is_left_out(http: httpx.AsyncClient) -> None:
    told = await upload(http, "\ufeff" + LOG, timezone="Asia/Shanghai")
    assert (told["since"], told["until"]) == ("2026-03-02T01:00:00Z", "2026-03-02T01:01:00Z")
    assert (told["messages"], told["without_time"], told["refused"]) == (2, 0, 1)
    assert told["shown"][0]["first"][1] == {
        "role": "user", "speaker": "张三", "time": "2026-03-02T01:01:00Z", "text": "我搬到杭州了",
    }  # fmt: skip
    assert told["problems"] == [{"where": "line 3", "reason": "a date must begin with its year"}]


async def test_json_has_the_same_preview(http: httpx.AsyncClient) -> None:
    items = [{"text": "I moved to Bonn."}, {"text": ""}]
    answer = await http.post("/memory/import", json={"user_id": 1001, "conversations": items, "preview": True})
    assert answer.status_code == 200
    assert (answer.json()["conversations"], answer.json()["problems"][0]["where"]) == (1, "conversations.1")


async def test_what_is_refused_is_not_counted(http: httpx.AsyncClient) -> None:
    told = await upload(http, '{"text": "a"}\n{"text": "\\ud83d", "speaker": "Ann", "time": "2026-03-02T09:00:00"}')
    assert (told["conversations"], told["messages"], told["refused"]) == (1, 1, 1)
    assert [(voice.get("speaker"), voice["messages"]) for voice in told["voices"]] == [(None, 1)]
    assert ([one["where"] for one in told["shown"]], told.get("since")) == (["line 1"], None)


async def test_without_preview_it_is_sent(http: httpx.AsyncClient) -> None:
    for preview in ({"preview": "false"}, {"preview": "0", "async": "false"}):
        await upload(http, LOG, PASSED, **preview)


REFUSED: list[tuple[str | bytes, dict[str, Any], int, str, str]] = [
    ("2026-03-02 09:00 张三：我搬到杭州了".encode("gb18030"), {}, 422, "unreadable-file", "iconv -f gb18030 -t utf-8"),
    (LOG.encode("utf-16"), {}, 422, "unreadable-file", "UTF-8"),
    (LOG, {"format": "chatgpt", "preview": "false"}, 422, "unreadable-file", "format"),
    ("[" * 100_000, {"format": "langchain", "preview": "false"}, 422, "unreadable-file", "nested too deeply"),
    ("", {"preview": "false"}, 422, "unreadable-file", "format"),
    ("\x00" * 1000, {"preview": "false"}, 422, "unreadable-file", "format"),
    ('{"text": "a"}\n' * 50_001, {}, 413, "too-large", "at most"),
    (LOG, {"user_id": ""}, 422, "invalid-request", "user_id"),
    (LOG, {"user_id": "*"}, 422, "invalid-request", "user_id"),
    (LOG, {"namespace": "other"}, 403, "forbidden-namespace", "namespace"),
    (LOG, {"format": "whatsapp"}, 422, "invalid-request", "format"),
    (LOG, {"timezone": "Mars/Base"}, 422, "invalid-request", "timezone"),
    (LOG, {"preview": "perhaps"}, 422, "invalid-request", "preview"),
    (LOG, {"prewiew": "true"}, 422, "invalid-request", "prewiew"),
    (LOG, {"user_id": "u" * 70_000}, 400, "not-a-form", "curl -F"),
    (LOG, {"user_id": ["a", "b"]}, 400, "repeated-parameter", "once"),
]


@pytest.mark.parametrize(("content", "fields", "status", "kind", "named"), REFUSED, ids=range(len(REFUSED)))
async def test_what_can_not_be_used_says_what_to_do(
    http: httpx.AsyncClient, content: str | bytes, fields: dict[str, Any], status: int, kind: str, named: str
) -> None:
    told = await upload(http, content, status, **fields)
    assert told["type"] == f"urn:memstream:problem:{kind}"
    assert named in told["detail"] + json.dumps(told.get("errors", []))
    assert "Bonn" not in json.dumps(told)


async def test_a_task_has_its_limit(http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "MOST_CONVERSATIONS", 1)
    told = await upload(http, '{"text": "a"}\n{"text": "b"}\n', 422)
    assert "more than 1 conversations, the most of a task: split the file" in told["detail"]


HEAD = {"Content-Type": "multipart/form-data; boundary=b"}
FIELD = b'--b\r\nContent-Disposition: form-data; name="user_id"\r\n\r\n'
PART = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n{"text": "a"}\r\n'


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", HEAD),
        (b"not a form", HEAD),
        (PART, HEAD),
        (PART + PART + b"--b--\r\n", HEAD),
        (PART.replace(b'name="file"; ', b"") + b"--b--\r\n", HEAD),
        (b"--b\r\n" + b"a: b\r\n" * 10_000, HEAD),
        (PART + b"--b--\r\n", {"Content-Type": "multipart/form-data"}),
        (PART + FIELD + "张三".encode("gb18030") + b"\r\n--b--\r\n", HEAD),
    ],
    ids=["empty", "other text", "without an end", "two files", "nameless", "headers", "no boundary", "not UTF-8"],
)
async def test_what_is_no_form(http: httpx.AsyncClient, body: bytes, headers: dict[str, str]) -> None:
    answer = await http.post("/memory/import", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.json()["type"].split(":")[-1] in ("not-a-form", "not-utf-8", "invalid-request")


async def test_only_an_import_takes_a_form(http: httpx.AsyncClient) -> None:
    for path, kind in (("query", "multipart/form-data; boundary=b"), ("import", "application/x-www-form-urlencoded")):
        answer = await http.post(f"/memory/{path}", content=PART + b"--b--\r\n", headers={"Content-Type": kind})
        assert answer.status_code == 415
        assert ("multipart/form-data" in answer.json()["detail"]) == (path == "import")


async def test_a_file_may_be_larger_than_other_bodies(http: httpx.AsyncClient) -> None:
    line = "2026-03-02 09:00 Ann: I moved to Bonn.\n"
    assert (await upload(http, line * (LIMIT // len(line) - 100)))["messages"] > 4_000
    assert "at most" in (await upload(http, line * (LIMIT // len(line) + 1), 413))["detail"]
    answer = await http.post("/memory/import", json={"user_id": "1", "conversations": [{"text": "x" * 11_000}]})
    assert answer.status_code == 413


async def test_whoever_sends_slowly_keeps_nobody_else_from_sending(http: httpx.AsyncClient) -> None:
    begun, go = 0, asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        nonlocal begun
        begun += 1
        yield PART
        await go.wait()
        yield b'--b\r\nContent-Disposition: form-data; name="user_id"\r\n\r\n1\r\n--b--\r\n'

    async def sending() -> httpx.Response:
        return await http.post("/memory/import", content=slow(), headers=HEAD)

    async def all_begun() -> bool:
        return begun == MOST_UPLOADS

    senders = [asyncio.create_task(sending()) for _ in range(MOST_UPLOADS)]
    await eventually(all_begun, every=0.01)
    refused = await http.post("/memory/import", content=PART, headers=HEAD)
    assert (refused.status_code, "Retry-After" in refused.headers) == (429, True)
    assert (await http.post("/memory/query", json={"user_id": "u", "query": "q"})).status_code == PASSED
    go.set()
    assert [answer.status_code for answer in await asyncio.gather(*senders)] == [PASSED] * MOST_UPLOADS
    await upload(http, LOG)
