"""After a memory was stored: reinforced, archived, restored, replaced, forgotten. One worker on real Kafka."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from schemas import Candidate, CandidateEvent, Job, MemoryRecord, MemoryStatus
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.client import BadRequest, MemoryClient
from streams.imports.tasks import put
from streams.kafka import make_producer
from tests.harness import Pipeline, eventually, pipeline
from tests.integration.raw import window_ends

WHO = {"namespace": "shop", "user_id": "u1"}


@pytest.fixture
async def line(kafka: EmbeddedKafka, topic_prefix: str):
    async with pipeline(kafka.bootstrap, topic_prefix) as made:
        await made.worker().start()
        yield made


async def tell(memory: MemoryClient, event_id: str, text: str, minute: int = 0, **fields: object) -> list[MemoryRecord]:
    outcome = await memory.publish_and_wait(
        event_id=event_id,
        text=text,
        session_id="s",
        occurred_at=datetime(2026, 3, 2, 9, minute, tzinfo=UTC),
        deadline=60,
        **WHO,
        **fields,
    )
    return list(outcome.memories)


async def stored(memory: MemoryClient, memory_id: str) -> MemoryRecord | None:
    found = await memory.get(memory_id, deadline=30, **WHO)
    return found[0] if found else None


async def test_access_archive_restore(line: Pipeline) -> None:
    async with line.client() as memory:
        told = await tell(memory, "e1", "I live in Bonn near the river.")
        ids = {m.memory_id for m in told}
        reply = await memory.recall("Bonn near the river", deadline=30, **WHO)
        assert reply.memories
        seen = reply.memories[0].memory.memory_id

        async def counted() -> bool:
            record = await stored(memory, seen)
            return record is not None and record.access_count == 1

        await eventually(counted, what="the access to be counted")
        await window_ends(line, datetime.now(UTC) + timedelta(days=200))

        async def archived() -> bool:
            records = await memory.get(*ids, deadline=30, **WHO)
            return [r.status for r in records] == [MemoryStatus.ARCHIVED] * len(ids)

        await eventually(archived, what="the window to archive what nobody used")
        assert (await memory.recall("Bonn near the river", deadline=30, **WHO)).memories == ()
        receipt = await memory.restore(*ids, "mem_" + "0" * 32, **WHO)
        assert set(receipt.restored) == ids
        assert receipt.unknown == ("mem_" + "0" * 32,)
        assert (await memory.recall("Bonn near the river", deadline=30, **WHO)).memories

        # An old session becomes a digest, and is what it was when that is undone.
        said = ("The ferry to Porto leaves at 9.", "Ann Lee has 3 tickets for it.", "The tickets were 42.50 euros.")
        for minute, text in enumerate(said):
            at = datetime(2026, 3, 2, 10, minute, tzinfo=UTC)
            await memory.publish_and_wait(text=text, session_id="d", occurred_at=at, deadline=60, **WHO)
        before = {m.memory_id: m for m in await memory.export(**WHO) if m.session_id == "d" and m.layer == "episode"}
        await window_ends(line, datetime.now(UTC) + timedelta(days=300))

        async def folded() -> list[MemoryRecord]:
            own = [m for m in await memory.export(**WHO) if m.session_id == "d" and m.layer == "episode"]
            left = [m for m in own if m.status is not MemoryStatus.ARCHIVED]
            return left if [bool(m.digest_of) for m in left] == [True] else []

        (digest,) = await eventually(folded, what="the window to fold the session")
        assert set(digest.digest_of) == before.keys()
        found = await memory.recall("Who has tickets for the ferry to Porto?", deadline=30, **WHO)
        assert [m.memory.memory_id for m in found.memories] == [digest.memory_id]
        assert set((await memory.restore(digest.memory_id, **WHO)).restored) == before.keys()
        after = {m.memory_id: m for m in await memory.export(**WHO) if m.session_id == "d" and m.layer == "episode"}
        assert {m.status for m in after.values()} == {MemoryStatus.ACTIVE}
        assert after.keys() == before.keys()


async def test_a_newer_value_replaces_the_older(line: Pipeline) -> None:
    async with line.client() as memory:
        old = next(m for m in await tell(memory, "e1", "I live in Bonn.") if m.layer == "fact")
        new = next(m for m in await tell(memory, "e2", "I moved to Berlin.", 5) if m.layer == "fact")
        assert old.memory_id in new.supersedes, "the new memory names what it replaces from birth"

        async def replaced() -> bool:
            record = await stored(memory, old.memory_id)
            return record is not None and record.superseded_by == new.memory_id

        await eventually(replaced, what="the supersede event to be applied")
        found = await memory.recall("Where do I live?", threshold=False, deadline=30, **WHO)
        assert {m.memory.source.event_id for m in found.memories} == {"e2"}, "no episode brings the old value back"
        chain = await memory.history(new.memory_id, deadline=30, **WHO)
        assert [m.memory_id for m in chain] == [old.memory_id, new.memory_id]


async def test_forgotten_stays_forgotten(line: Pipeline) -> None:
    async with line.client() as memory:
        told = await tell(memory, "e1", "My sister Lisa plays the violin in Graz.")
        kept = await tell(memory, "e2", "The Apollo project is led by Dana.", 1)
        receipt = await memory.forget(memory_ids=[told[0].memory_id], **WHO)
        assert sum(receipt.removed.values()) == len(told), "the message goes with the fact that was taken from it"
        assert receipt.kept_until.keys() >= {line.settings.topic_prefix + "conversations"}
        assert await memory.get(*(m.memory_id for m in told), **WHO) == []
        # The same event again, and the same words in a new event dated before the command.
        again = await memory.publish_and_wait(
            event_id="e1",
            text="My sister Lisa plays the violin in Graz.",
            session_id="s",
            occurred_at=datetime(2026, 3, 2, 9, tzinfo=UTC),
            deadline=60,
            **WHO,
        )
        assert again.memories == ()
        assert (await memory.get(*(m.memory_id for m in kept), **WHO)) != []
        everything = await memory.forget(everything=True, **WHO)
        assert sum(everything.removed.values()) == len(kept)
        assert await memory.export(**WHO) == []
        old = await tell(memory, "e3", "I live in Oslo.", 2)
        assert old == [], "old history does not come back"
        willing = await tell(memory, "e4", "I live in Oslo.", 3, after_forget=True)
        assert willing, "unless it is imported on purpose"
        new = await memory.publish_and_wait(text="I live in Porto now.", deadline=60, **WHO)
        assert new.memories, "what is said after the command is remembered"
        assert not [v for k, v in (await line.compacted("records")).items() if b"Lisa" in v or b"Dana" in v]


async def test_forget_wants_one_scope(line: Pipeline) -> None:
    async with line.client() as memory:
        with pytest.raises(BadRequest):
            await memory.forget(**WHO)
        with pytest.raises(BadRequest):
            await memory.forget(everything=True, session_id="s", **WHO)
        with pytest.raises(BadRequest):
            await memory.forget(namespace="shop", user_id="*", everything=True)


async def test_facts_are_extracted_anew(line: Pipeline) -> None:
    """What another extractor made of an event is replaced by what the present one finds; sent again, nothing."""
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    text = "I live in Bonn."
    event = CandidateEvent(
        event_id="e1",
        occurred_at=at,
        appended_at=at,
        digest="e1",
        candidates=(
            Candidate(layer="fact", content="User lives in Boston", memory_type="fact", message=0),
            Candidate(layer="episode", content=text, memory_type="episode", importance=1, message=0, end=len(text)),
        ),
        **WHO,
    )
    producer = make_producer(line.settings, max_request_size=100_000)
    await producer.start()
    topic = line.settings.topic_prefix + "candidates"
    try:
        await producer.send_and_wait(topic, value=event.to_bytes(), key=event.tenant.key.encode())
        await line.all_received(["e1"])
        async with line.client() as memory:

            async def facts() -> set[str]:
                return {m.content for m in await memory.export(deadline=30, **WHO) if m.layer == "fact"}

            assert await facts() == {"User lives in Boston"}
            asked = await memory.re_extract("e1", "unknown", deadline=60, **WHO)
            assert (asked.event_ids, asked.without_text) == (("e1",), ("unknown",))

            async def replaced() -> bool:
                return (await line.receipts())["e1"].re_extraction is not None

            await eventually(replaced, what="the receipt names the command")
            found = await facts()
            assert found
            assert "User lives in Boston" not in found
            await producer.send_and_wait(topic, value=event.to_bytes(), key=event.tenant.key.encode())
            await line.drained()
            assert await facts() == found
            await memory.forget(everything=True, deadline=60, **WHO)
            assert (await memory.re_extract(deadline=60, **WHO)).event_ids == ()
    finally:
        await producer.stop()


async def test_the_import_tasks_of_a_forgotten_user_go(line: Pipeline) -> None:
    begun = datetime.now(UTC) - timedelta(hours=1)
    async with line.client() as memory:
        for user, started in (("u1", begun), ("u1 later", begun), ("u1", begun + timedelta(days=2)), ("u2", begun)):
            await put(
                memory,
                Job(
                    namespace="shop",
                    user_id=user,
                    job_id=f"{user} {started:%d}",
                    state="running",
                    event_ids=("a digest",),
                    started_at=started,
                    updated_at=started,
                ),
            )
        receipt = await memory.forget(everything=True, deadline=60, **WHO)
        left = {(job.user_id, job.started_at) for job in map(Job.from_bytes, (await line.compacted("jobs")).values())}
    assert receipt.import_tasks == 1
    assert left == {("u1 later", begun), ("u1", begun + timedelta(days=2)), ("u2", begun)}
