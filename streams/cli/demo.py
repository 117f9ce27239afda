"""`memstream demo`: everything at once, on this machine, in half a minute."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo() -> None:
    """See it work: start everything, talk for two days, ask, stop. Needs no Docker and leaves nothing running."""
    from streams.cli.tour import tour  # here, so that no other command waits for what only the demo imports

    tour()
