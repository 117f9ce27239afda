"""`memstream related`: what a memory is linked to."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from schemas import RecalledMemory
from schemas.recall import Link
from streams.cli.common import err, out, run, settings_for_client
from streams.cli.recall import AsJson, Namespace, User, plain
from streams.client import MemoryClient

# How the other memory stands to the one that was asked about.
IN_WORDS: dict[Link, str] = {
    "supersedes": "replaced by it",
    "superseded_by": "replaced it",
    "duplicate_of": "said first what it repeats",
    "repeated_by": "repeats it",
    "ambiguous": "contradicts it, undecided",
    "correction": "correction",
    "digest_of": "part of this digest",
    "in_digest": "digest with it",
    "same_event": "said in the same event",
    "shared_entity": "names",
}


def register(app: typer.Typer) -> None:
    app.command("related")(related)


def related(
    memory_id: Annotated[str, typer.Argument(help="Id of a memory (see `recall --json`).")],
    namespace: Namespace,
    user: User,
    as_json: AsJson = False,
) -> None:
    """What is linked to a memory: what it replaced or repeats, what is undecided, the same event, the same names."""

    async def ask() -> list[RecalledMemory]:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as memory:
            return await memory.related(memory_id, user_id=user)

    found = run(ask())
    if not found:
        err.print("no memory of this user has that id")
        raise typer.Exit(1)
    if as_json:
        for one in found:
            typer.echo(one.model_dump_json(exclude_none=True))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("link", "said", "status", "memory", "id"):
        table.add_column(column, overflow="fold")
    for one in found:
        table.add_row(
            plain(in_words(one)),
            one.memory.occurred_at.strftime("%Y-%m-%d %H:%M"),
            one.memory.status.value,
            plain(one.memory.content),
            plain(one.memory.memory_id),
        )
    out.print(table)


def in_words(one: RecalledMemory) -> str:
    if not one.links:
        return "(this memory)"
    return "; ".join(f"names {one.why}" if link == "shared_entity" else IN_WORDS[link] for link in one.links)
