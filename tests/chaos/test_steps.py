"""A crash between any two steps: the process kills itself there, and the end is that of an undisturbed run.

The steps are those of the writer (its numbered order), and of every stage the two points around producing: after the
outcome is known and before anything is sent, and after the broker has acknowledged and before the input is.
"""

from __future__ import annotations

import signal
from collections import Counter
from datetime import UTC, datetime

import pytest

from schemas import DecayTick, ForgetCommand, Layer, MemoryRecord, ReExtractCommand, RestoreCommand
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.agents.writer import STEPS
from streams.compacted import is_memory
from streams.memory.decay import WINDOW
from streams.runner import RUNNER_STEPS
from streams.settings import SHARDS
from tests.chaos.test_kill import SEED, State, assert_same, fresh
from tests.harness import Pipeline, end_state
from tests.integration.raw import Raw, produce
from tests.traffic import repeated, traffic

EVENTS, TENANTS, PARTITIONS = 60, 6, 4
# So small that each step is passed some tens of times.
BATCH = 8
# The same static member each time, so that a restart gets its partitions back at once.
SAME = {"MEMSTREAM_KAFKA_GROUP_INSTANCE_ID": "one"}
STAGES = ("conversations", "redacted", "candidates", "supersede")
ALL_STEPS = [*STEPS, *(f"{topic}.{step}" for topic in STAGES for step in RUNNER_STEPS)]


async def finished(line: Pipeline, seed: int) -> tuple[State, dict[str, tuple[str, tuple[str, ...]]]]:
    """The end state, and of each event's one receipt what must not depend on a crash."""
    ids = {event.event_id for event in traffic(seed, EVENTS, TENANTS)}
    receipts = await line.all_received(ids, seconds=300)
    await line.drained(seconds=300)
    await line.one_receipt_each()
    said = {event_id: (receipt.outcome, receipt.memory_ids) for event_id, receipt in receipts.items()}
    return await end_state(line), said


_REFERENCE: dict[int, tuple[State, dict[str, tuple[str, tuple[str, ...]]]]] = {}


async def reference(kafka: EmbeddedKafka, seed: int) -> tuple[State, dict[str, tuple[str, tuple[str, ...]]]]:
    if seed not in _REFERENCE:
        async with fresh(kafka, batch_max=BATCH) as line:
            await line.publish(repeated(list(traffic(seed, EVENTS, TENANTS)), seed, 0.2))
            await line.worker().start()
            _REFERENCE[seed] = await finished(line, seed)
    return _REFERENCE[seed]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("step", ALL_STEPS)
async def test_a_crash_at_this_step_changes_nothing(kafka: EmbeddedKafka, step: str, soak: int) -> None:
    seed = SEED + soak
    expected, receipts = await reference(kafka, seed)
    async with fresh(kafka, batch_max=BATCH) as line:
        await line.publish(repeated(list(traffic(seed, EVENTS, TENANTS)), seed, 0.2))
        for count in (1, 3, 8) if soak else (1, 3):
            worker = line.worker(crash=f"{step}:{count}", **SAME)
            worker.spawn()
            assert await worker.gone(120) == -signal.SIGKILL, worker.tail()
        await line.worker(**SAME).start()
        state, told = await finished(line, seed)
    assert_same(state, expected)
    assert told == receipts


async def test_the_traffic_has_what_the_steps_are_about(kafka: EmbeddedKafka, soak: int) -> None:
    state, receipts = await reference(kafka, SEED + soak)
    statuses = {str(memory["status"]) for memory in state["records"].values()}
    assert {"active", "superseded"} <= statuses
    assert {memory["layer"] for memory in state["records"].values()} == {Layer.FACT, Layer.EPISODE}
    assert {outcome for outcome, _ in receipts.values()} >= {"stored", "skipped"}
    assert state["records"] == state["store"]


# Long after everything was said: sessions are folded, what was not used goes to the archive.
LATER = datetime(2027, 3, 1, tzinfo=UTC)


