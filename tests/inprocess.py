"""The real stages called one after another in this process, without Kafka: what the stream is compared with.

Only the producer is a double: it keeps what a stage emits instead of sending it, which is what "without Kafka" means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from schemas import ConversationEvent
from streams.agents.extract import ExtractStage
from streams.agents.memory import RememberStage
from streams.agents.redact import RedactStage
from streams.agents.writer import Writer
from streams.memory.extraction import RuleExtractor
from streams.memory.redaction import Redactor, load_policy
from streams.outcome import Done, Outbound, Outcome
from streams.ports import Embedder, VectorStore
from streams.records import Inbound
from streams.settings import Settings


class Kept:
    """Stands in for the `Emitter`."""

    def __init__(self) -> None:
        self.records: list[Outbound] = []

    async def send(self, records: Sequence[Outbound]) -> None:
        self.records += records


class InProcess:
    def __init__(self, store: VectorStore, embedder: Embedder, settings: Settings) -> None:
        redactor = Redactor(load_policy(None))
        self.kept = Kept()
        writer = Writer(store, embedder, self.kept, redactor, reply_allowed=lambda _: False)  # type: ignore[arg-type]
        self._stages = (
            RedactStage(redactor, settings),
            ExtractStage(RuleExtractor(), keeps_episodes=settings.keeps_episodes),
            RememberStage(writer),
        )

    async def remember(self, events: Iterable[ConversationEvent], appended_at: datetime) -> None:
        for event in events:
            record = Inbound("conversations", 0, 0, appended_at, event.tenant.key.encode(), event.to_bytes())
            for stage in self._stages:
                outcome: Outcome = (await stage.handle([record]))[0]
                if not isinstance(outcome, Done) or not outcome.emit:
                    break
                emitted = outcome.emit[0]
                record = Inbound(emitted.topic, 0, 0, appended_at, emitted.key, emitted.value, emitted.headers)
