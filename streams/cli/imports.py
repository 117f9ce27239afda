"""`memstream import`: what was said or remembered before, from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer

from streams.cli import import_chats, transfer
from streams.cli.common import run
from streams.cli.source import lines_of
from streams.imports.conversations import NotJSON, loads
from streams.imports.formats import Format


def register(app: typer.Typer) -> None:
    app.command("import")(import_)


def import_(
    file: Annotated[str | None, typer.Argument(help="A history, or an export; - for standard input.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Whose memories, of a history.")] = None,
    user: Annotated[str | None, typer.Option(help="Whose memories, of a history.")] = None,
    form: Annotated[
        Literal[Format, "memories"],
        typer.Option("--format", help="What the file is; memories is what `memstream export` wrote."),
    ] = "auto",
    timezone: Annotated[str, typer.Option(help="Of times that name no offset (else UTC), and of relative dates.")] = "",
    preview: Annotated[bool, typer.Option("--preview", help="Show what would be sent, and send nothing.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay until every conversation has its outcome.")] = False,
    status: Annotated[str, typer.Option(metavar="TASK", help="Show how far a task is.")] = "",
    cancel: Annotated[str, typer.Option(metavar="TASK", help="Send nothing more of a task.")] = "",
    after_forget: Annotated[
        bool, typer.Option("--after-forget", help="Also what the user had forgotten, but for ids that were named.")
    ] = False,
    data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept (default: .memstream).")] = None,
) -> None:
    """Remember a history of chats: JSON Lines with time and text, ChatGPT's conversations.json, messages copied out of
    a messenger, LangChain's messages. Given again after an interruption it goes on; the same file twice adds nothing.

    What `memstream export` wrote is taken back as it was; those memories that are there already stay as they are.
    `memstream up`, or every worker with the role `memory`, must be stopped for that; MEMSTREAM_EMBEDDER may be another.
    """
    if sum((file is not None, bool(status), bool(cancel))) != 1:
        raise typer.BadParameter("give one of FILE, --status TASK, --cancel TASK")
    if file is None:
        run(import_chats.show(status or cancel, namespace, cancelling=bool(cancel), data_dir=data_dir))
        return
    lines: Iterable[str] = lines_of(file)
    if form == "auto":
        form, lines = told_apart(lines_of(file))
    if form == "memories":
        if namespace or user or timezone or preview or watch:
            raise typer.BadParameter("memories go back to whom they are of, as they were: give FILE alone")
        transfer.take_back(lines, after_forget=after_forget, data_dir=data_dir)
        return
    history = import_chats.History(lines, form, timezone, after_forget)
    import_chats.import_chats(history, namespace, user, preview=preview, watch=watch, data_dir=data_dir)


def told_apart(lines: Iterator[str]) -> tuple[Literal["auto", "memories"], Iterable[str]]:
    """Whether the first line that says anything is a memory; and all of the lines."""
    seen: list[str] = []
    for line in lines:
        seen.append(line)
        if line.strip():
            break
    try:
        first = loads(seen[-1]) if seen else None
    except NotJSON:
        first = None
    return "memories" if isinstance(first, dict) and "memory_id" in first else "auto", chain(seen, lines)
