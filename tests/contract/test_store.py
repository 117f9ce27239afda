"""One behaviour of every vector store: in process, the client's local mode, and a server over HTTP."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import Layer, MemoryStatus, MemoryType, Tenant
from streams.adapters.store import Store, make_store
from streams.adapters.store.owned import OwnedStore
from streams.adapters.store.qdrant import IN_MEMORY
from streams.ports import Doc, FoundMemory, SparseVector, StoredMemory, Where
from tests.contract.store_parts import PROFILE, START, ServerProcess, memory, memory_id, scratch_directory, unit

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    # The local mode says that it has no indexes and searches exactly.
    pytest.mark.filterwarnings("ignore:Local mode:UserWarning"),
]

NAMES = [
    *("a/b", "a:b", "100%", "*x*", "two words", "🦜", "张三", "' OR 1=1 --", '{"must": []}'),
    # Alike, and not the same.
    *("a", "A", "ａ", "%2F", "a%2Fb"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with scratch_directory() as folder:
        process = ServerProcess(folder)
        process.start()
        yield process
        process.kill()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["edge", "local", "server"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """Shared by the tests of this file, each of which has tenants and a shard of its own."""
    with scratch_directory() as folder:
        if request.param == "edge":
            made = make_store(None, folder / "store", PROFILE)
        else:
            url = IN_MEMORY if request.param == "local" else request.getfixturevalue("server").url
            made = make_store(url, None, PROFILE)
        await made.open()
        yield made
        await made.close()


@pytest.fixture
def scratch() -> Iterator[Path]:
    with scratch_directory() as folder:
        yield folder


@pytest.fixture
def tenant() -> Tenant:
    return Tenant(namespace="shop", user_id=uuid.uuid4().hex)


@pytest.fixture
def other(tenant: Tenant) -> Tenant:
    return Tenant(namespace="shop", user_id=f"{tenant.user_id}/2")


@pytest.fixture
def shard() -> int:
    return uuid.uuid4().int % 2**40


def ids(memories: list[StoredMemory]) -> list[str]:
    return [stored.record.memory_id for stored in memories]


def assert_same(found: Sequence[StoredMemory | FoundMemory], expected: Sequence[StoredMemory]) -> None:
    assert [stored.record for stored in found] == [stored.record for stored in expected]
    assert [stored.sparse for stored in found] == [stored.sparse for stored in expected]
    for one, two in zip(found, expected, strict=True):
        if isinstance(one, FoundMemory):
            continue
        np.testing.assert_allclose(one.vector, two.vector, atol=1e-6)
        assert one.vector.dtype == np.float32


FULL: dict[str, Any] = {
    "layer": "fact",
    "content": "User lives in 波恩 (Bonn) 🏡 \u0000 since “May”",
    "memory_type": "fact",
    "importance": 4.25,
    "tags": ("home", "城市"),
    "event": "move",
    "subject": "User",
    "attribute": "City",
    "value": "Bonn",
    "polarity": "negative",
    "cardinality": "single",
    "operation": "correct",
    "replaced_value": "Köln",
    "temporary": True,
    "emotion": "happy",
    "entities": ("Bonn", "a.b[0]"),
    "time": {"text": "since May", "start": "2026-05-01T00:00:00Z", "granularity": "month"},
    "valid_from": "2026-05-01T00:00:00.000001Z",
    "valid_until": "9999-12-31T23:59:59.999999Z",
    "role": "assistant",
    "speaker": "Ann",
    "lang": "zh",
    "session_id": "",
    "sequence": 2**62 + 1,
    "updated_at": START + timedelta(microseconds=1),
    "access_count": 3,
    "access_marks": (1, 2**53 + 1),
    "status": "superseded",
    "duplicate_of": "mem_x",
    "superseded_by": "mem_y",
    "supersedes": ("mem_z",),
    "replaces": ("mem_a",),
    "ambiguous_with": ("mem_b",),
    "reason": "newer",
    "sources": ({"event_id": "e/1", "message": 2, "start": 3, "end": 9}, {"event_id": "e2"}),
    "shard": 63,
    "policy_version": "p",
    "extractor_version": "x",
    "prompt_version": "q",
    "embedding_model": "m",
}


class TestMemories:
    async def test_every_field_comes_back(self, store: Store, tenant: Tenant) -> None:
        full, bare = memory(tenant, 1, **FULL), memory(tenant, 2, sources=(), last_access_time=None)
        await store.upsert(tenant, [full, bare])
        assert_same(await store.get_with_vectors(tenant, ids([bare, full])), [bare, full])
        assert await store.get(tenant, ids([full, bare])) == [full.record, bare.record]

    async def test_get_keeps_the_order_asked_and_leaves_out_what_is_not_there(
        self, store: Store, tenant: Tenant
    ) -> None:
        one, two = memory(tenant, 1), memory(tenant, 2)
        await store.upsert(tenant, [one])
        await store.upsert(tenant, [two], archive=True)
        asked = [two.record.memory_id, "mem_none", memory_id(tenant, 9), one.record.memory_id, two.record.memory_id]
        assert await store.get(tenant, asked) == [two.record, one.record, two.record]
        assert_same(await store.get_with_words(tenant, asked), [two, one, two])
        assert_same(await store.get_with_vectors(tenant, asked), [two, one, two])
        assert await store.get(tenant, []) == []

    async def test_writing_again_changes_nothing(self, store: Store, tenant: Tenant) -> None:
        before = await store.count()
        memories = [memory(tenant, number) for number in range(5)]
        for _ in range(3):
            await store.upsert(tenant, [*memories, memories[0]])
        assert await store.count() == before + 5
        assert_same(await store.get_with_vectors(tenant, ids(memories)), memories)

    async def test_writing_replaces_the_record_and_its_vectors(self, store: Store, tenant: Tenant) -> None:
        await store.upsert(tenant, [memory(tenant, 1, tags=("old",), valid_until=START)])
        await store.get_with_vectors(tenant, [memory_id(tenant, 1)])
        new = memory(tenant, 1, vector=unit(7), sparse=SparseVector((99,), (0.5,)), tags=("new",))
        await store.upsert(tenant, [new])
        assert_same(await store.get_with_vectors(tenant, ids([new])), [new])
        assert (await store.find(tenant, Where(tags=("old",))))[0] == []

    async def test_an_id_of_another_form_is_kept_as_it_is(self, store: Store, tenant: Tenant) -> None:
        names = [
            "mem_0",
            "张三/1",
            f"MEM_{'A' * 32}",
            str(uuid.uuid4()),
            f"mem_{uuid.uuid5(uuid.NAMESPACE_DNS, 'x').hex}",
        ]
        names = [f"{name}{tenant.user_id}" if len(name) < 36 else name for name in names]
        memories = [memory(tenant, number, memory_id=name) for number, name in enumerate(names)]
        await store.upsert(tenant, memories)
        assert_same(await store.get_with_vectors(tenant, names), memories)
        dense, _ = await store.search(tenant, memories[0].vector, None, where=Where(), limit=9)
        assert {hit.memory_id for hit in dense} == set(names)
        await store.delete(tenant, names)
        assert await store.get(tenant, names) == []

    async def test_a_text_without_tokens_is_stored_and_near_to_nothing(self, store: Store, tenant: Tenant) -> None:
        empty = memory(tenant, 1, vector=np.zeros(PROFILE.dimension, np.float32), sparse=SparseVector())
        await store.upsert(tenant, [empty, memory(tenant, 2)])
        assert_same(await store.get_with_vectors(tenant, ids([empty])), [empty])
        assert await store.find(tenant, Where(event_ids=("e00001",))) == ([empty.record], None)
        assert await store.near(tenant, empty.vector[None], threshold=-1, where=Where()) == [[]]
        assert await store.search(tenant, empty.vector, empty.sparse, where=Where(), limit=5) == ([], [])
        # It had words before: they don't stay behind.
        await store.upsert(tenant, [memory(tenant, 1)])
        await store.upsert(tenant, [empty])
        assert_same(await store.get_with_vectors(tenant, ids([empty])), [empty])

    async def test_update_keeps_the_vectors_in_either_collection(self, store: Store, tenant: Tenant) -> None:
        here, there = memory(tenant, 1, tags=("old",)), memory(tenant, 2)
        await store.upsert(tenant, [here])
        await store.upsert(tenant, [there], archive=True)
        changed = [
            replace(stored, record=stored.record.model_copy(update={"importance": 5, "tags": (), "access_count": 2}))
            for stored in (here, there)
        ]
        absent = memory(tenant, 3).record
        for _ in range(2):
            assert await store.update(tenant, [absent, *(one.record for one in changed)]) == [absent.memory_id]
        assert_same(await store.get_with_vectors(tenant, ids(changed)), changed)
        assert (await store.find(tenant, Where(tags=("old",))))[0] == []
        assert await store.get(tenant, [absent.memory_id]) == []

    async def test_delete_from_both_collections(self, store: Store, tenant: Tenant) -> None:
        memories = [memory(tenant, number) for number in range(4)]
        await store.upsert(tenant, memories[:2])
        await store.upsert(tenant, memories[2:], archive=True)
        for _ in range(2):
            await store.delete(tenant, [memory_id(tenant, 0), memory_id(tenant, 2), memory_id(tenant, 99)])
            assert await store.get(tenant, ids(memories)) == [memories[1].record, memories[3].record]
        await store.delete(tenant, [])

    async def test_move_there_and_back(self, store: Store, tenant: Tenant) -> None:
        memories = [memory(tenant, number) for number in range(3)]
        await store.upsert(tenant, memories)
        live, cold = await store.count(), await store.count(archive=True)
        for _ in range(2):
            await store.move(tenant, [*ids(memories[:2]), "mem_none"], to_archive=True)
            assert (await store.count(), await store.count(archive=True)) == (live - 2, cold + 2)
            assert_same(await store.get_with_vectors(tenant, ids(memories)), memories)
        hits, _ = await store.search(tenant, unit(0), None, where=Where(), limit=9)
        assert [hit.memory_id for hit in hits] == ids(memories[2:])
        await store.move(tenant, ids(memories), to_archive=False)
        assert (await store.count(), await store.count(archive=True)) == (live, cold)
        assert_same(await store.get_with_vectors(tenant, ids(memories)), memories)

    async def test_a_memory_is_in_one_collection(self, store: Store, tenant: Tenant) -> None:
        stored = memory(tenant, 1)
        await store.upsert(tenant, [stored])
        await store.upsert(tenant, [stored], archive=True)
        assert await store.find(tenant, Where()) == ([], None)
        assert await store.find(tenant, Where(), archive=True) == ([stored.record], None)
        await store.upsert(tenant, [stored])
        assert await store.find(tenant, Where(), archive=True) == ([], None)
        assert await store.find(tenant, Where()) == ([stored.record], None)


class TestRefusals:
    @pytest.mark.parametrize(
        "vector",
        [
            np.ones(7, np.float32),
            np.ones(9, np.float32),
            np.ones((1, 8), np.float32),
            np.full(8, np.nan, np.float32),
            np.array([1, 0, 0, 0, 0, 0, 0, np.inf], np.float32),
        ],
    )
    async def test_all_or_nothing(self, store: Store, tenant: Tenant, vector: Any) -> None:
        good, bad = memory(tenant, 1), memory(tenant, 2, vector=vector)
        with pytest.raises(ValueError, match="vector"):
            await store.upsert(tenant, [good, bad])
        assert await store.get(tenant, ids([good, bad])) == []

    @pytest.mark.parametrize(
        "sparse",
        [
            SparseVector((1, 1), (1.0, 2.0)),
            SparseVector((1,), ()),
            SparseVector((-1,), (1.0,)),
            SparseVector((2**32,), (1.0,)),
            SparseVector((1,), (float("nan"),)),
        ],
    )
    async def test_sparse_vectors_that_do_not_fit(self, store: Store, tenant: Tenant, sparse: SparseVector) -> None:
        good, bad = memory(tenant, 1), memory(tenant, 2, sparse=sparse)
        with pytest.raises(ValueError, match="sparse"):
            await store.upsert(tenant, [good, bad])
        assert await store.get(tenant, ids([good])) == []

    @pytest.mark.parametrize("fields", [{"sequence": 2**63}, {"shard": -(2**63) - 1}, {"content": "half \ud83d"}])
    async def test_records_that_no_engine_keeps(self, store: Store, tenant: Tenant, fields: dict[str, Any]) -> None:
        good, bad = memory(tenant, 1), memory(tenant, 2)
        bad = replace(bad, record=bad.record.model_copy(update=fields))
        with pytest.raises(ValueError):  # noqa: PT011
            await store.upsert(tenant, [good, bad])
        await store.upsert(tenant, [good])
        with pytest.raises(ValueError):  # noqa: PT011
            await store.update(tenant, [good.record.model_copy(update={"importance": 5}), bad.record])
        assert await store.get(tenant, ids([good, bad])) == [good.record]

    async def test_another_tenants_record(self, store: Store, tenant: Tenant, other: Tenant) -> None:
        own, foreign = memory(tenant, 1), memory(other, 1)
        with pytest.raises(ValueError, match="another tenant"):
            await store.upsert(tenant, [own, foreign])
        with pytest.raises(ValueError, match="another tenant"):
            await store.update(tenant, [foreign.record])
        assert await store.get(tenant, ids([own])) == []

    @pytest.mark.parametrize("archive", [False, True])
    async def test_another_tenants_id(self, store: Store, tenant: Tenant, other: Tenant, archive: bool) -> None:
        theirs = memory(other, 1)
        await store.upsert(other, [theirs], archive=archive)
        own = memory(tenant, 2)
        for taken in (False, True):
            with pytest.raises(ValueError, match="another tenant"):
                await store.upsert(tenant, [own, memory(tenant, 1, memory_id=theirs.record.memory_id)], archive=taken)
        assert await store.get(tenant, ids([own])) == []
        assert_same(await store.get_with_vectors(other, ids([theirs])), [theirs])

    async def test_a_question_of_the_wrong_shape(self, store: Store, tenant: Tenant) -> None:
        with pytest.raises(ValueError, match="shape"):
            await store.search(tenant, np.ones(3, np.float32), None, where=Where(), limit=1)
        with pytest.raises(ValueError, match="shape"):
            await store.near(tenant, np.ones((2, 3), np.float32), threshold=0.5, where=Where())


class TestIsolation:
    @pytest.mark.parametrize("name", NAMES)
    async def test_nothing_of_another_tenant(self, store: Store, tenant: Tenant, name: str) -> None:
        """Every call, with each of the names as user and as namespace."""
        mine = Tenant(namespace=name, user_id=tenant.user_id)
        stored = memory(mine, 1, session_id=name, tags=(name,), entities=(name,))
        await store.upsert(mine, [stored])
        await store.put_docs(mine, [Doc(name, name, {name: name})])
        strangers = [Tenant(namespace=stranger, user_id=tenant.user_id) for stranger in NAMES if stranger != name]
        strangers += [
            Tenant(namespace=tenant.user_id, user_id=name),
            Tenant(namespace=f"{name}/{tenant.user_id}", user_id=tenant.user_id),
        ]
        for stranger in strangers:
            await assert_blind(store, stranger, stored, Doc(name, name, {}))
        where = Where(tags=(name,), entities=(name,), sessions=(name,))
        assert await store.find(mine, where) == ([stored.record], None)
        assert_same(await store.neighbours(mine, [stored.record], before=1, after=1), [stored])
        assert await store.get_docs(mine, name, [name]) == [Doc(name, name, {name: name})]

    @settings(max_examples=25, deadline=None)
    @given(data=st.data())
    async def test_any_two_names(self, store: Store, data: st.DataObject) -> None:
        name = st.one_of(
            st.sampled_from(NAMES), st.text(alphabet="a/%:*{}\"' 张🦜", min_size=1, max_size=4).map(lambda s: f"n{s}")
        )
        run = uuid.uuid4().hex
        one, two = (
            Tenant(namespace=data.draw(name), user_id=data.draw(name) + part)
            for part in (run, data.draw(st.sampled_from([run, f"{run}/", f"%2F{run}"])))
        )
        stored = memory(one, 1)
        await store.upsert(one, [stored])
        await store.put_docs(one, [Doc("receipt", "e1", {})])
        if one != two:
            await assert_blind(store, two, stored, Doc("receipt", "e1", {}))
        assert await store.get(one, ids([stored])) == [stored.record]
        assert await store.find_docs(one, "receipt") == [Doc("receipt", "e1", {})]


async def assert_blind(store: Store, stranger: Tenant, stored: StoredMemory, doc: Doc) -> None:
    """No call as `stranger` shows or touches what another tenant stored."""
    memory_ids = ids([stored])
    assert await store.get(stranger, memory_ids) == []
    assert await store.get_with_vectors(stranger, memory_ids) == []
    assert await store.get_with_words(stranger, memory_ids) == []
    assert await store.cosines(stranger, memory_ids, stored.vector) == {}
    assert await store.find(stranger, Where()) == ([], None)
    assert await store.near(stranger, stored.vector[None], threshold=-1, where=Where()) == [[]]
    assert await store.search(stranger, stored.vector, stored.sparse, where=Where(), limit=9) == ([], [])
    assert await store.neighbours(stranger, [stored.record], before=9, after=9) == []
    own = stored.record.model_copy(update={"namespace": stranger.namespace, "user_id": stranger.user_id})
    assert await store.update(stranger, [own]) == memory_ids
    await store.delete(stranger, memory_ids)
    await store.move(stranger, memory_ids, to_archive=True)
    assert await store.get_docs(stranger, doc.kind, [doc.key]) == []
    assert await store.find_docs(stranger, doc.kind) == []
    await store.delete_docs(stranger, doc.kind, [doc.key])


class TestFind:
    async def test_pages_in_id_order(self, store: Store, tenant: Tenant) -> None:
        memories = [memory(tenant, number) for number in range(25)]
        await store.upsert(tenant, memories)
        pages: list[list[str]] = []
        cursor = None
        while True:
            page, cursor = await store.find(tenant, Where(), limit=10, cursor=cursor)
            pages.append([record.memory_id for record in page])
            if cursor is None:
                break
        assert [len(page) for page in pages] == [10, 10, 5]
        assert [found for page in pages for found in page] == sorted(ids(memories))

    async def test_a_full_last_page(self, store: Store, tenant: Tenant) -> None:
        await store.upsert(tenant, [memory(tenant, number) for number in range(4)])
        _, cursor = await store.find(tenant, Where(), limit=2)
        page, cursor = await store.find(tenant, Where(), limit=2, cursor=cursor)
        assert len(page) == 2
        assert cursor is None

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (Where(), {0, 1, 2, 3}),
            (Where(layers=(Layer.FACT,)), {1}),
            (Where(layers=(Layer.FACT, Layer.EPISODE)), {0, 1, 2, 3}),
            (Where(types=(MemoryType.PREFERENCE, MemoryType.DIGEST)), {1, 3}),
            (Where(statuses=(MemoryStatus.DUPLICATE,)), {2}),
            (Where(statuses=(MemoryStatus.ACTIVE, MemoryStatus.DUPLICATE)), {0, 1, 2, 3}),
            (Where(tags=("工作",)), {0, 1}),
            (Where(tags=("工作", "home")), {0, 1, 2}),
            (Where(tags=("工",)), set()),
            (Where(entities=("Project A",)), {2}),
            (Where(entities=("project a",)), set()),
            (Where(slots=("user|city",)), {1}),
            (Where(sessions=("s2",)), {3}),
            (Where(sessions=("",)), set()),
            (Where(event_ids=("e2", "e9")), {2, 3}),
            (Where(tags=("工作",), layers=(Layer.EPISODE,)), {0}),
            (Where(since=START + timedelta(days=1)), {1, 2, 3}),
            (Where(until=START + timedelta(days=1)), {0}),
            (Where(since=START + timedelta(days=1), until=START + timedelta(days=2, microseconds=1)), {1, 2}),
            (Where(since=(START + timedelta(days=3)).replace(tzinfo=None)), {3}),
        ],
    )
    async def test_where(self, store: Store, tenant: Tenant, where: Where, expected: set[int]) -> None:
        days: list[dict[str, Any]] = [{"occurred_at": START + timedelta(days=day)} for day in range(4)]
        memories = [
            memory(tenant, 0, tags=("工作",), **days[0]),
            memory(
                tenant, 1, layer="fact", memory_type="preference", attribute="City", tags=("x", "工作"), **days[1]
            ),
            memory(
                tenant, 2, status="duplicate", tags=("home",), entities=("Project A",),
                sources=[{"event_id": "e1"}, {"event_id": "e2"}], **days[2],
            ),
            memory(tenant, 3, memory_type="digest", session_id="s2", sources=[{"event_id": "e9"}], **days[3]),
        ]  # fmt: skip
        for archive in (False, True):
            await store.upsert(tenant, memories, archive=archive)
            found, _ = await store.find(tenant, where, archive=archive)
            assert {record.memory_id for record in found} == {memory_id(tenant, number) for number in expected}
            hits, _ = await store.search(tenant, unit(0), None, where=where, limit=9, archive=archive)
            assert {hit.memory_id for hit in hits} == {memory_id(tenant, number) for number in expected}
            (near,) = await store.near(tenant, unit(0)[None], threshold=-1, where=where, archive=archive)
            assert {hit.memory_id for hit in near} == {memory_id(tenant, number) for number in expected}


class TestSearch:
    async def test_near_is_every_memory_over_the_threshold(self, store: Store, tenant: Tenant) -> None:
        memories = [memory(tenant, number) for number in range(300)]
        await store.upsert(tenant, memories)
        vectors = np.stack([stored.vector for stored in memories])
        asked = np.stack([unit(1), np.zeros(8, np.float32), unit(1000), -unit(1)])
        for threshold in (-1.1, 0.3, 0.9):
            found = await store.near(tenant, asked, threshold=threshold, where=Where())
            for hits, cosines in zip(found, asked @ vectors.T, strict=True):
                expected = {
                    memory_id(tenant, int(at)): float(cosines[at]) for at in np.flatnonzero(cosines >= threshold)
                }
                if not cosines.any():
                    expected = {}
                assert {hit.memory_id: pytest.approx(hit.score, abs=1e-5) for hit in hits} == expected
                assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert await store.near(tenant, np.empty((0, 8), np.float32), threshold=0, where=Where()) == []

    async def test_dense_and_sparse_by_own_text(self, store: Store, tenant: Tenant) -> None:
        # Words of this test alone: the weight of a word depends on who else has it.
        common, rare = 2**31 + 7, 2**31 + 8
        memories = [
            memory(tenant, 1, sparse=SparseVector((common,), (1.0,))),
            memory(tenant, 2, sparse=SparseVector((common, rare), (1.0, 1.0))),
            memory(tenant, 3, sparse=SparseVector((9,), (1.0,))),
        ]
        await store.upsert(tenant, memories)
        dense, sparse = await store.search(
            tenant, memories[2].vector, SparseVector((common, rare), (1.0, 1.0)), where=Where(), limit=2
        )
        cosines = sorted(
            ((float(one.vector @ memories[2].vector), one.record.memory_id) for one in memories), reverse=True
        )
        assert [hit.memory_id for hit in dense] == [memory_id for _, memory_id in cosines[:2]]
        assert [hit.score for hit in dense] == pytest.approx([score for score, _ in cosines[:2]], abs=1e-5)
        assert [hit.memory_id for hit in sparse] == ids([memories[1], memories[0]])
        assert sparse[0].score > 2 * sparse[1].score > 0
        assert await store.search(tenant, None, None, where=Where(), limit=2) == ([], [])
        only_dense = await store.search(tenant, memories[2].vector, None, where=Where(), limit=1)
        assert [hit.memory_id for hit in only_dense[0]] == ids(memories)[2:]
        assert only_dense[1] == []
        _, only_sparse = await store.search(tenant, None, SparseVector((rare,), (1.0,)), where=Where(), limit=9)
        assert [hit.memory_id for hit in only_sparse] == ids([memories[1]])

    async def test_a_write_is_visible_to_the_next_read(self, store: Store, tenant: Tenant) -> None:
        for number in range(20):
            stored = memory(tenant, number)
            await store.upsert(tenant, [stored])
            (hit,), _ = await store.search(tenant, stored.vector, None, where=Where(), limit=1)
            assert hit.memory_id == stored.record.memory_id
        await store.delete(tenant, [memory_id(tenant, 7)])
        (hit,), _ = await store.search(tenant, unit(7), None, where=Where(), limit=1)
        assert hit.memory_id != memory_id(tenant, 7)


class TestCosines:
    async def test_of_both_collections_and_nobody_elses(self, store: Store, tenant: Tenant, other: Tenant) -> None:
        here, archived, theirs = memory(tenant, 1), memory(tenant, 2), memory(other, 3)
        wordless = StoredMemory(memory(tenant, 4).record, np.zeros(PROFILE.dimension, np.float32), SparseVector())
        await store.upsert(tenant, [here, wordless])
        await store.upsert(tenant, [archived], archive=True)
        await store.upsert(other, [theirs])
        asked = [*ids([here, archived, theirs, wordless]), "mem_none"]
        near = await store.cosines(tenant, asked, unit(2))
        assert near == pytest.approx({one.record.memory_id: float(one.vector @ unit(2)) for one in (here, archived)})
        assert await store.cosines(tenant, asked, np.zeros(PROFILE.dimension, np.float32)) == {}
        assert await store.cosines(tenant, [], unit(2)) == {}

    async def test_of_more_than_one_request_holds(self, store: Store, tenant: Tenant) -> None:
        memories = [memory(tenant, number) for number in range(510)]
        await store.upsert(tenant, memories)
        assert set(await store.cosines(tenant, ids(memories), unit(2))) == set(ids(memories))


class TestOwned:
    """What the one writer remembers is what the store would say."""

    async def test_a_tag_is_found_whatever_brought_it(self, store: Store, tenant: Tenant) -> None:
        owned = OwnedStore(store)
        vector = unit(1)
        plain, tagged = memory(tenant, 1, vector=vector), memory(tenant, 2, vector=vector, tags=("correction",))
        await owned.upsert(tenant, [plain])

        async def near() -> list[str]:
            where = Where(tags=("correction",))
            found = [await one.near(tenant, np.stack([vector]), threshold=0.9, where=where) for one in (owned, store)]
            assert found[0] == found[1]
            return [hit.memory_id for hit in found[0][0]]

        assert await near() == []
        await owned.upsert(tenant, [tagged])
        assert await near() == ids([tagged])
        await owned.move(tenant, ids([tagged]), to_archive=True)
        assert await near() == []
        await owned.move(tenant, ids([tagged]), to_archive=False)
        assert await near() == ids([tagged])
        await owned.delete(tenant, ids([tagged]))
        assert await near() == []
        await owned.update(tenant, [plain.record.model_copy(update={"tags": ("correction",)})])
        assert await near() == ids([plain])

    async def test_a_tag_that_came_back_from_the_archive(self, store: Store, tenant: Tenant) -> None:
        stored = memory(tenant, 1, tags=("correction",))
        await store.upsert(tenant, [stored], archive=True)
        owned, where = OwnedStore(store), Where(tags=("correction",))
        assert await owned.near(tenant, np.stack([stored.vector]), threshold=0.9, where=where) == [[]]
        await owned.move(tenant, ids([stored]), to_archive=False)
        [[hit]] = await owned.near(tenant, np.stack([stored.vector]), threshold=0.9, where=where)
        assert hit.memory_id == stored.record.memory_id

    async def test_nothing_is_remembered_of_partitions_that_moved(self, store: Store, tenant: Tenant) -> None:
        stored = memory(tenant, 1, tags=("correction",))
        owned, where = OwnedStore(store), Where(tags=("correction",))
        assert await owned.near(tenant, np.stack([stored.vector]), threshold=0.9, where=where) == [[]]
        await store.upsert(tenant, [stored])
        owned.forget_all()
        [[hit]] = await owned.near(tenant, np.stack([stored.vector]), threshold=0.9, where=where)
        assert hit.memory_id == stored.record.memory_id


class TestNeighbours:
    async def test_places_in_the_session(self, store: Store, tenant: Tenant) -> None:
        turns = [memory(tenant, number) for number in range(10)]
        await store.upsert(tenant, [*turns[5:], *turns[:5], memory(tenant, 50, session_id="s2", sequence=5)])
        anchor = turns[5].record
        for before, after in [(0, 0), (1, 0), (0, 1), (2, 2), (99, 1), (1, 99)]:
            found = await store.neighbours(tenant, [anchor], before=before, after=after)
            assert_same(found, turns[max(0, 5 - before) : 6 + after])
        assert await store.neighbours(tenant, [], before=2, after=2) == []

    async def test_each_once(self, store: Store, tenant: Tenant) -> None:
        turns = [memory(tenant, number) for number in range(10)]
        elsewhere = [memory(tenant, 20 + number, session_id="a") for number in range(3)]
        await store.upsert(tenant, turns + elsewhere)
        anchors = [turns[4].record, turns[5].record, elsewhere[0].record, turns[5].record]
        found = await store.neighbours(tenant, anchors, before=2, after=1)
        assert_same(found, [*elsewhere[:2], *turns[2:7]])

    async def test_one_sequence_is_ordered_by_event_message_and_start(self, store: Store, tenant: Tenant) -> None:
        """40 pieces of the same instant: more than one window, with neighbours on either side."""
        places = [(event, message, start) for event in ("a", "b") for message in range(10) for start in (0, 9)]
        pieces = [
            memory(tenant, 100 + number, sequence=5, sources=[{"event_id": event, "message": message, "start": start}])
            for number, (event, message, start) in enumerate(places)
        ]
        order = [memory(tenant, 4), *pieces, memory(tenant, 6), memory(tenant, 7)]
        await store.upsert(tenant, order[::-1])
        for at in (0, 1, 2, 17, 20, 39, 40, 41, 42):
            found = await store.neighbours(tenant, [order[at].record], before=2, after=2)
            assert_same(found, order[max(0, at - 2) : at + 3])

    async def test_a_fact_stands_behind_the_episode_it_comes_from(self, store: Store, tenant: Tenant) -> None:
        turns = [memory(tenant, number) for number in range(5)]
        fact = memory(tenant, 90, layer="fact", sequence=2, sources=[{"event_id": "e00002", "start": 3}])
        between = memory(tenant, 91, layer="fact", sequence=2, sources=[{"event_id": "e00001"}])
        await store.upsert(tenant, [*turns, fact, between])
        found = await store.neighbours(tenant, [fact.record], before=1, after=1)
        assert_same(found, [turns[2], fact, turns[3]])
        found = await store.neighbours(tenant, [between.record], before=1, after=1)
        assert_same(found, [turns[1], between, turns[2]])

    async def test_an_archived_anchor_and_an_absent_one(self, store: Store, tenant: Tenant) -> None:
        turns = [memory(tenant, number) for number in range(5)]
        await store.upsert(tenant, turns)
        await store.move(tenant, ids(turns[2:3]), to_archive=True)
        absent = memory(tenant, 3000, sequence=4, sources=[{"event_id": "zz"}])
        assert_same(await store.neighbours(tenant, [turns[2].record], before=1, after=1), turns[1:4])
        assert_same(await store.neighbours(tenant, [absent.record], before=1, after=1), turns[4:])

    async def test_the_end_of_a_session(self, store: Store, tenant: Tenant, other: Tenant) -> None:
        turns = [memory(tenant, number) for number in range(5)]
        await store.upsert(tenant, [*turns, memory(tenant, 50, session_id="s2", sequence=9)])
        end = memory(tenant, 3000, sequence=2**62, sources=[]).record
        assert_same(await store.neighbours(tenant, [end], before=2, after=0), turns[3:])
        assert_same(await store.neighbours(tenant, [end], before=9, after=0), turns)
        assert await store.neighbours(other, [end], before=9, after=0) == []

    async def test_the_order_follows_every_write(self, store: Store, tenant: Tenant) -> None:
        async def around(number: int) -> list[str]:
            anchor = memory(tenant, number).record
            return [one.record.memory_id for one in await store.neighbours(tenant, [anchor], before=1, after=1)]

        turns = {number: memory(tenant, number) for number in (10, 20, 30)}
        await store.upsert(tenant, list(turns.values()))
        assert await around(20) == [memory_id(tenant, number) for number in (10, 20, 30)]
        await store.upsert(tenant, [memory(tenant, 15)])
        assert await around(20) == [memory_id(tenant, number) for number in (15, 20, 30)]
        await store.upsert(tenant, [memory(tenant, 15)])
        await store.delete(tenant, [memory_id(tenant, 30)])
        assert await around(20) == [memory_id(tenant, number) for number in (15, 20)]
        moved = memory(tenant, 15).record.model_copy(update={"sequence": 40})
        await store.update(tenant, [moved])
        assert await around(20) == [memory_id(tenant, number) for number in (10, 20, 15)]
        await store.update(tenant, [moved.model_copy(update={"session_id": "elsewhere"})])
        assert await around(20) == [memory_id(tenant, number) for number in (10, 20)]
        await store.move(tenant, [memory_id(tenant, 10)], to_archive=True)
        assert await around(20) == [memory_id(tenant, 20)]
        await store.move(tenant, [memory_id(tenant, 10)], to_archive=False)
        assert await around(20) == [memory_id(tenant, number) for number in (10, 20)]
        changed = turns[20].record.model_copy(update={"importance": 5})
        await store.update(tenant, [changed])
        found = await store.neighbours(tenant, [changed], before=0, after=0)
        assert [one.record for one in found] == [changed]

    @settings(max_examples=40, deadline=None)
    @given(data=st.data())
    async def test_against_a_sorted_list(self, store: Store, data: st.DataObject) -> None:
        tenant = Tenant(namespace="any", user_id=uuid.uuid4().hex)
        sequences = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=30))
        turns = [
            memory(tenant, number, sequence=sequence, sources=[{"event_id": f"e{number % 3}", "message": number}])
            for number, sequence in enumerate(sequences)
        ]
        await store.upsert(tenant, turns)
        before, after = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))
        order = sorted(
            turns, key=lambda one: (one.record.sequence, one.record.source.event_id, one.record.source.message)
        )
        at = data.draw(st.integers(0, len(order) - 1))
        found = await store.neighbours(tenant, [order[at].record], before=before, after=after)
        assert_same(found, order[max(0, at - before) : at + after + 1])


class TestDocs:
    async def test_what_was_put(self, store: Store, tenant: Tenant) -> None:
        body: dict[str, Any] = {"n": 2**70, "f": 0.1, "none": None, "deep": {"a.b": [1, "张三 🦜 \u0000"]}, "": []}
        docs = [Doc("receipt", "b", body), Doc("receipt", "a", {}), Doc("fence", "a", {"x": 1})]
        for _ in range(2):
            await store.put_docs(tenant, docs)
        assert await store.get_docs(tenant, "receipt", ["a", "none", "b"]) == [docs[1], docs[0]]
        assert await store.find_docs(tenant, "receipt") == [docs[1], docs[0]]
        assert await store.find_docs(tenant, "fence") == [docs[2]]
        await store.put_docs(tenant, [Doc("receipt", "a", {"new": True})])
        assert await store.get_docs(tenant, "receipt", ["a"]) == [Doc("receipt", "a", {"new": True})]
        for _ in range(2):
            await store.delete_docs(tenant, "receipt", ["a", "none"])
        assert await store.find_docs(tenant, "receipt") == [docs[0]]
        assert await store.find_docs(tenant, "fence") == [docs[2]]

    async def test_kind_and_key_are_not_joined(self, store: Store, tenant: Tenant) -> None:
        docs = [Doc("a/b", "c", {"n": 1}), Doc("a", "b/c", {"n": 2}), Doc("a", "/b/c", {"n": 3})]
        await store.put_docs(tenant, docs)
        assert [await store.get_docs(tenant, doc.kind, [doc.key]) for doc in docs] == [[doc] for doc in docs]

    async def test_more_than_a_page(self, store: Store, tenant: Tenant) -> None:
        docs = [Doc("receipt", f"{number:04}", {"n": number}) for number in range(1100)]
        await store.put_docs(tenant, docs)
        assert await store.find_docs(tenant, "receipt") == docs
        assert await store.get_docs(tenant, "receipt", [doc.key for doc in docs]) == docs

    @pytest.mark.parametrize("body", [{"x": object()}, {"x": float("nan")}, {"x": "\ud83d"}])
    async def test_a_body_that_is_not_json(self, store: Store, tenant: Tenant, body: dict[str, Any]) -> None:
        with pytest.raises(ValueError):  # noqa: PT011
            await store.put_docs(tenant, [Doc("receipt", "a", {}), Doc("receipt", "b", body)])
        assert await store.find_docs(tenant, "receipt") == []


class TestMaintenance:
    async def test_idle(self, store: Store, tenant: Tenant, other: Tenant, shard: int) -> None:
        late = START + timedelta(days=5)
        memories = [
            memory(tenant, 0, shard=shard),
            memory(tenant, 1, shard=shard, last_access_time=late),
            # Never accessed: idle since it was made.
            memory(tenant, 2, shard=shard, last_access_time=None),
            memory(tenant, 3, shard=shard + 1),
            memory(tenant, 4, shard=shard),
        ]
        await store.upsert(tenant, memories)
        await store.move(tenant, ids(memories[4:]), to_archive=True)
        foreign = memory(other, 5, shard=shard)
        await store.upsert(other, [foreign])
        expected = sorted(
            [(tenant, memory_id(tenant, 0)), (tenant, memory_id(tenant, 2)), (other, foreign.record.memory_id)],
            key=lambda pair: pair[1],
        )
        assert await store.idle(shard, before=late) == (expected, None)
        first, cursor = await store.idle(shard, before=late, limit=2)
        rest, end = await store.idle(shard, before=late, limit=2, cursor=cursor)
        assert (first + rest, end) == (expected, None)
        assert (await store.idle(shard, before=START))[0] == []
        await store.update(tenant, [memories[0].record.model_copy(update={"last_access_time": late})])
        assert (await store.idle(shard, before=late))[0] == [pair for pair in expected if pair[1] != ids(memories)[0]]

    async def test_idle_of_a_type(self, store: Store, tenant: Tenant, shard: int) -> None:
        memories = [
            memory(tenant, 0, shard=shard),
            memory(tenant, 1, shard=shard, layer="fact", memory_type="task"),
            memory(tenant, 2, shard=shard, status="superseded"),
            memory(tenant, 3, shard=shard, status="duplicate"),
            # As a crash may leave it: archived, and not moved yet.
            memory(tenant, 4, shard=shard, status="archived"),
        ]
        await store.upsert(tenant, memories)
        late = START + timedelta(days=5)

        async def idle(*types: MemoryType) -> list[str]:
            page, _ = await store.idle(shard, before=late, types=types)
            return [found for _, found in page]

        assert await idle() == sorted(memory_id(tenant, number) for number in (0, 1, 4))
        assert await idle(MemoryType.TASK) == [memory_id(tenant, 1)]
        assert await idle(MemoryType.EPISODE, MemoryType.DIGEST) == sorted(memory_id(tenant, n) for n in (0, 4))

    async def test_ended(self, store: Store, tenant: Tenant, other: Tenant, shard: int) -> None:
        end = START + timedelta(days=3)
        task = {"layer": "fact", "memory_type": "task", "shard": shard}
        memories = [
            memory(tenant, 0, valid_until=end, **task),
            memory(tenant, 1, valid_until=end + timedelta(microseconds=1), **task),
            memory(tenant, 2, **task),
            memory(tenant, 3, valid_until=end, **(task | {"memory_type": "fact"})),
            memory(tenant, 4, valid_until=end, **(task | {"shard": shard + 1})),
            memory(tenant, 5, valid_until=end, status="superseded", **task),
            memory(tenant, 6, valid_until=end, **task),
        ]
        await store.upsert(tenant, memories)
        await store.move(tenant, ids(memories[6:]), to_archive=True)
        foreign = memory(other, 7, valid_until=end, **task)
        await store.upsert(other, [foreign])
        before, tasks = end + timedelta(microseconds=1), (MemoryType.TASK,)
        expected = sorted([(tenant, memory_id(tenant, 0)), (other, foreign.record.memory_id)], key=lambda pair: pair[1])
        assert await store.ended(shard, before=before, types=tasks) == (expected, None)
        first, cursor = await store.ended(shard, before=before, types=tasks, limit=1)
        rest, last = await store.ended(shard, before=before, types=tasks, limit=1, cursor=cursor)
        assert (first + rest, last) == (expected, None)
        assert (await store.ended(shard, before=end, types=tasks))[0] == []
        assert (tenant, memory_id(tenant, 3)) in (await store.ended(shard, before=before))[0]

    async def test_repeated(self, store: Store, tenant: Tenant, shard: int) -> None:
        late = START + timedelta(days=5)
        memories = [
            memory(tenant, 0, shard=shard, updated_at=late),
            memory(tenant, 1, shard=shard, updated_at=late - timedelta(microseconds=1)),
            memory(tenant, 2, shard=shard),
            memory(tenant, 3, shard=shard, updated_at=late, status="duplicate"),
            memory(tenant, 4, shard=shard + 1, updated_at=late),
            memory(tenant, 5, shard=shard, updated_at=late + timedelta(days=1)),
        ]
        await store.upsert(tenant, memories)
        expected = [(tenant, found) for found in sorted(memory_id(tenant, number) for number in (0, 5))]
        assert await store.repeated(shard, since=late) == (expected, None)
        first, cursor = await store.repeated(shard, since=late, limit=1)
        rest, end = await store.repeated(shard, since=late, limit=1, cursor=cursor)
        assert (first + rest, end) == (expected, None)

    async def test_tenants(self, store: Store, tenant: Tenant, shard: int) -> None:
        tenants = [Tenant(namespace=name, user_id=tenant.user_id) for name in NAMES]
        for number, one in enumerate(tenants):
            await store.upsert(one, [memory(one, 1, shard=shard), memory(one, 2, shard=shard)], archive=number % 2 == 0)
        elsewhere = Tenant(namespace="elsewhere", user_id=tenant.user_id)
        await store.upsert(elsewhere, [memory(elsewhere, 1, shard=shard + 1)])
        found: list[Tenant] = []
        cursor = None
        while True:
            page, cursor = await store.tenants(shard, limit=5, cursor=cursor)
            assert len(page) <= 5
            found += page
            if cursor is None:
                break
        assert sorted(found, key=lambda one: one.key) == sorted(tenants, key=lambda one: one.key)
        await store.delete(tenants[0], [memory_id(tenants[0], 1), memory_id(tenants[0], 2)])
        assert tenants[0] not in (await store.tenants(shard))[0]

    async def test_tenants_with_docs(self, store: Store, tenant: Tenant) -> None:
        # Whoever is forgotten has documents and no memory.
        told, other = (Tenant(namespace=name, user_id=tenant.user_id) for name in NAMES[:2])
        kind = f"answer {tenant.user_id}"
        await store.put_docs(told, [Doc(kind, "a", {"n": 1}), Doc(kind, "b", {"n": 2})])
        await store.put_docs(other, [Doc(f"another {kind}", "a", {"n": 1})])
        assert await store.tenants_with_docs(kind) == [told]
        assert await store.tenants_with_docs(kind, "no such kind") == [told]
        await store.delete_docs(told, kind, ["a", "b"])
        assert await store.tenants_with_docs(kind) == []

    async def test_ping_and_flush(self, store: Store) -> None:
        await store.ping()
        await store.flush()


class TestRuns:
    @pytest.mark.parametrize("kind", ["edge", "file", "server"])
    async def test_open_again(self, kind: str, scratch: Path, tenant: Tenant, request: pytest.FixtureRequest) -> None:
        def make() -> Store:
            if kind == "edge":
                return make_store(None, scratch / "store", PROFILE)
            url = f"file:{scratch}" if kind == "file" else request.getfixturevalue("server").url
            return make_store(url, None, PROFILE)

        stored, doc = memory(tenant, 1, **FULL), Doc("receipt", "a", {"n": 1})
        first = make()
        await first.open()
        await first.open()
        await first.upsert(tenant, [stored])
        await first.put_docs(tenant, [doc])
        await first.close()
        await first.close()
        second = make()
        await second.open()
        try:
            assert_same(await second.get_with_vectors(tenant, ids([stored])), [stored])
            assert await second.find_docs(tenant, "receipt") == [doc]
        finally:
            await second.close()
