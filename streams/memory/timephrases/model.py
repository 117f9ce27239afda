"""What a resolved time phrase is."""

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Literal

Kind = Literal["date", "datetime", "daterange", "datetimerange", "time", "timerange", "duration", "set"]

Granularity = Literal[
    "second", "minute", "hour", "daypart", "day", "workday", "week", "fortnight", "weekend", "month",
    "quarter", "half", "season", "year", "decade", "century",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """One time phrase of a text.

    Attributes:
        text: the phrase as written, `source[start:end]`.
        start, end: offsets in characters of the input.
        kind: `date` is one day; `datetime` one moment; `time` a time of day without a day of its own; the
            ranges have two sides, of which one may be open; `duration` and `set` have no place in time.
        value: the first day or moment. Naive wall time in the zone that `resolve` was given: a `date` for
            `date` and `daterange`, a `datetime` for `datetime` and `datetimerange`, a `time` for `time` and
            `timerange`; `None` for an open beginning ("before May") and for durations and sets.
        end_value: exclusive end of the same type; `None` for single days and moments, and for an open end.
        granularity: the unit that was said: "March" is a `month`, "3pm" an `hour`.
        fuzzy: said to be approximate ("around", "early May", "月底", "几天前").
        anchor: the day on which a bare time falls if the reader assumes the day of the reference.
    """

    text: str
    start: int
    end: int
    kind: Kind
    value: datetime | date | time | None
    end_value: datetime | date | time | None
    granularity: Granularity
    fuzzy: bool = False
    anchor: date | None = None
