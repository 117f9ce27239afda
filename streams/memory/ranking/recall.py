"""One recall, from request to reply, over the ports only."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from schemas import MemoryStatus, RecalledMemory, RecallReply, RecallRequest, Tenant
from streams.errors import DependencyDown, Refused
from streams.memory.lexical import sparse_terms
from streams.memory.prompt import prompt_block
from streams.memory.ranking.explain import reason
from streams.memory.ranking.query import Understanding, understand
from streams.memory.ranking.relevance import final_score, relevance, support
from streams.memory.ranking.score import Candidate, Judged, asked_persons, score, speakers_of
from streams.memory.ranking.select import hidden, select
from streams.memory.ranking.weights import DEFAULT, Weights
from streams.ports import Embedder, ModelProfile, SparseVector, StoredMemory, Vectors, VectorStore, Where

# Of the time that is left, what the model may take: the search and the reply need the rest.
EMBED_SHARE: Final = 0.6


@dataclass
class _Clock:
    """Milliseconds of each step."""

    started: float = field(default_factory=time.perf_counter)
    steps: dict[str, float] = field(default_factory=dict)

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.steps[step] = self.steps.get(step, 0.0) + 1000 * (now - self.started)
        self.started = now


def _where(request: RecallRequest) -> Where:
    statuses: tuple[MemoryStatus, ...] = (MemoryStatus.ACTIVE, MemoryStatus.ARCHIVED)
    if request.include_superseded or request.as_of is not None:
        statuses += (MemoryStatus.SUPERSEDED,)
    return Where(
        layers=request.layers,
        types=request.types,
        tags=request.tags,
        statuses=statuses,
        sessions=(request.session_id,) if request.session_id is not None else (),
        since=request.since,
        until=request.until,
    )


class _Search:
    """The candidates of one request: hits of the tenant, and the turns around each."""

    def __init__(self, store: VectorStore, tenant: Tenant, request: RecallRequest, weights: Weights) -> None:
        self._store = store
        self._tenant = tenant
        self._where = _where(request)
        self._archives = (False, True) if request.include_archived else (False,)
        self._weights = weights
        self._anchors: set[str] = set()
        self._found: dict[str, StoredMemory] = {}

    async def add(self, dense: Vectors | None, sparse: SparseVector | None) -> None:
        """Search by own text, then fetch what stands around the new hits."""
        new: dict[str, None] = {}
        for archive in self._archives:
            answers = await self._store.search(
                self._tenant, dense, sparse, where=self._where, limit=self._weights.prefetch, archive=archive
            )
            new |= dict.fromkeys(hit.memory_id for hits in answers for hit in hits)
        ids = [memory_id for memory_id in new if memory_id not in self._anchors]
        if not ids:
            return
        self._anchors.update(ids)
        hits = await self._store.get_with_vectors(self._tenant, ids)
        reach = self._weights.neighbours
        around = await self._store.neighbours(self._tenant, [hit.record for hit in hits], before=reach, after=reach)
        self._found |= {one.record.memory_id: one for one in (*around, *hits)}

    @property
    def candidates(self) -> list[Candidate]:
        return [Candidate(one, memory_id in self._anchors) for memory_id, one in self._found.items()]


async def recall(
    request: RecallRequest,
    tenant: Tenant,
    *,
    store: VectorStore,
    embedder: Embedder,
    now: datetime,
    profile: ModelProfile,
    weights: Weights = DEFAULT,
    budget_seconds: float | None = None,
) -> RecallReply:
    """The memories of one tenant that answer the request, best first; empty when none does.

    `budget_seconds`: what is left until the deadline. A model that is down, or slower than its share of it, only
    degrades the reply. Raises `DependencyDown("store")`.
    """
    clock = _Clock()
    understanding = understand(request, now, weights)
    clock.lap("understand")
    search = _Search(store, tenant, request, weights)
    words = dict.fromkeys(understanding.words, 1.0) | dict(understanding.added)
    await search.add(None, sparse_terms(words))
    clock.lap("search")
    speakers = speakers_of([one.record for one in search.candidates])
    query, degraded = await _embed(
        embedder, without_names(understanding.text, asked_persons(understanding, speakers)), budget_seconds
    )
    clock.lap("embed")
    if query is not None:
        await search.add(query, None)
    clock.lap("search")
    judged = score(understanding, search.candidates, query, weights=weights)
    shown = select(
        [one for one in judged if hidden(one.record, request, now) is None],
        enough=lambda one: not request.threshold or support(one) >= weights.threshold,
        top_k=request.top_k,
        weights=weights,
        keep_superseded=request.include_superseded or request.as_of is not None,
    )
    memories = tuple(_recalled(one, understanding, request, now, weights) for one in shown)
    clock.lap("score")
    prompt = None
    if request.format == "prompt":
        prompt = prompt_block(memories, lang=understanding.lang, timezone=request.timezone)
        clock.lap("prompt")
    return RecallReply(memories=memories, prompt=prompt, degraded=degraded, timings_ms=clock.steps)


def without_names(text: str, names: Sequence[str]) -> str:
    """A query without the names of whom it is about: the person is matched apart, and a name in the vector finds
    every turn of theirs alike."""
    for name in names:
        text = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", "", text, flags=re.IGNORECASE)
    shorter = " ".join(text.split())
    return shorter if any(c.isalnum() for c in shorter) else text


async def _embed(embedder: Embedder, text: str, budget_seconds: float | None) -> tuple[Vectors | None, tuple[str, ...]]:
    share = None if budget_seconds is None else max(0.0, budget_seconds * EMBED_SHARE)
    try:
        async with asyncio.timeout(share):
            return await embedder.embed_query(text), ()
    except (DependencyDown, Refused, TimeoutError):
        return None, ("dense",)


def _recalled(
    one: Judged, understanding: Understanding, request: RecallRequest, now: datetime, weights: Weights
) -> RecalledMemory:
    total, parts = final_score(one, now, weights)
    return RecalledMemory(
        memory=one.record,
        score=round(total, 6),
        relevance=round(relevance(one, weights), 6),
        parts={**parts, **{f"evidence.{name}": value for name, value in one.parts.items()}} if request.explain else {},
        why=reason(one, understanding) if request.explain else "",
    )
