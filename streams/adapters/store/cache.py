"""What a process that owns the store alone may remember between calls."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, TypeVar

from streams.adapters.store.layout import PointId
from streams.adapters.store.places import Place

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The `size` values used last."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)

    def drop(self, keys: Iterable[K]) -> None:
        for key in keys:
            self._values.pop(key, None)

    def clear(self) -> None:
        self._values.clear()


class Sessions:
    """Sorted places of the sessions asked for last, kept current by the store's own writes.

    Bounded by the number of places: a session of one hour and one of ten years cost what they are.
    """

    def __init__(self, places: int) -> None:
        self._limit = places
        self._held = 0
        self._orders: OrderedDict[tuple[str, str], list[Place]] = OrderedDict()

    def get(self, tenant: str, session: str) -> list[Place] | None:
        order = self._orders.get((tenant, session))
        if order is not None:
            self._orders.move_to_end((tenant, session))
        return order

    def put(self, tenant: str, session: str, order: list[Place]) -> None:
        """`order` is sorted and complete."""
        self._held -= len(self._orders.pop((tenant, session), [])) + 1 if (tenant, session) in self._orders else 0
        self._orders[tenant, session] = order
        self._held += len(order) + 1
        while self._held > self._limit and len(self._orders) > 1:
            _, oldest = self._orders.popitem(last=False)
            self._held -= len(oldest) + 1

    def add(self, tenant: str, session: str, place: Place) -> None:
        order = self._orders.get((tenant, session))
        if order is not None:
            insort(order, place)
            self._held += 1

    def remove(self, tenant: str, session: str, sequence: int, point: PointId) -> None:
        order = self._orders.get((tenant, session))
        if order is None:
            return
        at = bisect_left(order, (sequence, point))
        if at < len(order) and order[at] == (sequence, point):
            del order[at]
            self._held -= 1

    def clear(self) -> None:
        self._orders.clear()
        self._held = 0
