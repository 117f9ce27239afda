"""What every format is read into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from schemas import Message

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)
# One event is settled at once and has at most 2 MiB: a long dialogue becomes several.
MOST_MESSAGES = 50
SILENCE = timedelta(hours=1)


class Conversation(NamedTuple):
    """`where`: "line 3", "conversation 2": for people, no part of its identity."""

    where: str
    time: datetime | None
    messages: tuple[Message, ...]
    session_id: str = ""


class Problem(NamedTuple):
    """`reason` quotes nothing of the file."""

    where: str
    reason: str


@dataclass(slots=True)
class Parsed:
    """Of one file: what was understood, and what was not and is left out."""

    format: str
    conversations: list[Conversation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, where: str, reason: str) -> None:
        self.problems.append(Problem(where, reason))


def instant(value: object, zone: ZoneInfo) -> datetime | None:
    """ISO 8601 or seconds since 1970; without an offset it is a time of `zone`. Raises `ValueError`."""
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
    raise ValueError("the time is neither ISO 8601 nor seconds since 1970")


def split(said: Iterable[tuple[str, Message]], session_id: str = "") -> Iterator[Conversation]:
    """Messages with where they stood, in parts: a new one after an hour of silence or fifty messages."""
    where, part = "", list[Message]()
    for at, message in said:
        before = part[-1].time if part else None
        silent = before is not None and message.time is not None and message.time - before > SILENCE
        if part and (silent or len(part) == MOST_MESSAGES):
            yield Conversation(where, part[0].time, tuple(part), session_id)
            part = []
        if not part:
            where = at
        part.append(message)
    if part:
        yield Conversation(where, part[0].time, tuple(part), session_id)
