"""What every failure of a chat server becomes: the real openai SDK against a server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from streams.adapters.chat import OpenAIChatModel
from streams.adapters.openai_calls import CallPolicy, CircuitBreaker, GuardedCalls, TokenBucket
from streams.adapters.openai_errors import retry_after
from streams.errors import DependencyDown, Refused
from streams.ports import ChatTurn
from tests.misbehaving import CUT_OFF_JSON, FENCED_JSON, PROSE_AROUND_JSON, Misbehaving, Step

SECRET = "sk-do-not-show-this"
PRIVATE = "my grandmother's house in Porto"
TURNS = [ChatTurn("system", "You distil memories."), ChatTurn("user", PRIVATE)]
SCHEMA = {
    "type": "object",
    "properties": {"memories": {"type": "array", "items": {"type": "string"}}},
    "required": ["memories"],
    "additionalProperties": False,
}
POLICY = CallPolicy(attempts=3, timeout_seconds=20.0, open_after=1000)


class Time:
    """A clock that only sleeping moves, so that a test waits for nothing."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


Chat = Callable[..., OpenAIChatModel]


@pytest.fixture
async def server() -> AsyncIterator[Misbehaving]:
    async with Misbehaving() as running:
        yield running


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
async def chat(server: Misbehaving, time: Time) -> AsyncIterator[Chat]:
    made: list[OpenAIChatModel] = []

    def make(policy: CallPolicy = POLICY) -> OpenAIChatModel:
        calls = GuardedCalls("chat", policy, clock=time, sleep=time.sleep)
        made.append(
            OpenAIChatModel("small", base_url=server.base_url, key=SecretStr(SECRET), policy=policy, calls=calls)
        )
        return made[-1]

    yield make
    for model in made:
        await model.close()


# --- Answers ---------------------------------------------------------------------------------------------------------


async def test_an_answer_comes_with_its_tokens(server: Misbehaving, chat: Chat) -> None:
    model = chat()
    reply = await model.complete(TURNS, json_schema=SCHEMA, max_tokens=99)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ('{"memories": []}', 11, 7)
    sent = server.bodies("chat")[0]
    assert sent["messages"] == [{"role": turn.role, "content": turn.content} for turn in TURNS]
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == (model.name, 99, 0)
    assert sent["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA, "strict": True}
    assert server.headers("chat")[0]["Authorization"] == f"Bearer {SECRET}"


async def test_without_a_schema_no_format_is_asked_for(server: Misbehaving, chat: Chat) -> None:
    await chat().complete(TURNS)
    assert "response_format" not in server.bodies("chat")[0]


async def test_an_open_schema_is_not_called_strict(server: Misbehaving, chat: Chat) -> None:
    await chat().complete(TURNS, json_schema={"type": "object", "properties": {"a": {"type": "string"}}})
    assert server.bodies("chat")[0]["response_format"]["json_schema"]["strict"] is False


@pytest.mark.parametrize("content", ["", PROSE_AROUND_JSON, FENCED_JSON, CUT_OFF_JSON, "记忆：没有"])
async def test_odd_content_is_returned_as_it_is(server: Misbehaving, chat: Chat, content: str) -> None:
    server.always("chat", Step(content=content, finish_reason="length", usage=False))
    reply = await chat().complete(TURNS, json_schema=SCHEMA)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == (content, 0, 0)


async def test_filtered_content_is_refused(server: Misbehaving, chat: Chat) -> None:
    server.always("chat", Step(content="", finish_reason="content_filter"))
    with pytest.raises(Refused, match="content_filter"):
        await chat().complete(TURNS)
    assert server.requests("chat") == 1


# --- Failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [
        Step("status", status=500, message=PRIVATE),
        Step("status", status=503),
        Step("status", status=429, code="rate_limit_exceeded"),
        Step("status", status=408),
        Step("garbage"),
        Step("html"),
        Step("truncated"),
        Step("wrong_shape"),
        Step("no_choices"),
        Step("cut"),
        Step("refuse"),
    ],
    ids=lambda step: f"{step.mode} {step.status}",
)
async def test_what_may_work_later_is_tried_again_and_then_down(
    server: Misbehaving, chat: Chat, time: Time, step: Step
) -> None:
    server.script("chat", step, step)
    assert (await chat().complete(TURNS)).text == '{"memories": []}'
    assert server.requests("chat") == 3
    assert len(time.sleeps) == 2

    server.always("chat", step)
    with pytest.raises(DependencyDown) as down:
        await chat().complete(TURNS)
    assert server.requests("chat") == 6
    assert down.value.dependency == "chat"
    assert down.value.__cause__ is None
    assert PRIVATE not in str(down.value)


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (Step("status", status=400, code="context_length_exceeded", message=PRIVATE), Refused),
        (Step("status", status=400, code="content_filter"), Refused),
        (Step("status", status=413), Refused),
        (Step("status", status=422), Refused),
        (Step("status", status=401, message=f"Incorrect API key provided: {SECRET}"), DependencyDown),
        (Step("status", status=403), DependencyDown),
        (Step("status", status=404, code="model_not_found"), DependencyDown),
        (Step("status", status=400, param="model"), DependencyDown),
    ],
    ids=lambda value: f"{value.status} {value.code or value.param}" if isinstance(value, Step) else "",
)
async def test_what_cannot_work_is_tried_once(
    server: Misbehaving, chat: Chat, step: Step, kind: type[DependencyDown | Refused]
) -> None:
    server.always("chat", step)
    with pytest.raises(kind) as failed:
        await chat().complete(TURNS)
    assert server.requests("chat") == 1
    assert str(failed.value).startswith("chat ")
    assert SECRET not in str(failed.value)
    assert PRIVATE not in str(failed.value)


