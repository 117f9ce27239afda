"""Faust's consumer without the four tasks that it makes for every record.

Its fetch loop hands a record to the stream's buffer in a task, beside three that wait for the consumer to be suspended,
to stop or to crash. Nearly always there is room in the buffer, and a task has nothing to wait for: that costs more than
everything else that Faust does with a record. Here the hand-over is begun at once, and only one that has to wait
becomes a task beside those three, from where it stands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any

from faust.transport.drivers.aiokafka import Consumer
from mode.services import WaitResults


class HandingOver(Consumer):
    """What `app.transport.Consumer` is to be."""

    async def wait_first(self, *coros: Any, timeout: Any = None) -> WaitResults:
        """As Faust's own, but for a first coroutine that ends without having to wait: it is done before this returns,
        and the others are not begun."""
        first, *others = coros
        if not inspect.iscoroutine(first):
            return await super().wait_first(*coros, timeout=timeout)
        try:
            awaited = first.send(None)
        except BaseException as ended:
            for other in filter(inspect.iscoroutine, others):
                other.close()
            if not isinstance(ended, StopIteration):
                raise
            return WaitResults([first], [ended.value], False)
        return await super().wait_first(_rest(first, awaited), *others, timeout=timeout)


# What it says is Faust's, and as loud.
HandingOver.logger = Consumer.logger


async def _rest(begun: Coroutine[Any, Any, Any], awaited: Any) -> Any:
    return await _gone_on(begun, awaited)


@coroutine
def _gone_on(begun: Coroutine[Any, Any, Any], awaited: Any) -> Generator[Any, Any, Any]:
    """What a coroutine that was begun elsewhere returns, from what it waits for on."""
    go_on: Callable[[Any], Any]
    while True:
        try:
            told = yield awaited
        except GeneratorExit:
            begun.close()
            raise
        except BaseException as error:
            go_on, told = begun.throw, error
        else:
            go_on = begun.send
        try:
            awaited = go_on(told)
        except StopIteration as ended:
            return ended.value
