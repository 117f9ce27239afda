"""What the commands share: settings with the embedded broker found, errors, log set-up."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from schemas import Tenant
from streams.client import BadRequest, DeadlineExceeded, MemoryClientError, Unavailable
from streams.errors import ConfigurationError, MemstreamError
from streams.logs import quiet_frameworks
from streams.settings import Settings, load_settings

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

# Of the embedded broker, unless another is given.
KAFKA_PORT = 9092
# What is piped is read by a program or kept in a file: it is not folded to the width of a terminal.
PIPE_COLUMNS = 400

out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS)
err = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_COLUMNS)


def fail(message: str, code: int = 1) -> NoReturn:
    err.print(f"[bold red]memstream:[/] {escape(message)}", markup=True, soft_wrap=True)
    sys.exit(code)


def tenant_of(namespace: str, user: str) -> Tenant:
    """Of the options --namespace and --user."""
    try:
        return Tenant(namespace=namespace, user_id=user)
    except ValidationError as error:
        fail(f"--{'user' if error.errors()[0]['loc'] == ('user_id',) else 'namespace'}: must name one")


def moment(name: str, text: str) -> datetime:
    """Of an option that holds an ISO 8601 time. In UTC, which a time without a zone is taken for."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        fail(f"--{name}: not a time such as 2026-03-01 or 2026-03-01T09:00:00+08:00", 2)


def printable(text: str) -> str:
    """Text that can't move or colour the terminal: every other character than letters, signs and spaces is a space."""
    return "".join(c if c.isprintable() else " " for c in text)


def progress() -> Progress:
    """A bar with what is done, how many there are and the time left; none where stderr is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
        # Else what goes to a file or another program would be printed above the bar instead.
        redirect_stdout=out.is_terminal,
    )


def kafka_folder(settings: Settings) -> Path:
    return Path(settings.data_dir) / "kafka"


def settings_for_client(**overrides: object) -> Settings:
    """Settings with a broker: the one that MEMSTREAM_KAFKA_BOOTSTRAP names, else the embedded one that runs here."""
    settings = load_settings(**overrides)
    if settings.kafka_bootstrap:
        return settings
    from streams.adapters.kafka_broker import describe_left_over

    running = describe_left_over(kafka_folder(settings))
    if running is None or running.state is None:
        raise ConfigurationError(
            f"no broker: nothing runs on {settings.data_dir}. Start one with `memstream up`, "
            "or set MEMSTREAM_KAFKA_BOOTSTRAP=host:port"
        )
    return load_settings(**{**overrides, "kafka_bootstrap": f"127.0.0.1:{running.state.port}"})


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine; a client's typed error becomes one line."""
    quiet_frameworks()
    try:
        return asyncio.run(work)
    except (BadRequest, DeadlineExceeded, Unavailable) as error:
        fail(str(error))
    except MemoryClientError as error:
        fail(str(error))
    except MemstreamError as error:
        fail(str(error))
