"""Read what a chat model wrote: JSON in prose, in fences, cut off, at the wrong level, with the wrong types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_FENCE = re.compile(r"```(?:\w+)?\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[\[{]")
_LISTS = ("memories", "facts", "items", "results", "data")

ITEM_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "message": {"type": "integer", "minimum": 0},
        "quote": {"type": "string"},
        "content": {"type": "string"},
        "memory_type": {"type": "string", "enum": ["preference", "fact", "progress", "task"]},
        "importance": {"type": "integer", "minimum": 1, "maximum": 5},
        "subject": {"type": "string"},
        "attribute": {"type": ["string", "null"]},
        "value": {"type": ["string", "null"]},
        "polarity": {"type": "string", "enum": ["positive", "negative"]},
        "operation": {"type": "string", "enum": ["assert", "retract", "correct"]},
        "replaced_value": {"type": ["string", "null"]},
        "temporary": {"type": "boolean"},
        "emotion": {"type": ["string", "null"]},
    },
    "required": [
        "message", "quote", "content", "memory_type", "importance", "subject", "attribute", "value", "polarity",
        "operation", "replaced_value", "temporary", "emotion",
    ],
    "additionalProperties": False,
}  # fmt: skip


def reply_schema(most: int) -> Mapping[str, Any]:
    """Of an answer with at most `most` memories: a small model repeats itself until something stops it."""
    return {
        "type": "object",
        "properties": {"memories": {"type": "array", "items": ITEM_SCHEMA, "maxItems": most}},
        "required": ["memories"],
        "additionalProperties": False,
    }


def items(text: str) -> list[dict[str, Any]] | None:
    """The memories in a model's answer; `[]` when it says that there are none, None when nothing can be read.

    A truncated answer gives the items that are complete.

    >>> items('Sure!\\n```json\\n{"memories": [{"content": "a"}, {"content": "b')
    [{'content': 'a'}]
    >>> items("I could not find anything.") is None
    True
    """
    text = _THINKING.sub("", text)
    fenced = _FENCE.search(text)
    for piece in (fenced.group(1) if fenced else None, text):
        if piece:
            found = _whole(piece)
            if found is None:
                found = _complete_objects(piece)
            if found is not None:
                return found
    return None


def _whole(text: str) -> list[dict[str, Any]] | None:
    """The first JSON value of the text that is complete and can be a list of memories."""
    decoder = json.JSONDecoder()
    at = 0
    while opening := _OPENING.search(text, at):
        try:
            value, at = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            return None  # what opens first is cut off: single items may still be whole
        found = _as_items(value)
        if found is not None:
            return found
    return None


def _as_items(value: Any) -> list[dict[str, Any]] | None:
    if isinstance(value, dict):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                return _as_items(value[name])
        return [clean(value)] if isinstance(value.get("content"), str) else None
    if isinstance(value, list):
        found = [
            clean(item) if isinstance(item, dict) else {"content": clean(item)}
            for item in value
            if isinstance(item, dict | str)
        ]
        return found if found or not value else None
    return None


def _complete_objects(text: str) -> list[dict[str, Any]] | None:
    """Objects with a content that can be read on their own, in an answer that can't."""
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    at = 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(value, dict) and isinstance(value.get("content"), str):
            found.append(clean(value))
        at = end
    return found or None


def clean(value: Any) -> Any:
    """The same value without lone surrogates and null characters, which no store can hold."""
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
        return whole.replace("\x00", "").strip()
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items() if isinstance(key, str)}
    if isinstance(value, list):
        return [clean(item) for item in value]
    return value
