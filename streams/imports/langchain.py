"""LangChain's messages: `messages_to_dict`, `dumpd`, `model_dump`, as a list or under `messages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from schemas import Message
from schemas.events import Role
from streams.imports.conversations import Found, Unread, Unusable, instant, split, spoken

ROLES: Mapping[str, Role] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}


def read(given: object, zone: ZoneInfo) -> Found:
    listed = given.get("messages") if isinstance(given, Mapping) else given
    if isinstance(listed, list):
        yield from split(messages(listed, zone))
    else:
        yield Unread("file", "is no list of messages, nor an object with one under messages")


def messages(listed: Sequence[object], zone: ZoneInfo) -> Iterator[tuple[str, Message] | Unread]:
    """Those that the user or the assistant said, and where they stood."""
    for number, one in enumerate(listed, 1):
        where = f"message {number}"
        try:
            made = message(one, zone)
        except Unusable as error:
            yield Unread(where, str(error))
            continue
        if made is not None and made.role in ("user", "assistant"):
            yield where, made


def message(given: object, zone: ZoneInfo) -> Message | None:
    """None for one without text (a call of a tool). Raises `Unusable`."""
    if not isinstance(given, Mapping):
        raise Unusable("not a JSON object")
    body: Any = given.get("data", given.get("kwargs", given))
    if not isinstance(body, Mapping):
        raise Unusable("its data is not a JSON object")
    kind = str(given.get("type", given.get("role", "")))
    if kind == "constructor":
        # dumpd: {"lc": 1, "type": "constructor", "id": [..., "HumanMessage"], "kwargs": {...}}
        path = given.get("id")
        kind = str(path[-1]) if isinstance(path, list) and path else ""
        kind = kind.removesuffix("Chunk").removesuffix("Message").lower()
    role = ROLES.get(kind)
    if role is None:
        raise Unusable(f"its type is none of {', '.join(ROLES)}")
    text = plain(body.get("content"))
    if not text.strip():
        return None
    more = body.get("additional_kwargs")
    time = more.get("timestamp") if isinstance(more, Mapping) else None
    return spoken(role, text, time=instant(time, zone))


def plain(content: object) -> str:
    """Text, or the texts of a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))
