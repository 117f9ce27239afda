"""redacted -> candidates: exactly one record an event, also when nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schemas import Candidate, CandidateEvent, RedactedEvent
from streams.agents.redact import parked_candidate
from streams.long_text import in_thread_if_long, in_turn
from streams.memory.extraction import Extraction, Extractor, episodes
from streams.memory.redaction import is_only_placeholders
from streams.memory.redaction.placeholders import DROPPED
from streams.outcome import Done, Outbound, Outcome, Parked
from streams.records import Inbound, check_key, cloud_event, decode


class ExtractStage:
    """Facts by the extractor (rules or model), episodes by the gate."""

    name = "extract"
    topic = "redacted"
    dead_letters = "dead-letters"

    def __init__(
        self,
        extractor: Extractor,
        *,
        keeps_episodes: Callable[[str], bool] = lambda namespace: True,
        dependencies: tuple[str, ...] = (),
    ) -> None:
        """`keeps_episodes`: whether a namespace has that layer."""
        self._extractor = extractor
        self._keeps_episodes = keeps_episodes
        self.dependencies = dependencies
        # The rules compute; a model is waited for, and asked again when a record beside it fails.
        self.side_by_side = 64 if dependencies else 2
        self.lane_batch = 1 if dependencies else 50

    def lane(self, record: Inbound) -> str:
        return record.lane if self.dependencies else record.computed_lane

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        return await in_turn(self._one, records)

    async def _one(self, record: Inbound) -> Outcome:
        event = decode(record, RedactedEvent)
        check_key(record, event.tenant)
        extraction = await self._extractor.extract(event)
        size = sum(len(message.text) for message in event.messages)
        value = await in_thread_if_long(lambda: self._candidates(event, extraction).to_bytes(), size)
        said_at = event.occurred_at or event.appended_at
        headers = cloud_event("candidates", event.event_id, self.name, said_at, record.carried)
        return Done((Outbound("candidates", event.tenant.key.encode(), value, headers),))

    def _candidates(self, event: RedactedEvent, extraction: Extraction) -> CandidateEvent:
        found: tuple[Candidate, ...] = extraction.candidates
        if event.re_extraction is None and self._keeps_episodes(event.namespace):
            found += episodes(event)
        # "My phone number is [PHONE_1]" says nothing without the number, and a dropped sentence leaves no trace.
        found = tuple(without_dropped(c) for c in found if not is_only_placeholders(c.content))
        if event.min_importance is not None:
            kept = tuple(c for c in found if c.importance >= event.min_importance)
            reason = "below_importance" if found and not kept else extraction.skipped
            found = kept
        else:
            reason = extraction.skipped
        return CandidateEvent(
            event_id=event.event_id,
            namespace=event.namespace,
            user_id=event.user_id,
            session_id=event.session_id,
            occurred_at=event.occurred_at or event.appended_at,
            appended_at=event.appended_at,
            time_flag=event.time_flag,
            digest=event.digest,
            disposition="extracted" if found else "skipped",
            stage="" if found else self.name,
            reason="" if found else (reason or "nothing_to_keep"),
            candidates=found,
            replaces=event.replaces,
            after_forget=event.after_forget,
            policy_version=event.policy_version,
            extractor_version=extraction.version or self._extractor.version,
            prompt_version="" if extraction.version else self._extractor.prompt_version,
            re_extraction=event.re_extraction,
        )

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        return parked_candidate(record, parked.stage, parked.reason)


def without_dropped(candidate: Candidate) -> Candidate:
    """Its text without the mark that stands for a sentence that must not be remembered."""
    if DROPPED not in candidate.content:
        return candidate
    return candidate.model_copy(update={"content": " ".join(candidate.content.replace(DROPPED, " ").split())})
