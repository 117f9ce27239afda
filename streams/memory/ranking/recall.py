"""One recall, from request to reply, over the ports only."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import numpy as np

from schemas import MemoryStatus, RecalledMemory, RecallReply, RecallRequest, Tenant
from schemas.memory import slot_of
from streams.errors import DependencyDown, Refused
from streams.memory.lexical import sparse_terms, terms
from streams.memory.prompt import prompt_block
from streams.memory.ranking.bridge import bridged
from streams.memory.ranking.explain import reason
from streams.memory.ranking.query import Understanding, understand
from streams.memory.ranking.relevance import final_score, floor, relevance, threshold, worth
from streams.memory.ranking.rewrite import with_words
from streams.memory.ranking.score import Candidate, Judged, asked_persons, score, speakers_of
from streams.memory.ranking.select import LATER, hidden, same_words, select
from streams.memory.ranking.weights import DEFAULT, Weights
from streams.memory.settle import outdated_episodes
from streams.ports import Embedder, FoundMemory, ModelProfile, SparseVector, Vectors, VectorStore, Where

# Of the time that is left, what the model may take: the search and the reply need the rest.
EMBED_SHARE: Final = 0.6
# So many cosines come with a search for less than what a second one costs; few users have more memories.
COSINES: Final = 128
# A spread of cosines that tells nothing.
_EQUAL: Final = 0.01


@dataclass
class _Clock:
    """Milliseconds of each step."""

    started: float = field(default_factory=time.perf_counter)
    steps: dict[str, float] = field(default_factory=dict)

    def lap(self, step: str, without: str = "") -> None:
        now = time.perf_counter()
        self.steps[step] = max(0.0, 1000 * (now - self.started) - self.steps.get(without, 0.0))
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
    """The candidates of one request: hits of the tenant, the turns around each, and what is ambiguous with them."""

    def __init__(self, store: VectorStore, tenant: Tenant, request: RecallRequest, limit: int, reach: int) -> None:
        self._store = store
        self._tenant = tenant
        self._where = _where(request)
        self._archives = (False, True) if request.include_archived else (False,)
        self._limit = limit
        self._reach = reach
        self._anchors: set[str] = set()
        self._found: dict[str, FoundMemory] = {}
        self._cosines: dict[str, float] = {}

    async def by_words(self, sparse: SparseVector) -> list[FoundMemory]:
        """Search by own text, and take in what is new; returns that, for `around`."""
        found: dict[str, None] = {}
        for archive in self._archives:
            _, hits = await self._store.search(
                self._tenant, None, sparse, where=self._where, limit=self._limit, archive=archive
            )
            found |= dict.fromkeys(hit.memory_id for hit in hits)
        return await self._anchor(list(found))

    async def by_meaning(self, query: Vectors) -> list[FoundMemory]:
        """As `by_words`. What is further down is not taken in, but how near it is to the query is known."""
        found: dict[str, None] = {}
        for archive in self._archives:
            hits, _ = await self._store.search(
                self._tenant, query, None, where=self._where, limit=max(self._limit, COSINES), archive=archive
            )
            self._cosines |= {hit.memory_id: hit.score for hit in hits}
            found |= dict.fromkeys(hit.memory_id for hit in hits[: self._limit])
        return await self._anchor(list(found))

    async def around(self, hits: Sequence[FoundMemory]) -> None:
        """Take in the turns around hits."""
        if hits:
            turns = await self._store.neighbours(
                self._tenant, [hit.record for hit in hits], before=self._reach, after=self._reach
            )
            self._found = {one.record.memory_id: one for one in turns} | self._found

    async def take(self, memory_ids: Sequence[str]) -> None:
        """Candidates by id, with the turns around them. Ids that are not there are left out."""
        await self.around(await self._anchor(memory_ids))

    async def _anchor(self, memory_ids: Sequence[str]) -> list[FoundMemory]:
        ids = [memory_id for memory_id in memory_ids if memory_id not in self._anchors]
        hits = await self._store.get_with_words(self._tenant, ids) if ids else []
        self._anchors.update(hit.record.memory_id for hit in hits)
        self._found |= {hit.record.memory_id: hit for hit in hits}
        return hits

    async def slots(self, attributes: AbstractSet[str]) -> None:
        """The asker's own values of what was asked for, wherever the searches would have put them."""
        if not attributes:
            return
        slots = [slot for name in sorted(attributes) if (slot := slot_of("user", name)) is not None]
        for archive in self._archives:
            where = replace(self._where, slots=tuple(slots))
            found, _ = await self._store.find(self._tenant, where, limit=self._limit, archive=archive)
            await self.take([record.memory_id for record in found])

    async def pairs(self) -> None:
        """The other half of each pair that could not be told apart: both are shown, with their dates."""
        halves = {other for one in self._found.values() for other in one.record.ambiguous_with}
        await self.take(sorted(halves - self._found.keys()))

    async def cosines(self, query: Vectors | None) -> Mapping[str, float] | None:
        """Of the candidates with the query; None when there is no model."""
        if query is None:
            return None
        missing = [memory_id for memory_id in self._found if memory_id not in self._cosines]
        if missing:
            self._cosines |= await self._store.cosines(self._tenant, missing, query)
        return self._cosines

    @property
    def candidates(self) -> list[Candidate]:
        return [Candidate(one, memory_id in self._anchors) for memory_id, one in self._found.items()]


