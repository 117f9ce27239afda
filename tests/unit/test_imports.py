"""Chat histories of other programs are read as they were written; what can't be read is named by its place."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import math
import socket
import tempfile
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from schemas import ConversationEvent, Job, Message, Receipt, Tenant
from streams import client, compacted
from streams.cli import app, import_chats
from streams.errors import ConfigurationError, DependencyDown
from streams.http.imports import understood
from streams.http.models import ImportFile
from streams.imports.conversations import LONG_CHARS, Conversation, Unread
from streams.imports.formats import Format, detect, read
from streams.imports.pace import LEAST_AHEAD, MOST_AHEAD, SECONDS, Pace
from streams.imports.spool import IN_MEMORY_BYTES, Spool, on_disk
from streams.imports.standing import LINGER, QUIET, Standing
from streams.imports.task import STILL, Batch, Received, batch, received, status_of
from streams.settings import load_settings
from streams.topics import event_key, job_key
from tests.unit.http.gateway import gateway, settings_for


@dataclass
class Parsed:
    format: str
    conversations: list[Conversation]
    problems: list[Unread]


def parse(text: str, form: Format = "auto", zone: ZoneInfo | None = None) -> Parsed:
    read_as, found = read(io.StringIO(text, newline="\n"), form, zone)
    all_of_it = list(found)
    conversations = [one for one in all_of_it if isinstance(one, Conversation)]
    return Parsed(read_as, conversations, [one for one in all_of_it if isinstance(one, Unread)])


def texts(parsed: Parsed) -> list[str]:
    return [message.text for conversation in parsed.conversations for message in conversation.messages]


JSONL = """{"time": "2026-03-02T09:00:00Z", "text": "I moved to Bonn."}

{"time": 1772442000, "messages": [{"role": "user", "text": "我搬到杭州了", "speaker": "张三"}], "session_id": "s"}
{"time": "yesterday", "text": "no"}
not json
{"text": "a", "messages": []}
{"txt": "a"}
[1]
{"text": "  "}
{"messages": [{"type": "ai", "content": "Move to Rome!"}]}
{"text": "secret", "speaker": "\\ud800"}
""" + ('{"text": "secret", "time": ' + "9" * 5000 + '}\n{"text": ' + "[" * 100_000)


def test_json_lines() -> None:
    parsed = parse(JSONL)
    assert parsed.format == "jsonl"
    assert [(c.where, c.time, c.messages[0].text, c.session_id) for c in parsed.conversations] == [
        ("line 1", datetime(2026, 3, 2, 9, tzinfo=UTC), "I moved to Bonn.", ""),
        ("line 3", datetime(2026, 3, 2, 9, tzinfo=UTC), "我搬到杭州了", "s"),
    ]
    assert [(p.where, p.reason.split(";")[0]) for p in parsed.problems] == [
        ("line 4", "the time is neither ISO 8601 nor seconds since 1970"),
        ("line 5", "not JSON"),
        ("line 6", "give either text or messages"),
        ("line 7", "1 unknown fields"),
        ("line 8", "not a JSON object"),
        ("line 9", "text is missing or empty"),
        ("line 10", "1 unknown fields in a message"),
        ("line 11", "its text or speaker is no Unicode text"),
        ("line 12", "has a number of too many digits"),
        ("line 13", "is nested too deeply"),
    ]
    assert "secret" not in repr(parsed)


def node(parent: str | None, role: str, *parts: object, time: float | None = None) -> dict[str, object]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"parent": parent, "message": {"author": {"role": role}, "create_time": time, "content": content}}


def test_chatgpt_takes_the_branch_that_is_shown() -> None:
    tree = {
        "root": {"parent": None, "message": None},
        "s": node("root", "system", "be nice"),
        "a": node("s", "user", "I live in Bonn", time=1772442000.5),
        "old": node("a", "assistant", "discarded"),
        "new": node("a", "assistant", {"asset": 1}, "Noted."),
    }
    given = [{"id": "c1", "mapping": tree, "current_node": "new"}, {"title": "broken"}]
    parsed = parse(json.dumps(given))
    assert parsed.format == "chatgpt"
    (one,) = parsed.conversations
    assert [(m.role, m.text) for m in one.messages] == [("user", "I live in Bonn"), ("assistant", "Noted.")]
    assert (one.session_id, one.time) == ("c1", datetime(2026, 3, 2, 9, 0, 0, 500_000, tzinfo=UTC))
    assert [p.where for p in parsed.problems] == ["conversation 2"]


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-02 15:05 张三：我搬到杭州了",
        "2026-03-02 15:05:00 张三: 我搬到杭州了",
        "2026年3月2日 下午3:05 张三：我搬到杭州了",
        "[2026/3/2, 3:05:00 PM] 张三: 我搬到杭州了",
        "2026/3/2, 15:05 - 张三: 我搬到杭州了",
        "2026-03-02 15:05:00 张三\n我搬到杭州了",
        "张三 2026-03-02 15:05:00\n我搬到杭州了\n",
        "\u200e[2026/3/2 下午3:05:00] 张三：我搬到杭州了",
        "2026年3月2日 星期一 下午3:05 张三：我搬到杭州了",
        "2026-03-02（周一）15:05 张三：我搬到杭州了",
        "2026-03-02, Monday 3:05 PM 张三: 我搬到杭州了",
        "2026-03-02T15:05:00.000+08:00 张三：我搬到杭州了",
        "2026-03-02T07:05:00Z 张三: 我搬到杭州了",
        "2026-03-02 07:05 UTC 张三: 我搬到杭州了",
        "2026-03-02 07:05 +0000 张三: 我搬到杭州了",
    ],
)
def test_a_messenger_line(line: str) -> None:
    parsed = parse(line, zone=ZoneInfo("Asia/Shanghai"))
    assert (parsed.format, parsed.problems) == ("chatlog", [])
    ((message,),) = (c.messages for c in parsed.conversations)
    assert (message.speaker, message.text) == ("张三", "我搬到杭州了")
    assert message.time == datetime(2026, 3, 2, 7, 5, tzinfo=UTC)


def test_a_messenger_log() -> None:
    log = """Messages and calls are encrypted
