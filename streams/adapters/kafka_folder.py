"""The data folder of the embedded broker: who owns it, which broker runs on it, what that broker said last.

Two locks (`flock`, freed by the kernel however a process ends):

- `owner`: held by the process that called `EmbeddedKafka.start`, as long as that process lives;
- `lock`: its descriptor is handed to Java, so it is held exactly as long as the broker runs.

`owner` free and `lock` held therefore means: the broker's parent was killed, the broker is left over.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from streams.errors import ConfigurationError

DATA_MARK = "-Dmemstream.data="  # on Java's command line, so that a pid can be checked before it is signalled
LEAST_FREE_BYTES = 100 * 1024 * 1024  # a broker that starts on less dies at its first full segment
LOG_KEPT_BYTES = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class State:
    """Written before the broker starts, for whoever finds it later. `settings` is a digest."""

    version: str
    port: int
    settings: str


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A broker that runs on a folder. `owner` is the pid of the process in charge, None when that one is gone."""

    data: Path
    pid: int | None
    owner: int | None
    state: State | None

    def __str__(self) -> str:
        version = f" {self.state.version}" if self.state else ""
        process = f"process {self.pid}" if self.pid else "process unknown"
        address = f", on 127.0.0.1:{self.state.port}" if self.state else ""
        return f"Apache Kafka{version} ({process}{address}) with its data in {self.data}"


class Flock:
    """An exclusive `flock` on a file, which is created when missing. Raises OSError for a file that can't be."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.descriptor: int | None = None

    def acquire(self) -> bool:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        self.descriptor = descriptor
        return True

    def release(self) -> None:
        """Close this process's copy; the lock itself lives on while a child holds another."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def is_locked(path: Path) -> bool:
    """Whether some process holds it. Creates nothing. Raises `ConfigurationError` when it can't be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise unusable(path.parent, error) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@dataclass(frozen=True, slots=True)
class Folder:
    """Names of what is in a data folder; `data` is absolute."""

    data: Path

    @property
    def lock(self) -> Path:
        return self.data / "lock"

    @property
    def owner(self) -> Path:
        return self.data / "owner"

    @property
    def pid(self) -> Path:
        return self.data / "broker.pid"

    @property
    def state(self) -> Path:
        return self.data / "broker.json"

    @property
    def cluster_id(self) -> Path:
        return self.data / "cluster-id"

    @property
    def formatted(self) -> Path:
        return self.data / "formatted"

    @property
    def properties(self) -> Path:
        return self.data / "server.properties"

    @property
    def log(self) -> Path:
        return self.data / "kafka.log"

    def create(self, least_free_bytes: int) -> None:
        """Raises `ConfigurationError` when the folder can't be written or its disk is nearly full."""
        try:
            self.data.mkdir(parents=True, exist_ok=True)
            self.owner.touch()
            free = shutil.disk_usage(self.data).free
        except OSError as error:
            raise unusable(self.data, error) from None
        if free < least_free_bytes:
            raise ConfigurationError(
                f"the disk of {self.data} has {free // 2**20} MiB left and Kafka needs {least_free_bytes // 2**20}; "
                "free some, or choose another data folder"
            )

    def write_state(self, state: State) -> None:
        write_whole(self.state, json.dumps(asdict(state)))

    def read_state(self) -> State | None:
        try:
            return State(**json.loads(self.state.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def rotate_log(self) -> int:
        """Keep one older log; returns where the next start begins to write."""
        try:
            size = self.log.stat().st_size
        except FileNotFoundError:
            return 0
        if size > LOG_KEPT_BYTES:
            os.replace(self.log, self.log.with_suffix(".log.1"))
            return 0
        return size


def unusable(data: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"Kafka can't keep its data in {data}: {error.strerror}; choose another data folder")


def write_whole(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def describe_left_over(data_dir: Path | str) -> LeftOver | None:
    """The broker that runs on this folder now, or None. Changes nothing.

    It is left over only when its `owner` is None; else that process is in charge of it and the one to signal.
    """
    folder = Folder(Path(data_dir).absolute())
    if not is_locked(folder.lock):
        return None
    owner = read_pid(folder.owner) if is_locked(folder.owner) else None
    pid = read_pid(folder.pid)
    if pid is not None and not _runs_on(pid, folder.data):
        pid = None
    return LeftOver(folder.data, pid, owner, folder.read_state())


def stop_left_over(left: LeftOver, timeout: float = 8) -> None:
    """SIGTERM, after `timeout` seconds SIGKILL; returns when it is gone.

    Raises `ConfigurationError` when its process can't be found or signalled.
    """
    if left.pid is None:
        raise ConfigurationError(f"the process of {left} could not be found: stop it by hand")
    lock = Folder(left.data).lock
    for number, patience in ((signal.SIGTERM, timeout), (signal.SIGKILL, 10.0)):
        try:
            os.kill(left.pid, number)
        except ProcessLookupError:
            return
        except PermissionError:
            raise ConfigurationError(f"{left} belongs to another user: it can't be stopped from here") from None
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not is_locked(lock):
                return
            time.sleep(0.02)
    raise ConfigurationError(f"{left} could not be stopped")


def last_words(log: Path, offset: int = 0, lines: int = 6) -> str:
    """The last lines of the broker's log from `offset` that say something: no stack frames, no warnings of Java."""
    try:
        with log.open("rb") as file:
            file.seek(offset)
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    noise = ("\t", "WARNING:", "SLF4J", "Picked up ")
    return "\n".join([line for line in text.splitlines() if line.strip() and not line.startswith(noise)][-lines:])


def read_pid(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _runs_on(pid: int, data: Path) -> bool:
    """Whether this pid is a broker of that folder: pids are used again, and we may be about to signal it."""
    mark = os.fsencode(f"{DATA_MARK}{data}")
    try:
        return mark in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        pass
    if Path("/proc/self").exists():
        return False
    listing = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)
    return mark in listing.stdout
