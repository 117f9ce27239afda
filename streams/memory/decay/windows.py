"""Tumbling windows of six hours, aligned to the epoch: the same for every worker, run and replay."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
WINDOW: Final = timedelta(hours=6)


def window_start(moment: datetime) -> datetime:
    """Start of the window that holds `moment`."""
    return moment - (moment - EPOCH) % WINDOW


def windows(after: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Windows `[start, end)` that are over by `until` and were not by `after`, oldest first.

    `after` is the end of the last window that was worked off (or any instant): missed ones are caught up.
    """
    start = window_start(after)
    while start + WINDOW <= until:
        yield start, start + WINDOW
        start += WINDOW
