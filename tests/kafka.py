"""A real broker for each process of a run, started when the first test asks for it; others for tests that kill theirs.

Nothing here skips: a machine that can't run the broker can't vouch for memstream, so those tests fail.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_asyncio

from streams.adapters.kafka_broker import EmbeddedKafka, describe_left_over, stop_left_over

T = TypeVar("T")

# A test that waits for compaction waits for the cleaner: it looks every 15 s by default.
QUICK_CLEANER = {"log.cleaner.backoff.ms": "200"}


@pytest.fixture(scope="session")
def kafka() -> Iterator[EmbeddedKafka]:
    """The broker of this process: `.bootstrap`, `.version`. Share it by `topic_prefix`; never stop it."""
    with _run_folder() as folder:
        broker = EmbeddedKafka(folder, extra_properties=QUICK_CLEANER)
        run_elsewhere(broker.start)
        try:
            yield broker
        finally:
            run_elsewhere(broker.kill)


@pytest.fixture
def topic_prefix() -> str:
    """Begins the names of this test's topics, groups and application ids on the shared broker; ends in a dot."""
    return f"t{uuid.uuid4().hex[:12]}."


MakeKafka = Callable[..., EmbeddedKafka]


@pytest_asyncio.fixture
async def make_kafka(tmp_path: Path) -> AsyncIterator[MakeKafka]:
    """Makes brokers of the test's own, not yet started: `make_kafka("name", port=None, extra_properties=None)`.

    The same name twice is the same data folder. All are killed after the test.
    """
    made: list[EmbeddedKafka] = []

    def make(
        name: str = "kafka", port: int | None = None, extra_properties: Mapping[str, str] | None = None
    ) -> EmbeddedKafka:
        made.append(
            EmbeddedKafka(tmp_path / name, port, extra_properties={**QUICK_CLEANER, **(extra_properties or {})})
        )
        return made[-1]

    try:
        yield make
    finally:
        for broker in made:
            await broker.kill()


@pytest_asyncio.fixture
async def own_kafka(make_kafka: MakeKafka) -> EmbeddedKafka:
    """A started broker that this test may kill and start again (same port, same data)."""
    broker = make_kafka()
    await broker.start()
    return broker


def run_elsewhere(call: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run it on a loop of another thread: the loop of the tests is pytest-asyncio's."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(call())).result()


class _run_folder:
    """A data folder of this run, and an end to brokers of runs that were killed.

    Each run holds `run.lock` in its folder, so that a folder without a holder belongs to a run that is gone.
    """

    def __enter__(self) -> Path:
        base = Path(tempfile.gettempdir()) / f"memstream-tests-{os.getuid()}"
        base.mkdir(mode=0o700, exist_ok=True)
        for folder in base.iterdir():
            if (lock := _lock(folder)) is not None:
                if left := describe_left_over(folder / "kafka"):
                    stop_left_over(left)
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)
        self._folder = Path(tempfile.mkdtemp(dir=base))
        self._held = _lock(self._folder, create=True)
        return self._folder / "kafka"

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)


def _lock(folder: Path, *, create: bool = False) -> int | None:
    """Its descriptor, or None when another run holds it (or has not got as far as to create it)."""
    try:
        descriptor = os.open(folder / "run.lock", os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0))
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
