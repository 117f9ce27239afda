"""What an import would send: whose words, of when, how many. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from schemas import Message
from schemas.events import Role
from streams.imports.conversations import Conversation, Unread
from streams.imports.formats import Format
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
            speaker=message.speaker,
            time=message.time,
            text=text if len(text) <= MOST_CHARS else text[: MOST_CHARS - 1] + "…",
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
    problems: Sequence[Unread]


class Look:
    """Looks at what an import accepts as it goes by; keeps the beginning and counts, however long the file is."""

    def __init__(self, form: Format) -> None:
        self._form = form
        self._count = self._messages = self._without_time = 0
        self._first: list[Conversation] = []
        self._voices: Counter[tuple[Role, str | None]] = Counter()
        self._since: datetime | None = None
        self._until: datetime | None = None

    def take(self, one: Conversation) -> None:
        self._count += 1
        self._messages += len(one.messages)
        self._without_time += one.time is None
        self._first += [one] if len(self._first) < MOST_SHOWN else []
        self._voices.update((message.role, message.speaker) for message in one.messages)
        times = [time for time in (one.time, *(message.time for message in one.messages)) if time]
        self._since = min((time for time in (self._since, *times) if time), default=None)
        self._until = max((time for time in (self._until, *times) if time), default=None)

    def told(self, made: Batch) -> ImportPreview:
        """`made`: of all that went by, and of what was refused."""
        return ImportPreview(
            format=self._form,
            conversations=self._count,
            messages=self._messages,
            without_time=self._without_time,
            since=self._since,
            until=self._until,
            voices=[
                Voice(role=role, speaker=speaker, messages=count)
                for (role, speaker), count in self._voices.most_common(MOST_VOICES)
            ],
            shown=[PreviewedConversation.of(one) for one in self._first],
            refused=len(made.problems),
            problems=made.problems[:MOST_PROBLEMS],
        )