@dataclass(frozen=True, slots=True)
class _Weighed:
    """Everything known of one request before anything is left out. `found`: ids of what the searches brought up."""

    understanding: Understanding
    judged: list[Judged]
    found: frozenset[str]
    needed: float
    degraded: tuple[str, ...]
    with_model: bool
    # Worth that counts only far down in the answer, by id.
    later: Mapping[str, float] = field(default_factory=dict)

    @property
    def alone(self) -> bool:
        """Whether a turn must say something by itself: in answer to a question, where a model tells what is akin."""
        return self.with_model and not self.understanding.dialogue


async def _weigh(
    request: RecallRequest,
    tenant: Tenant,
    *,
    store: VectorStore,
    embedder: Embedder,
    now: datetime,
    profile: ModelProfile,
    weights: Weights,
    budget_seconds: float | None,
    clock: _Clock,
    also: Sequence[str] = (),
    rewritten: str = "",
) -> _Weighed:
    understanding = understand(request, now, weights)
    if rewritten:
        understanding = with_words(understanding, rewritten, weights)
    clock.lap("understand")
    limit = weights.prefetch_dialogue if understanding.dialogue else weights.prefetch
    search = _Search(store, tenant, request, limit, weights.neighbours)
    by_words = await search.by_words(sparse_terms(search_words(understanding)))
    # Who the query names is known only now: from who speaks in what was found.
    persons = asked_persons(understanding, speakers_of([hit.record for hit in by_words]))
    text = without_names(understanding.text, persons)
    if understanding.rewritten:
        text = f"{text}\n{understanding.rewritten}"
    asked = asyncio.create_task(_embed(embedder, text, budget_seconds, clock))
    try:
        # A turn for the model to begin: it works while the turns around are read.
        await asyncio.sleep(0)
        await search.around(by_words)
        await search.slots(understanding.slots)
        query, degraded = await asked
    finally:
        asked.cancel()
    if query is not None:
        await search.around(await search.by_meaning(query))
    current = [one.record for one in search.candidates if one.anchor and hidden(one.record, request, now) is None]
    if meant := bridged(understanding, current):
        # The second step: what is said of whom, or what, the question means.
        understanding = replace(understanding, added=dict(understanding.added) | dict.fromkeys(meant, weights.bridge))
        await search.around(await search.by_words(sparse_terms(dict.fromkeys(meant, 1.0))))
    await search.pairs()
    found = frozenset(one.record.memory_id for one in search.candidates)
    # What was found stays as it was found, so that it is judged as a recall judges it.
    if missing := [memory_id for memory_id in also if memory_id not in found]:
        await search.take(missing)
    cosines = await search.cosines(query)
    # What the model took is a step of its own, though the search went on meanwhile.
    clock.lap("search", without="embed")
    judged = score(understanding, search.candidates, cosines, weights=weights, usual_cosine=profile.recall)
    clock.lap("score")
    needed = threshold(understanding, len(judged), query is not None, weights)
    weighed = _Weighed(understanding, judged, found, needed, degraded, query is not None)
    if query is None or not understanding.dialogue or request.top_k <= LATER:
        return weighed
    return replace(weighed, later=await _akin(weighed, request, tenant, store, now, weights))


