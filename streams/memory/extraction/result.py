"""What an extractor answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from schemas import Candidate, RedactedEvent


@dataclass(frozen=True, slots=True)
class SentenceTrace:
    """Why a sentence (characters [start, end) of message `message`) was kept or not."""

    message: int
    start: int
    end: int
    kept: bool
    why: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """`skipped`: one reason word when there are no candidates, e.g. `small_talk`, `question`, `nothing_to_keep`.

    `version` is set when another extractor than the one that was asked gave the answer; it used no prompt.
    """

    candidates: tuple[Candidate, ...]
    skipped: str | None
    trace: tuple[SentenceTrace, ...] = ()
    version: str = ""


class Extractor(Protocol):
    """`version` and `prompt_version` are stored with every memory. Raises `BadData` and what the model port raises."""

    @property
    def version(self) -> str: ...

    @property
    def prompt_version(self) -> str: ...

    async def extract(self, event: RedactedEvent) -> Extraction: ...
