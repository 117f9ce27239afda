"""The endpoints. Each is a call or two of `MemoryClient`; what they refuse is in `guard` and `models`."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from schemas import ConversationEvent, EventOutcome, MemoryRecord
from schemas.events import EventId
from streams.batches import batched
from streams.client import DeadlineExceeded, MemoryClient
from streams.http import models
from streams.http.guard import Caller, Guard, guarded
from streams.http.problems import Problem

LONGEST_WAIT_SECONDS = 60.0
# Far below the size of a record.
IDS_A_COMMAND = 10_000
JSON_LINES = "application/jsonl"

Key = Annotated[
    EventId | None,
    Header(alias="Idempotency-Key", description="Becomes the event id: a retry is a duplicate, not a second memory."),
]
Prefer = Annotated[
    str | None, Header(alias="Prefer", description="`wait=SECONDS`: the deadline, at most 60.", examples=["wait=5"])
]
MemoryId = Annotated[str, Path(min_length=1, max_length=512)]
Asked = Annotated[models.Request, Query()]


async def who(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def seconds(request: Request, prefer: Prefer = None) -> float:
    wanted = re.search(r"\bwait\s*=\s*\"?(\d{1,4})\b", prefer or "")
    return min(float(wanted[1]), LONGEST_WAIT_SECONDS) if wanted else request.state.settings.http_deadline_seconds


Who = Annotated[Caller, Depends(who)]
Deadline = Annotated[float, Depends(seconds)]


def later(shape: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """For the document: the other answer that is a success."""
    return {202: {"model": shape, "description": "`queued`: Kafka has it and it will be handled"}}


def make_router(guard: Guard, client: MemoryClient) -> APIRouter:
    router = APIRouter(prefix="/memory", route_class=guarded(guard), tags=["memory"])

    async def say(
        response: Response, caller: Caller, deadline: float, key: str | None, said: models.Said, **content: Any
    ) -> models.Written:
        event = ConversationEvent.model_validate(
            {
                **said.fields(),
                **content,
                "namespace": caller.namespace(said.namespace),
                "event_id": key or uuid.uuid4().hex,
            }
        )
        if said.wait:
            try:
                return written(await client.publish_and_wait(event, deadline=deadline))
            except DeadlineExceeded as error:
                queued(error, response)
        else:
            await client.publish(event, deadline=deadline)
            response.status_code = 202
        return models.Written(status="queued", event_id=event.event_id)

    @router.post(
        "/write", response_model_exclude_none=True, responses=later(models.Written), summary="Remember what was said"
    )
    async def write(
        body: models.Write, response: Response, caller: Who, deadline: Deadline, key: Key = None
    ) -> models.Written:
        return await say(response, caller, deadline, key, body, messages=body.said())

    @router.post(
        "/update",
        response_model_exclude_none=True,
        responses=later(models.Written),
        summary="Replace a memory by new text",
    )
    async def update(
        body: models.Update, response: Response, caller: Who, deadline: Deadline, key: Key = None
    ) -> models.Written:
        namespace = caller.namespace(body.namespace)
        if not await client.get(body.memory_id, user_id=body.user_id, namespace=namespace, deadline=deadline):
            raise unknown_memory()
        return await say(
            response, caller, deadline, key, body, messages=[{"text": body.content}], replaces=[body.memory_id]
        )

    @router.post("/query", response_model_exclude_none=True, summary="Recall what answers a question")
    async def query(body: models.Query, caller: Who, deadline: Deadline) -> models.Answer:
        reply = await client.recall(
            user_id=body.user_id, namespace=caller.namespace(body.namespace), deadline=deadline, **body.options()
        )
        return models.Answer(
            memories=[models.Found.of_recall(found) for found in reply.memories],
            turns=[models.Turn.of(turn) for turn in reply.turns] if body.turns_of else None,
            prompt=reply.prompt,
            degraded=reply.degraded,
        )

    async def erase(response: Response, tenant: dict[str, Any], deadline: float, **scope: Any) -> models.Erased:
        try:
            receipt = await client.forget(**tenant, deadline=deadline, **scope)
        except DeadlineExceeded as error:
            queued(error, response)
            return models.Erased(status="queued")
        return models.Erased(status="erased", removed=receipt.removed, kept_until=receipt.kept_until)

    @router.post("/delete", responses=later(models.Erased), summary="Erase memories, by id or by filters")
    async def delete(body: models.Delete, response: Response, caller: Who, deadline: Deadline) -> models.Erased:
        tenant = {"user_id": body.user_id, "namespace": caller.namespace(body.namespace)}
        ids = body.memory_ids
        if body.filters is not None:
            known = await client.export(**tenant, deadline=deadline)
            ids = tuple(memory.memory_id for memory in known if body.filters.match(memory))
        parts = [await erase(response, tenant, deadline, memory_ids=part) for part in batched(ids, IDS_A_COMMAND)]
        return models.Erased.together(parts)

    @router.post(
        "/forget", responses=later(models.Erased), summary="Erase for good: everything, an interval, a session, events"
    )
    async def forget(body: models.Forget, response: Response, caller: Who, deadline: Deadline) -> models.Erased:
        scope = body.model_dump(exclude={"user_id", "namespace"})
        tenant = {"user_id": body.user_id, "namespace": caller.namespace(body.namespace)}
        return await erase(response, tenant, deadline, **scope)

    @router.post("/restore", responses=later(models.Restored), summary="Bring archived memories back")
    async def restore(body: models.Restore, response: Response, caller: Who, deadline: Deadline) -> models.Restored:
        namespace = caller.namespace(body.namespace)
        try:
            receipt = await client.restore(
                *body.memory_ids, user_id=body.user_id, namespace=namespace, deadline=deadline
            )
        except DeadlineExceeded as error:
            queued(error, response)
            return models.Restored(status="queued")
        return models.Restored(status="restored", restored=receipt.restored, unknown=receipt.unknown)

    @router.get("/profile", response_model_exclude_none=True, summary="All that holds now: facts and preferences")
    async def profile(asked: Asked, caller: Who, deadline: Deadline) -> models.Profile:
        namespace = caller.namespace(asked.namespace)
        records = await client.profile(user_id=asked.user_id, namespace=namespace, deadline=deadline)
        return models.Profile.of(namespace, asked.user_id, records)

    @router.get("/turns", response_model_exclude_none=True, summary="Working memory: the last turns of a session")
    async def turns(asked: Annotated[models.AskedTurns, Query()], caller: Who, deadline: Deadline) -> models.LastTurns:
        found = await client.turns(
            asked.session_id,
            user_id=asked.user_id,
            namespace=caller.namespace(asked.namespace),
            limit=asked.limit,
            deadline=deadline,
        )
        return models.LastTurns(turns=[models.Turn.of(turn) for turn in found])

    @router.get(
        "/history/{memory_id}", response_model_exclude_none=True, summary="What a memory replaced, and what replaced it"
    )
    async def history(memory_id: MemoryId, asked: Asked, caller: Who, deadline: Deadline) -> models.Chain:
        namespace = caller.namespace(asked.namespace)
        records = await client.history(memory_id, user_id=asked.user_id, namespace=namespace, deadline=deadline)
        if not records:
            raise unknown_memory()
        return models.Chain(memories=[models.Memory.of(record) for record in records])

    @router.post(
        "/export",
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "One memory a line. An answer that breaks off is not complete.",
                "content": {JSON_LINES: {"schema": {"type": "string"}}},
            }
        },
        summary="Everything that is remembered of a user, as JSON Lines",
    )
    async def export(body: models.Export, caller: Who, deadline: Deadline) -> StreamingResponse:
        parts = client.export_parts(user_id=body.user_id, namespace=caller.namespace(body.namespace), deadline=deadline)
        # The first part before the answer begins: what goes wrong until then is a problem with a status.
        first: list[MemoryRecord] = await anext(parts, [])
        return StreamingResponse(lines(first, parts), media_type=JSON_LINES)

    return router


def unknown_memory() -> Problem:
    return Problem(404, "unknown-memory", "this user has no memory with that id")


def queued(error: DeadlineExceeded, response: Response) -> None:
    """Past the deadline, 202: Kafka has it and it will be handled. Raises `error` when Kafka does not have it."""
    if not error.published:
        raise error
    response.status_code = 202


def written(outcome: EventOutcome) -> models.Written:
    """Raises `Problem` for an event that was parked."""
    if outcome.outcome != "parked":
        return models.Written.of(outcome)
    match outcome.reason:
        case "event_id_reused":
            raise Problem(422, "idempotency-key-reused", "this Idempotency-Key came before with other content")
        case "too_large":
            raise Problem(413, "too-large", "a message is longer than MEMSTREAM_MAX_TEXT_CHARS; split it")
    raise Problem(422, "parked", f"it can't be processed ({outcome.stage}: {outcome.reason}); the text is kept aside")


async def lines(first: list[MemoryRecord], rest: AsyncIterator[list[MemoryRecord]]) -> AsyncIterator[bytes]:
    yield as_lines(first)
    async for part in rest:
        yield as_lines(part)


def as_lines(records: list[MemoryRecord]) -> bytes:
    return b"".join(record.to_bytes() + b"\n" for record in records)
