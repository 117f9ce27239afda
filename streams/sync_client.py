"""`MemoryClient` for code without an event loop: the same methods, deadlines and errors, and calls that wait.

    with SyncMemoryClient("localhost:9092", namespace="shop") as memory:
        memory.publish(user_id="1001", session_id="chat-7", text="I always take the window seat.")
        print(memory.memory_prompt("Which seat does she like?", user_id="1001"))

One event loop in one thread of its own carries all calls; any number of threads may call at once.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

from streams.client import IN_FLIGHT, MemoryClient, MemoryClientError, Unavailable

if TYPE_CHECKING:
    import schemas
    from streams.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")


def _waiting(
    method: Callable[Concatenate[MemoryClient, P], Awaitable[T]],
) -> Callable[Concatenate[SyncMemoryClient, P], T]:
    @functools.wraps(method)
    def call(self: SyncMemoryClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.call(lambda client: method(client, *args, **kwargs))

    return call


def _in_parts(
    method: Callable[Concatenate[MemoryClient, P], AsyncGenerator[T, None]],
) -> Callable[Concatenate[SyncMemoryClient, P], Iterator[T]]:
    @functools.wraps(method)
    def call(self: SyncMemoryClient, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        async def made(client: MemoryClient) -> AsyncGenerator[T, None]:
            return method(client, *args, **kwargs)

        parts = self.call(made)
        try:
            while True:
                try:
                    yield self.call(lambda _: anext(parts))
                except StopAsyncIteration:
                    return
        finally:
            self._abandon(parts)

    return call


async def _closed(parts: AsyncGenerator[Any, None]) -> None:
    with suppress(RuntimeError):  # a step of it is just ending
        await parts.aclose()


class _Running(NamedTuple):
    client: MemoryClient
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    thread: threading.Thread
    process: int


def _stop(started: Future[_Running]) -> None:
    if started.exception() is None:
        running = started.result()
        running.loop.call_soon_threadsafe(running.stop.set)


class SyncMemoryClient:
    """One a service, for all of its threads. A process that forks opens it in each child.

    Not for use inside a running event loop, which it would hold up: there, `MemoryClient`.
    """

    def __init__(
        self,
        bootstrap: str | None = None,
        *,
        namespace: str | None = None,
        service: str = "shared",
        deadline: float = 5.0,
        settings: Settings | None = None,
    ) -> None:
        """As `MemoryClient`."""
        self._make = functools.partial(
            MemoryClient, bootstrap, namespace=namespace, service=service, deadline=deadline, settings=settings
        )
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._calls: set[Future[Any]] = set()

    def __enter__(self) -> Self:
        if self._running is not None:
            if self._running.process == os.getpid():
                raise MemoryClientError("the client is open already")
            # Forked: what the parent's threads held stays held here.
            self._lock, self._calls = threading.Lock(), set()
        started: Future[_Running] = Future()
        # A daemon: a program that forgets to close ends all the same.
        threading.Thread(target=self._run, args=(started,), name="memstream-client", daemon=True).start()
        try:
            self._running = started.result()
        except BaseException:
            started.add_done_callback(_stop)  # interrupted: nobody is going to close it
            raise
        return self

    def _run(self, started: Future[_Running]) -> None:
        """The thread: opens the client, waits, closes it."""

        async def life() -> None:
            async with self._make() as client:
                running = _Running(
                    client, asyncio.get_running_loop(), asyncio.Event(), threading.current_thread(), os.getpid()
                )
                started.set_result(running)
                await running.stop.wait()

        try:
            asyncio.run(life())
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends what still waits in other threads with `Unavailable`, then the connections and the thread."""
        with self._lock:
            running, self._running = self._running, None
            calls = self._calls.copy()
        if running is None or running.process != os.getpid():
            return
        for call in calls:
            call.cancel()
        running.loop.call_soon_threadsafe(running.stop.set)
        running.thread.join()

    def call(self, function: Callable[[MemoryClient], Awaitable[T]]) -> T:
        """What `function` of the `MemoryClient` underneath returns: it runs in the client's thread and must not block.

        For several requests at once: `memory.call(lambda client: asyncio.gather(...))`.
        """

        async def work(client: MemoryClient) -> T:
            return await function(client)

        with self._lock:
            running = self._running
            if running is None:
                raise Unavailable("the client is not open: use `with SyncMemoryClient(...)`")
            if running.process != os.getpid():
                raise Unavailable("the client was opened before this process was forked: open one in each process")
            if running.thread is threading.current_thread():
                raise MemoryClientError("a call inside a call: await the `MemoryClient` that the function was given")
            future = asyncio.run_coroutine_threadsafe(work(running.client), running.loop)
            self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        try:
            return future.result()
        except CancelledError:
            raise Unavailable("the client was closed before the answer came") from None
        finally:
            future.cancel()  # the caller was interrupted: nobody waits any more

    def _abandon(self, parts: AsyncGenerator[Any, None]) -> None:
        """Nobody takes its parts any more. Waits for nothing: the interpreter may be ending, or collecting garbage."""
        running = self._running
        if running is None or running.process != os.getpid():
            return
        with suppress(RuntimeError):  # the loop has ended
            running.loop.call_soon_threadsafe(lambda: asyncio.ensure_future(_closed(parts)))

    publish = _waiting(MemoryClient.publish)
    publish_and_wait = _waiting(MemoryClient.publish_and_wait)
    produce = _waiting(MemoryClient.produce)
    supersede = _waiting(MemoryClient.supersede)
    correct = _waiting(MemoryClient.correct)
    forget = _waiting(MemoryClient.forget)
    find_to_forget = _waiting(MemoryClient.find_to_forget)
    restore = _waiting(MemoryClient.restore)
    re_extract = _waiting(MemoryClient.re_extract)
    recall = _waiting(MemoryClient.recall)
    memory_prompt = _waiting(MemoryClient.memory_prompt)
    turns = _waiting(MemoryClient.turns)
    get = _waiting(MemoryClient.get)
    history = _waiting(MemoryClient.history)
    explain = _waiting(MemoryClient.explain)
    related = _waiting(MemoryClient.related)
    profile = _waiting(MemoryClient.profile)
    export = _waiting(MemoryClient.export)
    export_parts = _in_parts(MemoryClient.export_parts)
    ping = _waiting(MemoryClient.ping)

    _publish_part = _in_parts(MemoryClient.publish_many)

    def publish_many(self, events: Iterable[schemas.ConversationEvent | Mapping[str, Any]]) -> Iterator[str]:
        """As `MemoryClient.publish_many`; `events` are taken in the caller's thread, `IN_FLIGHT` at a time."""
        waiting = iter(events)
        while part := list(islice(waiting, IN_FLIGHT)):
            yield from self._publish_part(part)
