"""From judged candidates to the list: what may be shown, in which order, each thing once."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime

from schemas import Layer, MemoryRecord, MemoryStatus, RecallRequest
from streams.memory.decay.fading import state
from streams.memory.ranking.score import Judged
from streams.memory.ranking.weights import Weights


def hidden(record: MemoryRecord, request: RecallRequest, now: datetime) -> str | None:
    """Why a memory may not be in the answer to this request, in words; None when it may.

    The turns around a hit come from outside the request's filter: they lend context and are held to it here.
    """
    checks: tuple[tuple[bool, str], ...] = (
        (bool(request.layers) and record.layer not in request.layers, "another layer"),
        (bool(request.types) and record.memory_type not in request.types, "another type"),
        (bool(request.tags) and not set(request.tags) & set(record.tags), "without the tags"),
        (request.session_id is not None and record.session_id != request.session_id, "another session"),
        (request.since is not None and record.occurred_at < request.since, "before the interval"),
        (request.until is not None and record.occurred_at >= request.until, "after the interval"),
        (record.status is MemoryStatus.DUPLICATE, "it repeats another memory"),
    )
    for applies, reason in checks:
        if applies:
            return reason
    return _not_current(record, request, now)


def _not_current(record: MemoryRecord, request: RecallRequest, now: datetime) -> str | None:
    if request.as_of is not None:
        begins = record.valid_from or record.occurred_at
        ends = min((end for end in (record.valid_until, record.superseded_at) if end is not None), default=None)
        if begins > request.as_of:
            return "it began to hold later"
        return "it no longer held" if ends is not None and ends <= request.as_of else None
    if request.include_superseded:
        return None
    if record.status is MemoryStatus.SUPERSEDED or record.superseded_by is not None:
        return "another memory replaced it"
    if record.layer is Layer.FACT and state(record, now) == "expired":
        return "its time is over"
    return None


def _wording(record: MemoryRecord) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", record.content).casefold() if c.isalnum())


def ranked(judged: Sequence[Judged], weights: Weights) -> list[Judged]:
    """Best first. A turn beside one already listed counts less: most of its evidence is that one's."""
    waiting = {one.record.memory_id: one for one in judged}
    worth = {memory_id: one.evidence for memory_id, one in waiting.items()}
    listed: list[Judged] = []
    while waiting:
        best = max(waiting, key=lambda memory_id: (worth[memory_id], memory_id))
        one = waiting.pop(best)
        listed.append(one)
        for beside in one.beside:
            if beside in worth:
                worth[beside] += weights.beside
    return listed


def select(
    judged: Sequence[Judged],
    *,
    enough: Callable[[Judged], bool],
    top_k: int,
    weights: Weights,
    keep_superseded: bool = False,
) -> list[Judged]:
    """The answer: at most `top_k`, best first, facts before the episodes they came from.

    Left out: what is not `enough`, what another listed memory replaces, and what says the same in the same words.
    """
    shown: list[Judged] = []
    said: set[str] = set()
    replaced = {old for one in judged if enough(one) for old in one.record.supersedes}
    for one in ranked([one for one in judged if enough(one)], weights):
        wording = _wording(one.record)
        if wording in said or (not keep_superseded and one.record.memory_id in replaced):
            continue
        said.add(wording)
        shown.append(one)
    return _facts_first(shown)[:top_k]


def _facts_first(shown: Sequence[Judged]) -> list[Judged]:
    """A fact takes its place right before the first listed episode it came from, if that one stands before it."""
    ordered = list(shown)
    for fact in [one for one in shown if one.record.layer is Layer.FACT]:
        events = {source.event_id for source in fact.record.sources}
        at = ordered.index(fact)
        for place, other in enumerate(ordered[:at]):
            if other.record.layer is Layer.EPISODE and other.record.source.event_id in events:
                ordered.insert(place, ordered.pop(at))
                break
    return ordered
