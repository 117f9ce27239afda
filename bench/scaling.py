"""One worker beside two on a shared store: python -m bench.scaling --json

A broker and a store server of their own (the tests' server: the embedded engine behind the part of Qdrant's REST API
that we use). In turns, for 1 and for 2 workers with all roles: events of many tenants, counted between the first and
the last receipt by the broker's clock; then questions, by one caller and by several at once, milliseconds seen by the
caller. `ms_each`: time of a core for an event, all workers together, and the store's beside it, which depends little on
what else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections import defaultdict
from pathlib import Path

import psutil

from bench.imports import spent
from bench.ingest import receipts
from bench.recall_latency import events, question
from bench.rig import machine, percentile, show, spread, timed
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.agents.writer import CHECK_SECONDS
from tests.harness import Pipeline, pipeline

WORKERS = (1, 2)


async def ingest(line: Pipeline, workers: int, count: int, tenants: int) -> dict[str, float]:
    """Events a second, and what they cost."""
    made = [line.worker() for _ in range(workers)]
    await asyncio.gather(*(worker.start() for worker in made))
    store, *running = [psutil.Process(one.process.pid) for one in line.processes if one.process is not None]
    if workers > 1:
        # After partitions have moved each step is derived twice for a while; that is no part of every day.
        await asyncio.sleep(CHECK_SECONDS)
    before = [spent(one) for one in (store, *running)]
    await line.publish(events(count, tenants))
    rate = await receipts(line.settings, count)
    cost = [(spent(one) - was) * 1000 / count for one, was in zip((store, *running), before, strict=True)]
    return {"events_per_second": rate.events, "worker_ms_each": sum(cost[1:]), "store_ms_each": cost[0]}


async def recall(line: Pipeline, questions: int, tenants: int, callers: int) -> dict[str, float]:
    rng = random.Random(11)
    asked = [question(rng, number) for number in range(questions)]
    async with line.client(namespace="bench", deadline=60) as client:

        async def ask(number: int) -> None:
            await client.recall(asked[number % questions], user_id=f"u{number % tenants}", reinforce=False)

        (alone,), _ = await timed(1, questions, ask)
        (together,), seconds = await timed(callers, max(1, questions // callers), ask)
    return {
        "recall_p50_ms": percentile(alone, 0.5),
        "recall_p95_ms": percentile(alone, 0.95),
        f"recalls_per_second_of_{callers}": len(together) / seconds,
    }


async def measure(options: argparse.Namespace) -> dict[str, object]:
    before = machine()
    figures: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="memstream-bench-") as folder:
        broker = EmbeddedKafka(Path(folder) / "kafka")
        await broker.start()
        try:
            for turn in range(options.rounds):
                for workers in WORKERS if turn % 2 else reversed(WORKERS):
                    prefix = f"bench.{turn}.{workers}."
                    async with pipeline(
                        broker.bootstrap, prefix, partitions=8, shared_store=True, embedder=options.embedder
                    ) as line:
                        found = await ingest(line, workers, options.events, options.tenants)
                        found |= await recall(line, options.questions, options.tenants, options.callers)
                    for name, value in found.items():
                        figures[f"{workers}_{name}"].append(value)
        finally:
            await broker.kill()
    names = [name.removeprefix("1_") for name in figures if name.startswith("1_")]
    pairs = {name: zip(figures[f"2_{name}"], figures[f"1_{name}"], strict=True) for name in names}
    ratios = {f"two_to_one_{name}": spread([two / one for two, one in pair]) for name, pair in pairs.items()}
    settings = {"n": options.events, "tenants": options.tenants, "rounds": options.rounds, "embedder": options.embedder}
    load_after = {"load_after": machine()["load_before"]}
    return {**settings, **before, **load_after, **{name: spread(f) for name, f in figures.items()}, **ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--tenants", type=int, default=200)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--embedder", default="constant")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    figures = asyncio.run(measure(options))
    show(figures, as_json=options.as_json)


if __name__ == "__main__":
    main()
