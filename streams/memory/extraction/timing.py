"""Attach resolved time to a statement: what its time phrases mean, counted from when it was said."""

from __future__ import annotations

from datetime import UTC, datetime

from schemas import TimeRef

try:  # the resolver is a package of its own
    from streams.memory.timephrases import interval, resolve
except ImportError:  # pragma: no cover
    resolve = None  # type: ignore[assignment]


def time_of(text: str, said_at: datetime, zone: str, lang: str) -> TimeRef | None:
    """The first time phrase of a text that resolves, as an interval in UTC; None without one."""
    if resolve is None:
        return None
    for phrase in resolve(text, said_at, zone, lang):
        try:
            start, end = interval(phrase, zone)
        except NotImplementedError:  # the resolver is being built
            return None
        if start is not None or end is not None:
            return TimeRef(text=phrase.text, start=_utc(start), end=_utc(end))
    return None


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
