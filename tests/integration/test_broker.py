"""The embedded broker: it starts, survives, is found again, and says what is wrong in words."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from streams.adapters import kafka_broker
from streams.adapters.kafka_broker import EmbeddedKafka, describe_left_over
from streams.adapters.kafka_folder import Folder
from streams.adapters.kafka_java import find_java
from streams.errors import ConfigurationError
from tests.kafka import MakeKafka

DEADLINE = 120.0

# Starts a broker, tells its pid and waits to be killed: the parent of an orphan.
PARENT = """
import asyncio, sys
from streams.adapters.kafka_broker import EmbeddedKafka

async def main():
    broker = EmbeddedKafka(sys.argv[1])
    await broker.start()
    print(broker.pid, flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


async def create_topic(bootstrap: str, topic: str, configs: dict[str, str] | None = None) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 1, 1, topic_configs=configs or {})])
    finally:
        await admin.close()


async def send(bootstrap: str, topic: str, values: list[bytes]) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all") as producer:
        for value in values:
            await producer.send_and_wait(topic, value)


async def read_all(bootstrap: str, topic: str) -> list[bytes]:
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        end = (await consumer.end_offsets([partition]))[partition]
        values: list[bytes] = []
        while await consumer.position(partition) < end:
            values += [r.value for batch in (await consumer.getmany(timeout_ms=1000)).values() for r in batch]
        return values


