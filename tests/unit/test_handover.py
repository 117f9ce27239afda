"""Faust's consumer hands a record over without a task, where nothing has to be waited for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from streams.app import make_faust_app
from streams.handover import HandingOver
from streams.settings import load_settings


@pytest.fixture
async def consumer(tmp_path: Path) -> HandingOver:
    app = make_faust_app(load_settings(data_dir=tmp_path), "redact")
    made = app.consumer  # made, not started
    assert isinstance(made, HandingOver)
    assert made.logger.name.startswith("faust."), "or its starts and stops would be among ours"
    return made


class Made:
    """Counts the tasks that a loop is asked for."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        self.count += 1
        return asyncio.Task(coroutine, loop=loop, **options)


async def test_what_need_not_wait_is_done_at_once_without_a_task(consumer: HandingOver) -> None:
    async def hand_over() -> str:
        return "handed over"

    made = Made()
    loop = asyncio.get_running_loop()
    loop.set_task_factory(made)
    suspended = asyncio.Event().wait()
    answer = await consumer.wait_first(hand_over(), suspended)
    loop.set_task_factory(None)
    assert answer.results == ["handed over"]
    assert not answer.stopped
    assert made.count == 0
    assert suspended.cr_frame is None, "the other wait is closed, so that nothing warns of it"


async def test_what_waits_goes_on_from_where_it_stands(consumer: HandingOver) -> None:
    room, seen = asyncio.Event(), []

    async def hand_over() -> str:
        seen.append("begun")
        await asyncio.sleep(0)
        await room.wait()
        await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0, "put"))])
        return "handed over"

    waiting = asyncio.ensure_future(consumer.wait_first(hand_over(), asyncio.Event().wait()))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    room.set()
    answer = await waiting
    assert "handed over" in answer.results
    assert not answer.stopped
    assert seen == ["begun"]


@pytest.mark.parametrize("waits_before", [False, True])
async def test_an_error_comes_out(consumer: HandingOver, waits_before: bool) -> None:
    async def hand_over() -> None:
        if waits_before:
            await asyncio.sleep(0)
        raise LookupError

    with pytest.raises(LookupError):
        await consumer.wait_first(hand_over(), asyncio.Event().wait())


async def test_a_suspended_consumer_leaves_what_waits(consumer: HandingOver) -> None:
    suspend, ended = asyncio.Event(), []

    async def hand_over() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    waiting = asyncio.ensure_future(consumer.wait_first(hand_over(), suspend.wait()))
    await asyncio.sleep(0.01)
    suspend.set()
    await waiting
    await asyncio.sleep(0)
    assert ended == ["cancelled"]


async def test_a_failed_wait_is_told_to_what_waits(consumer: HandingOver) -> None:
    failing: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def hand_over() -> str:
        try:
            await failing
        except OSError:
            return "noticed"
        return "not noticed"

    waiting = asyncio.ensure_future(consumer.wait_first(hand_over(), asyncio.Event().wait()))
    await asyncio.sleep(0)
    failing.set_exception(OSError())
    assert "noticed" in (await waiting).results
