"""An OpenAI-compatible HTTP server on loopback that misbehaves on command.

It answers `POST /v1/embeddings` (vectors of `hashed_vector`, the same as the `constant` embedder's; `base64` too),
`POST /v1/chat/completions` and `GET /v1/models`, counts every request, and does what it is told: a **step** says what
one answer looks like. Each endpoint (`embeddings`, `chat`, `models`) has a queue of steps, one a request, and a
standing step for when the queue is empty (at first: answer well).

In the test's own process and loop::

    async with Misbehaving() as server:
        server.script("chat", Step("status", status=429, headers={"Retry-After": "2"}), Step(content="[]"))
        server.always("embeddings", Step("hang"))
        ...  # server.base_url, server.requests("chat"), server.bodies("chat"), server.headers("chat")
        await server.reached("chat", 2)   # a condition to wait on: two chat requests have arrived
        server.release()                  # let everything that hangs go on

As a process of its own, for chaos tests (prints `listening on http://127.0.0.1:N/v1` when ready)::

    python -m tests.misbehaving --port N [--dimension 384]
    POST /control        {"endpoint": "chat", "script": [STEP, ...], "always": STEP}   (both optional)
    POST /control/reset  forget steps, counts and requests; hanging requests go on
    GET  /control        {"requests": {"embeddings": 0, "chat": 0, "models": 0}, "waiting": 0}

where STEP is the JSON form of `Step`, for example `{"mode": "status", "status": 503}`. Modes:

| mode | what the client sees |
| --- | --- |
| `ok` | 200; chat answers `content` (None: `{"memories": []}`), `finish_reason`, `usage` |
| `status` | `status` with `headers` and an OpenAI error body of `code`, `param`, `message` |
| `garbage` | 200 and a body that is no JSON, as `application/json` |
| `html` | 200 and an HTML page |
| `truncated` | 200 and the first half of a good body, with a matching Content-Length |
| `wrong_shape` | 200 and JSON of another shape |
| `hang` | nothing, until `release` or the client leaves |
| `cut` | a good body whose second half never comes: the connection is closed |
| `slow` | a good body, a byte at a time every `interval` seconds (default 0.02) |
| `refuse` | the connection is closed before any answer |
| `no_choices` | chat: an empty list of choices |
| `wrong_dimension`, `nan`, `zeros`, `wrong_count`, `duplicate_index` | embeddings: bad in this way |
| `reject` | 400 that names `param` when the body has it (a chat `response_format` of type `value` if set), else `ok` |

Chat content for the usual ways in which models spoil JSON: `PROSE_AROUND_JSON`, `FENCED_JSON`, `CUT_OFF_JSON`.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from aiohttp import web

from streams.adapters.embedders.constant import hashed_vector

ENDPOINTS = ("embeddings", "chat", "models")

FENCED_JSON = '```json\n{"memories": []}\n```'
PROSE_AROUND_JSON = f"Sure! Here is what I found:\n\n{FENCED_JSON}\n\nLet me know if you need more."
CUT_OFF_JSON = '{"memories": [{"content": "likes te'


@dataclass(frozen=True, slots=True)
class Step:
    """What one answer looks like: see the table of modes above."""

    mode: str = "ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    code: str | None = None
    param: str | None = None
    value: str | None = None
    message: str = "misbehaving on command"
    content: str | None = None
    finish_reason: str = "stop"
    usage: bool = True
    interval: float = 0.02


@dataclass(slots=True)
class _Endpoint:
    queue: deque[Step] = field(default_factory=deque)
    standing: Step = field(default_factory=Step)
    requests: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


class Misbehaving:
    """The server; an async context manager. `port` 0 takes a free one. Only the last 1,000 requests are kept."""

    def __init__(self, port: int = 0, dimension: int = 384) -> None:
        self.port = port
        self.dimension = dimension
        self._endpoints = {name: _Endpoint() for name in ENDPOINTS}
        self._changed = asyncio.Condition()
        self._released = asyncio.Event()
        self._waiting = 0
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, endpoint: str, *steps: Step) -> None:
        """Queue steps: one a request, in order."""
        self._endpoints[endpoint].queue.extend(steps)

    def always(self, endpoint: str, step: Step) -> None:
        """What happens when the queue is empty."""
        self._endpoints[endpoint].standing = step

    def requests(self, endpoint: str) -> int:
        return self._endpoints[endpoint].requests

    def bodies(self, endpoint: str) -> list[dict[str, Any]]:
        return self._endpoints[endpoint].bodies

    def headers(self, endpoint: str) -> list[dict[str, str]]:
        return self._endpoints[endpoint].headers

    async def reached(self, endpoint: str, count: int, *, seconds: float = 60.0) -> None:
        """Return when `count` requests have arrived; `TimeoutError` when they don't within `seconds`."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(lambda: self.requests(endpoint) >= count)

    def release(self) -> None:
        """Let every hanging request go on with a good answer. Later ones hang again."""
        self._released.set()
        self._released = asyncio.Event()

    def reset(self) -> None:
        self._endpoints = {name: _Endpoint() for name in ENDPOINTS}
        self.release()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/control", self._state)
        app.router.add_post("/control", self._control)
        app.router.add_post("/control/reset", self._reset)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        step, body = await self._arrived("embeddings", request)
        texts = [body["input"]] if isinstance(body.get("input"), str) else list(body.get("input") or [])
        size = int(body.get("dimensions") or self.dimension)
        vectors = [hashed_vector(text, size) for text in texts]
        rows = list(range(len(vectors)))
        match step.mode:
            case "wrong_dimension":
                vectors = [hashed_vector(text, size + 1) for text in texts]
            case "nan":
                vectors = [np.full(size, np.nan, np.float32) for _ in texts]
            case "zeros":
                vectors = [np.zeros(size, np.float32) for _ in texts]
            case "wrong_count":
                vectors, rows = vectors[:-1], rows[:-1]
            case "duplicate_index":
                rows = [len(rows)] * len(rows)
        base64_wanted = body.get("encoding_format") == "base64"
        answer = {
            "object": "list",
            "model": body.get("model"),
            "data": [
                {
                    "object": "embedding",
                    "index": row,
                    "embedding": base64.b64encode(vector.tobytes()).decode() if base64_wanted else vector.tolist(),
                }
                for row, vector in reversed(list(zip(rows, vectors, strict=True)))  # the order is not promised
            ],
            "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)},
        }
        return await self._answer(request, step, answer)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        step, body = await self._arrived("chat", request)
        content = '{"memories": []}' if step.content is None else step.content
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": content},
            "finish_reason": step.finish_reason,
        }
        answer: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [] if step.mode == "no_choices" else [choice],
        }
        if step.usage:
            answer["usage"] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        return await self._answer(request, step, answer)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        step, _ = await self._arrived("models", request)
        model = {"id": "misbehaving", "object": "model", "created": 0, "owned_by": "tests"}
        return await self._answer(request, step, {"object": "list", "data": [model]})

    async def _arrived(self, name: str, request: web.Request) -> tuple[Step, dict[str, Any]]:
        body = await request.json() if request.can_read_body else {}
        endpoint = self._endpoints[name]
        step = endpoint.queue.popleft() if endpoint.queue else endpoint.standing
        endpoint.bodies.append(body)
        endpoint.headers.append(dict(request.headers))
        del endpoint.bodies[:-1000], endpoint.headers[:-1000]
        async with self._changed:
            endpoint.requests += 1
            self._changed.notify_all()
        if step.mode == "reject" and _has(body, step):
            message = f"Unsupported parameter: '{step.param}' {step.value or ''}"
            step = Step("status", status=400, param=step.param, code="unsupported_parameter", message=message)
        return step, body

    async def _answer(self, request: web.Request, step: Step, answer: dict[str, Any]) -> web.StreamResponse:
        payload = json.dumps(answer).encode()
        match step.mode:
            case "status":
                error = {"message": step.message, "type": "error", "param": step.param, "code": step.code}
                return web.json_response({"error": error}, status=step.status, headers=step.headers)
            case "garbage":
                return web.Response(body=b"}{ not json", content_type="application/json")
            case "html":
                return web.Response(text="<html><body>It works!</body></html>", content_type="text/html")
            case "truncated":
                return web.Response(body=payload[: len(payload) // 2], content_type="application/json")
            case "wrong_shape":
                return web.json_response(["surprise", {"data": "none", "choices": 3}])
            case "hang":
                self._waiting += 1
                try:
                    await self._released.wait()
                finally:
                    self._waiting -= 1
            case "refuse":
                _hang_up(request)
                return web.Response()
            case "cut" | "slow":
                return await _stream(request, step, payload)
        return web.Response(body=payload, content_type="application/json")

    async def _state(self, _: web.Request) -> web.Response:
        counts = {name: endpoint.requests for name, endpoint in self._endpoints.items()}
        return web.json_response({"requests": counts, "waiting": self._waiting})

    async def _control(self, request: web.Request) -> web.Response:
        try:
            order = await request.json()
            name = order["endpoint"]
            steps = [Step(**step) for step in order.get("script", [])]
            standing = Step(**order["always"]) if "always" in order else self._endpoints[name].standing
        except (KeyError, TypeError, ValueError) as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
        self.script(name, *steps)
        self.always(name, standing)
        return web.json_response({"always": asdict(standing), "queued": len(self._endpoints[name].queue)})

    async def _reset(self, _: web.Request) -> web.Response:
        self.reset()
        return web.json_response({})


def _has(body: dict[str, Any], step: Step) -> bool:
    value = body.get(step.param or "")
    return value is not None and (step.value is None or value.get("type") == step.value)


def _hang_up(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


async def _stream(request: web.Request, step: Step, payload: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(payload))})
    await response.prepare(request)
    if step.mode == "cut":
        await response.write(payload[: len(payload) // 2])
        _hang_up(request)
        return response
    for place in range(len(payload)):
        await response.write(payload[place : place + 1])
        await asyncio.sleep(step.interval)
    return response


async def _serve(port: int, dimension: int) -> None:
    async with Misbehaving(port, dimension) as server:
        print(f"listening on {server.base_url}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server that misbehaves on command")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--dimension", type=int, default=384)
    options = parser.parse_args()
    try:
        asyncio.run(_serve(options.port, options.dimension))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
