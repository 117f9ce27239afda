"""How much each candidate says about the query. Pure: candidates in, numbers with their reasons out.

The evidence is one sum for all candidates of all queries: IDF-weighted coverage of the query's words and cosine above
the candidates' mean, each in units of its usual spread, both with what the turns around add, plus matches. Because
the scale is fixed, and not standardised query by query, the same number orders candidates and can be held against a
threshold: the best of nothing stays low. (Measured: fixed scales order as well as z-scores do.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Final

import numpy as np

from schemas import Layer, MemoryRecord
from streams.memory.lexical import K1, ROLE_NAMES, fold, term_id, terms
from streams.memory.ranking.query import Period, Understanding
from streams.memory.ranking.slots import fills
from streams.memory.ranking.turns import Floats, Kind, context, kind_of, place_of, steps
from streams.memory.ranking.wanted import holds
from streams.memory.ranking.weights import Weights
from streams.ports import FoundMemory

DAY: Final = timedelta(days=1)
# A date match fades over a week before the asked period and two weeks after it: people tell of things afterwards.
FADE_BEFORE: Final = 7 * DAY
FADE_AFTER: Final = 14 * DAY
# With few candidates their mean says little about what is common to all: it is shrunk by this many.
MEAN_NEEDS: Final = 20
# Whether extraction kept a turn says half as much among this many candidates: some other turn always is kept.
UNKEPT_FADES: Final = 20
_LONG_TURN: Final = 3.0


# Not frozen, as `Judged`: a recall makes hundreds.
@dataclass(slots=True)
class Candidate:
    """`anchor`: found by its own text; else it stands beside such a one."""

    memory: FoundMemory
    anchor: bool

    @property
    def record(self) -> MemoryRecord:
        return self.memory.record


@dataclass(frozen=True, slots=True)
class Reasons:
    """What speaks for one candidate. `coverage` (about 0-1) and `cosine` are with context; `matched`: words of the
    query found."""

    parts: Mapping[str, float] = field(default_factory=dict)
    coverage: float = 0.0
    cosine: float = 0.0
    matched: tuple[str, ...] = ()
    person: str | None = None
    period: Period | None = None


# Not frozen: a recall makes a hundred, and freezing costs as much as all else in scoring.
@dataclass(slots=True)
class Judged:
    """`evidence`, the sum of the weighted parts, orders; `support` says how sure an answer it is and is held against
    the threshold; `alone` is what of it nothing around has lent. `beside`: ids of the turns right before and after
    among the candidates.

    `reasons` is a function: a hundred are judged, and only what is shown is explained.
    """

    record: MemoryRecord
    evidence: float
    support: float
    alone: float
    beside: Sequence[str] = ()
    reasons: Callable[[], Reasons] = Reasons


def name_of(record: MemoryRecord) -> str | None:
    """The speaker's name; None for a role such as "user"."""
    speaker = (record.speaker or "").strip()
    return speaker if speaker and fold(speaker) not in ROLE_NAMES else None


def speakers_of(records: Sequence[MemoryRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for record in records if (name := name_of(record))))


def asked_persons(understanding: Understanding, speakers: Sequence[str]) -> tuple[str, ...]:
    """Who the query is about: the names that it gives, else the speakers that its words name."""
    if understanding.persons:
        return understanding.persons
    words = set(understanding.words)
    return tuple(name for name in speakers if words.intersection(terms(name)))


