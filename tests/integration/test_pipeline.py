"""The whole path with one worker: published, remembered, recalled."""

from __future__ import annotations

import pytest

from streams.adapters.kafka_broker import EmbeddedKafka
from tests.harness import Pipeline, end_state, pipeline


@pytest.fixture
async def line(kafka: EmbeddedKafka, topic_prefix: str):
    async with pipeline(kafka.bootstrap, topic_prefix, embedder="constant") as made:
        yield made


def chat(event_id: str, text: str, user: str = "u1", **fields: object) -> dict[str, object]:
    return {
        "event_id": event_id,
        "namespace": "shop",
        "user_id": user,
        "session_id": "s",
        "occurred_at": "2026-03-02T09:00:00Z",
        "messages": [{"text": text}],
        **fields,
    }


async def test_what_was_said_is_remembered_and_recalled(line: Pipeline) -> None:
    await line.worker().start()
    async with line.client(namespace="shop") as memory:
        stored = await memory.publish_and_wait(chat("e1", "I always take the window seat on trains."), deadline=30)
        assert stored.outcome == "stored"
        assert [m.content for m in stored.memories if m.layer == "episode"] == [
            "I always take the window seat on trains."
        ]
        again = await memory.publish_and_wait(chat("e1", "I always take the window seat on trains."), deadline=30)
        assert again.outcome == "duplicate"
        small = await memory.publish_and_wait(chat("e2", "hi there!"), deadline=30)
        assert (small.outcome, small.memories) == ("skipped", ())
        found = await memory.recall("Which seat on trains?", user_id="u1")
        assert "window seat" in found.memories[0].memory.content
        other = await memory.recall("Which seat on trains?", user_id="u2")
        assert other.memories == ()
        assert {r.event_id: r.outcome for r in (await line.receipts()).values()} == {"e1": "stored", "e2": "skipped"}


async def test_records_and_store_agree(line: Pipeline) -> None:
    await line.worker().start()
    events = [chat(f"e{i}", f"My colleague number {i} lives in city {i}.", user=f"u{i % 5}") for i in range(50)]
    await line.publish(events)
    await line.all_received([f"e{i}" for i in range(50)])
    await line.drained()
    state = await end_state(line)
    assert len(state["store"]) >= 50
    assert state["records"] == state["store"]
