"""The fold over a neighbourhood: sorted by event time, each item repeats, replaces or stands alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from schemas.control import Supersede
from schemas.memory import Layer, MemoryRecord, MemoryStatus, MemoryType, Source
from streams.memory.settle.about import places
from streams.memory.settle.correction import best_fits, may_take_back
from streams.memory.settle.kinds import NONE, Kind, Relation
from streams.memory.settle.order import order, pair
from streams.memory.settle.relation import relate
from streams.ports import ModelProfile

MAX_SOURCES = 50
# How a reason ends when not settling but a directive decided.
CLIENT_SAID = "a client said so"
FORGOTTEN_SINCE = "which was forgotten since"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What settling derives for one memory; `apply` writes it into the record.

    `superseded_at`: when what replaced it began to hold. `updated_at`: the latest append time of its evidence.
    """

    status: MemoryStatus
    duplicate_of: str | None = None
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    ambiguous_with: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    reason: str = ""
    sources: tuple[Source, ...] = ()
    superseded_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(slots=True)
class _State:
    record: MemoryRecord
    duplicate_of: str | None = None
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    reason: str = ""
    repeats: list[str] = field(default_factory=list)
    ambiguous: set[str] = field(default_factory=set)
    linked: set[str] = field(default_factory=set)

    @property
    def current(self) -> bool:
        return self.duplicate_of is None and self.superseded_by is None


def settle(
    items: Sequence[MemoryRecord],
    near: Mapping[tuple[str, str], float],
    directives: Sequence[Supersede] = (),
    judged: Mapping[tuple[str, str], str] | None = None,
    *,
    profile: ModelProfile,
) -> dict[str, Verdict]:
    """The statuses of a neighbourhood, by memory id: a function of the set alone, whatever the order of arguments.

    `items`: whole connected components of the relation, every status and the archive included (`neighbourhood`
    loads them). What their status fields say now plays no part, but for `archived_at`. `near`: pairs (ids sorted)
    with cosine at or over `profile.conflict`. `directives`: client's (`inferred=False`), and markers of erasure
    (`inferred=True`: the newer half was forgotten, the older one stays superseded). `judged`: verdicts kept of pairs
    that the rules could not tell ("duplicate", "supersede", "independent"; "ambiguous" when they stay so).
    """
    return _folded(items, near, directives, judged or {}, profile).verdicts()


def undecided(
    items: Sequence[MemoryRecord],
    near: Mapping[tuple[str, str], float],
    directives: Sequence[Supersede] = (),
    judged: Mapping[tuple[str, str], str] | None = None,
    *,
    profile: ModelProfile,
) -> list[tuple[str, str]]:
    """The pairs (older, newer) that `settle` meets on its way, that the rules can't tell and nobody has judged."""
    return list(_folded(items, near, directives, judged or {}, profile).undecided)


def _folded(
    items: Sequence[MemoryRecord],
    near: Mapping[tuple[str, str], float],
    directives: Sequence[Supersede],
    judged: Mapping[tuple[str, str], str],
    profile: ModelProfile,
) -> _Fold:
    fold = _Fold(items, near, judged, profile)
    for step in _steps(fold.items, directives):
        if isinstance(step, Supersede):
            fold.direct(step)
        else:
            fold.add(step)
    return fold


def stated(record: MemoryRecord) -> list[Supersede]:
    """The directives that a correction with new text carries (`replaces`).

    They are stored beside clients' own, so that an id that is not there yet finds them when it appears.
    """
    return [
        Supersede(
            namespace=record.namespace,
            user_id=record.user_id,
            old_id=old,
            new_id=record.memory_id,
            occurred_at=record.occurred_at,
        )
        for old in record.replaces
    ]