async def test_nobody_listening_is_down(unused_tcp_port: int) -> None:
    model = OpenAIChatModel("small", base_url=f"http://127.0.0.1:{unused_tcp_port}/v1", policy=CallPolicy(attempts=1))
    with pytest.raises(DependencyDown, match="connection"):
        await model.complete(TURNS)
    await model.close()
    with pytest.raises(DependencyDown, match="closed"):
        await model.complete(TURNS)


@pytest.mark.parametrize("mode", ["hang", "slow"])
async def test_a_deadline_ends_a_call_that_hangs_or_drips(server: Misbehaving, mode: str) -> None:
    model = OpenAIChatModel("small", base_url=server.base_url, policy=POLICY)
    server.always("chat", Step(mode))
    with pytest.raises(DependencyDown, match="no answer within"):
        await model.complete(TURNS, deadline_seconds=0.5)
    assert server.requests("chat") == 1  # no second try past the deadline
    await model.close()


async def test_a_hanging_attempt_is_given_up_for_the_next(server: Misbehaving) -> None:
    policy = CallPolicy(attempts=2, timeout_seconds=0.5, backoff_seconds=0.01)
    model = OpenAIChatModel("small", base_url=server.base_url, policy=policy)
    server.script("chat", Step("hang"))
    assert (await model.complete(TURNS, deadline_seconds=30)).text
    assert server.requests("chat") == 2
    await model.close()


