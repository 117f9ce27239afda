"""What a receipt of erasure vouches for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from schemas import Job
from streams.errors import BadData
from streams.outcome import Outbound
from streams.topics import TOPICS, job_key
from tests.memory_role import TENANT, Crash, MemoryRole, episode, fact, said

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
# Names of fields that nobody's words get into.
IDS = {
    "schema_version",
    "namespace",
    "user_id",
    "kind",
    "command_id",
    "scope",
    "session_id",
    "event_ids",
    "memory_ids",
    "requested_at",
    "accessed_at",
    "since",
    "until",
    "partition",
    "offset",
    "shard",
    "window_start",
    "window_end",
}


async def test_the_receipt_names_every_topic_that_keeps_text_for_a_while() -> None:
    role = MemoryRole()
    await role.tell("candidates", said("e1", AT, episode("I live in Porto.")), AT)
    before = datetime.now(UTC)
    receipt = await role.forget(AT, "f1", "all")
    assert receipt.kept_until.keys() == {
        f"memory.{name}"
        for name in (
            "conversations",
            "redacted",
            "candidates",
            "supersede",
            "recall.requests",
            "replies.shared",
            "dead-letters",
            "dead-letters.raw",
        )
    }
    for topic in TOPICS:
        if (until := receipt.kept_until.get(f"memory.{topic.name}")) is not None:
            config = topic.config()
            longest = timedelta(milliseconds=int(config["retention.ms"]) + int(config["segment.ms"]))
            assert until > before + longest, topic.name


def test_what_is_not_named_has_no_room_for_text() -> None:
    """A new topic with a retention is named unless it is said to hold ids alone, and then its fields are these."""
    for topic in TOPICS:
        if topic.cleanup == "delete" and topic.keeps_text is None:
            assert topic.models
            for model in topic.models:
                assert set(model.model_fields) <= IDS, model.__name__


@pytest.mark.parametrize("after_it", [False, True])
async def test_a_crash_does_not_change_what_the_receipt_says(after_it: bool) -> None:
    crashes = 0
    for write in range(1, 50):
        role = MemoryRole()
        await role.tell("candidates", said("e1", AT, episode("I live in Porto."), fact("User lives in Porto")), AT)
        task = Job(job_id="j", state="running", started_at=AT, updated_at=AT, **TENANT.model_dump())
        await role.kept.send([Outbound("jobs", job_key(TENANT, "j"), task.to_bytes())])
        later = AT + timedelta(hours=1)
        role.crash_at(write, after_it=after_it)
        try:
            receipt = await role.forget(later, "f1", "all")
        except Crash:
            crashes += 1
            role.crash_at(0, after_it=False)
            role.start()
            receipt = await role.forget(later, "f1", "all")
        assert (receipt.removed, receipt.import_tasks) == ({"active": 2}, 1)
        assert await role.memories() == {}
        assert await role.jobs() == {}
        if crashes < write:
            break
    assert crashes >= 4


async def test_another_command_under_the_same_id_is_not_answered_with_the_first_one_s_receipt() -> None:
    role = MemoryRole()
    await role.tell("candidates", said("e1", AT, fact("User lives in Porto")), AT)
    receipt = await role.forget(AT, "c", "session", session_id="another")
    assert await role.forget(AT, "c", "session", session_id="another") == receipt, "delivered again"
    with pytest.raises(BadData, match="command_id_reused"):
        await role.forget(AT, "c", "all")
    with pytest.raises(BadData, match="command_id_reused"):
        await role.restore(AT, "c", *await role.memories())
    await role.forget(AT, "d", "all")
    assert await role.memories() == {}
