"""Memories exported and taken back: as they were, and they go on as they would have."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from schemas import MemoryRecord, MemoryStatus, MemoryType, Supersede
from streams.adapters.embedders.constant import ConstantEmbedder
from streams.transfer import Importer, Taken
from tests.memory_role import REDACTOR, TENANT, MemoryRole, by_content, episode, fact, said

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
CITY = {"subject": "user", "attribute": "city", "cardinality": "single"}


async def lived(role: MemoryRole) -> None:
    """Something of everything: repeats, what was replaced by settling, by a client and since forgotten, a digest."""
    for number, text in enumerate(("I met Ann Lee in Porto.", "The ticket was 42.50 euros.", "Bob has the keys.")):
        await role.tell("candidates", said(f"chat-{number}", START, episode(text)), START)
    await role.window(START + 31 * DAY)
    at = START + 40 * DAY
    for number, value in enumerate(("Bonn", "Oslo", "Oslo")):
        moved = said(f"city-{number}", at + number * DAY, fact(f"I live in {value}", value=value, **CITY))
        await role.tell("candidates", moved, at + number * DAY)
    for number, text in enumerate(("The dog is called Rex", "Jazz is on at the weekend", "The lease ends in May")):
        await role.tell("candidates", said(f"fact-{number}", at, fact(text)), at)
    await role.drain()
    memories = by_content((await role.memories()).values())
    old, new = memories["The dog is called Rex"], memories["Jazz is on at the weekend"]
    lease = memories["The lease ends in May"]
    for one, other in ((old, new), (lease, new)):
        told = Supersede(old_id=one.memory_id, new_id=other.memory_id, occurred_at=at + DAY, **TENANT.model_dump())
        await role.tell("supersede", told, at)
        if one is old:
            await role.access(at + 2 * DAY, 5, other.memory_id)
    await role.forget(at + 3 * DAY, "c", "memories", memory_ids=(new.memory_id,))


async def taken(role: MemoryRole, records: Sequence[MemoryRecord], *, dimension: int = 64) -> Taken:
    embedder = ConstantEmbedder(dimension)
    return await Importer(role.store, embedder, role.kept, REDACTOR).take(records)  # type: ignore[arg-type]


@pytest.fixture
async def role() -> MemoryRole:
    made = MemoryRole()
    await lived(made)
    return made


async def test_a_round_trip_loses_nothing(role: MemoryRole) -> None:
    memories = await role.memories()
    statuses = {m.status for m in memories.values()}
    assert statuses == set(MemoryStatus)
    assert any(m.memory_type is MemoryType.DIGEST for m in memories.values())
    other = MemoryRole()
    lines = [m.model_dump_json(exclude_none=True) for m in memories.values()]
    assert (await taken(other, [MemoryRecord.model_validate_json(line) for line in lines])).stored == len(lines)
    assert await other.memories() == other.log() == memories
    assert await other.memories(archive=True) == await role.memories(archive=True)
    again = await taken(other, list(memories.values()))
    assert (again.stored, again.known) == (0, len(memories))


async def test_what_was_taken_back_goes_on_as_it_would_have(role: MemoryRole) -> None:
    memories = await role.memories()
    other = MemoryRole()
    await taken(other, list(memories.values()), dimension=384)
    await lived_again(other)
    assert await other.memories() == memories, "the same events again are duplicates"
    later = START + 60 * DAY
    for one in (role, other):
        for number, text in enumerate(("The dog is called Rex", "The lease ends in May")):
            await one.tell("candidates", said(f"late-{number}", later, fact(text)), later)
        await one.tell("candidates", said("city-9", later, fact("I live in Graz", value="Graz", **CITY)), later)
        await one.drain()
    assert await other.memories() == await role.memories()


async def lived_again(role: MemoryRole) -> None:
    for number, text in enumerate(("I met Ann Lee in Porto.", "The ticket was 42.50 euros.", "Bob has the keys.")):
        await role.tell("candidates", said(f"chat-{number}", START, episode(text)), START)
    at = START + 40 * DAY
    await role.tell("candidates", said("city-0", at, fact("I live in Bonn", value="Bonn", **CITY)), at)
    await role.drain()


async def test_what_was_forgotten_is_refused(role: MemoryRole) -> None:
    memories = list((await role.memories()).values())
    await role.forget(START + 50 * DAY, "all", "all")
    told = await taken(role, memories, dimension=384)
    assert (told.stored, told.refused) == (0, {"forgotten": len(memories)})
    assert await role.memories() == {}


async def test_a_digest_goes_with_an_episode_that_was_forgotten(role: MemoryRole) -> None:
    exported = list((await role.memories()).values())
    (digest,) = [m for m in exported if m.memory_type is MemoryType.DIGEST]
    await role.forget(START + 50 * DAY, "f", "events", event_ids=("chat-0",))
    told = await taken(role, exported)
    left = await role.memories()
    assert digest.memory_id not in left
    assert not [m for m in left.values() if "Ann Lee" in m.content]
    assert told.refused["forgotten"] >= 2


async def test_what_was_not_redacted_is_refused() -> None:
    role = MemoryRole()
    await role.tell("candidates", said("e", START, fact("I like jazz")), START)
    (memory,) = (await role.memories()).values()
    raw = memory.model_copy(update={"memory_id": "mem_" + "1" * 32, "content": "call me at 415-555-2671"})
    assert (await taken(role, [raw], dimension=384)).refused == {"not_redacted": 1}
