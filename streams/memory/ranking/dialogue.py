"""A dialogue as a query: who speaks, and what of it to search by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schemas import Message
from streams.memory.lexical import ROLE_NAMES, fold

# `<Anna>: "Hi"`, `Anna: Hi`, `用户：你好`: a line that begins with who says it.
_TAGGED = re.compile(
    r"^\s*(?:<\s*(?P<tag>[^<>\n]{1,40})\s*>|(?P<name>[^\W\d_][\w .'-]{0,30}?))\s*[:：]\s*(?P<text>.*)$"
)
_QUOTED = re.compile(r"^[\"“「'](.*)[\"”」']$", re.DOTALL)
_ASSISTANTS = frozenset({"assistant", "ai", "bot", "system", "tool", "助手", "助理", "机器人"})


@dataclass(frozen=True, slots=True)
class Turn:
    """`speaker` is None for a role that is no name; `assistant` for what the machine said."""

    text: str
    speaker: str | None = None
    assistant: bool = False


def _speaker(name: str | None) -> str | None:
    name = (name or "").strip()
    return name if name and fold(name) not in ROLE_NAMES | _ASSISTANTS else None


def dialogue_turns(query: str, messages: Sequence[Message]) -> list[Turn]:
    """The turns of `messages` and then of `query`; a query that is no transcript is one turn."""
    turns = [
        Turn(message.text, _speaker(message.speaker), message.role != "user")
        for message in messages
        if message.text.strip()
    ]
    return turns + (_transcript(query) or ([Turn(query)] if query.strip() else []))


def _transcript(text: str) -> list[Turn]:
    """Empty unless the text is a transcript: every line tagged `<who>:`, or two lines and more that begin `who:`."""
    found: list[Turn] = []
    bracketed = False
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        match = _TAGGED.match(line)
        if match is None:
            if not found:
                return []
            last = found[-1]
            found[-1] = Turn(f"{last.text}\n{line.strip()}", last.speaker, last.assistant)
            continue
        bracketed = bracketed or match["tag"] is not None
        who = match["tag"] or match["name"]
        said = match["text"].strip()
        quoted = _QUOTED.match(said)
        found.append(Turn(quoted[1] if quoted else said, _speaker(who), fold(who).strip() in _ASSISTANTS))
    return found if bracketed or len(found) >= 2 else []
