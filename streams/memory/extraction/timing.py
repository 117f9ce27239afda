"""Attach resolved time to a statement: what its time phrases mean, counted from when it was said."""

from __future__ import annotations

from datetime import datetime

from schemas import TimeRef
from streams.memory.timephrases import EARLIEST, LATEST, TimePhrase, interval, resolve


def time_of(text: str, said_at: datetime, zone: str) -> TimeRef | None:
    """The first time phrase of a text that has a place in time, as [start, end) in UTC; None without one.

    A time of day alone ("at 9") has no day of its own: its words are kept, both sides stay open.
    """
    bare: TimePhrase | None = None
    for phrase in resolve(text, said_at, zone):
        if phrase.kind in ("duration", "set"):
            continue
        if phrase.kind in ("time", "timerange"):
            bare = bare or phrase
            continue
        start, end = interval(phrase, zone)
        return TimeRef(
            text=phrase.text,
            start=None if start == EARLIEST else start,
            end=None if end == LATEST else end,
            granularity=phrase.granularity,
        )
    return TimeRef(text=bare.text, granularity=bare.granularity) if bare else None
