"""How fast a store is: `python -m bench.store [--memories N] [--tenants N] [--url URL | --path DIR] [--json]`.

Fills an empty store with synthetic memories (clustered unit vectors, sparse vectors of Zipf-distributed words, sessions
of 50 turns; one tenant holds 20 %), opens it again and asks. Without `--url` it is the embedded store, in a temporary
directory unless `--path` names one. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bench.contract import report
from schemas import Layer, MemoryRecord, MemoryStatus, Tenant
from streams.adapters.store import Store, make_store
from streams.ports import ModelProfile, SparseVector, StoredMemory, Vectors, Where

BATCH = 32
SESSION = 50
CLUSTERS = 200
WORDS = 30_000
ROUNDS = 200
START = datetime(2026, 1, 1, tzinfo=UTC)
SEARCHED = Where(statuses=(MemoryStatus.ACTIVE,))


class Synthetic:
    """Memories by number; every fifth is the heavy tenant's (number 0)."""

    def __init__(self, dimension: int, tenants: int) -> None:
        self._random = np.random.default_rng(7)
        self._centres = self._random.normal(size=(CLUSTERS, dimension)).astype(np.float32)
        self._dimension = dimension
        self.tenants = [Tenant(namespace="bench", user_id=f"user-{number}") for number in range(tenants)]
        self._turns = [0] * tenants

    def owner(self, number: int) -> int:
        return 0 if number % 5 == 0 or len(self.tenants) == 1 else 1 + number % (len(self.tenants) - 1)

    def vector(self) -> Vectors:
        noise = self._random.normal(size=self._dimension, scale=0.6)
        vector = self._centres[self._random.integers(CLUSTERS)] + noise
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def words(self) -> SparseVector:
        ids = np.unique(self._random.zipf(1.3, size=14) % WORDS)
        return SparseVector(tuple(ids.tolist()), tuple(self._random.uniform(0.5, 2, ids.size).tolist()))

    def memory(self, number: int) -> StoredMemory:
        owner = self.owner(number)
        turn = self._turns[owner]
        self._turns[owner] += 1
        tenant = self.tenants[owner]
        at = START + timedelta(minutes=turn)
        record = MemoryRecord(
            memory_id=f"mem_{self._random.bytes(16).hex()}",
            namespace=tenant.namespace,
            user_id=tenant.user_id,
            layer=Layer.EPISODE,
            memory_type="episode",
            content=f"Turn {turn}: we talked about the interface of project A and when it has to be ready.",
            tags=("work", f"tag-{number % 50}"),
            entities=(f"Project {number % 100}",),
            session_id=f"session-{turn // SESSION}",
            sequence=int(at.timestamp() * 1e6),
            occurred_at=at,
            created_at=at,
            last_access_time=at,
            sources=[{"event_id": f"event-{number}", "end": 80}],
            shard=owner % 64,
        )
        return StoredMemory(record, self.vector(), self.words())


async def timed(rounds: int, call: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """p50 and p95 in milliseconds, after one call that does not count."""
    await call()
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        await call()
        took.append((time.perf_counter() - began) * 1e3)
    return float(np.percentile(took, 50)), float(np.percentile(took, 95))


def resident_mb() -> float:
    """Of this process (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def fill(store: Store, synthetic: Synthetic, memories: int) -> dict[str, float]:
    waited, slowest = 0.0, 0.0
    for first in range(0, memories, BATCH):
        by_owner: dict[int, list[StoredMemory]] = {}
        for number in range(first, min(first + BATCH, memories)):
            by_owner.setdefault(synthetic.owner(number), []).append(synthetic.memory(number))
        for owner, batch in by_owner.items():
            began = time.perf_counter()
            await store.upsert(synthetic.tenants[owner], batch)
            took = time.perf_counter() - began
            waited, slowest = waited + took, max(slowest, took)
    began = time.perf_counter()
    await store.flush()
    return {
        "fill_per_s": memories / waited,
        "upsert_max_ms": slowest * 1e3,
        "flush_ms": (time.perf_counter() - began) * 1e3,
    }


async def ask(store: Store, synthetic: Synthetic, owners: Sequence[int], name: str) -> dict[str, float]:
    """Search, near and neighbours, each call for the next of `owners`, and a question that was not asked before."""
    turn: Iterator[int] = iter(range(10**9))
    anchors: dict[int, list[list[MemoryRecord]]] = {}
    random = np.random.default_rng(1)
    for owner in set(owners):
        records, _ = await store.find(synthetic.tenants[owner], Where(), limit=20_000)
        anchors[owner] = [[records[at] for at in random.integers(len(records), size=40)] for _ in range(ROUNDS + 2)]

    def next_owner() -> tuple[int, int, Tenant]:
        at = next(turn)
        owner = owners[at % len(owners)]
        return at, owner, synthetic.tenants[owner]

    async def search() -> None:
        _, _, tenant = next_owner()
        await store.search(tenant, synthetic.vector(), synthetic.words(), where=SEARCHED, limit=20)

    async def near() -> None:
        _, _, tenant = next_owner()
        rows = np.stack([synthetic.vector() for _ in range(3)])
        await store.near(tenant, rows, threshold=0.85, where=Where())

    async def neighbours() -> None:
        at, owner, tenant = next_owner()
        await store.neighbours(tenant, anchors[owner][at % (ROUNDS + 2)], before=2, after=2)

    figures: dict[str, float] = {}
    for label, call in (("search", search), ("near3", near), ("neighbours40", neighbours)):
        figures[f"{label}_{name}_p50"], figures[f"{label}_{name}_p95"] = await timed(ROUNDS, call)
    first = anchors[owners[0]][0]
    tenant = synthetic.tenants[owners[0]]
    figures[f"neighbours40_{name}_again_p50"], _ = await timed(
        ROUNDS, lambda: store.neighbours(tenant, first, before=2, after=2)
    )
    return figures


async def run(options: argparse.Namespace, path: Path | None) -> dict[str, Any]:
    profile = ModelProfile(name="bench", dimension=options.dimension)

    def make() -> Store:
        return make_store(options.url, path, profile)

    synthetic = Synthetic(options.dimension, options.tenants)
    began = time.perf_counter()
    store = make()
    await store.open()
    figures: dict[str, Any] = {"create_ms": (time.perf_counter() - began) * 1e3}
    figures |= await fill(store, synthetic, options.memories)
    await store.close()
    store = make()
    began = time.perf_counter()
    await store.open()
    figures["reopen_ms"] = (time.perf_counter() - began) * 1e3
    # Before the bench keeps questions of its own; mapped files that were read count as well.
    figures["resident_opened_mb"] = resident_mb()
    light = list(range(1, options.tenants)) or [0]
    figures |= await ask(store, synthetic, light, "light")
    figures |= await ask(store, synthetic, [0], "heavy")
    figures["count"] = await store.count()
    await store.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.store", description="How fast a store is.")
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--tenants", type=int, default=200)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--url", help="a Qdrant server without collections of memstream")
    parser.add_argument("--path", type=Path, help="a directory that is empty or missing")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    options = parser.parse_args()
    if options.memories < 1 or options.tenants < 1:
        parser.error("--memories and --tenants must be at least 1")
    with tempfile.TemporaryDirectory(prefix="bench-store-") as folder:
        path = None if options.url else options.path or Path(folder) / "store"
        if path is not None and path.exists() and any(path.iterdir()):
            parser.error(f"{path} is not empty")
        figures = asyncio.run(run(options, path))
    report("store", options.memories, {"tenants": options.tenants, **figures}, as_json=options.json)


if __name__ == "__main__":
    main()
