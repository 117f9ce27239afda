"""The judge of pairs that the rules can't tell, for the writer: bounded, and each verdict kept before it counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime

from schemas import MemoryRecord, PairVerdict, Tenant
from streams.emitter import Emitter
from streams.memory.settle import VERDICTS, verdict_key
from streams.memory.settle.judge import PROMPT_VERSION, judge
from streams.memory.settle.order import pair
from streams.outcome import Outbound
from streams.ports import ChatModel, Doc, MemoryStore
from streams.records import cloud_event
from streams.topics import memory_key

# Of one user in a step, and of the step, which holds up what comes after it in the same partition. What is left stays
# ambiguous until something near it is said.
MOST_PAIRS = 4
STEP_SECONDS = 20.0
CALL_SECONDS = 10.0

Pair = tuple[str, str]
Derive = Callable[[Mapping[Pair, str]], Awaitable[Sequence[Pair]]]


class Judging:
    """Asks about a pair once: its verdict is acknowledged by the broker and stored before anything follows from it,
    so that a replay, a redelivery or a rebuild finds it."""

    def __init__(self, chat: ChatModel, store: MemoryStore, emitter: Emitter) -> None:
        self._chat = chat
        self._store = store
        self._emitter = emitter

    async def ask(
        self, tenant: Tenant, items: Iterable[MemoryRecord], derive: Derive, *, until: float
    ) -> Mapping[Pair, str]:
        """The verdicts that are new, by pair (ids sorted). `derive` is given those so far and tells the pairs (older,
        newer) that are undecided with them. `until`: of the monotonic clock."""
        by_id = {record.memory_id: record for record in items}
        judged: dict[Pair, str] = {}
        tried: set[Pair] = set()
        while True:
            left = [both for both in await derive(judged) if both not in tried][: MOST_PAIRS - len(tried)]
            if not left or time.monotonic() >= until:
                return judged
            tried.update(left)
            seconds = min(CALL_SECONDS, until - time.monotonic())
            answers = await asyncio.gather(
                *(judge(self._chat, by_id[old], by_id[new], deadline_seconds=seconds) for old, new in left)
            )
            found = {both: label for both, label in zip(left, answers, strict=True) if label is not None}
            await self._keep(tenant, found, by_id)
            judged |= {pair(*both): label for both, label in found.items()}

    async def _keep(self, tenant: Tenant, found: Mapping[Pair, str], by_id: Mapping[str, MemoryRecord]) -> None:
        verdicts = [
            PairVerdict(
                namespace=tenant.namespace,
                user_id=tenant.user_id,
                older=older,
                newer=newer,
                label=label,
                model=self._chat.name,
                prompt_version=PROMPT_VERSION,
            )
            for (older, newer), label in found.items()
        ]
        if verdicts:
            await self._emitter.send(
                [verdict_outbound(tenant, verdict, by_id[verdict.newer].occurred_at) for verdict in verdicts]
            )
            await self._store.put_docs(tenant, [verdict_doc(verdict) for verdict in verdicts])


def verdict_doc(verdict: PairVerdict) -> Doc:
    return Doc(VERDICTS, verdict_key(verdict.older, verdict.newer), verdict.model_dump(mode="json", exclude_none=True))


def verdict_outbound(tenant: Tenant, verdict: PairVerdict, at: datetime) -> Outbound:
    name = verdict_key(verdict.older, verdict.newer)
    headers = cloud_event("verdict", name, "memory", at)
    return Outbound("records", memory_key(tenant, "verdict:" + name), verdict.to_bytes(), headers)
