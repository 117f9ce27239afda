"""Drives whole pipelines in tests: worker processes, a store they share, events in, end state out.

Everything waits on conditions with a deadline; nothing sleeps for a guessed time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, TopicPartition

from schemas import ConversationEvent, MemoryRecord, Receipt
from streams.client import MemoryClient
from streams.compacted import is_memory
from streams.settings import Settings, load_settings
from streams.topics import BY_NAME, ensure_topics
from tests import worker

T = TypeVar("T")
# Fields that say when something was delivered, not what is remembered: they differ between any two runs.
DELIVERY = {"created_at", "updated_at", "last_access_time", "access_count", "access_marks"}
WAIT_SECONDS = 120.0
# After SIGTERM a process is gone in 10 s, which is a promise; the rest is for a busy machine to hand signals on.
GONE_SECONDS = 10.0 + 5.0


async def eventually(
    condition: Callable[[], Awaitable[T]], *, seconds: float = WAIT_SECONDS, every: float = 0.1, what: str = ""
) -> T:
    """The first truthy value of `condition`. Fails the test after `seconds`, with the last value."""
    end = time.monotonic() + seconds
    while True:
        value = await condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what or condition}; last value: {str(value)[:500]}")
        await asyncio.sleep(every)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Process:
    """A child process that says `ready` on stdout."""

    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | Forked | None = None

    async def start(self, seconds: float = 180.0) -> None:
        """Start and wait for `ready`."""
        self.spawn()
        await self.ready(seconds)

    def spawn(self) -> None:
        self._skip = self.log.stat().st_size if self.log.exists() else 0
        self.process = self._launched()

    def _launched(self) -> subprocess.Popen[bytes] | Forked:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.command, env={**os.environ, **self.environment}, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    async def ready(self, seconds: float = 180.0) -> None:
        async def said() -> bool:
            assert self.process is not None
            if self.process.poll() is not None:
                raise AssertionError(f"exited with {self.process.returncode}: {self.tail()}")
            with self.log.open("rb") as log:
                log.seek(self._skip)
                return b"ready" in log.read()

        await eventually(said, seconds=seconds, every=0.05, what=f"ready from {self.command[2:]}")

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.process.wait(10)

    def terminate(self) -> None:
        """SIGTERM, without waiting."""
        self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def gone(self, seconds: float = GONE_SECONDS) -> int:
        """Exit code, when it has ended."""
        assert self.process is not None
        process = self.process

        async def ended() -> list[int]:
            code = process.poll()
            return [] if code is None else [code]

        return (await eventually(ended, seconds=seconds, every=0.02, what="the process to end"))[0]

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""


@contextlib.contextmanager
def frozen(processes: Sequence[Process]) -> Iterator[None]:
    """Wherever they are, they stay there: what is published meanwhile, nobody has handled. A SIGTERM waits as well."""
    for process in processes:
        process.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            if process.running:
                process.signal(signal.SIGCONT)


class Forked:
    """A process of `tests.worker` with the part of `Popen` that is used here.

    Forked from a server that imported everything once: that is most of the time that a worker takes to start, and a
    suite starts hundreds of them.
    """

    _server = multiprocessing.get_context("forkserver")
    _server.set_forkserver_preload(["tests.warm"])

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._process = self._server.Process(target=worker.forked, args=(arguments, dict(environment), log))
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float) -> None:
        self._process.join(timeout)

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


class Worker(Process):
    """`command`: the arguments of `tests.worker`."""

    def _launched(self) -> Forked:
        self.log.touch()
        return Forked(self.command, self.environment, self.log)


@dataclass
class Pipeline:
    """One prefix on a broker, with a store server that several worker processes share, or (`store_url` empty) the
    embedded store of the one worker that may run at a time."""

    settings: Settings
    folder: Path
    store_url: str
    environment: dict[str, str]
    processes: list[Process] = field(default_factory=list)

    def worker(self, *, roles: str = "all", crash: str = "", **environment: str) -> Process:
        """A worker process, not started yet."""
        number = len(self.processes)
        arguments = ["--roles", roles, *(["--crash", crash] if crash else [])]
        settings = {
            **self.environment,
            "MEMSTREAM_KAFKA_GROUP_INSTANCE_ID": f"w{number}",
            # The embedded store has one owner, so successive workers share one folder.
            "MEMSTREAM_DATA_DIR": str(self.folder / (f"worker{number}" if self.store_url else "worker")),
            **environment,
        }
        made = Worker(arguments, settings, self.folder / f"worker{number}.log")
        self.processes.append(made)
        return made

    def client(self, **options: Any) -> MemoryClient:
        return MemoryClient(settings=self.settings, **options)

    async def publish(self, events: Iterable[ConversationEvent | Mapping[str, Any]]) -> list[str]:
        async with self.client() as client:
            return [event_id async for event_id in client.publish_many(events)]

    async def compacted(self, topic: str) -> dict[bytes, bytes]:
        """What the topic holds by key, tombstones left out: as a new reader would see it."""
        latest: dict[bytes, bytes | None] = {}
        async for key, value in self.read(topic):
            latest[key] = value
        return {key: value for key, value in latest.items() if value is not None}

    async def read(self, topic: str) -> AsyncIterator[tuple[bytes, bytes | None]]:
        """Key and value of every record of a topic from its start to its present end."""
        async for record in self.records(topic):
            yield record.key, record.value

    async def records(self, topic: str) -> AsyncIterator[Any]:
        """The same as `aiokafka.ConsumerRecord`s: with headers, partition, offset."""
        consumer = AIOKafkaConsumer(bootstrap_servers=self.settings.kafka_bootstrap, enable_auto_commit=False)
        await consumer.start()
        try:
            name = self.settings.topic_prefix + topic
            places = [TopicPartition(name, p) for p in range(self._partitions(topic))]
            consumer.assign(places)
            ends = await consumer.end_offsets(places)
            starts = await consumer.beginning_offsets(places)
            for place in places:
                consumer.seek(place, starts[place])
            open_places = {place for place in places if ends[place] > starts[place]}
            while open_places:
                for records in (await consumer.getmany(*open_places, timeout_ms=1000)).values():
                    for record in records:
                        yield record
                for place in list(open_places):
                    if await consumer.position(place) >= ends[place]:
                        open_places.discard(place)
        finally:
            await consumer.stop()

    async def receipts(self) -> dict[str, Receipt]:
        """By event id; fails when one event has two."""
        found = [Receipt.from_bytes(value) for value in (await self.compacted("receipts")).values()]
        twice = [e for e, n in Counter((r.namespace, r.user_id, r.event_id) for r in found).items() if n > 1]
        assert not twice, f"{len(twice)} events have more than one receipt"
        return {r.event_id: r for r in found}

    async def one_receipt_each(self) -> None:
        """By all that was ever written, not by what a compacted topic comes to: what is redelivered may be receipted
        again, never otherwise."""
        said: dict[bytes, set[bytes]] = defaultdict(set)
        async for key, value in self.read("receipts"):
            said[key].add(value or b"")
        different = [key for key, values in said.items() if len(values) > 1]
        assert not different, f"{len(different)} events have two receipts, the first {said[different[0]]}"

    async def all_received(self, event_ids: Iterable[str], seconds: float = WAIT_SECONDS) -> dict[str, Receipt]:
        """Waits until every event has its receipt."""
        wanted = set(event_ids)

        async def there() -> dict[str, Receipt]:
            receipts = await self.receipts()
            return receipts if wanted <= receipts.keys() else {}

        found = await eventually(there, seconds=seconds, every=0.5, what=f"{len(wanted)} receipts")
        assert wanted == set(found), f"{len(set(found) - wanted)} receipts of events that nobody published"
        return found

    async def drained(self, seconds: float = WAIT_SECONDS) -> None:
        """Waits until no group has anything left to do and `records` has stopped growing."""
        from aiokafka.admin import AIOKafkaAdminClient

        groups = {
            "redact": ["conversations"],
            "extract": ["redacted"],
            "memory": ["candidates", "supersede", "commands", "access", "decay"],
        }
        admin = AIOKafkaAdminClient(bootstrap_servers=self.settings.kafka_bootstrap)
        consumer = AIOKafkaConsumer(bootstrap_servers=self.settings.kafka_bootstrap, enable_auto_commit=False)
        await admin.start()
        await consumer.start()
        try:

            async def done() -> bool:
                # What was committed first, the ends after: what a record led to before its commit is then counted.
                committed = {
                    role: await admin.list_consumer_group_offsets(self.settings.topic_prefix + role) for role in groups
                }
                for role, topics in groups.items():
                    places = [
                        TopicPartition(self.settings.topic_prefix + topic, p)
                        for topic in topics
                        for p in range(self._partitions(topic))
                    ]
                    ends = await consumer.end_offsets(places)
                    if any(end > 0 and self._offset(committed[role], place) < end for place, end in ends.items()):
                        return False
                return True

            await eventually(done, seconds=seconds, every=0.3, what="all groups to reach the end")
        finally:
            await consumer.stop()
            await admin.close()

    def _partitions(self, topic: str) -> int:
        return self.settings.partitions if BY_NAME[topic].partitioned else 1

    @staticmethod
    def _offset(committed: Mapping[Any, Any], place: TopicPartition) -> int:
        found = committed.get(place)
        return found.offset if found is not None else -1

    async def stop(self) -> None:
        for process in self.processes:
            process.kill()


def comparable(records: Iterable[MemoryRecord]) -> dict[str, dict[str, Any]]:
    """Memories by id without what says only when they were delivered."""
    return {
        record.memory_id: {
            name: value for name, value in record.model_dump(mode="json").items() if name not in DELIVERY
        }
        for record in records
    }


async def end_state(pipeline: Pipeline) -> dict[str, dict[str, dict[str, Any]]]:
    """What is remembered, once from the store and once from the compacted `records`. Stops an embedded worker."""
    if not pipeline.store_url:
        await pipeline.stop()
    records = [
        MemoryRecord.from_bytes(value) for key, value in (await pipeline.compacted("records")).items() if is_memory(key)
    ]
    from streams.adapters.embedders import make_embedder
    from streams.adapters.store import make_store
    from streams.ports import Where

    embedder = make_embedder(pipeline.settings.embedder)
    path = None if pipeline.store_url else pipeline.folder / "worker" / "store"
    store = make_store(url=pipeline.store_url or None, path=path, profile=embedder.profile)
    await store.open()
    stored: list[MemoryRecord] = []
    try:
        for tenant in {record.tenant for record in records}:
            for archive in (False, True):
                cursor = None
                while True:
                    page, cursor = await store.find(tenant, Where(), cursor=cursor, archive=archive)
                    stored += page
                    if cursor is None:
                        break
        total = await store.count() + await store.count(archive=True)
    finally:
        await store.close()
        await embedder.close()
    assert total == len(stored), "the store holds memories that `records` knows nothing of"
    return {"records": comparable(records), "store": comparable(stored)}


@contextlib.asynccontextmanager
async def pipeline(
    bootstrap: str,
    prefix: str,
    *,
    partitions: int = 4,
    folder: Path | None = None,
    shared_store: bool = False,
    **settings: Any,
) -> AsyncIterator[Pipeline]:
    """Topics, and with `shared_store` a store server; no worker yet. What it starts is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="memstream-test-") as temporary:
        where = folder or Path(temporary)
        chosen: dict[str, Any] = {
            "embedder": "constant",
            "metrics_port": 0,
            "http_port": 0,
            # A window that ends in the middle of a test changes memories; tests send their own ticks.
            "decay_windows": False,
            "kafka_session_timeout_seconds": 6,
            **settings,
            "kafka_bootstrap": bootstrap,
            "topic_prefix": prefix,
            "partitions": partitions,
        }
        port = free_port()
        url = f"http://127.0.0.1:{port}" if shared_store else ""
        chosen["qdrant_url"] = url
        made = load_settings(**chosen)
        environment = {f"MEMSTREAM_{name.upper()}": _as_text(value) for name, value in chosen.items()}
        server = Process(
            [sys.executable, "-m", "tests.store_server", "--port", str(port), "--data", str(where / "store")],
            {},
            where / "store.log",
        )
        result = Pipeline(made, where, url, environment, [server] if shared_store else [])
        try:
            await ensure_topics(made)
            if shared_store:
                await server.start()
            yield result
        finally:
            await result.stop()


def _as_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, dict | list | bool) else str(value)
