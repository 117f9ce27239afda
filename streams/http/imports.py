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
from streams.http import models, problems
from streams.http.routes import Deadline, Who
from streams.imports.conversations import Found, Problem
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
        made = batch(tenant, understood(body), timezone=body.timezone)
        with as_problems("not all was sent in time; send it again: what was sent adds nothing"):
            async with asyncio.timeout(deadline) as limit:
                async with await tasks.begin(made) as task:
                    status = await task.status()
                    missing = task.open()
                    # All of it before the answer: whoever has a task's id may forget what was sent.
                    async for _ in client.publish_many(made.events.events(missing)):
                        metrics.IMPORTED.labels("published").inc()
                    metrics.IMPORTED.labels("known").inc(len(made.event_ids) - len(missing))
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
            raise problems.Problem(404, "unknown-task", "there is no import with that id in the namespaces of this key")
        return task

    @router.get(
        "/import/{task_id}", name="import-status", response_model_exclude_none=True, summary="How far an import is"
    )
    async def status(task_id: TaskId, caller: Who, deadline: Deadline) -> ImportStatus:
        with as_problems("its records were not read in time; ask again"):
            async with asyncio.timeout(deadline):
                async with await found(task_id, caller) as task:
                    return await task.status()

    @router.delete(
        "/import/{task_id}", name="import-cancel", response_model_exclude_none=True, summary="Send no more of an import"
    )
    async def cancel(task_id: TaskId, caller: Who, deadline: Deadline) -> ImportStatus:
        with as_problems("not known to be cancelled; send it again"):
            async with asyncio.timeout(deadline):
                async with await found(task_id, caller) as task:
                    await task.cancel()
                    return await task.status()


def understood(body: models.Import) -> Found:
    zone = ZoneInfo(body.timezone or "UTC")
    for number, item in enumerate(body.conversations):
        where = f"conversations.{number}"
        try:
            yield conversation(item, where, zone)
        except ValueError:
            yield Problem(where, "is no conversation")


async def ended(task: Task, status: ImportStatus, deadline: float) -> ImportStatus:
    """The status when all have an outcome, or the last one before the deadline."""
    with suppress(TimeoutError):
        async with asyncio.timeout(deadline):
            while status.state != "done":
                await task.arriving(POLL_SECONDS)
                status = task.told()
    return status


@contextmanager
def as_problems(late: str) -> Iterator[None]:
    """`late`: what to tell when the deadline has passed."""
    try:
        yield
    except (DependencyDown, ConfigurationError) as error:
        raise Unavailable(str(error)) from None
    except TimeoutError:
        raise problems.Problem(504, "deadline-exceeded", late) from None
