"""Imports of chat histories. The gateway keeps nothing of a task: it is in the topics `jobs` and `receipts`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from schemas import Tenant
from streams import metrics
from streams.client import MemoryClient, Unavailable
from streams.errors import ConfigurationError, DependencyDown
from streams.http import models, problems
from streams.http.forms import fields_of
from streams.http.guard import FORM, JSON, media_type
from streams.http.routes import Deadline, Who
from streams.imports.conversations import Unusable
from streams.imports.preview import ImportPreview, Look
from streams.imports.sending import Sending
from streams.imports.task import Batch, ImportStatus, batch
from streams.imports.tasks import Task, Tasks
from streams.settings import Settings

POLL_SECONDS = 0.5
TaskId = Annotated[str, Path(pattern=r"^task_[0-9a-f]{32}$")]


# The shapes are in `given`: FastAPI knows one shape of a body.
SHAPES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": {"$ref": "#/components/schemas/Import"}},
            FORM: {"schema": {"$ref": "#/components/schemas/ImportFile"}},
        },
    }
}


async def given(request: Request) -> models.Import | models.ImportFile:
    form = media_type(request) == FORM
    fields = await fields_of(request) if form else await request.json()
    try:
        return (models.ImportFile if form else models.Import).model_validate(fields)
    except ValidationError as error:
        raise RequestValidationError(
            [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False, include_input=False)]
        ) from None


Given = Annotated[models.Import | models.ImportFile, Depends(given)]


def add_imports(router: APIRouter, settings: Settings, client: MemoryClient) -> Sending:
    tasks, sending = Tasks(settings, client), Sending(client)
    # A large file is understood in a thread, which takes its time and memory: one at a time.
    reading = asyncio.Lock()

    @router.post(
        "/import",
        name="import",
        status_code=202,
        response_model_exclude_none=True,
        responses={
            200: {"model": ImportStatus | ImportPreview, "description": "Nothing is queued any more, or the preview"}
        },
        openapi_extra=SHAPES,
        summary="Remember a chat history, given as JSON or as a file",
    )
    async def begin(body: Given, response: Response, caller: Who, deadline: Deadline) -> ImportStatus | ImportPreview:
        tenant = Tenant(namespace=caller.namespace(body.namespace), user_id=body.user_id)
        async with reading:
            look, made = await asyncio.to_thread(understood, body, tenant)
        if body.preview:
            response.status_code = 200
            return look.told(made)
        if isinstance(body, models.ImportFile) and not made.event_ids:
            raise nothing_in(made)
        with as_problems("not begun in time; send it again: what was sent adds nothing"):
            async with asyncio.timeout(deadline) as limit:
                async with await tasks.begin(made) as task:
                    status = await task.status()
                    missing = task.open()
                    metrics.IMPORTED.labels("known").inc(len(made.event_ids) - len(missing))
                    metrics.IMPORTED.labels("refused").inc(sum(made.refused.values()))
                    for why, count in made.refused.items():
                        metrics.IMPORT_FAILURES.labels(*why.split(":", 1)).inc(count)
                    until = limit.when() or 0.0
                    limit.reschedule(None)
                    if missing:
                        # Waited for, so that as a rule a caller need not keep what it sent.
                        running = sending.start(made, task, missing)
                        if (await asyncio.wait([running], timeout=left(until)))[0]:
                            task.job = running.result()
                            status = task.told()
                    if not body.in_background:
                        status = await ended(task, status, left(until))
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
                    await sending.stop(task_id)
                    return await task.status()

    return sending


def understood(body: models.Import | models.ImportFile, tenant: Tenant) -> tuple[Look, Batch]:
    """Pure: nothing of it reaches a disk. Raises `Problem`."""
    try:
        form, found = body.read()
        look = Look(form)
        return look, batch(tenant, found, timezone=body.timezone, after_forget=body.after_forget, accepted=look.take)
    except Unusable as error:
        raise problems.Problem(422, "unreadable-file", f"file: {error}") from None


def nothing_in(made: Batch) -> problems.Problem:
    first = [
        problems.FieldProblem(field=one.where, problem=one.reason) for one in made.problems[: problems.MOST_ERRORS]
    ]
    return problems.Problem(
        422,
        "unreadable-file",
        "nothing in the file can be remembered; name its `format`, or mend what `errors` names",
        errors=first,
    )


def left(until: float) -> float:
    """Seconds; `until` is a time of the running event loop."""
    return max(0.0, until - asyncio.get_running_loop().time())


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
