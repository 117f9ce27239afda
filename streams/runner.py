"""The outcome runner: the only place that touches Faust's streams.

How a batch is worked off, and why nothing is lost:

1. Faust hands over up to `batch_max` records (`take_events`, concurrency 1: offsets are committed in order only so).
2. They are split into lanes (see `Stage.lane`). Records of a lane are handled in order, lanes side by side.
3. A stage returns an outcome for each record. Its `emit` is acknowledged by the broker (`Emitter.send`).
4. Bad data is parked at once: byte for byte into the dead letters, acknowledged as well.
5. A dependency that is down: the lane stays on its record and backs off. Nothing is skipped, nothing is un-acked.
6. When all lanes are through, control goes back to Faust, which acks the whole batch.
7. The body never raises. When it is cancelled, commits are disarmed first (Faust acks in `finally`), so that the
   batch comes again.

A crash between any two steps repeats the batch; stages are idempotent, so the end is the same.

A reply (an `Outbound` that is `exact`) is a courtesy of the last step: whom it can't reach, it does not hold up.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from schemas import ErrorReply
from streams import metrics
from streams.batches import batched
from streams.emitter import Emitter
from streams.errors import BadData, DependencyDown, Refused
from streams.health import Health
from streams.logs import about
from streams.outcome import Done, Outbound, Outcome, Parked, Retry, Skipped
from streams.records import DEAD_LETTER_PREFIX, Headers, Inbound, header
from streams.settings import Settings

log = logging.getLogger(__name__)

# An unknown error is a bug: repeating it a few times rides out a fluke, more would only hold others up.
BUG_TRIES = 5
# A record on which a dependency fails this often, and for this long, while it works for others is poison.
POISON_STRIKES = 8
POISON_SECONDS = 30.0
BACKOFF_FIRST_SECONDS = 0.2
BACKOFF_MAX_SECONDS = 10.0
HELD_WITHIN_SECONDS = 20.0
# A longer key is left out of a dead letter that names the place of its record only.
MAX_KEY_BYTES = 64 * 1024
# Points of a stage at which a test may stop the process, after the topic's name and a dot.
RUNNER_STEPS = ("handled", "emitted")


class Stage(Protocol):
    """One step of the flow behind one topic."""

    @property
    def name(self) -> str: ...

    @property
    def topic(self) -> str:
        """Input topic, without the prefix."""
        ...

    @property
    def dead_letters(self) -> str:
        """`dead-letters`, or `dead-letters.raw` where the text has not been redacted yet."""
        ...

    @property
    def dependencies(self) -> tuple[str, ...]: ...

    @property
    def lane_batch(self) -> int:
        """How many records of one lane `handle` takes at once."""
        ...

    @property
    def side_by_side(self) -> int:
        """How many lanes gain from running at once. One that only computes gains nothing, and many of them between
        two turns of the event loop would make every recall wait."""
        ...

    def lane(self, record: Inbound) -> str:
        """Records of one lane keep their order. Never raises."""
        ...

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        """One outcome a record. Raises `BadData`, `Refused`, `DependencyDown`; anything else is a bug."""
        ...

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        """What later stages are told when the runner parks a record itself."""
        ...


@dataclass
class _Trouble:
    """What happened to the records under way so far."""

    started: float = field(default_factory=time.monotonic)
    attempts: int = 0
    bugs: int = 0
    strikes: int = 0


class Runner:
    """Runs stages for one process. `draining` stops it from taking new batches; see `drain`."""

    def __init__(
        self,
        settings: Settings,
        emitter: Emitter,
        health: Health,
        *,
        probes: Mapping[str, Callable[[], Awaitable[object]]] | None = None,
        poison_seconds: float = POISON_SECONDS,
        at_step: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`probes`: for each dependency a small request that must work; it raises when it does not.

        `at_step` is told `<topic>.handled` and `<topic>.emitted`, where a test may stop the process.
        """
        self._settings = settings
        self._emitter = emitter
        self._health = health
        self._probes = probes or {}
        self._poison_seconds = poison_seconds
        self._at_step = at_step
        # Append time of the oldest record of the latest batch, by (topic, partition): what the lag in time is measured
        # from, between two batches too. Whoever measures drops what is left of places that have no lag.
        self.oldest: dict[tuple[str, int], datetime] = {}
        self._busy: set[str] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._draining = asyncio.Event()
        # Set but for `batches_held` and `requests_held`.
        self._batches_go, self._requests_go = asyncio.Event(), asyncio.Event()
        self._batches_go.set()
        self._requests_go.set()
        self._requests: set[asyncio.Task[None]] = set()

    # Faust

    def attach(self, app: Any, stage: Stage) -> None:
        """Register `stage` as an agent of a `faust.App`."""
        topic = self._raw_topic(app, stage.topic)

        async def agent(stream: Any) -> None:
            try:
                async for events in stream.take_events(
                    self._settings.batch_max, within=self._settings.batch_within_seconds
                ):
                    await self._batches_go.wait()
                    await self._hold_if_draining()
                    await self.run_batch(stage, [self._inbound(stage.topic, event) for event in events])
            except asyncio.CancelledError:
                disarm_commits(app)
                raise

        app.agent(topic, concurrency=1, name=f"{stage.name}.{stage.topic}")(agent)

    def attach_requests(self, app: Any, topic_name: str, handle: Callable[[Inbound], Awaitable[None]]) -> None:
        """Register a request/reply handler: a bounded set of tasks, so that a slow request holds no other up.

        A request is acked when it is taken: one that dies with the process is past its deadline anyway.
        """
        topic = self._raw_topic(app, topic_name)
        slots = asyncio.Semaphore(self._settings.recall_concurrency)

        async def one(record: Inbound) -> None:
            try:
                with about(record=record.place):
                    await handle(record)
            except asyncio.CancelledError:
                raise
            except Exception as error:
                log.error("request failed: %s", describe(error))
            finally:
                slots.release()

        async def agent(stream: Any) -> None:
            async for event in stream.events():
                await slots.acquire()
                await self._requests_go.wait()
                task = asyncio.create_task(one(self._inbound(topic_name, event)))
                self._requests.add(task)
                task.add_done_callback(self._requests.discard)

        app.agent(topic, concurrency=1, name=f"requests.{topic_name}")(agent)

    def _raw_topic(self, app: Any, name: str) -> Any:
        return app.topic(
            self._settings.topic_prefix + name,
            key_type=bytes,
            value_type=bytes,
            key_serializer="raw",
            value_serializer="raw",
        )

    @staticmethod
    def _inbound(topic: str, event: Any) -> Inbound:
        message = event.message
        headers: Headers = tuple(message.headers or ())
        return Inbound(
            topic=topic,
            partition=message.partition,
            offset=message.offset,
            timestamp=datetime.fromtimestamp(message.timestamp, UTC),
            key=message.key,
            value=message.value,
            headers=headers,
        )

    async def _hold_if_draining(self) -> None:
        if self._draining.is_set():
            # Never acked: the batch comes again after the restart.
            await asyncio.Event().wait()

    @asynccontextmanager
    async def batches_held(self) -> AsyncIterator[None]:
        """No batch is under way, and none begins: what comes waits in its topic.

        Raises `TimeoutError` when one does not end, such as that of a stage whose dependency is down."""
        self._batches_go.clear()
        try:
            async with asyncio.timeout(HELD_WITHIN_SECONDS):
                await self._quiet.wait()
            yield
        finally:
            self._batches_go.set()

    @asynccontextmanager
    async def requests_held(self) -> AsyncIterator[None]:
        """No request is under way, and none begins."""
        self._requests_go.clear()
        try:
            if self._requests:
                await asyncio.wait(self._requests)
            yield
        finally:
            self._requests_go.set()

    async def drain(self, seconds: float) -> bool:
        """Take no new batch and wait for those in flight. False when they did not end in time."""
        self._draining.set()
        self._health.stopping = True
        try:
            async with asyncio.timeout(seconds):
                await self._quiet.wait()
                if self._requests:
                    await asyncio.wait(self._requests)
        except TimeoutError:
            return False
        # Faust acks when its generator is resumed, right after our body; give it that turn.
        await asyncio.sleep(0.05)
        return True

    async def in_flight_done(self, seconds: float) -> None:
        """Before partitions go to another worker: wait for the batches that are under way (two writers of one tenant
        would each settle without the other's memory)."""
        try:
            async with asyncio.timeout(seconds):
                await self._quiet.wait()
        except TimeoutError:
            log.warning("partitions were taken away while a batch was still under way")

    # The batch

    async def run_batch(self, stage: Stage, records: Sequence[Inbound]) -> None:
        """Returns when every record has its outcome, acknowledged by the broker."""
        batch = f"{stage.name}.{stage.topic}"
        self._busy.add(batch)
        self._quiet.clear()
        self._health.begin(batch)
        oldest: dict[tuple[str, int], datetime] = {}
        for record in records:
            place = record.topic, record.partition
            oldest[place] = min(oldest.get(place, record.timestamp), record.timestamp)
        self.oldest |= oldest
        try:
            lanes: dict[str, list[Inbound]] = defaultdict(list)
            for record in records:
                lanes[stage.lane(record)].append(record)
            # Of this batch alone: a stage that waits for its model must not take another stage's turns. A turn is
            # for working: whoever waits for the broker, or for a dependency that is down, has given it back.
            turns = asyncio.Semaphore(min(self._settings.lanes, stage.side_by_side))
            async with asyncio.TaskGroup() as group:
                for lane in lanes.values():
                    group.create_task(self._run_lane(stage, lane, turns))
        finally:
            self._health.end(batch)
            self._busy.discard(batch)
            if not self._busy:
                self._quiet.set()

    async def _run_lane(self, stage: Stage, records: Sequence[Inbound], turns: asyncio.Semaphore) -> None:
        for at, part in enumerate(batched(records, stage.lane_batch)):
            if not await self._run_part(stage, part, turns):
                # All that is left of the lane, so that nobody waits behind another tenant's bad record.
                await self._run_apart(stage, records[at * stage.lane_batch :], turns)
                return

    async def _run_apart(self, stage: Stage, records: Sequence[Inbound], turns: asyncio.Semaphore) -> None:
        """One by one, so that a bad record parks alone, and tenants side by side."""
        lanes: dict[str, list[Inbound]] = defaultdict(list)
        for record in records:
            lanes[record.lane].append(record)

        async def one_by_one(of_lane: Sequence[Inbound]) -> None:
            for record in of_lane:
                await self._run_part(stage, [record], turns)

        async with asyncio.TaskGroup() as group:
            for of_lane in lanes.values():
                group.create_task(one_by_one(of_lane))

    async def _run_part(self, stage: Stage, records: Sequence[Inbound], turns: asyncio.Semaphore) -> bool:
        started = time.perf_counter()
        waited = await self._handle(stage, records, turns)
        if waited is None:
            return False
        metrics.STAGE_SECONDS.labels(stage.name).observe(time.perf_counter() - started - waited)
        self._health.progress(f"{stage.name}.{stage.topic}")
        return True

    async def _handle(self, stage: Stage, records: Sequence[Inbound], turns: asyncio.Semaphore) -> float | None:
        """Returns the seconds that it waited for a turn, or None when several records fail together."""
        trouble = _Trouble()
        waited = 0.0
        alone = records[0] if len(records) == 1 else None
        while True:
            asked = time.perf_counter()
            async with turns:
                waited += time.perf_counter() - asked
                with about_record(alone):
                    outcomes = await self._attempt(stage, records, trouble)
            if outcomes is None:
                return None
            waiting = next((o for o in outcomes if isinstance(o, Retry)), None)
            if waiting is None:
                break
            await self._back_off(stage, trouble, waiting.dependency, waiting.after)
        self._at_step(f"{stage.topic}.handled")
        if not await self._finish_together(stage, records, outcomes):
            for record, outcome in zip(records, outcomes, strict=True):
                with about_record(record):
                    await self._finish(stage, record, outcome, trouble.attempts)
        self._at_step(f"{stage.topic}.emitted")
        return waited

    async def _attempt(self, stage: Stage, records: Sequence[Inbound], trouble: _Trouble) -> Sequence[Outcome] | None:
        """Outcomes, or None when several records failed together and should be tried one by one."""
        trouble.attempts += 1
        try:
            outcomes = await stage.handle(records)
        except (BadData, Refused) as error:
            return [Parked(stage.name, error.reason, exception=type(error).__name__)] if len(records) == 1 else None
        except DependencyDown as error:
            if len(records) > 1:
                return None
            self._note_down(stage, error)
            if await self._is_poison(error.dependency, trouble):
                return [Parked(stage.name, f"{error.dependency}_failed", exception=type(error).__name__)]
            return [Retry(error.dependency, error.retry_after)]
        except Exception as error:
            if len(records) > 1:
                return None
            trouble.bugs += 1
            log.error("stage %s: %s", stage.name, describe(error))
            if trouble.bugs >= BUG_TRIES:
                return [Parked(stage.name, "internal_error", exception=type(error).__name__)]
            return [Retry("self")]
        if any(isinstance(outcome, Done) for outcome in outcomes):
            # What was skipped or known already needed no dependency, so it says nothing of one.
            for dependency in stage.dependencies:
                self._health.succeeded(dependency)
        return outcomes

    def _note_down(self, stage: Stage, error: DependencyDown) -> None:
        metrics.RETRIES.labels(stage.name, error.dependency).inc()
        if self._health.failed(error.dependency, str(error)):
            log.warning("stage %s waits: %s", stage.name, error)

    async def _is_poison(self, dependency: str, trouble: _Trouble) -> bool:
        """A strike counts only while the dependency works, and only a request to itself shows that."""
        probe = self._probes.get(dependency)
        if probe is None:
            return False
        try:
            await probe()
        except Exception:
            return False
        trouble.strikes += 1
        return trouble.strikes >= POISON_STRIKES and time.monotonic() - trouble.started >= self._poison_seconds

    async def _back_off(self, stage: Stage, trouble: _Trouble, dependency: str, after: float | None) -> None:
        ceiling = min(BACKOFF_MAX_SECONDS, BACKOFF_FIRST_SECONDS * 2 ** min(trouble.attempts, 10))
        pause = min(after, 60.0) if after is not None else random.uniform(ceiling / 2, ceiling)
        self._health.progress(f"{stage.name}.{stage.topic}")
        await asyncio.sleep(pause)

    async def _finish_together(self, stage: Stage, records: Sequence[Inbound], outcomes: Sequence[Outcome]) -> bool:
        """What several ordinary records emit, sent at once: one wait for the broker. False when a record needs more
        than that; a broker that has some of it already gets it again, which later steps take as a redelivery."""
        emit = [record for outcome in outcomes if not isinstance(outcome, Retry) for record in outcome.emit]
        if any(isinstance(outcome, Parked) for outcome in outcomes) or any(record.exact for record in emit):
            return False
        if await self._send_all(stage, emit):
            return False
        self._count(stage, records, outcomes)
        return True

    async def _finish(self, stage: Stage, record: Inbound, outcome: Outcome, attempts: int) -> None:
        if isinstance(outcome, Parked):
            await self._park(stage, record, outcome, attempts)
        elif isinstance(outcome, Retry):
            raise AssertionError("a retry is not an end")
        elif refused := await self._send(stage, outcome.emit):
            # What the stage made of the record is larger than any record may be.
            await self._park(stage, record, Parked(stage.name, refused.reason), attempts)
        else:
            self._count(stage, [record], [outcome])

    @staticmethod
    def _count(stage: Stage, records: Sequence[Inbound], outcomes: Sequence[Outcome]) -> None:
        for reason, count in Counter(o.reason for o in outcomes if isinstance(o, Skipped)).items():
            metrics.SKIPPED.labels(stage.name, reason).inc(count)
        for kind, count in Counter(map(type, outcomes)).items():
            metrics.RECORDS.labels(stage.name, kind.__name__.lower()).inc(count)
        if log.isEnabledFor(logging.DEBUG):
            for record, outcome in zip(records, outcomes, strict=True):
                if isinstance(outcome, Skipped):
                    with about_record(record):
                        log.debug("stage %s skipped a record: %s", stage.name, outcome.reason)

    async def _park(self, stage: Stage, record: Inbound, parked: Parked, attempts: int) -> None:
        told = parked.emit
        if not told:
            try:
                told = tuple(await stage.on_parked(record, parked))
            except Exception as error:
                # The dead letter tells what matters; that others hear of it is worth no lost record.
                log.error("stage %s: %s", stage.name, describe(error))
        letter = dead_letter(stage, record, parked, self._settings.topic_prefix, attempts)
        if await self._send(stage, (letter, *told)):
            # Compressed on its way in, a record can be larger than any that goes out: its place must do.
            await self._send(stage, (without_value(letter), *told))
        metrics.RECORDS.labels(stage.name, "parked").inc()
        metrics.DEAD_LETTERS.labels(stage.name, parked.reason).inc()
        # What later stages are told has the id also where no reader could make a whole event of the record.
        named = next((found for out in told if (found := header(out.headers, "ce_causationid"))), None)
        with about(event_id=named[1].decode() if named else record.event_id):
            log.warning("stage %s parked a record: %s", stage.name, parked.reason)

    async def _send(self, stage: Stage, emit: Sequence[Outbound]) -> BadData | None:
        """Returns when the broker has them all, or with the reason why it never will. Replies come last."""
        refused = await self._send_all(stage, [record for record in emit if not record.exact])
        if refused is not None:
            return refused
        for reply in (record for record in emit if record.exact):
            if (refused := await self._send_all(stage, [reply])) is not None:
                metrics.REPLIES_REFUSED.labels(stage.name, refused.reason).inc()
                if refused.reason == "too_large":
                    short = ErrorReply(error="too_large", detail="the answer is larger than a record may be")
                    await self._send_all(
                        stage, [replace(reply, value=short.model_dump_json(exclude_none=True).encode())]
                    )
        return None

    async def _send_all(self, stage: Stage, emit: Sequence[Outbound]) -> BadData | None:
        trouble = _Trouble()
        while True:
            try:
                await self._emitter.send(emit)
                return None
            except BadData as error:
                return error
            except DependencyDown as error:
                trouble.attempts += 1
                self._note_down(stage, error)
                await self._back_off(stage, trouble, error.dependency, error.retry_after)


