"""Whether two partial descriptions of a time can speak of the same one. Pure."""

from streams.memory.timephrases.calendar import LENGTH
from streams.memory.timephrases.tokens import When


def fits(when: When, more: When) -> bool:
    for a, b in ((when, more), (more, when)):
        if a.base is not None and a.base.timed and b.has("clock", "part"):
            return False
        if a.base is not None:
            grain = a.base.grain
            if b.year is not None and not (a.base.grain in ("day",) and a.offset is None):
                return False
            if b.has("month") and LENGTH[grain] < LENGTH["quarter"] and not a.offset:
                return grain == "day" and b.day is not None
            if (
                b.has("clock", "part")
                and LENGTH[grain] > LENGTH["day"]
                and not (a.offset or a.has("day", "weekday", "feast") or b.has("day", "weekday", "feast"))
            ):
                return False
        if a.feast is not None and b.has("month", "day", "weekday"):
            return False
        if a.month is not None and not (a.day or b.day) and b.has("clock", "part", "weekday"):
            return False
        if (
            a.year is not None
            and not a.has("month", "feast")
            and b.has("clock", "part", "weekday")
            and not b.has("month")
        ):
            return False
        if a.season is not None and b.has("month", "day", "weekday", "clock", "part"):
            return False
    return True
