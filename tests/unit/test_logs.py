"""What reaches a log: one line, no repeats of the frameworks, never the text of an exception."""

from __future__ import annotations

import json
import logging
import re
import threading
from datetime import UTC, datetime

import pytest

from schemas import ConversationEvent
from streams.logs import PATIENCE_SECONDS, REPEAT_SECONDS, JsonLines, Plain, RateLimit, about, set_up_logs, shown_id
from streams.records import Inbound, cloud_event, decode
from streams.settings import load_settings


def test_a_thread_that_fails_is_one_line(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    set_up_logs(load_settings(log_format="text"))

    def fail() -> None:
        raise ValueError("what somebody said")

    failing = threading.Thread(target=fail)
    failing.start()
    failing.join()
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert "ValueError" in told
    assert "said" not in told


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def record(name: str, message: str = "no broker at %s", level: int = logging.ERROR) -> logging.LogRecord:
    return logging.LogRecord(name, level, "file.py", 7, message, ("127.0.0.1",) if "%s" in message else (), None)


def shown(name: str, at: list[float]) -> list[float]:
    clock = Clock()
    limit = RateLimit(clock)
    passed = []
    for clock.now in at:
        if limit.filter(record(name)):
            passed.append(clock.now)
    return passed


def test_our_own_messages_always_pass() -> None:
    assert shown("streams.runner", [0.0, 0.0, 0.1]) == [0.0, 0.0, 0.1]


def test_a_framework_repeats_itself_now_and_then() -> None:
    at = [float(second) for second in range(100)]
    assert shown("faust.transport", at) == [0.0, REPEAT_SECONDS, 2 * REPEAT_SECONDS, 3 * REPEAT_SECONDS]


def test_what_the_driver_gets_over_is_not_told() -> None:
    assert shown("aiokafka.consumer.group_coordinator", [0.0, 0.2, PATIENCE_SECONDS - 1]) == []
    lasting = [float(second) for second in range(60)]
    assert shown("aiokafka.consumer.group_coordinator", lasting) == [
        PATIENCE_SECONDS,
        PATIENCE_SECONDS + REPEAT_SECONDS,
    ]


def test_messages_that_differ_do_not_hide_each_other() -> None:
    limit = RateLimit(Clock())
    assert limit.filter(record("faust", "one"))
    assert limit.filter(record("faust", "two"))
    assert not limit.filter(record("faust", "one"))


def test_an_exception_is_named_and_not_quoted() -> None:
    try:
        raise ValueError("my password is opensesame")
    except ValueError as error:
        told = record("streams.runner", "a stage failed")
        told.exc_info = (ValueError, error, error.__traceback__)
    for formatter in (Plain(), JsonLines()):
        line = formatter.format(told)
        assert "\n" not in line
        assert "a stage failed (ValueError)" in line
        assert "opensesame" not in line


def test_json_lines_keep_chinese_readable() -> None:
    line = JsonLines().format(record("streams.app", "准备好了", logging.INFO))
    assert "准备好了" in line
    assert json.loads(line)["level"] == "info"


def test_what_is_logged_about_something_carries_its_ids() -> None:
    with about(event_id="chat-7/12"), about(record="conversations/0/17", request_id=None):
        line = json.loads(JsonLines().format(record("streams.runner", "parked")))
        plain = Plain().format(record("streams.runner", "parked"))
    assert (line["event_id"], line["record"]) == ("chat-7/12", "conversations/0/17")
    assert "request_id" not in line
    assert plain.endswith("parked event_id=chat-7/12 record=conversations/0/17")
    assert "event_id" not in json.loads(JsonLines().format(record("streams.runner", "parked")))


@pytest.mark.parametrize(
    "text", ["I live in Bonn", "我住在杭州", "ann@example.org", "a\n{}", "x" * 129, "\ud800", "\x1b[2J"]
)
def test_an_id_that_could_be_text_is_a_digest(text: str) -> None:
    assert re.fullmatch(r"sha256:[0-9a-f]{16}", shown_id(text))
    assert shown_id(text) == shown_id(text)


def test_the_id_of_an_event_is_known_before_its_value_is_read() -> None:
    headers = cloud_event("conversation", "chat-7/12", "client", datetime.now(UTC))
    unread = Inbound("conversations", 0, 17, datetime.now(UTC), b"shop/u", b"{not JSON", headers)
    assert (unread.event_id, unread.place) == ("chat-7/12", "conversations/0/17")
    said = b'{"event_id": "e9", "namespace": "shop", "user_id": "u", "messages": [{"text": "hi"}]}'
    foreign = Inbound("conversations", 0, 18, datetime.now(UTC), b"shop/u", said, (("ce_id", b"another"),))
    decode(foreign, ConversationEvent)
    assert foreign.event_id == "e9"
