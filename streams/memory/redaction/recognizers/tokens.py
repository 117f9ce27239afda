"""What a secret looks like as a word, and what only stands where one would be."""

from __future__ import annotations

import re

from streams.memory.look import Looked

EXPRESSION = Looked(
    r"^[A-Za-z_][\w.]*\(|^[\w.]+\[|"
    r"^(?:os|process|env|import\.meta|self|this|config|settings|request|req|params|args|options)\.|"
    r"\(\)|^(?:str|string|int|bool|true|false|null|none|nil|undefined|required|optional|self|function|new|await|"
    r"import|return|char|byte)(?![^\s;,)])",
    re.IGNORECASE | re.ASCII,
)


def like_password(value: str) -> bool:
    """A digit, a symbol inside, or letters in both cases: not a word of the sentence."""
    core = value.strip("\"'`.,;:!?()[]")
    if re.search(r"[0-9]", core):
        return len(core) >= 3
    return bool(re.search(r"[^A-Za-z'\-]", core)) or bool(re.search(r"[a-z][A-Z]", core))


def trim(text: str, start: int, end: int, quote: str = "") -> tuple[int, int]:
    """Without the punctuation of the sentence around it, and only up to the closing quote."""
    if quote:
        close = text.find({"(": ")"}.get(quote, quote), start, start + 80)
        if close > start and "\n" not in text[start:close]:
            return start, close
    while end > start and text[end - 1] in ",.;:\"'`)]}>":
        end -= 1
    while start < end and text[start] in ",;:)":
        start += 1
    while (
        start < end
        and text[start] in "\"'`([{"
        and text[start + 1 : end].find({"(": ")", "[": "]", "{": "}"}.get(text[start], text[start])) < 0
    ):
        start += 1
    return start, end


MADE_UP = Looked(
    r"fake|example|dummy|placeholder|change_?me|your|x{4}|sample|redacted|insert|<[^<>\n]{1,40}>|^\$\w+$|\$\{\w+\}|"
    r"\{\{\s?[\w.]+\s?\}\}|%\(",
    re.IGNORECASE | re.ASCII,
)
