"""From judged candidates to the list: what may be shown, in which order, each thing once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

import numpy as np

from schemas import Layer, MemoryRecord, MemoryStatus, RecallRequest, Source
from streams.memory.decay.fading import state
from streams.memory.lexical import fold
from streams.memory.ranking.score import Judged
from streams.memory.ranking.weights import Weights

_NO_LETTER: Final = re.compile(r"[\W_]+")
# What comes after so many is ordered by its likeness to the best, too.
LATER: Final = 5


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
    return _NO_LETTER.sub("", fold(record.content))


def same_words(one: MemoryRecord, other: MemoryRecord) -> bool:
    """Such as a fact and the episode that it came from: the answer has one of them."""
    return _wording(one) == _wording(other)


def ranked(
    judged: Sequence[Judged],
    worth_of: Callable[[Judged], float],
    weights: Weights,
    later: Mapping[str, float] = MappingProxyType({}),
) -> Iterator[Judged]:
    """Best first. A turn beside one already listed counts less: most of its evidence is that one's.

    `later`: worth by id that counts once `LATER` are listed.
    """
    ordered = sorted(judged, key=lambda one: one.record.memory_id)
    places = {one.record.memory_id: place for place, one in enumerate(ordered)}
    worth = np.array([worth_of(one) for one in ordered], np.float64)
    for place in range(len(ordered)):
        if place == LATER and later:
            worth += np.array([later.get(one.record.memory_id, 0.0) for one in ordered])
        best = int(worth.argmax())
        worth[best] = -np.inf
        yield ordered[best]
        for beside in ordered[best].beside:
            if beside in places:
                worth[places[beside]] += weights.beside


def select(
    judged: Sequence[Judged],
    *,
    enough: Callable[[Judged], bool],
    worth_of: Callable[[Judged], float],
    top_k: int,
    weights: Weights,
    keep_superseded: bool = False,
    later: Mapping[str, float] = MappingProxyType({}),
) -> list[Judged]:
    """The answer: at most `top_k`, best first, facts before the episodes they came from.

    Left out: what is not `enough`, what another candidate replaces, and what says the same in the same words.
    """
    supported = [one for one in judged if enough(one)]
    replaced = set() if keep_superseded else {old for one in supported for old in one.record.supersedes}
    shown: list[Judged] = []
    said: set[str] = set()
    for one in ranked(supported, worth_of, weights, later):
        wording = _wording(one.record)
        if wording in said or one.record.memory_id in replaced:
            continue
        said.add(wording)
        shown.append(one)
        if len(shown) == top_k:
            break
    return _pairs_together(_facts_first(shown), {one.record.memory_id: one for one in judged}, top_k)


def _pairs_together(shown: Sequence[Judged], by_id: Mapping[str, Judged], top_k: int) -> list[Judged]:
    """What could not be told apart comes together: the other half of a pair right after the first."""
    ordered: dict[str, Judged] = {}
    for one in shown:
        ordered.setdefault(one.record.memory_id, one)
        for other in one.record.ambiguous_with:
            if other in by_id:
                ordered.setdefault(other, by_id[other])
    return list(ordered.values())[:top_k]


def _facts_first(shown: Sequence[Judged]) -> list[Judged]:
    """A fact takes its place right before the first listed episode it came from, if that one stands before it."""
    ordered = list(shown)
    for fact in [one for one in shown if one.record.layer is Layer.FACT]:
        at = ordered.index(fact)
        for place, other in enumerate(ordered[:at]):
            if other.record.layer is Layer.EPISODE and _came_from(fact.record, other.record.source):
                ordered.insert(place, ordered.pop(at))
                break
    return ordered


def _came_from(fact: MemoryRecord, episode: Source) -> bool:
    """A long message is several episodes: is this the one that the fact, or a repeat of it, stands in?"""
    return any(
        (said.event_id, said.message) == (episode.event_id, episode.message)
        and (episode.end == 0 or episode.start <= said.start < episode.end)
        for said in fact.sources
    )
