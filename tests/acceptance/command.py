"""The installed `memstream` command as a user types it: real processes, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

MEMSTREAM = Path(sys.executable).with_name("memstream")
# A machine that runs other tests beside this one is slow; whoever waits longer than this has found a hang.
PATIENCE_SECONDS = 120.0
# Where the model is not the point.
QUICK = {
    "MEMSTREAM_EMBEDDER": "constant",
    "MEMSTREAM_METRICS_PORT": "0",
    "MEMSTREAM_HTTP_PORT": "0",
    "MEMSTREAM_PARTITIONS": "2",
}


def clean_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The caller's, without settings of memstream that happen to be there, but with the cache of Kafka's jars."""
    kept = ("MEMSTREAM_CACHE", "MEMSTREAM_MAVEN_REPOSITORY")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("MEMSTREAM_") or k in kept}
    return {**inherited, "OMP_NUM_THREADS": "1", **settings}


def memstream(
    *arguments: str, folder: Path, settings: Mapping[str, str] | None = None, stdin: str | bytes = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in `folder`. Whatever happens, nobody sees a stack trace."""
    done = subprocess.run(
        [MEMSTREAM, *arguments],
        cwd=folder,
        env=clean_environment({**QUICK, **(settings or {})}),
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    result = subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in result.stdout + result.stderr, result.stderr
    return result


class Up:
    """`memstream up` in `folder`, its data in `folder/.memstream`; `said` is all that it printed."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None, arguments: Sequence[str] = ()) -> None:
        self.folder = folder
        self.settings = {**QUICK, **(settings or {})}
        self._arguments = ("--kafka-port", "0", *arguments)
        self._log = folder / "up.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Up:
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Leaves nothing running, the broker included."""
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGTERM)
            self.ended()
        from streams.adapters.kafka_broker import describe_left_over, stop_left_over

        if left := describe_left_over(self.folder / ".memstream" / "kafka"):
            stop_left_over(left)

    def start(self) -> Up:
        """Returns when it says that it is ready."""
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [MEMSTREAM, "up", *self._arguments],
                cwd=self.folder,
                env=clean_environment(self.settings),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C of whoever runs the tests is theirs to handle.
                start_new_session=True,
            )
        self.wait_for("ready: Kafka on ")
        return self

    @property
    def kafka_port(self) -> str:
        return self.said.split("ready: Kafka on ")[1].split(":")[1].split(".")[0].split(",")[0]

    @property
    def said(self) -> str:
        return self._log.read_text(encoding="utf-8")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def wait_for(self, text: str, *, after: str = "") -> None:
        """`after`: only what is said later than this counts; the log may say other things in between."""
        assert self._process is not None
        end = time.monotonic() + PATIENCE_SECONDS
        while text not in self.said.partition(after)[2] if after else text not in self.said:
            assert self._process.poll() is None, f"ended with {self._process.returncode}: {self.said}"
            assert time.monotonic() < end, f"did not say {text!r}: {self.said}"
            time.sleep(0.05)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def ended(self) -> int:
        """Exit code. A stop that takes more than ten seconds ends with 70 by the process's own clock."""
        assert self._process is not None
        code = self._process.wait(PATIENCE_SECONDS)
        assert "Traceback" not in self.said, self.said
        return code

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """What a guide tells to type, beside it; `memstream` is on the path."""
        environment = clean_environment(self.settings)
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**environment, "PATH": f"{MEMSTREAM.parent}:{environment['PATH']}"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def memstream(self, *arguments: str, stdin: str | bytes = "", **settings: str) -> subprocess.CompletedProcess[str]:
        return memstream(*arguments, folder=self.folder, settings={**self.settings, **settings}, stdin=stdin)
