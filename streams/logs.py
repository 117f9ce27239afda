"""Logs: JSON in production, plain on a terminal; the frameworks beneath are quiet unless something is wrong."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from streams.settings import Settings

# What each repeats for as long as a broker is away is worth a line now and then, not thousands.
NOISY = ("aiokafka", "faust", "mode", "asyncio", "kafka", "uvicorn")
REPEAT_SECONDS = 30.0
# The Kafka driver tells of every request that it is about to repeat, at the first start of a cluster above all. What
# is over within this time needs nobody's attention; what makes a stage wait is told by the stage itself.
PATIENCE_SECONDS = 10.0


# Of an id that callers choose: in other characters it could be what somebody said.
ID = re.compile(r"[A-Za-z0-9._:/+-]{1,128}")
_about: ContextVar[Mapping[str, str]] = ContextVar("about", default={})  # noqa: B039  # never changed in place


@contextmanager
def about(**ids: str | None) -> Iterator[None]:
    """What is logged within, and in tasks that are begun within, carries these ids; None: there is none."""
    token = _about.set({**_about.get(), **{name: shown_id(value) for name, value in ids.items() if value}})
    try:
        yield
    finally:
        _about.reset(token)


def shown_id(given: str) -> str:
    """As it is where it is short and plain ASCII; else a digest, so that no text comes into a log by way of an id."""
    if ID.fullmatch(given):
        return given
    return "sha256:" + hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class RateLimit(logging.Filter):
    """Of the frameworks' messages, lets the same template of a logger through once in `REPEAT_SECONDS`.

    The driver's own must in addition go on for `PATIENCE_SECONDS`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._first: dict[tuple[str, int, str], float] = {}
        self._shown: dict[tuple[str, int, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith(NOISY):
            return True
        key = (record.name, record.lineno, str(record.msg)[:80])
        now = self._clock()
        if len(self._first) > 1000:
            self._first.clear()
            self._shown.clear()
        if now - self._shown.get(key, -math.inf) < REPEAT_SECONDS:
            return False
        first = self._first.setdefault(key, now)
        if record.name.startswith("aiokafka") and now - first < PATIENCE_SECONDS:
            return False
        self._shown[key] = now
        return True


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(
            {
                "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
                "level": record.levelname.lower(),
                "logger": record.name,
                "message": _message(record),
                **_about.get(),
            },
            ensure_ascii=False,
        )


class Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        ids = "".join(f" {name}={value}" for name, value in _about.get().items())
        return f"{at} {record.levelname.lower():7} {record.name}: {_message(record)}{ids}"


def _message(record: logging.LogRecord) -> str:
    # No traceback: the message of an exception underneath may quote a record, and a record is a conversation.
    text = record.getMessage().splitlines()[0] if record.name.startswith(NOISY) else record.getMessage()
    if record.exc_info and record.exc_info[0] is not None:
        text = f"{text} ({record.exc_info[0].__name__})"
    return text[:500]


def _thread_failed(args: threading.ExceptHookArgs) -> None:
    # The driver's threads end with an error when they are stopped while the broker is away.
    logging.getLogger(__name__).warning("a thread ended: %s", args.exc_type.__name__)


def set_up_logs(settings: Settings) -> None:
    """To stderr. The frameworks beneath are heard from WARNING on."""
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if as_json else Plain())
    handler.addFilter(RateLimit())
    threading.excepthook = _thread_failed
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level)
    for name in (*NOISY, "httpx", "httpcore", "openai", "aiohttp.access"):
        logging.getLogger(name).setLevel(logging.WARNING)


def quiet_frameworks() -> None:
    """For a command: what goes wrong reaches the user as its own one line, not as the driver's retries."""
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
