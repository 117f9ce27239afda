"""The first extraction of an event stands until a command; then its facts are made anew from what is stored of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas import (
    Candidate,
    CandidateEvent,
    MemoryRecord,
    MemoryStatus,
    ReExtractCommand,
    ReExtraction,
    ReExtractReceipt,
)
from streams.agents.extract import ExtractStage
from streams.memory.extraction import RuleExtractor
from streams.metrics import REGISTRY
from streams.outcome import Done
from streams.records import Inbound
from tests.memory_role import TENANT, Crash, MemoryRole, by_content, episode, fact, inbound, said

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
SLOT: dict[str, Any] = {"subject": "user", "attribute": "city", "cardinality": "single"}
SAID = "I live in Bonn and I love climbing."


async def told_wrongly(role: MemoryRole) -> None:
    """An older city, then an event of which an older extractor made one fact that is right and one that is not."""
    earlier = said("old", START, fact("I live in Oslo", value="Oslo", **SLOT), episode("I live in Oslo."))
    wrong = fact("User lives in Boston", value="Boston", **SLOT)
    right = fact(SAID, attribute="likes", value="climbing", subject="user", start=15, end=34)
    event = said("e", START + HOUR, wrong, right, episode(SAID, end=len(SAID)))
    for one in (earlier, event):
        await role.tell("candidates", one, one.appended_at)
    await role.drain()


async def command(role: MemoryRole, *event_ids: str, at: datetime, name: str = "c", **fields: Any) -> ReExtractReceipt:
    made = ReExtractCommand(command_id=name, requested_at=at, event_ids=event_ids, **TENANT.model_dump(), **fields)
    (reply,) = await role.tell("commands", made, at)
    return ReExtractReceipt.from_bytes(reply.value or b"")


def anew(event_id: str, at: datetime, *items: Candidate, name: str = "c", minutes: int = 0) -> CandidateEvent:
    """What the stage `extract` makes of it."""
    asked = ReExtraction(command_id=name, at=at + timedelta(minutes=minutes))
    return said(event_id, START + HOUR, *items, re_extraction=asked)


async def extracted(role: MemoryRole) -> list[Inbound]:
    """What was put on `redacted`, through the real stage, as it comes back."""
    stage = ExtractStage(RuleExtractor())
    made = []
    for sent in [record for record in role.kept.records if record.topic == "redacted"]:
        (outcome,) = await stage.handle([Inbound("redacted", 0, 0, START, sent.key, sent.value, sent.headers)])
        assert isinstance(outcome, Done)
        made += [Inbound("candidates", 0, 0, START, e.key, e.value, e.headers) for e in outcome.emit]
    role.kept.records = [record for record in role.kept.records if record.topic != "redacted"]
    return made


async def current(role: MemoryRole) -> dict[str, MemoryRecord]:
    return by_content(m for m in (await role.memories()).values() if m.status is MemoryStatus.ACTIVE)


RIGHT = fact(SAID, attribute="likes", value="climbing", subject="user", start=15, end=34)
NEW = fact("I live in Bonn", value="Bonn", **SLOT)


async def test_the_present_extractor_reads_the_stored_words() -> None:
    role = MemoryRole()
    await told_wrongly(role)
    asked = await command(role, at=START + 2 * HOUR)
    assert asked.event_ids == ("old", "e")
    for record in await extracted(role):
        await role.hand_in(record)
    await role.drain()
    state = await role.memories()
    assert "User lives in Boston" not in by_content(state.values())
    cities = {m.value: m for m in state.values() if m.slot == "user|city"}
    assert cities["Bonn"].status is MemoryStatus.ACTIVE
    assert cities["Oslo"].superseded_by == cities["Bonn"].memory_id
    assert by_content(state.values())[SAID].memory_type == "episode"
    assert role.log() == state


async def test_what_is_found_again_keeps_its_use_and_what_was_replaced_wrongly_is_back() -> None:
    role = MemoryRole()
    await told_wrongly(role)
    (kept,) = [m for m in (await role.memories()).values() if m.attribute == "likes"]
    await role.access(START + HOUR, 1, kept.memory_id)
    record = inbound("candidates", anew("e", START + 2 * HOUR, RIGHT), START)
    for _ in range(2):
        await role.hand_in(record)
        await role.drain()
        state = await role.memories()
        assert state[kept.memory_id].access_count == 1
        assert (await current(role))["I live in Oslo"].superseded_by is None
        assert "User lives in Boston" not in by_content(state.values())
        assert role.log() == state


async def test_what_is_found_again_is_as_important_as_it_is_now_and_gains_by_evidence_once() -> None:
    """Said in three sessions, and thought little of by the extractor of that time."""
    role = MemoryRole()
    for day, session in enumerate("abc"):
        at = START + day * DAY
        little = RIGHT.model_copy(update={"importance": 1})
        event = said(f"e{day}", at, little, episode(SAID, end=len(SAID)), session=session)
        await role.tell("candidates", event, at)
    await role.drain()
    await role.window(START + 3 * DAY)
    strongest = await likes(role)
    assert (strongest.importance, strongest.tags) == (2, ("evidence",))
    await role.tell("candidates", anew("e0", START + 4 * DAY, RIGHT), START)
    await role.drain()
    for window in (4, 5):
        again = await likes(role)
        assert again.memory_id == strongest.memory_id
        assert (again.importance, again.tags) == (RIGHT.importance + 1, ("evidence",))
        await role.window(START + window * DAY)


async def likes(role: MemoryRole) -> MemoryRecord:
    state = await role.memories()
    (found,) = [m for m in state.values() if m.attribute == "likes" and m.status is MemoryStatus.ACTIVE]
    return found


async def test_the_delay_of_events_is_not_that_of_their_re_extraction() -> None:
    def observed() -> float | None:
        return REGISTRY.get_sample_value("memstream_end_to_end_delay_seconds_count")

    role = MemoryRole()
    await told_wrongly(role)
    before = observed()
    await role.tell("candidates", anew("e", START + 2 * HOUR, RIGHT), START)
    assert not [m for m in (await role.memories()).values() if m.content == "User lives in Boston"]
    assert observed() == before
    await role.tell("candidates", said("f", START + HOUR, episode("Bye.")), START)
    assert observed() != before


async def test_the_latest_command_stands_in_any_order_and_once() -> None:
    role = MemoryRole()
    await told_wrongly(role)
    later = inbound("candidates", anew("e", START + 2 * HOUR, NEW, name="d", minutes=1), START)
    await role.hand_in(later)
    state = await role.memories()
    overtaken = anew("e", START + 2 * HOUR, RIGHT)
    second = anew("e", START + 2 * HOUR, RIGHT, name="d", minutes=1)
    first = said("e", START + HOUR, fact("User lives in Boston", value="Boston", **SLOT), episode(SAID))
    for event in (overtaken, second, first):
        await role.tell("candidates", event, START)
        assert await role.memories() == state


@pytest.mark.parametrize("scope", [{"event_ids": ("e",)}, {"everything": True}, {"memory": True}])
async def test_forgotten_in_the_meantime(scope: dict[str, Any]) -> None:
    role = MemoryRole()
    await told_wrongly(role)
    await command(role, "e", at=START + 2 * HOUR)
    under_way = await extracted(role)
    what: dict[str, Any] = {"scope": "all"}
    if "event_ids" in scope:
        what = {"scope": "events", **scope}
    elif "memory" in scope:
        spoken = [m.memory_id for m in (await role.memories()).values() if m.source.event_id == "e"]
        what = {"scope": "memories", "memory_ids": tuple(spoken)}
    await role.forget(START + 3 * HOUR, "f", **what)
    left = await role.memories()
    for record in under_way:
        await role.hand_in(record)
    assert await role.memories() == left
    assert not [m for m in left.values() if m.source.event_id == "e"]
    assert (await command(role, "e", at=START + 4 * HOUR, name="again")).without_text == ("e",)


async def test_events_that_left_only_facts_are_counted_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    role = MemoryRole()
    await told_wrongly(role)
    for hour, name in enumerate(("bare", "bare too", "long ago")):
        at = START - DAY if name == "long ago" else START + hour * HOUR
        await role.tell("candidates", said(name, at, fact(f"I like the number {hour}"), session=name), at)
    before = await role.memories()
    told = await command(role, at=START + 5 * HOUR, since=START)
    assert told.event_ids == ("old", "e")
    assert (told.not_rebuilt, told.without_text) == (2, ("bare", "bare too"))
    monkeypatch.setattr("streams.agents.commands.MOST_NAMED", 1)
    told = await command(role, at=START + 6 * HOUR, name="all")
    assert (told.not_rebuilt, told.without_text) == (3, ("long ago",))
    assert await role.memories() == before


async def test_a_command_that_comes_again_is_answered_and_extracts_nothing() -> None:
    role = MemoryRole()
    await told_wrongly(role)
    told = await command(role, "e", "unknown", at=START + 2 * HOUR)
    assert (told.event_ids, told.not_rebuilt, told.without_text) == (("e",), 1, ("unknown",))
    assert len(await extracted(role)) == 1
    assert await command(role, "e", "unknown", at=START + 2 * HOUR) == told
    assert await extracted(role) == []
    since = await command(role, at=START + 3 * HOUR, name="since", since=START + HOUR)
    assert since.event_ids == ("e",)


@pytest.mark.parametrize("after_it", [False, True])
@pytest.mark.parametrize("write", range(1, 7))
async def test_a_crash_at_any_write_changes_nothing(write: int, after_it: bool) -> None:
    record = inbound("candidates", anew("e", START + 2 * HOUR, RIGHT, NEW), START)
    steady, shaken = MemoryRole(), MemoryRole()
    for role in (steady, shaken):
        await told_wrongly(role)
    await steady.hand_in(record)
    shaken.crash_at(write, after_it=after_it)
    try:
        await shaken.hand_in(record)
    except Crash:
        shaken.start()
    shaken.crash_at(0, after_it=False)
    await shaken.hand_in(record)
    for role in (steady, shaken):
        await role.drain()
    assert await shaken.memories() == await steady.memories()
    assert shaken.log() == steady.log() == await steady.memories()
