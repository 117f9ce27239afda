"""Which format a file has, and reading it."""

from __future__ import annotations

import re
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from streams.imports import chatgpt, chatlog, jsonl, langchain
from streams.imports.conversations import NotJSON, Parsed, loads

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
        given = loads(text)
    except NotJSON as error:
        parsed = Parsed(form)
        parsed.refuse(f"line {error.line}" if error.line else "file", str(error))
        return parsed
    return chatgpt.parse(given, zone) if form == "chatgpt" else langchain.parse(given, zone)


def detect(text: str) -> Literal["jsonl", "chatgpt", "chatlog", "langchain"]:
    """By what the file begins with; a broken JSON file is taken for the JSON format that its first words name."""
    start = text.lstrip()[:4096]
    if not start.startswith(("{", "[")) or chatlog.head(start.split("\n", 1)[0]):
        return "chatlog"
    try:
        given = loads(text)
    except NotJSON:
        # [2026/3/2 15:05], [3/2/26, 9:00 AM], [图片]
        if not re.match(r"\{|\[\s*\{", start):
            return "chatlog"
        given = None
    first = given[0] if isinstance(given, list) and given else given
    if isinstance(first, dict):
        if "mapping" in first:
            return "chatgpt"
        if isinstance(given, list):
            return "jsonl" if first.keys() & {"text", "messages"} else "langchain"
        inner = first.get("messages")
        typed = isinstance(inner, list) and any(isinstance(one, dict) and "type" in one for one in inner)
        return "langchain" if typed else "jsonl"
    if start.startswith("["):
        return "chatgpt" if '"mapping"' in start else "langchain"
    return "jsonl"
