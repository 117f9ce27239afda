"""A command on a real pseudo-terminal, as a person runs it."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping, Sequence
from typing import Self

from tests.harness import eventually

ROWS, COLUMNS = 24, 100
HIDE_CURSOR, SHOW_CURSOR, ERASE_LINE = "\x1b[?25l", "\x1b[?25h", "\x1b[2K"


def _as_a_shell_would() -> None:
    """In the child: the terminal is its own, and Ctrl-C reaches it, even where whoever runs the tests ignores it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """`said` is all that it was sent, escape sequences too. A command that still runs at the end is killed."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            command,
            env={**os.environ, "TERM": "xterm", **environment},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            # The terminal is its own, so that what is typed reaches it as signals.
            start_new_session=True,
            preexec_fn=_as_a_shell_would,
        )
        os.close(slave)
        self._read = bytearray()
        self._reader = threading.Thread(target=self._keep, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(10)
        self._reader.join(10)
        os.close(self._master)

    @property
    def said(self) -> str:
        return self._read.decode("utf-8", "replace")

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    async def shows(self, *texts: str) -> None:
        async def so() -> bool:
            return all(text in self.said for text in texts)

        await eventually(so, what=f"{texts} on the terminal: {self.said[-500:]!r}")

    async def ended(self) -> int:
        """Its exit code; then all that it said is there."""

        async def so() -> bool:
            return self._process.poll() is not None

        await eventually(so, what="the command to end")
        self._reader.join(10)
        return int(self._process.returncode)

    def _keep(self) -> None:
        while True:
            try:
                piece = os.read(self._master, 65536)
            except OSError:  # the last who had it open is gone
                return
            if not piece:
                return
            self._read += piece
