"""The floors of redaction on our own secrets and, where they are at hand, on the public PII set."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.contract import Row, read_rows
from bench.redaction import figures
from streams.memory.redaction import Redactor, load_policy

SECRETS = Path(__file__).parent / "secrets"
REDACTOR = Redactor(load_policy())


def measure(rows: list[Row]) -> dict[str, float]:
    return figures(
        rows,
        {
            row["id"]: [{"type": s.entity, "start": s.start, "end": s.end} for s in REDACTOR.redact(row["text"]).spans]
            for row in rows
        },
    )


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_secrets_are_found_and_look_alikes_left_alone(lang: str) -> None:
    rows = [row for part in ("blind", "sighted", "late") for row in read_rows(SECRETS / f"{part}-{lang}.jsonl")]
    assert sum(bool(row["entities"]) for row in rows) >= 150
    assert sum(not row["entities"] for row in rows) >= 150
    result = measure(rows)
    assert result[f"{lang} found"] >= 0.99
    assert result[f"{lang} touched negative"] <= 0.01


def test_no_secret_of_the_set_is_stored_even_masked() -> None:
    for path in sorted(SECRETS.glob("*.jsonl")):
        for row in read_rows(path):
            for entity in row["entities"]:
                assert entity["text"] not in REDACTOR.redact(row["text"]).text, row["id"]


@pytest.mark.data
def test_public_pii(evaluation_data: Path) -> None:
    result = measure(read_rows(evaluation_data / "phrases" / "pii.jsonl.gz"))
    assert result["zh found"] >= 0.95
    assert result["en found"] >= 0.95
    assert result["zh touched negative"] <= 0.01
    assert result["en touched negative"] <= 0.01
    assert result["zh touched near miss"] <= 0.05
    # English near misses are held where they are, above the goal of 0.05: nearly all that is touched are keys in a
    # provider's own shape whose length or checksum is off by a little, or long values that the text itself calls a
    # token or a card number. A digit lost in copying must not let a real one through.
    assert result["en touched near miss"] <= 0.095
