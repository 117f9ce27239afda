"""`memstream forget`: erase what is remembered of a user, with a receipt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from schemas import ErasureReceipt, MemoryRecord
from streams.cli.common import err, fail, moment, out, run, settings_for_client
from streams.cli.recall import AsJson, Namespace, User, plain
from streams.client import MemoryClient


def register(app: typer.Typer) -> None:
    app.command("forget")(forget)


def forget(
    namespace: Namespace,
    user: User,
    everything: Annotated[bool, typer.Option("--everything", help="All that is remembered of the user.")] = False,
    since: Annotated[str | None, typer.Option(help="What was said from this time on (ISO 8601).")] = None,
    until: Annotated[str | None, typer.Option(help="What was said before this time (ISO 8601).")] = None,
    session: Annotated[str | None, typer.Option(help="A session.")] = None,
    event: Annotated[list[str] | None, typer.Option(help="An event id; may be repeated.")] = None,
    memory: Annotated[list[str] | None, typer.Option(help="A memory id; may be repeated.")] = None,
    query: Annotated[str | None, typer.Option(help="What a recall finds; it is shown before you are asked.")] = None,
    top_k: Annotated[int, typer.Option(min=1, max=50, help="At most so many memories for --query.")] = 20,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase for good: no later delivery, replay or import brings it back. Give exactly one of the scopes."""
    interval: dict[str, Any] = {
        name: moment(name, text) for name, text in (("since", since), ("until", until)) if text is not None
    }
    if not yes and not sys.stdin.isatty():
        fail("nobody to ask: standard input is no terminal. Nothing was forgotten; with --yes it is done unasked", 2)
    if query is not None and (everything or interval or session or event or memory):
        fail("--query stands alone: leave out the other scopes", 2)
    chosen = list(memory or ())
    if query is not None:
        found = run(_found(query, namespace, user, top_k))
        if not found:
            err.print("nothing is remembered that --query finds; nothing was forgotten")
            raise typer.Exit(1)
        err.print(_table(found))
        err.print(
            "With them go what repeats them, the messages that they were taken from, and digests that tell of them."
        )
        chosen = [record.memory_id for record in found]
    if not yes and not typer.confirm("This can't be undone. Forget?", err=True):
        err.print("nothing was forgotten")
        raise typer.Exit(1)

    async def ask() -> ErasureReceipt:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as client:
            return await client.forget(
                user_id=user,
                everything=everything,
                session_id=session,
                event_ids=tuple(event or ()),
                memory_ids=chosen,
                **interval,
            )

    receipt = run(ask())
    if as_json:
        typer.echo(receipt.model_dump_json(exclude_none=True))
        return
    removed = ", ".join(f"{count} {status}" for status, count in sorted(receipt.removed.items()))
    out.print(f"removed: {removed or 'nothing was there'}")
    if receipt.import_tasks:
        out.print(f"import tasks removed: {receipt.import_tasks}")
    for topic, last in sorted(receipt.kept_until.items()):
        out.print(f"text in {topic} is gone by {last:%Y-%m-%d %H:%M} UTC (retention)")
    if receipt.removed:
        out.print("files of the store may keep deleted bytes until `memstream rebuild` (docs/maintenance.md)")


async def _found(query: str, namespace: str, user: str, top_k: int) -> list[MemoryRecord]:
    async with MemoryClient(settings=settings_for_client(), namespace=namespace) as client:
        return await client.find_to_forget(query, user_id=user, top_k=top_k)


def _table(records: Sequence[MemoryRecord]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("said", "type", "status", "memory", "id"):
        table.add_column(column, overflow="fold")
    for record in records:
        said = f"{record.occurred_at:%Y-%m-%d}"
        table.add_row(said, record.memory_type, record.status, plain(record.content), plain(record.memory_id))
    return table