async def test_a_caller_that_leaves_is_let_go(server: Misbehaving, chat: Chat) -> None:
    server.always("chat", Step("hang"))
    call = asyncio.create_task(chat().complete(TURNS))
    await server.reached("chat", 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


# --- Waiting ---------------------------------------------------------------------------------------------------------


async def test_backoff_is_random_and_bounded(server: Misbehaving, chat: Chat, time: Time) -> None:
    server.always("chat", Step("status", status=500))
    policy = CallPolicy(attempts=6, backoff_seconds=1.0, max_backoff_seconds=4.0, open_after=1000)
    with pytest.raises(DependencyDown):
        await chat(policy).complete(TURNS)
    assert len(time.sleeps) == 5
    assert all(0 <= slept <= limit for slept, limit in zip(time.sleeps, [1, 2, 4, 4, 4], strict=True))
    assert len(set(time.sleeps)) == 5


async def test_retry_after_in_seconds_is_waited_for(server: Misbehaving, chat: Chat, time: Time) -> None:
    server.script("chat", Step("status", status=429, headers={"Retry-After": "7"}))
    await chat().complete(TURNS)
    assert len(time.sleeps) == 1
    assert 7 <= time.sleeps[0] <= 7 + POLICY.backoff_seconds


async def test_retry_after_as_a_date_is_waited_for(server: Misbehaving, chat: Chat, time: Time) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    server.script("chat", Step("status", status=503, headers={"Retry-After": date}))
    await chat().complete(TURNS, deadline_seconds=600)
    assert 30 <= time.sleeps[0] <= 50 + POLICY.backoff_seconds


async def test_a_retry_after_past_the_deadline_is_handed_on_at_once(
    server: Misbehaving, chat: Chat, time: Time
) -> None:
    server.always("chat", Step("status", status=429, headers={"Retry-After": "120"}))
    with pytest.raises(DependencyDown) as down:
        await chat().complete(TURNS, deadline_seconds=30)
    assert down.value.retry_after == 120
    assert (server.requests("chat"), time.sleeps) == (1, [])


NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "nan"}, None),
        ({"retry-after-ms": "inf"}, None),
        ({"retry-after": "9" * 400}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


async def test_the_rate_limit_spaces_requests(server: Misbehaving, chat: Chat, time: Time) -> None:
    model = chat(CallPolicy(requests_per_minute=6))
    for _ in range(4):
        await model.complete(TURNS)
    assert time.sleeps == pytest.approx([10, 10, 10])
    with pytest.raises(DependencyDown, match="rate limit") as down:
        await model.complete(TURNS, deadline_seconds=5)
    assert down.value.retry_after == pytest.approx(10)
    assert server.requests("chat") == 4


def test_a_bucket_allows_a_burst_and_fills_again() -> None:
    time = Time()
    bucket = TokenBucket(60, time)
    assert [bucket.reserve(100) for _ in range(12)] == pytest.approx([0.0] * 10 + [1.0, 2.0])
    time.now += 1000
    assert [bucket.reserve(100) for _ in range(11)] == pytest.approx([0.0] * 10 + [1.0])
    assert bucket.reserve(1.5) is None
    assert bucket.reserve(2.0) == pytest.approx(2.0)


# --- The circuit -----------------------------------------------------------------------------------------------------


async def test_the_circuit_opens_probes_and_closes(server: Misbehaving, chat: Chat, time: Time) -> None:
    model = chat(CallPolicy(attempts=1, open_after=3, open_seconds=15))
    server.always("chat", Step("status", status=500))
    for _ in range(3):
        with pytest.raises(DependencyDown, match="500"):
            await model.complete(TURNS)
    time.now += 5
    with pytest.raises(DependencyDown, match="not asked") as down:
        await model.complete(TURNS)
    assert down.value.retry_after == pytest.approx(10)
    assert server.requests("chat") == 3

    time.now += 10  # half open: one probe, which fails
    with pytest.raises(DependencyDown, match="500"):
        await model.complete(TURNS)
    with pytest.raises(DependencyDown, match="not asked"):
        await model.complete(TURNS)
    assert server.requests("chat") == 4

    time.now += 15  # the next probe hangs: others are turned away meanwhile
    server.script("chat", Step("hang"))
    probe = asyncio.create_task(model.complete(TURNS))
    await server.reached("chat", 5)
    with pytest.raises(DependencyDown, match="not asked"):
        await model.complete(TURNS)
    server.release()
    assert (await probe).text
    server.always("chat", Step())
    assert (await model.complete(TURNS)).text
    assert server.requests("chat") == 6


async def test_a_cancelled_probe_leaves_room_for_the_next(server: Misbehaving, chat: Chat, time: Time) -> None:
    model = chat(CallPolicy(attempts=1, open_after=1, open_seconds=15))
    server.script("chat", Step("status", status=500), Step("hang"))
    with pytest.raises(DependencyDown):
        await model.complete(TURNS)
    time.now += 15
    probe = asyncio.create_task(model.complete(TURNS))
    await server.reached("chat", 2)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert (await model.complete(TURNS)).text


async def test_retries_stop_when_the_circuit_opens(server: Misbehaving, chat: Chat, time: Time) -> None:
    server.always("chat", Step("status", status=500))
    with pytest.raises(DependencyDown):
        await chat(CallPolicy(attempts=10, open_after=4)).complete(TURNS, deadline_seconds=600)
    assert server.requests("chat") == 4


async def test_a_refusal_is_a_sign_of_life(server: Misbehaving, chat: Chat) -> None:
    model = chat(CallPolicy(attempts=1, open_after=2))
    for status in (500, 422, 500):
        server.script("chat", Step("status", status=status))
        with pytest.raises(Refused if status == 422 else DependencyDown):
            await model.complete(TURNS)
    assert (await model.complete(TURNS)).text


def test_the_circuit_stays_open_as_long_as_the_server_asked() -> None:
    time = Time()
    breaker = CircuitBreaker("chat", open_after=1, open_seconds=15, clock=time)
    with pytest.raises(DependencyDown), breaker.watch():
        raise DependencyDown("chat", retry_after=60)
    time.now += 59
    with pytest.raises(DependencyDown) as down:
        breaker.check()
    assert down.value.retry_after == pytest.approx(1)
    time.now += 1
    breaker.check()


# --- What a server does not understand -------------------------------------------------------------------------------


async def test_the_format_falls_back_and_is_remembered(server: Misbehaving, chat: Chat, time: Time) -> None:
    model = chat()
    server.always("chat", Step("reject", param="response_format", value="json_schema"))
    assert (await model.complete(TURNS, json_schema=SCHEMA)).text
    server.always("chat", Step("reject", param="response_format"))
    assert (await model.complete(TURNS, json_schema=SCHEMA)).text
    assert (await model.complete(TURNS, json_schema=SCHEMA)).text
    formats = [body.get("response_format", {}).get("type") for body in server.bodies("chat")]
    assert formats == ["json_schema", "json_object", "json_object", None, None]
    assert time.sleeps == []  # none of this is a failure


async def test_a_newer_name_of_the_token_limit_is_learnt(server: Misbehaving, chat: Chat) -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    server.script("chat", Step("status", status=400, param="max_tokens", message=message))
    server.script("chat", Step("status", status=400, param="temperature", message="Unsupported value: 'temperature'"))
    model = chat()
    await model.complete(TURNS, max_tokens=50)
    await model.complete(TURNS, max_tokens=60)
    last = server.bodies("chat")[-1]
    assert last["max_completion_tokens"] == 60
    assert "max_tokens" not in last
    assert "temperature" not in last
    assert server.requests("chat") == 4


async def test_a_server_that_rejects_everything_is_a_refusal(server: Misbehaving, chat: Chat) -> None:
    server.always("chat", Step("status", status=400, message="response_format, temperature, max_completion_tokens"))
    with pytest.raises(Refused):
        await chat().complete(TURNS, json_schema=SCHEMA)
    assert server.requests("chat") == 5


# --- Secrets ---------------------------------------------------------------------------------------------------------


async def test_neither_the_key_nor_the_text_is_logged(
    server: Misbehaving, caplog: pytest.LogCaptureFixture, time: Time
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("openai").setLevel(logging.DEBUG)  # what OPENAI_LOG=debug does
    model = OpenAIChatModel("small", base_url=server.base_url, key=SecretStr(SECRET), policy=CallPolicy(attempts=2))
    assert not logging.getLogger("openai").isEnabledFor(logging.DEBUG)
    echo = f"{SECRET} {PRIVATE}"
    server.script("chat", Step("status", status=500, message=echo, code=echo))
    await model.complete(TURNS, json_schema=SCHEMA)
    server.always("chat", Step("status", status=400, message=echo, code=echo))
    with pytest.raises(Refused) as refused:
        await model.complete(TURNS)
    await model.close()
    shown = caplog.text + repr(refused.value) + repr(model) + str(refused.value.__cause__)
    assert SECRET not in shown
    assert PRIVATE not in shown


# --- The server itself -----------------------------------------------------------------------------------------------


async def test_the_server_runs_as_a_process_of_its_own() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.misbehaving", "--port", "0", stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        base_url = line.removeprefix("listening on ").strip()
        model = OpenAIChatModel("small", base_url=base_url, policy=CallPolicy(attempts=1))
        control = base_url.removesuffix("/v1") + "/control"

        async def order(path: str, body: object | None) -> dict[str, object]:
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(control + path, data, {"Content-Type": "application/json"})
            answer = await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=30).read())
            decoded: dict[str, object] = json.loads(answer)
            return decoded

        await order("", {"endpoint": "chat", "script": [{"content": "scripted"}], "always": {"mode": "garbage"}})
        assert (await model.complete(TURNS)).text == "scripted"
        with pytest.raises(DependencyDown):
            await model.complete(TURNS)
        assert (await order("", None))["requests"] == {"embeddings": 0, "chat": 2, "models": 0}
        await order("/reset", {})
        assert (await model.complete(TURNS)).text == '{"memories": []}'
        await model.close()
    finally:
        process.terminate()
        await process.wait()
