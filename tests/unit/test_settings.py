"""Settings as they come from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams.settings import Settings, load_settings

FILES = [name for name, field in Settings.model_fields.items() if field.annotation == Path | None]


@pytest.mark.parametrize("name", FILES)
def test_an_empty_variable_names_no_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"MEMSTREAM_{name.upper()}", "")
    assert getattr(load_settings(), name) is None
