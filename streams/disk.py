"""Gauges of the disk that a worker writes to, read when Prometheus asks."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from streams.metrics import DATA_FREE_BYTES, STORE_BYTES
from streams.settings import Settings


def watch_disk(settings: Settings) -> None:
    """A Qdrant server has a disk of its own, and metrics for it: then only the free space is ours to tell."""
    folder = Path(settings.data_dir)
    DATA_FREE_BYTES.set_function(lambda: free_bytes(folder))
    if not settings.qdrant_url:
        STORE_BYTES.labels("embedded").set_function(lambda: folder_bytes(folder / "store"))


def free_bytes(folder: Path) -> int:
    """On the disk where `folder` is, or will be."""
    return shutil.disk_usage(next(p for p in (folder, *folder.absolute().parents) if p.exists())).free


def folder_bytes(folder: Path) -> int:
    """Of all files that are there; 0 when there are none. Blocks that were never written count as nothing."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(where, name), follow_symlinks=False).st_blocks * 512
            except OSError:  # the store merged it away meanwhile
                continue
    return total
