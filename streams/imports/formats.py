"""Which format a file has, and reading it."""

from __future__ import annotations

import json
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from streams.imports import chatgpt, chatlog, jsonl, langchain
from streams.imports.conversations import Parsed

Format = Literal["auto", "jsonl", "chatgpt", "chatlog", "langchain"]
FORMATS: tuple[Format, ...] = get_args(Format)


def parse(text: str, form: Format = "auto", zone: ZoneInfo | None = None) -> Parsed:
    """Pure. What can't be read is in `problems`, with where it stands. `zone`: of times without one (default UTC)."""
    text, zone = text.removeprefix("\ufeff"), zone or ZoneInfo("UTC")
    if form == "auto":
        form = detect(text)
    match form:
        case "chatlog":
            return chatlog.parse(text, zone)
        case "jsonl":
            return jsonl.parse(text, zone)
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        parsed = Parsed(form)
        parsed.refuse(f"line {error.lineno}", f"not JSON ({error.msg})")
        return parsed
    except RecursionError:
        parsed = Parsed(form)
        parsed.refuse("file", "is nested too deeply")
        return parsed
    return chatgpt.parse(given, zone) if form == "chatgpt" else langchain.parse(given, zone)


def detect(text: str) -> Literal["jsonl", "chatgpt", "chatlog", "langchain"]:
    """By what the file begins with; a broken JSON file is taken for the JSON format that its first words name."""
    start = text.lstrip()[:4096]
    if not start.startswith(("{", "[")) or chatlog.head(start.split("\n", 1)[0]):
        return "chatlog"
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    first = given[0] if isinstance(given, list) and given else given
    if isinstance(first, dict):
        if "mapping" in first:
            return "chatgpt"
        inner = first.get("messages")
        if isinstance(given, list) or (isinstance(inner, list) and any("type" in m for m in inner if m)):
            return "langchain"
        return "jsonl"
    if start.startswith("["):
        return "chatgpt" if '"mapping"' in start else "langchain"
    return "jsonl"