def score(
    understanding: Understanding,
    candidates: Sequence[Candidate],
    cosines: Mapping[str, float] | None,
    *,
    weights: Weights,
    usual_cosine: float,
) -> list[Judged]:
    """Every candidate judged, in reading order.

    `cosines`: of the query with the memories by id, None when there is no model; one that is missing is 0.
    `usual_cosine`: the cosine of a fair match by this model, its profile's `recall`: cosines of different models are
    brought to one scale by it.
    """
    if not candidates:
        return []
    found = sorted(candidates, key=lambda one: place_of(one.record))
    records = [one.record for one in found]
    kinds = [kind_of(record) for record in records]
    linked = steps(records, [one.anchor for one in found], weights.neighbours)
    for_words, for_meaning = context(linked, kinds, weights)
    persons = asked_persons(understanding, speakers_of(records))
    names = set(chain.from_iterable(map(terms, persons)))

    own = [term for term in understanding.words if term not in names]
    added = {term: weight for term, weight in understanding.added.items() if term not in names}
    presence = _presence(found, [*own, *added, *names])
    coverage = _coverage(presence, own, added, for_words)
    coverage_alone = _coverage(presence, own, added)
    near = cosines or {}
    own_cosines = np.array([near.get(record.memory_id, 0.0) for record in records])
    covered, meaning = coverage, weights.meaning
    if understanding.several:
        # What answers in part stands by itself all over; what stands around it is seldom another part.
        for_words, for_meaning = (_less(matrix, weights.context_of_several) for matrix in (for_words, for_meaning))
        covered = _coverage(presence, own, added, for_words)
        meaning *= weights.meaning_of_several
    cosine = _above_common(own_cosines, for_meaning)
    about, who = _persons(records, persons, presence, len(own) + len(added), list(names))
    date, when = _dates(records, understanding.periods)
    telling = np.array([float(period is not None and not period.around_now) for period in when])
    slot = np.array([float(fills(record, understanding.slots)) for record in records])
    kept = _kept(records)
    to_usual = weights.usual_cosine / usual_cosine
    columns = {
        "words": covered
        / weights.words_spread
        * (weights.words_of_dialogue if understanding.dialogue else weights.words),
        "meaning": cosine / weights.meaning_spread * meaning * to_usual,
        "person": about * weights.person,
        "date": date * weights.date,
        "asked_for": _asked_for(understanding, records) * weights.asked_for,
        "slot": slot * weights.slot,
    }
    if not understanding.dialogue:
        # A dialogue looks for what is akin to it, not for an answer.
        columns |= _kinds(found, kinds, linked, weights) | {"kept": kept * weights.kept}
    evidence = np.sum(list(columns.values()), axis=0)
    matches = about * weights.support_person + date * telling * weights.support_date + slot * weights.support_slot
    share = 1.0 if cosines is None else weights.support_words
    support = coverage * share + _nearest(own_cosines, linked, kinds) * to_usual + matches
    alone = coverage_alone * share + own_cosines * to_usual + matches
    if not understanding.dialogue:
        support += _untold(kinds, kept, weights)

    def reasons(at: int) -> Reasons:
        return Reasons(
            parts={name: float(column[at]) for name, column in columns.items() if column[at]},
            coverage=float(coverage[at]),
            cosine=float(cosine[at]),
            matched=tuple(term for term, weight in zip(own, presence[at], strict=False) if weight),
            person=who[at],
            period=when[at],
        )

    beside: list[list[str]] = [[] for _ in records]
    for at in np.flatnonzero(linked).tolist():
        beside[at - 1].append(records[at].memory_id)
        beside[at].append(records[at - 1].memory_id)
    judged = zip(records, evidence.tolist(), support.tolist(), alone.tolist(), beside, strict=True)
    return [Judged(*one, reasons=partial(reasons, at)) for at, one in enumerate(judged)]


def _presence(found: Sequence[Candidate], wanted: Sequence[str]) -> Floats:
    """(n, len(wanted)): BM25 weight of each wanted term in each candidate's own text, 0 where it does not occur.

    Read from the stored sparse vectors, so no text is tokenised again.
    """
    columns: dict[int, list[int]] = {}
    for column, term in enumerate(wanted):
        columns.setdefault(term_id(term), []).append(column)
    presence = np.zeros((len(found), len(wanted)))
    if not columns:
        return presence
    lengths = [len(one.memory.sparse.indices) for one in found]
    size = sum(lengths)
    ids = np.fromiter(chain.from_iterable(one.memory.sparse.indices for one in found), np.int64, size)
    values = np.fromiter(chain.from_iterable(one.memory.sparse.values for one in found), np.float64, size)
    rows = np.repeat(np.arange(len(found)), lengths)
    hits = np.flatnonzero(np.isin(ids, np.fromiter(columns, np.int64, len(columns))))
    for row, index, value in zip(rows[hits].tolist(), ids[hits].tolist(), values[hits].tolist(), strict=True):
        for column in columns[index]:
            presence[row, column] = value
    return presence


def _coverage(presence: Floats, own: Sequence[str], added: Mapping[str, float], around: Floats | None = None) -> Floats:
    """Share of the query's IDF that a turn and those around it hold, about 0-1; without `around` what it holds alone.

    The document frequencies are those among the candidates: nothing lost against exact statistics of the tenant, and
    nothing to keep up to date.
    """
    n = len(presence)
    size = len(own) + len(added)
    if not size:
        return np.zeros(n)
    here = presence[:, :size]
    df = (here > 0).sum(axis=0)
    idf = np.log1p((n - df + 0.5) / (df + 0.5))
    whole = float(idf[: len(own)].sum()) or 1.0
    held = here if around is None else around @ here
    held = held * (1 + K1) / (held + K1)
    coverage: Floats = held @ (idf * np.array([1.0] * len(own) + list(added.values()))) / whole
    return coverage


def _above_common(cosines: Floats, around: Floats) -> Floats:
    """Cosine above the candidates' mean, with what the turns around add."""
    common = max(0.0, float(cosines.mean())) * len(cosines) / (len(cosines) + MEAN_NEEDS)
    above: Floats = around @ (cosines - common)
    return above


