"""The composition root: settings -> adapters -> stages -> Faust apps, started and stopped as one process.

Each role is a Faust app of its own (id, consumer group, fetch loop), so that a slow model in one never holds up
another. All run in this process's event loop.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streams import metrics
from streams.agents.commands import CommandStage
from streams.agents.decay import DecayStage
from streams.agents.extract import ExtractStage
from streams.agents.judging import Judging
from streams.agents.memory import AccessStage, RememberStage, SupersedeStage
from streams.agents.profiles import Profiles, changes_from_now
from streams.agents.recall import RecallHandler
from streams.agents.redact import RedactStage
from streams.agents.rewriting import Rewriter
from streams.agents.timer import SYSTEM, WRITER, WindowTimer
from streams.agents.writer import AtStep, Writer
from streams.compacted import latest
from streams.emitter import Emitter
from streams.errors import ConfigurationError, DependencyDown
from streams.health import Health
from streams.kafka import ssl_context
from streams.long_text import SWITCH_SECONDS
from streams.memory.extraction import Extractor, RuleExtractor
from streams.memory.ranking import weighted
from streams.memory.redaction import Redactor, load_policy
from streams.ports import ChatModel, Doc, Embedder, ModelProfile, VectorStore
from streams.runner import Runner, disarm_commits
from streams.settings import STREAM_ROLES, Role, Settings
from streams.topics import BY_NAME, ensure_topics
from streams.web import serve_metrics

if TYPE_CHECKING:
    from streams.adapters.chat import OpenAIChatModel
    from streams.adapters.store import Store
    from streams.memory.extraction import ModelExtractor

log = logging.getLogger(__name__)

OPENAI = "https://api.openai.com/v1"
# A killed process loses nothing between two flushes (the store's log is written at once); a power cut may. A flush of
# the embedded store holds the event loop, so not more often.
FLUSH_SECONDS = 10.0
PING_EVERY_SECONDS = 5.0
# Faust's own stop takes at least 2.3 s; with `drain_seconds` this stays under 10 s.
STOP_SECONDS = 2.9
# Objects made until the garbage collector looks for cycles, and how many looks until it looks further back. What the
# store remembers comes and goes with every recall, and to Python's own 700 all of it is new: a collection in every
# second recall, and in every hundredth a long one. Hardly anything here is a cycle.
COLLECT_AFTER = (20_000, 10, 20)
# A model call that hangs in a thread outlives the loop. Leaving hard is safe because kill -9 is.
HARD_EXIT = 70


def consumer_group(settings: Settings, role: Role) -> str:
    return f"{settings.topic_prefix}{role}"


def make_faust_app(settings: Settings, role: Role) -> Any:
    """A `faust.App` with the settings that FAUST's regression tests show to be safe."""
    import faust

    from streams.handover import HandingOver

    datadir = Path(settings.data_dir) / "faust" / role
    datadir.mkdir(parents=True, exist_ok=True)
    app = faust.App(
        consumer_group(settings, role),
        broker=[f"kafka://{address}" for address in settings.kafka_bootstrap.split(",")],
        broker_credentials=_credentials(settings),
        datadir=str(datadir),
        store="memory://",
        web_enabled=False,
        autodiscover=False,
        topic_disable_leader=True,
        topic_allow_declare=False,
        consumer_auto_offset_reset="earliest",
        consumer_group_instance_id=(
            f"{settings.kafka_group_instance_id}-{role}" if settings.kafka_group_instance_id else None
        ),
        broker_session_timeout=settings.kafka_session_timeout_seconds,
        broker_heartbeat_interval=min(3.0, settings.kafka_session_timeout_seconds / 3),
        # Far above any outage: a worker that waits for a dependency must not lose its partitions (our own watchdog
        # tells when it is stuck).
        broker_max_poll_interval=2_000_000.0,
        broker_max_poll_records=500,
        broker_commit_interval=0.5,
        stream_wait_empty=False,
        producer_linger=0,
        logging_config=None,
    )
    app.transport.Consumer = HandingOver  # type: ignore[misc]  # of this app alone
    return app


def _credentials(settings: Settings) -> Any:
    import faust

    context = ssl_context(settings)
    match settings.kafka_security_protocol:
        case "PLAINTEXT":
            return None
        case "SSL":
            return faust.SSLCredentials(context)
        case _:
            return faust.SASLCredentials(
                username=settings.kafka_username,
                password=settings.kafka_password.get_secret_value(),
                mechanism=settings.kafka_sasl_mechanism,
                ssl_context=context,
            )


