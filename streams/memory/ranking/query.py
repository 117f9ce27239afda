"""What a query asks, read without a model: who it is about, when, and by which words to look for it."""

from __future__ import annotations

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
from streams.memory.ranking.wanted import Wanted, wanted, wants_several
from streams.memory.ranking.weights import Weights
from streams.memory.timephrases import interval, resolve

# Of a dialogue, the end is what it is about now; embedding costs by length (about 2 ms a token).
DIALOGUE_CHARS: Final = 400
QUESTION_CHARS: Final = 600

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
    names that the query gives explicitly (`about`, the speaker tags of a dialogue). `several`: more than one memory is
    asked for.
    """

    text: str
    lang: Literal["zh", "en"]
    dialogue: bool
    words: tuple[str, ...]
    added: Mapping[str, float]
    persons: tuple[str, ...]
    periods: tuple[Period, ...]
    asks: Wanted | None
    several: bool = False
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
    question = "" if dialogue else asked[:QUESTION_CHARS]
    return Understanding(
        text=text,
        lang="zh" if language(text) == "zh" else "en",
        dialogue=dialogue,
        words=words,
        added=added,
        persons=tuple(persons),
        periods=_periods(question, now, request.timezone or "UTC"),
        asks=wanted(question),
        several=wants_several(question),
        slots=asked_slots(question),
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
    for phrase in resolve(text, now, zone):
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
