"""The HTTP gateway in front of a real pipeline: each endpoint, what is retried, what is down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from schemas import Tenant
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.http.keys import VERBS, new_key, write_keys
from streams.topics import shard_of
from tests.harness import Pipeline, Process, eventually, free_port, pipeline
from tests.integration.raw import window_ends

pytestmark = pytest.mark.asyncio(loop_scope="module")
STREAMS = "redact,extract,memory,recall"
SEAT = "I always take the window seat on trains."
TRIP = "我下周三下午要去北京见客户，需要提前订高铁票，靠窗座位。"
# A phrase that nothing but a conversation holds.
SAID = "zebra crossing near the old mill"


class Line:
    """The stages in one process, the gateway in another, which has Kafka and nothing else."""

    def __init__(self, made: Pipeline, keys: dict[str, str]) -> None:
        self.pipeline = made
        self.stages: Process = made.worker(roles=STREAMS)
        self.gateway: Process = made.worker(roles="http")
        self.keys = keys

    def http(self, key: str = "shop") -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.pipeline.settings.http_port}",
            headers={"Authorization": f"Bearer {self.keys[key]}", "Prefer": "wait=60"},
            timeout=90,
            limits=httpx.Limits(max_connections=None),
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Line]:
    made = {
        "shop": new_key(name="shop", namespaces=["shop"], default_namespace="shop", verbs=VERBS),
        "lab": new_key(name="lab", namespaces=["lab", "shop2"], default_namespace="lab", verbs=VERBS),
    }
    file: Path = tmp_path_factory.mktemp("keys") / "keys.json"
    write_keys(file, tuple(key for _, key in made.values()))
    # Slow clients are waited for as long as a loaded machine takes to answer the others.
    options = {"http_port": free_port(), "http_keys_file": file, "http_body_seconds": 120}
    async with pipeline(kafka.bootstrap, "http.", partitions=2, **options) as running:
        line = Line(running, {name: token for name, (token, _) in made.items()})
        await line.stages.start()
        await line.gateway.start()
        yield line


@pytest_asyncio.fixture(loop_scope="module")
async def http(line: Line) -> AsyncIterator[httpx.AsyncClient]:
    async with line.http() as client:
        yield client


async def post(http: httpx.AsyncClient, verb: str, status: int = 200, **body: Any) -> dict[str, Any]:
    headers = {"Idempotency-Key": body.pop("key")} if "key" in body else {}
    answer = await http.post(f"/memory/{verb}", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def exported(http: httpx.AsyncClient, user_id: str) -> list[dict[str, Any]]:
    answer = await http.post("/memory/export", json={"user_id": user_id})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/jsonl")
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_what_is_written_is_told_and_found(http: httpx.AsyncClient) -> None:
    made = await post(
        http,
        "write",
        user_id="1001",
        namespace="shop",
        conversation=TRIP,
        importance_threshold=0.5,
        time="2026-03-02T09:00:00+08:00",
        timezone="Asia/Shanghai",
    )
    assert made["status"] == "stored"
    assert made["memory_id"] in {memory["memory_id"] for memory in made["memories"]}
    assert made["memory_id"].startswith("mem_")
    assert made["extracted"] == {
        "event": "我下周三下午要去北京见客户",
        "time": "下周三下午",
        "need": "需要提前订高铁票，靠窗座位",
    }
    fact = next(memory for memory in made["memories"] if memory["memory_id"] == made["memory_id"])
    assert fact["time"]["start"].startswith("2026-03-11T")
    for user_id in (1001, "1001"):
        found = await post(http, "query", user_id=user_id, query="客户下周要见面，我该怎么订高铁票？", explain=True)
        assert TRIP in [memory["content"] for memory in found["memories"]]
        assert found["memories"][0]["parts"]
    prompt = await post(http, "query", user_id=1001, query="客户下周要见面，我该怎么订高铁票？", format="prompt")
    assert "高铁票" in prompt["prompt"]
    assert (await post(http, "query", user_id="1002", query="我该怎么订高铁票？"))["memories"] == []


async def test_messages_have_speakers_and_times(http: httpx.AsyncClient) -> None:
    made = await post(
        http,
        "write",
        user_id="talk",
        session_id="chat-1",
        messages=[
            {"role": "user", "content": SEAT, "name": "Caroline", "time": "2026-03-02T09:00:00Z"},
            {"role": "assistant", "content": "Noted."},
        ],
    )
    assert {memory["session_id"] for memory in made["memories"]} == {"chat-1"}
    assert "Caroline" in {memory.get("speaker") for memory in made["memories"]}
    asked = {"user_id": "talk", "query": "Which seat on trains?"}
    assert (await post(http, "query", **asked, filters={"session_id": "chat-1"}))["memories"]
    assert not (await post(http, "query", **asked, filters={"session_id": "chat-2"}))["memories"]
    assert not (await post(http, "query", **asked, filters={"until": "2026-03-01T00:00:00Z"}))["memories"]


async def test_a_retry_is_a_duplicate(http: httpx.AsyncClient) -> None:
    body = {"user_id": "again", "conversation": SEAT, "key": "chat-7/12"}
    first, second = await post(http, "write", **body), await post(http, "write", **body)
    assert (first["status"], second["status"]) == ("stored", "duplicate")
    assert first["event_id"] == second["event_id"] == "chat-7/12"
    assert first["memory_id"] == second["memory_id"]
    assert len(await exported(http, "again")) == len(first["memories"])
    other = await post(http, "write", 422, user_id="again", conversation="I moved to Graz.", key="chat-7/12")
    assert other["type"].endswith("idempotency-key-reused")


async def test_small_talk_is_skipped_with_a_reason(http: httpx.AsyncClient) -> None:
    made = await post(http, "write", user_id="polite", conversation="Great, thanks!")
    assert (made["status"], made["reason"], made["memories"]) == ("skipped", "small_talk", [])
    assert "memory_id" not in made


async def test_what_is_too_long_is_refused(http: httpx.AsyncClient) -> None:
    refused = await post(http, "write", 413, user_id="long", conversation="a word " * 5000)
    assert "split" in refused["detail"]


async def test_not_waiting_is_queued(http: httpx.AsyncClient) -> None:
    made = await post(http, "write", 202, user_id="later", conversation=SEAT, wait=False)
    assert made["status"] == "queued"

    async def there() -> bool:
        return {m["sources"][0]["event_id"] for m in await exported(http, "later")} == {made["event_id"]}

    await eventually(there)


async def test_an_update_replaces_and_history_tells(http: httpx.AsyncClient) -> None:
    old = await post(http, "write", user_id="moved", conversation="I live in Bonn.", time="2026-01-01T00:00:00Z")
    new = await post(http, "update", user_id="moved", memory_id=old["memory_id"], content="I live in Graz.")
    assert new["status"] == "stored"

    async def settled() -> bool:
        answer = await http.get(f"/memory/history/{new['memory_id']}", params={"user_id": "moved"})
        facts = [memory for memory in answer.json()["memories"] if memory["layer"] == "fact"]
        chain = [(memory["value"], memory["status"]) for memory in facts]
        assert [value for value, _ in chain] == ["Bonn", "Graz"]
        return chain == [("Bonn", "superseded"), ("Graz", "active")]

    await eventually(settled)
    profile = (await http.get("/memory/profile", params={"user_id": "moved", "namespace": "shop"})).json()
    assert [memory["value"] for memories in profile["memories"].values() for memory in memories] == ["Graz"]
    for as_of, city in (({}, "Graz"), ({"as_of": "2026-02-01T00:00:00Z"}, "Bonn")):
        found = await post(http, "query", user_id="moved", query="The city that I live in", **as_of)
        assert [memory["value"] for memory in found["memories"] if memory["layer"] == "fact"] == [city]
    unknown = await http.get("/memory/history/mem_nobody", params={"user_id": "moved"})
    assert unknown.status_code == 404
    assert unknown.json()["type"].endswith("unknown-memory")
    for user_id, memory_id in (("moved", "mem_nobody"), ("elsewhere", old["memory_id"])):
        refused = await post(http, "update", 404, user_id=user_id, memory_id=memory_id, content="I live in Rome.")
        assert refused["type"].endswith("unknown-memory")


async def test_deleting_and_forgetting(http: httpx.AsyncClient) -> None:
    one = await post(http, "write", user_id="gone", session_id="s1", conversation=SEAT, key="g1")
    await post(http, "write", user_id="gone", session_id="s2", conversation="My sister Anna lives in Oslo.", key="g2")
    await post(http, "write", user_id="gone", session_id="s3", conversation="I am allergic to peanuts.", key="g3")
    ids = [memory["memory_id"] for memory in one["memories"]]
    assert (await post(http, "delete", user_id="elsewhere", memory_ids=ids))["removed"] in ({}, {"active": 0})
    erased = await post(http, "delete", user_id="gone", memory_ids=ids)
    assert erased["status"] == "erased"
    assert sum(erased["removed"].values()) == len(ids)
    assert "conversations" in json.dumps(erased["kept_until"])
    assert {m["session_id"] for m in await exported(http, "gone")} == {"s2", "s3"}
    await post(http, "delete", user_id="gone", filters={"session_id": "s2"})
    assert {m["session_id"] for m in await exported(http, "gone")} == {"s3"}
    assert (await post(http, "delete", user_id="gone", filters={"tags": ["nothing has it"]}))["removed"] == {}
    await post(http, "forget", user_id="gone", everything=True)
    assert await exported(http, "gone") == []
    await post(http, "write", user_id="gone", session_id="s1", conversation=SEAT, key="g1")
    assert await exported(http, "gone") == [], "a retry brings nothing back"


async def test_the_last_turns_stand_beside_the_memories(line: Line, http: httpx.AsyncClient) -> None:
    said = [("user", "I need a hotel in Graz near the opera."), ("assistant", "The Hotel Daniel in Graz is near it.")]
    for at, (role, content) in enumerate(said):
        turn = {"role": role, "content": content, "time": f"2026-03-02T09:0{at}:00Z"}
        await post(http, "write", user_id="turns", session_id="s1", messages=[turn], key=f"turn {at}")
    asked = {"user_id": "turns", "session_id": "s1"}
    told = (await http.get("/memory/turns", params=asked)).json()["turns"]
    assert [(turn["role"], turn["content"]) for turn in told] == said
    assert (await http.get("/memory/turns", params={**asked, "limit": 1})).json()["turns"] == told[1:]
    beside = await post(http, "query", user_id="turns", query="Which hotel?", turns_of="s1", turns=1, format="prompt")
    assert beside["turns"] == told[1:]
    assert "<turns>" in beside["prompt"]
    assert "turns" not in await post(http, "query", user_id="turns", query="Which hotel?")
    async with line.http("lab") as lab:
        assert (await lab.get("/memory/turns", params=asked)).json() == {"turns": []}
        assert (await lab.get("/memory/turns", params={**asked, "namespace": "shop"})).status_code == 403


async def test_restoring_says_what_is_unknown(http: httpx.AsyncClient) -> None:
    assert await post(http, "restore", user_id="moved", memory_ids=["mem_nobody"]) == {
        "status": "restored",
        "restored": [],
        "unknown": ["mem_nobody"],
    }


async def test_what_is_archived_comes_back(line: Line, http: httpx.AsyncClient) -> None:
    made = await post(http, "write", user_id="back", conversation=SEAT)
    ids = [memory["memory_id"] for memory in made["memories"]]
    shard = shard_of(Tenant(namespace="shop", user_id="back"))
    await window_ends(line.pipeline, datetime.now(UTC) + timedelta(days=200), [shard])

    async def archived() -> bool:
        return {memory["status"] for memory in await exported(http, "back")} == {"archived"}

    await eventually(archived)
    assert (await post(http, "query", user_id="back", query="Which seat on trains?"))["memories"] == []
    told = await post(http, "restore", user_id="back", memory_ids=ids)
    assert sorted(told["restored"]) == sorted(ids)
    assert {memory["status"] for memory in await exported(http, "back")} == {"active"}
    assert (await post(http, "query", user_id="back", query="Which seat on trains?"))["memories"]


async def test_a_large_export_is_whole(line: Line, http: httpx.AsyncClient) -> None:
    events = [{"event_id": f"m{n}", "namespace": "shop", "user_id": "many"} for n in range(210)]
    texts = ({"messages": [{"text": f"Room {n} of the mill is painted colour {n}."}]} for n in range(210))
    await line.pipeline.publish([{**event, **text} for event, text in zip(events, texts, strict=True)])

    async def whole() -> bool:
        return {m["sources"][0]["event_id"] for m in await exported(http, "many")} == {f"m{n}" for n in range(210)}

    await eventually(whole, every=0.5)


async def test_one_key_sees_nothing_of_another(line: Line, http: httpx.AsyncClient) -> None:
    await post(http, "write", user_id="same name", conversation=SEAT)
    async with line.http("lab") as lab:
        assert (await post(lab, "query", user_id="same name", query="Which seat on trains?"))["memories"] == []
        assert await exported(lab, "same name") == []
        refused = await post(lab, "query", 403, user_id="same name", namespace="shop", query="Which seat on trains?")
        assert refused["type"].endswith("forbidden-namespace")


async def test_two_hundred_callers_and_slow_ones_beside_them(line: Line, http: httpx.AsyncClient) -> None:
    callers, slow = 200, 20
    await post(http, "write", user_id="crowd", conversation=SEAT)
    body = json.dumps({"user_id": "crowd", "query": "Which seat on trains?"}).encode()
    head = (
        "POST /memory/query HTTP/1.1\r\nHost: gateway\r\nPrefer: wait=60\r\n"
        f"Authorization: Bearer {line.keys['shop']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    ).encode()
    connections = [await asyncio.open_connection("127.0.0.1", line.pipeline.settings.http_port) for _ in range(slow)]
    for _, writer in connections:
        writer.write(head + body[:-1])
    async with line.http() as crowd:
        asked = (crowd.post("/memory/query", json=json.loads(body)) for _ in range(callers))
        answers = await asyncio.gather(*asked)
    assert {answer.status_code for answer in answers} == {200}, {a.text for a in answers if a.status_code != 200}
    assert all(answer.json()["memories"][0]["content"] == SEAT for answer in answers)
    # Who was slow was waited for, and is answered as well.
    for reader, writer in connections:
        writer.write(body[-1:])
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]
        assert SEAT.encode() in answer
        writer.close()


async def test_no_text_and_no_user_is_logged(line: Line, http: httpx.AsyncClient) -> None:
    await post(http, "write", user_id="user-of-the-log", conversation=f"I live by the {SAID}.")
    await post(http, "query", user_id="user-of-the-log", query=SAID)
    await post(http, "query", 422, user_id="user-of-the-log", query=[SAID])
    await exported(http, "user-of-the-log")
    logged = line.gateway.log.read_text(encoding="utf-8")
    assert "HTTP on" in logged
    assert SAID not in logged
    assert "user-of-the-log" not in logged


async def test_while_the_stages_are_away(line: Line, http: httpx.AsyncClient) -> None:
    """Last: what is written is kept for them, what is asked gets an answer that says so, and nothing is lost."""
    assert (await http.get("/readyz")).status_code == 200
    line.stages.kill()
    hurry = {"Prefer": "wait=1"}
    late = await http.post("/memory/query", json={"user_id": "away", "query": SEAT}, headers=hurry)
    assert (late.status_code, late.json()["type"]) == (504, "urn:memstream:problem:deadline-exceeded")
    assert (await http.get("/memory/profile", params={"user_id": "away"}, headers=hurry)).status_code == 504
    kept = await http.post("/memory/write", json={"user_id": "away", "conversation": SEAT}, headers=hurry)
    assert (kept.status_code, kept.json()["status"]) == (202, "queued")
    await line.stages.start()

    async def found() -> bool:
        return bool((await post(http, "query", user_id="away", query="Which seat on trains?"))["memories"])

    await eventually(found)
    line.gateway.terminate()
    assert await line.gateway.gone() == 0
