"""Recall over a request/reply topic: an answer or a typed error, for our client and for others'."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
from confluent_kafka import OFFSET_END, Consumer, Producer, TopicPartition

from schemas import ErrorReply, EventOutcome, RecallReply, RecallRequest
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.client import BadRequest, DeadlineExceeded, MemoryClient
from tests.harness import Pipeline, eventually, free_port, frozen, pipeline
from tests.integration.raw import Raw, RawHeaders, produce
from tests.misbehaving import Misbehaving, Step

SEAT = "I always take the window seat on trains."
Reply = tuple[list[tuple[str, bytes]], bytes]


class Elsewhere:
    """A service that knows the wire format and nothing of ours: librdkafka, JSON by hand."""

    def __init__(self, line: Pipeline) -> None:
        prefix, bootstrap = line.settings.topic_prefix, line.settings.kafka_bootstrap
        self.reply_topic = prefix + "replies.shared"
        self._requests = prefix + "recall.requests"
        self._producer = Producer({"bootstrap.servers": bootstrap, "partitioner": "murmur2_random"})
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False})
        self._consumer.assign([TopicPartition(self.reply_topic, 0, OFFSET_END)])
        self._consumer.poll(0)
        # The position is fixed once it is known: what is sent before would not be seen.
        end = self._consumer.get_watermark_offsets(TopicPartition(self.reply_topic, 0), timeout=30)[1]
        self._consumer.assign([TopicPartition(self.reply_topic, 0, end)])

    async def ask(self, value: dict[str, Any], headers: RawHeaders) -> None:
        self._producer.produce(self._requests, value=json.dumps(value).encode(), headers=list(headers))
        assert await asyncio.to_thread(self._producer.flush, 30) == 0

    async def replies(self, correlation: bytes, count: int = 1) -> list[Reply]:
        """The first `count` replies with these bytes as the value of a header."""
        return await asyncio.to_thread(self._replies, correlation, count)

    def _replies(self, correlation: bytes, count: int) -> list[Reply]:
        end = time.monotonic() + 60
        found: list[Reply] = []
        while len(found) < count:
            assert time.monotonic() < end, f"{len(found)} of {count} replies"
            message = self._consumer.poll(1)
            if message is not None and message.error() is None:
                headers = message.headers() or []
                if any(bytes_ == correlation for _, bytes_ in headers):
                    found.append((headers, message.value()))
        return found

    def close(self) -> None:
        self._consumer.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka) -> AsyncIterator[Pipeline]:
    port = free_port()
    async with pipeline(kafka.bootstrap, "ask.", partitions=2, metrics_port=port) as made:
        await made.worker().start()
        async with made.client(namespace="shop", deadline=60) as memory:
            await memory.publish_and_wait(event_id="e1", user_id="u1", session_id="s", text=SEAT)
            await memory.publish_and_wait(
                event_id="e2", user_id="u1", text="I live in Bonn.", occurred_at="2026-01-01T00:00:00Z"
            )
            await memory.publish_and_wait(
                event_id="e3", user_id="u1", text="I moved to Graz.", occurred_at="2026-02-01T00:00:00Z"
            )
        await made.drained()
        yield made


@pytest.fixture
async def memory(line: Pipeline) -> AsyncIterator[MemoryClient]:
    async with line.client(namespace="shop", deadline=30) as client:
        yield client


@pytest.fixture
async def elsewhere(line: Pipeline) -> AsyncIterator[Elsewhere]:
    client = await asyncio.to_thread(Elsewhere, line)
    yield client
    client.close()


async def counted(line: Pipeline, outcome: str) -> float:
    """How many requests ended so, by the worker's own metrics."""
    async with httpx.AsyncClient() as http:
        text = (await http.get(f"http://127.0.0.1:{line.settings.metrics_port}/metrics")).text
    rows = [row for row in text.splitlines() if row.startswith("memstream_recalls_total") and f'"{outcome}"' in row]
    return sum(float(row.rsplit(" ", 1)[1]) for row in rows)


