"""What the stages of one worker share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiokafka import TopicPartition

from streams import metrics
from streams.app import HARD_EXIT, Worker
from streams.emitter import Emitter
from streams.errors import DependencyDown
from streams.outcome import Done, Outbound, Outcome, Parked
from streams.ports import ChatTurn
from streams.records import Inbound
from streams.runner import Runner
from streams.settings import Settings
from tests.misbehaving import Misbehaving


async def test_extractor_and_judge_have_the_requests_of_a_minute_together(tmp_path: Path) -> None:
    async with Misbehaving() as server, AsyncExitStack() as stack:
        worker = Worker(
            Settings(
                data_dir=tmp_path,
                extractor="model",
                judge="model",
                chat_model="small",
                chat_base_url=server.base_url,
                chat_requests_per_minute=6,
            )
        )
        _, probe = worker._extractor(stack)
        assert probe is not None
        await probe()
        judge = worker._chat(stack, "MEMSTREAM_JUDGE=model")
        with pytest.raises(DependencyDown, match="rate limit"):
            await judge.complete([ChatTurn("user", "Which of the two?")], max_tokens=1, deadline_seconds=1)
        assert server.requests("chat") == 1


SIGNALS = """
import asyncio, os, signal, threading
from streams import app
from streams.settings import Settings

class Worker:
    failed = False
    def __init__(self, *args, **options): ...
    def stop(self): ...
    async def run(self):
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(30)

start = threading.Timer.start

def interrupted(timer):
    if not seen:
        seen.append(1)
        os.kill(os.getpid(), signal.SIGINT)
    start(timer)

seen = []
threading.Timer.start = interrupted
app.Worker = Worker
app.run_worker(Settings())
"""


def test_a_second_signal_leaves_at_once_also_while_the_first_is_handled() -> None:
    ended = subprocess.run([sys.executable, "-c", SIGNALS], timeout=60, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (HARD_EXIT, "")


async def test_a_backlog_is_as_old_between_two_batches_and_over_when_nothing_is_left() -> None:
    """The consumer is a stand-in, so that the sample falls between two batches; the runner is the real one."""
    settings = Settings()
    worker = Worker(settings, roles=("redact",))
    worker._runner = Runner(settings, Emitter(settings, worker.health), worker.health)
    place = TopicPartition(settings.topic_prefix + "conversations", 0)
    done = {place: 0}
    worker._apps = {
        "redact": SimpleNamespace(
            consumer=SimpleNamespace(
                assignment=lambda: {place}, highwater=lambda _: 3, _committed_offset=done, _read_offset={}
            )
        )
    }

    def told() -> tuple[float | None, float | None]:
        worker._measure_lag()
        labels = {"role": "redact", "topic": "conversations"}
        return tuple(
            metrics.REGISTRY.get_sample_value(f"memstream_consumer_lag_{what}", labels)
            for what in ("records", "retention_ratio")
        )

    appended = datetime.now(UTC) - timedelta(hours=12)
    for offset in range(3):
        await worker._runner.run_batch(Nothing(), [Inbound("conversations", 0, offset, appended, b"k", b"v")])
        done[place] = offset
        assert told() == (3 - offset, pytest.approx(0.5, abs=0.01))
    done[place] = 3
    assert told() == (0, 0)
    # What comes after a quiet time is no older than it is.
    done[place] = 2
    assert told() == (1, 0)


class Nothing:
    """A stage to which nothing is left to do."""

    name, topic, dead_letters = "redact", "conversations", "dead-letters.raw"
    dependencies: tuple[str, ...] = ()
    lane_batch = side_by_side = 1

    def lane(self, record: Inbound) -> str:
        return record.lane

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        return [Done()] * len(records)

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        raise AssertionError("nothing is parked")
