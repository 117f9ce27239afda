"""The role recall, one request at a time: the real store, what it sends is kept instead of sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from schemas import MemoryRecord, RecallReply, RecallRequest
from streams.adapters.chat import OpenAIChatModel
from streams.adapters.embedders import make_embedder
from streams.adapters.store.edge import EdgeStore
from streams.agents.profiles import Profiles
from streams.agents.recall import RecallHandler, redacted
from streams.agents.rewriting import Rewriter
from streams.app import Worker
from streams.emitter import Emitter
from streams.errors import ConfigurationError
from streams.memory.lexical import passage_text, sparse_passage
from streams.memory.ranking import DEFAULT, weighted
from streams.memory.redaction import Redactor, load_policy
from streams.ports import Embedder, StoredMemory
from streams.records import Inbound
from streams.settings import Settings, load_settings
from tests.inprocess import Kept
from tests.misbehaving import Misbehaving, Step
from tests.unit.ranking.making import START, TENANT, memory

HEADERS = (("reply_to", b"memory.replies.shared"), ("correlation_id", b"1"))


class Role:
    def __init__(self, store: EdgeStore, embedder: Embedder, **more: Any) -> None:
        self.kept = Kept()
        self.store, self.embedder = store, embedder
        redactor = Redactor(load_policy(None))
        self._handler = RecallHandler(
            store, embedder, cast(Emitter, self.kept), redactor, Settings(), cast(Profiles, None), **more
        )

    async def put(self, *records: MemoryRecord) -> None:
        texts = [passage_text(record) for record in records]
        vectors = await self.embedder.embed_passages(texts)
        for record, vector, text in zip(records, vectors, texts, strict=True):
            await self.store.upsert(record.tenant, [StoredMemory(record, vector, sparse_passage(text))])

    async def ask(self, query: str, **more: Any) -> RecallReply:
        """Everything that is found, under the threshold as well."""
        wanted = {"namespace": "shop", "user_id": "1", "query": query, "explain": True, "threshold": False}
        value = json.dumps(wanted | {"reinforce": False} | more, default=str).encode()
        await self._handler(Inbound("recall.requests", 0, 0, datetime.now(UTC), TENANT.key.encode(), value, HEADERS))
        return RecallReply.from_bytes(self.kept.records.pop().value or b"")


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder("constant")


@pytest.fixture
async def store(tmp_path: Path, embedder: Embedder) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(tmp_path / "store", embedder.profile)
    await store.open()
    yield store
    await store.close()


async def test_weights_that_are_set_make_the_score(store: EdgeStore, embedder: Embedder) -> None:
    set_so = load_settings(recall_weights={"relevance": 0, "importance": 0, "recency": 3, "recency_per_day": 0})
    role = Role(store, embedder, weights=weighted(set_so.recall_weights))
    await role.put(memory("seat", "I prefer the window seat."))
    (found,) = (await role.ask("Which seat?")).memories
    assert found.score == 3
    (explained,) = (await role.ask("Which seat?", kind="explain", memory_ids=["mem_seat"])).memories
    assert explained.score == 3
    (usual,) = (await Role(store, embedder).ask("Which seat?", now=START)).memories
    assert usual.parts["recency"] == DEFAULT.recency


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"recencyy": 1}, "there is no weight 'recencyy'. Names: relevance, importance, recency,"),
        ({"before": [1, 2]}, "there is no weight 'before'"),
        ({"recency": "0.3"}, "recency must be a number"),
        ({"recency": True}, "recency must be a number"),
        ({"recency": float("nan")}, "recency must be a number"),
        ({"recency": [0.1]}, "recency must be a number"),
        ({"prefetch": 2.5}, "prefetch must be a whole number"),
        ({"meaning_spread": 0}, "meaning_spread must be above 0"),
        ({"x": 1, "y": 2}, "there is no weight 'x'; there is no weight 'y'"),
    ],
)
def test_weights_that_mean_nothing_keep_a_worker_from_starting(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^MEMSTREAM_RECALL_WEIGHTS: ") as caught:
        Worker(load_settings(recall_weights=given), ["recall"])
    assert says in str(caught.value)


def test_a_variable_that_is_no_json_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTREAM_RECALL_WEIGHTS", '{"recency": secret')
    with pytest.raises(ConfigurationError, match=r"^MEMSTREAM_RECALL_WEIGHTS: it must be a JSON object") as caught:
        load_settings()
    assert "secret" not in str(caught.value)


async def test_the_block_is_made_for_the_message_it_goes_into(store: EdgeStore, embedder: Embedder) -> None:
    role = Role(store, embedder)
    await role.put(memory("seat", "I prefer the window seat."))
    asked = {"format": "prompt", "turns_of": "s"}
    system = (await role.ask("Which seat?", **asked)).prompt or ""
    user = (await role.ask("Which seat?", prompt_role="user", **asked)).prompt or ""
    assert system.count("memory system") == 0
    assert user.count("memory system") == 2  # the memories' block and the turns'
    assert [line for line in user.splitlines() if "“" in line] == [line for line in system.splitlines() if "“" in line]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("Caroline", "Caroline"),
        ("王小二", "王小二"),
        ("Jean-Luc O'Neil", "Jean-Luc O'Neil"),
        ("李明 13800138000", "李明 [PHONE_1]"),
        ("13800138000", None),
        ("my password is hunter2!", None),
        (None, None),
    ],
)
def test_names_in_a_request_are_redacted_like_its_text(given: str | None, left: str | None) -> None:
    asked = {"query": "Which seat?", "about": given, "messages": [{"text": "hi", "speaker": given}]}
    request = RecallRequest.model_validate({"namespace": "shop", "user_id": "1", **asked})
    cleaned = redacted(request, Redactor(load_policy(None)))
    assert (cleaned.about, cleaned.messages[0].speaker) == (left, left)
    assert cleaned.query == request.query


@pytest.mark.parametrize(("step", "found"), [(Step(content="vegetarian diet"), True), (Step("refuse"), False)])
async def test_other_words_find_more_and_their_lack_is_said(
    store: EdgeStore, embedder: Embedder, step: Step, found: bool
) -> None:
    async with Misbehaving() as server:
        server.always("chat", step)
        chat = OpenAIChatModel("m", base_url=server.base_url)
        role = Role(store, embedder, rewriter=Rewriter(chat, budget_seconds=30, call_seconds=0.5))
        await role.put(memory("diet", "My sister is a vegetarian."))
        reply = await role.ask("What could I cook? Call 13800138000")
        told = await role.ask("What could I cook?", kind="explain", memory_ids=["mem_diet"])
        sent = [body["messages"][-1]["content"] for body in server.bodies("chat")]
        await chat.close()
    assert reply.degraded == told.degraded == (() if found else ("rewrite",))
    assert ("kindred words" in reply.memories[0].why) is found
    assert all("13800138000" not in text for text in sent)
    assert any("[PHONE_1]" in text for text in sent)