async def one_more(line: Pipeline, outcome: str, before: float) -> None:
    async def more() -> bool:
        return await counted(line, outcome) == before + 1

    await eventually(more, what=f"one more request with outcome {outcome}")


def question(**fields: object) -> dict[str, Any]:
    return {"kind": "recall", "namespace": "shop", "user_id": "u1", "query": "Which seat on trains?", **fields}


# All kinds, by our client


async def test_every_kind_of_request(memory: MemoryClient) -> None:
    found = await memory.recall("Which seat on trains?", user_id="u1", explain=True)
    best = found.memories[0]
    assert best.memory.content == SEAT
    assert 0 < best.relevance <= 1
    assert best.parts
    everything = await memory.export(user_id="u1")
    assert {m.sources[0].event_id for m in everything} == {"e1", "e2", "e3"}
    cities = {m.value: m for m in everything if m.attribute and m.layer == "fact" and m.value in ("Bonn", "Graz")}
    assert {name: str(m.status) for name, m in cities.items()} == {"Bonn": "superseded", "Graz": "active"}
    assert {m.value for m in await memory.profile(user_id="u1")} >= {"Graz"}
    assert "Bonn" not in {m.value for m in await memory.profile(user_id="u1")}
    chain = await memory.history(cities["Graz"].memory_id, user_id="u1")
    assert [m.value for m in chain] == ["Bonn", "Graz"]
    wanted = [m.memory_id for m in reversed(everything)]
    assert [m.memory_id for m in await memory.get(*wanted, "mem_nobody", user_id="u1")] == wanted
    assert await memory.get(*wanted, user_id="u2") == []
    assert await memory.history(wanted[0], user_id="u2") == []
    assert (await memory.recall("Which seat on trains?", user_id="u2")).memories == ()


async def test_one_memory_explained(memory: MemoryClient) -> None:
    everything = {m.content: m for m in await memory.export(user_id="u1")}
    seat = everything[SEAT]
    answer = await memory.recall("Which seat on trains?", user_id="u1", explain=True)
    places = [found.memory.memory_id for found in answer.memories]
    told = await memory.explain(seat.memory_id, "Which seat on trains?", user_id="u1")
    assert (told.kind, told.kept_out) == ("explain", ())
    assert told.rank == places.index(seat.memory_id) + 1
    assert told.memories[0].parts
    assert told.memories[0].why
    bonn = next(m for m in everything.values() if m.value == "Bonn")
    out = await memory.explain(bonn.memory_id, "Where do I live?", user_id="u1")
    assert out.rank is None
    assert "another memory replaced it" in out.kept_out
    nobodys = await memory.explain(seat.memory_id, "Which seat on trains?", user_id="u2")
    assert (nobodys.memories, nobodys.rank, nobodys.kept_out) == ((), None, ("there is no such memory",))


async def test_the_links_of_a_memory(memory: MemoryClient) -> None:
    cities = {m.value: m for m in await memory.export(user_id="u1") if m.layer == "fact"}
    own, *linked = await memory.related(cities["Graz"].memory_id, user_id="u1")
    assert (own.memory.value, own.links) == ("Graz", ())
    links = {found.memory.memory_id: found.links for found in linked}
    assert "supersedes" in links[cities["Bonn"].memory_id]
    assert any("same_event" in found for found in links.values())
    assert await memory.related(cities["Graz"].memory_id, user_id="u2") == []


async def test_a_question_in_messages_and_an_answer_as_prompt(memory: MemoryClient) -> None:
    found = await memory.recall(
        messages=[{"role": "user", "text": "Which seat on trains?"}], user_id="u1", format="prompt"
    )
    assert found.prompt is not None
    assert "window seat" in found.prompt


