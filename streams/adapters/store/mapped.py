"""Pages of the files that this process has mapped."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

_DONT_NEED = 4  # MADV_DONTNEED of <sys/mman.h>


def give_back(folder: Path) -> None:
    """Take the files below `folder` out of this process's resident memory; what is read again comes back by itself.

    Nothing is lost: of a shared mapping the system keeps every page, what was written to it included. Where the system
    is not Linux nothing happens.
    """
    if sys.platform != "linux":
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    below = f"{folder.resolve()}/"
    for line in Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines():
        addresses, permissions, *_, path = line.split(maxsplit=5)
        if path.startswith(below) and permissions.endswith("s"):
            start, end = (int(address, 16) for address in addresses.split("-"))
            madvise(start, end - start, _DONT_NEED)
