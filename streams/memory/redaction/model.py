"""What redaction finds and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal["mask", "drop", "keep"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A recognizer's finding, in characters of the view it was given; of two that overlap the stronger one stands."""

    entity: str
    start: int
    end: int
    score: int


@dataclass(frozen=True, slots=True)
class Span:
    """A finding in characters of the input, end exclusive, and what the policy does with it."""

    entity: str
    start: int
    end: int
    action: Action


@dataclass(frozen=True, slots=True)
class Redaction:
    """The outcome for one text.

    `text` has typed placeholders (`[PHONE_1]`) for masked spans, and `[DROPPED]` for every run of sentences (or for
    the message, as the policy says) that held a dropped one. In mode `report` it is the input.
    `spans` ascend and never overlap; `dropped_sentences` counts sentences; `dropped_message` says that nothing is left.
    """

    text: str
    spans: tuple[Span, ...] = ()
    dropped_sentences: int = 0
    dropped_message: bool = False