def _steps(items: Mapping[str, MemoryRecord], directives: Sequence[Supersede]) -> list[MemoryRecord | Supersede]:
    """The history in its order: items as they were said, each directive as soon as its time has come and both of its
    memories are there."""
    ordered = sorted(items.values(), key=order)
    place = {record.memory_id: i for i, record in enumerate(ordered)}
    steps: list[tuple[tuple[datetime, int, int, str], MemoryRecord | Supersede]] = [
        ((r.occurred_at, 0, place[r.memory_id], ""), r) for r in ordered
    ]
    seen: set[tuple[str, str, datetime, bool]] = set()
    for d in (*directives, *(d for r in ordered for d in stated(r))):
        identity = (d.old_id, d.new_id, d.occurred_at, d.inferred)
        if identity in seen or d.old_id == d.new_id or d.old_id not in items:
            continue
        if d.new_id not in items and not d.inferred:
            continue  # pending until its memory appears
        if d.new_id in items and d.inferred:
            continue  # settling derives it again by itself
        seen.add(identity)
        known = [items[i].occurred_at for i in (d.old_id, d.new_id) if i in items]
        at = max(d.occurred_at, *known)
        # Of one event's statements the first fact comes last: it is the one that is named as the successor.
        steps.append(((at, 1, -place.get(d.new_id, 0), d.directive_id), d))
    steps.sort(key=lambda s: s[0])
    return [step for _, step in steps]


