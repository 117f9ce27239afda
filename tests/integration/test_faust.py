"""What we rely on in Faust, and what we guard against: one test for each measured behaviour, on Apache Kafka.

The runner's rules come from these. A test that says that plain Faust loses records fails when Faust has mended it: then
a guard may go. A test that says that nothing is lost fails when an upgrade breaks us.

A record is lost when its offset is committed and no agent has handled it. Left out, because nothing here uses them:
`noack()`, `CrashingSupervisor`, `agent.ask()`, `exactly_once`.
"""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.app import consumer_group, make_faust_app
from streams.emitter import Emitter
from streams.health import Health
from streams.records import DEAD_LETTER_PREFIX
from streams.runner import BUG_TRIES, Runner, disarm_commits
from streams.settings import Role, Settings, load_settings
from tests.acceptance.command import MEMSTREAM, clean_environment
from tests.faust_worker import BLOCK_SECONDS, TOPIC, Handler, Journal, Plan
from tests.harness import Pipeline, Process, eventually, pipeline
from tests.integration.raw import Raw, produce

RECORDS = 200
SPECIAL = 70
"""The record at which something happens."""


@dataclass
class Lab:
    """Numbers on a topic, workers that handle them, and what became of each number."""

    pipeline: Pipeline
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Partition and offset of each number."""
    journals: list[Journal] = field(default_factory=list)

    async def publish(self, count: int = RECORDS) -> set[int]:
        """The next numbers, dealt out to the partitions in turn."""
        settings = self.pipeline.settings
        numbers = range(len(self.places), len(self.places) + count)
        async with AIOKafkaProducer(bootstrap_servers=settings.kafka_bootstrap, acks="all") as producer:
            sent = [
                await producer.send(
                    settings.topic_prefix + TOPIC,
                    key=(text := str(number).encode()),
                    value=text,
                    partition=number % settings.partitions,
                )
                for number in numbers
            ]
            for number, placed in zip(numbers, await asyncio.gather(*sent), strict=True):
                self.places[number] = (placed.partition, placed.offset)
        return set(numbers)

    def journal(self) -> Journal:
        self.journals.append(Journal(self.pipeline.folder / f"journal{len(self.journals)}"))
        return self.journals[-1]

    def process(
        self, plan: Plan | None = None, *, member: str = "a", stop: str = "faust", roles: str = "extract", **more: str
    ) -> tuple[Process, Journal]:
        """A worker process, not started yet. The same `member` again is the same static member of the group."""
        journal = self.journal()
        log = journal.file.with_suffix(".log")
        command = [sys.executable, "-m", "tests.faust_worker", "--journal", str(journal.file)]
        command += ["--stop", stop, "--roles", roles, *(plan or Plan()).arguments()]
        environment = {
            **self.pipeline.environment,
            "MEMSTREAM_KAFKA_GROUP_INSTANCE_ID": member,
            "MEMSTREAM_DATA_DIR": str(self.pipeline.folder / member),
            **more,
        }
        made = Process(command, environment, log)
        self.pipeline.processes.append(made)
        return made, journal

    async def run(self, plan: Plan | None = None, **options: Any) -> tuple[Process, Journal]:
        """The same, with partitions."""
        process, journal = self.process(plan, **options)
        await process.start()
        return process, journal

    def done(self, role: Role = "extract") -> set[int]:
        """Handled by anybody."""
        return {number for journal in self.journals for number in journal.done(role)}

    def times_done(self) -> Counter[int]:
        return Counter(number for journal in self.journals for number in journal.done())

    async def all_done(self, numbers: Iterable[int] | None = None, role: Role = "extract") -> None:
        wanted = set(self.places if numbers is None else numbers)

        async def missing() -> bool:
            return wanted <= self.done(role)

        await eventually(missing, what=f"{len(wanted)} numbers to be handled")

    async def committed(self, role: Role = "extract") -> dict[int, int]:
        """By partition."""
        settings = self.pipeline.settings
        async with admin(settings) as client:
            found = await client.list_consumer_group_offsets(consumer_group(settings, role))
        return {
            place.partition: at.offset
            for place, at in found.items()
            if place.topic == settings.topic_prefix + TOPIC and at.offset >= 0
        }

    async def below_commit(self, role: Role = "extract") -> set[int]:
        """Numbers that no worker of the group will ever be given again."""
        committed = await self.committed(role)
        return {n for n, (partition, offset) in self.places.items() if offset < committed.get(partition, 0)}

    async def lost(self, role: Role = "extract") -> set[int]:
        return await self.below_commit(role) - self.done(role)

    async def all_committed(self, role: Role = "extract") -> None:
        async def there() -> bool:
            return await self.below_commit(role) == set(self.places)

        await eventually(there, what="everything to be committed")

    async def members(self, role: Role = "extract") -> int:
        settings = self.pipeline.settings
        async with admin(settings) as client:
            (response,) = await client.describe_consumer_groups([consumer_group(settings, role)])
        ((_, _, _, _, _, members, *_),) = response.groups
        return len(members)


@asynccontextmanager
async def admin(settings: Settings) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(bootstrap_servers=settings.kafka_bootstrap)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def running(app: Any) -> AsyncIterator[None]:
    """In this process."""
    app.finalize()
    await app.start()
    try:
        yield
    finally:
        disarm_commits(app)
        await app.stop()


@asynccontextmanager
async def runner_of(settings: Settings) -> AsyncIterator[Runner]:
    emitter = Emitter(settings, Health())
    await emitter.start()
    try:
        yield Runner(settings, emitter, Health())
    finally:
        await emitter.stop()


@asynccontextmanager
async def agent_here(lab: Lab, plan: Plan, role: Role = "extract") -> AsyncIterator[Handler]:
    """One app with one agent, in this process."""
    settings = lab.pipeline.settings
    handler = Handler(plan, lab.journal(), role)
    app = make_faust_app(settings, role)
    async with runner_of(settings) as runner:
        handler.attach(app, runner)
        async with running(app):
            yield handler


@asynccontextmanager
async def make_lab(kafka: EmbeddedKafka, prefix: str, folder: Path, partitions: int = 1) -> AsyncIterator[Lab]:
    settings: dict[str, Any] = {"batch_max": 50, "data_dir": folder / "here", "drain_seconds": 0.5}
    async with pipeline(kafka.bootstrap, prefix, partitions=partitions, folder=folder, **settings) as made:
        yield Lab(made)


@pytest_asyncio.fixture
async def lab(kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Lab]:
    """One partition."""
    async with make_lab(kafka, topic_prefix, tmp_path) as made:
        yield made


@pytest_asyncio.fixture
async def wide_lab(kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Lab]:
    """Two partitions."""
    async with make_lab(kafka, topic_prefix, tmp_path, partitions=2) as made:
        yield made


async def until(condition: Callable[[], object], what: str) -> None:
    async def met() -> bool:
        return bool(condition())

    await eventually(met, every=0.05, what=what)


# An exception leaves an agent


async def test_plain_events_an_exception_loses_its_record(lab: Lab) -> None:
    """The agent is restarted after the record that failed; its offset is committed."""
    numbers = await lab.publish()
    worker, _ = await lab.run(Plan("events", fails_at=SPECIAL))
    await lab.all_done(numbers - {SPECIAL})
    await lab.all_committed()
    worker.kill()
    assert await lab.lost() == {SPECIAL}


async def test_plain_take_an_exception_loses_its_batch(lab: Lab) -> None:
    """And, by chance, some of what follows: the stream of the agent that died still takes records from the queue."""
    await lab.publish()
    worker, journal = await lab.run(Plan("take", fails_at=SPECIAL))
    await until(lambda: any(SPECIAL in batch for batch in journal.read("taken")), "the batch")
    batch = next(set(batch) for batch in journal.read("taken") if SPECIAL in batch)

    async def committed() -> bool:
        return batch <= await lab.below_commit()

    await eventually(committed, what="the batch to be committed")
    worker.kill()
    assert len(batch) > 1
    assert batch <= await lab.lost()


async def test_our_runner_an_exception_parks_its_record(lab: Lab) -> None:
    """The body never raises: what fails again and again goes into the dead letters, all else is handled once."""
    numbers = await lab.publish()
    async with agent_here(lab, Plan("runner", fails_at=SPECIAL)):
        await lab.all_done(numbers - {SPECIAL})
        await lab.all_committed()
    (letter,) = [record async for record in lab.pipeline.records("dead-letters")]
    assert (letter.key, letter.value) == (b"70", b"70")
    errors = {name.removeprefix(DEAD_LETTER_PREFIX): value for name, value in letter.headers}
    assert errors["reason"] == b"internal_error"
    assert errors["attempts"] == str(BUG_TRIES).encode()
    assert lab.times_done() == dict.fromkeys(numbers - {SPECIAL}, 1)


# SIGTERM while something is in flight


async def sigterm_in_flight(lab: Lab, body: str, stop: str) -> set[int]:
    """Numbers that were under way when SIGTERM came, and that no worker has handled."""
    await lab.publish()
    worker, journal = await lab.run(Plan(body, holds_at=SPECIAL), stop=stop)
    await until(lambda: journal.read("held"), "a record to be in flight")
    worker.terminate()
    await worker.gone(60)
    assert SPECIAL not in lab.done()
    return set(journal.read("taken")[-1]) if body.endswith("take") else {SPECIAL}


@pytest.mark.parametrize("body", ["events", "take"])
async def test_plain_sigterm_loses_what_is_in_flight(lab: Lab, body: str) -> None:
    """Faust acks in `finally` when it cancels an agent, then commits at its stop."""
    in_flight = await sigterm_in_flight(lab, body, "faust")
    assert in_flight <= await lab.lost()
    assert len(in_flight) > 1 or body == "events"


@pytest.mark.parametrize("body", ["guarded-events", "guarded-take"])
async def test_guarded_sigterm_loses_nothing(lab: Lab, body: str) -> None:
    """`disarm_commits` at the cancellation is all that the bodies have over the plain ones."""
    in_flight = await sigterm_in_flight(lab, body, "faust")
    assert not in_flight & await lab.below_commit()
    assert await lab.lost() == set()


@pytest.mark.parametrize("stop", ["faust", "memstream"])
async def test_our_runner_sigterm_loses_nothing(lab: Lab, stop: str) -> None:
    """Faust's own stop, and ours: drain, commit, disarm, stop."""
    await sigterm_in_flight(lab, "runner", stop)
    assert await lab.lost() == set()
    assert SPECIAL not in await lab.below_commit()
    await lab.run(Plan("runner"))
    await lab.all_done()


