"""Settings as they come from the environment."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from streams.errors import ConfigurationError
from streams.settings import Settings, load_settings

FILES = [name for name, field in Settings.model_fields.items() if field.annotation == Path | None]


@pytest.mark.parametrize("name", FILES)
def test_an_empty_variable_names_no_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"MEMSTREAM_{name.upper()}", "")
    assert getattr(load_settings(), name) is None


@pytest.mark.parametrize("days", ["0", "36501", "true", "1e3", '"30"'])
def test_a_retention_is_a_number_of_days_that_a_calendar_has(days: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTREAM_NAMESPACE_RETENTION_DAYS", f'{{"shop": {days}}}')
    with pytest.raises(ConfigurationError, match=r"NAMESPACE_RETENTION_DAYS"):
        load_settings()


def test_the_longest_retention_ends_in_the_past() -> None:
    kept = Settings(namespace_retention_days={"shop": 36_500}).retention["shop"]
    assert datetime.min.replace(tzinfo=UTC) < datetime(2026, 1, 1, tzinfo=UTC) - kept
