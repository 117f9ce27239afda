"""What goes wrong, as RFC 9457 says it (`application/problem+json`): each says what to do about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse

from streams.client import BadRequest, DeadlineExceeded, MemoryClientError, TooLarge, Unavailable

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 20


class FieldProblem(BaseModel):
    """One field that can't be used. Never quotes its value."""

    field: str
    problem: str


class ProblemDetails(BaseModel):
    """RFC 9457. `type` is a stable word to branch on, `detail` says what to do."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = None
    errors: list[FieldProblem] | None = None


class Problem(HTTPException):
    """Raise it anywhere in a request. `kind` is the last part of `type`."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        errors: list[FieldProblem] | None = None,
    ) -> None:
        super().__init__(status, detail, headers=dict(headers or {}))
        self.kind = kind
        self.errors = errors


def try_again(status: int, kind: str, detail: str, seconds: float) -> Problem:
    """A problem that is over in `seconds`."""
    return Problem(status, kind, detail, headers={"Retry-After": str(max(1, math.ceil(seconds)))})


def of_client(error: MemoryClientError) -> Problem:
    match error:
        case TooLarge():
            return Problem(413, "too-large", str(error))
        case BadRequest():
            return Problem(422, "invalid-request", str(error))
        case DeadlineExceeded():
            return Problem(
                504, "deadline-exceeded", f"{error}; try again, or allow more time with `Prefer: wait=SECONDS`"
            )
        case Unavailable():
            return try_again(503, "unavailable", f"{error}; try again later", error.retry_after or 1)
    return Problem(502, "unexpected-answer", "the answer could not be used; the gateway's log says more")


def of_validation(error: RequestValidationError) -> Problem:
    """The fields and what is wrong with them, without their values."""
    found = [
        FieldProblem(
            field=(".".join(str(part) for part in e["loc"][1:]) or str(e["loc"][0]))[:100],
            problem=e["msg"].removeprefix("Value error, "),
        )
        for e in error.errors()[:MOST_ERRORS]
    ]
    return Problem(422, "invalid-request", "mend the fields in `errors`; /openapi.json has their shapes", errors=found)


def of_framework(error: StarletteHTTPException) -> Problem:
    details = {
        404: ("not-found", "no such endpoint; /openapi.json lists them"),
        405: ("method-not-allowed", "this endpoint has another method; /openapi.json lists them"),
    }
    kind, detail = details.get(error.status_code, ("invalid-request", HTTPStatus(error.status_code).phrase))
    return Problem(error.status_code, kind, detail, headers=error.headers)


def answer(problem: Problem, request_id: str | None) -> JSONResponse:
    shown = ProblemDetails(
        type=f"urn:memstream:problem:{problem.kind}",
        title=HTTPStatus(problem.status_code).phrase,
        status=problem.status_code,
        detail=problem.detail,
        request_id=request_id,
        errors=problem.errors,
    )
    return JSONResponse(
        shown.model_dump(exclude_none=True), problem.status_code, headers=problem.headers, media_type=MEDIA_TYPE
    )


async def handle(request: Request, error: Exception) -> JSONResponse:
    """The one exception handler of the application."""
    match error:
        case Problem():
            problem = error
        case RequestValidationError():
            problem = of_validation(error)
        case StarletteHTTPException():
            problem = of_framework(error)
        case MemoryClientError():
            problem = of_client(error)
        case _:
            raise error
    return answer(problem, request.scope.get("request_id"))


HANDLERS: dict[int | type[Exception], Any] = {
    RequestValidationError: handle,
    StarletteHTTPException: handle,
    MemoryClientError: handle,
}
