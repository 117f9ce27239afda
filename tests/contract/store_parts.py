"""Memories to store, and the server to store them on."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from schemas import MemoryRecord, Tenant
from streams.ports import ModelProfile, SparseVector, StoredMemory, Vectors

PROFILE = ModelProfile(name="test-model", dimension=8)
ROOT = Path(__file__).parents[2]
START = datetime(2026, 1, 1, tzinfo=UTC)


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """In memory where the machine has it: making a store syncs dozens of files, which a busy disk turns into 10 s.

    It makes no difference to what is tested: `kill -9` leaves the page cache alone.
    """
    shared_memory = Path("/dev/shm")
    usable = shared_memory.is_dir() and os.access(shared_memory, os.W_OK)
    with TemporaryDirectory(prefix="store-", dir=shared_memory if usable else None) as folder:
        yield Path(folder)


def unit(seed: int) -> Vectors:
    """A random unit vector of 8 dimensions."""
    vector = np.random.default_rng(seed).normal(size=PROFILE.dimension).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def memory_id(tenant: Tenant, number: int) -> str:
    return f"mem_{hashlib.sha256(f'{tenant.key} {number}'.encode()).hexdigest()[:32]}"


def memory(
    tenant: Tenant,
    number: int,
    *,
    vector: Vectors | None = None,
    sparse: SparseVector | None = None,
    **fields: Any,
) -> StoredMemory:
    """An episode with everything set that the defaults allow, changed by `fields`."""
    values: dict[str, Any] = {
        "memory_id": memory_id(tenant, number),
        "namespace": tenant.namespace,
        "user_id": tenant.user_id,
        "session_id": "s",
        "sequence": number,
        "layer": "episode",
        "content": f"memory {number} 记忆",
        "memory_type": "episode",
        "occurred_at": START,
        "created_at": START,
        "last_access_time": START,
        "sources": [{"event_id": f"e{number:05}"}],
    } | fields
    words = SparseVector((1, number + 2), (1.0, 2.0)) if sparse is None else sparse
    return StoredMemory(MemoryRecord(**values), unit(number) if vector is None else vector, words)


class ServerProcess:
    """`tests.store_server` on a free port of this machine, which it keeps over restarts."""

    def __init__(self, data: Path, *, api_key: str | None = None) -> None:
        self._data = data
        self._api_key = api_key
        self._process: subprocess.Popen[str] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns when it answers."""
        command = [sys.executable, "-m", "tests.store_server", "--port", str(self.port), "--data", str(self._data)]
        if self._api_key is not None:
            command += ["--api-key", self._api_key]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line == f"ready {self.port}\n", f"the server did not start: {line!r}"

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None
