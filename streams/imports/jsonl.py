"""JSON Lines: one conversation a line, `{"time", "text"}` or `{"time", "messages": [{"role", "text", "time"}]}`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from schemas import Message
from streams.imports.conversations import ROLES, Conversation, Parsed, instant

KNOWN = {"time", "text", "messages", "session_id", "role", "speaker"}


def parse(text: str, zone: ZoneInfo) -> Parsed:
    parsed = Parsed("jsonl")
    # Not splitlines(): it also breaks at U+2028, which a JSON string may contain as it is.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            parsed.conversations.append(conversation(json.loads(line), f"line {number}", zone))
        except json.JSONDecodeError:
            parsed.refuse(f"line {number}", "not JSON")
        except (ValueError, RecursionError) as error:
            parsed.refuse(f"line {number}", str(error))
    return parsed


def conversation(given: object, where: str, zone: ZoneInfo) -> Conversation:
    """One line's object, or one item of a request. Raises `ValueError` with a reason that quotes no text."""
    if not isinstance(given, Mapping):
        raise ValueError("not a JSON object")
    if unknown := given.keys() - KNOWN:
        raise ValueError(f"{len(unknown)} unknown fields; known are {', '.join(sorted(KNOWN))}")
    listed = given.get("messages")
    if (listed is None) == (given.get("text") is None):
        raise ValueError("give either text or messages")
    if listed is not None and not isinstance(listed, list):
        raise ValueError("messages is not a list")
    session = given.get("session_id", "")
    if not isinstance(session, str) or len(session) > 512:
        raise ValueError("session_id is not a text of at most 512 characters")
    time = instant(given.get("time"), zone)
    messages = tuple(message(one, zone) for one in (listed if listed is not None else [{**given, "time": None}]))
    if not messages:
        raise ValueError("messages is empty")
    return Conversation(where, time or messages[0].time, messages, session)


def message(given: Any, zone: ZoneInfo) -> Message:
    """Raises `ValueError`."""
    if not isinstance(given, Mapping):
        raise ValueError("a message is not a JSON object")
    text, role, speaker = given.get("text", given.get("content")), given.get("role", "user"), given.get("speaker")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("text is missing or empty")
    if role not in ROLES:
        raise ValueError(f"role is none of {', '.join(ROLES)}")
    if speaker is not None and (not isinstance(speaker, str) or len(speaker) > 256):
        raise ValueError("speaker is not a text of at most 256 characters")
    return Message(role=role, text=text, speaker=speaker, time=instant(given.get("time"), zone))
