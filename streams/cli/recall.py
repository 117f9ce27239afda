"""`memstream recall` and `memstream history`: memories as a table, or JSON."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from schemas import MemoryRecord, RecallReply
from streams.cli.common import err, out, run, settings_for_client
from streams.client import MemoryClient

Namespace = Annotated[str, typer.Option(help="Namespace of the user.")]
User = Annotated[str, typer.Option(help="User id.")]
AsJson = Annotated[bool, typer.Option("--json", help="The reply as JSON.")]


def register(app: typer.Typer) -> None:
    app.command("recall")(recall)
    app.command("history")(history)


def recall(
    question: Annotated[str, typer.Argument(help="A question, in any language.")],
    namespace: Namespace,
    user: User,
    top_k: Annotated[int, typer.Option(min=1, max=50, help="At most so many memories.")] = 5,
    explain: Annotated[bool, typer.Option("--explain", help="Each part of each score, and why.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print the block for a prompt instead.")] = False,
    superseded: Annotated[bool, typer.Option("--superseded", help="Also what was replaced.")] = False,
    deadline: Annotated[float, typer.Option(help="Seconds to wait for the reply.")] = 5.0,
    as_json: AsJson = False,
) -> None:
    """Ask what is remembered. An empty answer means that nothing relevant was said."""

    async def ask() -> RecallReply:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as memory:
            return await memory.recall(
                question,
                user_id=user,
                top_k=top_k,
                explain=explain,
                include_superseded=superseded,
                format="prompt" if prompt else "memories",
                deadline=deadline,
            )

    reply = run(ask())
    if as_json:
        typer.echo(reply.model_dump_json(exclude_none=True))
        return
    if reply.degraded:
        err.print(f"note: answered without {', '.join(reply.degraded)}")
    if prompt:
        typer.echo(reply.prompt or "")
    elif reply.memories:
        out.print(memory_table(reply, explain=explain))
    else:
        out.print("nothing relevant is remembered")


def memory_table(reply: RecallReply, *, explain: bool = False) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("score", "relevance", "said", "type", "memory"):
        table.add_column(column, overflow="fold")
    if explain:
        table.add_column("why", overflow="fold")
    for found in reply.memories:
        memory = found.memory
        row = [
            f"{found.score:.2f}",
            f"{found.relevance:.2f}",
            memory.occurred_at.strftime("%Y-%m-%d"),
            memory.memory_type.value,
            plain(memory.content),
        ]
        if explain:
            parts = ", ".join(f"{name} {value:.2f}" for name, value in found.parts.items())
            row.append(plain("; ".join(p for p in (found.why, parts) if p)))
        table.add_row(*row)
    return table


def history(
    memory_id: Annotated[str, typer.Argument(help="Id of a memory (see `recall --json`).")],
    namespace: Namespace,
    user: User,
    as_json: AsJson = False,
) -> None:
    """The chain around a memory: what it replaced, what replaced it, and where each was said."""

    async def ask() -> list[MemoryRecord]:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as memory:
            return await memory.history(memory_id, user_id=user)

    records = run(ask())
    if as_json:
        for record in records:
            typer.echo(record.model_dump_json(exclude_none=True))
        return
    if not records:
        err.print("no memory of this user has that id")
        raise typer.Exit(1)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("said", "status", "memory", "why", "id", "source"):
        table.add_column(column, overflow="fold")
    for record in records:
        table.add_row(
            record.occurred_at.strftime("%Y-%m-%d %H:%M"),
            record.status.value,
            plain(record.content),
            plain(record.reason),
            record.memory_id,
            plain(", ".join(source.event_id for source in record.sources)),
        )
    out.print(table)


def plain(text: str) -> str:
    """Stored text can't style or move the terminal."""
    from rich.markup import escape

    return escape("".join(c if c.isprintable() or c == " " else " " for c in text))
