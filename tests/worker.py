"""A worker process for tests: `python -m tests.worker --roles all`, configured by MEMSTREAM_* like the product.

Prints `ready` when its partitions are assigned. `--crash STEP:N` kills the process (SIGKILL, by its own hand) when the
writer reaches STEP for the N-th time: the steps are `streams.agents.writer.STEPS`. `--crash STEP:N:stuck` prints
`stuck` instead, and holds the event loop up for good.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from streams.app import run_worker
from streams.cli.worker import parse_roles
from streams.errors import MemstreamError
from streams.logs import set_up_logs
from streams.settings import load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--roles", default="all")
    parser.add_argument("--crash", default="")
    options = parser.parse_args(arguments)
    settings = load_settings()
    set_up_logs(settings)
    step, count, how = (*options.crash.split(":"), "", "")[:3]
    left = int(count or 1)

    def at_step(name: str) -> None:
        nonlocal left
        if name == step:
            left -= 1
            if left == 0 and how == "stuck":
                print("stuck", flush=True)
                while True:
                    time.sleep(1)
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        return run_worker(
            settings, parse_roles(options.roles), at_step=at_step, on_ready=lambda: print("ready", flush=True)
        )
    except MemstreamError as error:
        print(f"failed: {error}", flush=True)
        return 1


def forked(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
    """The same in a process that was forked from one that had everything imported."""
    os.environ.update(environment)
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for number, here in enumerate((os.open(os.devnull, os.O_RDONLY), out, out)):
        os.dup2(here, number)
    sys.exit(main(arguments))


if __name__ == "__main__":
    sys.exit(main())
