"""What `MemoryClient` refuses by itself, and how it reads answers. No broker: nothing here may reach one.

Its conversation with a real worker is in `tests/integration/test_requests.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from schemas import ConversationEvent, ErrorReply, EventOutcome, Message, RecallReply
from streams.client import (
    MAX_RECORD_BYTES,
    BadRequest,
    DeadlineExceeded,
    MemoryClient,
    MemoryClientError,
    TooLarge,
    Unavailable,
)
from streams.settings import load_settings
from tests.harness import free_port

SETTINGS = load_settings(kafka_bootstrap="127.0.0.1:1")
Call = Callable[[MemoryClient], Awaitable[object]]


@pytest_asyncio.fixture
async def client() -> AsyncIterator[MemoryClient]:
    made = MemoryClient(settings=SETTINGS, namespace="n")
    yield made
    await made.close()


def event(text: str = "hi", **fields: object) -> ConversationEvent:
    return ConversationEvent.model_validate(
        {"event_id": "e", "namespace": "n", "user_id": "u", "messages": [Message(text=text)], **fields}
    )


async def all_of(client: MemoryClient, events: list[ConversationEvent]) -> list[str]:
    return [event_id async for event_id in client.publish_many(events)]


REFUSED: dict[str, tuple[Call, str]] = {
    "blank user": (lambda c: c.publish(user_id=" ", text="hi"), "user_id"),
    "everybody": (lambda c: c.recall("q", user_id="*"), "user_id"),
    "percent": (lambda c: c.get("m", user_id="%"), "user_id"),
    "full-width star": (lambda c: c.export(user_id="＊"), "user_id"),
    "a list of users": (lambda c: c.profile(user_id=["a", "b"]), "user_id"),  # type: ignore[arg-type]
    "no user": (lambda c: c.history("m", user_id=None), "user_id"),  # type: ignore[arg-type]
    "true": (lambda c: c.recall("q", user_id=True), "user_id"),
    "NUL in a name": (lambda c: c.recall("q", user_id="a\0b"), "user_id"),
    "surrogate in a name": (lambda c: c.recall("q", user_id="a\ud800"), "user_id"),
    "wildcard namespace": (lambda c: c.recall("q", user_id="u", namespace="*"), "namespace"),
    "no question": (lambda c: c.recall("  ", user_id="u"), "needs a query"),
    "nothing to explain": (lambda c: c.explain("m", " ", user_id="u"), "needs a query"),
    "no ids": (lambda c: c.get(user_id="u"), "memory_ids"),
    "no messages": (lambda c: c.publish(user_id="u", messages=[]), "messages"),
    "unknown role": (lambda c: c.publish(user_id="u", text="x", role="boss"), "role"),
    "unknown zone": (lambda c: c.publish(user_id="u", text="x", timezone="Mars/Base"), "timezone"),
    "no time": (lambda c: c.publish(user_id="u", text="x", occurred_at="soon"), "occurred_at"),
    "time out of range": (
        lambda c: c.publish(user_id="u", text="x", occurred_at="0001-01-01T00:00:00+14:00"),
        "occurred_at",
    ),
    "control character in an id": (lambda c: c.publish(user_id="u", text="x", event_id="a\nb"), "event_id"),
    "lone surrogate": (lambda c: c.publish(user_id="u", text="a\ud800b"), "(?i)unicode"),
    "lone surrogate in an event": (lambda c: c.publish(event("a\udc00b")), "(?i)unicode"),
    "lone surrogate among many": (lambda c: all_of(c, [event("a\ud800b")]), "(?i)unicode"),
    "lone surrogate in a question": (lambda c: c.recall("a\ud800b", user_id="u"), "(?i)unicode"),
    "lone surrogate in an id": (lambda c: c.supersede("a\ud800", "b", user_id="u"), "(?i)unicode"),
    "two scopes": (lambda c: c.forget(user_id="u", everything=True, session_id="s"), "exactly one"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_can_not_work_is_refused_here(client: MemoryClient, name: str) -> None:
    call, place = REFUSED[name]
    with pytest.raises(BadRequest, match=place) as raised:
        await call(client)
    assert "ud800" not in str(raised.value)


async def test_a_namespace_is_needed() -> None:
    client = MemoryClient(settings=SETTINGS)
    with pytest.raises(BadRequest, match="namespace"):
        await client.recall("q", user_id="u")
    await client.close()


async def test_no_error_quotes_the_text(client: MemoryClient) -> None:
    with pytest.raises(BadRequest) as raised:
        await client.publish(user_id="u", messages=[{"text": ["my secret"]}])
    assert "my secret" not in str(raised.value)


def of_size(size: int) -> ConversationEvent:
    return event("x" * (size - len(event("").to_bytes())))


async def test_more_than_two_mebibytes_are_refused_before_sending(client: MemoryClient) -> None:
    """This client can't send at all, so it looked at the size before."""
    big = of_size(MAX_RECORD_BYTES + 1)
    for call in (client.publish(big), all_of(client, [big])):
        with pytest.raises(TooLarge, match=str(MAX_RECORD_BYTES)):
            await call


def test_two_mebibytes_are_allowed() -> None:
    value = of_size(MAX_RECORD_BYTES).to_bytes()
    assert MemoryClient._sized(value) is value


async def test_a_client_that_was_not_started_says_so(client: MemoryClient) -> None:
    with pytest.raises(Unavailable, match="async with"):
        await client.recall("q", user_id="u")


async def test_no_broker_is_a_typed_error() -> None:
    settings = load_settings(kafka_bootstrap=f"127.0.0.1:{free_port()}")
    with pytest.raises(Unavailable, match="is Kafka running"):
        async with MemoryClient(settings=settings, namespace="n"):
            pass


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("bad_request", BadRequest),
        ("too_large", TooLarge),
        ("deadline_exceeded", DeadlineExceeded),
        ("unavailable", Unavailable),
        ("internal", Unavailable),
    ],
)
def test_each_error_has_its_type(code: str, kind: type[MemoryClientError]) -> None:
    value = ErrorReply(error=code, detail="why", retry_after_seconds=3).to_bytes()  # type: ignore[arg-type]
    with pytest.raises(kind, match="why") as raised:
        MemoryClient._parsed(value, RecallReply)
    if code == "unavailable":
        assert raised.value.retry_after == 3  # type: ignore[attr-defined]


def test_an_answer_that_quotes_an_error_is_an_answer() -> None:
    told = EventOutcome(namespace='"error":"', user_id='{"error":"internal"}', event_id="e", outcome="stored")
    assert MemoryClient._parsed(told.to_bytes(), EventOutcome) == told
