"""From text to phrases: clauses, the words that decide their tense, and what the grammar reads in them."""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from streams.memory.timephrases.calendar import CLOCK_UNITS, DAY
from streams.memory.timephrases.cursor import Reading
from streams.memory.timephrases.grammar import Grammar
from streams.memory.timephrases.model import Granularity, Kind, TimePhrase
from streams.memory.timephrases.place import Tense
from streams.memory.timephrases.text import fold
from streams.memory.timephrases.tokens import Lexer, Token

HAN = re.compile(r"[\u4e00-\u9fff]")
LATIN = re.compile(r"[a-z]{2}")
# Where no phrase goes on. A full stop counts only after a word: "5 p.m. today" and "Feb. 5" go on.
CLAUSE_END = re.compile(r"[\n\r。!?;]+|(?<=[a-z]{4})\.\s+(?=[a-z])")


@dataclass(frozen=True, slots=True)
class Language:
    lexer: Lexer
    cues: "re.Pattern[str]"  # without one of them a clause has no time phrase
    past: "re.Pattern[str]"
    future: "re.Pattern[str]"
    tense: Tense


@lru_cache(maxsize=2)
def _language(code: str) -> Language:
    if code == "en":
        from streams.memory.timephrases import en

        return Language(en.build(), en.CUES, en.PAST, en.FUTURE, "future")
    if code == "zh":
        from streams.memory.timephrases import zh

        return Language(zh.build(), zh.CUES, zh.PAST, zh.FUTURE, "current")
    raise ValueError(f"unknown language {code!r}: expected 'en' or 'zh'")


def resolve(text: str, reference: datetime, zone: str = "UTC", lang: str | None = None) -> list[TimePhrase]:
    """All time phrases of `text`, in order and without overlap.

    Args:
        text: any length; the work is linear in it.
        reference: when it was said. An aware one is taken to `zone`; a naive one is wall time in `zone`.
        zone: IANA name of the speaker's time zone.
        lang: "en" or "zh" to read one language only; `None` reads both.

    Raises:
        ValueError: unknown `lang`.
        ZoneInfoNotFoundError: unknown `zone`.
    """
    where = ZoneInfo(zone)
    local = reference.astimezone(where).replace(tzinfo=None) if reference.tzinfo else reference
    folded = fold(text)
    phrases: list[TimePhrase] = []
    for start, end in _clauses(folded):
        clause = folded[start:end]
        codes = [lang] if lang else _codes(clause)
        found = [p for code in codes for p in _phrases(text, clause, start, local, where, _language(code))]
        phrases += found if len(codes) == 1 else _apart(found)
    return phrases


def _clauses(folded: str) -> Iterator[tuple[int, int]]:
    start = 0
    for stop in CLAUSE_END.finditer(folded):
        yield start, stop.start()
        start = stop.end()
    yield start, len(folded)


def _codes(clause: str) -> list[str]:
    if HAN.search(clause):
        return ["zh", "en"] if LATIN.search(clause) else ["zh"]
    return ["en"]


def _phrases(
    text: str, clause: str, offset: int, reference: datetime, zone: ZoneInfo, language: Language
) -> Iterator[TimePhrase]:
    if not language.cues.search(clause):
        return
    tokens = _with_gaps(language.lexer.tokens(clause), clause)
    past = language.past.search(clause) and not language.future.search(clause)
    grammar = Grammar(tokens, reference, "past" if past else language.tense, zone)
    i = 0
    while i < len(tokens):
        found = grammar.phrase(i)
        if found is None:
            i += 1
            continue
        reading, j = found
        start, end = offset + tokens[i].start, offset + tokens[j - 1].end
        yield _phrase(text[start:end], start, reading, reference)
        i = j


def _with_gaps(tokens: Iterable[Token], clause: str) -> list[Token]:
    """The tokens, with a `word` or `stop` wherever something other than spaces lies between two of them."""
    result: list[Token] = []
    position = 0
    for token in (*tokens, Token("end", None, len(clause), len(clause))):
        between = clause[position : token.start].strip()
        if between:
            result.append(Token("word" if between[0].isalnum() else "stop", None, position, token.start))
        result.append(token)
        position = token.end
    return result[:-1]


def _phrase(said: str, offset: int, reading: Reading, reference: datetime) -> TimePhrase:
    span, start, end = reading.span, offset, offset + len(said)
    grain: Granularity = reading.grain  # type: ignore[assignment]  # the grammar's units are the granularities
    if span is None:
        kind: Kind = "set" if reading.form == "set" else "duration"
        return TimePhrase(said, start, end, kind, None, None, grain, reading.fuzzy)
    begins, ends = span.start, span.end
    if span.timed:
        ranged = reading.form == "range" or span.grain not in CLOCK_UNITS
    else:
        ranged = reading.form == "range" or begins is None or ends is None or ends - begins != DAY
    if not ranged:
        ends = None
    if not reading.dated:
        kind = "timerange" if ranged else "time"
        value, end_value = begins and begins.time(), ends and ends.time()
        anchor = (begins or ends or reference).date()
        return TimePhrase(said, start, end, kind, value, end_value, grain, reading.fuzzy, anchor)
    if span.timed:
        kind = "datetimerange" if ranged else "datetime"
        return TimePhrase(said, start, end, kind, begins, ends, grain, reading.fuzzy)
    kind = "daterange" if ranged else "date"
    return TimePhrase(said, start, end, kind, begins and begins.date(), ends and ends.date(), grain, reading.fuzzy)


def _apart(phrases: list[TimePhrase]) -> list[TimePhrase]:
    """Of overlapping phrases the longest, then the first."""
    chosen: list[TimePhrase] = []  # in order of place
    for phrase in sorted(phrases, key=lambda p: (p.start - p.end, p.start)):
        at = bisect(chosen, phrase.start, key=lambda p: p.start)
        if (at == 0 or chosen[at - 1].end <= phrase.start) and (at == len(chosen) or chosen[at].start >= phrase.end):
            chosen.insert(at, phrase)
    return chosen