async def test_what_became_of_an_event(memory: MemoryClient) -> None:
    fields: dict[str, Any] = {"event_id": "told", "user_id": "teller", "text": "My sister Ada plays the cello."}
    first = await memory.publish_and_wait(**fields)
    assert (first.outcome, first.event_id) == ("stored", "told")
    assert first.memories
    again = await memory.publish_and_wait(**fields)
    assert again.outcome == "duplicate"
    assert [m.memory_id for m in again.memories] == [m.memory_id for m in first.memories]
    other = await memory.publish_and_wait(**{**fields, "text": "My sister Ada plays the drums."})
    assert (other.outcome, other.stage, other.reason) == ("parked", "memory", "event_id_reused")
    parked = await memory.publish_and_wait(user_id="teller", text="x" * 32_001)
    assert (parked.outcome, parked.stage, parked.reason) == ("parked", "redact", "too_large")
    skipped = await memory.publish_and_wait(user_id="teller", text="thanks!")
    assert (skipped.outcome, skipped.stage, skipped.memories) == ("skipped", "extract", ())


# Deadlines


async def test_a_deadline_in_the_past_is_dropped_and_counted(line: Pipeline, elsewhere: Elsewhere) -> None:
    before = await counted(line, "past_deadline")
    late, mark = datetime.now(UTC) - timedelta(seconds=5), uuid.uuid4().bytes
    await elsewhere.ask(
        question(deadline=late.isoformat()), [("reply_to", elsewhere.reply_topic.encode()), ("correlation_id", mark)]
    )
    await one_more(line, "past_deadline", before)
    # The next one is answered, and nothing came before it.
    await elsewhere.ask(question(), [("reply_to", elsewhere.reply_topic.encode()), ("correlation_id", mark)])
    ((_, value),) = await elsewhere.replies(mark)
    assert RecallReply.from_bytes(value).memories


