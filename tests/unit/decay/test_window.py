"""What a window does to a shard, by the stage that does it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from schemas import Layer, MemoryRecord, MemoryStatus, MemoryType
from streams import metrics
from streams.adapters.embedders.constant import ConstantEmbedder
from streams.memory.decay import CLOSED, plan
from streams.memory.lexical import sparse_passage
from streams.ports import Where
from tests.memory_role import TENANT, Crash, MemoryRole, by_content, episode, fact, said

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ACTIONS = ("close", "fold", "archive", "strengthen")
CHAT = (
    "I met Ann Lee in Porto on 5 May.",
    "The ticket was 42.50 euros.",
    "我在《星星》书店花了三百元。",
    "Good morning, how are you?",
)


def changes(label: str) -> float:
    return metrics.REGISTRY.get_sample_value("memstream_window_changes_total", {"change": label}) or 0.0


@pytest.fixture
def role() -> MemoryRole:
    return MemoryRole()


async def chat(role: MemoryRole, session: str = "s", day: float = 0, texts: tuple[str, ...] = CHAT) -> None:
    for number, text in enumerate(texts):
        at = START + day * DAY + timedelta(minutes=number)
        await role.tell("candidates", said(f"{session}-{number}", at, episode(text), session=session), at)


async def digest_of(role: MemoryRole) -> MemoryRecord:
    (digest,) = [m for m in (await role.memories()).values() if m.memory_type is MemoryType.DIGEST]
    return digest


async def test_a_task_whose_time_is_over_is_closed(role: MemoryRole) -> None:
    task = fact("Send the invoice", memory_type="task", valid_until=START + 3 * DAY)
    appointment = fact("The fair is in Bonn", valid_until=START + 3 * DAY, message=1)
    await role.tell("candidates", said("e", START, task, appointment), START)
    before = changes("closed")
    await role.window(START + 3 * DAY - timedelta(hours=6))
    assert CLOSED not in by_content((await role.memories()).values())["Send the invoice"].tags
    for _ in range(2):
        await role.window(START + 3 * DAY)
    now = by_content((await role.memories()).values())
    assert now["Send the invoice"].tags.count(CLOSED) == 1
    assert CLOSED not in now["The fair is in Bonn"].tags
    assert changes("closed") == before + 1
    assert role.log() == await role.memories()


async def test_an_old_session_becomes_a_digest(role: MemoryRole) -> None:
    await chat(role)
    await chat(role, "young", 20, ("One for Lee", "Two for Lee", "Three for Lee"))
    await role.window(START + 29 * DAY)
    assert not await role.memories(archive=True)
    before = changes("digested")
    for _ in range(2):
        await role.window(START + 31 * DAY)
    assert changes("digested") == before + 1
    digest = await digest_of(role)
    archived = await role.memories(archive=True)
    assert {m.content for m in archived.values()} == set(CHAT)
    assert set(digest.digest_of) == archived.keys()
    assert {s.event_id for s in digest.sources} == {f"s-{n}" for n in range(len(CHAT))}
    assert all(part in digest.content for part in ("2026-01-01", "Ann Lee", "42.50", "星星", "三百"))
    assert "Good morning" not in digest.content
    assert role.log() == await role.memories()


async def test_what_was_said_without_a_session_is_no_session(role: MemoryRole) -> None:
    await chat(role, "")
    await role.window(START + 31 * DAY)
    assert not await role.memories(archive=True)


async def test_missed_windows_are_caught_up(role: MemoryRole) -> None:
    other = MemoryRole()
    for one in (role, other):
        await chat(one)
        at = START + DAY
        task = said("t", at, fact("Send the invoice", memory_type="task", valid_until=START + 3 * DAY))
        await one.tell("candidates", task, at)
    for number in range(1, 4 * 100):
        await role.window(START + number * timedelta(hours=6))
        if number == 200:
            role.start()
    for number in range(1, 4 * 100):
        await other.window(START + number * timedelta(hours=6))
        await other.window(START + (number // 2) * timedelta(hours=6))
    assert await role.memories() == await other.memories()


async def test_a_digest_is_undone(role: MemoryRole) -> None:
    await chat(role)
    before = await role.memories()
    await role.window(START + 31 * DAY)
    digest = await digest_of(role)
    receipt = await role.restore(START + 32 * DAY, "c", digest.memory_id)
    assert set(receipt.restored) == before.keys()
    now = await role.memories(archive=False)
    assert now == await role.memories() == role.log()
    assert {i: m.model_copy(update={"last_access_time": None}) for i, m in now.items()} == {
        i: m.model_copy(update={"last_access_time": None}) for i, m in before.items()
    }
    # To be restored is to be used: the same window again leaves it alone, and so do those of the next weeks.
    for day in (31, 33, 60):
        await role.window(START + day * DAY)
    assert now == await role.memories()
    await role.window(START + 63 * DAY)
    assert len((await digest_of(role)).digest_of) == len(CHAT)


async def test_an_episode_that_is_used_leaves_the_archive_and_the_digest_stands(role: MemoryRole) -> None:
    await chat(role)
    await role.window(START + 31 * DAY)
    digest = await digest_of(role)
    used = digest.digest_of[0]
    await role.access(START + 40 * DAY, 1, used)
    await role.window(START + 31 * DAY)
    assert (await role.memories())[used].status is MemoryStatus.ACTIVE
    assert used in await role.memories(archive=False)
    await role.restore(START + 41 * DAY, "c", digest.memory_id)
    assert (await role.memories(archive=False)).keys() == set(digest.digest_of)


async def test_a_digest_goes_with_what_it_tells(role: MemoryRole) -> None:
    await chat(role)
    await role.window(START + 31 * DAY)
    digest = await digest_of(role)
    receipt = await role.forget(START + 32 * DAY, "c", "events", event_ids=("s-1",))
    assert sum(receipt.removed.values()) == 2, "the episode and the digest"
    left = await role.memories()
    assert digest.memory_id not in left
    assert {m.content for m in left.values()} == set(CHAT) - {CHAT[1]}
    assert left == await role.memories(archive=False) == role.log()
    # What is left is folded again, without what was forgotten.
    await role.window(START + 33 * DAY)
    assert "42.50" not in (await digest_of(role)).content


async def test_forgetting_a_digest_forgets_its_episodes(role: MemoryRole) -> None:
    await chat(role)
    await role.window(START + 31 * DAY)
    digest = await digest_of(role)
    await role.forget(START + 32 * DAY, "c", "memories", memory_ids=(digest.memory_id,))
    assert await role.memories() == role.log() == {}
    await chat(role)
    assert await role.memories() == {}


async def test_both_sides_of_an_open_conflict_are_in_the_digest(role: MemoryRole) -> None:
    sides = ("The tour takes 3 hours", "The tour takes 4 hours")
    for number, text in enumerate(sides):
        at = START + number * DAY
        await role.tell("candidates", said(f"side-{number}", at, fact(text), session=f"s{number}"), at)
    one, other = (await role.memories()).values()
    for record, against in ((one, other), (other, one)):
        marked = record.model_copy(update={"ambiguous_with": (against.memory_id,)})
        await role.store.update(TENANT, [marked])
    await chat(role, "s1", day=1)
    await role.window(START + 40 * DAY)
    digest = await digest_of(role)
    assert all(text in digest.content for text in sides)
    # What it quotes from another session is forgotten there and here.
    await role.forget(START + 41 * DAY, "c", "session", session_id="s0")
    assert not [m for m in (await role.memories()).values() if sides[0] in m.content]
    assert role.log() == await role.memories()


async def test_a_crash_between_the_log_and_the_store_and_then_an_erasure(role: MemoryRole) -> None:
    """The record is in the log only, where an erasure does not find it; its event, delivered again, takes it out."""
    event = said("e0", START, fact("I like jazz"))
    role.crash_at(1, after_it=True)
    with pytest.raises(Crash):
        await role.tell("candidates", event, START)
    assert (len(role.log()), await role.memories()) == (1, {})
    role.crash_at(0, after_it=False)
    role.start()
    await role.forget(START + DAY, "c", "all")
    await role.tell("candidates", event, START)
    assert role.log() == await role.memories() == {}


async def test_an_erasure_that_is_carried_out_late_takes_nothing_that_came_after_it(role: MemoryRole) -> None:
    for day, text in ((0, "I like jazz"), (3, "I like chess")):
        at = START + day * DAY
        await role.tell("candidates", said(f"e{day}", at, fact(text)), at)
    await role.forget(START + DAY, "c", "all")
    assert [m.content for m in (await role.memories()).values()] == ["I like chess"]


async def test_evidence_of_three_sessions_gains_once(role: MemoryRole) -> None:
    # The third one is worked off late: its window has been over for a day.
    for number in range(2):
        at = START + number * DAY
        await role.tell(
            "candidates", said(f"e{number}", at, fact("I like jazz", importance=3), session=f"s{number}"), at
        )
    await role.window(START + 4 * DAY)
    assert by_content((await role.memories()).values())["I like jazz"].importance == 3
    at = START + 2 * DAY
    await role.tell("candidates", said("e2", at, fact("I like jazz", importance=3), session="s2"), at)
    before = changes("strengthened")
    for number in range(3):
        await role.window(START + 4 * DAY + number * timedelta(hours=6))
    assert changes("strengthened") == before + 1
    (standing,) = [m for m in (await role.memories()).values() if m.status is MemoryStatus.ACTIVE]
    assert standing.importance == 4
    assert role.log() == await role.memories()


async def test_repeats_in_one_session_are_no_evidence(role: MemoryRole) -> None:
    for number in range(5):
        at = START + number * DAY
        await role.tell("candidates", said(f"e{number}", at, fact("I like jazz", importance=3)), at)
    await role.window(START + 5 * DAY)
    assert {m.importance for m in (await role.memories()).values()} == {3}


async def test_what_is_said_again_after_the_archive_fades_again(role: MemoryRole) -> None:
    await role.tell("candidates", said("e0", START, fact("I like jazz")), START)
    await role.window(START + 91 * DAY)
    assert len(await role.memories(archive=True)) == 1
    again = START + 100 * DAY
    await role.tell("candidates", said("e1", again, fact("I like jazz")), again)
    assert not await role.memories(archive=True)
    await role.window(again + 89 * DAY)
    assert not await role.memories(archive=True)
    await role.window(again + 91 * DAY)
    assert len(await role.memories(archive=True)) == 1


async def everything_at_once(role: MemoryRole) -> None:
    await chat(role)
    at = START + DAY
    await role.tell("candidates", said("t", at, fact("Send it", memory_type="task", valid_until=START + 2 * DAY)), at)
    at = START + 94 * DAY
    await role.tell("candidates", said("c", at, fact("Call Ann", memory_type="task", valid_until=at + 2 * DAY)), at)
    at = START + DAY
    await role.tell("candidates", said("old", at, fact("Bob keeps bees in Graz")), at)
    for number in range(3):
        when = START + (95 + number) * DAY
        await role.tell("candidates", said(f"j{number}", when, fact("I like jazz"), session=f"j{number}"), when)


async def crashed(prepare: Callable[[MemoryRole], Awaitable[None]], end: datetime) -> AsyncIterator[MemoryRole]:
    """Roles started again after a crash in the window: once before and once after each of its writes."""
    for number in count(1):
        role = MemoryRole()
        await prepare(role)
        role.crash_at((number + 1) // 2, after_it=number % 2 == 0)
        try:
            await role.window(end)
        except Crash:
            role.start()
            role.crash_at(0, after_it=False)
            yield role
        else:
            return


@pytest.mark.parametrize("after", ["", "a use"])
async def test_a_crash_at_any_write_of_a_window_changes_nothing(after: str) -> None:
    """Every call that writes is the last one before a crash, once before and once after it took effect."""
    end = START + 100 * DAY

    async def then(role: MemoryRole) -> None:
        if after:
            # It comes between the crash and the repetition of the tick.
            first = min((await role.memories()).values(), key=lambda m: m.occurred_at)
            await role.access(end + DAY, 1, first.memory_id)

    undisturbed = MemoryRole()
    await everything_at_once(undisturbed)
    await undisturbed.window(end)
    await then(undisturbed)
    expected = await undisturbed.memories()
    assert {m.memory_type for m in expected.values()} >= {MemoryType.DIGEST, MemoryType.EPISODE, MemoryType.TASK}
    crashes = 0
    async for role in crashed(everything_at_once, end):
        crashes += 1
        await then(role)
        await role.window(end)
        if not after:
            assert await role.memories() == expected, f"crash {crashes}"
            assert (await role.memories(archive=True)).keys() == (await undisturbed.memories(archive=True)).keys()
        assert role.log() == await role.memories(), f"crash {crashes}"
    assert crashes > 10


async def long_ago_and_lately(role: MemoryRole) -> None:
    """Repeats, an archived memory, a digest across the limit of 60 days before day 100, and what is younger."""
    role.retention = {TENANT.namespace: 60 * DAY, "elsewhere": DAY}
    role.start()
    for name, day, text in (
        ("old", 1, "Bob keeps bees in Graz"),
        ("a", 2, "I like jazz"),
        ("b", 50, "I like jazz"),
        ("new", 80, "I like chess"),
    ):
        at = START + day * DAY
        await role.tell("candidates", said(name, at, fact(text), session=name), at)
    await role.window(START + 92 * DAY - 60 * DAY)
    await chat(role, day=39.999)
    await role.window(START + 75 * DAY)


async def test_what_was_said_before_the_retention_is_erased(role: MemoryRole) -> None:
    await long_ago_and_lately(role)
    end = START + 100 * DAY
    doomed = {m.memory_id for m in (await role.memories()).values() if m.occurred_at < end - 60 * DAY}
    planned = plan((await role.memories()).values(), end, 60 * DAY)
    assert {i for one in planned if one.action == "erase" for i in one.memory_ids} == doomed
    before = changes("erased")
    await role.window(end)
    left = await role.memories()
    assert changes("erased") > before
    assert not [m for m in left.values() if m.occurred_at < end - 60 * DAY or set(m.digest_of) & doomed]
    assert {m.content for m in left.values() if m.layer is Layer.FACT} == {"I like jazz", "I like chess"}
    assert all(m.status is MemoryStatus.ACTIVE for m in left.values() if m.content == "I like jazz")
    assert role.log() == left
    again = said("older still", START, fact("Ann lives in Bonn"))
    await role.tell("candidates", again, end + DAY)
    assert await role.memories() == left, "what comes too late is refused"


async def test_the_end_of_a_retention_takes_no_client_fence_away(role: MemoryRole) -> None:
    """Whatever a client calls its command."""
    role.retention = {TENANT.namespace: 60 * DAY}
    role.start()
    event = said("e", START + 50 * DAY, fact("I like jazz"))
    await role.tell("candidates", said("old", START, fact("Bob keeps bees in Graz")), START)
    await role.tell("candidates", event, event.occurred_at)
    await role.forget(START + 60 * DAY, "retention", "interval", since=START + 40 * DAY)
    await role.window(START + 100 * DAY)
    assert await role.memories() == {}
    await role.tell("candidates", said("e again", event.occurred_at, fact("I like jazz")), START + 101 * DAY)
    assert await role.memories() == {}


async def test_a_namespace_without_a_limit_keeps_everything(role: MemoryRole) -> None:
    role.retention = {"elsewhere": DAY}
    role.start()
    await role.tell("candidates", said("e", START, fact("I like jazz")), START)
    await role.window(START + 1000 * DAY)
    assert len(await role.memories()) == 1


async def test_a_crash_at_any_write_of_an_erasure_by_retention_changes_nothing() -> None:
    end = START + 100 * DAY
    undisturbed = MemoryRole()
    await long_ago_and_lately(undisturbed)
    await undisturbed.window(end)
    crashes = 0
    async for role in crashed(long_ago_and_lately, end):
        crashes += 1
        await role.window(end)
        assert await role.memories() == await undisturbed.memories(), f"crash {crashes}"
        assert role.log() == await role.memories(), f"crash {crashes}"
    assert crashes > 10


async def test_a_crash_before_a_used_memory_has_left_the_archive(
    role: MemoryRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    await role.tell("candidates", said("e0", START, fact("I like jazz")), START)
    await role.window(START + 91 * DAY)
    (archived,) = await role.memories(archive=True)

    async def crash(*_: object, **options: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(role.store, "move", crash)
        with pytest.raises(Crash):
            await role.access(START + 92 * DAY, 1, archived)
    role.start()
    await role.access(START + 92 * DAY, 1, archived)
    assert archived in await role.memories(archive=False)


async def test_a_plan_is_what_the_window_does(role: MemoryRole) -> None:
    await everything_at_once(role)
    end = START + 100 * DAY
    before = await role.memories()
    planned = plan(before.values(), end)
    assert [one.action for one in planned] == ["close", "fold", "archive", "archive", "strengthen"]
    assert all(one.reason for one in planned)
    await role.window(end)
    after = await role.memories()
    done = {action: {i for one in planned if one.action == action for i in one.memory_ids} for action in ACTIONS}
    gone = {i for i, m in after.items() if m.archived_at is not None}
    assert done["fold"] == set((await digest_of(role)).digest_of)
    assert done["fold"] | done["archive"] == gone
    assert done["close"] == {i for i, m in after.items() if CLOSED in m.tags}
    assert done["strengthen"] == {i for i, m in before.items() if after[i].importance > m.importance}
    assert plan(after.values(), end) == []


async def test_a_digest_is_found_by_meaning(role: MemoryRole) -> None:
    await chat(role)
    await role.window(START + 31 * DAY)
    digest = await digest_of(role)
    vector = await ConstantEmbedder().embed_query("Ann Lee in Porto")
    dense, sparse = await role.store.search(TENANT, vector, sparse_passage("Ann Lee"), where=Where(), limit=1)
    assert [hit.memory_id for hit in (*dense, *sparse)] == [digest.memory_id] * 2