def is_alive(pid: int) -> bool:
    """False for a zombie too: an orphan's new parent may be slow to collect it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True


@contextlib.asynccontextmanager
async def parent_of(data: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(data), stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def orphan(data: Path) -> int:
    """The pid of a broker whose parent was killed."""
    async with parent_of(data) as parent:
        assert parent.stdout is not None
        line = await asyncio.wait_for(parent.stdout.readline(), DEADLINE)
    return int(line)


@contextlib.contextmanager
def listening() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


async def test_serves_clients(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    topic = f"{topic_prefix}words"
    await create_topic(kafka.bootstrap, topic)
    await send(kafka.bootstrap, topic, ["记忆".encode(), b"memory"])
    assert await read_all(kafka.bootstrap, topic) == ["记忆".encode(), b"memory"]


async def test_two_tests_share_the_broker_but_no_topic(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    topic = f"{topic_prefix}words"
    await create_topic(kafka.bootstrap, topic)
    assert await read_all(kafka.bootstrap, topic) == []


async def test_the_shared_broker_compacts_within_a_test(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    topic = f"{topic_prefix}state"
    quick = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "100"}
    await create_topic(kafka.bootstrap, topic, quick)
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap, acks="all") as producer:
        for number in range(20):
            await producer.send_and_wait(topic, str(number).encode(), key=b"same")

        async def compacted() -> None:
            while len(values := [v for v in await read_all(kafka.bootstrap, topic) if v != b"roll"]) > 1:
                await producer.send_and_wait(topic, b"roll", key=b"roll")  # only a closed segment is cleaned
            assert values == [b"19"]

        await asyncio.wait_for(compacted(), DEADLINE)


async def test_kill_keeps_what_was_acked(own_kafka: EmbeddedKafka) -> None:
    await create_topic(own_kafka.bootstrap, "kept")
    before, pid = own_kafka.bootstrap, own_kafka.pid
    acked: list[bytes] = []
    enough = asyncio.Event()

    async def load() -> None:
        async with AIOKafkaProducer(bootstrap_servers=before, acks="all", enable_idempotence=True) as producer:
            for number in range(3000):
                await producer.send_and_wait("kept", value := str(number).encode())
                acked.append(value)
                if number == 500:
                    enough.set()

    writing = asyncio.create_task(load())
    await asyncio.wait_for(enough.wait(), DEADLINE)
    await own_kafka.kill()
    assert not own_kafka.running
    await own_kafka.start()
    assert own_kafka.bootstrap == before
    assert own_kafka.pid != pid
    await asyncio.wait_for(writing, DEADLINE)  # the driver finds it again on the same port
    assert await read_all(before, "kept") == acked


async def test_stop_and_start_again_from_another_object(make_kafka: MakeKafka) -> None:
    first = make_kafka("记忆 data")  # a name that Java has to be told about
    await first.start()
    await create_topic(first.bootstrap, "kept")
    await send(first.bootstrap, "kept", [b"1"])
    await first.stop()
    assert describe_left_over(first.log.parent) is None
    async with make_kafka("记忆 data") as second:
        assert not second.adopted
        assert await read_all(second.bootstrap, "kept") == [b"1"]


async def test_a_folder_has_one_owner(own_kafka: EmbeddedKafka, make_kafka: MakeKafka) -> None:
    await create_topic(own_kafka.bootstrap, "kept")
    await send(own_kafka.bootstrap, "kept", [b"1"])
    second = make_kafka()
    with pytest.raises(ConfigurationError) as refused:
        await second.start()
    assert f"process {os.getpid()}" in str(refused.value)
    assert f"process {own_kafka.pid}" in str(refused.value)
    left = describe_left_over(own_kafka.log.parent)
    assert left is not None
    assert (left.pid, left.owner) == (own_kafka.pid, os.getpid())
    # The first is unharmed, now and at its next start.
    assert await read_all(own_kafka.bootstrap, "kept") == [b"1"]
    await own_kafka.stop()
    await own_kafka.start()
    assert await read_all(own_kafka.bootstrap, "kept") == [b"1"]


async def test_an_orphan_is_adopted_and_stopped(make_kafka: MakeKafka, tmp_path: Path) -> None:
    pid = await orphan(tmp_path / "kafka")
    left = describe_left_over(tmp_path / "kafka")
    assert left is not None
    assert (left.pid, left.owner) == (pid, None)
    said: list[str] = []
    broker = EmbeddedKafka(tmp_path / "kafka")  # the same settings as its parent's
    try:
        await broker.start(said.append)
        assert broker.adopted
        assert broker.pid == pid
        assert any(str(pid) in line and "took over" in line for line in said)
        await create_topic(broker.bootstrap, "kept")
        with pytest.raises(ConfigurationError, match=f"process {pid}"):
            await make_kafka().start()
        await broker.stop()
        assert not broker.running
        assert not is_alive(pid)
        assert describe_left_over(tmp_path / "kafka") is None
        await broker.start()
        assert not broker.adopted
        assert broker.pid != pid
    finally:
        await broker.kill()


async def test_an_orphan_that_was_still_starting_is_adopted(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "kafka")

    async def launched() -> None:
        while not (folder.formatted.exists() and describe_left_over(folder.data)):
            await asyncio.sleep(0.01)

    async with parent_of(folder.data):
        await asyncio.wait_for(launched(), DEADLINE)
    broker = EmbeddedKafka(folder.data)
    try:
        await broker.start()
        await create_topic(broker.bootstrap, "works")
    finally:
        await broker.kill()
    assert describe_left_over(folder.data) is None


async def test_an_orphan_that_does_not_fit_is_replaced(make_kafka: MakeKafka, tmp_path: Path) -> None:
    pid = await orphan(tmp_path / "kafka")
    said: list[str] = []
    broker = make_kafka(extra_properties={"num.io.threads": "3"})
    await broker.start(said.append)
    assert not broker.adopted
    assert any(str(pid) in line and "stopping" in line for line in said)
    assert not is_alive(pid)


async def test_a_port_in_use_is_named_before_anything_starts(make_kafka: MakeKafka) -> None:
    with listening() as port:
        broker = make_kafka(port=port)
        with pytest.raises(ConfigurationError, match=f"port {port} is in use.*another port"):
            await broker.start()
    assert not Folder(broker.log.parent).pid.exists()
    await broker.start()  # and the same object starts once the port is free
    assert broker.bootstrap == f"127.0.0.1:{port}"


async def test_a_taken_controller_port_is_chosen_again(make_kafka: MakeKafka, monkeypatch: pytest.MonkeyPatch) -> None:
    choose = kafka_broker._free_ports
    with listening() as taken:
        choices = iter([(choose(None)[0], taken)])
        monkeypatch.setattr(kafka_broker, "_free_ports", lambda port: next(choices, None) or choose(port))
        broker = make_kafka()
        await broker.start()
        assert next(choices, None) is None
        await create_topic(broker.bootstrap, "works")


async def test_a_folder_that_cant_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="choose another data folder"):
        await EmbeddedKafka(tmp_path / "file" / "kafka").start()
    locked = tmp_path / "read-only"
    locked.mkdir(mode=0o500)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may write everywhere
    try:
        with pytest.raises(ConfigurationError, match="choose another data folder"):
            await EmbeddedKafka(locked).start()
    finally:
        os.seteuid(user)


async def test_a_disk_without_room(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"the disk of .* MiB left"):
        await EmbeddedKafka(tmp_path / "kafka", least_free_bytes=2**62).start()


async def test_a_broker_that_dies_at_its_start_is_quoted(make_kafka: MakeKafka) -> None:
    broker = make_kafka(extra_properties={"log.cleaner.threads": "-1"})
    with pytest.raises(ConfigurationError, match=r"log\.cleaner\.threads: Value must be at least 0") as died:
        await broker.start()
    assert "\tat " not in str(died.value)
    assert describe_left_over(broker.log.parent) is None
    async with make_kafka() as repaired:  # nothing is held, nothing is half done
        assert repaired.running


async def test_its_death_is_noticed(own_kafka: EmbeddedKafka) -> None:
    assert own_kafka.pid is not None
    watching = asyncio.create_task(own_kafka.wait())
    os.kill(own_kafka.pid, signal.SIGKILL)
    said = await asyncio.wait_for(watching, DEADLINE)
    assert said.startswith(f"Apache Kafka {own_kafka.version} stopped. The end of {own_kafka.log}:\n")
    assert "QuorumController" in said  # a line of this start: the controller says that it is active
    await own_kafka.start()
    assert own_kafka.running


def test_what_the_broker_sets_itself_cant_be_set(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"sets log\.dirs by itself"):
        EmbeddedKafka(tmp_path, extra_properties={"log.dirs": "/elsewhere"})
    with pytest.raises(ConfigurationError, match="comma"):
        EmbeddedKafka(tmp_path / "a,b")


def test_a_java_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("MEMSTREAM_JAVA", str(java))
    with pytest.raises(ConfigurationError, match="it is Java 11; Kafka needs Java 17"):
        find_java()
    monkeypatch.setenv("MEMSTREAM_JAVA", str(tmp_path / "nothing"))
    with pytest.raises(ConfigurationError, match="it does not run"):
        find_java()
