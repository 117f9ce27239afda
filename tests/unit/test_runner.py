"""The runner alone: order, waiting, parking, draining.

The emitter is a fake here, and that is right: what is tested is what the runner does when the broker refuses, is away
or answers late, at a moment of our choice, and which records it hands over in which order. That a real one takes them,
and that Faust acks only after the body, is shown on Apache Kafka in `tests/integration` and `tests/chaos`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from streams import runner as runner_module
from streams.emitter import Emitter
from streams.errors import BadData, DependencyDown, Refused
from streams.health import Health
from streams.outcome import Done, Duplicate, Outbound, Outcome, Parked, Retry, Skipped
from streams.records import DEAD_LETTER_PREFIX, Inbound
from streams.runner import BUG_TRIES, POISON_STRIKES, Runner, dead_letter, without_value
from streams.settings import load_settings

Judge = Callable[[Sequence[Inbound]], Awaitable[Sequence[Outcome]]]


class Broker(Emitter):
    """Keeps what it is given, unless it was told to fail: `failing` is asked for each record."""

    def __init__(self) -> None:
        self.sent: list[Outbound] = []
        self.failing: Callable[[Outbound], Exception | None] = lambda record: None

    async def send(self, records: Sequence[Outbound]) -> None:
        for record in records:
            if (error := self.failing(record)) is not None:
                raise error
        self.sent += records

    def values(self, topic: str) -> list[bytes | None]:
        return [record.value for record in self.sent if record.topic == topic]


class Echo:
    """A stage: `judge` decides, by default everything is passed on to `out`."""

    name = "echo"
    topic = "in"
    dead_letters = "dead-letters"
    dependencies: tuple[str, ...] = ("store",)

    def __init__(self, judge: Judge | None = None, *, lane_batch: int = 1) -> None:
        self.lane_batch = lane_batch
        self.side_by_side = 100
        self.seen: list[list[bytes]] = []
        self._judge = judge

    def lane(self, record: Inbound) -> str:
        return (record.key or b"").decode()

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        self.seen.append([record.value or b"" for record in records])
        if self._judge is not None:
            return await self._judge(records)
        return [passed_on(record) for record in records]

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        return [Outbound("told", record.key, record.value)]


def passed_on(record: Inbound) -> Done:
    return Done((Outbound("out", record.key, record.value),))


def inbound(value: bytes | None, key: bytes | None = b"a", offset: int = 0, **more: object) -> Inbound:
    return Inbound("in", 3, offset, datetime(2026, 1, 1, tzinfo=UTC), key, value, **more)  # type: ignore[arg-type]


def batch(*texts: str) -> list[Inbound]:
    """`a1` is the record `a1` of the lane `a`."""
    return [inbound(text.encode(), text[:1].encode(), offset) for offset, text in enumerate(texts)]


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backing off takes turns of the loop, not seconds."""
    monkeypatch.setattr(runner_module, "BACKOFF_FIRST_SECONDS", 0.0)


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def health() -> Health:
    return Health()


def make(broker: Broker, health: Health, *, probe: Judge | None = None, **settings: object) -> Runner:
    chosen = load_settings(kafka_bootstrap="none:1", topic_prefix="memory.", **settings)
    probes = {} if probe is None else {"store": probe}
    return Runner(chosen, broker, health, probes=probes, poison_seconds=0)  # type: ignore[arg-type]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


# Order


async def test_records_of_a_lane_keep_their_order(broker: Broker, health: Health) -> None:
    async def later_ones_are_quicker(records: Sequence[Inbound]) -> Sequence[Outcome]:
        for _ in range(10 - records[0].offset):
            await asyncio.sleep(0)
        return [passed_on(record) for record in records]

    await make(broker, health).run_batch(
        Echo(later_ones_are_quicker), batch("a1", "b1", "a2", "c1", "b2", "a3", "c2", "b3")
    )
    by_lane = defaultdict(list)
    for value in broker.values("out"):
        assert value is not None
        by_lane[value[:1]].append(value)
    assert by_lane == {b"a": [b"a1", b"a2", b"a3"], b"b": [b"b1", b"b2", b"b3"], b"c": [b"c1", b"c2"]}


