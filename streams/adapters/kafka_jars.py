"""The jars of Apache Kafka: named by a lock file, fetched once, checked at every start.

`kafka-jars.lock` beside this file is written by `python -m streams.adapters.kafka_lock`. Its sums are what we trust:
a mirror, a proxy or a disk that alters a jar is found out before Java sees it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import httpx
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from streams.errors import ConfigurationError, DependencyDown

LOCK_NAME = "kafka-jars.lock"
CONCURRENCY = 4  # enough to fill a home line; a repository bans clients that open hundreds of connections
ATTEMPTS = 3

FetchProgress = Callable[[int, int], None]
"""Called with (bytes that are there, bytes in all), only when something has to be fetched."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of the lock file; `sha256` in hex, `size` in bytes."""

    group: str
    artifact: str
    version: str
    sha256: str
    size: int

    @property
    def filename(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """Where a Maven repository keeps it, relative to the repository's address."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.filename}"


@dataclass(frozen=True, slots=True)
class Lock:
    """The lock file: Kafka's version and every jar of its class path."""

    version: str
    jars: tuple[Jar, ...]


def read_lock() -> Lock:
    document = json.loads((resources.files("streams.adapters") / LOCK_NAME).read_text(encoding="utf-8"))
    return Lock(document["kafka"], tuple(Jar(**jar) for jar in document["jars"]))


def default_cache() -> Path:
    """`$MEMSTREAM_CACHE`, else `memstream` in the user's cache folder (XDG)."""
    if own := os.environ.get("MEMSTREAM_CACHE"):
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memstream"


def default_repository() -> str:
    """The address to fetch from: `$MEMSTREAM_MAVEN_REPOSITORY`, else the user's Maven mirror, else Maven Central.

    Raises `ConfigurationError` when there is neither a setting nor the package that knows the public address.
    """
    if own := os.environ.get("MEMSTREAM_MAVEN_REPOSITORY"):
        return own
    if mirror := _maven_mirror(Path.home() / ".m2" / "settings.xml"):
        return mirror
    try:
        from jgo.maven import MavenContext
    except ImportError:
        raise ConfigurationError(
            "the embedded Kafka needs `pip install 'memstream[embedded]'`, "
            "or the address of a Maven repository in MEMSTREAM_MAVEN_REPOSITORY"
        ) from None
    return str(MavenContext().remote_repos["central"])


def _maven_mirror(settings: Path) -> str | None:
    """The mirror that Maven itself would use for `central`, from the user's settings."""
    try:
        root = ElementTree.parse(settings).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    for mirror in root.iterfind("{*}mirrors/{*}mirror"):
        covers = [part.strip() for part in (mirror.findtext("{*}mirrorOf") or "").split(",")]
        address = (mirror.findtext("{*}url") or "").strip()
        if address and "!central" not in covers and {"central", "*", "external:*"} & set(covers):
            return address
    return None


async def fetch_jars(
    cache: Path | None = None,
    repository: str | None = None,
    progress: FetchProgress | None = None,
    lock: Lock | None = None,
) -> list[Path]:
    """Every jar of the lock file as a checked local file, in the order of the lock: the class path.

    Without network when all are cached. A cached jar whose sum is wrong is fetched again.
    Raises `ConfigurationError` (wrong sum, not in the repository, unwritable cache) or `DependencyDown` (no network).
    """
    lock = lock or read_lock()
    folder = (cache or default_cache()) / f"kafka-{lock.version}"
    missing = await asyncio.to_thread(lambda: [jar for jar in lock.jars if not _is_intact(folder / jar.filename, jar)])
    if missing:
        await _fetch(missing, folder, repository or default_repository(), _Counter(lock.jars, missing, progress))
    return [folder / jar.filename for jar in lock.jars]


class _Counter:
    def __init__(self, every: Iterable[Jar], missing: Iterable[Jar], progress: FetchProgress | None) -> None:
        self._total = sum(jar.size for jar in every)
        self._done = self._total - sum(jar.size for jar in missing)
        self._progress = progress

    def add(self, count: int) -> None:
        self._done += count
        if self._progress:
            self._progress(self._done, self._total)


async def _fetch(missing: list[Jar], folder: Path, repository: str, counter: _Counter) -> None:
    if _scheme(repository) not in ("http", "https"):
        raise ConfigurationError(
            "MEMSTREAM_MAVEN_REPOSITORY must be the address of a Maven repository, beginning with http:// or https://"
        )
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    slots = asyncio.Semaphore(CONCURRENCY)
    async with httpx.AsyncClient(timeout=30, follow_redirects=True) as client:

        async def one(jar: Jar) -> None:
            async with slots:
                await _fetch_one(client, jar, folder, repository, counter)

        try:
            async with asyncio.TaskGroup() as group:
                for jar in missing:
                    group.create_task(one(jar))
        except BaseExceptionGroup as failures:
            # The first tells the user what to change; the others are the same cause again.
            raise failures.exceptions[0] from None


async def _fetch_one(client: httpx.AsyncClient, jar: Jar, folder: Path, repository: str, counter: _Counter) -> None:
    address = f"{repository.rstrip('/')}/{jar.path}"
    shown = _without_password(repository)
    try:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type((httpx.TransportError, _ServerError)),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(0.5, max=4),
            reraise=True,
        ):
            with attempt:
                content = await _get(client, address)
    except (httpx.TransportError, _ServerError) as error:
        raise DependencyDown(
            "the Maven repository",
            f"{jar.filename} could not be fetched from {shown} ({error or type(error).__name__}); "
            "check the network, or name a mirror in MEMSTREAM_MAVEN_REPOSITORY",
        ) from None
    except httpx.HTTPStatusError as error:
        raise ConfigurationError(
            f"{shown} answered {error.response.status_code} for {jar.filename}; "
            "name a complete Maven repository in MEMSTREAM_MAVEN_REPOSITORY"
        ) from None
    if hashlib.sha256(content).hexdigest() != jar.sha256:
        raise ConfigurationError(
            f"{jar.filename} from {shown} is not the file that this version of memstream was tested with "
            "(its SHA-256 differs); a proxy or mirror may have altered it: try another in MEMSTREAM_MAVEN_REPOSITORY"
        )
    try:
        await asyncio.to_thread(_write, folder / jar.filename, content)
    except OSError as error:
        raise _unwritable(folder, error) from None
    counter.add(jar.size)


class _ServerError(Exception):
    """The repository answered 429 or 5xx: worth another try."""


async def _get(client: httpx.AsyncClient, address: str) -> bytes:
    response = await client.get(address)
    if response.status_code == 429 or response.status_code >= 500:
        raise _ServerError(f"it answered {response.status_code}")
    return response.raise_for_status().content


def _write(target: Path, content: bytes) -> None:
    """Whole or not at all, also when two processes fetch the same jar."""
    descriptor, part = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(part, target)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _is_intact(path: Path, jar: Jar) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False


def _unwritable(folder: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"Kafka's jars can't be kept in {folder} ({error.strerror}); name another folder in MEMSTREAM_CACHE"
    )


def _scheme(repository: str) -> str:
    try:
        return httpx.URL(repository).scheme
    except httpx.InvalidURL:
        return ""


def _without_password(repository: str) -> str:
    return str(httpx.URL(repository).copy_with(userinfo=b""))
