"""A record's value, key and headers as a stage sees them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import CandidateEvent, ConversationEvent, Tenant
from streams.agents.redact import parked_candidate
from streams.errors import BadData
from streams.records import CARRIED, FIRST_APPENDED, Inbound, check_key, cloud_event, decode, header, reply_to

GOOD = {"event_id": "e1", "namespace": "shop", "user_id": "u1", "messages": [{"text": "hi"}]}


def inbound(
    value: bytes | None, key: bytes | None = None, headers: tuple[tuple[str, bytes | None], ...] = ()
) -> Inbound:
    return Inbound("conversations", 0, 0, datetime(2026, 1, 1, tzinfo=UTC), key, value, headers)


def changed(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode()


def text(said: str) -> bytes:
    """`said` is written into the JSON as it is."""
    return changed(messages=[{"text": "?"}]).replace(b"?", said.encode())


POISON: dict[str, tuple[bytes | None, str]] = {
    "null value": (None, "null_value"),
    "empty": (b"", "not_json"),
    "words": (b"hello", "not_json"),
    "cut off": (changed()[:-2], "not_json"),
    "two values": (changed() + changed(), "not_json"),
    "not UTF-8": (b'{"event_id":"\xff"}', "not_json"),
    "UTF-16": (changed().decode().encode("utf-16"), "not_json"),
    "a raw NUL": (text("a\x00b"), "not_json"),
    "a raw newline": (text("a\nb"), "not_json"),
    "a deep list": (b"[" * 100_000 + b"]" * 100_000, "not_json"),
    "a deep field": (changed()[:-1] + b',"x":' + b"[" * 5000 + b"]" * 5000 + b"}", "not_json"),
    "a high surrogate": (text("a\\ud800b"), "lone_surrogate"),
    "a low surrogate": (text("a\\udc00b"), "lone_surrogate"),
    "a surrogate at the end": (text("a\\ud83d"), "lone_surrogate"),
    "NUL": (text("a\\u0000b"), "nul_character"),
    "NUL in a session": (changed(session_id="a\0"), "nul_character"),
    "a list": (b"[]", "bad_schema"),
    "null": (b"null", "bad_schema"),
    "no messages": (changed(messages=[]), "bad_schema"),
    "messages of a wrong type": (changed(messages="hi"), "bad_schema"),
    "text of a wrong type": (changed(messages=[{"text": 7}]), "bad_schema"),
    "a time that is none": (changed(occurred_at="soon"), "bad_schema"),
    "a time before all times": (changed(occurred_at="0001-01-01T00:00:00+14:00"), "bad_schema"),
    "an unknown zone": (changed(timezone="Mars/Base"), "bad_schema"),
    "a zone that is a path": (changed(timezone="../../etc/passwd"), "bad_schema"),
    "a blank id": (changed(event_id="  "), "bad_schema"),
    "NaN": (changed(min_importance=float("nan")), "bad_schema"),
    "version 2": (changed(schema_version=2), "unknown_schema_version"),
    "version text": (changed(schema_version="1"), "unknown_schema_version"),
    "no user": (json.dumps({k: v for k, v in GOOD.items() if k != "user_id"}).encode(), "bad_tenant"),
    "a blank user": (changed(user_id=" \t"), "bad_tenant"),
    "an invisible user": (changed(user_id="\u200b\u2060"), "bad_tenant"),
    "everybody": (changed(user_id="*"), "bad_tenant"),
    "everybody, full width": (changed(namespace="＊"), "bad_tenant"),
    "a list of users": (changed(user_id=["u1"]), "bad_tenant"),
    "a true user": (changed(user_id=True), "bad_tenant"),
    "half a user": (changed(user_id=1.5), "bad_tenant"),
    "a user too long": (changed(user_id="u" * 257), "bad_tenant"),
}


@pytest.mark.parametrize("name", POISON)
def test_bad_values_have_a_reason(name: str) -> None:
    value, reason = POISON[name]
    with pytest.raises(BadData) as raised:
        decode(inbound(value), ConversationEvent)
    assert raised.value.reason == reason


FINE: dict[str, bytes] = {
    "as documented": changed(),
    "a byte order mark": b"\xef\xbb\xbf" + changed(),
    "blanks around": b" \r\n" + changed() + b"\n",
    "unknown fields": changed(future={"deep": [1, {"x": None}]}),
    "a number as user": changed(user_id=1001),
    "NUL that was typed": text("\\\\u0000"),
    "a surrogate that was typed": text("\\\\ud800"),
    "a pair of surrogates": text("\\ud83d\\ude00"),
    "right to left": changed(messages=[{"text": "\u202eאני גר בחיפה\u202c"}]),
    "zero width": changed(messages=[{"text": "I\u200b live\u2060 in Bonn"}]),
}


@pytest.mark.parametrize("name", FINE)
def test_ordinary_values(name: str) -> None:
    assert decode(inbound(FINE[name]), ConversationEvent).event_id == "e1"


def test_typed_characters_stay_what_was_typed() -> None:
    event = decode(inbound(text("C:\\\\u0000")), ConversationEvent)
    assert event.messages[0].text == "C:\\u0000"


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_whatever_bytes_come_nothing_else_is_raised(value: bytes) -> None:
    record = inbound(value)
    with pytest.raises(BadData):
        decode(record, ConversationEvent)
    assert parked_candidate(record, "redact", "not_json") == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*ConversationEvent.model_fields, "x"]), json_values, max_size=6))
def test_whatever_fields_come_nothing_else_is_raised(fields: dict[str, object]) -> None:
    record = inbound(json.dumps({**GOOD, **fields}).encode())
    try:
        event = decode(record, ConversationEvent)
    except BadData as error:
        for told in parked_candidate(record, "redact", error.reason):
            assert CandidateEvent.from_bytes(told.value or b"").disposition == "parked"
    else:
        event.to_bytes()
        assert event.tenant.key.encode()


@given(st.text(st.characters(codec=None), max_size=40))
def test_a_reason_never_quotes_the_value(said: str) -> None:
    marked = "sesame" + said
    for fields in ({"user_id": [marked]}, {"messages": marked}, {"timezone": marked}, {"occurred_at": marked}):
        with pytest.raises(BadData) as raised:
            decode(inbound(changed(**fields)), ConversationEvent)
        assert "sesame" not in str(raised.value)


# Which event was parked


@pytest.mark.parametrize(
    "value",
    [
        changed(messages=[]),
        changed(schema_version=9),
        text("a\\ud800b"),
        text("a\\u0000b"),
        changed(occurred_at="soon"),
        b"\xef\xbb\xbf" + changed(messages=1),
    ],
)
def test_a_parked_event_is_named_where_it_can_be_told(value: bytes) -> None:
    (told,) = parked_candidate(inbound(value, headers=(("reply_to", b"r"), ("x", b"y"))), "redact", "why")
    event = CandidateEvent.from_bytes(told.value or b"")
    assert (event.tenant, event.event_id) == (Tenant(namespace="shop", user_id="u1"), "e1")
    assert (event.disposition, event.stage, event.reason) == ("parked", "redact", "why")
    assert told.key == b"shop/u1"
    assert header(told.headers, "reply_to") == ("reply_to", b"r")
    assert header(told.headers, "x") is None


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (None, None),
        (b"{", None),
        (b"[1]", None),
        (changed(user_id="*"), None),
        (changed(user_id="\ud800"), None),
        (changed(namespace="\udfff", messages=[]), None),
        (changed(event_id="\ud800"), None),
        (changed(event_id=""), None),
        (changed(), b"shop/somebody"),
        (b"[" * 100_000, None),
        (b'{"event_id":' + b"9" * 5000 + b"}", None),
    ],
)
def test_nobody_is_named_where_it_can_not_be_told(value: bytes | None, key: bytes | None) -> None:
    assert parked_candidate(inbound(value, key), "redact", "why") == []


# Keys


@pytest.mark.parametrize("key", [None, b"", b"shop/u1"])
def test_a_key_that_agrees_or_is_missing(key: bytes | None) -> None:
    check_key(inbound(b"", key), Tenant(namespace="shop", user_id="u1"))


@pytest.mark.parametrize("key", [b"shop/u2", b"u1", b"shop%2Fu1", b"SHOP/u1", b"\xff", b"shop/u1 "])
def test_a_key_that_contradicts(key: bytes) -> None:
    with pytest.raises(BadData) as raised:
        check_key(inbound(b"", key), Tenant(namespace="shop", user_id="u1"))
    assert raised.value.reason == "key_mismatch"


# Headers


def test_no_reply_is_asked_for() -> None:
    assert reply_to(()) is None
    assert reply_to((("reply_to", None), ("correlation_id", b"7"))) is None


def test_our_headers() -> None:
    target = reply_to((("reply_to", b"replies.a"), ("correlation_id", b"\x00\xff")))
    assert target is not None
    assert (target.topic, target.partition, target.headers) == ("replies.a", None, (("correlation_id", b"\x00\xff"),))


def test_headers_as_spring_sends_them() -> None:
    sent = (
        ("kafka_replyTopic", b"replies.java"),
        ("kafka_replyPartition", (5).to_bytes(4, "big")),
        ("kafka_correlationId", bytes(range(16))),
    )
    target = reply_to(sent)
    assert target is not None
    assert (target.topic, target.partition) == ("replies.java", 5)
    assert target.headers == (("kafka_correlationId", bytes(range(16))),)
    assert inbound(b"", headers=(*sent, ("secret", b"x"))).carried == sent


@pytest.mark.parametrize(
    "headers",
    [
        (("reply_to", "回复".encode()),),
        (("reply_to", b"r"), ("kafka_replyPartition", b"1")),
        (("reply_to", b"r"), ("kafka_replyPartition", b"\0" * 8)),
    ],
)
def test_reply_headers_that_can_not_be_read(headers: tuple[tuple[str, bytes], ...]) -> None:
    with pytest.raises(BadData) as raised:
        reply_to(headers)
    assert raised.value.reason == "bad_reply_header"


def test_cloud_event() -> None:
    time = datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=8)))
    made = dict(cloud_event("conversation", "事件/1", "client", time, (("reply_to", b"r"),)))
    assert made["ce_specversion"] == b"1.0"
    assert made["ce_id"] == "事件/1".encode()
    assert made["ce_type"] == b"memstream.conversation.v1"
    assert made["ce_time"] == b"2026-01-01T00:00:00+00:00"
    assert made["content-type"] == b"application/json"
    assert made["reply_to"] == b"r"
    assert {"traceparent", "tracestate"} <= CARRIED


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (b"2025-12-30T08:00:00+00:00", datetime(2025, 12, 30, 8, tzinfo=UTC)),
        # Neither a time to come, nor one without a zone, nor no time at all.
        (b"2027-01-01T00:00:00+00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        (b"2025-12-30T08:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("昨天".encode(), datetime(2026, 1, 1, tzinfo=UTC)),
        (b"\xff", datetime(2026, 1, 1, tzinfo=UTC)),
        (None, datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_redriven_record_keeps_the_time_at_which_it_first_came(told: bytes | None, expected: datetime) -> None:
    assert inbound(b"{}", headers=((FIRST_APPENDED, told),)).first_appended == expected
