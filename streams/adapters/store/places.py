"""Places in a session: which episodes stand around an anchor. Pure functions on sorted lists.

The order is (sequence, event id, message, start). An engine sorts by sequence alone, so episodes that share one
(the messages of one event often do) form a group whose inner order is looked up only where it matters.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas import MemoryRecord
from streams.adapters.store.layout import PointId

# (sequence, point id)
Place = tuple[int, PointId]
# (event id, message, start)
InGroup = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Anchor:
    id: PointId
    sequence: int
    rank: InGroup


def rank_of(record: MemoryRecord) -> InGroup:
    if not record.sources:
        return ("", 0, 0)
    own = record.source
    return (own.event_id, own.message, own.start)


def reach(order: Sequence[Place], sequence: int, before: int, after: int) -> tuple[int, int]:
    """The slice of `order` made of whole groups that holds the places around `sequence`."""
    low, high = bisect_left(order, (sequence,)), bisect_left(order, (sequence + 1,))
    if before and low:
        low = bisect_left(order, (order[max(0, low - before)][0],))
    if after and high < len(order):
        high = bisect_left(order, (order[min(len(order), high + after) - 1][0] + 1,))
    return low, high


def undecided(order: Sequence[Place], anchor: Anchor, before: int, after: int) -> Iterator[PointId]:
    """The points whose rank must be known to tell the places around the anchor."""
    low, high = reach(order, anchor.sequence, before, after)
    stands_there = any(point == anchor.id for _, point in order[low:high])
    for at in range(low, high):
        sequence, point = order[at]
        shared = (at > low and order[at - 1][0] == sequence) or (at + 1 < high and order[at + 1][0] == sequence)
        if shared or (sequence == anchor.sequence and not stands_there):
            yield point


def around(
    order: Sequence[Place], anchor: Anchor, ranks: Mapping[PointId, InGroup], before: int, after: int
) -> Sequence[PointId]:
    """The points up to `before`/`after` places from the anchor, in order, the anchor's own place included.

    `ranks` holds at least what `undecided` named. An anchor that has no place of its own (a fact) stands behind
    the episode that it was taken from.
    """
    low, high = reach(order, anchor.sequence, before, after)
    places = sorted((sequence, ranks.get(point, ("", 0, 0)), point) for sequence, point in order[low:high])
    points = [point for _, _, point in places]
    if anchor.id in points:
        at = points.index(anchor.id)
        return points[max(0, at - before) : at + after + 1]
    at = bisect_right(places, (anchor.sequence, anchor.rank), key=lambda place: place[:2])
    return points[max(0, at - before) : at + after]