2026-03-02 09:00 Alice: see https://example.org: it
says 10:30 is fine
2026-03-02 09:01 Bob: 周五见
2026-02-30 09:02 Bob: no such day
and its second line
2026-03-02 12:00 Alice: back
2026-03-02 12:01 Bob:
3/2/26, 12:02 PM - Bob: when?
"""
    parsed = parse(log, "chatlog")
    first, second = parsed.conversations
    assert [(m.speaker, m.text) for m in first.messages] == [
        ("Alice", "see https://example.org: it\nsays 10:30 is fine"),
        ("Bob", "周五见"),
    ]
    assert (second.where, second.messages[0].text) == ("line 7", "back")
    assert [p.where for p in parsed.problems] == ["line 1", "line 5", "line 8", "line 9"]
    assert "second line" not in repr(parsed)


@pytest.mark.parametrize(
    "line",
    [
        '"李雷"撤回了一条消息',
        "你撤回了一条消息",
        "2026-03-02 09:01 李雷撤回了一条消息",
        "2026-03-02 09:01 - 李雷邀请韩梅梅加入了群聊",
        "“李雷”通过扫描张三分享的二维码加入群聊",
        "你已添加了李雷，现在可以开始聊天了。",
        "以上是打招呼的内容",
        "This message was deleted",
        "2026-03-02 09:01 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.",
    ],
)
def test_what_the_messenger_says_is_nobodys_text(line: str) -> None:
    log = f"2026-03-02 09:00 张三: 我搬到杭州了\n{line}\n2026-03-02 09:02 张三: 以后都在杭州"
    parsed = parse(log, "chatlog")
    assert parsed.problems == []
    assert texts(parsed) == ["我搬到杭州了", "以后都在杭州"]


@pytest.mark.parametrize(
    "text",
    [
        "他撤回了一条消息，我没看清",
        "昨天李雷加入了群聊之后大家都很开心",
        "I deleted this message draft",
        "我昨天退出了群聊",
    ],
)
def test_who_talks_of_it_is_heard(text: str) -> None:
    assert texts(parse(f"2026-03-02 09:00 张三: {text}\n{text}", "chatlog")) == [f"{text}\n{text}"]


@pytest.mark.parametrize(
    ("time", "hour"),
    [
        ("凌晨12:30", 0),
        ("早上8:30", 8),
        ("清晨5:30", 5),
        ("中午12:30", 12),
        ("中午1:30", 13),
        ("下午12:30", 12),
        ("傍晚6:30", 18),
        ("晚上11:30", 23),
        ("晚上19:30", 19),
        ("12:30 AM", 0),
        ("12:30 pm", 12),
        ("15:30 PM", 15),
    ],
)
def test_a_half_of_the_day(time: str, hour: int) -> None:
    (one,) = parse(f"2026-03-02 {time} 张三：好").conversations
    assert one.time == datetime(2026, 3, 2, hour, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-03 晚上12:30 李四：我搬到北京了",
        "2026-03-03 晚上1:30 李四：我搬到北京了",
        "2026-03-03 13:30 AM 李四：我搬到北京了",
        "2026-03-03 半夜1:30 李四：我搬到北京了",
        "2026-03-03 8点30 李四：我搬到北京了",
        "2026-03-03 08.05 李四：我搬到北京了",
        "2026-03-03 08:05 GMT+8 李四：我搬到北京了",
        "2026-03-03 08:05-09:00 李四：我搬到北京了",
        "2026-03-03T08:05:00+99:00 李四：我搬到北京了",
        "2026-03-03 08:05",
        "0001-01-01 00:00 李四：我搬到北京了",
    ],
)
def test_a_time_that_is_not_understood_is_nobody_elses_words(line: str) -> None:
    parsed = parse(f"2026-03-02 下午3:05 张三：好\n{line}\n我", zone=ZoneInfo("Asia/Shanghai"))
    assert [m.text for c in parsed.conversations for m in c.messages] == ["好"]
    (one,) = parsed.problems
    assert one.where == "line 2"
    assert one.reason in ("time not understood", "no such date or time")


@pytest.mark.parametrize(
    "above",
    [
        "2026年3月2日 星期一", "—— 2026-03-02 ——", "2026/03/02（週一）", "[2026.3.2 Monday]", "Monday, March 2, 2026",
        "2 March 2026", "Mon, 2 Mar 2026", "--- March 2nd 2026 ---", "星期一 2026年3月2日", "\u200e2026-3-2",
    ],
)  # fmt: skip
@pytest.mark.parametrize("line", ["15:05 张三：好", "[下午3:05] 张三: 好", "下午3:05\t张三\t好", "3:05 PM - 张三: 好"])
def test_a_date_may_stand_above_its_messages(above: str, line: str) -> None:
    parsed = parse(f"{above}\n{line}\n的\n\n2026-03-03\n09:00 Ann: hi", zone=ZoneInfo("Asia/Shanghai"))
    assert (parsed.format, parsed.problems) == ("chatlog", [])
    said = [(m.speaker, m.text, m.time) for c in parsed.conversations for m in c.messages]
    assert said == [
        ("张三", "好\n的", datetime(2026, 3, 2, 7, 5, tzinfo=UTC)),
        ("Ann", "hi", datetime(2026, 3, 3, 1, 0, tzinfo=UTC)),
    ]


@pytest.mark.parametrize(
    "above",
    [
        "昨天",
        "Yesterday",
        "星期一",
        "Monday",
        "3月2日",
        "3月2日 周一",
        "March 2",
        "Mon, 2 Mar",
        "3/2/26",
        "02.03.2026",
        "3/2",
    ],
)
def test_a_date_without_its_year_is_no_date_of_the_day_before(above: str) -> None:
    parsed = parse(f"2026-03-01\n09:00 Ann: hi\n{above}\n09:41 Bob: moved\nto Bonn\n2026-03-05\n08:00 Bob: back")
    assert [m.text for c in parsed.conversations for m in c.messages] == ["hi", "back"]
    assert [(p.where, p.reason[:10]) for p in parsed.problems] == [
        ("line 3", "this date "),
        ("line 4", "no date wi"),
    ]


def test_below_a_date_nobodys_words_become_anothers() -> None:
    log = """09:00 Ann: before any date
