"""What the speed benches share: a broker and a worker process of their own, measured figures, the machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.settings import Settings, load_settings
from streams.topics import ensure_topics

READY_SECONDS = 120


def machine() -> dict[str, object]:
    return {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 1),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """By rank, of at least one value."""
    return sorted(values)[min(len(values) - 1, round(share * (len(values) - 1)))]


def spread(values: Sequence[float]) -> dict[str, float]:
    return {"min": round(min(values), 2), "median": round(statistics.median(values), 2), "max": round(max(values), 2)}


def show(figures: Mapping[str, object], *, as_json: bool) -> None:
    """On stdout: one JSON object, or a line for each figure."""
    if as_json:
        print(json.dumps(figures))
        return
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:{width}} {value}")


Ask = Callable[[int], Awaitable[object]]


async def timed(callers: int, each: int, *asks: Ask) -> tuple[list[list[float]], float]:
    """Milliseconds of every call, a list for each of `asks`, and the seconds of all together.

    `callers` tasks call each of `asks` in turn, `each` times, with a number that says which question: whatever else the
    machine does meets all alike.
    """
    spent: list[list[float]] = [[] for _ in asks]

    async def caller(number: int) -> None:
        # Half of them begin at the other end.
        order = list(zip(asks, spent, strict=True))[:: -1 if number % 2 else 1]
        for turn in range(each):
            for ask, taken in order:
                started = time.perf_counter()
                await ask(number + turn)
                taken.append((time.perf_counter() - started) * 1000)

    started = time.perf_counter()
    await asyncio.gather(*(caller(number) for number in range(callers)))
    return spent, time.perf_counter() - started


@dataclass
class Rig:
    settings: Settings
    folder: Path
    environment: dict[str, str]

    @contextlib.asynccontextmanager
    async def worker(self, command: Sequence[str] = ("-m", "bench.rig_worker")) -> AsyncIterator[subprocess.Popen[str]]:
        """A worker process that has its partitions; stopped at the end."""
        log = (self.folder / "worker.log").open("a")
        process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if "ready" not in line:
                raise RuntimeError(f"the worker did not start: {(self.folder / 'worker.log').read_text()[-2000:]}")
            yield process
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            log.close()


@contextlib.asynccontextmanager
async def rig(prefix: str, **settings: object) -> AsyncIterator[Rig]:
    """Topics on an embedded broker of the bench's own; everything is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="memstream-bench-") as temporary:
        folder = Path(temporary)
        broker = EmbeddedKafka(folder / "kafka")
        await broker.start()
        try:
            chosen: dict[str, object] = {"metrics_port": 0, "data_dir": folder / "data", **settings}
            chosen |= {"kafka_bootstrap": broker.bootstrap, "topic_prefix": prefix}
            made = load_settings(**chosen)
            await ensure_topics(made)
            yield Rig(made, folder, {f"MEMSTREAM_{name.upper()}": str(value) for name, value in chosen.items()})
        finally:
            await broker.kill()