def embedder_options(settings: Settings) -> dict[str, Any]:
    """Raises `ConfigurationError` for an endpoint that no request can be made of."""
    measured: dict[str, Any] = {} if settings.model_profile is None else {"measured": settings.model_profile}
    if settings.embedder.startswith("openai:"):
        from streams.adapters.model_list import check_endpoint

        base_url = settings.embedder_base_url or OPENAI
        check_endpoint("MEMSTREAM_EMBEDDER", base_url, settings.embedder_api_key)
        return {
            **measured,
            "base_url": base_url,
            "key": settings.embedder_api_key,
            "dimensions": settings.embedder_dimension,
        }
    return measured


def embedder_of(settings: Settings) -> Embedder:
    """Raises `ConfigurationError`."""
    from streams.adapters.embedders import make_embedder

    return make_embedder(settings.embedder, **embedder_options(settings))


def chat_of(settings: Settings) -> OpenAIChatModel:
    """Of the chat model that is named. Raises `ConfigurationError`."""
    from streams.adapters.chat import OpenAIChatModel
    from streams.adapters.model_list import check_endpoint
    from streams.adapters.openai_calls import CallPolicy

    base_url = settings.chat_base_url or OPENAI
    check_endpoint("MEMSTREAM_CHAT", base_url, settings.chat_api_key)
    policy = CallPolicy(
        timeout_seconds=settings.chat_deadline_seconds, requests_per_minute=settings.chat_requests_per_minute
    )
    return OpenAIChatModel(settings.chat_model, base_url=base_url, key=settings.chat_api_key, policy=policy)


def model_extractor_of(settings: Settings, chat: ChatModel) -> ModelExtractor:
    """Raises `ConfigurationError` for a prompt file that can't be used."""
    from streams.memory.extraction import ModelExtractor
    from streams.memory.extraction.prompt import read_prompt

    return ModelExtractor(
        chat,
        prompt=read_prompt(settings.extraction_prompt) if settings.extraction_prompt else None,
        deadline_seconds=settings.chat_deadline_seconds,
        max_tokens=settings.chat_max_tokens,
        fallback=RuleExtractor(explain=False) if settings.chat_when_down == "rules" else None,
    )


def store_of(settings: Settings, profile: ModelProfile) -> Store:
    """Not open: the Qdrant that is named, else the embedded one in the data folder."""
    from streams.adapters.store import make_store
    from streams.store_folders import mend

    folder = None if settings.qdrant_url else Path(settings.data_dir) / "store"
    if folder is not None:
        mend(folder)
    return make_store(
        settings.qdrant_url or None,
        folder,
        profile,
        api_key=settings.qdrant_api_key.get_secret_value() or None,
        prefix=settings.qdrant_prefix,
    )


