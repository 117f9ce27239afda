"""ChatGPT's export, `conversations.json`: a list of trees of messages, of which the branch shown last is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from schemas import Message
from streams.imports.conversations import Found, Unread, Unusable, instant, split, spoken


def read(given: object, zone: ZoneInfo) -> Found:
    for number, one in enumerate(given if isinstance(given, list) else [given], 1):
        where = f"conversation {number}"
        try:
            said = [(where, message) for message in branch(one, zone)]
        except Unusable as error:
            yield Unread(where, str(error))
            continue
        if not said:
            yield Unread(where, "no text of the user or the assistant")
        session = one.get("conversation_id") or one.get("id") or ""
        yield from split(said, session[:512] if isinstance(session, str) else "")


def branch(given: object, zone: ZoneInfo) -> Iterator[Message]:
    """From the root to `current_node`. Raises `Unusable` for what is no conversation of an export."""
    nodes = given.get("mapping") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(nodes, Mapping):
        raise Unusable("has no mapping of messages: is it conversations.json of a ChatGPT export?")
    nodes = {name: one for name, one in nodes.items() if isinstance(one, Mapping)}
    node = given.get("current_node")
    if not isinstance(node, str) or node not in nodes:
        # Without it, the path to the newest leaf.
        node = next((name for name, one in reversed(nodes.items()) if not one.get("children")), None)
    path: list[Any] = []
    # Taken out, so that a circle ends.
    while isinstance(node, str) and (one := nodes.pop(node, None)) is not None:
        path.append(one.get("message"))
        node = one.get("parent")
    for message in reversed(path):
        if isinstance(message, Mapping) and (made := turn(message, zone)) is not None:
            yield made


def turn(given: Mapping[str, Any], zone: ZoneInfo) -> Message | None:
    """None for system prompts, tools, pictures, and what is empty."""
    author, content = given.get("author"), given.get("content")
    role = author.get("role") if isinstance(author, Mapping) else None
    parts = content.get("parts") if isinstance(content, Mapping) else None
    text = "\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""
    if role not in ("user", "assistant") or not text.strip():
        return None
    return spoken(role, text, time=instant(given.get("create_time"), zone))
