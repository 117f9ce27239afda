"""The product's stages one after another in this process: redact, extract, settle, store, recall. No Kafka."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from schemas import ConversationEvent, MemoryRecord, RecallReply, RecallRequest, Tenant
from streams.agents.extract import ExtractStage
from streams.agents.memory import RememberStage, SupersedeStage
from streams.agents.redact import RedactStage
from streams.agents.writer import Writer
from streams.emitter import Emitter
from streams.memory.extraction import Extractor
from streams.memory.ranking import recall, weighted
from streams.memory.redaction import Redactor, load_policy
from streams.outcome import Done, Outbound, Parked
from streams.paging import everything
from streams.ports import Embedder, VectorStore
from streams.records import Inbound
from streams.settings import Settings

PAGE = 200


class _Outbox:
    """Where the writer's records go instead of to a broker."""

    def __init__(self) -> None:
        self.records: deque[Outbound] = deque()

    async def send(self, records: Sequence[Outbound]) -> None:
        self.records += records


class Memory:
    """A store that is filled and asked as the running product does it: the same stages, the same order."""

    def __init__(self, store: VectorStore, embedder: Embedder, extractor: Extractor, settings: Settings) -> None:
        self._store = store
        self._embedder = embedder
        self._redactor = Redactor(load_policy(settings.redaction_policy))
        self._weights = weighted(settings.recall_weights)
        self._outbox = _Outbox()
        writer = Writer(
            store, embedder, cast(Emitter, self._outbox), self._redactor, reply_allowed=lambda _topic: False
        )
        stages = (
            RedactStage(self._redactor, settings),
            ExtractStage(extractor, keeps_episodes=settings.keeps_episodes),
            RememberStage(writer),
            SupersedeStage(writer),
        )
        self._stages = {stage.topic: stage for stage in stages}

    async def remember(self, event: ConversationEvent, appended_at: datetime) -> None:
        """One event through all stages, with the supersede events that follow from it.

        Raises what a stage raises (`DependencyDown`, `Refused`), and `ValueError` for an event that is parked.
        """
        waiting = deque([Outbound("conversations", event.tenant.key.encode(), event.to_bytes())])
        while waiting:
            record = waiting.popleft()
            stage = self._stages.get(record.topic)
            if stage is None:
                continue
            inbound = Inbound(record.topic, 0, 0, appended_at, record.key, record.value, record.headers)
            for outcome in await stage.handle([inbound]):
                if isinstance(outcome, Parked):
                    raise ValueError(f"parked by {outcome.stage}: {outcome.reason}")
                if isinstance(outcome, Done):
                    waiting += outcome.emit
            waiting += self._outbox.records
            self._outbox.records.clear()

    async def ask(
        self, tenant: Tenant, query: str, now: datetime, *, timezone: str, as_of: datetime | None = None
    ) -> RecallReply:
        """What recall answers; the query is redacted first."""
        request = RecallRequest(
            namespace=tenant.namespace,
            user_id=tenant.user_id,
            query=self._redactor.session().redact(query).text,
            now=now,
            as_of=as_of,
            timezone=timezone,
            reinforce=False,
        )
        return await recall(
            request,
            tenant,
            store=self._store,
            embedder=self._embedder,
            now=now,
            profile=self._embedder.profile,
            weights=self._weights,
        )

    async def everything(self, tenant: Tenant) -> list[MemoryRecord]:
        """All that is stored of a tenant: every layer and status."""
        return await everything(self._store, tenant, limit=PAGE)