def about_record(record: Inbound | None) -> AbstractContextManager[None]:
    """What is logged within names the event and the place of the record."""
    return about(event_id=record.event_id, record=record.place) if record else nullcontext()


def dead_letter(stage: Stage, record: Inbound, parked: Parked, prefix: str, attempts: int = 1) -> Outbound:
    """Key, value and headers as they came, and why it is here. No text of the record goes into the headers."""
    tries = header(record.headers, DEAD_LETTER_PREFIX + "redriven_count")
    kept = tuple((n, v) for n, v in record.headers if not n.startswith(DEAD_LETTER_PREFIX))
    facts = {
        "topic": prefix + record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "stage": parked.stage,
        "reason": parked.reason,
        "exception.class.name": parked.exception,
        "attempts": str(attempts),
        "appended_at": record.first_appended.isoformat(),
        "failed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "redriven_count": tries[1].decode("ascii", "replace") if tries else "0",
    }
    errors = tuple((DEAD_LETTER_PREFIX + name, value.encode()) for name, value in facts.items())
    return Outbound(stage.dead_letters, record.key, record.value, kept + errors)


def without_value(letter: Outbound) -> Outbound:
    """A dead letter that names the place of its record only: topic, partition and offset are in its headers."""
    size = str(len(letter.value or b"")).encode()
    ours = tuple((n, v) for n, v in letter.headers if n.startswith(DEAD_LETTER_PREFIX))
    key = letter.key if len(letter.key or b"") <= MAX_KEY_BYTES else None
    return replace(letter, key=key, value=None, headers=(*ours, (DEAD_LETTER_PREFIX + "value_bytes_left_out", size)))


def disarm_commits(app: Any) -> None:
    """Faust acks a batch in `finally` when it is cancelled, and commits at stop: from here on nothing is committed."""

    async def no_commit(*args: Any, **kwargs: Any) -> bool:
        return False

    app.consumer.commit = no_commit


def describe(error: BaseException) -> str:
    """Type and place, never the message: it may quote a conversation."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" at {frame.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno}" if frame else ""
    return type(error).__name__ + where
