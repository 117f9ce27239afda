"""Records that can't be processed are parked, whole and with a reason; those that only look odd are remembered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pytest
import pytest_asyncio

from schemas import Receipt
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.limits import MAX_RECORD_BYTES
from streams.logs import shown_id
from streams.records import DEAD_LETTER_PREFIX
from tests.harness import Pipeline, eventually, pipeline
from tests.integration.raw import Raw, RawHeaders, produce

# In every poison record, so that a test can tell that no header repeats it.
SAID = "sesame"


def chat(event_id: str, text: str = f"I always say {SAID}.", **fields: object) -> dict[str, Any]:
    return {
        "event_id": event_id,
        "namespace": "shop",
        "user_id": f"user of {event_id}",
        "session_id": "s",
        "occurred_at": "2026-03-02T09:00:00Z",
        "messages": [{"text": text}],
        **fields,
    }


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def with_text(event_id: str, said: str) -> bytes:
    """`said` stands in the JSON exactly as given."""
    return as_json(chat(event_id, "?")).replace(b"?", said.encode())


def without(event_id: str, name: str) -> bytes:
    return as_json({k: v for k, v in chat(event_id).items() if k != name})


@dataclass(frozen=True)
class Case:
    """What is sent and what must become of it. `receipt` is the event id of its receipt, if it can be told."""

    reason: str
    sent: Raw
    receipt: str | None = None
    stage: str = "redact"
    letters: str = "dead-letters.raw"
    error: str = "BadData"


def bad(reason: str, value: bytes | None, receipt: str | None = None, key: bytes | None = None) -> Case:
    return Case(reason, Raw(value, key), receipt)


ODD_HEADERS: RawHeaders = (
    ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("mine", b"\xff\x00\xfe"),
    ("mine", b"twice"),
    ("名前", "値".encode()),
    ("nothing", None),
    ("empty", b""),
)

CASES: Mapping[str, Case] = {
    "not JSON": bad("not_json", f"hello {SAID}".encode()),
    "half of a JSON": bad("not_json", as_json(chat("half"))[:-3]),
    "not UTF-8": bad("not_json", b'{"event_id": "\xff\xfe"}'),
    "empty": bad("not_json", b""),
    "null value": bad("null_value", None, key=b"shop/somebody"),
    "null value and null key": bad("null_value", None),
    "a key that is no text": bad("key_mismatch", as_json(chat("binary key")), key=b"\xff\x00\xfe"),
    "a list": bad("bad_schema", b"[1, 2]"),
    "messages of a wrong type": bad("bad_schema", as_json(chat("m", messages=SAID)), "m"),
    "text of a wrong type": bad("bad_schema", as_json(chat("t", messages=[{"text": {"a": SAID}}])), "t"),
    "no messages": bad("bad_schema", as_json(chat("none", messages=[])), "none"),
    "a role that is none": bad("bad_schema", as_json(chat("r", messages=[{"role": "boss", "text": SAID}])), "r"),
    "a time that is none": bad("bad_schema", as_json(chat("when", occurred_at="soon")), "when"),
    "a time before all times": bad("bad_schema", as_json(chat("0", occurred_at="0001-01-01T00:00:00+14:00")), "0"),
    "an unknown zone": bad("bad_schema", as_json(chat("zone", timezone="Mars/Base")), "zone"),
    "no event id": bad("bad_schema", without("x", "event_id")),
    "no namespace": bad("bad_tenant", without("n1", "namespace")),
    "a blank namespace": bad("bad_tenant", as_json(chat("n2", namespace=" "))),
    "every namespace": bad("bad_tenant", as_json(chat("n3", namespace="*"))),
    "no user": bad("bad_tenant", without("u1", "user_id")),
    "a blank user": bad("bad_tenant", as_json(chat("u2", user_id=""))),
    "an invisible user": bad("bad_tenant", as_json(chat("u3", user_id="\u200b\u2060"))),
    "every user": bad("bad_tenant", as_json(chat("u4", user_id="*"))),
    "every user in full width": bad("bad_tenant", as_json(chat("u5", user_id="＊"))),
    "a percent sign as user": bad("bad_tenant", as_json(chat("u6", user_id="%"))),
    "a list of users": bad("bad_tenant", as_json(chat("u7", user_id=["a", "b"]))),
    "a user that is a surrogate": bad("lone_surrogate", as_json(chat("u8", user_id="a\ud800"))),
    "an unknown version": bad("unknown_schema_version", as_json(chat("v", schema_version=2)), "v"),
    "a key of somebody else": bad("key_mismatch", as_json(chat("k")), key=b"shop/somebody"),
    "a lone surrogate": bad("lone_surrogate", with_text("s1", f"{SAID} \\ud83d"), "s1"),
    "a lone second surrogate": bad("lone_surrogate", with_text("s2", f"{SAID} \\ude00 x"), "s2"),
    "NUL": bad("nul_character", with_text("nul", f"{SAID} \\u0000 x"), "nul"),
    "a message over 32,000 characters": bad("too_large", as_json(chat("long", "word " * 6401)), "long"),
    "context over 32,000 characters": bad("too_large", as_json(chat("ctx", context=[{"text": "x" * 32001}])), "ctx"),
    "deep JSON": bad("not_json", as_json(chat("deep"))[:-1] + b', "x": ' + b"[" * 50000 + b"]" * 50000 + b"}"),
    "odd headers": Case("not_json", Raw(b"{", b"\xfe", ODD_HEADERS)),
    "a reply partition that is none": Case(
        "bad_reply_header",
        Raw(as_json(chat("rp")), None, (("reply_to", b"replies.shared"), ("kafka_replyPartition", b"1"))),
        "rp",
    ),
    "garbage for extract": Case(
        "not_json", Raw(b"}{", b"k", (("a", b"b"),), topic="redacted"), stage="extract", letters="dead-letters"
    ),
    "garbage for the writer": Case(
        "not_json", Raw(b"}{", b"k", topic="candidates"), stage="memory", letters="dead-letters"
    ),
    "a supersede of a wrong shape": Case(
        "bad_schema",
        Raw(as_json({"namespace": "shop", "user_id": "u", "old_id": [SAID]}), topic="supersede"),
        stage="memory",
        letters="dead-letters",
    ),
    "a null tick": Case("null_value", Raw(None, topic="decay"), stage="memory", letters="dead-letters"),
    "an access of everybody": Case(
        "bad_tenant",
        Raw(as_json({"namespace": "shop", "user_id": "*", "memory_ids": ["m"]}), topic="access"),
        stage="memory",
        letters="dead-letters",
    ),
}
MARK = "x-case"


@dataclass(frozen=True)
class Seen:
    letters: Mapping[str, Any]
    receipts: Mapping[str, Receipt]
    line: Pipeline


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka) -> AsyncIterator[Pipeline]:
    # One partition: whatever blocks it would show in every other test.
    async with pipeline(kafka.bootstrap, "poison.", partitions=1) as made:
        await made.worker().start()
        yield made


async def letters_of(line: Pipeline) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for topic in ("dead-letters", "dead-letters.raw"):
        async for letter in line.records(topic):
            name = dict(letter.headers).get(MARK, b"").decode()
            assert name not in found, f"parked twice: {name}"
            found[name] = letter
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seen(line: Pipeline) -> Seen:
    """Every poison record is sent between two good ones, in one partition."""
    records: list[Raw] = []
    for number, (name, case) in enumerate(CASES.items()):
        mark = (MARK, name.encode())
        records.append(replace(case.sent, headers=(*case.sent.headers, mark)))
        records.append(Raw(as_json(chat(f"next {number}", "I live in Bonn."))))
    await produce(line, records)
    wanted = {f"next {number}" for number in range(len(CASES))} | {c.receipt for c in CASES.values() if c.receipt}

    async def received() -> dict[str, Receipt]:
        receipts = await line.receipts()
        return receipts if wanted <= receipts.keys() else {}

    receipts = await eventually(received, every=0.5, what="the receipts of all good and of all nameable bad events")

    async def parked() -> dict[str, Any]:
        letters = await letters_of(line)
        return letters if len(letters) >= len(CASES) else {}

    return Seen(await eventually(parked, every=0.5, what="a dead letter a case"), receipts, line)


@pytest.mark.parametrize("name", CASES)
async def test_poison_is_parked_whole(seen: Seen, name: str) -> None:
    case, letter = CASES[name], seen.letters[name]
    prefix = seen.line.settings.topic_prefix
    assert letter.topic == prefix + case.letters
    assert letter.value == case.sent.value
    assert letter.key == case.sent.key
    sent = (*case.sent.headers, (MARK, name.encode()))
    assert tuple(letter.headers[: len(sent)]) == sent
    said = {n.removeprefix(DEAD_LETTER_PREFIX): v.decode() for n, v in letter.headers[len(sent) :]}
    assert said.pop("offset").isdigit()
    assert datetime.fromisoformat(said.pop("appended_at")) <= datetime.fromisoformat(said.pop("failed_at"))
    assert said == {
        "topic": prefix + case.sent.topic,
        "partition": "0",
        "stage": case.stage,
        "reason": case.reason,
        "exception.class.name": case.error,
        "attempts": "1",
        "redriven_count": "0",
    }
    assert all(SAID.encode() not in (value or b"") for _, value in letter.headers)


async def test_every_bad_event_that_can_be_named_has_its_receipt(seen: Seen) -> None:
    for case in CASES.values():
        if case.receipt is not None:
            receipt = seen.receipts[case.receipt]
            assert (receipt.outcome, receipt.stage, receipt.reason) == ("parked", case.stage, case.reason)
    good = {event_id for event_id, receipt in seen.receipts.items() if receipt.outcome != "parked"}
    assert good == {f"next {number}" for number in range(len(CASES))}


@pytest.mark.parametrize("name", CASES)
async def test_the_log_names_the_event(seen: Seen, name: str) -> None:
    case, letter = CASES[name], seen.letters[name]
    facts = {key.removeprefix(DEAD_LETTER_PREFIX): value for key, value in letter.headers}
    place = f"{case.sent.topic}/0/{(facts['offset'] or b'').decode()}"
    logged = "".join(process.log.read_text(errors="replace") for process in seen.line.processes)
    lines = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    told = [line for line in lines if line.get("record") == place]
    assert [line["message"] for line in told] == [f"stage {case.stage} parked a record: {case.reason}"]
    if case.receipt is not None:
        assert told[0]["event_id"] == shown_id(case.receipt)


async def test_the_log_repeats_no_text(seen: Seen) -> None:
    logged = "".join(process.log.read_text(errors="replace") for process in seen.line.processes)
    assert SAID not in logged
    assert "Traceback" not in logged


async def test_a_reused_event_id(line: Pipeline) -> None:
    """The first content stands; the second is parked and stores nothing."""
    first, other = chat("reused", "I live in Bonn."), chat("reused", "I live in Lyon.")
    await produce(line, [Raw(as_json(first)), Raw(as_json(other), headers=((MARK, b"reused"),)), Raw(as_json(first))])
    await produce(line, [Raw(as_json(chat("after reused", "I live in Graz.")))])

    async def parked() -> list[Any]:
        return [
            letter
            async for letter in line.records("dead-letters")
            if dict(letter.headers)[DEAD_LETTER_PREFIX + "reason"] == b"event_id_reused"
        ]

    (letter,) = await eventually(parked, every=0.5)
    headers = dict(letter.headers)
    assert headers[DEAD_LETTER_PREFIX + "stage"] == b"memory"
    assert headers[DEAD_LETTER_PREFIX + "topic"] == (line.settings.topic_prefix + "candidates").encode()
    source = [r async for r in line.records("candidates") if r.offset == int(headers[DEAD_LETTER_PREFIX + "offset"])]
    assert (letter.key, letter.value) == (source[0].key, source[0].value)

    async def received() -> dict[str, Receipt]:
        receipts = await line.receipts()
        return receipts if "after reused" in receipts else {}

    receipts = await eventually(received, every=0.5)
    assert receipts["reused"].outcome == "stored"
    async with line.client(namespace="shop", deadline=30) as memory:
        kept = await memory.export(user_id="user of reused")
        assert {m.value for m in kept if m.layer == "fact"} == {"Bonn"}


async def test_what_was_parked_can_be_sent_again_repaired(line: Pipeline) -> None:
    await produce(line, [Raw(as_json(chat("repaired", "I live in Bonn.", timezone="Mars/Base")))])

    async def outcome(wanted: str) -> bool:
        receipt = (await line.receipts()).get("repaired")
        return receipt is not None and receipt.outcome == wanted

    await eventually(lambda: outcome("parked"), every=0.5)
    await produce(line, [Raw(as_json(chat("repaired", "I live in Bonn.")))])
    await eventually(lambda: outcome("stored"), every=0.5)


async def test_more_than_any_record_may_be(line: Pipeline) -> None:
    """Compressed, it passes the broker; no dead letter could hold it, so it says where the record is."""
    bomb = as_json(chat("bomb", "word " * 1_000_000))
    assert len(bomb) > 2 * MAX_RECORD_BYTES
    await produce(line, [Raw(bomb, headers=((MARK, b"bomb"),))], codec="gzip")
    await produce(line, [Raw(as_json(chat("after the bomb", "I live in Bonn.")))])

    async def received() -> dict[str, Receipt]:
        receipts = await line.receipts()
        return receipts if "after the bomb" in receipts else {}

    receipts = await eventually(received, every=0.5)
    assert (receipts["bomb"].outcome, receipts["bomb"].reason) == ("parked", "too_large")
    letters = [
        dict(letter.headers)
        async for letter in line.records("dead-letters.raw")
        if letter.value is None and DEAD_LETTER_PREFIX + "value_bytes_left_out" in dict(letter.headers)
    ]
    assert [int(h[DEAD_LETTER_PREFIX + "value_bytes_left_out"]) for h in letters] == [len(bomb)]
    place = int(letters[0][DEAD_LETTER_PREFIX + "offset"])
    assert [r.value == bomb async for r in line.records("conversations") if r.offset == place] == [True]
