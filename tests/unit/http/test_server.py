"""The server itself, byte by byte: slow and broken senders, lengths that two readers could understand differently."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from streams.app import Worker
from streams.errors import ConfigurationError
from streams.http import crowd, envelope, server
from streams.http.server import listening
from streams.metrics import REGISTRY
from tests.harness import eventually
from tests.unit.http.gateway import PASSED, QUESTION, Waiting, add_key, application, settings_for

pytestmark = pytest.mark.asyncio(loop_scope="module")
BODY = json.dumps(QUESTION).encode()
LIMIT = 100_000
# Slow is what takes longer than this.
SECONDS = 0.5


class Gateway:
    def __init__(self, address: tuple[str, int], token: str) -> None:
        self.address = address
        self.head = b"POST /memory/query HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
        self.key = f"Authorization: Bearer {token}\r\n".encode()

    def request(self, *headers: bytes, body: bytes = BODY) -> bytes:
        """With a key and a Content-Length, unless `headers` has another length."""
        own = b"".join(header + b"\r\n" for header in headers)
        length = b"" if b"ength" in own or b"ncoding" in own else b"Content-Length: %d\r\n" % len(body)
        return self.head + self.key + own + length + b"\r\n" + body

    async def send(self, *pieces: bytes) -> list[int]:
        """Statuses of all that is answered until the gateway closes the connection."""
        reader, writer = await asyncio.open_connection(*self.address)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            async with asyncio.timeout(30):
                answered = await reader.read()
        finally:
            writer.close()
        return [int(part[:3]) for part in answered.split(b"HTTP/1.1 ")[1:]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    settings = settings_for(
        tmp_path_factory.mktemp("server"), http_port=0, http_body_seconds=SECONDS, http_max_body_bytes=LIMIT
    )
    token = add_key(settings)
    async with application(settings) as app, listening(app, settings) as address:
        yield Gateway(address, token)


CLOSE = b"Connection: close"


async def test_an_ordinary_request(gateway: Gateway) -> None:
    assert await gateway.send(gateway.request(CLOSE)) == [PASSED]


async def test_chunks_are_a_body(gateway: Gateway) -> None:
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    assert await gateway.send(gateway.request(b"Transfer-Encoding: chunked", CLOSE, body=chunks)) == [PASSED]


SMUGGLED = b"GET /memory/profile?user_id=u HTTP/1.1\r\nHost: gateway\r\n\r\n"


@pytest.mark.parametrize(
    "headers",
    [
        [b"Content-Length: %d" % (len(BODY) + len(SMUGGLED)), b"Content-Length: %d" % len(BODY)],
        [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: chunked", b"Content-Length: 5"],
        [b"Transfer-Encoding: gzip"],
        [b"Transfer-Encoding : chunked"],
        [b"Transfer-Encoding: chunked, identity"],
        [b"Content-Length: -1"],
        [b"Content-Length: +5"],
        [b"Content-Length: 5, 5"],
        [b"Content-Length: 0x10"],
        [b"Authorization: Bearer other", b"Content-Length: 5"],
        [b"X: a\rContent-Length: 0", b"Content-Length: 5"],
        [b"X: a\nAuthorization: Bearer other", b"Content-Length: 5"],
        [b" folded: line", b"Content-Length: 5"],
        [b"X: a\0b", b"Content-Length: 5"],
    ],
    ids=str,
)
async def test_nothing_is_smuggled(gateway: Gateway, headers: list[bytes]) -> None:
    """What is ambiguous is refused, and what comes behind it on the connection is not answered as a request."""
    statuses = await gateway.send(gateway.request(*headers, body=BODY + SMUGGLED))
    assert statuses[:1] in ([400], [413]), statuses
    assert PASSED not in statuses
    assert len(statuses) == 1 or statuses[1:] == [400]


async def test_no_key_no_body(gateway: Gateway) -> None:
    """Refused by the headers alone, and the connection ends, with a body that never comes."""
    head = gateway.head + b"Content-Length: 90000\r\n\r\n"
    assert await gateway.send(head) == [401]


async def test_a_refused_sender_sees_why(gateway: Gateway) -> None:
    large = b"x" * (20 * LIMIT)
    assert await gateway.send(gateway.request(CLOSE, body=large)) == [413]
    assert await gateway.send(gateway.head + CLOSE + b"\r\nContent-Length: %d\r\n\r\n" % len(large), large) == [401]


async def test_who_asks_first_sends_no_body_in_vain(gateway: Gateway) -> None:
    """As curl does with a large file: without `100 Continue` it sees the refusal and stops."""
    head = gateway.head + b"Expect: 100-continue\r\n"
    assert await gateway.send(head + b"Content-Length: 90000\r\n\r\n") == [401]
    good = gateway.request(b"Expect: 100-continue", CLOSE)
    assert (await gateway.send(good))[-1] == PASSED


async def test_slow_headers_are_not_waited_for(gateway: Gateway) -> None:
    assert await gateway.send(b"") == []
    assert await gateway.send(gateway.head) == []
    # Nor those of a second request on a connection that was good before.
    assert await gateway.send(gateway.request() + gateway.head) == [PASSED]


@pytest.mark.parametrize("byte", [b"\r\n", b"G"])
async def test_a_byte_does_not_keep_an_idle_connection(gateway: Gateway, byte: bytes) -> None:
    reader, writer = await asyncio.open_connection(*gateway.address)
    writer.write(gateway.request())
    assert b"HTTP/1.1" in await reader.readuntil(b"\r\n\r\n")
    writer.write(byte)
    async with asyncio.timeout(30):
        await reader.read()
    writer.close()


async def test_slow_bodies_are_not_waited_for(gateway: Gateway) -> None:
    assert await gateway.send(gateway.request(body=BODY)[:-1]) == [408]
    assert await gateway.send(gateway.request(b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n")) == [408]


async def test_a_trickle_is_slow(gateway: Gateway) -> None:
    """Each byte comes soon after the one before; all of them together never end."""
    reader, writer = await asyncio.open_connection(*gateway.address)
    writer.write(gateway.request(b"Content-Length: 1000", body=b""))

    async def trickle() -> None:
        for _ in range(900):
            writer.write(b" ")
            await asyncio.sleep(0.02)

    trickling = asyncio.create_task(trickle())
    async with asyncio.timeout(15):
        assert b" 408 " in await reader.readline()
    trickling.cancel()
    writer.close()


async def test_slow_senders_hold_nobody_up(gateway: Gateway) -> None:
    """More of them than there are places in flight."""
    waiting = [await asyncio.open_connection(*gateway.address) for _ in range(300)]
    for _, writer in waiting:
        writer.write(gateway.request()[:-1])
    assert await gateway.send(gateway.request(CLOSE)) == [PASSED]
    for _, writer in waiting:
        writer.close()


@pytest.mark.parametrize("sent", [b"what is this?\r\n\r\n", b"GET / HTTP/1.1\r\nX-Endless: " + b"x" * 100_000])
async def test_what_is_no_request_gets_a_problem_too(gateway: Gateway, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection(*gateway.address)
    writer.write(sent)
    head, body = await answered((reader, writer))
    assert head.startswith(b"http/1.1 400 ")
    assert b"\r\ncontent-type: application/problem+json\r\n" in head
    assert json.loads(body)["type"] == "urn:memstream:problem:not-http"
    writer.close()


ASKED = b"GET /openapi.json HTTP/1.1\r\nHost: gateway\r\n\r\n"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def answered(connection: Connection) -> tuple[bytes, bytes]:
    """Head and body of the next answer on it."""
    reader, _ = connection
    async with asyncio.timeout(30):
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        return head, await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))


def refused(how: str) -> float:
    return REGISTRY.get_sample_value("memstream_http_connections_refused_total", {"how": how}) or 0.0


async def test_there_is_room_for_so_many_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most, spare = 5, 3
    monkeypatch.setattr(server, "SPARE", spare)
    settings = settings_for(tmp_path, http_port=0, http_max_connections=most)
    before = refused("answered"), refused("closed")
    async with application(settings) as app, listening(app, settings) as address, contextlib.AsyncExitStack() as stack:

        async def connected(*pieces: bytes) -> Connection:
            connection = await asyncio.open_connection(*address)
            stack.callback(connection[1].close)
            connection[1].writelines(pieces)
            return connection

        async def ended(connection: Connection) -> bytes:
            try:
                async with asyncio.timeout(30):
                    return await connection[0].read()
            except ConnectionResetError:
                return b""

        kept = [await connected(ASKED) for _ in range(most)]
        assert all(b" 200 " in head for head, _ in [await answered(one) for one in kept])
        # What comes above is told so, whatever it asks and however much it sends; and it is closed.
        large = b"POST /memory/write HTTP/1.1\r\nHost: gateway\r\nContent-Length: 900000\r\n\r\n", b"x" * 900_000
        for asked in ((ASKED,), large):
            above = await connected(*asked)
            head, body = await answered(above)
            assert head.startswith(b"http/1.1 503 ")
            assert b"\r\nretry-after: 1\r\n" in head
            assert b"\r\ncontent-type: application/problem+json\r\n" in head
            problem = json.loads(body)
            assert (problem["type"], problem["status"]) == ("urn:memstream:problem:too-many-connections", 503)
            assert problem["request_id"].encode() in head
            assert await ended(above) == b""
        # Those that were there notice nothing of it.
        kept[0][1].write(ASKED)
        assert b" 200 " in (await answered(kept[0]))[0]
        # Of those that say nothing only a few are waited for, and not for long.
        silent = [await connected() for _ in range(spare)]
        assert await ended(await connected(ASKED)) == b""
        for one in silent:
            assert await ended(one) == b""
        assert (refused("answered") - before[0], refused("closed") - before[1]) == (2 + spare, 1)
        # One leaves, another has its place.
        kept.pop()[1].close()

        async def in_place() -> bool:
            return b" 200 " in (await answered(await connected(ASKED)))[0]

        await eventually(in_place, what="a place")


async def test_there_are_no_more_connections_than_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd.resource, "getrlimit", lambda _: (1024, 1024))
    assert crowd.room(100) == 100
    assert crowd.room(2048) == 1024 - crowd.OTHER_FILES - crowd.SPARE
    monkeypatch.setattr(crowd.resource, "getrlimit", lambda _: (crowd.resource.RLIM_INFINITY,) * 2)
    assert crowd.room(2048) == 2048


async def test_slow_readers_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an answer without end nothing is read: it is broken off, visibly, and others are served meanwhile."""
    monkeypatch.setattr(envelope, "SEND_SECONDS", SECONDS)
    Waiting.again()
    Waiting.go.set()
    settings = settings_for(tmp_path, http_port=0)
    token = add_key(settings)
    labels = {"route": "/memory/export", "status": "200"}

    async def given_up() -> bool:
        return bool(REGISTRY.get_sample_value("memstream_http_requests_total", labels))

    async with application(settings, Waiting) as app, listening(app, settings) as address:
        gateway = Gateway(address, token)
        reader, writer = await asyncio.open_connection(*address, limit=1024)
        writer.write(gateway.request(body=b'{"user_id": "u1"}').replace(b"/memory/query", b"/memory/export"))
        async with asyncio.timeout(30):
            assert b" 200 " in await reader.readline()
            assert await gateway.send(gateway.request(CLOSE)) == [200]
            await eventually(given_up, every=0.05)
            with contextlib.suppress(ConnectionError):
                assert not (await reader.read()).endswith(b"0\r\n\r\n")
        writer.close()


