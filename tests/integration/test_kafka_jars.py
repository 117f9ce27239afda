"""Fetching Kafka's jars: from a Maven repository of the test's own, which serves the real jars over HTTP."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from streams.adapters.kafka_jars import Lock, default_cache, default_repository, fetch_jars, read_lock
from streams.errors import ConfigurationError, DependencyDown


@dataclass
class Repository:
    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    """Status codes to answer before anything else."""


@pytest.fixture
def lock() -> Lock:
    """The five smallest jars of the real lock."""
    whole = read_lock()
    return Lock(whole.version, tuple(sorted(whole.jars, key=lambda jar: jar.size)[:5]))


@pytest.fixture
async def repository(lock: Lock) -> AsyncIterator[Repository]:
    files = {
        f"/{jar.path}": path.read_bytes() for jar, path in zip(lock.jars, await fetch_jars(lock=lock), strict=True)
    }

    served = Repository("", files)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            content = served.files.get(self.path)
            status = served.failures.pop() if served.failures else 404 if content is None else 200
            self.send_response(status)
            self.end_headers()
            if status == 200 and content is not None:
                self.wfile.write(content)

        def log_message(self, *_: object) -> None: ...

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """The client may hang up: it stops all downloads when one failed."""

    with Server(("127.0.0.1", 0), Handler) as server:
        served.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield served
        server.shutdown()
        thread.join()


def files_in(cache: Path) -> set[str]:
    return {path.name for path in cache.rglob("*") if path.is_file()}


def test_the_lock_is_one_consistent_kafka() -> None:
    whole = read_lock()
    versions = {jar.version for jar in whole.jars if jar.group.startswith("org.apache.kafka")}
    assert versions == {whole.version}
    artifacts = [jar.artifact for jar in whole.jars]
    assert {"kafka_2.13", "kafka-clients", "slf4j-simple"} <= set(artifacts)
    assert len(set(artifacts)) == len(artifacts)  # one version of each


async def test_fetches_once_and_then_needs_no_network(lock: Lock, repository: Repository, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    paths = await fetch_jars(tmp_path, repository.address, lambda *now: seen.append(now), lock)
    assert [path.name for path in paths] == [jar.filename for jar in lock.jars]
    assert len(repository.asked) == len(lock.jars)
    total = sum(jar.size for jar in lock.jars)
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)
    assert await fetch_jars(tmp_path, "http://127.0.0.1:1", seen.append, lock) == paths  # type: ignore[arg-type]
    assert files_in(tmp_path) == {jar.filename for jar in lock.jars}


@pytest.mark.parametrize("damage", ["truncated", "altered", "empty", "removed"])
async def test_a_damaged_jar_is_fetched_again(lock: Lock, repository: Repository, tmp_path: Path, damage: str) -> None:
    whole = (await fetch_jars(tmp_path, repository.address, lock=lock))[2]
    content = whole.read_bytes()
    if damage == "removed":
        whole.unlink()
    else:
        damaged = {"truncated": content[:-100], "altered": content[:-1] + bytes([content[-1] ^ 1]), "empty": b""}
        whole.write_bytes(damaged[damage])
    repository.asked.clear()
    await fetch_jars(tmp_path, repository.address, lock=lock)
    assert whole.read_bytes() == content
    assert repository.asked == [f"/{lock.jars[2].path}"]


async def test_a_jar_with_another_sum_never_arrives(lock: Lock, repository: Repository, tmp_path: Path) -> None:
    repository.files[f"/{lock.jars[0].path}"] += b"!"
    with pytest.raises(ConfigurationError, match=f"{lock.jars[0].filename}.*SHA-256 differs"):
        await fetch_jars(tmp_path, repository.address, lock=lock)
    assert lock.jars[0].filename not in files_in(tmp_path)
    assert not [name for name in files_in(tmp_path) if name.endswith(".part")]


async def test_a_repository_without_the_jar(lock: Lock, repository: Repository, tmp_path: Path) -> None:
    unknown = Lock(lock.version, (replace(lock.jars[0], version="0.0.0"),))
    with pytest.raises(ConfigurationError, match=r"answered 404 for .*0\.0\.0\.jar.*MEMSTREAM_MAVEN_REPOSITORY"):
        await fetch_jars(tmp_path, repository.address, lock=unknown)


async def test_a_server_that_is_busy_is_asked_again(lock: Lock, repository: Repository, tmp_path: Path) -> None:
    repository.failures = [503, 429]
    assert len(await fetch_jars(tmp_path, repository.address, lock=lock)) == len(lock.jars)


async def test_no_network_is_a_dependency_that_is_down(lock: Lock, tmp_path: Path) -> None:
    with pytest.raises(DependencyDown, match="check the network") as down:
        await fetch_jars(tmp_path, "http://someone:secret@127.0.0.1:1/maven", lock=lock)
    assert "secret" not in str(down.value)
    with pytest.raises(ConfigurationError, match="must be the address of a Maven repository"):
        await fetch_jars(tmp_path, "no address", lock=lock)


async def test_a_cache_that_cant_be_written(lock: Lock, repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="MEMSTREAM_CACHE"):
        await fetch_jars(tmp_path / "file", repository.address, lock=lock)


def test_where_the_repository_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMSTREAM_MAVEN_REPOSITORY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    public = default_repository()
    assert public.startswith("https://")
    settings = tmp_path / ".m2" / "settings.xml"
    settings.parent.mkdir()
    mirror = "<mirror><id>m</id><mirrorOf>{}</mirrorOf><url>https://mirror.invalid/maven</url></mirror>"
    document = "<settings xmlns='urn:any-namespace'><mirrors>{}</mirrors></settings>"
    for covers, expected in [
        ("central", "https://mirror.invalid/maven"),
        ("*", "https://mirror.invalid/maven"),
        ("external:*, !internal", "https://mirror.invalid/maven"),
        ("*,!central", public),
        ("internal", public),
    ]:
        settings.write_text(document.format(mirror.format(covers)), encoding="utf-8")
        assert default_repository() == expected, covers
    settings.write_text("<settings", encoding="utf-8")
    assert default_repository() == public
    monkeypatch.setenv("MEMSTREAM_MAVEN_REPOSITORY", "https://own.invalid")
    assert default_repository() == "https://own.invalid"


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMSTREAM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache() == tmp_path / "xdg" / "memstream"
    monkeypatch.setenv("MEMSTREAM_CACHE", str(tmp_path / "own"))
    assert default_cache() == tmp_path / "own"
