"""What is linked to a memory, on the embedded store."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from schemas import Layer, MemoryRecord, MemoryStatus, Tenant
from streams.adapters.store.edge import EdgeStore
from streams.agents.related import MOST, related
from streams.ports import ModelProfile, SparseVector, StoredMemory
from tests.unit.ranking.making import START, TENANT, memory

PROFILE = ModelProfile("links", 4)
VECTOR = np.array([1, 0, 0, 0], np.float32)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(tmp_path / "store", PROFILE)
    await store.open()
    yield store
    await store.close()


async def put(store: EdgeStore, *records: MemoryRecord, archive: bool = False) -> None:
    for record in records:
        await store.upsert(record.tenant, [StoredMemory(record, VECTOR, SparseVector((1,), (1.0,)))], archive=archive)


async def links(store: EdgeStore, memory_id: str, tenant: Tenant = TENANT) -> dict[str, tuple[str, ...]]:
    return {one.record.memory_id: one.links for one in await related(store, tenant, memory_id)}


async def test_every_link_from_both_sides(store: EdgeStore) -> None:
    old = memory("old", "Ada lives in Bonn", status=MemoryStatus.SUPERSEDED, superseded_by="mem_new", entities=["Ada"])
    # A survivor carries the sources of what repeats it.
    sources = [{"event_id": "new"}, {"event_id": "repeat"}]
    new = memory(
        "new",
        "Ada lives in Graz",
        supersedes=["mem_old"],
        ambiguous_with=["mem_open"],
        sources=sources,
        entities=["Ada"],
    )
    repeat = memory("repeat", "Ada lives in Graz", status=MemoryStatus.DUPLICATE, duplicate_of="mem_new")
    open_ = memory("open", "Ada lives in Rome", ambiguous_with=["mem_new"])
    said = memory("said", "Ada lives in Graz now", sources=[{"event_id": "new", "message": 1}])
    named = memory("named", "Ada sings", entities=["Ada", "Eva"])
    stranger = memory("stranger", "Eva sings", entities=["Eva"])
    digest = memory("digest", "That week", digest_of=["mem_folded"], sources=[{"event_id": "folded"}])
    await put(store, old, new, repeat, open_, said, named, stranger, digest)
    await put(store, memory("folded", "It rained", status=MemoryStatus.ARCHIVED), archive=True)
    found = await links(store, "mem_new")
    assert next(iter(found)) == "mem_new"
    assert found == {
        "mem_new": (),
        "mem_old": ("supersedes", "shared_entity"),
        "mem_repeat": ("repeated_by", "same_event"),
        "mem_open": ("ambiguous",),
        "mem_said": ("same_event",),
        "mem_named": ("shared_entity",),
    }
    assert (await links(store, "mem_old"))["mem_new"] == ("superseded_by", "shared_entity")
    assert (await links(store, "mem_repeat"))["mem_new"] == ("duplicate_of", "same_event")
    assert (await links(store, "mem_open"))["mem_new"] == ("ambiguous",)
    assert await links(store, "mem_digest") == {"mem_digest": (), "mem_folded": ("digest_of", "same_event")}
    assert await links(store, "mem_folded") == {"mem_folded": (), "mem_digest": ("in_digest", "same_event")}


async def test_no_memory_of_another_tenant(store: EdgeStore) -> None:
    await put(store, memory("one", "Ada sings", entities=["Ada"]))
    await put(store, memory("two", "Ada plays", entities=["Ada"], user_id="2", supersedes=["mem_one"]))
    assert await links(store, "mem_one") == {"mem_one": ()}
    assert await links(store, "mem_one", Tenant(namespace="shop", user_id="2")) == {}
    assert await links(store, "mem_two", Tenant(namespace="shop", user_id="2")) == {"mem_two": ()}


async def test_a_name_said_often_gives_its_newest(store: EdgeStore) -> None:
    many = [
        memory(f"n{i}", f"Ada sang {i} songs", at=START + timedelta(days=i), layer=Layer.FACT, entities=["Ada"])
        for i in range(MOST + 2)
    ]
    await put(store, *many)
    found = list(await links(store, "mem_n0"))
    assert found == ["mem_n0", *(f"mem_n{i}" for i in range(MOST + 1, 1, -1))]
