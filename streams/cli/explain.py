"""`memstream explain`: what one memory scores for a question, and what keeps it out of the answer."""

from __future__ import annotations

from typing import Annotated

import typer

from schemas import RecallReply
from streams.cli.common import err, out, run, settings_for_client
from streams.cli.recall import AsJson, Namespace, User, explained, left_out, plain
from streams.client import MemoryClient


def register(app: typer.Typer) -> None:
    app.command("explain")(explain)


def explain(
    memory_id: Annotated[str, typer.Argument(help="Id of a memory (see `recall --json`, `export`).")],
    question: Annotated[str, typer.Argument(help="The question that it should, or should not, answer.")],
    namespace: Namespace,
    user: User,
    top_k: Annotated[int, typer.Option(min=1, max=50, help="Of an answer with so many memories.")] = 5,
    superseded: Annotated[bool, typer.Option("--superseded", help="Of an answer with what was replaced.")] = False,
    deadline: Annotated[float, typer.Option(help="Seconds to wait for the reply.")] = 5.0,
    as_json: AsJson = False,
) -> None:
    """What score this one memory gets for a question, and what keeps it out of the answer."""

    async def ask() -> RecallReply:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as memory:
            return await memory.explain(
                memory_id, question, user_id=user, top_k=top_k, include_superseded=superseded, deadline=deadline
            )

    reply = run(ask())
    if as_json:
        typer.echo(reply.model_dump_json(exclude_none=True))
    elif reply.memories:
        (found,) = reply.memories
        for line in explained(found, "-"):
            out.print(line, soft_wrap=True)
        if reply.rank is not None:
            out.print(f"  recalled   as number {reply.rank} of the answer")
        for reason in reply.kept_out:
            out.print(f"  kept out   {plain(reason)}", soft_wrap=True)
    if reply.degraded:
        err.print(left_out(reply.degraded), soft_wrap=True)
    if not reply.memories:
        err.print("no memory of this user has that id")
        raise typer.Exit(1)
