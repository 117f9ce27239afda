"""What every format is read into."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from schemas import Message
from schemas.events import Role

# One event is settled at once and has at most 2 MiB, of which escapes have a part: a long dialogue becomes several.
MOST_MESSAGES = 50
MOST_BYTES = 1024 * 1024
# What is longer is parked by the worker (its `max_text_chars`), and with it all that is in the same event.
LONG_CHARS = 32_000
SILENCE = timedelta(hours=1)
NOT_UTF_8 = "not UTF-8; convert it, for example: iconv -f gb18030 -t utf-8 FILE"


class Conversation(NamedTuple):
    """`where`: "line 3", "conversation 2": for people, no part of its identity."""

    where: str
    time: datetime | None
    messages: tuple[Message, ...]
    session_id: str = ""


@dataclass(frozen=True)
class Unread:
    """What is left out, and why; `reason` quotes nothing of the file."""

    where: str
    reason: str


# Of one file, in its order: what was understood, and what was not and is left out.
Found = Iterator[Conversation | Unread]


class Unusable(ValueError):
    """Its text is a reason that quotes nothing of the file, unlike that of other errors."""


class NotJSON(Unusable):
    """`line`: where it ends to be JSON, as far as that is known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


def decoded(data: bytes) -> str:
    """Only UTF-8: words in another encoding would be remembered as gibberish. Raises `Unusable`."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unusable(NOT_UTF_8) from None


def loads(text: str) -> Any:
    """Raises `NotJSON`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise NotJSON("not JSON", error.lineno) from None
    except RecursionError:
        raise NotJSON("is nested too deeply") from None
    except ValueError:
        raise NotJSON("has a number of too many digits") from None


def spoken(role: Role, text: str, speaker: str | None = None, time: datetime | None = None) -> Message:
    """Raises `Unusable`."""
    try:
        return Message(role=role, text=text, speaker=speaker, time=time)
    except ValidationError:
        raise Unusable("its text or speaker is no Unicode text") from None


def instant(value: object, zone: ZoneInfo) -> datetime | None:
    """ISO 8601 or seconds since 1970; without an offset it is a time of `zone`. Raises `Unusable`."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str):
            given = datetime.fromisoformat(value)
            return (given if given.tzinfo else given.replace(tzinfo=zone)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise Unusable("the time is neither ISO 8601 nor seconds since 1970")


def split(said: Iterable[tuple[str, Message] | Unread], session_id: str = "") -> Found:
    """Messages with where they stood, in parts: a new one after an hour of silence, fifty messages or 1 MiB.

    A message that is too long for a worker stands alone."""
    where, part, size = "", list[Message](), 0
    for one in said:
        if isinstance(one, Unread):
            yield one
            continue
        at, message = one
        before = part[-1].time if part else None
        silent = before is not None and message.time is not None and message.time - before > SILENCE
        length = len(message.text.encode("utf-8", "surrogatepass"))
        alone = any(len(other.text) > LONG_CHARS for other in (message, *part[-1:]))
        if part and (silent or alone or len(part) == MOST_MESSAGES or size + length > MOST_BYTES):
            yield Conversation(where, part[0].time, tuple(part), session_id)
            part, size = [], 0
        if not part:
            where = at
        part.append(message)
        size += length
    if part:
        yield Conversation(where, part[0].time, tuple(part), session_id)
