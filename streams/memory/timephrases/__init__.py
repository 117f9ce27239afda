"""Time phrases of a text, resolved against the moment it was written. Pure: the wall clock is never read.

`resolve` finds "next Friday at 5", 下周三下午, "end of Q3", 大后天, 农历八月十五 and the like in English, Chinese and
mixtures of both. Values are naive wall time in the zone of the speaker; `interval` turns a phrase into aware UTC.

Conventions: weeks begin on Monday. "Next Friday" is the Friday of the coming calendar week, "this Friday" that of the
current one, a bare weekday the coming one. A date without a year is the coming one in English and the one of the same
year in Chinese; in a sentence about the past it is the last one. Ends are exclusive.
"""

from streams.memory.timephrases.intervals import EARLIEST, LATEST, interval
from streams.memory.timephrases.model import Granularity, Kind, TimePhrase
from streams.memory.timephrases.reader import resolve

__all__ = ["EARLIEST", "LATEST", "Granularity", "Kind", "TimePhrase", "interval", "resolve"]
