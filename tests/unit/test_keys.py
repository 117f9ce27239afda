"""What is worked out of a key is remembered for keys of the usual size only: some are as large as a record."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from aiokafka.partitioner import DefaultPartitioner

from streams import kafka
from streams.adapters.store import payload
from streams.adapters.store.payload import doc_id
from streams.kafka import LONGEST_KEPT_KEY, key_hash
from tests.memory_role import TENANT

TIMES = 20


@pytest.mark.parametrize("size", [0, 1, 7, LONGEST_KEPT_KEY, LONGEST_KEPT_KEY + 1])
@pytest.mark.parametrize("partitions", [1, 3, 64])
def test_a_partition_is_the_driver_s(size: int, partitions: int) -> None:
    every, key = list(range(partitions)), bytes(n % 251 for n in range(size))
    assert DefaultPartitioner()(key, every, every) == key_hash(key) % partitions == kafka._partition(key, every, every)


def test_a_key_that_is_none_of_ours_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(key: bytes) -> int:
        raise AssertionError("hashed byte by byte")

    monkeypatch.setattr(kafka, "key_hash", slow)
    every = list(range(64))
    found = {kafka._partition(bytes([n]) * 1_000_000, every, every) for n in range(20)}
    assert found <= set(every)
    assert len(found) > 5


@pytest.mark.parametrize(
    ("work", "size"),
    [
        (lambda number, size: key_hash(bytes([number]) * size), LONGEST_KEPT_KEY + 1),
        (lambda number, size: doc_id(TENANT, "directive", chr(64 + number) * size), payload.LONGEST_KEPT_KEY + 1),
    ],
)
def test_large_keys_are_not_kept(work: Callable[[int, int], object], size: int) -> None:
    work(0, size)
    tracemalloc.start()
    try:
        for number in range(1, TIMES):
            work(number, size)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < TIMES * size / 2
