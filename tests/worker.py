"""A worker process for tests: `python -m tests.worker --roles all`, configured by MEMSTREAM_* like the product.

Prints `ready` when its partitions are assigned. `--crash STEP:N` kills the process (SIGKILL, by its own hand) when the
writer reaches STEP for the N-th time: the steps are `streams.agents.writer.STEPS`.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys

from streams.app import run_worker
from streams.cli.worker import parse_roles
from streams.errors import MemstreamError
from streams.logs import set_up_logs
from streams.settings import load_settings


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--roles", default="all")
    parser.add_argument("--crash", default="")
    options = parser.parse_args()
    settings = load_settings()
    set_up_logs(settings)
    step, _, count = options.crash.partition(":")
    left = int(count or 1)

    def at_step(name: str) -> None:
        nonlocal left
        if name == step:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        return run_worker(
            settings, parse_roles(options.roles), at_step=at_step, on_ready=lambda: print("ready", flush=True)
        )
    except MemstreamError as error:
        print(f"failed: {error}", flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main())
