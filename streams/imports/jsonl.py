"""JSON Lines: one conversation a line, `{"time", "text"}` or `{"time", "messages": [{"role", "text", "time"}]}`.

A JSON array of the same objects is read as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain, islice
from typing import Any, get_args
from zoneinfo import ZoneInfo

from schemas import Message
from schemas.events import Role
from streams.imports.conversations import Conversation, Found, NotJSON, Unread, Unusable, instant, loads, spoken

ROLES: tuple[Role, ...] = get_args(Role)
MESSAGE = {"time", "text", "content", "role", "speaker"}
KNOWN = {"time", "text", "messages", "session_id", "role", "speaker"}


def read(lines: Iterable[str], zone: ZoneInfo) -> Found:
    for where, one in rows(lines):
        try:
            if isinstance(one, NotJSON):
                raise one
            yield conversation(one, where, zone)
        except Unusable as error:
            yield Unread(where, str(error))


def rows(lines: Iterable[str]) -> Iterator[tuple[str, object]]:
    """Where each object stands, and the object, or `NotJSON`."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    first = list(islice(numbered, 1))
    if first and first[0][1].lstrip().startswith("["):
        # An array is one document, and is read whole.
        first += numbered
        try:
            found = loads("".join(line for _, line in first))
        except NotJSON:
            pass
        else:
            yield from ((f"conversation {number}", one) for number, one in enumerate(found, 1))
            return
    for number, line in chain(first, numbered):
        try:
            yield f"line {number}", loads(line)
        except NotJSON as error:
            yield f"line {number}", error


def conversation(given: object, where: str, zone: ZoneInfo) -> Conversation:
    """One line's object, or one item of a request. Raises `Unusable`."""
    if not isinstance(given, Mapping):
        raise Unusable("not a JSON object")
    refuse_unknown(given, KNOWN)
    listed = given.get("messages")
    if (listed is None) == (given.get("text") is None):
        raise Unusable("give either text or messages")
    if listed is not None and not isinstance(listed, list):
        raise Unusable("messages is not a list")
    session = given.get("session_id", "")
    if not isinstance(session, str) or len(session) > 512:
        raise Unusable("session_id is not a text of at most 512 characters")
    time = instant(given.get("time"), zone)
    alone = {name: given[name] for name in ("role", "text", "speaker") if name in given}
    messages = tuple(message(one, zone) for one in (listed if listed is not None else [alone]))
    if not messages:
        raise Unusable("messages is empty")
    return Conversation(where, time or messages[0].time, messages, session)


def message(given: Any, zone: ZoneInfo) -> Message:
    """Raises `Unusable`."""
    if not isinstance(given, Mapping):
        raise Unusable("a message is not a JSON object")
    refuse_unknown(given, MESSAGE, " in a message")
    text, role, speaker = given.get("text", given.get("content")), given.get("role", "user"), given.get("speaker")
    if not isinstance(text, str) or not text.strip():
        raise Unusable("text is missing or empty")
    if role not in ROLES:
        raise Unusable(f"role is none of {', '.join(ROLES)}")
    if speaker is not None and (not isinstance(speaker, str) or len(speaker) > 256):
        raise Unusable("speaker is not a text of at most 256 characters")
    return spoken(role, text, speaker, instant(given.get("time"), zone))


def refuse_unknown(given: Mapping[str, object], known: Set[str], where: str = "") -> None:
    """What a field means that is ignored, such as whose words these are, is lost. Raises `Unusable`."""
    if unknown := given.keys() - known:
        raise Unusable(f"{len(unknown)} unknown fields{where}; known are {', '.join(sorted(known))}")