async def test_lanes_run_side_by_side(broker: Broker, health: Health) -> None:
    """Each of two lanes waits for the other to have begun: one after the other they would never end."""
    begun: dict[bytes, asyncio.Event] = defaultdict(asyncio.Event)

    async def meet(records: Sequence[Inbound]) -> Sequence[Outcome]:
        assert records[0].key is not None
        begun[records[0].key].set()
        async with asyncio.timeout(10):
            await begun[b"b" if records[0].key == b"a" else b"a"].wait()
        return [passed_on(record) for record in records]

    await make(broker, health).run_batch(Echo(meet), batch("a1", "b1"))
    assert sorted(broker.values("out")) == [b"a1", b"b1"]


async def test_no_more_lanes_at_once_than_allowed(broker: Broker, health: Health) -> None:
    running, most = 0, 0

    async def count(records: Sequence[Inbound]) -> Sequence[Outcome]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return [Done()] * len(records)

    await make(broker, health, lanes=2).run_batch(Echo(count), batch("a1", "b1", "c1", "d1", "e1"))
    assert most == 2


async def test_a_lane_is_handed_over_in_groups(broker: Broker, health: Health) -> None:
    stage = Echo(lane_batch=2)
    await make(broker, health).run_batch(stage, batch("a1", "a2", "a3", "b1"))
    assert sorted(stage.seen) == [[b"a1", b"a2"], [b"a3"], [b"b1"]]


async def test_every_outcome_emits(broker: Broker, health: Health) -> None:
    async def one_of_each(records: Sequence[Inbound]) -> Sequence[Outcome]:
        tell = (Outbound("out", b"k", records[0].value),)
        kinds: dict[bytes, Outcome] = {b"a1": Done(tell), b"b1": Duplicate(tell), b"c1": Skipped("small_talk", tell)}
        return [kinds[records[0].value or b""]]

    await make(broker, health).run_batch(Echo(one_of_each), batch("a1", "b1", "c1"))
    assert sorted(broker.values("out")) == [b"a1", b"b1", b"c1"]


async def test_how_old_is_what_is_under_way(broker: Broker, health: Health) -> None:
    seen: list[dict[tuple[str, int], datetime]] = []

    async def look(records: Sequence[Inbound]) -> Sequence[Outcome]:
        seen.append(dict(runner.oldest))
        return [Done()] * len(records)

    runner = make(broker, health)
    first = datetime(2026, 1, 1, tzinfo=UTC)
    older, newer = batch("a1", "b1")
    await runner.run_batch(Echo(look), [replace(newer, timestamp=first + timedelta(hours=1)), older])
    assert seen == [{("in", 3): first}] * 2
    assert runner.oldest == {("in", 3): first}, "between two batches the backlog is as old"
    await runner.run_batch(Echo(look), [replace(newer, timestamp=first + timedelta(hours=1))])
    assert runner.oldest == {("in", 3): first + timedelta(hours=1)}


# A dependency that is down


async def test_an_outage_skips_nothing(broker: Broker, health: Health) -> None:
    up, tries = False, 0

    async def needs_the_store(records: Sequence[Inbound]) -> Sequence[Outcome]:
        nonlocal tries
        tries += 1
        if not up:
            raise DependencyDown("store", "connection refused")
        return [passed_on(record) for record in records]

    async def probe() -> None:
        if not up:
            raise DependencyDown("store")

    stage = Echo(needs_the_store)
    work = asyncio.create_task(
        make(broker, health, probe=probe).run_batch(stage, batch("a1", "a2", "b1"))  # type: ignore[arg-type]
    )
    await until(lambda: tries > 20 * POISON_STRIKES)
    assert broker.sent == []
    assert {seen[0] for seen in stage.seen} == {b"a1", b"b1"}, "a2 was tried before a1 was through"
    assert "store is down" in health.ready()[1]
    assert health.alive()[0]
    up = True
    await asyncio.wait_for(work, 10)
    assert [v for v in broker.values("out") if v != b"b1"] == [b"a1", b"a2"]
    assert b"b1" in broker.values("out")
    assert health.ready()[0]


async def test_a_retry_that_a_stage_returns_is_waited_for(broker: Broker, health: Health) -> None:
    answers: list[Outcome] = [Retry("store", 0.0), Retry("store", 0.0)]

    async def later(records: Sequence[Inbound]) -> Sequence[Outcome]:
        return [answers.pop() if answers else passed_on(records[0])]

    await make(broker, health).run_batch(Echo(later), batch("a1"))
    assert broker.values("out") == [b"a1"]


