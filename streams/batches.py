"""A long sequence in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batched(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """As `itertools.batched` of Python 3.12: slices of at most `size`, in order."""
    for at in range(0, len(items), size):
        yield items[at : at + size]
