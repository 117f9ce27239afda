"""Imports of chat histories. The gateway keeps nothing of a task: it is in the topics `jobs` and `receipts`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Path, Response

from schemas import Tenant
from streams import metrics
from streams.client import MemoryClient, Unavailable
from streams.errors import ConfigurationError, DependencyDown
from streams.http import models
from streams.http.problems import Problem
from streams.http.routes import Deadline, Who
from streams.imports.conversations import Conversation
from streams.imports.jsonl import conversation
from streams.imports.task import ImportStatus, batch
from streams.imports.tasks import Task, Tasks
from streams.settings import Settings

POLL_SECONDS = 0.5
TaskId = Annotated[str, Path(pattern=r"^task_[0-9a-f]{32}$")]


def add_imports(router: APIRouter, settings: Settings, client: MemoryClient) -> None:
    tasks = Tasks(settings, client)

    @router.post(
        "/import", name="import", status_code=202, response_model_exclude_none=True, summary="Remember a chat history"
    )
    async def begin(body: models.Import, response: Response, caller: Who, deadline: Deadline) -> ImportStatus:
        tenant = Tenant(namespace=caller.namespace(body.namespace), user_id=body.user_id)
        read, unread = understood(body)
        made = batch(tenant, read, unread=unread, timezone=body.timezone)
        with as_problems("not all was sent in time; send it again: what was sent adds nothing"):
            async with asyncio.timeout(deadline) as limit:
                task = await tasks.begin(made)
                status = await task.status()
                missing = task.open(made.events)
                # All of it before the answer: whoever has a task's id may forget what was sent.
                async for _ in client.publish_many(missing):
                    metrics.IMPORTED.labels("published").inc()
                metrics.IMPORTED.labels("known").inc(len(made.events) - len(missing))
                metrics.IMPORTED.labels("refused").inc(sum(made.refused.values()))
                limit.reschedule(None)
            if not body.in_background:
                status = await ended(task, status, deadline)
        if status.state == "done":
            response.status_code = 200
        return status

    async def found(task_id: str, caller: Who) -> Task:
        task = await tasks.find(task_id, caller.namespaces)
        if task is None:
            raise Problem(404, "unknown-task", "there is no import with that id in the namespaces of this key")
        return task

    @router.get(
        "/import/{task_id}", name="import-status", response_model_exclude_none=True, summary="How far an import is"
    )
    async def status(task_id: TaskId, caller: Who, deadline: Deadline) -> ImportStatus:
        with as_problems("its records were not read in time; ask again"):
            async with asyncio.timeout(deadline):
                return await (await found(task_id, caller)).status()

    @router.delete(
        "/import/{task_id}", name="import-cancel", response_model_exclude_none=True, summary="Send no more of an import"
    )
    async def cancel(task_id: TaskId, caller: Who, deadline: Deadline) -> ImportStatus:
        with as_problems("not known to be cancelled; send it again"):
            async with asyncio.timeout(deadline):
                task = await found(task_id, caller)
                await tasks.cancel(task)
                return await task.status()


def understood(body: models.Import) -> tuple[list[Conversation], int]:
    """And how many items are no conversation."""
    zone, read = ZoneInfo(body.timezone or "UTC"), list[Conversation]()
    for number, item in enumerate(body.conversations):
        try:
            read.append(conversation(item, f"conversations.{number}", zone))
        except ValueError:
            continue
    return read, len(body.conversations) - len(read)


async def ended(task: Task, status: ImportStatus, deadline: float) -> ImportStatus:
    """The status when all have an outcome, or the last one before the deadline."""
    with suppress(TimeoutError):
        async with asyncio.timeout(deadline):
            while status.state != "done":
                await asyncio.sleep(POLL_SECONDS)
                status = await task.status()
    return status


@contextmanager
def as_problems(late: str) -> Iterator[None]:
    """`late`: what to tell when the deadline has passed."""
    try:
        yield
    except (DependencyDown, ConfigurationError) as error:
        raise Unavailable(str(error)) from None
    except TimeoutError:
        raise Problem(504, "deadline-exceeded", late) from None
