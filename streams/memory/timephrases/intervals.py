"""What a phrase covers on the time line."""

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from streams.memory.timephrases.calendar import CLOCK_UNITS, DAY, MIDNIGHT, shift
from streams.memory.timephrases.model import TimePhrase

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


def interval(phrase: TimePhrase, zone: str = "UTC") -> tuple[datetime, datetime]:
    """What a phrase covers, as aware UTC [start, end): a day its 23 to 25 hours, "3pm" that hour, "3:15" that minute.

    Open sides are `EARLIEST` and `LATEST`. `zone` is the one that `resolve` was given. A wall time that the clocks
    skip in spring is read as if they had not been set yet; one that comes twice in autumn is the first.

    Raises:
        ValueError: durations and sets, which have no place in time.
        ZoneInfoNotFoundError: unknown `zone`.
    """
    if phrase.value is None and phrase.end_value is None:
        raise ValueError(f"a {phrase.kind} has no place in time")
    start, end = _moment(phrase.value, phrase.anchor), _moment(phrase.end_value, phrase.anchor)
    if start is not None and end is None and phrase.kind in ("date", "datetime", "time"):
        unit = "day" if phrase.kind == "date" else phrase.granularity
        end = shift(start, 1, unit if unit in CLOCK_UNITS or unit == "day" else "minute")
    if start is not None and end is not None and end <= start:
        end += DAY  # a night that ends after midnight
    return (EARLIEST if start is None else _aware(start, zone), LATEST if end is None else _aware(end, zone))


def _moment(value: datetime | date | time | None, anchor: date | None) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, time):
        return datetime.combine(anchor or date.min, value)
    return datetime.combine(value, MIDNIGHT)


def _aware(moment: datetime, zone: str) -> datetime:
    try:
        return moment.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    except OverflowError:
        return EARLIEST if moment.year == 1 else LATEST
