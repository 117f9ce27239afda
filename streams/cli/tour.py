"""What `memstream demo` shows: a two-day bilingual conversation through the real pipeline, and what is remembered."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiokafka import AIOKafkaConsumer, TopicPartition

from schemas import CandidateEvent, EventOutcome, MemoryRecord, RedactedEvent
from streams.adapters.kafka_broker import EmbeddedKafka, describe_left_over, stop_left_over
from streams.cli.common import err, kafka_folder, out
from streams.cli.recall import memory_table, plain
from streams.cli.worker import end_as_ctrl_c, one_owner
from streams.client import MemoryClient
from streams.errors import MemstreamError
from streams.logs import set_up_logs
from streams.settings import Settings, load_settings

NAMESPACE, USER, STRANGER = "demo", "1001", "1002"
OUTCOME_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Turn:
    day: int
    text: str
    shows: str = ""


CONVERSATION = (
    Turn(1, "我对花生过敏，点外卖千万别放花生。"),
    Turn(1, "I prefer the window seat when I take a train."),
    Turn(1, "我下周三下午要去北京见客户，需要提前订高铁票，靠窗座位。"),
    Turn(1, "Please notify me at 9 am about the daily report."),
    Turn(1, "The Apollo project is led by Lee."),
    Turn(1, "我的手机号是13800138000，有事打这个电话，我在杭州的分公司上班。", "a phone number is masked"),
    Turn(1, "好的，谢谢！", "small talk is skipped"),
    Turn(2, "Actually, notify me at 11 am instead.", "a newer value replaces the old one"),
    Turn(2, "The Apollo project is led by Dana now.", "a newer value replaces the old one"),
)

QUESTIONS = (
    (USER, "我这个客户下周来北京访问，我该怎么准备出行？"),
    (USER, "Which seat should I book on the train?"),
    (USER, "外卖里可以放花生吗？"),
    (USER, "When should I be notified?"),
    (USER, "Who leads the Apollo project?"),
    (STRANGER, "Who leads the Apollo project?"),
)


def tour() -> None:
    """Raises `MemstreamError` for what keeps it from running."""
    settings = load_settings(
        data_dir=Path(load_settings().data_dir) / "demo",
        metrics_port=0,
        kafka_bootstrap="",
        qdrant_url="",
    )
    set_up_logs(settings.model_copy(update={"log_level": "WARNING"}))
    end_as_ctrl_c()
    with one_owner(settings):
        _start_afresh(settings)
        asyncio.run(_demo(settings))
    # Under `make demo` the command is not on the user's path.
    command = "memstream" if shutil.which("memstream") else os.path.relpath(sys.argv[0])
    there = f"MEMSTREAM_DATA_DIR={settings.data_dir}"
    out.print("\n[bold]What to type next[/]")
    for line, what in (
        (f"{there} {command} up", "keep this demo running; leave out the variable for data of your own"),
        (f"{there} {command} recall --namespace {NAMESPACE} --user {USER} 'your question'", "in another terminal"),
        (f"{command} publish --help", "how to publish messages of your own"),
    ):
        out.print(f"  {line}\n      {what}", markup=False, soft_wrap=True)


def _start_afresh(settings: Settings) -> None:
    """The same conversation twice would add nothing, so there would be nothing to see."""
    left = describe_left_over(kafka_folder(settings))
    if left is not None:
        stop_left_over(left)
    for old in Path(settings.data_dir).iterdir():
        if old.is_dir():
            shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _doing(what: str) -> Iterator[Callable[[str], None]]:
    """A spinner on a terminal; elsewhere (CI, a file) a line at each step. The value takes what to show next."""
    if err.is_terminal:
        with err.status(what) as status:
            yield lambda line: status.update(plain(line))
    else:
        err.print(what, markup=False)
        yield lambda line: err.print(line, markup=False)


async def _demo(settings: Settings) -> None:
    started = time.monotonic()
    broker = EmbeddedKafka(kafka_folder(settings))
    with _doing("starting Apache Kafka ...") as show:
        await broker.start(progress=show)
    try:
        settings = settings.model_copy(update={"kafka_bootstrap": broker.bootstrap})
        async with _worker(settings), _watching(settings) as seen, MemoryClient(settings=settings) as memory:
            out.print(f"Kafka and all roles are running ({time.monotonic() - started:.1f} s)\n")
            await _talk(memory, seen)
            await _ask(memory)
    finally:
        with _doing("stopping Kafka ..."):
            await broker.stop()
    out.print(f"\ndone in {time.monotonic() - started:.1f} s; everything that was started is stopped")


@asynccontextmanager
async def _worker(settings: Settings) -> AsyncIterator[None]:
    from streams.app import Worker

    ready = asyncio.Event()
    worker = Worker(settings, on_ready=ready.set)
    task = asyncio.create_task(worker.run())
    with _doing("starting the worker (redact, extract, memory, recall) ..."):
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        task.result()
        raise MemstreamError("the worker stopped at its start")
    try:
        yield
    finally:
        worker.stop()
        with _doing("stopping the worker ..."):
            await task


@asynccontextmanager
async def _watching(settings: Settings) -> AsyncIterator[Steps]:
    """Shows what each stage made of an event as soon as it stands on a topic."""
    seen = Steps()
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.kafka_bootstrap, enable_auto_commit=False)
    await consumer.start()
    prefix = settings.topic_prefix
    consumer.assign(
        [
            TopicPartition(prefix + name, partition)
            for name in ("redacted", "candidates")
            for partition in range(settings.partitions)
        ]
    )
    await consumer.seek_to_beginning()

    async def watch() -> None:
        async for record in consumer:
            match record.topic.removeprefix(prefix):
                case "redacted":
                    redacted = RedactedEvent.from_bytes(record.value)
                    hidden = ", ".join(f"{n} {entity}" for entity, n in redacted.redactions.items())
                    seen.show(f"redact: {hidden or 'nothing to hide'}")
                case "candidates":
                    made = CandidateEvent.from_bytes(record.value)
                    layers = [c.layer.value for c in made.candidates]
                    kept = ", ".join(f"{layers.count(name)} {name}" for name in dict.fromkeys(layers))
                    seen.show(f"extract: {kept or made.reason}")
                    seen.extracted.set()

    task = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.gather(asyncio.create_task(consumer.stop()), return_exceptions=True)


class Steps:
    """The way of one event after another, on one line."""

    def __init__(self) -> None:
        self.extracted = asyncio.Event()
        self._begun = False

    def show(self, step: str) -> None:
        out.print((" -> " if self._begun else "     ") + plain(step), end="", soft_wrap=True)
        self._begun = True

    async def end(self, step: str) -> None:
        """The writer's answer has a shorter way than what is read from the topics before it."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.extracted.wait(), OUTCOME_SECONDS)
        self.show(step)
        out.print()
        self._begun = False
        self.extracted.clear()