# kill -9


async def test_plain_concurrency_2_kill_loses_the_record_in_flight(lab: Lab) -> None:
    """Commits run past the record that the other instance still works on."""
    numbers = await lab.publish()
    worker, journal = await lab.run(Plan("events", concurrency=2, holds_at=SPECIAL))
    await until(lambda: journal.read("held"), "a record to be in flight")
    await lab.all_done(numbers - {SPECIAL})
    await lab.all_committed()
    worker.kill()
    assert await lab.lost() == {SPECIAL}


async def test_our_runner_works_side_by_side_and_kill_loses_nothing(lab: Lab) -> None:
    """Lanes of one batch overtake each other; no commit overtakes the batch."""
    await lab.publish()
    everything = {"MEMSTREAM_BATCH_MAX": str(RECORDS), "MEMSTREAM_BATCH_WITHIN_SECONDS": "5"}
    worker, journal = await lab.run(Plan("runner", holds_at=SPECIAL), **everything)
    await until(lambda: journal.read("held") and max(journal.done()) > SPECIAL, "a lane to overtake another")
    worker.kill()
    assert SPECIAL not in lab.done()
    assert SPECIAL not in await lab.below_commit()
    assert await lab.lost() == set()
    await lab.run(Plan("runner"))
    await lab.all_done()


