"""recall.requests -> replies: a reply or a typed error before the deadline."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from schemas import (
    Access,
    ErrorReply,
    MemoryRecord,
    RecalledMemory,
    RecallReply,
    RecallRequest,
    Tenant,
    Turn,
)
from streams import metrics
from streams.agents.profiles import Profiles
from streams.agents.related import related
from streams.agents.rewriting import Rewriter
from streams.agents.turns import last_turns
from streams.batches import batched
from streams.emitter import Emitter
from streams.errors import BadData, DependencyDown
from streams.memory.ranking import DEFAULT, Weights, explain_one, recall
from streams.memory.ranking.rewrite import asked
from streams.memory.redaction import Redactor
from streams.memory.redaction.placeholders import without_placeholders
from streams.memory.turns import turns_block
from streams.outcome import Outbound
from streams.paging import pages
from streams.ports import Embedder, VectorStore, Where
from streams.records import Inbound, ReplyTo, check_key, cloud_event, decode, reply_to
from streams.runner import describe
from streams.settings import Settings

log = logging.getLogger(__name__)

# Kept for the reply's own way through the broker.
REPLY_MARGIN_SECONDS = 0.05
# Of the time that is left, what other words for the question may take.
REWRITE_SHARE = 0.3
EXPORT_PAGE = 200
RELATED_PAGE = 50
# A request that would wait for longer would keep its place from others for longer.
LONGEST = timedelta(minutes=5)


class RecallHandler:
    """Answers one request at a time; the runner keeps a bounded number of them in flight."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        emitter: Emitter,
        redactor: Redactor,
        settings: Settings,
        profiles: Profiles,
        weights: Weights = DEFAULT,
        rewriter: Rewriter | None = None,
    ) -> None:
        self._rewriter = rewriter
        self._weights = weights
        self._profiles = profiles
        self._store = store
        self._embedder = embedder
        self._emitter = emitter
        self._redactor = redactor
        self._settings = settings
        self._side_work: set[asyncio.Task[None]] = set()
        if not embedder.profile.calibrated:
            log.warning(
                "the model %s is not calibrated: its thresholds are guesses until `memstream calibrate` has run",
                embedder.profile.name,
            )

    async def __call__(self, record: Inbound) -> None:
        started = time.perf_counter()
        kind = "unknown"
        try:
            target = reply_to(record.headers)
        except BadData:
            target = None
        if target is None or not self._settings.reply_topics.fullmatch(target.topic):
            # Nobody may be told: an answer to an unknown topic would hand one service's memories to another.
            metrics.RECALLS.labels(kind, "refused_reply_topic").inc()
            return
        try:
            request = decode(record, RecallRequest)
            check_key(record, request.tenant)
            kind = request.kind
            deadline = request.deadline or record.timestamp + timedelta(seconds=self._settings.recall_deadline_seconds)
            deadline = min(deadline, datetime.now(UTC) + LONGEST)
            left = _left(deadline)
            if left <= 0:
                metrics.RECALLS.labels(kind, "past_deadline").inc()
                return
            async with asyncio.timeout(left):
                await self._answer(record, request, target, deadline)
            outcome = "ok"
        except BadData as error:
            outcome = "too_large" if error.reason == "too_large" else "bad_request"
            await self._fail(record, target, ErrorReply(error=outcome, detail=str(error)))
        except DependencyDown as error:
            outcome = "unavailable"
            reply = ErrorReply(error="unavailable", detail=str(error), retry_after_seconds=error.retry_after or 1.0)
            await self._fail(record, target, reply)
        except TimeoutError:
            outcome = "deadline_exceeded"
            await self._fail(record, target, ErrorReply(error="deadline_exceeded", detail="the deadline passed"))
        except Exception as error:
            outcome = "internal"
            log.error("recall: %s", describe(error))
            await self._fail(record, target, ErrorReply(error="internal", detail=type(error).__name__))
        metrics.RECALLS.labels(kind, outcome).inc()
        metrics.RECALL_SECONDS.labels(kind).observe(time.perf_counter() - started)

    async def _answer(self, record: Inbound, request: RecallRequest, target: ReplyTo, deadline: datetime) -> None:
        if request.kind == "recall":
            reply = await self._recall(record, request, deadline)
            await self._reply(record, request.tenant, target, reply)
            if request.reinforce and reply.memories:
                self._reinforce(record, request, reply)
            return
        if request.kind == "explain":
            await self._reply(record, request.tenant, target, await self._explain(record, request, deadline))
            return
        if request.kind == "turns":
            reply = RecallReply(kind="turns", turns=tuple(await self._turns(request)))
            await self._reply(record, request.tenant, target, reply)
            return
        pages = [page async for page in self._pages(request)]
        for part, page in enumerate(pages or [[]]):
            reply = RecallReply(kind=request.kind, memories=tuple(page), part=part, parts=max(1, len(pages)))
            await self._reply(record, request.tenant, target, reply)

    async def _recall(self, record: Inbound, request: RecallRequest, deadline: datetime) -> RecallReply:
        cleaned = redacted(request, self._redactor)
        words, without = await self._rewritten(cleaned, deadline)
        reply = await recall(
            cleaned,
            request.tenant,
            store=self._store,
            embedder=self._embedder,
            now=request.now or record.timestamp,
            profile=self._embedder.profile,
            weights=self._weights,
            budget_seconds=_left(deadline),
            rewritten=words,
        )
        if without:
            reply = reply.model_copy(update={"degraded": reply.degraded + without})
        if request.turns_of is not None:
            turns = await self._turns(request)
            blocks = [reply.prompt, turns_block(turns, request.prompt_role)]
            prompt = None if reply.prompt is None else "\n".join(block for block in blocks if block)
            reply = reply.model_copy(update={"turns": tuple(turns), "prompt": prompt})
        metrics.RECALL_RESULTS.observe(len(reply.memories))
        for step, spent in reply.timings_ms.items():
            metrics.RECALL_STEP_SECONDS.labels(step).observe(spent / 1000)
        if reply.prompt is not None:
            metrics.PROMPT_TOKENS.observe(estimated_tokens(reply.prompt))
        return reply

    async def _turns(self, request: RecallRequest) -> Sequence[Turn]:
        return await last_turns(self._store, request.tenant, request.turns_of or "", request.turns)

    async def _rewritten(self, request: RecallRequest, deadline: datetime) -> tuple[str, tuple[str, ...]]:
        """Words to add to the question, and what the reply has to do without."""
        if self._rewriter is None:
            return "", ()
        words = await self._rewriter.words(asked(request), _left(deadline) * REWRITE_SHARE)
        return words, () if words else ("rewrite",)

    async def _explain(self, record: Inbound, request: RecallRequest, deadline: datetime) -> RecallReply:
        cleaned = redacted(request, self._redactor)
        words, without = await self._rewritten(cleaned, deadline)
        explained = await explain_one(
            cleaned,
            request.tenant,
            request.memory_ids[0],
            store=self._store,
            embedder=self._embedder,
            now=request.now or record.timestamp,
            profile=self._embedder.profile,
            weights=self._weights,
            budget_seconds=_left(deadline),
            rewritten=words,
        )
        return RecallReply(
            kind="explain",
            memories=() if explained.recalled is None else (explained.recalled,),
            rank=explained.rank,
            kept_out=explained.kept_out,
            degraded=explained.degraded + without,
        )

    async def _pages(self, request: RecallRequest) -> AsyncIterator[list[RecalledMemory]]:
        """What `get`, `history`, `related`, `profile` and `export` answer with."""
        tenant = request.tenant
        if request.kind == "get":
            yield _unscored(await self._store.get(tenant, request.memory_ids))
        elif request.kind == "history":
            yield _unscored(await history(self._store, tenant, request.memory_ids))
        elif request.kind == "related":
            linked = await related(self._store, tenant, request.memory_ids[0])
            for part in batched(linked, RELATED_PAGE):
                yield [
                    RecalledMemory(memory=one.record, score=0, relevance=0, links=one.links, why=", ".join(one.shared))
                    for one in part
                ]
        elif request.kind == "profile":
            for page in await self._profiles.of(tenant, limit=EXPORT_PAGE):
                yield _unscored(page)
        else:
            async for page in pages(self._store, tenant, Where(), archives=(False, True), limit=EXPORT_PAGE):
                yield _unscored(page)

    async def _reply(self, record: Inbound, tenant: Tenant | None, target: ReplyTo, reply: BaseModel) -> None:
        value = reply.model_dump_json(exclude_none=True).encode()
        kind = "error" if isinstance(reply, ErrorReply) else "reply"
        headers = cloud_event(kind, f"{record.partition}/{record.offset}", "recall", record.timestamp, target.headers)
        key = tenant.key.encode() if tenant else record.key
        await self._emitter.send([Outbound(target.topic, key, value, headers, partition=target.partition, exact=True)])

    async def _fail(self, record: Inbound, target: ReplyTo, reply: ErrorReply) -> None:
        with suppress(DependencyDown, BadData):
            await self._reply(record, None, target, reply)

    def _reinforce(self, record: Inbound, request: RecallRequest, reply: RecallReply) -> None:
        """Off the recall path: the reply has been sent already."""
        access = Access(
            namespace=request.namespace,
            user_id=request.user_id,
            memory_ids=tuple(found.memory.memory_id for found in reply.memories),
            partition=record.partition,
            offset=record.offset,
            accessed_at=record.timestamp,
        )
        headers = cloud_event("access", f"{record.partition}/{record.offset}", "recall", record.timestamp)
        task = asyncio.create_task(
            self._emit(Outbound("access", request.tenant.key.encode(), access.to_bytes(), headers))
        )
        self._side_work.add(task)
        task.add_done_callback(self._side_work.discard)

    async def _emit(self, record: Outbound) -> None:
        try:
            await self._emitter.send([record])
        except DependencyDown as error:
            # A lost access costs some importance, never a memory.
            log.warning("an access was not recorded: %s", error)


