"""What an import would send: whose words, of when, how many. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from schemas import Message
from schemas.events import Role
from streams.imports.conversations import Conversation, Parsed, Problem
from streams.imports.task import Batch

MOST_VOICES = 50
MOST_SHOWN = 10
MOST_MESSAGES = 3
MOST_CHARS = 60
MOST_PROBLEMS = 100


class Voice(BaseModel):
    """Whose words: the role, the name if there is one, and how many messages."""

    role: Role
    speaker: str | None = None
    messages: int


class PreviewedMessage(BaseModel):
    """The beginning of a message."""

    role: Role
    speaker: str | None = None
    time: datetime | None = None
    text: str

    @classmethod
    def of(cls, message: Message) -> Self:
        text = " ".join(message.text.split())
        return cls(
            role=message.role,
            speaker=shown(message.speaker),
            time=message.time,
            text=shown(text if len(text) <= MOST_CHARS else text[: MOST_CHARS - 1] + "…"),
        )


class PreviewedConversation(BaseModel):
    """One conversation: where it stands in the file, how many messages it has, and how the first of them begin."""

    where: str
    time: datetime | None = None
    messages: int
    first: Sequence[PreviewedMessage]

    @classmethod
    def of(cls, one: Conversation) -> Self:
        first = [PreviewedMessage.of(message) for message in one.messages[:MOST_MESSAGES]]
        return cls(where=one.where, time=one.time, messages=len(one.messages), first=first)


class NotRead(BaseModel):
    where: str
    reason: str


class ImportPreview(BaseModel):
    """Nothing of it was sent. `since` and `until`: the first and the last time; `shown`: the first conversations.

    `refused` counts what is left out, the first of which are in `problems`.
    """

    format: str
    conversations: int
    messages: int
    without_time: int
    since: datetime | None = None
    until: datetime | None = None
    voices: Sequence[Voice]
    shown: Sequence[PreviewedConversation]
    refused: int
    problems: Sequence[NotRead]


def preview(parsed: Parsed, made: Batch) -> ImportPreview:
    """`made`: of `parsed`."""
    refused = {problem.where for problem in made.problems}
    sent = [one for one in parsed.conversations if one.where not in refused]
    messages = [message for one in sent for message in one.messages]
    times = [time for one in sent for time in (one.time, *(message.time for message in one.messages)) if time]
    voices = Counter((message.role, shown(message.speaker)) for message in messages)
    problems: list[Problem] = [*parsed.problems, *made.problems]
    return ImportPreview(
        format=parsed.format,
        conversations=len(sent),
        messages=len(messages),
        without_time=sum(one.time is None for one in sent),
        since=min(times, default=None),
        until=max(times, default=None),
        voices=[
            Voice(role=role, speaker=speaker, messages=count)
            for (role, speaker), count in voices.most_common(MOST_VOICES)
        ],
        shown=[PreviewedConversation.of(one) for one in sent[:MOST_SHOWN]],
        refused=len(problems),
        problems=[NotRead(where=where, reason=reason) for where, reason in problems[:MOST_PROBLEMS]],
    )


def shown(text: str | None) -> str | None:
    """Half of a surrogate pair can't be shown."""
    return text and text.encode(errors="backslashreplace").decode()