async def _talk(memory: MemoryClient, seen: Steps) -> None:
    today = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0) - timedelta(days=1)
    said: dict[str, str] = {}
    day = 0
    for number, turn in enumerate(CONVERSATION, 1):
        if turn.day != day:
            day = turn.day
            out.print(f"[bold]Day {day}[/]: what is said, and its way through the stages")
        out.print(
            f"  [cyan]“{plain(turn.text)}”[/]" + (f"  [dim]({turn.shows})[/]" if turn.shows else ""), soft_wrap=True
        )
        outcome = await memory.publish_and_wait(
            text=turn.text,
            event_id=f"demo-{number}",
            namespace=NAMESPACE,
            user_id=USER,
            session_id=f"day-{day}",
            occurred_at=today + timedelta(days=day - 1, minutes=number),
            timezone="Asia/Shanghai",
            deadline=OUTCOME_SECONDS,
        )
        await seen.end(f"memory: {outcome.outcome}" + (f" ({outcome.reason})" if outcome.reason else ""))
        _show(outcome, said)
    out.print()


def _show(outcome: EventOutcome, said: dict[str, str]) -> None:
    """`said`: what the facts so far say, by id; those of this turn are added."""
    for memory in facts(outcome.memories):
        out.print(f"     [green]+[/] {plain(memory.content)}  [dim]{memory.memory_type.value}[/]", soft_wrap=True)
        for old in memory.supersedes:
            if old in said:
                out.print(f"     [red]-[/] [strike]{plain(said[old])}[/]  [dim]superseded[/]", soft_wrap=True)
        said[memory.memory_id] = memory.content


def facts(memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return [m for m in memories if m.layer == "fact"]


async def _ask(memory: MemoryClient) -> None:
    out.print("[bold]Day 2[/]: asked in other words")
    for user, question in QUESTIONS:
        reply = await memory.recall(question, namespace=NAMESPACE, user_id=user, top_k=3)
        whose = "another user asks" if user == STRANGER else "asks"
        out.print(f"\n  [cyan]{whose}: “{plain(question)}”[/]", soft_wrap=True)
        if reply.memories:
            out.print(memory_table(reply))
        else:
            out.print("  nothing: no memory of anybody else is ever found")
