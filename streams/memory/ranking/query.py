"""What a query asks, read without a model: who it is about, when, and by which words to look for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from schemas import RecallRequest
from streams.memory.extraction.lang import language
from streams.memory.lexical import terms
from streams.memory.lexicon import FUNCTION_CHARACTERS
from streams.memory.ranking.dialogue import dialogue_turns
from streams.memory.ranking.everyday import expand
from streams.memory.ranking.slots import asked_slots
from streams.memory.ranking.weights import Weights
from streams.memory.timephrases import interval, resolve

# Of a dialogue, the end is what it is about now; embedding costs by length (about 2 ms a token).
DIALOGUE_CHARS: Final = 400
QUESTION_CHARS: Final = 600

_ASKS_TIME = re.compile(
    r"^\W*(?:since |by |until )?when\b|\b(?:what|which) (?:date|day|month|year|time|week)\b|\bhow long ago\b"
    r"|什么时候|何时|几点|几号|哪一?[天年月周日]|多久(?:前|以前|之前)|时间",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|often|far|tall|big)\b|\bwhat (?:number|age|price|amount|size)\b"
    r"|多少|几[个次岁只位本天年月周名条件]|多[大长久高远]",
    re.IGNORECASE,
)
# Units that place an event; "at three" or "in the morning" is no date.
_CLOCK = frozenset({"second", "minute", "hour", "daypart"})
_LONG: Final = timedelta(days=31)


@dataclass(frozen=True, slots=True)
class Period:
    """[start, end) in UTC, either side open; `text` as asked.

    `around_now`: long, and not over yet. "How old is she this year?" asks for no time: nearly all falls into it.
    """

    text: str
    start: datetime | None
    end: datetime | None
    around_now: bool = False


@dataclass(frozen=True, slots=True)
class Understanding:
    """A query as search sees it.

    `words` are the query's own terms in order; `added` the expansions with their weight, under 1. `persons` are
    names that the query gives explicitly (`about`, the speaker tags of a dialogue).
    """

    text: str
    lang: Literal["zh", "en"]
    dialogue: bool
    words: tuple[str, ...]
    added: Mapping[str, float]
    persons: tuple[str, ...]
    periods: tuple[Period, ...]
    asks: Literal["time", "number"] | None
    # Attributes of oneself that the question asks for.
    slots: frozenset[str] = frozenset()
    # What a chat model said in other words, for the dense search.
    rewritten: str = ""


def understand(request: RecallRequest, now: datetime, weights: Weights) -> Understanding:
    """Reads a request. Relative dates are those of `now` in the request's zone."""
    turns = dialogue_turns(request.query, request.messages)
    dialogue = len(turns) > 1 or any(turn.speaker for turn in turns)
    spoken = [turn for turn in turns if not turn.assistant] or turns
    text = "\n".join(turn.text for turn in spoken)
    text = text[-DIALOGUE_CHARS:] if dialogue else text[:QUESTION_CHARS]
    words = content_words(text)
    expansion = expand(words)
    added = {term: share * weights.members for term, share in expansion.members.items()}
    added |= {term: share * weights.synonyms for term, share in expansion.synonyms.items()}
    speakers = [turn.speaker for turn in spoken if turn.speaker]
    persons = [request.about] if request.about else speakers[-1:]
    asked = turns[-1].text if turns else ""
    asks: Literal["time", "number"] | None = None
    if _ASKS_TIME.search(asked):
        asks = "time"
    elif _ASKS_NUMBER.search(asked):
        asks = "number"
    return Understanding(
        text=text,
        lang="zh" if language(text) == "zh" else "en",
        dialogue=dialogue,
        words=words,
        added=added,
        persons=tuple(persons),
        periods=() if dialogue else _periods(asked, now, request.timezone or "UTC"),
        asks=None if dialogue else asks,
        slots=frozenset() if dialogue else asked_slots(asked[:QUESTION_CHARS]),
    )


def content_words(text: str) -> tuple[str, ...]:
    """The distinct terms of a query that say what it asks for; all of them when none does.

    >>> content_words("我该怎么准备出行")
    ('准备', '备出', '出行')
    """
    found = tuple(dict.fromkeys(terms(text)))
    return tuple(term for term in found if FUNCTION_CHARACTERS.isdisjoint(term)) or found


def _periods(text: str, now: datetime, zone: str) -> tuple[Period, ...]:
    found = []
    for phrase in resolve(text[:QUESTION_CHARS], now, zone):
        if phrase.granularity in _CLOCK or phrase.kind in ("time", "timerange", "duration", "set"):
            continue
        try:
            start, end = interval(phrase, zone)
        except (ValueError, OverflowError):
            continue
        around_now = start <= now < end and end - start > _LONG
        since, until = (None if start.year < 1900 else start), (None if end.year > 2200 else end)
        found.append(Period(phrase.text, since, until, around_now))
    return tuple(found)