def _less(around: Floats, share: float) -> Floats:
    """The same context at a share of its weight."""
    own = np.eye(len(around))
    less: Floats = own + (around - own) * share
    return less


def _nearest(cosines: Floats, linked: Sequence[bool], kinds: Sequence[Kind]) -> Floats:
    """The best cosine of a turn and the two beside it. What is only wished lends nothing to what stands beside it."""
    lent = np.where([kind.only_wished for kind in kinds], -1.0, cosines)
    nearest = cosines.copy()
    after = np.flatnonzero(linked)
    nearest[after] = np.maximum(nearest[after], lent[after - 1])
    nearest[after - 1] = np.maximum(nearest[after - 1], lent[after])
    return nearest


def _persons(
    records: Sequence[MemoryRecord], persons: Sequence[str], presence: Floats, first: int, names: Sequence[str]
) -> tuple[Floats, list[str | None]]:
    """1 where a candidate is of a person that was asked about: said by them, or about them where no one is named."""
    about = np.zeros(len(records))
    who: list[str | None] = [None] * len(records)
    if not persons:
        return about, who
    columns = {name: first + j for j, name in enumerate(names)}
    speakers = [name_of(record) for record in records]
    for person in persons:
        parts = terms(person)
        same = {speaker for speaker in set(speakers) if speaker and not set(parts).isdisjoint(terms(speaker))}
        named = np.all(presence[:, [columns[part] for part in parts]] > 0, axis=1).tolist()
        for i, record in enumerate(records):
            told = record.layer is Layer.FACT or speakers[i] is None
            if speakers[i] in same or (told and parts and named[i]):
                about[i] = 1.0
                who[i] = person
    return about, who


def _closeness(at: datetime, period: Period) -> float:
    start = period.start or (period.end or at) - 30 * DAY
    end = period.end or start + 30 * DAY
    if at < start:
        return max(0.0, 1 - (start - at) / FADE_BEFORE)
    if at >= end:
        return max(0.0, 1 - (at - end) / FADE_AFTER)
    return 1.0


def _dates(records: Sequence[MemoryRecord], periods: Sequence[Period]) -> tuple[Floats, list[Period | None]]:
    """How near each candidate was said to a period that was asked about, or what it tells of lies in it."""
    close = np.zeros(len(records))
    which: list[Period | None] = [None] * len(records)
    for i, record in enumerate(records):
        for period in periods:
            near = _closeness(record.occurred_at, period)
            told = record.time.start if record.time is not None else None
            if told is not None:
                near = max(near, _closeness(told, period))
            if near > close[i]:
                close[i], which[i] = near, period
    return close, which


def _asked_for(understanding: Understanding, records: Sequence[MemoryRecord]) -> Floats:
    """1 where a candidate holds the kind of thing that was asked for: a time, a place …"""
    kind = understanding.asks
    if kind is None:
        return np.zeros(len(records))
    return np.array([float(holds(record.content, kind)) for record in records])


def _kept(records: Sequence[MemoryRecord]) -> Floats:
    """1 where extraction found a fact: the fact, and the turn that it stands in."""
    told = {
        (source.event_id, source.message)
        for record in records
        if record.layer is Layer.FACT
        for source in record.sources
    }
    if not told:
        return np.zeros(len(records))
    return np.array(
        [
            float(not told.isdisjoint((source.event_id, source.message) for source in record.sources))
            for record in records
        ]
    )


def _untold(kinds: Sequence[Kind], kept: Floats, weights: Weights) -> Floats:
    """What a turn is less of an answer for asking, wishing or imagining, or for holding nothing worth a fact."""
    unkept = weights.support_unkept * UNKEPT_FADES / (UNKEPT_FADES + len(kinds))
    asked_or_wished = [
        kind.only_wished * weights.support_wished or kind.ends_asking * weights.support_question for kind in kinds
    ]
    return np.array(asked_or_wished) + (1 - kept) * unkept


def _kinds(
    found: Sequence[Candidate], kinds: Sequence[Kind], linked: Sequence[bool], weights: Weights
) -> dict[str, Floats]:
    """What a turn is worth by its kind alone."""
    n = len(found)
    question = np.array([float(kind.ends_asking) for kind in kinds])
    answer = np.zeros(n)
    for i in range(1, n):
        before, here = found[i - 1].record, found[i].record
        answer[i] = linked[i] and kinds[i - 1].asks and before.speaker != here.speaker
    length = np.array([min(math.log1p(len(one.memory.sparse.indices)), _LONG_TURN) for one in found])
    first_person = np.array([float(kind.first_person) for kind in kinds])
    return {
        "question": question * weights.question,
        "answer": answer * weights.answer,
        "length": length * weights.length,
        "first_person": first_person * weights.first_person,
    }
