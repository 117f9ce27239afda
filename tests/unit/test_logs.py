"""What reaches a log: one line, no repeats of the frameworks, never the text of an exception."""

from __future__ import annotations

import json
import logging
import threading

import pytest

from streams.logs import PATIENCE_SECONDS, REPEAT_SECONDS, JsonLines, Plain, RateLimit, set_up_logs
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