@pytest.mark.parametrize("body", ["events", "take", "runner"])
async def test_concurrency_1_kill_loses_nothing(lab: Lab, body: str) -> None:
    """Killed when everything before the batch in flight is committed; of the batch itself nothing is."""
    await lab.publish(SPECIAL)
    held = SPECIAL + 50  # farther than the runner's batch goes
    worker, journal = await lab.run(Plan(body, holds_at=held))
    await lab.all_committed()
    await lab.publish()
    await until(lambda: journal.read("held"), "a record to be in flight")
    first = {"events": lambda: held, "take": lambda: journal.read("taken")[-1][0], "runner": lambda: SPECIAL + 1}

    async def committed() -> bool:
        return (await lab.committed())[0] >= first[body]()

    await eventually(committed, what="what is before the batch to be committed")
    worker.kill()
    assert held not in await lab.below_commit()
    assert await lab.lost() == set()
    await lab.run(Plan(body))
    await lab.all_done()


async def test_two_workers_kill_of_one_loses_nothing(wide_lab: Lab) -> None:
    """The other one takes over after the session time-out."""
    lab = wide_lab
    mortal, _ = await lab.run(Plan("runner", dies_at=2 * SPECIAL), member="a")
    await lab.run(Plan("runner"), member="b")
    await both_assigned(lab)
    numbers = await lab.publish(2 * RECORDS)
    assert await mortal.gone(60) == -signal.SIGKILL
    await lab.all_done(numbers)
    assert await lab.lost() == set()


