"""`memstream up` (Kafka and all roles on this machine) and `memstream worker` (roles against a cluster)."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from streams.cli.common import KAFKA_PORT, err, fail, kafka_folder
from streams.cli.keep_alive import KeepAlive
from streams.errors import ConfigurationError, MemstreamError
from streams.logs import set_up_logs
from streams.settings import ROLES, Role, Settings, load_settings

# From the first signal until the broker is gone too.
WHOLE_STOP_SECONDS = 9.8


def register(app: typer.Typer) -> None:
    app.command("up")(up)
    app.command("worker")(worker)


def up(
    data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept (default: .memstream).")] = None,
    kafka_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the embedded broker; 0 for any free one.")
    ] = KAFKA_PORT,
) -> None:
    """Run everything here: Apache Kafka, all roles, /metrics. Ctrl-C stops it; nothing is lost."""
    settings = load_settings(data_dir=data_dir)
    set_up_logs(settings)
    with one_owner(settings):
        code = run_up(settings, kafka_port)
    raise typer.Exit(code)


def run_up(settings: Settings, kafka_port: int) -> int:
    """Start the broker, run the worker, stop the broker. Returns the exit code."""
    from streams.adapters.kafka_broker import EmbeddedKafka
    from streams.app import run_worker

    require_free_ports(settings)
    if settings.kafka_bootstrap:
        err.print(f"broker: {settings.kafka_bootstrap} (MEMSTREAM_KAFKA_BOOTSTRAP)")
        return run_worker(settings, ROLES, on_ready=lambda: _say_ready(settings))
    broker = EmbeddedKafka(kafka_folder(settings), kafka_port or None)
    end_as_ctrl_c()
    try:
        asyncio.run(broker.start(progress=say))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    embedded = settings.model_copy(update={"kafka_bootstrap": broker.bootstrap})
    keep_alive = KeepAlive(broker, say, give_up=lambda: os.kill(os.getpid(), signal.SIGTERM))
    stop_by = math.inf

    def stopping() -> None:
        nonlocal stop_by
        stop_by = time.monotonic() + WHOLE_STOP_SECONDS
        keep_alive.stop()
        err.print("stopping: what is in flight is finished first ...")

    def leave_hard() -> None:
        if broker.pid is not None:
            os.kill(broker.pid, signal.SIGTERM)

    try:
        with keep_alive:
            code = run_worker(
                embedded,
                ROLES,
                on_ready=lambda: _say_ready(embedded),
                on_stopping=stopping,
                before_hard_exit=leave_hard,
            )
    finally:
        # At the end of its time Kafka is killed, which loses nothing and makes its next start some seconds longer.
        asyncio.run(broker.stop(timeout=min(4.0, max(0.5, stop_by - time.monotonic()))))
    return 1 if keep_alive.gave_up else code


def end_as_ctrl_c() -> None:
    """Until a worker has handlers of its own, SIGTERM ends things as Ctrl-C does: what was started is stopped."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


def say(line: str) -> None:
    err.print(line, markup=False, soft_wrap=True)


def require_free_ports(settings: Settings, roles: Sequence[Role] = ROLES) -> None:
    """Look before anything is started: the worker itself opens its ports last. Raises `ConfigurationError`."""
    wanted = [("metrics", settings.metrics_host, settings.metrics_port, "METRICS")]
    if "http" in roles:
        wanted.append(("the HTTP API", settings.http_host, settings.http_port, "HTTP"))
    for what, host, port, name in wanted:
        if not port:
            continue
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                raise ConfigurationError(
                    f"{what} can't be served on {host}:{port} ({error.strerror}): "
                    f"set MEMSTREAM_{name}_PORT to another port, or to 0 for none"
                ) from None


def worker(
    roles: Annotated[str, typer.Option(help=f"Comma-separated: {', '.join(ROLES)}; or all.", metavar="ROLES")] = "all",
) -> None:
    """Run roles against the cluster of MEMSTREAM_KAFKA_BOOTSTRAP, until SIGTERM or Ctrl-C."""
    from streams.app import run_worker

    settings = load_settings()
    set_up_logs(settings)
    chosen = parse_roles(roles)
    if not settings.kafka_bootstrap:
        fail("set MEMSTREAM_KAFKA_BOOTSTRAP=host:port; for a broker on this machine use `memstream up`")
    if not settings.qdrant_url and len({"memory", "recall"} & set(chosen)) == 1:
        err.print(
            "note: MEMSTREAM_QDRANT_URL is not set. The embedded store has one owner: `memory` and `recall` must run "
            "in one process, or share a Qdrant server.",
            soft_wrap=True,
        )
    require_free_ports(settings, chosen)
    raise typer.Exit(run_worker(settings, chosen, on_ready=lambda: _say_ready(settings, chosen)))


def parse_roles(text: str) -> tuple[Role, ...]:
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if names == ("all",):
        return ROLES
    unknown = [name for name in names if name not in ROLES]
    if unknown or not names:
        raise typer.BadParameter(f"{', '.join(unknown) or 'none given'}: choose from {', '.join(ROLES)} or all")
    return tuple(role for role in ROLES if role in names)


def _say_ready(settings: Settings, roles: Sequence[Role] = ROLES) -> None:
    http = f", HTTP on http://{settings.http_host}:{settings.http_port}" if settings.http_port else ""
    metrics = (
        f", metrics on http://{settings.metrics_host}:{settings.metrics_port}/metrics" if settings.metrics_port else ""
    )
    err.print(
        f"[bold green]ready[/]: Kafka on {settings.kafka_bootstrap}{http if 'http' in roles else ''}{metrics}. "
        "Ctrl-C stops.",
        soft_wrap=True,
    )


class one_owner:
    """Holds `<data_dir>/up.lock`; a second `up` on the same data says who has it. The kernel drops the lock of a
    killed process, so there is nothing to clean up."""

    def __init__(self, settings: Settings) -> None:
        self._path = Path(settings.data_dir) / "up.lock"

    def __enter__(self) -> None:
        import fcntl

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("a+")
        except OSError as error:
            raise ConfigurationError(
                f"{self._path.parent} can't be used ({error.strerror}): choose another folder with --data-dir"
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            pid = self._file.read().strip()
            raise MemstreamError(
                f"memstream is already running on {self._path.parent}"
                + (f" (process {pid})" if pid else "")
                + ": stop it first, or choose another folder with --data-dir"
            ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        self._file.close()
