"""`memstream`: one file a command; what goes wrong is one line on stderr and an exit code, never a stack trace."""

from __future__ import annotations

import os
import sys

import typer

from streams.cli import (
    calibrate,
    dead_letters,
    decay,
    demo,
    doctor,
    explain,
    extract,
    forget,
    imports,
    keys,
    mcp,
    optimize,
    publish,
    re_extract,
    rebuild,
    recall,
    redact,
    related,
    restore,
    topics,
    transfer,
    worker,
)
from streams.cli import eval as evaluation
from streams.cli.common import fail
from streams.errors import MemstreamError

app = typer.Typer(
    name="memstream",
    help="Long-term memory for LLM agents, as a stream processor on Kafka.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
worker.register(app)
publish.register(app)
recall.register(app)
explain.register(app)
related.register(app)
forget.register(app)
restore.register(app)
decay.register(app)
re_extract.register(app)
rebuild.register(app)
optimize.register(app)
transfer.register(app)
imports.register(app)
dead_letters.register(app)
topics.register(app)
keys.register(app)
mcp.register(app)
redact.register(app)
extract.register(app)
evaluation.register(app)
calibrate.register(app)
doctor.register(app)
demo.register(app)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"memstream {installed('memstream')}")
        raise typer.Exit


def main() -> None:
    """Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        app()
    except MemstreamError as error:
        fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader (head, less) has gone; that is no error of ours.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        # Type and place only: the message, and the lines of a trace, may quote a conversation.
        if os.environ.get("MEMSTREAM_LOG_LEVEL") == "DEBUG":
            raise
        from streams.runner import describe

        fail(f"a bug: {describe(error)}. With MEMSTREAM_LOG_LEVEL=DEBUG it shows its trace; please report it")
