"""Input that looks odd and is not: every script, long texts, large records, other clients, every codec."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from schemas import Receipt
from streams.adapters.kafka_broker import EmbeddedKafka
from tests.harness import Pipeline, eventually, pipeline
from tests.integration.raw import Raw, produce

LONG = " ".join(f"On day {n} we painted room {n} of the old mill in a new colour." for n in range(500))[:30_000]

# What is said, and a question in which it is found again.
SAID: Mapping[str, tuple[str, str]] = {
    "right to left": ("\u202eאני גר בחיפה עם המשפחה שלי כבר עשר שנים\u202c", "חיפה"),
    "arabic": ("أنا أعيش في القاهرة مع عائلتي منذ عشر سنوات", "القاهرة"),
    "zero width": ("My sister\u200b plays\u2060 the \ufeffcello in Bergen\u200d every week.", "Who plays the cello?"),
    "emoji": ("I adopted a puppy 🐶👨‍👩‍👧‍👦🏳️‍🌈 from the shelter yesterday! 🇩🇪", "puppy from the shelter"),
    "combining": (
        "Je viens de cafe\u0301 \u0041\u030angstro\u0308m, mon endroit préféré à Lyon.",
        "mon endroit préféré",
    ),
    "chinese": ("我下个月要去成都出差，客户是华天科技。", "去成都出差"),
    "full width": ("Ｍｙ　ｆａｖｏｕｒｉｔｅ　ｃｉｔｙ　ｉｓ　Ｌｉｓｂｏｎ。", "Lisbon"),
    "typed escapes": ("The path is C:\\u0000\\new and the regex is \\ud800 in our build.", "the path in our build"),
    "control characters": ("I keep\tmy notes\r\nin two columns\x0b of a paper journal.", "notes in a paper journal"),
    "markup": ("<b>I</b> like {{jinja}} & '; DROP TABLE users; -- in my test names", "test names"),
    "long": (LONG, "Which colour did we paint room 250 of the old mill?"),
}


def chat(event_id: str, *texts: str, **fields: object) -> dict[str, Any]:
    return {
        "event_id": event_id,
        "namespace": "shop",
        "user_id": f"user of {event_id}",
        "session_id": "s",
        "occurred_at": "2026-03-02T09:00:00Z",
        "messages": [{"text": text} for text in texts],
        **fields,
    }


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


PLAIN = "I keep bees on the roof of the library."
# Sent by a client that is not ours.
RECORDS: Mapping[str, Raw] = {
    "no key": Raw(as_json(chat("no key", PLAIN))),
    "empty key": Raw(as_json(chat("empty key", PLAIN)), b""),
    "the right key": Raw(as_json(chat("the right key", PLAIN)), b"shop/user%20of%20the%20right%20key"),
    "unknown headers": Raw(as_json(chat("unknown headers", PLAIN)), None, (("x", b"\xff\x00"), ("y", None), ("", b""))),
    "unknown fields": Raw(as_json(chat("unknown fields", PLAIN, mood={"deep": [1, [2, {"x": None}]]}))),
    "byte order mark": Raw(b"\xef\xbb\xbf" + as_json(chat("byte order mark", PLAIN))),
    "blanks around": Raw(b"\r\n " + as_json(chat("blanks around", PLAIN)) + b"\n\n"),
    "a number as user": Raw(as_json(chat("a number as user", PLAIN, user_id=1001))),
    "a time of long ago": Raw(as_json(chat("a time of long ago", PLAIN, occurred_at="0001-01-01T00:00:00Z"))),
    "a time far ahead": Raw(as_json(chat("a time far ahead", PLAIN, occurred_at="9999-12-31T23:59:59Z"))),
    "a reply to nowhere": Raw(
        as_json(chat("a reply to nowhere", PLAIN)),
        None,
        (("reply_to", b"odd.replies.nobody"), ("correlation_id", b"1")),
    ),
    "a reply to a partition that is not there": Raw(
        as_json(chat("a reply to a partition that is not there", PLAIN)),
        None,
        (("kafka_replyTopic", b"odd.replies.shared"), ("kafka_replyPartition", b"\xff\xff\xff\xff")),
    ),
    "a reply to a topic of somebody else": Raw(
        as_json(chat("a reply to a topic of somebody else", PLAIN)), None, (("reply_to", b"odd.records"),)
    ),
}
CODECS = ("gzip", "snappy", "lz4", "zstd")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, "odd.", partitions=1) as made:
        await made.worker().start()
        yield made


async def received(line: Pipeline, *event_ids: str) -> dict[str, Receipt]:
    async def there() -> dict[str, Receipt]:
        receipts = await line.receipts()
        return receipts if set(event_ids) <= receipts.keys() else {}

    return await eventually(there, every=0.5, what=f"receipts of {event_ids}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def receipts(line: Pipeline) -> dict[str, Receipt]:
    await line.publish([chat(name, text) for name, (text, _) in SAID.items()])
    await produce(line, RECORDS.values())
    for codec in CODECS:
        await produce(line, [Raw(as_json(chat(codec, PLAIN)))], codec=codec)
    return await received(line, *SAID, *RECORDS, *CODECS)


@pytest.mark.parametrize("name", SAID)
async def test_what_was_said_is_found_again(line: Pipeline, receipts: dict[str, Receipt], name: str) -> None:
    said, question = SAID[name]
    assert receipts[name].outcome == "stored"
    async with line.client(namespace="shop", deadline=30) as memory:
        found = await memory.recall(question, user_id=f"user of {name}", threshold=False)
        assert found.memories
        episodes = [m for m in await memory.export(user_id=f"user of {name}") if m.layer == "episode"]
    told = "".join(m.content for m in sorted(episodes, key=lambda m: m.source.start))
    assert [c for c in told if c.isalnum()] == [c for c in said if c.isalnum()], "no word is lost or altered"


async def test_inside_a_sentence_nothing_is_altered(line: Pipeline, receipts: dict[str, Receipt]) -> None:
    async with line.client(namespace="shop", deadline=30) as memory:
        for name in ("emoji", "zero width", "combining", "full width", "right to left"):
            (kept,) = [m for m in await memory.export(user_id=f"user of {name}") if m.layer == "episode"]
            assert kept.content in SAID[name][0], name


@pytest.mark.parametrize("name", [*RECORDS, *CODECS])
async def test_records_of_other_clients(receipts: dict[str, Receipt], name: str) -> None:
    assert receipts[name].outcome == "stored"
    assert receipts[name].memory_ids


async def test_no_reply_went_astray(line: Pipeline, receipts: dict[str, Receipt]) -> None:
    assert [key async for key, value in line.read("records") if b'"outcome"' in (value or b"")] == []
    assert [letter async for letter in line.records("dead-letters")] == []