async def _akin(
    weighed: _Weighed, request: RecallRequest, tenant: Tenant, store: VectorStore, now: datetime, weights: Weights
) -> dict[str, float]:
    """How like the best candidate each is, weighted. A dialogue wants what is akin, and what it says of that itself
    gives out after the first few."""
    best = _select(weighed, request.model_copy(update={"top_k": 1}), now, weights)
    found = await store.get_with_vectors(tenant, [one.record.memory_id for one in best])
    if not found:
        return {}
    near = await store.cosines(tenant, [one.record.memory_id for one in weighed.judged], found[0].vector)
    cosines = np.array(list(near.values()))
    likeness = weights.akin * (cosines - cosines.mean()) / max(float(cosines.std()), _EQUAL)
    return dict(zip(near, likeness.tolist(), strict=True))


def search_words(understanding: Understanding) -> dict[str, float]:
    """The sparse query: own terms, expansions, and the names that the query gives."""
    names = {term: 1.0 for person in understanding.persons for term in terms(person)}
    return dict(understanding.added) | names | dict.fromkeys(understanding.words, 1.0)


def _select(
    weighed: _Weighed, request: RecallRequest, now: datetime, weights: Weights, without: AbstractSet[str] = frozenset()
) -> list[Judged]:
    visible = [
        one
        for one in weighed.judged
        if one.record.memory_id not in without and hidden(one.record, request, now) is None
    ]
    least = floor(visible, weighed.needed, weights) if request.threshold else -math.inf
    by_itself = weights.support_alone if request.threshold and weighed.alone else -math.inf
    return select(
        visible,
        enough=lambda one: one.support >= least and one.alone >= by_itself,
        worth_of=lambda one: worth(one, weighed.understanding, now, weights),
        top_k=request.top_k,
        weights=weights,
        keep_superseded=request.include_superseded or request.as_of is not None,
        later=weighed.later,
    )


async def _current(
    weighed: _Weighed, request: RecallRequest, tenant: Tenant, store: VectorStore, now: datetime, weights: Weights
) -> list[Judged]:
    """The selection without what has been replaced since: an episode that says little else is left out, and what moves
    up is looked at too; another is told without those words."""
    without: frozenset[str] = frozenset()
    while True:
        shown = _select(weighed, request, now, weights, without)
        if request.include_superseded or request.as_of is not None:
            return shown
        outdated = await outdated_episodes(store, tenant, [one.record for one in shown])
        gone = {memory_id for memory_id, left in outdated.items() if not left}
        if not gone:
            return [_saying(one, outdated.get(one.record.memory_id)) for one in shown]
        without |= gone


