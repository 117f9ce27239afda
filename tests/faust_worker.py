"""Bare Faust agents that do as they are told, for `tests/integration/test_faust.py`; also a process of its own.

Records are numbers: `touch` does with each what the `Plan` says, and the body writes down what it has handled. A
body is plain Faust (`events`, `take`), the same with the runner's guard against commits at a stop (`guarded-events`,
`guarded-take`) or our runner around the same handler (`runner`), all on the same Faust settings.

`python -m tests.faust_worker --journal FILE [--body take] [--holds-at 7] ...` runs until SIGTERM, which is Faust's own
worker's to handle (`--stop faust`) or ours (`--stop memstream`). Configured by MEMSTREAM_* like the product; prints
`ready` when all of its apps have partitions.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from streams.app import HARD_EXIT, Worker, make_faust_app
from streams.cli.worker import parse_roles
from streams.emitter import Emitter
from streams.health import Health
from streams.logs import set_up_logs
from streams.outcome import Done, Outbound, Outcome, Parked
from streams.records import Inbound
from streams.runner import Runner, disarm_commits
from streams.settings import Role, Settings, load_settings

TOPIC = "redacted"
TAKE = 20
BLOCK_SECONDS = 8.0


@dataclass(frozen=True)
class Plan:
    """What happens at which number; -1 is never."""

    body: str = "events"
    concurrency: int = 1
    fails_at: int = -1
    """Raises an error that nobody expects."""
    holds_at: int = -1
    """Never comes back."""
    dies_at: int = -1
    """SIGKILL by its own hand, at this number or one above it."""
    blocks_at: int = -1
    """Blocks the event loop for `BLOCK_SECONDS`."""

    def arguments(self) -> list[str]:
        """For a process of this plan."""
        pairs = [(f"--{f.name.replace('_', '-')}", str(getattr(self, f.name))) for f in fields(self)]
        return [word for pair in pairs for word in pair]


@dataclass(frozen=True)
class Journal:
    """Lines `<what> <app> <numbers>`, each written whole: what is in it survives SIGKILL."""

    file: Path

    def write(self, what: str, app: str, numbers: Iterable[int]) -> None:
        line = f"{what} {app} {','.join(map(str, numbers))}\n"
        descriptor = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def read(self, what: str, app: str = "extract") -> list[list[int]]:
        """The numbers of each line, oldest line first."""
        text = self.file.read_text() if self.file.exists() else ""
        lines = (line.split(" ") for line in text.splitlines())
        return [[int(n) for n in numbers.split(",") if n] for w, a, numbers in lines if (w, a) == (what, app)]

    def done(self, app: str = "extract") -> list[int]:
        """Every number as often as it was handled."""
        return [number for line in self.read("done", app) for number in line]


@dataclass
class Handler:
    """Of one app. Also a `Stage`, a lane for each last digit of the key."""

    plan: Plan
    journal: Journal
    app: str
    name: str = "numbers"
    topic: str = TOPIC
    dead_letters: str = "dead-letters"
    dependencies: tuple[str, ...] = ()
    lane_batch: int = 1
    side_by_side: int = 100
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def touch(self, number: int) -> None:
        if 0 <= self.plan.dies_at <= number:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == self.plan.fails_at:
            raise RuntimeError("told to fail")
        if number == self.plan.blocks_at:
            before = time.monotonic()
            time.sleep(BLOCK_SECONDS)
            self.journal.write("blocked", self.app, [int(time.monotonic() - before)])
        if number == self.plan.holds_at:
            self.journal.write("held", self.app, [number])
            await self.released.wait()

    def done(self, numbers: Iterable[int]) -> None:
        self.journal.write("done", self.app, numbers)

    async def events(self, stream: Any) -> None:
        async for event in stream.events():
            await self.touch(int(event.value))
            self.done([int(event.value)])

    async def take(self, stream: Any) -> None:
        """As one write of a whole batch into a store: it is handled at its end or not at all."""
        async for events in stream.take_events(TAKE, within=0.5):
            numbers = [int(event.value) for event in events]
            self.journal.write("taken", self.app, numbers)
            for number in numbers:
                await self.touch(number)
            self.done(numbers)

    def lane(self, record: Inbound) -> str:
        return (record.key or b"")[-1:].decode()

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        for record in records:
            number = int(record.value or b"")
            await self.touch(number)
            self.done([number])
        return [Done() for _ in records]

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        return ()

    def attach(self, app: Any, runner: Runner) -> None:
        if self.plan.body == "runner":
            return runner.attach(app, self)
        guarded, _, form = self.plan.body.rpartition("-")
        body: Callable[..., Any] = {"events": self.events, "take": self.take}[form]

        async def agent(stream: Any) -> None:  # Faust wants a function, not a method
            try:
                await body(stream)
            except asyncio.CancelledError:
                if guarded:
                    disarm_commits(app)
                raise

        app.agent(runner._raw_topic(app, self.topic), concurrency=self.plan.concurrency, name=self.name)(agent)
        return None


class NumbersWorker(Worker):
    """The product's worker, its start and its stop, with our handler in the place of its stages."""

    def __init__(self, settings: Settings, handlers: Mapping[Role, Handler], on_ready: Callable[[], None]) -> None:
        super().__init__(settings, tuple(handlers), on_ready=on_ready)
        self._handlers = handlers

    async def _start(self, stack: AsyncExitStack) -> None:
        emitter = Emitter(self.settings, self.health)
        await emitter.start()
        stack.push_async_callback(emitter.stop)
        self._runner = Runner(self.settings, emitter, self.health)
        for role, handler in self._handlers.items():
            self._apps[role] = make_faust_app(self.settings, role)
            handler.attach(self._apps[role], self._runner)
            note_assignments(self._apps[role], role, handler.journal)
        await self._start_apps()


