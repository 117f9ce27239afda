"""`memstream import` of a history of chats with other programs."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from schemas import ConversationEvent
from streams.cli.common import err, fail, out, printable, progress, run, settings_for_client, tenant_of
from streams.client import MemoryClient
from streams.imports.again import persistent
from streams.imports.conversations import Unusable
from streams.imports.formats import Format, read
from streams.imports.pace import LEAST_AHEAD, MOST_AHEAD, Pace
from streams.imports.preview import ImportPreview, Look
from streams.imports.spool import on_disk
from streams.imports.task import Batch, ImportStatus, batch
from streams.imports.tasks import Task, Tasks

if TYPE_CHECKING:
    from rich.progress import Progress

# How soon a cancel is seen.
POLL_SECONDS = 0.5
# Between two looks at outcomes where a worker has enough to do: the broker is asked for hundreds, not for each few.
REST_SECONDS = 0.2
ENOUGH_AHEAD = MOST_AHEAD // 4
# Between two lines of how far it is, where there is no bar.
TELL_SECONDS = 2.0


class History(NamedTuple):
    """What is imported, and how it is read. `after_forget`: also what the user had forgotten since."""

    lines: Iterable[str]
    form: Format = "auto"
    timezone: str = ""
    after_forget: bool = False


def import_chats(
    history: History, namespace: str | None, user: str | None, *, preview: bool, watch: bool, data_dir: Path | None
) -> None:
    try:
        zone = ZoneInfo(history.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise typer.BadParameter("--timezone: an IANA time zone such as Asia/Shanghai") from None
    if not preview and not (namespace and user):
        raise typer.BadParameter("--namespace and --user say whose memories these are")
    read_as, found = read(history.lines, history.form, zone)
    look = Look(read_as)
    # A preview for nobody in particular, to know what would be refused.
    tenant = tenant_of(namespace or "preview", user or "preview")
    try:
        made = batch(
            tenant,
            found,
            timezone=history.timezone or None,
            after_forget=history.after_forget,
            spool=on_disk(),
            accepted=look.take,
        )
    except Unusable as error:
        fail(str(error))
    for one in made.problems:
        err.print(f"{one.where}: {one.reason}", markup=False, soft_wrap=True)
    if preview:
        _show_preview(look.told(made))
    elif not made.event_ids:
        fail("nothing to import")
    else:
        run(_import(made, watch, data_dir))
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


async def _import(made: Batch, watch: bool, data_dir: Path | None) -> None:
    """Once begun it stays for as long as the user lets it: after an outage it goes on where it was."""
    begun = False

    async def attempt(bar: Progress) -> ImportStatus:
        nonlocal begun
        settings = settings_for_client(data_dir=data_dir)
        async with MemoryClient(settings=settings) as client:
            tasks = Tasks(settings, client)
            # Only the user takes up a task that was cancelled meanwhile.
            found = await tasks.find(made.task_id, [made.tenant.namespace]) if begun else await tasks.begin(made)
            if found is None:
                fail("the task is gone: what is known of its user was forgotten")
            async with found as task:
                if not begun:
                    err.print(task.job.job_id)
                begun = True
                await _send(client, task, made, bar, watch=watch)
                return await task.status()

    def say(what: str) -> None:
        err.print(what, markup=False, soft_wrap=True)

    with progress() as bar:
        status: ImportStatus = await persistent(say, lambda: begun)(attempt, bar)
    out.print(line(status), soft_wrap=True)


async def _send(client: MemoryClient, task: Task, made: Batch, bar: Progress, *, watch: bool) -> None:
    """All that has no outcome yet; with `watch` it ends when there is none such left. It ends when cancelled.

    `bar` counts what has its outcome, or without `watch` what was sent; where there is no terminal, lines tell.
    """
    await task.status()
    teller, pace = Teller(task, aloud=bar.disable), Pace(time.monotonic())
    missing = task.open()
    known = len(made.event_ids) - len(missing)
    for earlier in bar.task_ids:
        bar.remove_task(earlier)
    doing = bar.add_task("outcomes" if watch else "sent", total=len(made.event_ids), completed=known)
    events = made.events.events(missing)
    ahead: set[str] = set()
    sent = 0
    part: list[ConversationEvent] = []
    while not await teller.cancelled():
        # In few parts where it goes well, as whoever publishes all at once.
        size = max(LEAST_AHEAD, pace.ahead // 4)
        part += islice(events, max(0, size - len(part)))
        if not part:
            await task.all_sent()
            if not (watch and ahead):
                break
        elif min(len(part), size) <= pace.ahead - len(ahead):
            now, part = part[:size], part[size:]
            async for event_id in client.publish_many(event for event in now if event.event_id in missing):
                ahead.add(event_id)
                sent += 1
            if bar.disable:
                err.print(f"sent {sent}")
            elif not watch:
                bar.update(doing, completed=known + sent)
            continue
        if len(ahead) > ENOUGH_AHEAD:
            await asyncio.sleep(REST_SECONDS)
        ended = await task.arriving(POLL_SECONDS)
        # What is not sent yet may have its outcome as well: from before an interruption.
        missing -= ended
        ahead -= ended
        pace.ended(time.monotonic(), len(ended))
        if watch:
            bar.update(doing, completed=len(made.event_ids) - len(missing))


class Teller:
    """Asks whether a task is cancelled, and says (`aloud`) how far it is; at most once in a while.

    That nothing comes any more it says in any case.
    """

    def __init__(self, task: Task, *, aloud: bool) -> None:
        self._task, self._aloud = task, aloud
        self._ask_at = self._tell_at = time.monotonic()
        self._queued = len(task.open())
        self._quiet_since: datetime | None = None

    async def cancelled(self) -> bool:
        now = time.monotonic()
        if now < self._ask_at:
            return False
        self._ask_at = now + POLL_SECONDS
        if now >= self._tell_at:
            self._tell_at = now + TELL_SECONDS
            told = self._task.told()
            moved, quiet = told.queued != self._queued, told.quiet_since not in (None, self._quiet_since)
            self._queued, self._quiet_since = told.queued, told.quiet_since
            if (self._aloud and moved) or quiet:
                err.print(line(told), soft_wrap=True)
        return await self._task.check_cancelled()


async def show(task_id: str, namespace: str | None, *, cancelling: bool, data_dir: Path | None) -> None:
    settings = settings_for_client(data_dir=data_dir)
    async with MemoryClient(settings=settings) as client:
        task = await Tasks(settings, client).find(task_id, [namespace] if namespace else None)
        if task is None:
            fail("there is no such task: `memstream import FILE` prints the id of its own")
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
    if status.quiet_since:
        again = "give the same file again, and " if status.state == "incomplete" else ""
        since = status.quiet_since.isoformat(timespec="seconds")
        parts.append(f"nothing came of it since {since}: {again}see that a worker runs")
    return f"{status.state}: {status.total} conversations" + "".join(f", {part}" for part in parts)
