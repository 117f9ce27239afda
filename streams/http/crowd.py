"""More connections than the server has room for: each is told so and closed, and beyond a few it is only closed."""

from __future__ import annotations

import math

from starlette.types import Receive, Scope, Send

from streams.http.problems import Problem, answer

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

# Connections above the limit that are answered at a time; whoever comes on top of these is not.
SPARE = 64
# One that is refused has to ask within.
REFUSED_SECONDS = 2.0
RETRY_SECONDS = "1"
# Of files: for Kafka, logs and what else the process opens.
OTHER_FILES = 128


def room(wanted: int) -> int:
    """Connections that may be open: `wanted`, or as many as the process may open files for, at least one."""
    files: float = math.inf if resource is None else resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files < 0:  # RLIM_INFINITY
        files = math.inf
    return max(1, int(min(wanted, files - OTHER_FILES - SPARE)))


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI application: no room, whatever is asked."""
    problem = Problem(
        503,
        "too-many-connections",
        "all connections are taken; try again in a moment, and keep one open for many requests",
        headers={"Retry-After": RETRY_SECONDS, "Connection": "close"},
    )
    await answer(problem, scope.get("request_id"))(scope, receive, send)
