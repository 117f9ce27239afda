"""A simulated year: 1,460 windows on a fake clock over a population with patterns of use."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from schemas import Access, CandidateEvent, MemoryRecord, MemoryType
from streams.memory.decay import CLOSED, carry_out, due, effective_importance, last_active, reinforce, windows
from streams.memory.decay.due import IDLE_TO_ARCHIVE
from tests.memory_role import MemoryRole, episode, fact, said
from tests.unit.settle.histories import START, TENANT, record

DAY = timedelta(days=1)
YEAR = 365 * DAY
POPULATION = 120


def population(chance: random.Random) -> list[MemoryRecord]:
    """Memories that are said over the year: facts, and tasks with an end."""
    born = sorted(chance.randint(0, 330) for _ in range(POPULATION))
    return [
        record(i, day, f"statement {i}", importance=chance.randint(1, 5))
        if i % 3
        else record(i, day, f"task {i}", memory_type="task", valid_until=START + (day + chance.randint(1, 60)) * DAY)
        for i, day in enumerate(born)
    ]


def accesses(memories: list[MemoryRecord], chance: random.Random) -> list[Access]:
    """A third is used every few weeks, a third now and then, a third never."""
    moments: list[tuple[datetime, str]] = []
    for i, memory in enumerate(memories):
        gap = (20, 120, None)[i % 3]
        at = memory.created_at
        while gap is not None and (at := at + chance.uniform(0.2, 1.8) * gap * DAY) < START + YEAR:
            moments.append((at, memory.memory_id))
    return [
        Access(
            namespace=TENANT.namespace,
            user_id=TENANT.user_id,
            memory_ids=(memory_id,),
            partition=0,
            offset=offset,
            accessed_at=at,
        )
        for offset, (at, memory_id) in enumerate(sorted(moments))
    ]


State = dict[str, MemoryRecord]


def work_off(state: State, window_end: datetime) -> None:
    for memory_id, memory in state.items():
        if memory.created_at < window_end:
            state[memory_id] = carry_out(memory, due(memory, window_end), window_end)


def use(state: State, happened: list[Access]) -> None:
    for access in happened:
        for memory_id in access.memory_ids:
            state[memory_id] = reinforce(state[memory_id], [access])


def live(memories: list[MemoryRecord], used: list[Access]) -> Iterator[tuple[datetime, State]]:
    """Windows as they end, accesses as they come."""
    state = {m.memory_id: m for m in memories}
    waiting = list(used)
    for _, end in windows(START, START + YEAR):
        while waiting and waiting[0].accessed_at < end:
            use(state, [waiting.pop(0)])
        work_off(state, end)
        yield end, state


@pytest.fixture(params=[1, 2, 3])
def year(request: pytest.FixtureRequest) -> tuple[list[MemoryRecord], list[Access]]:
    chance = random.Random(request.param)
    memories = population(chance)
    return memories, accesses(memories, chance)


def test_the_curves_of_a_year(year: tuple[list[MemoryRecord], list[Access]]) -> None:
    memories, used = year
    count = 0
    for end, state in live(memories, used):
        count += 1
        said = [m for m in state.values() if m.created_at < end]
        online = [m for m in said if m.archived_at is None]
        # What is online was used or said within 90 days: the online set is bounded by what is in use.
        assert all(end - last_active(m) <= IDLE_TO_ARCHIVE for m in online)
        assert all(1 <= effective_importance(m, end) <= 5 for m in said)
        for memory in said:
            if memory.archived_at is not None:
                assert end - last_active(memory) > IDLE_TO_ARCHIVE
    assert count == 4 * 365
    tasks = [m for m in state.values() if m.memory_type == "task" and m.archived_at is None]
    assert all("closed" in m.tags for m in tasks if m.valid_until is not None and m.valid_until <= START + YEAR)


def test_late_windows_end_the_same(year: tuple[list[MemoryRecord], list[Access]]) -> None:
    """All missed windows caught up at the end of the year, after all accesses."""
    memories, used = year
    *_, (_, expected) = live(memories, used)
    state = {m.memory_id: m for m in memories}
    use(state, used)
    for _, end in windows(START, START + YEAR):
        work_off(state, end)
    assert state.keys() == expected.keys()
    for memory_id, memory in state.items():
        assert memory.archived_at == expected[memory_id].archived_at
        assert effective_importance(memory, START + YEAR) == effective_importance(expected[memory_id], START + YEAR)


def test_restarts_and_repeated_ticks_change_nothing(year: tuple[list[MemoryRecord], list[Access]]) -> None:
    memories, used = year
    *_, (_, expected) = live(memories, used)
    chance = random.Random(0)
    state = {m.memory_id: m for m in memories}
    done = 0
    for _, end in windows(START, START + YEAR):
        # Accesses come again, ticks come twice, and a restart reads the state back from its bytes.
        again = max(0, done - chance.randint(0, 5))
        while done < len(used) and used[done].accessed_at < end:
            done += 1
        use(state, used[again:done])
        for _ in range(chance.randint(1, 2)):
            work_off(state, end)
        if chance.random() < 0.02:
            state = {i: MemoryRecord.from_bytes(m.to_bytes()) for i, m in state.items()}
    assert state == expected


async def lived(role: MemoryRole, seed: int, *, restarts: bool) -> dict[str, MemoryRecord]:
    """A year by the stage of the windows, over a store: facts, tasks, sessions of chat, and who uses what."""
    chance = random.Random(seed)
    happens: list[tuple[datetime, CandidateEvent]] = []
    for number in range(40):
        at = START + chance.uniform(0, 330) * DAY
        task = {"memory_type": "task", "valid_until": at + chance.randint(1, 60) * DAY}
        stated = fact(f"statement {number} {chance.random()}", **(task if number % 4 == 0 else {}))
        happens.append((at, said(f"f{number}", at, stated, session=f"f{number}")))
    for number in range(12):
        at = START + chance.uniform(0, 250) * DAY
        lines = [episode(f"{number}: the ticket {at} was {line} euros", message=line) for line in range(4)]
        happens.append((at, said(f"s{number}", at, *lines, session=f"s{number}")))
    waiting = sorted(happens, key=lambda one: one[0])
    used: list[tuple[datetime, str]] = []
    offset = 0
    again = random.Random(0)
    for _, end in windows(START, START + YEAR):
        while waiting and waiting[0][0] < end:
            at, event = waiting.pop(0)
            await role.tell("candidates", event, at)
            gap = (20, 120, None)[chance.randrange(3)]
            moment = at
            while gap is not None and (moment := moment + chance.uniform(0.2, 1.8) * gap * DAY) < START + YEAR:
                used.append((moment, event.event_id))
        for moment, event_id in sorted(use for use in used if use[0] < end):
            ids = [i for i, m in (await role.memories()).items() if m.source.event_id == event_id and not m.digest_of]
            offset += 1
            await role.access(moment, offset, *ids)
        used = [use for use in used if use[0] >= end]
        for _ in range(again.randint(1, 2) if restarts else 1):
            await role.window(end)
        if restarts and again.random() < 0.05:
            role.start()
        online = await role.memories(archive=False)
        assert all(end - last_active(m) <= IDLE_TO_ARCHIVE for m in online.values())
    return await role.memories()


async def test_a_year_by_the_stage() -> None:
    """What is online was used, said or folded within 90 days; old chats are digests; restarts change nothing."""
    role = MemoryRole()
    state = await lived(role, 1, restarts=False)
    assert all(1 <= effective_importance(m, START + YEAR) <= 5 for m in state.values())
    digests = [m for m in state.values() if m.memory_type is MemoryType.DIGEST]
    assert digests
    assert all(state[i].archived_at or state[i].access_count for digest in digests for i in digest.digest_of)
    tasks = [m for m in state.values() if m.memory_type is MemoryType.TASK and m.archived_at is None]
    assert all(CLOSED in m.tags for m in tasks if m.valid_until is not None and m.valid_until <= START + YEAR)
    assert role.log() == state
    assert await lived(MemoryRole(), 1, restarts=True) == state
