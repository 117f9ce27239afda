"""The second look before storing: what a rule of redaction missed is refused and counted, whatever field it is in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas import Receipt, ReExtraction
from streams.metrics import REGISTRY
from streams.outcome import Done, Skipped
from tests.memory_role import MemoryRole, episode, fact, inbound, said

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
CARD = "4111 1111 1111 1111"
# What an extractor may have put together out of words that passed one by one.
MISSED: dict[str, dict[str, Any]] = {
    "content": {"text": f"User pays by card {CARD}"},
    "value": {"text": "User pays by card", "attribute": "card", "value": CARD},
    "subject": {"text": "It belongs to the user", "subject": f"card {CARD}"},
    "entities": {"text": "User pays by card", "entities": ("Ann", CARD)},
}


def refused() -> float:
    return REGISTRY.get_sample_value("memstream_redaction_guard_hits_total") or 0.0


@pytest.mark.parametrize("fields", MISSED.values(), ids=MISSED)
async def test_what_was_missed_is_refused_and_counted(fields: dict[str, Any]) -> None:
    role, before = MemoryRole(), refused()
    event = said("e1", AT, fact(**fields))
    (outcome,) = await role.stages["candidates"].handle([inbound("candidates", event, AT)])
    assert outcome == Skipped("redaction_guard")
    assert refused() == before + 1
    assert await role.memories() == {}
    assert b"1111" not in b"".join(record.value or b"" for record in role.kept.records)
    (receipt,) = [Receipt.from_bytes(r.value or b"") for r in role.kept.records if r.topic == "receipts"]
    assert (receipt.outcome, receipt.reason) == ("skipped", "redaction_guard")


async def test_the_rest_of_the_event_is_remembered() -> None:
    role, before = MemoryRole(), refused()
    event = said("e1", AT, fact("User pays by card", value=CARD), fact("User lives in Bonn", value="Bonn"))
    (outcome,) = await role.stages["candidates"].handle([inbound("candidates", event, AT)])
    assert isinstance(outcome, Done)
    assert refused() == before + 1
    assert [record.content for record in (await role.memories()).values()] == ["User lives in Bonn"]


async def test_what_is_extracted_anew_is_looked_at_too() -> None:
    role = MemoryRole()
    text = "I live in Bonn."
    await role.tell("candidates", said("e1", AT, episode(text, end=len(text))), AT)
    before = refused()
    later = AT + timedelta(hours=1)
    bad, good = fact("User pays by card", value=CARD), fact("User lives in Bonn", value="Bonn")
    anew = said("e1", AT, bad, good, re_extraction=ReExtraction(command_id="c", at=later))
    await role.tell("candidates", anew, later)
    assert refused() == before + 1
    assert {record.content for record in (await role.memories()).values()} == {text, "User lives in Bonn"}
