"""Zones, the change of clocks, and events that are processed long after they happened."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest

from streams.memory.timephrases import EARLIEST, LATEST, interval, resolve


def test_yesterday_just_after_midnight_in_shanghai() -> None:
    """00:30 on the 11th in Shanghai is still the 10th in UTC; 昨天 is the 10th, not the 9th."""
    said = datetime(2024, 3, 10, 16, 30, tzinfo=UTC)
    (phrase,) = resolve("昨天去体检了", said, "Asia/Shanghai")
    assert phrase.value == date(2024, 3, 10)
    assert interval(phrase, "Asia/Shanghai") == (
        datetime(2024, 3, 9, 16, tzinfo=UTC),
        datetime(2024, 3, 10, 16, tzinfo=UTC),
    )


def test_an_old_event_keeps_its_own_last_week() -> None:
    (phrase,) = resolve("I ran my first marathon last week", datetime(2023, 4, 5, 9, tzinfo=UTC))
    assert (phrase.value, phrase.end_value) == (date(2023, 3, 27), date(2023, 4, 3))


@pytest.mark.parametrize(("day", "hours"), [("March 10th 2024", 23), ("November 3rd 2024", 25), ("June 1st 2024", 24)])
def test_a_day_has_the_hours_that_the_zone_gives_it(day: str, hours: int) -> None:
    (phrase,) = resolve(day, datetime(2024, 1, 1))
    start, end = interval(phrase, "America/New_York")
    assert end - start == timedelta(hours=hours)


def test_a_skipped_hour_is_still_an_hour() -> None:
    (phrase,) = resolve("March 10th 2024 at 2:30 am", datetime(2024, 1, 1))
    start, end = interval(phrase, "America/New_York")
    assert start.astimezone(ZoneInfo("America/New_York")).hour == 3
    assert end - start == timedelta(minutes=1)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("tomorrow", timedelta(days=1)),
        ("tomorrow at 3pm", timedelta(hours=1)),
        ("tomorrow at 3:15pm", timedelta(minutes=1)),
        ("next week", timedelta(days=7)),
        ("明天下午", timedelta(hours=6)),
        ("at 3pm", timedelta(hours=1)),
        ("from 11pm to 1am", timedelta(hours=2)),
    ],
)
def test_a_phrase_covers_the_unit_that_was_said(text: str, length: timedelta) -> None:
    (phrase,) = resolve(text, datetime(2024, 5, 15, 10))
    start, end = interval(phrase)
    assert end - start == length
    assert start.tzinfo is UTC


def test_open_sides_reach_as_far_as_time_does() -> None:
    before, after = resolve("before 2019, and after 2021", datetime(2024, 5, 15))
    assert interval(before) == (EARLIEST, datetime(2019, 1, 1, tzinfo=UTC))
    assert interval(after) == (datetime(2022, 1, 1, tzinfo=UTC), LATEST)


@pytest.mark.parametrize(
    ("text", "zone", "local"),
    [
        ("tomorrow at 4pm CET", "UTC", datetime(2024, 5, 16, 15)),
        ("2024-03-28T17:00:00Z", "Asia/Shanghai", datetime(2024, 3, 29, 1)),
        ("2024-03-28T17:00:00+08:00", "UTC", datetime(2024, 3, 28, 9)),
        ("北京时间明晚8点", "Europe/Berlin", datetime(2024, 5, 16, 14)),
        ("明天 15:00 UTC+8", "UTC", datetime(2024, 5, 16, 7)),
    ],
)
def test_a_zone_that_was_said_is_left_for_the_speakers_own(text: str, zone: str, local: datetime) -> None:
    (phrase,) = resolve(text, datetime(2024, 5, 15, 10), zone)
    assert phrase.value == local


def test_an_unknown_zone_is_said_so() -> None:
    with pytest.raises(ZoneInfoNotFoundError):
        resolve("tomorrow", datetime(2024, 5, 15), "Mars/Olympus")