async def both_assigned(lab: Lab) -> None:
    """Until each of the last two workers has one of the two partitions."""
    journals = lab.journals[-2:]

    def shared() -> bool:
        latest = [journal.read("assigned")[-1:] for journal in journals]
        return sorted(latest) == [[[0]], [[1]]]

    await until(shared, "one partition each")


# Groups, apps and outages


async def test_a_restarted_static_member_disturbs_nobody(wide_lab: Lab) -> None:
    """It gets its partition back, and the other one sees no rebalance."""
    lab = wide_lab
    long = {"MEMSTREAM_KAFKA_SESSION_TIMEOUT_SECONDS": "90"}
    mortal, before = await lab.run(Plan("runner", dies_at=SPECIAL), member="a", **long)
    _, other = await lab.run(Plan("runner"), member="b", **long)
    await both_assigned(lab)
    (held,) = before.read("assigned")[-1]
    seen = other.read("assigned")
    await lab.publish()
    assert await mortal.gone(60) == -signal.SIGKILL
    _, after = await lab.run(Plan("runner"), member="a", **long)
    assert after.read("assigned") == [[held]]
    await lab.all_done()
    assert other.read("assigned") == seen
    assert await lab.lost() == set()


async def test_three_apps_in_one_process(lab: Lab) -> None:
    """Groups of their own: each gets every record, at a kill too."""
    numbers = await lab.publish()
    three: tuple[Role, ...] = ("redact", "extract", "memory")
    options = {"roles": ",".join(three), "stop": "memstream"}
    mortal, _ = lab.process(Plan("runner", dies_at=SPECIAL), **options)
    mortal.spawn()
    assert await mortal.gone(60) == -signal.SIGKILL
    worker, _ = await lab.run(Plan("runner"), **options)
    for role in three:
        await lab.all_done(numbers, role)
        assert await lab.lost(role) == set()
    worker.terminate()
    await worker.gone(60)
    for role in three:
        assert await lab.below_commit(role) == numbers


async def test_workers_rejoin_after_a_broker_restart(own_kafka: EmbeddedKafka, tmp_path: Path) -> None:
    """Without a restart of their own, each with a partition, and without a flood of lines meanwhile."""
    async with make_lab(own_kafka, "memory.", tmp_path, partitions=2) as lab:
        workers = [await lab.run(Plan("runner"), member=member) for member in "ab"]
        await both_assigned(lab)
        await lab.publish(100)
        await lab.all_done()
        await own_kafka.kill()
        await own_kafka.start()

        async def both_are_back() -> bool:
            return await lab.members() == 2

        await eventually(both_are_back, what="two members")
        second = await lab.publish(100)
        await lab.all_done()
        await lab.all_committed()
        await both_assigned(lab)
        for worker, journal in workers:
            assert worker.running
            assert second & set(journal.done())
            assert worker.log.read_text().count("\n") < 50


async def test_a_blocked_loop_is_no_rebalance(wide_lab: Lab) -> None:
    """The consumer's heartbeats have a thread of their own: the loop may stand still for longer than the session."""
    lab = wide_lab
    assert lab.pipeline.settings.kafka_session_timeout_seconds < BLOCK_SECONDS
    _, blocked = await lab.run(Plan("runner", blocks_at=SPECIAL), member="a")
    _, other = await lab.run(Plan("runner", blocks_at=SPECIAL), member="b")
    await both_assigned(lab)
    seen = [journal.read("assigned") for journal in (blocked, other)]
    numbers = await lab.publish()
    await lab.all_done()
    await lab.all_committed()
    assert [line for journal in (blocked, other) for line in journal.read("blocked")] == [[int(BLOCK_SECONDS)]]
    assert [journal.read("assigned") for journal in (blocked, other)] == seen
    assert lab.times_done() == dict.fromkeys(numbers, 1)


