"""One recall, from request to reply, over the ports only."""

from __future__ import annotations

import time
from datetime import datetime

from schemas import MemoryRecord, MemoryStatus, RecalledMemory, RecallReply, RecallRequest, Tenant
from streams.errors import DependencyDown
from streams.memory.lexical import sparse_query
from streams.memory.ranking.weights import DEFAULT, Weights
from streams.ports import Embedder, ModelProfile, Vectors, VectorStore, Where

DAY_SECONDS = 86_400.0


def _recency(record: MemoryRecord, now: datetime, weights: Weights) -> float:
    seen = record.last_access_time or record.occurred_at
    return 1 / (1 + weights.recency_per_day * max(0.0, (now - seen).total_seconds() / DAY_SECONDS))


async def recall(
    request: RecallRequest,
    tenant: Tenant,
    *,
    store: VectorStore,
    embedder: Embedder,
    now: datetime,
    profile: ModelProfile,
    weights: Weights = DEFAULT,
) -> RecallReply:
    """The memories of one tenant that answer the request, best first; empty when none does.

    Raises `DependencyDown("store")`. A model that is down only degrades the reply.
    """
    started = time.perf_counter()
    text = request.query or "\n".join(message.text for message in request.messages)
    degraded: list[str] = []
    dense: Vectors | None = None
    try:
        dense = await embedder.embed_query(text)
    except DependencyDown:
        degraded.append("dense")
    embedded = time.perf_counter()
    statuses = [MemoryStatus.ACTIVE] + ([MemoryStatus.SUPERSEDED] if request.include_superseded else [])
    where = Where(
        layers=request.layers,
        types=request.types,
        tags=request.tags,
        statuses=tuple(statuses),
        sessions=(request.session_id,) if request.session_id else (),
        since=request.since,
        until=request.until,
    )
    by_meaning, by_words = await store.search(tenant, dense, sparse_query(text), where=where, limit=weights.prefetch)
    scores: dict[str, float] = {}
    for hits in (by_meaning, by_words):
        for rank, hit in enumerate(hits):
            scores[hit.memory_id] = scores.get(hit.memory_id, 0.0) + 5.0 / (10 + rank)
    found = [
        RecalledMemory(
            memory=record,
            relevance=min(1.0, scores[record.memory_id]),
            score=weights.relevance * min(1.0, scores[record.memory_id])
            + weights.importance * record.importance / 5
            + weights.recency * _recency(record, now, weights),
        )
        for record in await store.get(tenant, list(scores))
    ]
    found.sort(key=lambda one: (-one.relevance, one.memory.memory_id))
    ended = time.perf_counter()
    return RecallReply(
        memories=tuple(found[: request.top_k]),
        degraded=tuple(degraded),
        timings_ms={"embed": 1000 * (embedded - started), "rest": 1000 * (ended - embedded)},
    )
