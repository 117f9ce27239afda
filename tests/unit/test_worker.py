"""What the stages of one worker share."""

from __future__ import annotations

import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from streams.app import HARD_EXIT, Worker
from streams.errors import DependencyDown
from streams.ports import ChatTurn
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