async def test_a_stuck_agent_stops_its_app_and_no_other(lab: Lab) -> None:
    """One fetch loop an app: when the buffer of one agent is full, the app's other agents get nothing more."""
    settings = lab.pipeline.settings
    stuck = Handler(Plan(holds_at=0), lab.journal(), "stuck")
    beside = Handler(Plan(), lab.journal(), "beside", name="beside", topic="candidates")
    alone = Handler(Plan(), lab.journal(), "alone", name="alone", topic="candidates")
    shared_app, own_app = make_faust_app(settings, "extract"), make_faust_app(settings, "memory")
    shared_app.conf.stream_buffer_maxsize = 16

    async def publish_beside(count: int) -> None:
        values = [Raw(str(n).encode(), topic="candidates", partition=0) for n in range(count)]
        await produce(lab.pipeline, values)

    async with runner_of(settings) as runner:
        stuck.attach(shared_app, runner)
        beside.attach(shared_app, runner)
        alone.attach(own_app, runner)
        async with running(shared_app), running(own_app):
            await publish_beside(1)
            await until(lambda: beside.journal.done("beside") == [0], "the agent beside to work")
            await lab.publish()
            await until(lambda: shared_app.topics and _is_full(shared_app, TOPIC), "a full buffer")
            await publish_beside(50)
            await until(lambda: len(alone.journal.done("alone")) == 51, "the app of its own")
            await publish_beside(50)
            await until(lambda: len(alone.journal.done("alone")) == 101, "the app of its own")
            assert len(beside.journal.done("beside")) == 1
            stuck.released.set()
            await until(lambda: len(beside.journal.done("beside")) == 101, "the agent beside, once the other goes on")


def _is_full(app: Any, topic: str) -> bool:
    """Whether records wait outside the buffer of a topic's agent."""
    queues = [chan.queue for chan in app.topics if chan.get_topic_name().endswith(topic)]
    return any(queue.full() and queue._putters for queue in queues)


async def test_the_poll_interval_must_be_above_any_wait(lab: Lab) -> None:
    """A worker that waits with a full buffer for longer leaves its group for good, without an error; ours stays."""
    await lab.publish()
    settings = lab.pipeline.settings
    short, ours = make_faust_app(settings, "extract"), make_faust_app(settings, "memory")
    short.conf.broker_max_poll_interval = 3.0
    handlers = {}
    async with runner_of(settings) as runner:
        for role, app in {"extract": short, "memory": ours}.items():
            app.conf.stream_buffer_maxsize = 16
            handlers[role] = Handler(Plan(holds_at=SPECIAL), lab.journal(), role)
            handlers[role].attach(app, runner)
        async with running(short), running(ours):
            for role, handler in handlers.items():
                await until(partial(handler.journal.read, "held", role), "both to wait")

            async def left() -> bool:
                return await lab.members("extract") == 0

            await eventually(left, what="the short one to leave its group")
            # It stopped its flow to join again, which it does once it has fetched something, which needs the flow.
            await until(lambda: not short.flow_control.is_active(), "the short one to stop its flow")
            assert await lab.members("memory") == 1
            for handler in handlers.values():
                handler.released.set()
            await lab.all_committed("memory")
            await lab.publish()
            await lab.all_committed("memory")
            assert await lab.members("extract") == 0, "it came back"
            assert SPECIAL + 1 not in lab.done("extract"), "it goes on"


# What a record looks like


ODD = [
    Raw(b"plain", b"key"),
    Raw(b"value", None),
    Raw(None, b"key"),
    Raw(b"", b""),
    Raw(b"\xff\xfe\x00\xd8", b"\x00\xff\xc3\x28"),
    Raw("记忆".encode(), "钥匙".encode(), [("a", b"1"), ("b", b"\xff\x00"), ("a", b"2"), ("c", None), ("名", b"")]),
]


