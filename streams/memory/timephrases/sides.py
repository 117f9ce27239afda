"""The two sides of a range: what one leaves out comes from the other. Pure."""

from dataclasses import replace

from streams.memory.timephrases.place import PARTS, hour_of
from streams.memory.timephrases.tokens import Clock, When


def like(number: int, other: When) -> When | None:
    """A bare number as the same kind of thing as the other side's last word."""
    if other.clock is not None and number <= 24:
        return When(clock=Clock(number, half=None))
    if other.day is not None and 1 <= number <= 31:
        return When(day=number)
    if other.month is not None and other.day is None and 1 <= number <= 12 and not other.has("base"):
        return When(month=number)
    if other.year is not None and not other.has("month") and 1900 <= number <= 2100:
        return When(year=number)
    if other.weekday is not None and 1 <= number <= 24:
        return None
    return None


def share(left: When, right: When) -> tuple[When, When]:
    if left.has("base") or right.has("base"):
        if (
            left.base is not None
            and not right.has("base", "month", "year", "weekday", "feast")
            and right.day is not None
        ):
            right = right.fill(left, ("base", "offset"))
        if (
            right.base is not None
            and not left.has("base", "month", "year", "weekday", "feast")
            and left.day is not None
        ):
            left = left.fill(right, ("base", "offset"))
        if left.base is not None and left.base.grain == "year" and right.month is not None and right.year is None:
            right = right.fill(left, ("base", "offset"))
        if (
            left.base is not None
            and left.base.grain == "week"
            and right.weekday is not None
            and not right.has("month", "base", "step")
        ):
            right = right.fill(left, ("base", "offset"))
        return left, right
    if left.day is not None and left.month is None and right.month is not None and right.day is not None:
        left = left.fill(right, ("month",))
    if right.day is not None and right.month is None and left.month is not None:
        right = right.fill(left, ("month",))
    if right.weekday is not None and left.step is not None and left.weekday is not None and right.step is None:
        right = replace(right, step=left.step)
    if left.year is not None and right.year is None and right.has("month"):
        candidate = replace(right, year=left.year)
        if (left.month or 1, left.day or 1) > (right.month or 12, right.day or 31):
            candidate = replace(candidate, year=left.year + 1)
        right = candidate
    elif right.year is not None and left.year is None and left.has("month"):
        candidate = replace(left, year=right.year)
        if (left.month or 1, left.day or 1) > (right.month or 12, right.day or 31):
            candidate = replace(candidate, year=right.year - 1)
        left = candidate
    return left, right


def share_half(left: When, right: When) -> tuple[When, When]:
    """Reads "5 to 6pm" begins at five in the afternoon, "11 to 3pm" in the morning."""
    a, b = left.clock, right.clock
    assert a is not None
    assert b is not None
    half = b.half or (PARTS[right.part][2] if right.part else None)
    if a.half is None and left.part is None and not a.exact and a.hour <= 12 and half in ("am", "pm"):
        end = hour_of(b, right.part) * 60 + (b.minute or 0)
        start = hour_of(replace(a, half=half), None) * 60 + (a.minute or 0)
        other = "am" if half == "pm" else "pm"
        left = replace(left, clock=replace(a, half=half if start < end else other))
    return left, right


def floats(when: When) -> bool:
    """A month or a day without a year."""
    return when.month is not None and not when.has("year", "base", "step")


def is_now(when: When) -> bool:
    return when.base is not None and when.base.grain == "second" and not when.offset
