"""`memstream import-chats`: the history of chats with other programs."""

from __future__ import annotations

import sys
import time
from itertools import islice
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from pydantic import ValidationError

from schemas import Tenant
from streams.cli.common import err, fail, out, printable, run, settings_for_client
from streams.cli.source import lines_of
from streams.client import MemoryClient
from streams.imports.conversations import Unusable
from streams.imports.formats import Format, read
from streams.imports.pace import Pace
from streams.imports.preview import ImportPreview, Look
from streams.imports.spool import on_disk
from streams.imports.task import Batch, ImportStatus, batch
from streams.imports.tasks import Task, Tasks

BATCH = 100
# How soon a cancel is seen.
POLL_SECONDS = 0.5


def register(app: typer.Typer) -> None:
    app.command("import-chats")(import_chats)


def import_chats(
    file: Annotated[str | None, typer.Argument(help="A history; - for standard input.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Whose memories.")] = None,
    user: Annotated[str | None, typer.Option(help="Whose memories.")] = None,
    form: Annotated[Format, typer.Option("--format", help="What the file is.")] = "auto",
    timezone: Annotated[str, typer.Option(help="Of times that name no offset (else UTC), and of relative dates.")] = "",
    preview: Annotated[bool, typer.Option("--preview", help="Show what would be sent, and send nothing.")] = False,
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
    if not preview and not (namespace and user):
        raise typer.BadParameter("--namespace and --user say whose memories these are")
    read_as, found = read(lines_of(file), form, zone)
    look = Look(read_as)
    try:
        # A preview for nobody in particular, to know what would be refused.
        tenant = Tenant(namespace=namespace or "preview", user_id=user or "preview")
        made = batch(tenant, found, timezone=timezone or None, spool=on_disk(), accepted=look.take)
    except ValidationError as error:
        fail(f"--{'user' if error.errors()[0]['loc'] == ('user_id',) else 'namespace'}: must name one")
    except Unusable as error:
        fail(str(error))
    for one in made.problems:
        err.print(f"{one.where}: {one.reason}", markup=False, soft_wrap=True)
    if preview:
        _show_preview(look.told(made))
    elif not made.event_ids:
        fail("nothing to import")
    else:
        run(_import(made, watch))
    if made.problems:
        sys.exit(1)


def _show_preview(told: ImportPreview) -> None:
    def say(line: str) -> None:
        out.print(line, markup=False, soft_wrap=True)

    say(f"format {told.format}: {told.conversations} conversations, {told.refused} problems")
    if told.since and told.until:
        say(f"from {told.since.isoformat()} to {told.until.isoformat()}")
    if told.without_time:
        say(f"{told.without_time} without a time: they count as said now")
    for voice in told.voices:
        say(f"{printable(voice.speaker or voice.role)} ({voice.role}): {voice.messages} messages")
    for one in told.shown:
        time = one.time.isoformat() if one.time else "no time"
        say(f"{one.where}: {time}, {one.messages} messages")
        for line in one.first:
            say("    " + printable(f"{line.speaker or line.role}: {line.text}"))
    if told.conversations > len(told.shown):
        say(f"... and {told.conversations - len(told.shown)} more")


async def _import(made: Batch, watch: bool) -> None:
    settings = settings_for_client()
    async with MemoryClient(settings=settings) as client, await Tasks(settings, client).begin(made) as task:
        err.print(task.job.job_id)
        await _send(client, task, made, watch)
        out.print(line(await task.status()), soft_wrap=True)


async def _send(client: MemoryClient, task: Task, made: Batch, watch: bool) -> None:
    """All that has no outcome yet; with `watch` it ends when there is none such left. It ends when cancelled."""
    await task.status()
    teller, pace = Teller(task), Pace()
    missing = task.open()
    events = made.events.events(missing)
    ahead: set[str] = set()
    sent = 0
    part = list(islice(events, BATCH))
    while (part or (watch and ahead)) and not await teller.cancelled():
        if part and len(ahead) + len(part) <= pace.ahead:
            async for event_id in client.publish_many(event for event in part if event.event_id in missing):
                ahead.add(event_id)
                sent += 1
            err.print(f"sent {sent}")
            part = list(islice(events, BATCH))
            continue
        ended = await task.arriving(POLL_SECONDS)
        # What is not sent yet may have its outcome as well: from before an interruption.
        missing -= ended
        ahead -= ended
        pace.ended(time.monotonic(), len(ended))


class Teller:
    """Asks whether a task is cancelled, and says how far it is; at most once in a while."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._next = time.monotonic()
        self._queued = task.told().queued

    async def cancelled(self) -> bool:
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + POLL_SECONDS
        told = self._task.told()
        if told.queued != self._queued:
            self._queued = told.queued
            err.print(line(told), soft_wrap=True)
        return await self._task.check_cancelled()


async def _show(task_id: str, namespace: str | None, *, cancelling: bool) -> None:
    settings = settings_for_client()
    async with MemoryClient(settings=settings) as client:
        task = await Tasks(settings, client).find(task_id, [namespace] if namespace else None)
        if task is None:
            fail("there is no such task: `memstream import-chats FILE` prints the id of its own")
        async with task:
            if cancelling:
                await task.cancel()
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