def redacted(request: RecallRequest, redactor: Redactor) -> RecallRequest:
    """Without what must not be logged, cached or sent to a model: in the question, the messages and the names given."""
    session = redactor.session()

    def name(given: str | None) -> str | None:
        cleaned = session.redact(given).text if given else ""
        return cleaned if without_placeholders(cleaned).strip() else None

    messages = tuple(
        m.model_copy(update={"text": session.redact(m.text).text, "speaker": name(m.speaker)}) for m in request.messages
    )
    query = session.redact(request.query).text
    return request.model_copy(update={"query": query, "messages": messages, "about": name(request.about)})


def _unscored(records: list[MemoryRecord]) -> list[RecalledMemory]:
    return [RecalledMemory(memory=record, score=0, relevance=0) for record in records]


def _left(deadline: datetime) -> float:
    """Seconds until the reply must be on its way."""
    return (deadline - datetime.now(UTC)).total_seconds() - REPLY_MARGIN_SECONDS


async def history(store: VectorStore, tenant: Tenant, memory_ids: tuple[str, ...]) -> list[MemoryRecord]:
    """The chain around memories, oldest first: what they replaced, what replaced them, what repeats them."""
    known: dict[str, MemoryRecord] = {}
    wanted = list(memory_ids)
    while wanted:
        found = await store.get(tenant, wanted)
        known |= {record.memory_id: record for record in found}
        linked = (
            linked_id
            for record in found
            for linked_id in (record.superseded_by, record.duplicate_of, *record.supersedes, *record.replaces)
        )
        wanted = [i for i in dict.fromkeys(linked) if i and i not in known]
    return sorted(known.values(), key=lambda record: (record.occurred_at, record.memory_id))


def estimated_tokens(text: str) -> int:
    """A CJK character is about one token, four other characters are about one."""
    wide = sum("\u2e80" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7af" or "\uff00" <= c <= "\uffef" for c in text)
    return wide + (len(text) - wide + 3) // 4