def _saying(one: Judged, left: str | None) -> Judged:
    return one if left is None else replace(one, record=one.record.model_copy(update={"content": left}))


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
    rewritten: str = "",
) -> RecallReply:
    """The memories of one tenant that answer the request, best first; empty when none does.

    `budget_seconds`: what is left until the deadline. A model that is down, or slower than its share of it, only
    degrades the reply. `rewritten`: words to search by beside the query's own. Raises `DependencyDown("store")`.
    """
    clock = _Clock()
    weighed = await _weigh(
        request,
        tenant,
        store=store,
        embedder=embedder,
        now=now,
        profile=profile,
        weights=weights,
        budget_seconds=budget_seconds,
        clock=clock,
        rewritten=rewritten,
    )
    shown = await _current(weighed, request, tenant, store, now, weights)
    memories = tuple(_recalled(one, weighed, request.explain, now, weights) for one in shown)
    clock.lap("select")
    prompt = None
    if request.format == "prompt":
        lang = weighed.understanding.lang
        prompt = prompt_block(memories, lang=lang, role=request.prompt_role, timezone=request.timezone)
        clock.lap("prompt")
    return RecallReply(memories=memories, prompt=prompt, degraded=weighed.degraded, timings_ms=clock.steps)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one memory scores for a request. `rank`: its place in the answer, from 1. `kept_out`: each reason in words
    why it is not in the answer; empty when it is. `recalled` is None when the tenant has no such memory."""

    recalled: RecalledMemory | None
    rank: int | None
    kept_out: tuple[str, ...]
    degraded: tuple[str, ...] = ()


async def explain_one(
    request: RecallRequest,
    tenant: Tenant,
    memory_id: str,
    *,
    store: VectorStore,
    embedder: Embedder,
    now: datetime,
    profile: ModelProfile,
    weights: Weights = DEFAULT,
    budget_seconds: float | None = None,
    rewritten: str = "",
) -> Explanation:
    """What score this one memory gets for the request, and what keeps it out of the answer. Raises as `recall` does."""
    weighed = await _weigh(
        request,
        tenant,
        store=store,
        embedder=embedder,
        now=now,
        profile=profile,
        weights=weights,
        budget_seconds=budget_seconds,
        clock=_Clock(),
        also=(memory_id,),
        rewritten=rewritten,
    )
    one = next((judged for judged in weighed.judged if judged.record.memory_id == memory_id), None)
    if one is None:
        return Explanation(None, None, ("there is no such memory",), weighed.degraded)
    shown = await _current(weighed, request, tenant, store, now, weights)
    recalled = _recalled(one, weighed, True, now, weights)
    ids = [judged.record.memory_id for judged in shown]
    if memory_id in ids and memory_id in weighed.found:
        return Explanation(recalled, ids.index(memory_id) + 1, (), weighed.degraded)
    reasons = []
    if (why := hidden(one.record, request, now)) is not None:
        reasons.append(why)
    elif memory_id not in weighed.found:
        reasons.append("neither search found it, or a turn beside it; it was looked up for this explanation")
    elif (await outdated_episodes(store, tenant, [one.record])).get(memory_id) == "":
        reasons.append("it says only what has been replaced since")
    if request.threshold and one.support < weighed.needed * weights.threshold_share:
        reasons.append(f"relevance {recalled.relevance:.2f} is too low: too little ties it to the query")
    elif request.threshold and weighed.alone and one.alone < weights.support_alone:
        reasons.append("only what was said beside it is tied to the query")
    elif request.threshold and not shown:
        reasons.append("no memory of this tenant is convincing enough for an answer")
    if not reasons:
        reasons.append(_outdone(one, shown))
    return Explanation(recalled, None, tuple(reasons), weighed.degraded)


def _outdone(one: Judged, shown: Sequence[Judged]) -> str:
    """Why a memory that might be shown is not, when others are."""
    for other in shown:
        if same_words(one.record, other.record):
            return f"{other.record.memory_id} of the answer says the same in the same words"
        if one.record.memory_id in other.record.supersedes:
            return f"{other.record.memory_id} of the answer replaced it"
    return f"the {len(shown)} memories of the answer rank before it"


def without_names(text: str, names: Sequence[str]) -> str:
    """A query without the names of whom it is about: the person is matched apart, and a name in the vector finds
    every turn of theirs alike."""
    shorter = text
    for name in names:
        shorter = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", "", shorter, flags=re.IGNORECASE)
    shorter = " ".join(shorter.split())
    return shorter if any(c.isalnum() for c in shorter) else text


async def _embed(
    embedder: Embedder, text: str, budget_seconds: float | None, clock: _Clock
) -> tuple[Vectors | None, tuple[str, ...]]:
    share = None if budget_seconds is None else max(0.0, budget_seconds * EMBED_SHARE)
    own = _Clock()
    try:
        async with asyncio.timeout(share):
            return await embedder.embed_query(text), ()
    except (DependencyDown, Refused, TimeoutError):
        return None, ("dense",)
    finally:
        own.lap("embed")
        clock.steps |= own.steps


def _recalled(one: Judged, weighed: _Weighed, explain: bool, now: datetime, weights: Weights) -> RecalledMemory:
    total, parts = final_score(one, weighed.needed, now, weights)
    if explain:
        parts = {**parts, **{f"evidence.{name}": value for name, value in one.reasons().parts.items()}}
    return RecalledMemory(
        memory=one.record,
        score=round(total, 6),
        relevance=round(relevance(one.support, weighed.needed, weights), 6),
        parts=parts if explain else {},
        why=reason(one, weighed.understanding) if explain else "",
    )
