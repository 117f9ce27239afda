"""`memstream import-chats`: the history of chats with other programs."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from pydantic import ValidationError

from schemas import Tenant
from streams.batches import batched
from streams.cli.common import err, fail, out, run, settings_for_client
from streams.cli.source import read_bytes
from streams.client import MemoryClient
from streams.imports.conversations import Unusable, decoded
from streams.imports.formats import Format, parse
from streams.imports.preview import ImportPreview, preview
from streams.imports.task import Batch, ImportStatus, batch
from streams.imports.tasks import Task, Tasks

BATCH = 50
# Sent and without an outcome: so a history does not queue up before what is said now, and there is something to cancel.
MOST_AHEAD = 100
POLL_SECONDS = 0.5


def register(app: typer.Typer) -> None:
    app.command("import-chats")(import_chats)


def import_chats(
    file: Annotated[str | None, typer.Argument(help="A history; - for standard input.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Whose memories.")] = None,
    user: Annotated[str | None, typer.Option(help="Whose memories.")] = None,
    form: Annotated[Format, typer.Option("--format", help="What the file is.")] = "auto",
    timezone: Annotated[str, typer.Option(help="Of times that name no offset (else UTC), and of relative dates.")] = "",
    preview_only: Annotated[bool, typer.Option("--preview", help="Show what would be sent, and send nothing.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay until every conversation has its outcome.")] = False,
    status: Annotated[str, typer.Option(metavar="TASK", help="Show how far a task is.")] = "",
    cancel: Annotated[str, typer.Option(metavar="TASK", help="Send nothing more of a task.")] = "",
) -> None:
    """Remember a history: JSON Lines with time and text, ChatGPT's conversations.json, messages copied out of a
    messenger, LangChain's messages. Given again after an interruption it goes on; the same file twice adds nothing."""
    if sum((file is not None, bool(status), bool(cancel))) != 1:
        raise typer.BadParameter("give one of FILE, --status TASK, --cancel TASK")
    if file is None:
        run(_show(status or cancel, namespace, cancelling=bool(cancel)))
        return
    try:
        zone = ZoneInfo(timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise typer.BadParameter("--timezone: an IANA time zone such as Asia/Shanghai") from None
    if not preview_only and not (namespace and user):
        raise typer.BadParameter("--namespace and --user say whose memories these are")
    parsed = parse(_read(file), form, zone)
    try:
        # A preview for nobody in particular, to know what would be refused.
        tenant = Tenant(namespace=namespace or "preview", user_id=user or "preview")
        made = batch(tenant, parsed.conversations, unread=len(parsed.problems), timezone=timezone or None)
    except ValidationError as error:
        fail(f"--{'user' if error.errors()[0]['loc'] == ('user_id',) else 'namespace'}: must name one")
    except Unusable as error:
        fail(str(error))
    problems = [*parsed.problems, *made.problems]
    for where, reason in problems:
        err.print(f"{where}: {reason}", markup=False, soft_wrap=True)
    if preview_only:
        _show_preview(preview(parsed, made))
    elif not made.events:
        fail("nothing to import")
    else:
        run(_import(made, watch))
    if problems:
        sys.exit(1)


def _read(file: str) -> str:
    try:
        return decoded(read_bytes(file))
    except Unusable as error:
        fail(f"{file}: {error}")


def _show_preview(told: ImportPreview) -> None:
    def say(line: str) -> None:
        out.print(line, markup=False, soft_wrap=True)

    say(f"format {told.format}: {told.conversations} conversations, {told.refused} problems")
    if told.since and told.until:
        say(f"from {told.since.isoformat()} to {told.until.isoformat()}")
    if told.without_time:
        say(f"{told.without_time} without a time: they count as said now")
    for voice in told.voices:
        say(f"{voice.speaker or voice.role} ({voice.role}): {voice.messages} messages")
    for one in told.shown:
        time = one.time.isoformat() if one.time else "no time"
        say(f"{one.where}: {time}, {one.messages} messages")
        for line in one.first:
            say(f"    {line.speaker or line.role}: {line.text}")
    if told.conversations > len(told.shown):
        say(f"... and {told.conversations - len(told.shown)} more")


async def _import(made: Batch, watch: bool) -> None:
    settings = settings_for_client()
    async with MemoryClient(settings=settings) as client:
        tasks = Tasks(settings, client)
        task = await tasks.begin(made)
        err.print(task.job.job_id)
        told = await _send(client, tasks, task, made)
        while watch and told.state == "running":
            await asyncio.sleep(POLL_SECONDS)
            await tasks.cancelled(task)
            told = await _tell(task, told)
    out.print(line(told), soft_wrap=True)


async def _send(client: MemoryClient, tasks: Tasks, task: Task, made: Batch) -> ImportStatus:
    told = await task.status()
    sent: set[str] = set()
    for part in batched(task.open(made.events), BATCH):
        while task.without_outcome(sent) >= MOST_AHEAD:
            await asyncio.sleep(POLL_SECONDS)
            if await tasks.cancelled(task):
                return await task.status()
            told = await _tell(task, told)
        if await tasks.cancelled(task):
            return await task.status()
        async for event_id in client.publish_many(part):
            sent.add(event_id)
        err.print(f"sent {len(sent)}")
    return await task.status()


async def _tell(task: Task, before: ImportStatus) -> ImportStatus:
    """Says how far it is when that has changed."""
    now = await task.status()
    if now.queued != before.queued:
        err.print(line(now), soft_wrap=True)
    return now


async def _show(task_id: str, namespace: str | None, *, cancelling: bool) -> None:
    settings = settings_for_client()
    async with MemoryClient(settings=settings) as client:
        tasks = Tasks(settings, client)
        task = await tasks.find(task_id, [namespace] if namespace else None)
        if task is None:
            fail("there is no such task: `memstream import-chats FILE` prints the id of its own")
        if cancelling:
            await tasks.cancel(task)
        out.print(line(await task.status()), soft_wrap=True)


def line(status: ImportStatus) -> str:
    counts = ((name, getattr(status, name)) for name in ("stored", "duplicate", "skipped", "failed", "queued"))
    parts = [f"{count} {name}" for name, count in counts if count]
    if status.reasons:
        parts.append("because " + " ".join(f"{why}={count}" for why, count in status.reasons.items()))
    if status.per_second:
        parts.append(f"{status.per_second:g} a second")
    if status.queued and status.remaining_seconds is not None:
        parts.append(f"{status.remaining_seconds:g} s left")
    return f"{status.state}: {status.total} conversations" + "".join(f", {part}" for part in parts)
