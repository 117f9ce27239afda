"""Whether a memory says what a test set asks for: by key pieces, not by exact wording."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from schemas import MemoryRecord


def folded(text: str) -> str:
    """Case, width and the form of apostrophes and blanks make no difference."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").split())


def has(content: str, pieces: Sequence[str]) -> bool:
    """All pieces occur; "a|b" is either. No piece at all is never there."""
    said = folded(content)
    return bool(pieces) and all(any(folded(choice) in said for choice in piece.split("|")) for piece in pieces)


def with_pieces(memories: Iterable[MemoryRecord], pieces: Sequence[str]) -> list[MemoryRecord]:
    return [memory for memory in memories if has(memory.content, pieces)]


def falls_on(memory: MemoryRecord, when: str, zone: ZoneInfo) -> bool:
    """The resolved time of the memory, or its validity, begins at `when` (local, see `cases.When`)."""
    spans = [(memory.valid_from, memory.valid_until)]
    if memory.time is not None:
        spans.insert(0, (memory.time.start, memory.time.end))
    return any(_falls(start, end, when, zone) for start, end in spans)


def _falls(start: datetime | None, end: datetime | None, when: str, zone: ZoneInfo) -> bool:
    first, _, last = when.partition("..")
    # The end is exclusive. "By April 15" has an end only: that is its day.
    last_moment = None if end is None else (end.astimezone(zone) - timedelta(microseconds=1)).isoformat()
    begin = last_moment if start is None else start.astimezone(zone).isoformat()
    if begin is None or not begin.startswith(first):
        return False
    return not last or (last_moment is not None and last_moment.startswith(last))