async def test_retry_after_is_obeyed(broker: Broker, health: Health, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    failures = [DependencyDown("chat", retry_after=7.0), DependencyDown("chat", retry_after=4000.0)]

    async def busy(records: Sequence[Inbound]) -> Sequence[Outcome]:
        if failures:
            raise failures.pop(0)
        return [passed_on(records[0])]

    monkeypatch.setattr(runner_module.asyncio, "sleep", pause)
    await make(broker, health).run_batch(Echo(busy), batch("a1"))
    assert pauses == [7.0, 60.0]


async def test_pauses_grow_up_to_a_limit(broker: Broker, health: Health, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(runner_module, "BACKOFF_FIRST_SECONDS", 0.2)
    monkeypatch.setattr(runner_module.asyncio, "sleep", pause)

    async def down(records: Sequence[Inbound]) -> Sequence[Outcome]:
        if len(pauses) < 30:
            raise DependencyDown("store")
        return [passed_on(records[0])]

    await make(broker, health).run_batch(Echo(down), batch("a1"))
    assert 0.2 <= pauses[0] <= 0.4
    assert all(5 <= pause <= 10 for pause in pauses[6:])


async def test_a_broker_that_is_away_is_waited_for(broker: Broker, health: Health) -> None:
    failures = [DependencyDown("kafka") for _ in range(5)]
    broker.failing = lambda record: failures.pop() if failures else None
    stage = Echo()
    await make(broker, health).run_batch(stage, batch("a1", "a2"))
    assert broker.values("out") == [b"a1", b"a2"]
    assert stage.seen == [[b"a1"], [b"a2"]], "what was handled is not handled again"


async def test_a_stage_that_waits_takes_no_turn_of_another(broker: Broker, health: Health) -> None:
    """With the chat model down for a day, raw text must still be redacted before its retention ends."""
    up = False

    async def waits(records: Sequence[Inbound]) -> Sequence[Outcome]:
        if not up:
            raise DependencyDown("chat")
        return [Done()] * len(records)

    runner = make(broker, health, lanes=1)
    waiting = Echo(waits)
    work = asyncio.create_task(runner.run_batch(waiting, batch("a1", "b1")))
    await until(lambda: len(waiting.seen) > 3)
    await asyncio.wait_for(runner.run_batch(Echo(), batch("c1")), 10)
    assert broker.values("out") == [b"c1"]
    up = True
    await asyncio.wait_for(work, 10)


# Poison


def poison(*bad: bytes) -> Judge:
    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        if any(record.value in bad for record in records):
            raise DependencyDown("store", "500")
        return [passed_on(record) for record in records]

    return judge


async def test_what_a_working_dependency_fails_on_is_parked(broker: Broker, health: Health) -> None:
    async def works() -> None:
        return None

    stage = Echo(poison(b"a1"))
    await make(broker, health, probe=works).run_batch(stage, batch("a1", "a2", "b1"))  # type: ignore[arg-type]
    assert broker.values("dead-letters") == [b"a1"]
    assert sorted(broker.values("out")) == [b"a2", b"b1"]
    assert broker.values("told") == [b"a1"]
    assert stage.seen.count([b"a1"]) == POISON_STRIKES
    assert errors(broker)["reason"] == "store_failed"
    assert errors(broker)["attempts"] == str(POISON_STRIKES)


async def test_strikes_count_only_while_the_probe_works(broker: Broker, health: Health) -> None:
    probes = 0

    async def works_from_the_hundredth_on() -> None:
        nonlocal probes
        probes += 1
        if probes < 100:
            raise DependencyDown("store")

    stage = Echo(poison(b"a1"))
    await make(broker, health, probe=works_from_the_hundredth_on).run_batch(stage, batch("a1"))  # type: ignore[arg-type]
    assert stage.seen.count([b"a1"]) == 99 + POISON_STRIKES


async def test_success_of_records_that_did_not_need_it_is_no_sign(broker: Broker, health: Health) -> None:
    """Small talk passes while the embedder is down: that must not make poison of the record that waits."""
    up, skipped = False, 0

    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        nonlocal skipped
        if records[0].key == b"s":
            skipped += 1
            return [Skipped("small_talk")]
        if not up:
            raise DependencyDown("store")
        return [passed_on(records[0])]

    async def probe() -> None:
        if not up:
            raise DependencyDown("store")

    runner = make(broker, health, probe=probe)  # type: ignore[arg-type]
    stage = Echo(judge)
    work = asyncio.create_task(runner.run_batch(stage, batch("a1")))
    while stage.seen.count([b"a1"]) < 5 * POISON_STRIKES:
        await runner.run_batch(stage, batch("s1"))
    assert skipped > 0
    assert not health.ready()[0]
    up = True
    await asyncio.wait_for(work, 10)
    assert broker.values("out") == [b"a1"]
    assert broker.values("dead-letters") == []


async def test_poison_takes_its_time(broker: Broker, health: Health) -> None:
    """Strikes alone are not enough: a deployment that fails for some seconds must park nothing."""

    async def works() -> None:
        return None

    stage = Echo(poison(b"a1"))
    runner = Runner(
        load_settings(kafka_bootstrap="none:1"), broker, health, probes={"store": works}, poison_seconds=3600
    )
    work = asyncio.create_task(runner.run_batch(stage, batch("a1")))
    await until(lambda: len(stage.seen) > 10 * POISON_STRIKES)
    assert broker.sent == []
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


@pytest.mark.parametrize("error", [BadData("not_json"), Refused("chat", "content_filter")])
async def test_bad_data_parks_at_once_and_alone(broker: Broker, health: Health, error: BadData | Refused) -> None:
    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        if any(record.value == b"a2" for record in records):
            raise error
        return [passed_on(record) for record in records]

    stage = Echo(judge, lane_batch=10)
    await make(broker, health).run_batch(stage, batch("a1", "a2", "a3", "b1"))
    assert broker.values("dead-letters") == [b"a2"]
    assert [v for v in broker.values("out") if v != b"b1"] == [b"a1", b"a3"]
    assert stage.seen.count([b"a2"]) == 1
    assert errors(broker)["reason"] == error.reason
    assert errors(broker)["exception.class.name"] == type(error).__name__


async def test_a_lane_of_many_tenants_waits_for_none_of_them(broker: Broker, health: Health) -> None:
    class Together(Echo):
        def lane(self, record: Inbound) -> str:
            return record.partition_lane

    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        if any(record.value == b"a2" for record in records):
            raise DependencyDown("store", "down")
        return [passed_on(record) for record in records]

    stage = Together(judge, lane_batch=3)
    running = asyncio.create_task(
        make(broker, health).run_batch(stage, batch("a1", "a2", "b1", "b2", "c1", "a3", "c2"))
    )
    # While the second record of one tenant backs off, what comes after it of others is through, in order.
    await until(lambda: len(broker.values("out")) == 5)
    assert sorted(broker.values("out")) == [b"a1", b"b1", b"b2", b"c1", b"c2"]
    assert broker.values("out").index(b"c1") < broker.values("out").index(b"c2")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert b"a3" not in broker.values("out")


async def test_a_bug_is_tried_a_few_times(broker: Broker, health: Health, caplog: pytest.LogCaptureFixture) -> None:
    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        if any(record.value == b"a1" for record in records):
            raise KeyError("what the user said")
        return [passed_on(record) for record in records]

    stage = Echo(judge, lane_batch=10)
    await make(broker, health).run_batch(stage, batch("a1", "a2"))
    assert stage.seen.count([b"a1"]) == BUG_TRIES
    assert broker.values("dead-letters") == [b"a1"]
    assert broker.values("out") == [b"a2"]
    assert errors(broker)["reason"] == "internal_error"
    assert "KeyError" in caplog.text
    assert "what the user said" not in caplog.text
    assert all(b"what the user said" not in (value or b"") for _, value in broker.sent[0].headers)


async def test_a_bug_that_goes_away_parks_nothing(broker: Broker, health: Health) -> None:
    failures = [RuntimeError(), RuntimeError()]

    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        if failures:
            raise failures.pop()
        return [passed_on(record) for record in records]

    await make(broker, health).run_batch(Echo(judge), batch("a1"))
    assert broker.values("out") == [b"a1"]
    assert broker.values("dead-letters") == []


# What the broker refuses


async def test_output_that_is_too_large_parks_its_record(broker: Broker, health: Health) -> None:
    broker.failing = lambda record: BadData("too_large") if (record.topic, record.value) == ("out", b"a1") else None
    await make(broker, health).run_batch(Echo(), batch("a1", "a2"))
    assert broker.values("dead-letters") == [b"a1"]
    assert broker.values("out") == [b"a2"]
    assert errors(broker)["reason"] == "too_large"


async def test_a_dead_letter_that_is_too_large_names_the_place(broker: Broker, health: Health) -> None:
    """A record that was compressed on its way in can be larger than whatever may go out."""
    broker.failing = lambda record: BadData("too_large") if record.value == b"a1" else None

    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        return [Parked("echo", "too_large", (Outbound("told", b"k", b"v"),))]

    await make(broker, health).run_batch(Echo(judge), batch("a1"))
    assert broker.values("dead-letters") == [None]
    assert broker.values("told") == [b"v"]
    assert errors(broker)["value_bytes_left_out"] == "2"
    assert (errors(broker)["partition"], errors(broker)["offset"]) == ("3", "0")


async def test_on_parked_that_fails_loses_no_dead_letter(broker: Broker, health: Health) -> None:
    class Careless(Echo):
        async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
            raise ValueError("a bug")

    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        raise BadData("not_json")

    await make(broker, health).run_batch(Careless(judge), batch("a1", "b1"))
    assert sorted(broker.values("dead-letters")) == [b"a1", b"b1"]


@pytest.mark.parametrize("reason", ["unknown_reply_topic", "unknown_reply_partition", "reply_topic_not_allowed"])
async def test_a_reply_that_nobody_can_get_holds_nothing_up(broker: Broker, health: Health, reason: str) -> None:
    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        reply = Outbound("replies.gone", b"k", b"reply", exact=True)
        return [Done((reply, Outbound("out", b"k", records[0].value)))]

    broker.failing = lambda record: BadData(reason) if record.exact else None
    await make(broker, health).run_batch(Echo(judge), batch("a1", "a2"))
    assert broker.values("out") == [b"a1", b"a2"]
    assert broker.values("dead-letters") == []


async def test_a_reply_that_is_too_large_becomes_a_short_one(broker: Broker, health: Health) -> None:
    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        return [Done((Outbound("replies.x", b"k", b"huge", (("correlation_id", b"7"),), partition=2, exact=True),))]

    broker.failing = lambda record: BadData("too_large") if record.value == b"huge" else None
    await make(broker, health).run_batch(Echo(judge), batch("a1"))
    (reply,) = broker.sent
    assert (reply.topic, reply.partition, reply.headers) == ("replies.x", 2, (("correlation_id", b"7"),))
    assert reply.value is not None
    assert b'"error":"too_large"' in reply.value


async def test_a_reply_follows_what_it_tells_of(broker: Broker, health: Health) -> None:
    async def judge(records: Sequence[Inbound]) -> Sequence[Outcome]:
        return [Done((Outbound("replies.x", b"k", b"r", exact=True), Outbound("out", b"k", b"v")))]

    await make(broker, health).run_batch(Echo(judge), batch("a1"))
    assert [record.topic for record in broker.sent] == ["out", "replies.x"]


# Dead letters


def errors(broker: Broker) -> dict[str, str]:
    letter = next(record for record in broker.sent if record.topic.startswith("dead-letters"))
    size = len(DEAD_LETTER_PREFIX)
    return {n[size:]: (v or b"").decode() for n, v in letter.headers if n.startswith(DEAD_LETTER_PREFIX)}


def test_a_dead_letter_keeps_everything_and_says_why() -> None:
    came = (
        ("x", b"\xff\x00"),
        ("x", b"again"),
        ("none", None),
        ("empty", b""),
        (DEAD_LETTER_PREFIX + "redriven_count", b"2"),
        (DEAD_LETTER_PREFIX + "reason", b"an older one"),
        (DEAD_LETTER_PREFIX + "appended_at", b"2025-12-31T08:00:00+00:00"),
    )
    record = inbound(b"\xfe{", b"\xfd", 17, headers=came)
    letter = dead_letter(Echo(), record, Parked("echo", "not_json", exception="BadData"), "memory.", 3)
    assert (letter.topic, letter.key, letter.value) == ("dead-letters", b"\xfd", b"\xfe{")
    assert letter.headers[:4] == came[:4]
    said = {n.removeprefix(DEAD_LETTER_PREFIX): v for n, v in letter.headers[4:]}
    failed_at = said.pop("failed_at")
    assert failed_at is not None
    assert datetime.fromisoformat(failed_at.decode()).tzinfo is not None
    assert said == {
        "topic": b"memory.in",
        "partition": b"3",
        "offset": b"17",
        "stage": b"echo",
        "reason": b"not_json",
        "exception.class.name": b"BadData",
        "attempts": b"3",
        "appended_at": b"2025-12-31T08:00:00+00:00",
        "redriven_count": b"2",
    }
    assert without_value(letter).value is None
    assert ("x", b"again") not in without_value(letter).headers


# Stopping


async def test_draining_waits_for_what_is_in_flight(broker: Broker, health: Health) -> None:
    may_end = asyncio.Event()

    async def slow(records: Sequence[Inbound]) -> Sequence[Outcome]:
        await may_end.wait()
        return [passed_on(record) for record in records]

    runner = make(broker, health)
    stage = Echo(slow)
    work = asyncio.create_task(runner.run_batch(stage, batch("a1", "a2")))
    await until(lambda: bool(stage.seen))
    assert not await runner.drain(0.01)
    assert "stopping" in health.ready()[1]
    draining = asyncio.create_task(runner.drain(10))
    may_end.set()
    assert await draining
    assert work.done()
    assert broker.values("out") == [b"a1", b"a2"]


async def test_draining_an_idle_runner_ends_at_once(broker: Broker, health: Health) -> None:
    assert await make(broker, health).drain(10)


async def test_a_lane_that_waits_for_a_dependency_is_not_waited_for(broker: Broker, health: Health) -> None:
    runner = make(broker, health)
    stage = Echo(poison(b"a1"))
    work = asyncio.create_task(runner.run_batch(stage, batch("a1")))
    await until(lambda: len(stage.seen) > 3)
    assert not await runner.drain(0.05)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    assert broker.sent == []


async def test_partitions_that_go_wait_for_the_batch(broker: Broker, health: Health) -> None:
    may_end = asyncio.Event()

    async def slow(records: Sequence[Inbound]) -> Sequence[Outcome]:
        await may_end.wait()
        return [passed_on(record) for record in records]

    runner = make(broker, health)
    stage = Echo(slow)
    work = asyncio.create_task(runner.run_batch(stage, batch("a1")))
    await until(lambda: bool(stage.seen))
    revoked = asyncio.create_task(runner.in_flight_done(10))
    await asyncio.sleep(0)
    assert not revoked.done()
    may_end.set()
    await asyncio.wait_for(revoked, 10)
    assert broker.values("out") == [b"a1"]
    await work


async def test_liveness_sees_progress_inside_a_long_batch(
    broker: Broker, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred model calls in a lane take longer than a stall may: each that ends is a sign of life."""
    now = 0.0
    monkeypatch.setattr("streams.health.time.monotonic", lambda: now)
    alive: list[bool] = []

    async def minutes(records: Sequence[Inbound]) -> Sequence[Outcome]:
        nonlocal now
        now += 300.0
        alive.append(health.alive()[0])
        return [Done()]

    await make(broker, health).run_batch(Echo(minutes), batch("a1", "a2", "a3", "a4"))
    assert alive == [True] * 4
    health.begin("stuck")
    now += 601
    assert health.alive() == (False, "stuck: stuck")


async def test_batches_are_held_once_none_is_under_way(
    broker: Broker, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = asyncio.Event()

    async def slow(records: Sequence[Inbound]) -> Sequence[Outcome]:
        await may_end.wait()
        return [passed_on(record) for record in records]

    runner = make(broker, health)
    stage = Echo(slow)
    work = asyncio.create_task(runner.run_batch(stage, batch("a1")))
    await until(lambda: bool(stage.seen))
    monkeypatch.setattr(runner_module, "HELD_WITHIN_SECONDS", 0.01)
    with pytest.raises(TimeoutError):
        async with runner.batches_held():
            pytest.fail("one is under way")
    monkeypatch.undo()

    async def hold() -> list[bytes | None]:
        async with runner.batches_held():
            return broker.values("out")

    holding = asyncio.create_task(hold())
    may_end.set()
    assert await holding == [b"a1"]
    await work
