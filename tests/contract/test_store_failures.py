"""What the stores do when they are killed, away, full, owned by someone else or made for another model."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from schemas import Tenant
from streams.adapters.store import Store, make_store
from streams.adapters.store.edge import EdgeStore, wants_graphs
from streams.adapters.store.mapped import give_back
from streams.adapters.store.qdrant import QdrantStore
from streams.cli.optimize import optimized
from streams.errors import ConfigurationError, DependencyDown
from streams.ports import Doc, ModelProfile, Where
from tests.contract.store_parts import PROFILE, ROOT, ServerProcess, memory, memory_id, scratch_directory
from tests.contract.store_writer import BATCH, TENANT
from tests.harness import eventually

OTHER_MODEL = replace(PROFILE, name="other-model")
OTHER_DIMENSION = ModelProfile(name="wide-model", dimension=16)


@contextmanager
def worker(path: Path, what: str) -> Iterator[subprocess.Popen[str]]:
    """A process that owns the store in `path`; killed at the end at the latest."""
    command = [sys.executable, "-m", "tests.contract.store_writer", str(path), what]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@asynccontextmanager
async def opened(store: Store) -> AsyncIterator[Store]:
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def embedded(path: Path, profile: ModelProfile = PROFILE) -> Store:
    return make_store(None, path / "store", profile)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


class TestKilled:
    async def test_every_acknowledged_write_of_a_killed_process_is_there(self, scratch: Path) -> None:
        acknowledged = -1
        # Killed in the middle of things, over and over on the same data.
        for wanted in (2, 9, 30):
            with worker(scratch / "store", "write") as process:
                while (acknowledged := int(line(process))) < wanted:
                    pass
                os.kill(process.pid, signal.SIGKILL)
                assert process.stdout is not None
                rest = process.stdout.read().split()
                acknowledged = int(rest[-1]) if rest else acknowledged
            async with opened(embedded(scratch)) as store:
                await assert_whole(store, acknowledged)

    @pytest.mark.parametrize("seconds", [0.0, 0.05, 0.3])
    async def test_killed_while_it_optimizes(self, scratch: Path, seconds: float) -> None:
        """How far it came is chance; whatever it left behind must not matter."""
        memories = [memory(TENANT, number) for number in range(500)]
        async with opened(embedded(scratch)) as store:
            await store.upsert(TENANT, memories)
        with worker(scratch / "store", "optimize") as process:
            assert line(process) == "start"
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            process.kill()
            process.wait()
        leftover = scratch / "store" / "memory_records" / "temp_segments" / "half"
        leftover.mkdir(parents=True)
        async with opened(embedded(scratch)) as store:
            assert await store.count() == 500
            assert not leftover.exists()
            await store.upsert(TENANT, [memory(TENANT, 500)])
            (hit,), _ = await store.search(TENANT, memories[3].vector, None, where=Where(), limit=1)
            assert hit.memory_id == memories[3].record.memory_id

    async def test_optimized_store_answers_the_same(self, scratch: Path) -> None:
        memories = [memory(TENANT, number) for number in range(200)]
        async with opened(embedded(scratch)) as store:
            await store.upsert(TENANT, memories)
            before = [await store.search(TENANT, one.vector, one.sparse, where=Where(), limit=5) for one in memories]
        with worker(scratch / "store", "optimize") as process:
            assert [line(process), line(process)] == ["start", "end"]
            assert process.wait() == 0
        async with opened(embedded(scratch)) as store:
            after = [await store.search(TENANT, one.vector, one.sparse, where=Where(), limit=5) for one in memories]
            assert [[hit.memory_id for hit in dense] for dense, _ in after] == [
                [hit.memory_id for hit in dense] for dense, _ in before
            ]
            await store.update(TENANT, [memories[0].record.model_copy(update={"importance": 5})])
            assert (await store.get(TENANT, [memory_id(TENANT, 0)]))[0].importance == 5

    async def test_a_user_with_many_memories_wants_a_graph(
        self, scratch: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("streams.adapters.store.edge.FULL_SCAN_THRESHOLD", 4)
        many = 4 * 1024 // (4 * PROFILE.dimension)
        async with opened(embedded(scratch)) as store:
            await store.upsert(TENANT, [memory(TENANT, number) for number in range(many)])
        assert not wants_graphs(scratch / "store")
        async with opened(embedded(scratch)) as store:
            await store.upsert(TENANT, [memory(TENANT, many)])
        assert wants_graphs(scratch / "store")

    async def test_optimizing_looks_for_room_before_and_tells_what_went_wrong(
        self, scratch: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(embedded(scratch)) as store:
            await store.upsert(TENANT, [memory(TENANT, number) for number in range(20)])
            with pytest.raises(DependencyDown, match=r"in use by another process.*it is as it was"):
                await optimized(scratch / "store")
        await optimized(scratch / "store")
        monkeypatch.setattr("streams.cli.optimize.free_bytes", lambda _: 1000)
        with pytest.raises(DependencyDown, match="MiB of free disk and there are 0: make room"):
            await optimized(scratch / "store")

    @pytest.mark.skipif(sys.platform != "linux", reason="the parent's death is told on Linux")
    async def test_a_process_that_optimizes_does_not_outlive_its_parent(self, scratch: Path) -> None:
        code = (
            "import asyncio, sys; from pathlib import Path; from streams.adapters.store import edge\n"
            "from streams.cli.optimize import optimized\n"
            "asyncio.run(optimized(Path(sys.argv[1])))\n"
        )
        async with opened(embedded(scratch)) as store:
            await store.upsert(TENANT, [memory(TENANT, 1)])
        fifo = scratch / "store" / "store.lock"
        fifo.unlink()
        os.mkfifo(fifo)  # the child opens it, and waits for a reader for ever
        parent = subprocess.Popen([sys.executable, "-c", code, str(scratch / "store")], cwd=ROOT)
        mother = psutil.Process(parent.pid)

        async def at_work() -> list[psutil.Process]:
            return [child for child in mother.children() if "spawn_main" in " ".join(child.cmdline())]

        (child,) = await eventually(at_work)
        parent.kill()
        parent.wait()

        async def gone() -> bool:
            return not child.is_running() or child.status() == psutil.STATUS_ZOMBIE

        await eventually(gone)

    async def test_a_full_disk_is_an_outage_that_ends(self, scratch: Path) -> None:
        with worker(scratch / "store", "full") as process:
            stored, dependency = line(process).split()
            assert dependency == "store"
            assert int(line(process)) == int(stored) + 1
            assert process.wait() == 0
        async with opened(embedded(scratch)) as store:
            assert len(await store.find_docs(TENANT, "receipt")) == int(stored) + 1


async def assert_whole(store: Store, acknowledged: int) -> None:
    """Everything up to batch `acknowledged` is as it was acknowledged, and what came after is whole or absent."""
    receipts = {int(doc.key) for doc in await store.find_docs(TENANT, "receipt")}
    assert receipts >= set(range(acknowledged + 1))
    for batch in range(acknowledged + 1):
        numbers = range(batch * BATCH, (batch + 1) * BATCH)
        gone = {batch * BATCH + 1} if batch % 3 == 2 else set()
        expected = [memory(TENANT, number) for number in numbers if number not in gone]
        found = await store.get_with_vectors(TENANT, [memory_id(TENANT, number) for number in numbers])
        assert [one.record for one in found] == [one.record for one in expected]
        assert [one.sparse for one in found] == [one.sparse for one in expected]
    archived, _ = await store.find(TENANT, Where(), archive=True)
    assert {one.memory_id for one in archived} >= {
        memory_id(TENANT, batch * BATCH) for batch in range(2, acknowledged + 1, 3)
    }
    for archive in (False, True):
        records, cursor = await store.find(TENANT, Where(), limit=100_000, archive=archive)
        assert cursor is None
        assert len(records) == await store.count(archive=archive)


class TestOwner:
    async def test_a_disk_that_is_nearly_full(self, scratch: Path) -> None:
        """Told before the engine needs the room: it maps its files, and a write without room kills the process."""
        written, refused = memory(TENANT, 1), memory(TENANT, 2)
        async with opened(embedded(scratch)) as store:
            await store.upsert(TENANT, [written])
        async with opened(EdgeStore(scratch / "store", PROFILE, least_free_bytes=2**60)) as store:
            for attempt in (
                store.ping(),
                store.upsert(TENANT, [refused]),
                store.update(TENANT, [written.record]),
                store.put_docs(TENANT, [Doc("receipt", "e", {})]),
            ):
                with pytest.raises(DependencyDown, match="make room"):
                    await attempt
            assert await store.get(TENANT, [written.record.memory_id, refused.record.memory_id]) == [written.record]

    async def test_a_second_owner_in_another_process(self, scratch: Path) -> None:
        with worker(scratch / "store", "hold") as process:
            assert line(process) == "open"
            with pytest.raises(ConfigurationError, match=r"another process.*Qdrant URL"):
                await embedded(scratch).open()
            process.kill()
            process.wait()
            # The lock went with its owner.
            async with opened(embedded(scratch)) as store:
                await store.ping()

    @pytest.mark.parametrize("kind", ["edge", "file"])
    async def test_a_second_owner_in_the_same_process(self, kind: str, scratch: Path) -> None:
        def make() -> Store:
            return embedded(scratch) if kind == "edge" else QdrantStore(f"file:{scratch}/local", PROFILE)

        async with opened(make()) as store:
            with pytest.raises(ConfigurationError, match="another process"):
                await make().open()
            await store.ping()
        async with opened(make()) as store:
            await store.ping()

    async def test_a_forked_child_is_told(self, scratch: Path) -> None:
        code = (
            "import asyncio, os, sys\n"
            "from pathlib import Path\n"
            "from tests.contract.store_parts import PROFILE\n"
            "from streams.adapters.store import make_store\n"
            "store = make_store(None, Path(sys.argv[1]), PROFILE)\n"
            "asyncio.run(store.open())\n"
            "if os.fork() == 0:\n"
            "    try:\n"
            "        asyncio.run(store.ping())\n"
            "    except BaseException as error:\n"
            "        print(type(error).__name__, error, flush=True)\n"
            "    os._exit(0)\n"
            "os.wait()\n"
        )
        command = [sys.executable, "-c", code, str(scratch / "store")]
        done = await asyncio.to_thread(
            subprocess.run, command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.stdout.startswith("ConfigurationError"), done.stderr
        assert "spawn" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is told by Linux's own files")
class TestMemory:
    async def test_an_opened_store_leaves_its_files_on_the_disk(self) -> None:
        def resident(folder: Path) -> int:
            """KiB."""
            found, counts = 0, False
            for line in Path("/proc/self/smaps").read_text().splitlines():
                if line[0] in "0123456789abcdef":
                    counts = f" {folder.resolve()}/" in line
                elif counts and line.startswith("Rss:"):
                    found += int(line.split()[1])
            return found

        with scratch_directory() as path:
            async with opened(embedded(path)) as store:
                await store.upsert(TENANT, [memory(TENANT, number) for number in range(200)])
            async with opened(embedded(path)) as store:
                assert resident(path) < 1024
                assert len((await store.find(TENANT, Where()))[0]) == 200
                # What is read is resident, so that was no empty count.
                assert resident(path) > 0
                await store.upsert(TENANT, [memory(TENANT, 200)])
                await store.flush()
                give_back(path)
                assert resident(path) == 0
                assert len((await store.find(TENANT, Where()))[0]) == 201
            async with opened(embedded(path)) as store:
                assert await store.count() == 201


class TestModel:
    @pytest.mark.parametrize("profile", [OTHER_MODEL, OTHER_DIMENSION])
    @pytest.mark.parametrize("kind", ["edge", "file", "server"])
    async def test_vectors_of_another_model(
        self, kind: str, profile: ModelProfile, scratch: Path, request: pytest.FixtureRequest
    ) -> None:
        def make(profile: ModelProfile) -> Store:
            if kind == "edge":
                return embedded(scratch, profile)
            location = f"file:{scratch}" if kind == "file" else request.getfixturevalue("server").url
            return QdrantStore(location, profile)

        async with opened(make(PROFILE)) as store:
            await store.upsert(TENANT, [memory(TENANT, 1)])
        with pytest.raises(ConfigurationError, match="memstream rebuild") as refused:
            await make(profile).open()
        assert profile.name in str(refused.value)
        # Refusing changed nothing.
        async with opened(make(PROFILE)) as store:
            assert len(await store.get(TENANT, [memory_id(TENANT, 1)])) == 1

    async def test_a_store_that_does_not_say_its_model(self, scratch: Path) -> None:
        async with opened(embedded(scratch)):
            pass
        (scratch / "store" / "store.json").unlink()
        with pytest.raises(ConfigurationError, match=r"store\.json is missing"):
            await embedded(scratch).open()

    async def test_a_directory_that_is_a_file(self, scratch: Path) -> None:
        (scratch / "store").write_text("")
        with pytest.raises(ConfigurationError, match="can't be written"):
            await embedded(scratch).open()


@pytest.fixture
def scratch() -> Iterator[Path]:
    with scratch_directory() as folder:
        yield folder


@pytest.fixture
def server(scratch: Path) -> Iterator[ServerProcess]:
    process = ServerProcess(scratch / "server")
    process.start()
    yield process
    process.kill()


def every_call(store: Store) -> list[Callable[[], Awaitable[object]]]:
    one = memory(TENANT, 1)
    name = one.record.memory_id
    return [
        store.ping,
        lambda: store.upsert(TENANT, [one]),
        lambda: store.update(TENANT, [one.record]),
        lambda: store.delete(TENANT, [name]),
        lambda: store.move(TENANT, [name], to_archive=True),
        lambda: store.get(TENANT, [name]),
        lambda: store.get_with_vectors(TENANT, [name]),
        lambda: store.get_with_words(TENANT, [name]),
        lambda: store.cosines(TENANT, [name], one.vector),
        lambda: store.find(TENANT, Where()),
        lambda: store.near(TENANT, one.vector[None], threshold=0, where=Where()),
        lambda: store.search(TENANT, one.vector, one.sparse, where=Where(), limit=1),
        lambda: store.neighbours(TENANT, [one.record], before=1, after=1),
        lambda: store.put_docs(TENANT, [Doc("a", "b", {})]),
        lambda: store.get_docs(TENANT, "a", ["b"]),
        lambda: store.find_docs(TENANT, "a"),
        lambda: store.delete_docs(TENANT, "a", ["b"]),
        lambda: store.idle(0, before=one.record.occurred_at),
        lambda: store.ended(0, before=one.record.occurred_at),
        lambda: store.repeated(0, since=one.record.occurred_at),
        lambda: store.tenants(0),
        lambda: store.count(),
    ]


class TestServer:
    async def test_away_and_back(self, server: ServerProcess) -> None:
        tenant = Tenant(namespace="shop", user_id=uuid.uuid4().hex)
        stored = [memory(tenant, number) for number in range(20)]
        async with opened(QdrantStore(server.url, PROFILE)) as store:
            await store.upsert(tenant, stored)
            await store.put_docs(tenant, [Doc("receipt", "a", {"n": 1})])
            server.kill()
            for call in every_call(store):
                with pytest.raises(DependencyDown, match="store is unavailable"):
                    await call()
            with pytest.raises(DependencyDown):
                await QdrantStore(server.url, PROFILE).open()
            server.start()
            # The same object, without any help.
            await store.ping()
            assert await store.get(tenant, [one.record.memory_id for one in stored]) == [one.record for one in stored]
            assert await store.find_docs(tenant, "receipt") == [Doc("receipt", "a", {"n": 1})]

    async def test_two_processes_make_the_collections_at_once(self, server: ServerProcess) -> None:
        stores = [QdrantStore(server.url, PROFILE) for _ in range(3)]
        await asyncio.gather(*(store.open() for store in stores))
        await stores[0].upsert(TENANT, [memory(TENANT, 1)])
        assert [await store.count() for store in stores] == [1, 1, 1]
        for store in stores:
            await store.close()

    async def test_what_another_process_wrote_is_seen(self, server: ServerProcess) -> None:
        """Nothing is remembered between calls where others write as well."""
        async with (
            opened(QdrantStore(server.url, PROFILE)) as writer,
            opened(QdrantStore(server.url, PROFILE)) as reader,
        ):
            turns = [memory(TENANT, number) for number in (10, 20, 30)]
            await writer.upsert(TENANT, turns)
            around = await reader.neighbours(TENANT, [turns[1].record], before=1, after=1)
            assert [one.record for one in around] == [one.record for one in turns]
            changed = turns[0].record.model_copy(update={"importance": 5})
            await writer.update(TENANT, [changed])
            await writer.upsert(TENANT, [memory(TENANT, 15)])
            around = await reader.neighbours(TENANT, [turns[1].record], before=2, after=0)
            assert [one.record for one in around] == [changed, memory(TENANT, 15).record, turns[1].record]

    @pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
    async def test_keys(self, scratch: Path) -> None:
        server = ServerProcess(scratch / "server", api_key="sesame")
        server.start()
        try:
            async with opened(make_store(server.url, None, PROFILE, api_key="sesame")) as store:
                await store.ping()
            for key in ("wrong", None):
                with pytest.raises(ConfigurationError, match="API key") as refused:
                    await make_store(server.url, None, PROFILE, api_key=key).open()
                assert "wrong" not in str(refused.value)
        finally:
            server.kill()

    async def test_collections_that_went_away(self, server: ServerProcess) -> None:
        from qdrant_client import AsyncQdrantClient

        async with opened(QdrantStore(server.url, PROFILE)) as store:
            client = AsyncQdrantClient(url=server.url, check_compatibility=False)
            await client.delete_collection("memory_records")
            await client.close()
            with pytest.raises(ConfigurationError, match="memstream rebuild"):
                await store.count()

    @pytest.mark.parametrize("url", ["http://[", "ftp://host", "http://host:port", ""])
    async def test_a_url_that_is_none(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match="http://host:6333"):
            await QdrantStore(url, PROFILE).open()

    @pytest.mark.parametrize(
        ("status", "headers", "error", "retry_after"),
        [
            (429, {"Retry-After": "7"}, DependencyDown, 7),
            (429, {}, DependencyDown, None),
            (500, {}, DependencyDown, None),
            (503, {}, DependencyDown, None),
            (502, {"Content-Type": "text/html"}, DependencyDown, None),
            (200, {"Content-Type": "text/html"}, DependencyDown, None),
            (401, {}, ConfigurationError, None),
            (403, {}, ConfigurationError, None),
            (400, {}, ValueError, None),
        ],
    )
    async def test_answers_of_a_server_in_trouble(
        self, status: int, headers: dict[str, str], error: type[Exception], retry_after: float | None
    ) -> None:
        async def handler(_: web.Request) -> web.Response:
            return web.Response(status=status, headers=headers, text="<p>secret</p>")

        async with answering(handler) as url:
            with pytest.raises(error) as raised:
                await QdrantStore(url, PROFILE).open()
        assert getattr(raised.value, "retry_after", None) == retry_after
        assert "secret" not in str(raised.value)

    async def test_a_server_that_does_not_answer(self) -> None:
        given_up = asyncio.Event()

        async def handler(_: web.Request) -> web.Response:
            await given_up.wait()
            return web.Response()

        async with answering(handler) as url:
            with pytest.raises(DependencyDown):
                await QdrantStore(url, PROFILE, timeout=1).open()
            given_up.set()


@asynccontextmanager
async def answering(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """A server that gives one answer to everything."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


class TestFactory:
    def test_one_of_url_and_path(self, scratch: Path) -> None:
        for url, path in [(None, None), ("http://localhost:6333", scratch)]:
            with pytest.raises(ConfigurationError, match="either"):
                make_store(url, path, PROFILE)

    def test_engines_are_imported_when_a_store_is_opened(self) -> None:
        code = (
            "import sys\n"
            "from pathlib import Path\n"
            "from streams.adapters.store import make_store\n"
            "from streams.ports import ModelProfile\n"
            "make_store(None, Path('x'), ModelProfile('m', 8))\n"
            "make_store('http://localhost', None, ModelProfile('m', 8))\n"
            "print([name for name in ('qdrant_client', 'qdrant_edge', 'httpx', 'grpc') if name in sys.modules])\n"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"