class _Fold:
    def __init__(
        self,
        items: Sequence[MemoryRecord],
        near: Mapping[tuple[str, str], float],
        judged: Mapping[tuple[str, str], str],
        profile: ModelProfile,
    ) -> None:
        self.items = {r.memory_id: r for r in items}
        self._near = near
        self._judged = judged
        self._profile = profile
        # In the order in which they are met.
        self.undecided: list[tuple[str, str]] = []
        self._states: dict[str, _State] = {}
        # By slot and by tag of what it is about.
        self._slots: dict[tuple[Layer, str], list[str]] = defaultdict(list)
        # Of those, what was current when it was last looked at: of a slot with one value at a time, one.
        self._live: dict[tuple[Layer, str], dict[str, None]] = defaultdict(dict)
        self._neighbours: dict[str, list[str]] = defaultdict(list)
        for one, other in near:
            if one in self.items and other in self.items:
                self._neighbours[one].append(other)
                self._neighbours[other].append(one)

    def add(self, record: MemoryRecord) -> None:
        """The item joins the earliest current memory that it repeats, replaces what it replaces, or stands alone."""
        state = _State(record)
        related = list(self._related(record))
        self._states[record.memory_id] = state
        for place in places(record):
            self._slots[record.layer, place].append(record.memory_id)
            self._live[record.layer, place][record.memory_id] = None
        about = best_fits((other.record, relation) for other, relation in related)
        for earlier, _ in about:
            state.linked.add(earlier.memory_id)
            self._states[earlier.memory_id].linked.add(record.memory_id)
        for other, relation in related:
            if relation.kind is Kind.REPEAT and other.current:
                state.duplicate_of = other.record.memory_id
                state.reason = f"repeats {other.record.memory_id}: {relation.reason}"
                other.repeats.append(record.memory_id)
                return
        for other, relation in related:
            target = self._survivor(other)
            if relation.kind is Kind.REPLACE and target.current and target is not state:
                self._supersede(target, state, relation.reason)
            elif relation.kind is Kind.AMBIGUOUS and target.current:
                target.ambiguous.add(record.memory_id)
                state.ambiguous.add(target.record.memory_id)
        for earlier, relation in about:
            target = self._survivor(self._states[earlier.memory_id])
            if target.current and target is not state:
                self._supersede(target, state, relation.reason)

    def direct(self, directive: Supersede) -> None:
        """A client's word, carried out when both memories are there: the old one goes, the new one stands."""
        old = self._survivor(self._states[directive.old_id])
        if directive.inferred:
            if old.superseded_by is None:
                old.superseded_by = directive.new_id
                old.superseded_at = directive.occurred_at
                old.reason = f"replaced by {directive.new_id}, {FORGOTTEN_SINCE}"
            return
        own = self._states[directive.new_id]
        new = self._survivor(own)
        if new is old:
            if own is old:
                return  # the old one repeats the new one and is hidden already
            # The client says that they are not the same: the new one stands on its own.
            old.repeats.remove(own.record.memory_id)
            own.duplicate_of, own.reason, new = None, "", own
        if new.superseded_by is not None:
            new.superseded_by, new.superseded_at, new.reason = None, None, ""
        for memory_id in (new.record.memory_id, *new.repeats):
            record = self.items[memory_id]
            for place in places(record):
                self._live[record.layer, place][memory_id] = None
        self._supersede(old, new, CLIENT_SAID, at=directive.occurred_at)

    def verdicts(self) -> dict[str, Verdict]:
        supersedes: dict[str, list[str]] = defaultdict(list)
        for memory_id, state in self._states.items():
            if state.superseded_by is not None:
                supersedes[state.superseded_by].append(memory_id)
        return {
            memory_id: self._verdict(state, tuple(sorted(supersedes[memory_id])))
            for memory_id, state in self._states.items()
        }

    def _verdict(self, state: _State, supersedes: tuple[str, ...]) -> Verdict:
        record = state.record
        repeats = [self._states[i].record for i in state.repeats]
        evidence = max(r.created_at for r in (record, *repeats))
        if state.duplicate_of is not None:
            status = MemoryStatus.DUPLICATE
        elif state.superseded_by is not None:
            status = MemoryStatus.SUPERSEDED
        elif record.archived_at is not None and evidence < record.archived_at:
            status = MemoryStatus.ARCHIVED
        else:
            status = MemoryStatus.ACTIVE
        if record.memory_type is MemoryType.DIGEST:
            # It repeats, replaces and contradicts nothing; its sources are those of its episodes.
            return Verdict(status=status, reason=record.reason, sources=record.sources)
        others = sorted((r.source for r in repeats), key=lambda s: (s.event_id, s.message, s.start, s.end))
        ambiguous = sorted(i for i in state.ambiguous if self._states[i].current) if state.current else []
        return Verdict(
            status=status,
            duplicate_of=state.duplicate_of,
            superseded_by=state.superseded_by,
            supersedes=supersedes,
            ambiguous_with=tuple(ambiguous),
            linked=tuple(sorted(state.linked)),
            reason=state.reason or ("may contradict another statement" if ambiguous else ""),
            sources=tuple(dict.fromkeys((record.source, *others)))[:MAX_SOURCES],
            superseded_at=state.superseded_at,
            updated_at=evidence if repeats else None,
        )

    def _survivor(self, state: _State) -> _State:
        return self._states[state.duplicate_of] if state.duplicate_of is not None else state

    def _is_current(self, memory_id: str) -> bool:
        """Itself or what it repeats."""
        return self._survivor(self._states[memory_id]).current

    def _supersede(self, old: _State, new: _State, why: str, at: datetime | None = None) -> None:
        old.superseded_by = new.record.memory_id
        old.superseded_at = at or new.record.valid_from or new.record.occurred_at
        old.reason = f"replaced by {new.record.memory_id}: {why}"

    def _related(self, record: MemoryRecord) -> Iterator[tuple[_State, Relation]]:
        """Earlier items with a relation to `record`, earliest first."""
        corrects = may_take_back(record)
        mine = dict.fromkeys(self._neighbours[record.memory_id])
        for place in ((record.layer, name) for name in places(record)):
            self._live[place] = {i: None for i in self._live[place] if self._is_current(i)}
            mine |= dict.fromkeys(self._slots[place]) if corrects else self._live[place]
        # Only a correction is linked with what is no longer current.
        known = [i for i in mine if i in self._states and (corrects or self._is_current(i))]
        for other in sorted(known, key=lambda i: order(self.items[i])):
            relation = self._relation(self.items[other], record)
            if relation.kind is not Kind.NONE:
                yield self._states[other], relation

    def _relation(self, old: MemoryRecord, new: MemoryRecord) -> Relation:
        both = pair(old.memory_id, new.memory_id)
        relation = relate(old, new, self._near.get(both), self._profile)
        if relation.kind is not Kind.AMBIGUOUS:
            return relation
        match self._judged.get(both):
            case "duplicate":
                return Relation(Kind.REPEAT, "judged to say the same")
            case "supersede":
                return Relation(Kind.REPLACE, "judged to replace it")
            case "independent":
                return NONE
            case None:
                self.undecided.append((old.memory_id, new.memory_id))
                return relation
            case _:
                return relation
