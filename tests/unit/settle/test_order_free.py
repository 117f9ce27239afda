"""Memory is a fold over a user's history: order, repetition and batching of deliveries change nothing."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from schemas import MemoryRecord, MemoryStatus, Supersede
from streams.memory.settle.kinds import Kind
from streams.memory.settle.order import order, pair
from streams.memory.settle.relation import relate
from streams.ports import StoredMemory
from tests.unit.settle.histories import PROFILE, History, at_once, deliver, histories, near_pairs

EXAMPLES = int(os.environ.get("MEMSTREAM_EXAMPLES", "500"))
LONG = 20_000
CURRENT = (MemoryStatus.ACTIVE, MemoryStatus.ARCHIVED)
PROOF = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def scrambled(history: History, chance: random.Random) -> list[list[StoredMemory] | Supersede]:
    """Any order, any batches, some deliveries repeated, directives anywhere."""
    memories = list(history.memories)
    memories += chance.sample(memories, chance.randint(0, len(memories)))
    chance.shuffle(memories)
    steps: list[list[StoredMemory] | Supersede] = []
    while memories:
        size = chance.randint(1, 4)
        batch, memories = memories[:size], memories[size:]
        steps.append(list({m.record.memory_id: m for m in batch}.values()))
    for directive in history.directives:
        for _ in range(chance.randint(1, 2)):
            steps.insert(chance.randint(0, len(steps)), directive)
    return steps


def any_delivery_gives_the_state_of_the_set(history: History, chance: random.Random) -> None:
    assert asyncio.run(deliver(scrambled(history, chance))) == at_once(history)


def the_state_of_a_set_is_sound(history: History, chance: random.Random) -> None:
    state = at_once(history)
    the_order_of_arguments_does_not_matter(history, state, chance)
    settling_again_changes_nothing(history, state)
    statuses_are_consistent(state)
    superseding_has_no_cycle(state)
    a_slot_with_one_value_has_one_truth(history, state)


State = dict[str, MemoryRecord]


def the_order_of_arguments_does_not_matter(history: History, state: State, chance: random.Random) -> None:
    memories, directives = list(history.memories), list(history.directives)
    chance.shuffle(memories)
    chance.shuffle(directives)
    assert at_once(History(tuple(memories), (*directives, *directives))) == state


def settling_again_changes_nothing(history: History, state: State) -> None:
    again = tuple(StoredMemory(state[m.record.memory_id], m.vector, m.sparse) for m in history.memories)
    assert at_once(History(again, history.directives)) == state


def statuses_are_consistent(state: State) -> None:
    for memory in state.values():
        match memory.status:
            case MemoryStatus.DUPLICATE:
                assert memory.duplicate_of is not None
                assert memory.superseded_by is None
                # No chains: what is repeated stands for itself.
                assert state[memory.duplicate_of].duplicate_of is None
                assert memory.source in state[memory.duplicate_of].sources
                assert memory.duplicate_of in memory.reason
            case MemoryStatus.SUPERSEDED:
                assert memory.superseded_by is not None
                assert memory.memory_id in state[memory.superseded_by].supersedes
                assert memory.superseded_at is not None
                assert memory.superseded_by in memory.reason
            case MemoryStatus.ACTIVE | MemoryStatus.ARCHIVED:
                assert memory.duplicate_of is None
                assert memory.superseded_by is None
                assert memory.superseded_at is None
                assert (memory.status is MemoryStatus.ARCHIVED) <= (memory.archived_at is not None)
                # What may contradict another says so on both sides.
                assert all(memory.memory_id in state[i].ambiguous_with for i in memory.ambiguous_with)
        for older in memory.supersedes:
            assert state[older].superseded_by == memory.memory_id


def superseding_has_no_cycle(state: State) -> None:
    for memory in state.values():
        seen = {memory.memory_id}
        while memory.superseded_by is not None:
            memory = state[memory.superseded_by]
            assert memory.memory_id not in seen
            seen.add(memory.memory_id)


def a_slot_with_one_value_has_one_truth(history: History, state: State) -> None:
    """No two current statements of a single-valued slot that the rules would let replace each other."""
    near = near_pairs(history.memories)
    # A client's word stands above the rules.
    told = {i for d in history.directives for i in (d.old_id, d.new_id)}
    told |= {i for m in state.values() if m.replaces for i in (m.memory_id, *m.replaces)}
    # It is carried out on what stands for a repeat.
    told |= {str(m.duplicate_of) for m in state.values() if m.memory_id in told and m.duplicate_of}
    current = sorted(
        (m for m in state.values() if m.slot == "user|city" and m.status in CURRENT and m.memory_id not in told),
        key=order,
    )
    for older, newer in combinations(current, 2):
        score = near.get(pair(older.memory_id, newer.memory_id))
        assert relate(older, newer, score, PROFILE).kind is not Kind.REPLACE


CHANCES = st.randoms(use_true_random=False)
test_any_delivery_gives_the_state_of_the_set = PROOF(
    given(histories(), CHANCES)(any_delivery_gives_the_state_of_the_set)
)
test_the_state_of_a_set_is_sound = PROOF(given(histories(), CHANCES)(the_state_of_a_set_is_sound))


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("law", [any_delivery_gives_the_state_of_the_set, the_state_of_a_set_is_sound])
def test_in_the_long_form(law: Callable[[History, random.Random], None], soak: int) -> None:
    """20,000 histories, with other seeds for each number given to `--soak`."""
    if not soak:
        pytest.skip("the long form: pytest --soak")

    @seed(soak)
    @settings(PROOF, max_examples=LONG, database=None)
    @given(histories(), CHANCES)
    def hold(history: History, chance: random.Random) -> None:
        law(history, chance)

    hold()