def ticks() -> list[Raw]:
    made = (DecayTick(shard=shard, window_start=LATER - WINDOW, window_end=LATER) for shard in range(SHARDS))
    return [
        Raw(tick.to_bytes(), str(tick.shard).encode(), topic="decay", partition=tick.shard % PARTITIONS)
        for tick in made
    ]


async def commands(line: Pipeline) -> list[Raw]:
    """One of each kind, of different users, by what is remembered now."""
    records = [MemoryRecord.from_bytes(v) for k, v in (await line.compacted("records")).items() if is_memory(k)]
    archived = sorted((r for r in records if r.status == "archived"), key=lambda r: r.memory_id)
    users = sorted({record.tenant for record in archived}, key=lambda tenant: tenant.key)
    forgotten, restored, again = users[:3]
    common = {"requested_at": LATER, "command_id": "the same each time"}
    wanted = [
        ForgetCommand(**forgotten.model_dump(), **common, scope="session", session_id="s0"),
        RestoreCommand(
            **restored.model_dump(),
            **common,
            memory_ids=tuple(record.memory_id for record in archived if record.tenant == restored)[:3],
        ),
        ReExtractCommand(**again.model_dump(), **common),
    ]
    return [Raw(one.to_bytes(), one.tenant.key.encode(), topic="commands") for one in wanted]


async def with_these(kafka: EmbeddedKafka, topic: str, crash: str = "") -> State:
    """What is remembered after the traffic and then these records; the worker dies over the latter at a step, twice."""
    events = list(traffic(SEED, EVENTS, TENANTS))
    async with fresh(kafka, batch_max=BATCH, partitions=PARTITIONS) as line:
        worker = line.worker(**SAME)
        await worker.start()
        await line.publish(events)
        await line.all_received({event.event_id for event in events})
        await line.drained()
        if topic == "commands":
            await produce(line, ticks())
            await line.drained()
        worker.terminate()
        await worker.gone()
        await produce(line, ticks() if topic == "decay" else await commands(line))
        for count in (1, 2) if crash else ():
            dying = line.worker(crash=f"{crash}:{count}", **SAME)
            dying.spawn()
            assert await dying.gone(120) == -signal.SIGKILL, dying.tail()
        await line.worker(**SAME).start()
        await line.drained()
        return await end_state(line)


_ENDED: dict[str, State] = {}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("step", RUNNER_STEPS)
@pytest.mark.parametrize("topic", ["commands", "decay"])
async def test_a_crash_over_commands_and_windows_changes_nothing(kafka: EmbeddedKafka, topic: str, step: str) -> None:
    if topic not in _ENDED:
        _ENDED[topic] = await with_these(kafka, topic)
    expected = _ENDED[topic]
    statuses = Counter(str(memory["status"]) for memory in expected["records"].values())
    assert statuses["archived"]
    assert topic == "decay" or statuses["active"], "some were restored"
    assert_same(await with_these(kafka, topic, f"{topic}.{step}"), expected)


@pytest.mark.timeout(600)
async def test_an_access_counts_once_whatever_crashes(kafka: EmbeddedKafka) -> None:
    async with fresh(kafka) as line:
        worker = line.worker(**SAME)
        await worker.start()
        async with line.client(namespace="shop", deadline=60) as memory:
            await memory.publish_and_wait(event_id="e", user_id="u", text="I always take the window seat on trains.")
            # Accesses wait for the worker that dies over them.
            worker.kill()
            asking = line.worker(roles="recall", **SAME)
            await asking.start()
            recalled: Counter[str] = Counter()
            for number in range(3):
                found = await memory.recall(f"Which seat on train {number}?", user_id="u")
                recalled.update(one.memory.memory_id for one in found.memories)
            asking.terminate()
            await asking.gone()
            for step in ("access.handled:1", "access.emitted:1"):
                dying = line.worker(crash=step, **SAME)
                dying.spawn()
                assert await dying.gone(120) == -signal.SIGKILL
            await line.worker(**SAME).start()

            await line.drained()
            kept = await memory.export(user_id="u")
            assert {m.memory_id: m.access_count for m in kept if m.access_count} == dict(recalled)
            assert sum(recalled.values()) >= 3