async def test_records_arrive_as_they_are(lab: Lab) -> None:
    """Raw keys, values and headers. `event.headers` is a mapping, so that only `message.headers` has all of them."""
    settings = lab.pipeline.settings
    app = make_faust_app(settings, "extract")
    raw: list[tuple[Any, Any, Any]] = []
    ours: list[tuple[Any, Any, Any]] = []
    mapped: list[dict[str, bytes]] = []
    async with runner_of(settings) as runner:

        async def agent(stream: Any) -> None:
            async for event in stream.events():
                record = runner._inbound(TOPIC, event)
                raw.append((event.value, event.key, event.message.headers))
                ours.append((record.value, record.key, record.headers))
                mapped.append(dict(event.headers))

        app.agent(runner._raw_topic(app, TOPIC), concurrency=1, name="odd")(agent)
        await produce(lab.pipeline, [Raw(r.value, r.key, r.headers, TOPIC, 0) for r in ODD])
        async with running(app):
            await until(lambda: len(raw) == len(ODD), "all records")
    assert ours == [(r.value, r.key, tuple(r.headers)) for r in ODD]
    assert [(value, key, tuple(headers)) for value, key, headers in raw] == ours
    assert isinstance(raw[-1][2], tuple)
    assert mapped[-1]["a"] == b"2"
    assert len(mapped[-1]) == len(ODD[-1].headers) - 1


# Settings and output


def test_the_settings_are_the_safe_ones(tmp_path: Path) -> None:
    settings = load_settings(
        kafka_bootstrap="one:1,two:2",
        topic_prefix="memory.",
        data_dir=tmp_path,
        kafka_group_instance_id="w1",
        kafka_session_timeout_seconds=6,
    )
    app = make_faust_app(settings, "extract")
    conf = app.conf
    assert app.conf.id == "memory.extract"
    assert [str(url) for url in conf.broker] == ["kafka://one:1", "kafka://two:2"]
    # In milliseconds it must fit into the 32 bits that Kafka's protocol has for it.
    assert conf.broker_max_poll_interval == 2_000_000
    assert conf.broker_max_poll_interval * 1000 < 2**31
    assert conf.broker_max_poll_records == 500
    assert conf.broker_session_timeout == 6
    assert conf.broker_heartbeat_interval <= conf.broker_session_timeout / 3
    assert 0.5 <= conf.broker_commit_interval <= 1
    assert conf.stream_wait_empty is False
    assert conf.stream_buffer_maxsize == 4096
    assert conf.web_enabled is False
    assert conf.autodiscover is False
    assert conf.topic_disable_leader is True
    assert conf.topic_allow_declare is False
    assert conf.consumer_auto_offset_reset == "earliest"
    assert conf.consumer_group_instance_id == "w1-extract"
    assert conf.producer_linger == 0
    assert str(conf.store) == "memory:"
    assert conf.logging_config is None
    assert str(conf.processing_guarantee.value) == "at_least_once"
    assert Path(conf.datadir).is_relative_to(tmp_path)
    assert make_faust_app(load_settings(data_dir=tmp_path), "memory").conf.consumer_group_instance_id is None


class Terminal:
    """A pseudo-terminal for one of a process's streams: what is written to one is what users see."""

    def __init__(self) -> None:
        self._ours, self.end = pty.openpty()
        os.set_blocking(self._ours, False)
        self.text = b""

    def read(self) -> bytes:
        """All that was said until now."""
        while True:
            try:
                chunk = os.read(self._ours, 65536)
            except OSError:  # nothing to read, or (EIO) nobody writes any more
                return self.text
            if not chunk:
                return self.text
            self.text += chunk

    def close(self) -> None:
        os.close(self._ours)
        os.close(self.end)


async def test_a_worker_is_quiet_on_a_terminal(lab: Lab) -> None:
    """Faust hides the cursor, says "OK ^" and draws tables; ours says on stderr that it is ready."""
    out, err = Terminal(), Terminal()
    environment = clean_environment({**lab.pipeline.environment, "TERM": "xterm-256color"})
    process = subprocess.Popen(
        [MEMSTREAM, "worker", "--roles", "redact"],
        cwd=lab.pipeline.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=out.end,
        stderr=err.end,
    )
    try:
        await until(lambda: b"ready" in err.read(), "ready")
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, 60) == 0, err.read()
        assert out.read() == b""
        said = re.sub(rb"\x1b\[[0-9;]*m", b"", err.read())  # colours are welcome
        assert b"\x1b" not in said
        ours = re.compile(r"ready: Kafka on |\d\d:\d\d:\d\d (info|warning) +streams\.")
        assert [line for line in said.decode().splitlines() if not ours.match(line)] == []
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        out.close()
        err.close()