async def test_no_worker_is_a_typed_error_in_time(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    async with pipeline(kafka.bootstrap, topic_prefix) as idle, idle.client(namespace="shop") as memory:
        with pytest.raises(DeadlineExceeded, match="role recall"):
            async with asyncio.timeout(30):
                await memory.recall("anybody there?", user_id="u1", deadline=0.5)
        with pytest.raises(DeadlineExceeded) as raised:
            async with asyncio.timeout(30):
                await memory.publish_and_wait(user_id="u1", text=SEAT, event_id="e", deadline=3)
        # It is there, and will be handled once a worker runs.
        assert raised.value.published
        assert [value async for _, value in idle.read("conversations")] != []


async def test_a_store_that_does_not_answer_is_a_typed_error_in_time(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    """In time: before the store goes on, which it does only then."""
    async with pipeline(kafka.bootstrap, topic_prefix, shared_store=True) as line:
        store = line.processes[0]
        await line.worker().start()
        async with line.client(namespace="shop", deadline=60) as memory:
            await memory.publish_and_wait(event_id="e1", user_id="u1", text=SEAT)
            with frozen([store]):
                with pytest.raises(DeadlineExceeded):
                    await memory.recall("Which seat on trains?", user_id="u1", deadline=1)
                with pytest.raises(DeadlineExceeded) as raised:
                    await memory.publish_and_wait(event_id="e2", user_id="u1", text=f"{SEAT} By day.", deadline=1)
                assert raised.value.published
            assert (await memory.recall("Which seat on trains?", user_id="u1")).memories
        await line.all_received(["e1", "e2"])


# What is refused


@pytest.mark.parametrize("topic", ["ask.records", "ask.replies.", "replies.shared", "ask.replies.a/b", "ask.replies.ä"])
async def test_a_reply_topic_that_is_not_one_is_refused(line: Pipeline, elsewhere: Elsewhere, topic: str) -> None:
    before = await counted(line, "refused_reply_topic")
    ends = [record async for record in line.records("records")]
    await elsewhere.ask(question(), [("reply_to", topic.encode()), ("correlation_id", b"x")])
    await one_more(line, "refused_reply_topic", before)
    assert len([record async for record in line.records("records")]) == len(ends)


async def test_no_reply_topic_at_all(line: Pipeline, elsewhere: Elsewhere) -> None:
    before = await counted(line, "refused_reply_topic")
    await elsewhere.ask(question(), [("correlation_id", b"x")])
    await one_more(line, "refused_reply_topic", before)


async def test_a_reply_topic_that_does_not_exist_holds_nobody_up(
    line: Pipeline, elsewhere: Elsewhere, memory: MemoryClient
) -> None:
    """More of them than requests may be in flight: each would take a place for as long as it waits."""
    places = line.settings.recall_concurrency
    for number in range(places + 10):
        await elsewhere.ask(question(), [("reply_to", f"ask.replies.gone{number % 7}".encode())])
    assert (await memory.recall("Which seat on trains?", user_id="u1")).memories


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "everybody": (question(user_id="*"), "bad_tenant"),
    "no user": (question(user_id=None), "bad_tenant"),
    "a list of users": (question(user_id=["u1", "u2"]), "bad_tenant"),
    "no question": (question(query=" "), "bad_schema"),
    "too many wanted": (question(top_k=1000), "bad_schema"),
    "an unknown kind": (question(kind="everything"), "bad_schema"),
    "an unknown version": (question(schema_version=9), "unknown_schema_version"),
    "NUL": (question(query="a\0b"), "nul_character"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_request_has_a_typed_answer(elsewhere: Elsewhere, name: str) -> None:
    request, reason = BAD[name]
    mark = uuid.uuid4().bytes
    await elsewhere.ask(request, [("reply_to", elsewhere.reply_topic.encode()), ("correlation_id", mark)])
    ((_, value),) = await elsewhere.replies(mark)
    error = ErrorReply.from_bytes(value)
    assert error.error == "bad_request"
    assert error.detail.startswith(reason)


async def test_a_request_for_somebody_else_under_ones_own_key(line: Pipeline, elsewhere: Elsewhere) -> None:
    mark = uuid.uuid4().bytes
    headers = [("reply_to", elsewhere.reply_topic.encode()), ("correlation_id", mark)]
    await produce(line, [Raw(json.dumps(question()).encode(), b"shop/u2", headers, topic="recall.requests")])
    ((_, value),) = await elsewhere.replies(mark)
    assert ErrorReply.from_bytes(value).detail == "key_mismatch"


async def test_our_client_raises_what_the_worker_answers(memory: MemoryClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client checks before it sends, so that a request has to be spoilt on its way."""
    spoil = RecallRequest.to_bytes
    monkeypatch.setattr(RecallRequest, "to_bytes", lambda self: spoil(self).replace(b'"top_k":5', b'"top_k":0'))
    with pytest.raises(BadRequest, match="top_k"):
        await memory.recall("Which seat on trains?", user_id="u1")


# Clients of others


def headers_of(reply: Reply) -> dict[str, bytes]:
    return dict(reply[0])


async def test_headers_as_spring_sends_them(elsewhere: Elsewhere) -> None:
    mark = bytes(range(200, 216))
    assert b"\x00" in (0).to_bytes(4, "big")
    await elsewhere.ask(
        question(),
        [
            ("kafka_replyTopic", elsewhere.reply_topic.encode()),
            ("kafka_correlationId", mark),
            ("kafka_replyPartition", (0).to_bytes(4, "big")),
        ],
    )
    (reply,) = await elsewhere.replies(mark)
    headers = headers_of(reply)
    assert headers["kafka_correlationId"] == mark
    assert "correlation_id" not in headers
    assert headers["content-type"] == b"application/json"
    assert headers["ce_type"] == b"memstream.reply.v1"
    assert RecallReply.from_bytes(reply[1]).memories[0].memory.content == SEAT


async def test_our_headers_from_librdkafka(elsewhere: Elsewhere) -> None:
    mark = b"\xff\x00 any bytes"
    await elsewhere.ask(question(), [("reply_to", elsewhere.reply_topic.encode()), ("correlation_id", mark)])
    (reply,) = await elsewhere.replies(mark)
    assert headers_of(reply)["correlation_id"] == mark
    assert RecallReply.from_bytes(reply[1]).memories[0].memory.content == SEAT


async def test_an_event_of_others_is_told_of_too(line: Pipeline, elsewhere: Elsewhere) -> None:
    mark = uuid.uuid4().bytes
    value = {"event_id": "spring", "namespace": "shop", "user_id": "java", "messages": [{"text": "I live in Lyon."}]}
    headers = [
        ("kafka_replyTopic", elsewhere.reply_topic.encode()),
        ("kafka_correlationId", mark),
        ("kafka_replyPartition", (0).to_bytes(4, "big")),
    ]
    await produce(line, [Raw(json.dumps(value).encode(), None, headers)])
    (reply,) = await elsewhere.replies(mark)
    assert EventOutcome.from_bytes(reply[1]).outcome == "stored"
    assert headers_of(reply)["kafka_correlationId"] == mark


async def test_a_partition_that_is_not_there_holds_nobody_up(
    line: Pipeline, elsewhere: Elsewhere, memory: MemoryClient
) -> None:
    for partition in (b"\x00\x00\x00\x07", b"\xff\xff\xff\xff", b"\x01"):
        await elsewhere.ask(
            question(),
            [("kafka_replyTopic", elsewhere.reply_topic.encode()), ("kafka_replyPartition", partition)],
        )
    assert (await memory.recall("Which seat on trains?", user_id="u1")).memories


async def test_a_large_export_comes_in_parts(elsewhere: Elsewhere, memory: MemoryClient) -> None:
    events: Sequence[dict[str, Any]] = [
        {
            "event_id": f"many {n}",
            "user_id": "many",
            "messages": [{"text": f"Room {n} of the mill is painted colour {n}."}],
        }
        for n in range(210)
    ]
    async for _ in memory.publish_many(events):
        pass

    async def all_there() -> bool:
        kept = await memory.export(user_id="many")
        return {m.sources[0].event_id for m in kept} == {str(event["event_id"]) for event in events}

    await eventually(all_there, every=0.5)
    mark = uuid.uuid4().bytes
    await elsewhere.ask(
        {"kind": "export", "namespace": "shop", "user_id": "many"},
        [("reply_to", elsewhere.reply_topic.encode()), ("correlation_id", mark)],
    )
    first = RecallReply.from_bytes((await elsewhere.replies(mark))[0][1])
    assert first.parts > 1


# One slow request


async def test_one_slow_request_holds_no_other(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    """Slow is the model: it hangs on one question of 200. The others do not wait for it."""
    async with (
        Misbehaving(dimension=1536) as model,
        pipeline(
            kafka.bootstrap,
            topic_prefix,
            embedder="openai:text-embedding-3-small",
            embedder_base_url=model.base_url,
            embedder_api_key="any",
        ) as line,
    ):
        await line.worker().start()
        async with line.client(namespace="shop", deadline=200) as memory:
            await memory.publish_and_wait(event_id="e1", user_id="u1", text=SEAT)
            seen = model.requests("embeddings")
            model.script("embeddings", Step("hang"))
            slow = asyncio.create_task(memory.recall("The window seat that hangs", user_id="u1", deadline=300))
            await model.reached("embeddings", seen + 1)
            ended: list[str] = []
            slow.add_done_callback(lambda _: ended.append("slow"))

            async def quick(number: int) -> RecallReply:
                answer = await memory.recall(f"Which seat on train {number}?", user_id="u1")
                ended.append("quick")
                return answer

            answers = await asyncio.gather(*(quick(number) for number in range(199)))
            # Behind the slow one, none would have ended before it.
            assert ended[0] == "quick"
            assert all(answer.memories for answer in answers)
            model.release()
            assert (await slow).memories
            # A model that hangs until the deadline costs what it would have added, not the answer.
            model.always("embeddings", Step("hang"))
            late = await memory.recall("window seat on which trains?", user_id="u1", deadline=10)
            assert late.memories
            assert late.degraded == ("dense",)
            model.release()