def note_assignments(app: Any, role: Role, journal: Journal, then: Callable[[], None] = lambda: None) -> None:
    async def assigned(_: Any, partitions: set[Any], **__: Any) -> None:
        journal.write("assigned", role, sorted(tp.partition for tp in partitions))
        then()

    app.on_partitions_assigned.connect(assigned, weak=False)


def say_ready() -> None:
    print("ready", flush=True)


def run_by_memstream(settings: Settings, handlers: Mapping[Role, Handler]) -> None:
    async def main() -> None:
        worker = NumbersWorker(settings, handlers, say_ready)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        if not await worker.run():
            os._exit(HARD_EXIT)  # as the product does

    asyncio.run(main())


def run_by_faust(settings: Settings, handlers: Mapping[Role, Handler]) -> None:
    import faust

    runner = Runner(settings, Emitter(settings, Health()), Health())
    waiting = set(handlers)
    apps = []
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    for role, handler in handlers.items():

        def assigned(role: Role = role) -> None:
            if waiting == {role}:
                say_ready()
            waiting.discard(role)

        app = make_faust_app(settings, role)
        handler.attach(app, runner)
        note_assignments(app, role, handler.journal, assigned)
        apps.append(app)
    faust.Worker(
        *apps, quiet=True, redirect_stdouts=False, override_logging=False, loop=loop
    ).execute_from_commandline()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--roles", default="extract")
    parser.add_argument("--stop", choices=["faust", "memstream"], default="faust")
    for item in fields(Plan):
        parser.add_argument(f"--{item.name.replace('_', '-')}", type=type(item.default), default=item.default)
    options = parser.parse_args()
    settings = load_settings()
    set_up_logs(settings)
    plan = Plan(**{item.name: getattr(options, item.name) for item in fields(Plan)})
    handlers = {role: Handler(plan, Journal(options.journal), role) for role in parse_roles(options.roles)}
    run = run_by_memstream if options.stop == "memstream" else run_by_faust
    run(settings, handlers)


if __name__ == "__main__":
    main()
