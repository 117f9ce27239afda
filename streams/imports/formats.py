"""Which format a file has, and reading it.

Lines are read one by one, so that a long file takes no more memory than a short one; a format that is one JSON document
(`chatgpt`, `langchain`, an array) is read whole.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from streams.imports import chatgpt, chatlog, jsonl, langchain
from streams.imports.conversations import Found, NotJSON, Unread, loads

Format = Literal["auto", "jsonl", "chatgpt", "chatlog", "langchain"]
FORMATS: tuple[Format, ...] = get_args(Format)


def read(lines: Iterable[str], form: Format = "auto", zone: ZoneInfo | None = None) -> tuple[Format, Found]:
    """The format, and what is found as it is asked for. Lines end as they do in the file, by "\\n".

    `zone`: of times without one (default UTC)."""
    zone = zone or ZoneInfo("UTC")
    if form == "auto":
        form, lines = told_apart(iter(lines))
    match form:
        case "chatlog":
            return form, chatlog.read(lines, zone)
        case "jsonl":
            return form, jsonl.read(lines, zone)
    try:
        given = loads("".join(lines))
    except NotJSON as error:
        return form, iter((Unread(f"line {error.line}" if error.line else "file", str(error)),))
    return form, chatgpt.read(given, zone) if form == "chatgpt" else langchain.read(given, zone)


def told_apart(lines: Iterator[str]) -> tuple[Format, Iterable[str]]:
    """The format, and all of the lines."""
    seen: list[str] = []
    first = ""
    for line in lines:
        seen.append(line)
        if first and line.strip():
            # An object a line; of one alone its fields must tell.
            return "jsonl", chain(seen, lines)
        first = first or line.strip()
        if first and (not first.startswith(("{", "[")) or chatlog.head(first)):
            return "chatlog", chain(seen, lines)
        if first and not is_object(first):
            break
    text = "".join((*seen, *lines))
    return detect(text), io.StringIO(text, newline="\n")


def is_object(line: str) -> bool:
    try:
        return line.endswith("}") and isinstance(loads(line), dict)
    except NotJSON:
        return False


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
