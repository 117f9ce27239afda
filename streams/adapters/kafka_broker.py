"""Apache Kafka itself, run from its jars: one process, KRaft, loopback only, no Docker and no Java to install.

POSIX only (it relies on `flock`); on Windows use WSL or Docker.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import math
import os
import signal
import socket
import subprocess
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from streams.adapters.kafka_folder import (
    DATA_MARK,
    LEAST_FREE_BYTES,
    Flock,
    Folder,
    LeftOver,
    State,
    describe_left_over,
    is_locked,
    last_words,
    stop_left_over,
    unusable,
    write_whole,
)
from streams.adapters.kafka_jars import fetch_jars, read_lock
from streams.adapters.kafka_java import find_java
from streams.adapters.kafka_properties import HOST, listeners, render, settings
from streams.errors import ConfigurationError

__all__ = ["EmbeddedKafka", "LeftOver", "describe_left_over", "stop_left_over"]

log = logging.getLogger(__name__)

Progress = Callable[[str], None]
"""Called with one line for the user at each step."""

START_SECONDS = 120.0  # 2.6 s is usual, 4.5 s after kill -9; 28 s were seen with 1,280 partitions on a busy machine
ADOPT_SECONDS = 30.0  # an orphan that was just starting gets the time to finish
STOP_SECONDS = 8.0  # SIGTERM takes 0.4-2 s
PORT_ATTEMPTS = 3
POLL_SECONDS = 0.05

# The pid is written by the process itself before it becomes Java: its parent may be killed at any moment.
LAUNCH = 'printf %s $$ > "$0" && exec "$@"'


class EmbeddedKafka:
    """One broker on one folder.

    `port` None takes a free one, kept for the life of this object. `adopted` is True when `start` found a broker that
    a killed process had left behind and took it over. `log` is the file with all that the broker said.
    """

    def __init__(
        self,
        data_dir: Path | str,
        port: int | None = None,
        *,
        extra_properties: Mapping[str, str] | None = None,
        heap_mb: int = 512,
        cache: Path | None = None,
        repository: str | None = None,
        least_free_bytes: int = LEAST_FREE_BYTES,
    ) -> None:
        self._folder = Folder(Path(data_dir).expanduser().absolute())
        self._wanted_port = port
        self._port = port
        self._settings = settings(self._folder.data, extra_properties or {})
        self._heap_mb = heap_mb
        self._cache = cache
        self._repository = repository
        self._least_free_bytes = least_free_bytes
        self._owner = Flock(self._folder.owner)
        self._process: subprocess.Popen[bytes] | None = None
        self._adopted: LeftOver | None = None
        self._log_offset = 0
        self.version = read_lock().version

    @property
    def bootstrap(self) -> str:
        """`host:port` for clients, known once `start` has returned (before it when a port was given)."""
        if self._port is None:
            raise RuntimeError("the port is known after start()")
        return f"{HOST}:{self._port}"

    @property
    def adopted(self) -> bool:
        return self._adopted is not None

    @property
    def pid(self) -> int | None:
        """The broker's process while it runs."""
        if self._process is not None:
            return self._process.pid
        return self._adopted.pid if self._adopted else None

    @property
    def log(self) -> Path:
        return self._folder.log

    @property
    def running(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        return self._adopted is not None and is_locked(self._folder.lock)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self, progress: Progress | None = None) -> None:
        """Fetch what is missing, format once, start and wait until clients are answered; or adopt an orphan.

        May be called again after `stop`, `kill` or the broker's own death: same port, same data.
        Raises `ConfigurationError` (port or folder in use, unwritable, disk full, no Java, the broker died) or
        `DependencyDown` (jars are missing and there is no network).
        """
        say = progress or log.info
        if self.running:
            return
        self._forget()
        self._folder.create(self._least_free_bytes)
        try:
            await self._become_owner()
            if not await self._adopt(say):
                await self._start(say)
        except BaseException:
            await self.kill()
            raise

    async def stop(self, timeout: float = STOP_SECONDS) -> None:
        """SIGTERM; SIGKILL when it is still there after `timeout` seconds. Also stops an adopted broker."""
        if self.running:
            self._signal(signal.SIGTERM)
            await self._until_gone(timeout)
        await self.kill()

    async def kill(self) -> None:
        """SIGKILL, as a crash would; returns when the process is gone and the folder is free."""
        if self.running:
            self._signal(signal.SIGKILL)
            await self._until_gone(STOP_SECONDS)
        self._forget()

    async def wait(self) -> str:
        """Returns when the broker is gone, with a message for the user: for whoever watches over it."""
        await self._until_gone(math.inf)
        return self._obituary("stopped")

    def _forget(self) -> None:
        if self._process is not None or self._adopted is not None:
            self._folder.pid.unlink(missing_ok=True)
        self._process = self._adopted = None
        self._owner.release()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
        elif self._adopted is not None and self._adopted.pid is not None:
            os.kill(self._adopted.pid, number)

    async def _until_gone(self, timeout: float) -> None:
        async for _ in _ticks(timeout):
            if not self.running:
                return

    async def _acquire(self, lock: Flock) -> bool:
        """A few tries: `describe_left_over` of another process holds a lock for some microseconds."""
        async for _ in _ticks(5 * POLL_SECONDS):
            try:
                if lock.acquire():
                    return True
            except OSError as error:
                raise unusable(self._folder.data, error) from None
        return False

    async def _become_owner(self) -> None:
        if not await self._acquire(self._owner):
            left = describe_left_over(self._folder.data)
            owner = self._folder.owner.read_text(encoding="ascii").strip() or "unknown"
            raise ConfigurationError(
                f"{self._folder.data} is in use by process {owner}" + (f": {left}" if left else "") + "; "
                "stop that process first, or choose another data folder"
            )
        assert self._owner.descriptor is not None
        os.truncate(self._owner.descriptor, 0)
        os.pwrite(self._owner.descriptor, str(os.getpid()).encode(), 0)

    async def _adopt(self, say: Progress) -> bool:
        """True when a broker that its parent left behind is ours now; one that does not fit is stopped."""
        async for _ in _ticks(ADOPT_SECONDS):
            left = describe_left_over(self._folder.data)
            if left is None:
                return False
            if left.pid is None:
                continue  # its parent was killed so early that it has not yet written its pid
            if left.state is None or not self._fits(left.state):
                break
            if await _answers(f"{HOST}:{left.state.port}", self._cluster_id()):
                say(f"took over {left}, which an earlier process had left running")
                self._adopted, self._port = left, left.state.port
                return True
        assert left is not None
        say(f"stopping {left}, which an earlier process had left running and which can't be used as it is")
        await asyncio.to_thread(stop_left_over, left)
        return False

    def _fits(self, state: State) -> bool:
        return (
            state.version == self.version
            and state.settings == self._digest()
            and self._wanted_port in (None, state.port)
        )

    def _digest(self) -> str:
        return hashlib.sha256(json.dumps([self._settings, self._heap_mb]).encode()).hexdigest()

    async def _start(self, say: Progress) -> None:
        if self._port is not None:
            _require_free(self._port)
        java = await asyncio.to_thread(find_java)
        shown = -1

        def fetched(done: int, total: int) -> None:
            nonlocal shown
            if (tenth := done * 10 // total) > shown:
                shown = tenth
                say(f"fetching Apache Kafka {self.version}: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

        jars = await fetch_jars(self._cache, self._repository, fetched)
        command = [
            str(java),
            "-Xms64m",
            f"-Xmx{self._heap_mb}m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            f"{DATA_MARK}{self._folder.data}",
        ]
        environment = {
            **os.environ,
            "CLASSPATH": os.pathsep.join(str(jar) for jar in jars),
            "LC_ALL": "C.UTF-8",  # else Java can't open a folder with a Chinese name under the locale C
        }
        say(f"starting Apache Kafka {self.version}")
        for attempt in range(1, PORT_ATTEMPTS + 1):
            if await self._launch(command, environment, last=attempt == PORT_ATTEMPTS):
                say(f"Apache Kafka {self.version} (process {self.pid}) is ready on {self.bootstrap}")
                return

    async def _launch(self, command: list[str], environment: dict[str, str], *, last: bool) -> bool:
        """False when a port of our own choice was taken by someone else in the meantime: choose again."""
        port, controller_port = _free_ports(self._port)
        lock = Flock(self._folder.lock)
        if not await self._acquire(lock):
            raise ConfigurationError(f"another broker has just started on {self._folder.data}; choose another folder")
        try:
            assert lock.descriptor is not None
            try:
                self._log_offset = self._folder.rotate_log()
                write_whole(self._folder.properties, render({**self._settings, **listeners(port, controller_port)}))
                self._folder.write_state(State(self.version, port, self._digest()))
                await self._format(command, environment, lock.descriptor)
                main = ["kafka.Kafka", str(self._folder.properties)]
                self._process = self._spawn([*command, *main], environment, lock.descriptor)
            except OSError as error:
                raise unusable(self._folder.data, error) from None
        finally:
            lock.release()
        if await self._ready(f"{HOST}:{port}"):
            self._port = port
            return True
        said = last_words(self.log, self._log_offset, lines=1000)
        if "Address already in use" in said:
            if self._port is not None:
                _require_free(self._port)
            if not last:
                return False
        raise ConfigurationError(self._obituary())

    async def _format(self, command: list[str], environment: dict[str, str], descriptor: int) -> None:
        """Once a folder. A crash in the middle is repeated: the cluster id is fixed before, formatted parts stay."""
        if self._folder.formatted.exists():
            return
        tool = ["kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", self._cluster_id()]
        self._process = self._spawn([*command, *tool, "-c", str(self._folder.properties)], environment, descriptor)
        await self._until_gone(START_SECONDS)
        if self._process.poll() != 0:
            raise ConfigurationError(self._obituary())
        self._process = None
        self._folder.formatted.touch()

    def _spawn(self, command: list[str], environment: dict[str, str], descriptor: int) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as output:
            return subprocess.Popen(
                ["/bin/sh", "-c", LAUNCH, str(self._folder.pid), *command],
                env=environment,
                cwd=self._folder.data,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[descriptor],
                start_new_session=True,  # Ctrl-C reaches us, and we stop the broker after its clients
            )

    async def _ready(self, address: str) -> bool:
        """Whether it answers clients; False when it died instead. Raises `ConfigurationError` when it hangs."""
        async for _ in _ticks(START_SECONDS):
            if not self.running:
                return False
            if await _answers(address, self._cluster_id()):
                return True
        raise ConfigurationError(self._obituary(f"did not answer within {START_SECONDS:.0f} s"))

    def _cluster_id(self) -> str:
        try:
            return self._folder.cluster_id.read_text(encoding="ascii")
        except FileNotFoundError:
            # 22 characters of base64, as Kafka wants it; a leading dash would be read as an option.
            chosen = "-"
            while chosen.startswith("-"):
                chosen = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
            write_whole(self._folder.cluster_id, chosen)
            return chosen

    def _obituary(self, what: str = "stopped at its start") -> str:
        said = last_words(self.log, self._log_offset)
        if "No space left on device" in last_words(self.log, self._log_offset, lines=1000):
            what += f" because the disk of {self._folder.data} is full"
        return f"Apache Kafka {self.version} {what}. The end of {self.log}:\n{said or '(nothing)'}"


async def _ticks(seconds: float) -> AsyncIterator[None]:
    """At once, then every `POLL_SECONDS`, until `seconds` are over."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    yield
    while loop.time() < deadline:
        await asyncio.sleep(POLL_SECONDS)
        yield


async def _answers(address: str, cluster_id: str) -> bool:
    """Whether the broker of this cluster serves clients at this address."""
    host, _, port = address.rpartition(":")
    try:
        # First without the driver, which logs an error for each refused connection.
        _, writer = await asyncio.open_connection(host, int(port))
        writer.close()
    except OSError:
        return False
    admin = AIOKafkaAdminClient(bootstrap_servers=address, request_timeout_ms=2000)
    try:
        await admin.start()
        cluster = await admin.describe_cluster()
    except (KafkaError, OSError, TimeoutError):
        return False
    finally:
        await admin.close()
    return cluster["cluster_id"] == cluster_id and bool(cluster["brokers"])


def _require_free(port: int) -> None:
    """Look first: Kafka itself takes 5 s to find out."""
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        try:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does
                probe.bind((HOST, port))
        except OSError as error:
            raise ConfigurationError(f"port {port} can't be used for Kafka ({error.strerror}); {_OTHER_PORT}") from None
    else:
        raise ConfigurationError(f"port {port} is in use by another program: stop it, or {_OTHER_PORT}")


_OTHER_PORT = "choose another port for Kafka"


def _free_ports(port: int | None) -> tuple[int, int]:
    """The broker's port (the given one, else a free one) and a free one for its controller."""
    with socket.socket() as first, socket.socket() as second:
        first.bind((HOST, 0))
        second.bind((HOST, 0))
        return port or first.getsockname()[1], second.getsockname()[1]
