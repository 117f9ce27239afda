"""Recall over HTTP beside recall over the topics, many callers at once: python -m bench.http_recall --callers 200

A broker, a worker with the stages and a gateway of their own, the constant embedder (the model is not the question).
The same questions by both doors in turn, alone and beside as many slow clients that never finish their bodies.
Milliseconds, seen by the caller.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import psutil

from bench.rig import Ask, machine, percentile, timed
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.settings import Settings
from tests.harness import Pipeline, free_port, pipeline

USERS = 100
FACTS = ("I always take the window seat on trains.", "My sister Anna lives in Oslo.", "I am allergic to peanuts.")
QUESTION = "Which seat on trains?"


async def load(callers: int, each: int, topics: Ask, http: Ask) -> dict[str, Any]:
    doors, seconds = await timed(callers, each, topics, http)
    p95 = [percentile(taken, 0.95) for taken in doors]
    return {
        **{
            name: {"p50": round(percentile(taken, 0.5), 1), "p95": round(worst, 1)}
            for name, taken, worst in zip(("topics", "http"), doors, p95, strict=True)
        },
        "p95_http_by_topics": round(p95[1] / p95[0], 2),
        "per_second": round(sum(map(len, doors)) / seconds, 1),
    }


@contextlib.asynccontextmanager
async def slow_clients(count: int, port: int, *, every: float | None) -> AsyncIterator[None]:
    """Connections in the middle of a body, to which they add a byte every so many seconds, or nothing any more."""
    made = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
    head = b"POST /memory/query HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{"
    for _, writer in made:
        writer.write(head)

    async def trickle() -> None:
        while every is not None:
            for _, writer in made:
                writer.write(b" ")
            await asyncio.sleep(every)

    trickling = asyncio.create_task(trickle())
    try:
        yield
    finally:
        trickling.cancel()
        for _, writer in made:
            writer.close()


@contextlib.asynccontextmanager
async def uploads(port: int) -> AsyncIterator[None]:
    """One client that has the largest file previewed again and again."""
    line = "2026-03-02 09:00 Alice: I moved to Bonn and live by the river.\n"
    file = (line * (Settings.model_fields["http_max_upload_bytes"].default // len(line) - 10)).encode()

    async def again() -> None:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as http:
            while True:
                form = aiohttp.FormData({"user_id": "1", "preview": "true"})
                form.add_field("file", file, filename="chat.txt")
                async with http.post("/memory/import", data=form) as answer:
                    assert answer.status == 200, await answer.text()

    uploading = asyncio.create_task(again())
    try:
        yield
        if uploading.done():
            await uploading  # it failed: nothing was measured
    finally:
        uploading.cancel()


async def measure(line: Pipeline, callers: int, each: int, rounds: int) -> dict[str, Any]:
    await line.worker(roles="redact,extract,memory,recall").start()
    gateway = line.worker(roles="http")
    await gateway.start()
    assert gateway.process is not None
    process = psutil.Process(gateway.process.pid)
    await line.publish(
        {"event_id": f"{user}/{n}", "namespace": "default", "user_id": f"u{user}", "messages": [{"text": text}]}
        for user in range(USERS)
        for n, text in enumerate(FACTS)
    )
    await line.drained()
    port = line.settings.http_port
    found: dict[str, list[dict[str, Any]]] = {}
    async with (
        line.client(namespace="default", deadline=60) as client,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}", connector=aiohttp.TCPConnector(limit=callers)) as http,
    ):

        async def by_topics(number: int) -> None:
            reply = await client.recall(QUESTION, user_id=f"u{number % USERS}")
            assert reply.memories

        async def by_http(number: int) -> None:
            body = {"user_id": f"u{number % USERS}", "query": QUESTION}
            async with http.post("/memory/query", json=body) as answer:
                assert (await answer.json()).get("memories"), await answer.text()

        await timed(callers, 1, by_topics, by_http)  # connections, caches
        for _ in range(rounds):
            for name, others in (
                ("alone", contextlib.nullcontext()),
                ("beside stalled clients", slow_clients(callers, port, every=None)),
                ("beside trickling clients", slow_clients(callers, port, every=0.5)),
                ("beside an upload", uploads(port)),
            ):
                async with others:
                    before = process.cpu_times()
                    told = await load(callers, each, by_topics, by_http)
                    after = process.cpu_times()
                spent = after.user + after.system - before.user - before.system
                told["gateway_cpu_ms_per_request"] = round(spent * 1000 / (callers * each), 2)
                found.setdefault(name, []).append(told)
    return found


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callers", type=int, default=200)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="memstream-bench-") as folder:
        broker = EmbeddedKafka(Path(folder) / "kafka", None)
        await broker.start()
        try:
            # Slow clients stay for the whole run, and nobody waits for a place.
            patient: dict[str, Any] = {"http_body_seconds": 600, "http_deadline_seconds": 60}
            wide: dict[str, Any] = {"http_max_in_flight": options.callers + 1, "recall_concurrency": options.callers}
            async with pipeline(
                broker.bootstrap, "bench.", http_port=free_port(), http_auth="off", **patient, **wide
            ) as line:
                found = await measure(line, options.callers, options.each, options.rounds)
        finally:
            await broker.stop()
    print(json.dumps({"callers": options.callers, **machine(), **found}, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
