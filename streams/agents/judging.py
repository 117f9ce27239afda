"""The judge of pairs that the rules can't tell: asked beside the steps, so that a slow model holds nobody up.

A step settles such a pair as ambiguous. The model's verdict, when there is one, goes to the tenant's partition of
`supersede` like any decision, and whoever owns the partition applies it: the first verdict of a pair stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

from schemas import PairVerdict, Tenant
from streams.emitter import Emitter
from streams.errors import MemstreamError
from streams.memory.settle import VERDICTS, verdict_key
from streams.memory.settle.judge import PROMPT_VERSION, judge
from streams.outcome import Outbound
from streams.ports import ChatModel, Doc, MemoryStore
from streams.records import cloud_event
from streams.topics import memory_key

# Of one user in a step. What is left stays ambiguous until something near it is said.
MOST_PAIRS = 4
# Pairs that wait for an answer, of all users; those that find no place stay ambiguous as well.
MOST_WAITING = 200
AT_ONCE = 4
CALL_SECONDS = 10.0

Pair = tuple[str, str]


class Judging:
    """Asks about a pair once at a time. What waits is ids only: of what is forgotten meanwhile nobody is asked."""

    def __init__(self, chat: ChatModel, store: MemoryStore, emitter: Emitter) -> None:
        self._chat = chat
        self._store = store
        self._emitter = emitter
        self._places = asyncio.Semaphore(AT_ONCE)
        self._waiting: dict[tuple[str, Pair], asyncio.Task[None]] = {}

    def ask(self, tenant: Tenant, pairs: Sequence[Pair]) -> None:
        """About these, older first, whose memories are stored. Returns at once."""
        for both in pairs[:MOST_PAIRS]:
            place = (tenant.key, both)
            if place not in self._waiting and len(self._waiting) < MOST_WAITING:
                self._waiting[place] = task = asyncio.create_task(self._asked(tenant, both))
                task.add_done_callback(partial(self._done, place))

    async def all_answered(self) -> None:
        """Until nothing waits, with or without a verdict."""
        await asyncio.gather(*self._waiting.values())

    async def close(self) -> None:
        """What waits stays ambiguous."""
        tasks = list(self._waiting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, place: tuple[str, Pair], _: asyncio.Task[None]) -> None:
        del self._waiting[place]

    async def _asked(self, tenant: Tenant, both: Pair) -> None:
        # The store or the broker is down: as if there had been no answer.
        async with self._places:
            with suppress(MemstreamError):
                records = {record.memory_id: record for record in await self._store.get(tenant, both)}
                if len(records) < len(both):
                    return
                older, newer = (records[memory_id] for memory_id in both)
                label = await judge(self._chat, older, newer, deadline_seconds=CALL_SECONDS)
                if label is not None:
                    verdict = PairVerdict(
                        namespace=tenant.namespace,
                        user_id=tenant.user_id,
                        older=older.memory_id,
                        newer=newer.memory_id,
                        label=label,
                        model=self._chat.name,
                        prompt_version=PROMPT_VERSION,
                    )
                    headers = cloud_event("verdict", verdict_name(verdict), "memory", newer.occurred_at)
                    await self._emitter.send([Outbound("supersede", tenant.key.encode(), verdict.to_bytes(), headers)])


def verdict_name(verdict: PairVerdict) -> str:
    return verdict_key(verdict.older, verdict.newer)


def verdict_doc(verdict: PairVerdict) -> Doc:
    return Doc(VERDICTS, verdict_name(verdict), verdict.model_dump(mode="json", exclude_none=True))


def verdict_outbound(tenant: Tenant, verdict: PairVerdict, at: datetime) -> Outbound:
    name = verdict_name(verdict)
    headers = cloud_event("verdict", name, "memory", at)
    return Outbound("records", memory_key(tenant, "verdict:" + name), verdict.to_bytes(), headers)