async def test_what_is_under_way_is_finished_at_the_end(tmp_path: Path) -> None:
    Waiting.again()
    settings = settings_for(tmp_path, http_port=0)
    token = add_key(settings)
    async with application(settings, Waiting) as app:
        async with listening(app, settings) as address:
            gateway = Gateway(address, token)
            under_way = asyncio.create_task(gateway.send(gateway.request()))
            await Waiting.under_way(1)
            asyncio.get_running_loop().call_later(0.2, Waiting.go.set)
        assert await under_way == [200]
        with pytest.raises(ConnectionError):
            await gateway.send(gateway.request())


async def test_headers_have_a_limit_too(gateway: Gateway) -> None:
    many = [b"X-%d: %s" % (n, b"x" * 1000) for n in range(100)]
    assert await gateway.send(gateway.request(*many, CLOSE)) in ([400], [431])
    assert await gateway.send(gateway.request(b"X-One: " + b"x" * 100_000, CLOSE)) in ([400], [431])
    assert await gateway.send(gateway.head + b"X-Endless: " + b"x" * 100_000) == [400]


async def test_a_port_that_is_taken_is_an_error_that_says_what_to_do(gateway: Gateway, tmp_path: Path) -> None:
    settings = settings_for(tmp_path, http_port=gateway.address[1])
    async with application(settings) as app:
        with pytest.raises(ConfigurationError, match="MEMSTREAM_HTTP_PORT"):
            async with listening(app, settings):
                pass


async def test_without_the_framework_the_role_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "streams.http.server")
    worker = Worker(settings_for(tmp_path), ["http"])
    async with contextlib.AsyncExitStack() as stack:
        with pytest.raises(ConfigurationError, match=r"uvicorn.*memstream\[http\]"):
            await worker._start_gateway(stack)
