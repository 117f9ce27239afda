"""Random histories of one user, and a small writer that delivers them to a store as the product does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bench.memory_store import MemoryStore
from schemas import MemoryRecord, MemoryStatus, Source, Supersede, Tenant
from streams.memory.settle import apply, keyed, neighbourhood, settle, stated
from streams.ports import Doc, ModelProfile, SparseVector, StoredMemory, Vectors

TENANT = Tenant(namespace="n", user_id="u")
PROFILE = ModelProfile(name="test", dimension=3, duplicate=0.95, conflict=0.7, recall=0.5, calibrated=True)
START = datetime(2026, 1, 1, tzinfo=UTC)

CITIES = ("Bonn", "Berlin", "Berlin Mitte", "Lyon")
TASTES = ("jazz", "rock", "jazz and rock")
SAYINGS = (
    "I met Ann at the harbour",
    "I met Ann at the harbour.",
    "I met Bob at the harbour",
    "Correction: I never met Ann at the harbour",
    "I said I met Ann, but I was joking, I don't know her",
    "我上次说去了港口，其实没有去",
    "我去了港口",
    "The harbour tour costs 5000",
    "The harbour tour costs 8000",
    "The captain of the Aurora is Lee",
    "The captain of the Aurora is Dana",
    "The captain moved the harbour tour to May 3",
    "The harbour tour is on April 3",
    "I always want the harbour tour",
    "From now on book me the river tour instead",
    "My landlord is Mr Weiss",
    "My landlord is Mrs Roth, my rent is 900 euros",
    "The landlord of my sister is Mr Weiss",
    "I sail every morning",
    "I sail every evening now",
)


@dataclass(frozen=True)
class History:
    memories: tuple[StoredMemory, ...]
    directives: tuple[Supersede, ...]


def record(
    number: int, day: int, content: str, *, hour: int = 0, created: int | None = None, **fields: Any
) -> MemoryRecord:
    at = START + timedelta(days=day, hours=hour)
    return keyed(
        MemoryRecord.model_validate(
            {
                "memory_id": f"mem_{number}",
                "namespace": TENANT.namespace,
                "user_id": TENANT.user_id,
                "layer": "fact",
                "content": content,
                "memory_type": "fact",
                "occurred_at": at,
                "created_at": START + timedelta(days=day if created is None else created),
                "sources": [Source(event_id=f"event-{number}")],
                **fields,
            }
        )
    )


def stored(one: MemoryRecord, angle: float) -> StoredMemory:
    """`angle` in degrees: near pairs form chains, A near B and B near C with A far from C."""
    radians = np.deg2rad(angle)
    vector: Vectors = np.array([np.cos(radians), np.sin(radians), 0], np.float32)
    return StoredMemory(one, vector, SparseVector())


def city(number: int, day: int, value: str, **fields: Any) -> MemoryRecord:
    """A statement of a single-valued slot."""
    given: dict[str, Any] = {"subject": "user", "attribute": "city", "value": value, "cardinality": "single", **fields}
    return record(number, day, f"I live in {value}", **given)


def taste(number: int, day: int, value: str, **fields: Any) -> MemoryRecord:
    """A statement of a multi-valued slot."""
    given: dict[str, Any] = {
        "subject": "user",
        "attribute": "likes",
        "value": value,
        "memory_type": "preference",
        **fields,
    }
    return record(number, day, f"I like {value}", **given)


@st.composite
def records(draw: st.DrawFn, number: int) -> MemoryRecord:
    # Few days and hours, so that ties and late arrivals are common.
    day = draw(st.integers(0, 5))
    fields: dict[str, Any] = {"created": draw(st.integers(0, 9))}
    if draw(st.integers(0, 7)) == 0:
        fields["archived_at"] = START + timedelta(days=draw(st.integers(0, 12)))
    if draw(st.integers(0, 9)) == 0:
        fields["replaces"] = (f"mem_{draw(st.integers(0, 9))}",)
    kind = draw(st.sampled_from(("city", "city", "taste", "saying", "saying", "episode")))
    if kind == "saying":
        return record(number, day, draw(st.sampled_from(SAYINGS)), **fields)
    if kind == "episode":
        return record(number, day, draw(st.sampled_from(SAYINGS)), layer="episode", memory_type="episode", **fields)
    if draw(st.integers(0, 4)) == 0:
        fields |= {
            "temporary": True,
            "valid_from": START + timedelta(days=day),
            "valid_until": START + timedelta(days=day + draw(st.integers(1, 3))),
        }
    fields["polarity"] = draw(st.sampled_from(("positive", "positive", "positive", "negative")))
    fields["operation"] = draw(st.sampled_from(("assert", "assert", "assert", "assert", "retract", "correct")))
    if kind == "city":
        if draw(st.integers(0, 5)) == 0:
            fields["replaced_value"] = draw(st.sampled_from(CITIES))
        return city(number, day, draw(st.sampled_from(CITIES)), **fields)
    return taste(number, day, draw(st.sampled_from(TASTES)), **fields)


@st.composite
def histories(draw: st.DrawFn, most: int = 10) -> History:
    count = draw(st.integers(1, most))
    memories = tuple(
        stored(draw(records(number)), draw(st.sampled_from((0, 10, 20, 40, 60, 80, 170)))) for number in range(count)
    )
    # Ids beyond `count` are of memories that never appear.
    ids = st.integers(0, count).map(lambda n: f"mem_{n}")
    directives = draw(
        st.lists(
            st.builds(
                Supersede,
                namespace=st.just(TENANT.namespace),
                user_id=st.just(TENANT.user_id),
                old_id=ids,
                new_id=ids,
                occurred_at=st.integers(0, 7).map(lambda d: START + timedelta(days=d)),
            ),
            max_size=3,
            unique_by=lambda d: d.directive_id,
        )
    )
    return History(memories, tuple(directives))


def near_pairs(memories: Sequence[StoredMemory]) -> dict[tuple[str, str], float]:
    """What the range search finds among all of them."""
    found = {}
    for i, one in enumerate(memories):
        for other in memories[:i]:
            score = round(float(one.vector @ other.vector), 3)
            if score >= min(PROFILE.recall, PROFILE.conflict):
                first, second = sorted((one.record.memory_id, other.record.memory_id))
                found[first, second] = score
    return found


def at_once(history: History) -> dict[str, MemoryRecord]:
    """The state by one settling over everything."""
    items = [m.record for m in history.memories]
    verdicts = settle(items, near_pairs(history.memories), history.directives, profile=PROFILE)
    return {r.memory_id: apply(r, verdicts[r.memory_id]) for r in items}


async def deliver(steps: Iterable[Sequence[StoredMemory] | Supersede]) -> dict[str, MemoryRecord]:
    """The state after batches of memories and directives have arrived one after the other."""
    store = MemoryStore()
    everything: dict[str, None] = {}
    for step in steps:
        if isinstance(step, Supersede):
            await store.put_docs(TENANT, [Doc("directive", step.directive_id, step.model_dump(mode="json"))])
            batch = await store.get_with_vectors(TENANT, [step.old_id, step.new_id])
            known = {m.record.memory_id for m in batch}
        else:
            known = {r.memory_id for r in await store.get(TENANT, [m.record.memory_id for m in step])}
            batch = [m for m in step if m.record.memory_id not in known]
        if not batch:
            continue
        everything |= dict.fromkeys(m.record.memory_id for m in batch)
        around = await neighbourhood(store, TENANT, batch, PROFILE)
        verdicts = settle(around.items, around.near, around.directives, around.judged, profile=PROFILE)
        fresh = [
            StoredMemory(apply(m.record, verdicts[m.record.memory_id]), m.vector, m.sparse)
            for m in batch
            if m.record.memory_id not in known
        ]
        told = [d for m in fresh for d in stated(m.record)]
        await store.put_docs(TENANT, [Doc("directive", d.directive_id, d.model_dump(mode="json")) for d in told])
        await store.upsert(TENANT, fresh)
        settled = [apply(r, verdicts[r.memory_id]) for r in around.items]
        await store.update(TENANT, settled)
        for archive in (False, True):
            there = [r.memory_id for r in settled if (r.status is MemoryStatus.ARCHIVED) is archive]
            await store.move(TENANT, there, to_archive=archive)
    return {r.memory_id: r for r in await store.get(TENANT, sorted(everything))}