2026-03-02
Ann joined the group
09:41 Ann: the plan is
1) breakfast
10:30 is too late
09:50 Bob
secret
09:30 Bob: after midnight
25:00 Bob: no such time
2026-02-30
09:51 Bob: no such day
2026-03-03
Call me, 10:30 Bob: is there
09:52 Bob: fine"""
    parsed = parse(log)
    assert [m.text for c in parsed.conversations for m in c.messages] == ["the plan is\n1) breakfast", "fine"]
    assert [p.where for p in parsed.problems] == [f"line {n}" for n in (1, 3, 6, 7, 9, 10, 12, 14)]
    # Where messages have dates of their own, a time begins no message.
    dated = parse("2026-03-02 09:00 Ann: the plan\n2026-03-03\n10:30 Dentist: room 5")
    assert [m.text for c in dated.conversations for m in c.messages] == ["the plan\n2026-03-03\n10:30 Dentist: room 5"]


@pytest.mark.parametrize(
    "line",
    [
        " " * 20_000 + "x",
        "2026-03-02 09:00" + " " * 20_000,
        "2026-03-02" + " " * 20_000 + "x",
        "2026-03-02 09:00 a" + " " * 20_000 + "b",
        "x" + " " * 20_000 + "2026-03-02 09:0",
        "\u200e" * 20_000,
        "[" * 20_000,
        "2026-03-02 09:00" + "-" * 20_000 + ":",
    ],
)
def test_a_long_line_of_spaces_takes_no_time(line: str) -> None:
    assert parse(line, "chatlog").format == "chatlog"


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: {"messages": m}], ids=["list", "object"])
def test_langchain(wrap: object) -> None:
    dumped = [
        {"type": "system", "data": {"content": "be nice"}},
        {"type": "human", "data": {"content": "I live in Bonn", "additional_kwargs": {"timestamp": 1772442000}}},
        {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": "Noted."}},
        {"type": "ai", "content": [{"type": "text", "text": "好的"}]},
        {"type": "ai", "content": ""},
        {"type": "robot", "content": "?"},
    ]
    parsed = parse(json.dumps(wrap(dumped)))  # type: ignore[operator]
    assert parsed.format == "langchain"
    (one,) = parsed.conversations
    assert [(m.role, m.text) for m in one.messages] == [
        ("user", "I live in Bonn"),
        ("assistant", "Noted."),
        ("assistant", "好的"),
    ]
    assert [p.where for p in parsed.problems] == ["message 6"]


@pytest.mark.parametrize("form", ["chatgpt", "langchain"])
def test_broken_json_is_named_by_its_line(form: str) -> None:
    parsed = parse('[\n {"a": 1},\n {"a" 2}]', form)  # type: ignore[arg-type]
    assert [p.where for p in parsed.problems] == ["line 3"]
    assert parsed.conversations == []


@pytest.mark.parametrize(
    "given",
    [
        '{"messages": [5]}',
        '[{"mapping": {"a": "x"}}]',
        '[{"mapping": {"a": {"message": null}}, "current_node": ["a"]}]',
        '[{"mapping": {"a": {"message": null, "parent": ["a"]}}, "current_node": "a"}]',
        '[{"type": "constructor", "id": 5, "kwargs": {"content": "x"}}]',
        '[{"type": "constructor", "id": {}, "kwargs": {"content": "x"}}]',
        '[{"mapping": {}, "create_time": ' + "9" * 5000 + "}]",
    ],
)
def test_what_has_another_shape_is_told(given: str) -> None:
    parsed = parse(given)
    assert parsed.conversations == []
    assert len(parsed.problems) == 1


def test_a_circle_of_messages_ends() -> None:
    tree = {"a": node("b", "user", "I live in Bonn"), "b": node("a", "assistant", "Noted.")}
    (one,) = parse(json.dumps({"mapping": tree, "current_node": "b"})).conversations
    assert [m.text for m in one.messages] == ["I live in Bonn", "Noted."]


def test_an_array_of_conversations() -> None:
    parsed = parse('[{"time": "2026-03-02T09:00:00Z", "text": "a"},\n {"messages": [{"text": "b"}]}, 5]')
    assert [(c.where, c.messages[0].text) for c in parsed.conversations] == [
        ("conversation 1", "a"),
        ("conversation 2", "b"),
    ]
    assert parsed.problems == [Unread("conversation 3", "not a JSON object")]


def test_what_begins_like_json_may_be_a_log() -> None:
    for line in ("[2026/3/2, 9:00:15] Alice: hi", "[2026/3/2 15:05] 张三", "[3/2/26, 9:00 AM] Alice: hi", "[图片]"):
        assert detect(line) == "chatlog"
    assert detect('{"time": 1, "text": "a"}\n{"time": ') == "jsonl"
    assert detect('[{"title": "x", "mapping": {') == "chatgpt"


def test_a_part_has_so_many_bytes_and_a_long_message_is_alone() -> None:
    text = "会议纪要。" * 5_000
    parsed = parse("\n".join(f"2026-03-02 09:{n:02} A: {text}" for n in range(50)))
    assert {len(c.messages) for c in parsed.conversations} == {13, 11}
    made = batch(TENANT, parsed.conversations)
    assert (len(made.event_ids), made.refused) == (4, {})
    texts = ["a", "b", "x" * (LONG_CHARS + 1), "c", "d"]
    parsed = parse("\n".join(f"2026-03-02 09:0{n} A: {text}" for n, text in enumerate(texts)))
    assert [len(c.messages) for c in parsed.conversations] == [2, 1, 2]


TENANT = Tenant(namespace="shop", user_id="张三")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def events(made: Batch) -> list[ConversationEvent]:
    return list(made.events.events(set(made.event_ids)))


def lines(*texts: str) -> list[Conversation]:
    return [Conversation(f"line {n}", NOON, (Message(text=text),)) for n, text in enumerate(texts)]


def test_the_same_conversation_is_the_same_event_wherever_it_stands() -> None:
    one = batch(TENANT, lines("a", "b", "a"))
    ids = one.event_ids
    assert [event.event_id for event in events(one)] == ids
    assert len(set(ids)) == 3
    more = batch(TENANT, lines("new", "b", "a", "a"))
    assert set(ids) < set(more.event_ids)
    assert more.task_id != one.task_id == batch(TENANT, lines("a", "a", "b")).task_id
    stranger = batch(Tenant(namespace="shop", user_id="李四"), lines("a", "b", "a"))
    assert not set(stranger.event_ids) & set(ids)


def test_what_can_not_be_sent_stops_nothing_else() -> None:
    found = [Unread("line 7", "not JSON"), *lines("a", "\ud800", "x" * 3_000_000), Unread("line 8", "not JSON")]
    made = batch(TENANT, found)
    assert [event.messages[0].text for event in events(made)] == ["a"]
    assert made.refused == {"import:invalid": 3, "import:too_large": 1}
    assert [p.where for p in made.problems] == ["line 7", "line 1", "line 2", "line 8"]
    assert made.task_id != batch(TENANT, lines("a")).task_id


def test_a_long_history_takes_no_more_memory_than_a_short_one() -> None:
    text = "x" * 30_000
    rows = (json.dumps({"time": number, "text": f"{number} {text}"}) + "\n" for number in range(1000))
    chat = (f"2026-03-02 09:{number % 60:02} A: {text}\n" for number in range(1000))
    for lines in (rows, chat):
        tracemalloc.start()
        try:
            made = batch(TENANT, read(lines)[1], spool=on_disk())
            sent = made.events.events(set(made.event_ids))
            assert sum(len(message.text) for event in sent for message in event.messages) >= 30_000_000
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 4 * IN_MEMORY_BYTES


@pytest.fixture
def no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))


LONG = '{"text": "%s"}\n' % ("x" * 1_000_000) * (IN_MEMORY_BYTES // 1_000_000 + 1)


def test_what_is_sent_over_http_reaches_no_disk(no_disk: None) -> None:
    body = ImportFile.model_validate({"user_id": "1", "file": LONG.encode()})
    _, made = understood(body, TENANT)
    assert sum(len(message.text) for event in events(made) for message in event.messages) > IN_MEMORY_BYTES


def test_a_disk_that_takes_nothing_is_told_of(tmp_path: Path, no_disk: None) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text(LONG, encoding="utf-8")
    done = CliRunner().invoke(app, ["import", str(file), "--preview"])
    assert isinstance(done.exception, ConfigurationError)
    assert "TMPDIR" in str(done.exception)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full at once is of Linux")
def test_a_full_disk_is_told_of_before_anything_is_sent() -> None:
    closing = contextlib.suppress(OSError)  # which writes once more
    with closing, Path("/dev/full").open("wb") as full, pytest.raises(ConfigurationError, match="No space left"):
        batch(TENANT, lines("a"), spool=Spool(full))


def test_a_status_counts_receipts() -> None:
    made = batch(TENANT, lines("a", "b", "c", "d"))
    ids = tuple(made.event_ids)
    job = Job(
        namespace="shop",
        user_id="张三",
        job_id=made.task_id,
        state="running",
        event_ids=ids,
        known=2,
        refused={"import:invalid": 1},
        started_at=NOON,
        updated_at=NOON,
    )

    def receipt(event_id: str, seconds: int, **fields: str) -> Received:
        given = {"namespace": "shop", "user_id": "张三", "event_id": event_id, **fields}
        return received(Receipt.model_validate(given), NOON + timedelta(seconds=seconds))

    known = {
        ids[0]: receipt(ids[0], 1, outcome="stored"),
        ids[1]: receipt(ids[1], 4, outcome="skipped", stage="extract", reason="small_talk"),
        ids[2]: receipt(ids[2], 2, outcome="parked", stage="redact", reason="too_large"),
        "another": receipt("another", 9, outcome="stored"),
    }
    soon = NOON + timedelta(seconds=5)
    status = status_of(job, known, soon)
    assert status.model_dump(exclude={"task_id"}) == {
        "state": "running",
        "sent": False,
        "total": 7,
        "queued": 1,
        "stored": 1,
        "duplicate": 2,
        "skipped": 1,
        "failed": 2,
        "reasons": {"extract:small_talk": 1, "import:invalid": 1, "redact:too_large": 1},
        "per_second": 0.75,
        "remaining_seconds": 1.3,
        "quiet_since": None,
    }
    cancelled = job.model_copy(update={"state": "cancelled"})
    assert status_of(cancelled, known, soon).state == "cancelled"
    done = status_of(cancelled, {**known, ids[3]: receipt(ids[3], 5, outcome="stored")}, soon)
    assert (done.state, done.sent) == ("done", True)
    assert status_of(job, {}, soon).per_second is None

    # Nobody goes on with what was not sent; what was sent waits for a worker.
    last = NOON + timedelta(seconds=4)
    late = last + STILL
    assert (status_of(job, known, late).state, status_of(job, known, late).quiet_since) == ("running", None)
    stuck = status_of(job, known, late + timedelta(seconds=1))
    assert (stuck.state, stuck.remaining_seconds, stuck.quiet_since) == ("incomplete", None, last)
    assert "give the same file again" in import_chats.line(stuck)
    waiting = status_of(job.model_copy(update={"sent": True}), known, late + timedelta(days=1))
    assert (waiting.state, waiting.remaining_seconds, waiting.quiet_since) == ("running", None, last)
    said = "nothing came of it since 2026-03-02T12:00:04+00:00: see that a worker runs"
    assert import_chats.line(waiting).endswith(said)
    stopped = status_of(cancelled, known, late + timedelta(days=1))
    assert (stopped.state, stopped.quiet_since) == ("cancelled", None)


def test_how_long_running_imports_still_take() -> None:
    noon, minute = NOON.timestamp(), 60.0
    standing = Standing()
    assert standing.remaining(noon) == 0
    slow, quick = running_job("Ann", "a", "b", "c", "d"), running_job("张三", "a", "e", begun=5)
    for task in (slow, quick):
        standing.told(*task, noon)
    assert math.isnan(standing.remaining(noon + minute)), "nothing has come of them"
    standing.ended(event_key(quick[1].tenant, "a"), noon + 25)
    assert standing.remaining(noon + minute) == 20
    standing.ended(event_key(slow[1].tenant, "a"), noon + minute)
    assert standing.remaining(noon + minute) == 180, "three more like the first"
    # Nothing comes any more: no pace to tell by.
    assert math.isnan(standing.remaining(noon + minute + STILL.total_seconds() + 1))
    for event_id in "bcd":
        standing.ended(event_key(slow[1].tenant, event_id), noon + 10 * minute)
    standing.ended(event_key(quick[1].tenant, "e"), noon + 10 * minute)
    assert standing.remaining(noon + 10 * minute) == 0


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """What the command would send."""
    made: list[Batch] = []

    async def send(one: Batch, watch: bool, data_dir: Path | None) -> None:
        made.append(one)

    monkeypatch.setattr(import_chats, "_import", send)
    return made


def command(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["import", *arguments, "--namespace", "shop", "--user", "Ann"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_an_export_is_told_apart_and_goes_back_to_whom_it_is_of(tmp_path: Path) -> None:
    file = tmp_path / "memories.jsonl"
    file.write_text('\n{"memory_id": "mem_1", "content": "opensesame"}\n', encoding="utf-8")
    code, said = command(str(file))
    assert (code, "FILE alone" in " ".join(said.replace("│", "").split())) == (2, True)
    done = CliRunner().invoke(app, ["import", str(file)])
    assert (done.exit_code, "line 2: " in done.output, "opensesame" in done.output) == (1, True, False)


def test_what_was_forgotten_comes_back_only_when_it_is_meant(tmp_path: Path, sent: list[Batch]) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text('{"text": "a"}\n', encoding="utf-8")
    for more in ((), ("--after-forget",)):
        assert command(str(file), *more)[0] == 0
    (one,), (other,) = map(events, sent)
    assert (one.after_forget, other.after_forget) == (False, True)
    assert one.event_id != other.event_id


@pytest.mark.parametrize("preview", [("--preview",), ()])
def test_the_command_tells_what_is_refused(tmp_path: Path, sent: list[Batch], preview: tuple[str, ...]) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text('{"text": "a"}\n{"text": "%s"}\n{"text": "\\ud800"}\n' % ("x" * 3_000_000), encoding="utf-8")
    code, said = command(str(file), *preview)
    assert code == 1
    assert "line 2: has more than 2 MiB" in said
    assert "line 3: its text" in said
    assert [len(one.event_ids) for one in sent] == ([] if preview else [1])


def test_without_a_timezone_the_namespace_has_its_own(tmp_path: Path, sent: list[Batch]) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text('{"text": "a", "time": "2026-03-02T09:00:00"}\n', encoding="utf-8")
    assert command(str(file))[0] == 0
    assert command(str(file), "--timezone", "Asia/Shanghai")[0] == 0
    assert [(one.timezone, one.occurred_at) for (one,) in map(events, sent)] == [
        (None, datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("Asia/Shanghai", datetime(2026, 3, 2, 1, tzinfo=UTC)),
    ]


def test_only_utf_8_is_read(tmp_path: Path, sent: list[Batch]) -> None:
    file = tmp_path / "[" / "history].txt"
    code, said = command(str(file))
    assert code == 1
    assert f"{file}: No such file" in said.replace("\n", "")
    file.parent.mkdir()
    file.write_text("2026-03-02 09:00 张三：我搬到杭州了", encoding="gb18030")
    code, said = command(str(file))
    assert (code, sent) == (1, [])
    assert "iconv -f gb18030 -t utf-8" in said


@pytest.fixture
def silent_broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Takes connections and says nothing."""
    monkeypatch.setattr(client, "START_SECONDS", 0.2)
    monkeypatch.setattr(compacted, "SILENT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        monkeypatch.setenv("MEMSTREAM_KAFKA_BOOTSTRAP", address)
        yield address


def test_a_broker_that_says_nothing_is_told_of(tmp_path: Path, silent_broker: str) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text('{"text": "a"}\n', encoding="utf-8")
    code, said = command(str(file), "--watch")
    assert (code, f"{silent_broker} does not answer" in said) == (1, True)


async def test_nor_is_it_waited_for_to_read_a_topic(silent_broker: str) -> None:
    with pytest.raises(DependencyDown, match=silent_broker):
        async for _ in compacted.read(load_settings(), "jobs"):
            pass


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_request_has_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    async def silent(*_: Any) -> AsyncIterator[list[compacted.Entry]]:
        await asyncio.Event().wait()
        yield []

    monkeypatch.setattr(compacted.Follower, "new", silent)
    settings = settings_for(tmp_path, http_auth="off", http_deadline_seconds=0.1)
    async with gateway(settings) as http:
        answer = await http.request(method, "/memory/import/task_" + "0" * 32)
    assert (answer.status_code, "again" in answer.json()["detail"]) == (504, True)


def test_an_import_runs_as_far_ahead_as_it_is_worked_off() -> None:
    pace = Pace(0.0)
    assert pace.ahead == LEAST_AHEAD
    for second in range(1, 20):
        pace.ended(float(second), 90)
        # From the beginning on, within one of a second's.
        assert 90 * SECONDS <= pace.ahead <= 90 * (SECONDS + 1)
    pace.ended(20.0, 10 * MOST_AHEAD)
    assert pace.ahead == MOST_AHEAD
    # Nothing has come back for a while.
    pace.ended(40.0, 0)
    assert pace.ahead == LEAST_AHEAD


def running_job(name: str, *texts: str, begun: int = 0, **fields: Any) -> tuple[bytes, Job]:
    tenant = Tenant(namespace="shop", user_id=name)
    job = Job(
        namespace=tenant.namespace,
        user_id=tenant.user_id,
        job_id=f"task_{name}",
        event_ids=texts,
        started_at=NOON + timedelta(seconds=begun),
        updated_at=NOON,
        **{"state": "running", **fields},
    )
    return job_key(tenant, job.job_id), job


def told_of(standing: Standing) -> tuple[int, int, float]:
    return standing.running, standing.queued, standing.oldest_done


def test_how_far_running_imports_are() -> None:
    noon = NOON.timestamp()
    standing = Standing()
    assert told_of(standing) == (0, 0, 1.0)
    old, new = running_job("Ann", "a", "b", "c", "d"), running_job("张三", "a", "e", begun=5)
    assert standing.told(*new, noon)
    assert standing.told(*old, noon)
    assert told_of(standing) == (2, 6, 0.0)

    # The same id is another event of another user; a receipt that comes again counts once.
    for _ in range(2):
        standing.ended(event_key(old[1].tenant, "a"), noon + 1)
    standing.ended(event_key(Tenant(namespace="shop", user_id="else"), "b"), noon + 1)
    assert told_of(standing) == (2, 5, 0.25)
    # What is written of a task again begins nothing anew.
    assert not standing.told(old[0], old[1].model_copy(update={"sent": True}), noon + 1)
    assert told_of(standing) == (2, 5, 0.25)

    for event_id in "bcd":
        standing.ended(event_key(old[1].tenant, event_id), noon + 2)
    assert told_of(standing) == (1, 2, 0.0), "of the next one"
    standing.tidy(noon + LINGER)
    assert not standing.told(*old, noon + LINGER), "it may still be written that all is sent"
    assert told_of(standing) == (1, 2, 0.0)

    # Cancelled, forgotten with its user, or heard of no more.
    assert not standing.told(new[0], new[1].model_copy(update={"state": "cancelled"}), noon + 3)
    assert told_of(standing) == (0, 0, 1.0)
    assert standing.told(*new, noon + 4)
    standing.told(new[0], None, noon + 5)
    assert told_of(standing) == (0, 0, 1.0)
    assert standing.told(*new, noon + 6)
    standing.tidy(noon + 6 + QUIET)
    assert (told_of(standing), bool(standing)) == ((0, 0, 1.0), False)
    assert not standing.told(*running_job("Eve"), noon), "all of it was there already"