class Worker:
    """One process: the given roles, until a signal or `stop`."""

    def __init__(
        self,
        settings: Settings,
        roles: Sequence[Role] = STREAM_ROLES,
        *,
        at_step: AtStep = lambda step: None,
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        self.settings = settings
        self.roles = tuple(role for role in roles if role != "http" or settings.http_port)
        if not self.roles:
            raise ConfigurationError("the role http needs a port: set MEMSTREAM_HTTP_PORT, 8000 for example")
        self.health = Health(roles_ready=dict.fromkeys(self.roles, False))
        self._weights = weighted(settings.recall_weights)
        self._at_step = at_step
        self._on_ready = on_ready
        self._stop = asyncio.Event()
        self._assigned = asyncio.Event()
        self._lagging: dict[Role, set[str]] = {}
        self._apps: dict[Role, Any] = {}
        self._on_assigned: dict[Role, Callable[[], None]] = {}
        self._stop_gateway: Callable[[], Awaitable[None]] = _nothing
        self._watchers: list[asyncio.Task[None]] = []
        self._chat_model: OpenAIChatModel | None = None
        self.failed: str = ""

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> bool:
        """True after a clean stop, False when something in flight did not end (it comes again at the next start).

        Raises `MemstreamError` for what keeps it from starting.
        """
        async with AsyncExitStack() as stack:
            await self._start(stack)
            # What the start made stays: no collection need look at it again.
            gc.collect()
            gc.freeze()
            gc.set_threshold(*COLLECT_AFTER)
            sys.setswitchinterval(SWITCH_SECONDS)
            self._on_ready()
            await self._stop.wait()
            clean = await self._shut_down()
        if self.failed:
            log.error("stopped: %s", self.failed)
        if not clean:
            log.warning("not everything in flight ended in time; it comes again at the next start")
        return clean

    async def _start(self, stack: AsyncExitStack) -> None:
        from streams.adapters.embedders import CachedQueries
        from streams.adapters.store.owned import OwnedStore
        from streams.switching import Changing, Switching

        settings = self.settings
        await _retrying(lambda: ensure_topics(settings), "topics")
        problems = [f"{s.name}: {s.problem}" for s in await ensure_topics(settings) if s.problem]
        if problems:
            raise ConfigurationError("topics are not as they must be: " + "; ".join(problems))
        emitter = Emitter(settings, self.health)
        await emitter.start()
        stack.push_async_callback(emitter.stop)
        redactor = Redactor(load_policy(settings.redaction_policy))
        probes: dict[str, Callable[[], Awaitable[object]]] = {}
        store: Any = None
        embedder: Any = None
        if {"memory", "recall"} & set(self.roles):
            embedder = Changing(CachedQueries(embedder_of(settings)))
            stack.push_async_callback(lambda: embedder.close())
            store = Changing(store_of(settings, embedder.profile))
            await _retrying(store.open, "store")
            stack.push_async_callback(lambda: store.close())
            probes |= {"store": lambda: store.ping(), "embedder": lambda: embedder.embed_passages(["ping"])}
        extractor: Extractor | None = None
        if "extract" in self.roles:
            extractor, chat_probe = self._extractor(stack)
            if chat_probe is not None:
                probes["chat"] = chat_probe
        runner = Runner(settings, emitter, self.health, probes=probes, at_step=self._at_step)
        for role in self.roles:
            if role in STREAM_ROLES:
                self._apps[role] = make_faust_app(settings, role)
        if "redact" in self.roles:
            runner.attach(self._apps["redact"], RedactStage(redactor, settings))
        if "extract" in self.roles:
            assert extractor is not None
            dependencies = ("chat",) if settings.extractor == "model" else ()
            stage = ExtractStage(extractor, keeps_episodes=settings.keeps_episodes, dependencies=dependencies)
            runner.attach(self._apps["extract"], stage)
        if "memory" in self.roles:
            owned = OwnedStore(store)
            judging = None
            if settings.judge == "model":
                judge_model = self._chat(stack, "MEMSTREAM_JUDGE=model")
                judging = Judging(judge_model, owned, emitter)
                stack.push_async_callback(judging.close)
            writer = Writer(
                owned,
                embedder,
                emitter,
                redactor,
                reply_allowed=lambda topic: settings.reply_topics.fullmatch(topic) is not None,
                judging=judging,
                at_step=self._at_step,
            )

            def partitions_moved() -> None:
                owned.forget_all()
                # The embedded store has one owner; a server's is shared when not all partitions are ours.
                if settings.qdrant_url and len(self._held("memory", "candidates")) < settings.partitions:
                    writer.ownership_changed()

            self._on_assigned["memory"] = partitions_moved
            app = self._apps["memory"]
            runner.attach(app, RememberStage(writer))
            runner.attach(app, SupersedeStage(writer))
            runner.attach(
                app,
                CommandStage(
                    writer,
                    owned,
                    emitter,
                    settings,
                    jobs_of=lambda tenant: latest(settings, "jobs", f"{tenant.key}/".encode()),
                ),
            )
            runner.attach(app, AccessStage(writer, owned))
            with_model = settings.extractor == "model" and settings.chat_model
            teller = self._chat(stack, "MEMSTREAM_EXTRACTOR=model") if with_model else None
            runner.attach(app, DecayStage(writer, owned, store, emitter, embedder, settings.retention, teller))
            await _retrying(lambda: store.put_docs(SYSTEM, [Doc(WRITER, WRITER, {})]), "store")
            if settings.decay_windows:
                timer = WindowTimer(store, emitter, settings, lambda: self._held("memory", "decay"))
                self._background(stack, timer.run())
            self._background(stack, _every(FLUSH_SECONDS, partial(_flush, store)))
            if not settings.qdrant_url:
                switching = Switching(
                    settings,
                    runner,
                    store,
                    embedder,
                    make_embedder=lambda other: CachedQueries(embedder_of(other)),
                    changed=owned.forget_all,
                    failed=self._fail,
                    at_step=self._at_step,
                )
                self._background(stack, switching.run())
        if "recall" in self.roles:
            rewriter: Rewriter | None = None
            if settings.recall_rewrite == "model":
                rewriter = Rewriter(
                    self._chat(stack, "MEMSTREAM_RECALL_REWRITE=model"),
                    budget_seconds=settings.recall_rewrite_seconds,
                    call_seconds=settings.chat_deadline_seconds,
                )
                stack.push_async_callback(rewriter.close)
            profiles = Profiles(store, lambda: changes_from_now(settings))
            stack.push_async_callback(profiles.close)
            handler = RecallHandler(store, embedder, emitter, redactor, settings, profiles, self._weights, rewriter)
            runner.attach_requests(self._apps["recall"], "recall.requests", handler)
        self._runner = runner
        self._background(stack, self._watch_loop())
        self._background(stack, _every(PING_EVERY_SECONDS, emitter.ping))
        if settings.metrics_port:
            stack.push_async_callback(await serve_metrics(settings, self.health))
        if self._apps:
            await self._start_apps()
        if "http" in self.roles:
            await self._start_gateway(stack)
        self._background(stack, self._watch_lag())

    async def _start_gateway(self, stack: AsyncExitStack) -> None:
        try:
            from streams.http.server import serve_http
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"the role http needs {error.name}: install `memstream[http]`, or set MEMSTREAM_HTTP_PORT=0"
            ) from None
        stop = await serve_http(self.settings, self.health)
        self._stop_gateway = stop
        stack.push_async_callback(stop)
        self.health.roles_ready["http"] = True

    def _extractor(self, stack: AsyncExitStack) -> tuple[Extractor, Callable[[], Awaitable[object]] | None]:
        settings = self.settings
        if settings.extractor == "rules":
            return RuleExtractor(explain=False), None
        from streams.ports import ChatTurn

        chat = self._chat(stack, "MEMSTREAM_EXTRACTOR=model")
        return model_extractor_of(settings, chat), lambda: chat.complete([ChatTurn("user", "ping")], max_tokens=1)

    def _chat(self, stack: AsyncExitStack, wanted_by: str) -> OpenAIChatModel:
        """One for all who ask it: the requests in a minute are those of the worker."""
        if not self.settings.chat_model:
            raise ConfigurationError(f"{wanted_by} needs MEMSTREAM_CHAT_MODEL (and MEMSTREAM_CHAT_BASE_URL)")
        if self._chat_model is None:
            self._chat_model = chat_of(self.settings)
            stack.push_async_callback(self._chat_model.close)
        return self._chat_model

    async def _start_apps(self) -> None:
        for role, app in self._apps.items():

            @app.on_partitions_revoked.connect  # type: ignore[untyped-decorator]
            async def revoked(app: Any, partitions: set[Any], **_: Any) -> None:
                await self._runner.in_flight_done(self.settings.kafka_session_timeout_seconds * 0.6)

            @app.on_partitions_assigned.connect  # type: ignore[untyped-decorator]
            async def assigned(app: Any, partitions: set[Any], role: Role = role, **_: Any) -> None:
                self._on_assigned.get(role, lambda: None)()
                self.health.roles_ready[role] = True
                if all(self.health.roles_ready[name] for name in self._apps):
                    self._assigned.set()

            app.finalize()
        await asyncio.gather(*(app.start() for app in self._apps.values()))
        for role, app in self._apps.items():
            task = asyncio.create_task(self._watch_app(role, app))
            self._watchers.append(task)
        try:
            async with asyncio.timeout(120):
                waits = [asyncio.create_task(event.wait()) for event in (self._assigned, self._stop)]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise DependencyDown("kafka", "no partitions were assigned within two minutes") from None

    def _background(self, stack: AsyncExitStack, work: Any) -> None:
        task = asyncio.create_task(work)

        async def cancel() -> None:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

        stack.push_async_callback(cancel)

    def _held(self, role: Role, topic: str) -> set[int]:
        """Partitions of `topic` that this process holds now."""
        name = self.settings.topic_prefix + topic
        with suppress(Exception):  # no assignment yet
            return {tp.partition for tp in self._apps[role].consumer.assignment() if tp.topic == name}
        return set()

    async def _watch_app(self, role: Role, app: Any) -> None:
        await app.wait_until_stopped()
        if not self._stop.is_set():
            self._fail(f"the Faust app of role {role} stopped by itself")

    def _fail(self, why: str) -> None:
        self.failed = why
        self._stop.set()

    async def _watch_loop(self) -> None:
        """How late the loop wakes up: what blocks it makes every recall wait."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.5)
            metrics.LOOP_LAG_SECONDS.set(max(0.0, time.perf_counter() - before - 0.5))

    async def _watch_lag(self) -> None:
        while True:
            with suppress(Exception):  # between two assignments there is nothing to say
                self._measure_lag()
            await asyncio.sleep(5)

    def _measure_lag(self) -> None:
        """In records, and in time: by what is or was last under way, the oldest that a partition has left."""
        now = time.time()
        late: dict[tuple[str, int], datetime] = {}
        for role, app in self._apps.items():
            behind: dict[str, int] = {}
            age: dict[str, float] = {}
            for tp in app.consumer.assignment():
                topic = tp.topic.removeprefix(self.settings.topic_prefix)
                if topic not in BY_NAME:
                    continue
                end = app.consumer.highwater(tp) or 0
                done = app.consumer._committed_offset.get(tp)
                lag = max(0, end - (done if done is not None else app.consumer._read_offset.get(tp) or 0))
                behind[topic] = behind.get(topic, 0) + lag
                place = topic, tp.partition
                if lag and (oldest := self._runner.oldest.get(place)) is not None:
                    late[place] = oldest
                    age[topic] = max(age.get(topic, 0.0), now - oldest.timestamp())
            # What was taken away from this worker is another's to tell of.
            for topic in self._lagging.pop(role, set()) - behind.keys():
                behind[topic] = 0
            self._lagging[role] = set(behind)
            for topic, records in behind.items():
                metrics.LAG_RECORDS.labels(role, topic).set(records)
                retention = BY_NAME[topic].retention_ms
                share = age.get(topic, 0.0) * 1000 / retention if retention else 0.0
                metrics.LAG_RETENTION.labels(role, topic).set(share)
        self._runner.oldest = late

    async def _shut_down(self) -> bool:
        """Finish what is in flight, commit it, then stop Faust without another commit. False: not all ended."""
        for task in self._watchers:
            task.cancel()
        # Together: a request that the gateway still answers is one of those that the runner has in flight.
        clean, _ = await asyncio.gather(self._runner.drain(self.settings.drain_seconds), self._stop_gateway())
        with suppress(Exception):
            async with asyncio.timeout(2):
                await asyncio.gather(*(app.consumer.commit() for app in self._apps.values()), return_exceptions=True)
        for app in self._apps.values():
            disarm_commits(app)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await asyncio.gather(*(app.stop() for app in self._apps.values()), return_exceptions=True)
        except TimeoutError:
            clean = False
        return clean


async def _nothing() -> None:
    pass


async def _retrying(work: Callable[[], Awaitable[object]], what: str, seconds: float = 60.0) -> None:
    """A dependency that starts beside us may need a moment; one that stays away is an error that names it."""
    end = time.monotonic() + seconds
    while True:
        try:
            await work()
            return
        except DependencyDown as error:
            if time.monotonic() > end:
                raise
            log.info("waiting for %s: %s", what, error)
            await asyncio.sleep(0.5)


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        await work()


async def _flush(store: VectorStore) -> None:
    try:
        await store.flush()
    except DependencyDown as error:
        log.warning("the store could not be flushed: %s", error)


def run_worker(
    settings: Settings,
    roles: Sequence[Role] = STREAM_ROLES,
    *,
    at_step: AtStep = lambda step: None,
    on_ready: Callable[[], None] = lambda: None,
    on_stopping: Callable[[], None] = lambda: None,
    before_hard_exit: Callable[[], None] = lambda: None,
) -> int:
    """Run until SIGINT or SIGTERM; returns the exit code. A second signal leaves at once.

    Whatever hangs after the first signal, the process is gone in time: that loses nothing because kill -9 does not.
    """
    import uvloop

    def leave() -> None:
        before_hard_exit()
        logging.shutdown()
        os._exit(HARD_EXIT)

    async def main() -> int:
        worker = Worker(settings, roles, at_step=at_step, on_ready=on_ready)
        loop = asyncio.get_running_loop()
        in_time = threading.Timer(settings.drain_seconds + STOP_SECONDS, leave)
        in_time.daemon = True
        asked = False

        def stop() -> None:
            on_stopping()
            worker.stop()

        # Not the loop's own handlers and clock: a loop that is held up would never come to them.
        def on_signal(*_: object) -> None:
            nonlocal asked
            if asked:
                leave()
            asked = True
            in_time.start()
            loop.call_soon_threadsafe(stop)

        before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            clean = await worker.run()
            if not clean:
                leave()
            return 1 if worker.failed else 0
        finally:
            in_time.cancel()
            for number, handler in before.items():
                signal.signal(number, handler)

    # Faust reads each topic in a thread with a loop of its own, of the kind that the policy makes.
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    return asyncio.run(main())
