"""A first delivery in any order: the same memories with the same statuses."""

from __future__ import annotations

import random

import pytest

from streams.adapters.kafka_broker import EmbeddedKafka
from tests.chaos.test_kill import SEED, assert_same, undisturbed
from tests.traffic import traffic

EVENTS, TENANTS = 120, 8


@pytest.mark.timeout(900)
async def test_shuffled_ends_like_ordered(kafka: EmbeddedKafka, soak: int) -> None:
    seed = SEED + soak
    events = list(traffic(seed, EVENTS, TENANTS))
    expected = await undisturbed(kafka, events)
    assert "superseded" in {memory["status"] for memory in expected["records"].values()}
    mixed = random.Random(seed).sample(events, len(events))
    # In small batches, so that what is settled together differs as well.
    assert_same(await undisturbed(kafka, mixed, batch_max=7), expected)
