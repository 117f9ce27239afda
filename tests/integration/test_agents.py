"""Memory in an agent's code, on a real pipeline: the client that waits, LangGraph's nodes, LangGraph's store."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import pytest_asyncio
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from schemas import ConversationEvent
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.client import IN_FLIGHT, BadRequest, DeadlineExceeded, MemoryClient, MemoryClientError, Unavailable
from streams.integrations.langgraph import (
    MemoryState,
    MemstreamStore,
    NotRemembered,
    NotSupported,
    recall_before,
    remember_after,
)
from streams.sync_client import SyncMemoryClient
from tests.harness import Pipeline, eventually, pipeline

SEAT = "I always take the window seat on trains."
WHICH = "Which seat on trains?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, "agents.", partitions=2) as made:
        await made.worker().start()
        yield made


@pytest.fixture(scope="module")
def memory(line: Pipeline) -> Iterator[SyncMemoryClient]:
    with SyncMemoryClient(settings=line.settings, namespace="shop", deadline=60) as client:
        yield client


# The client that waits: tests without `async`, as its users are


def test_every_kind_of_call(memory: SyncMemoryClient) -> None:
    told = memory.publish_and_wait(user_id="u", session_id="s", event_id="e1", text=SEAT)
    assert told.outcome == "stored"
    (seat,) = [found.memory for found in memory.recall(WHICH, user_id="u").memories]
    assert seat.content == SEAT
    assert SEAT[:-1] in memory.memory_prompt(WHICH, user_id="u")
    assert memory.memory_prompt(WHICH, user_id="nobody") == ""
    assert [m.content for m in memory.get(seat.memory_id, user_id="u")] == [SEAT]
    assert memory.explain(seat.memory_id, WHICH, user_id="u").rank == 1
    assert memory.related(seat.memory_id, user_id="u")[0].memory.content == SEAT
    corrected = memory.correct(seat.memory_id, "I always take the aisle seat on trains.", user_id="u")
    assert corrected.outcome == "stored"
    assert {m.content for m in memory.history(seat.memory_id, user_id="u")} >= {SEAT}
    everything = {m.memory_id: m for m in memory.export(user_id="u")}
    assert [m.memory_id for part in memory.export_parts(user_id="u") for m in part] == [*everything]
    assert {m.layer for m in memory.profile(user_id="u")} == {"fact"}
    memory.supersede(*[*everything][:2], user_id="u")
    memory.ping()
    assert sum(memory.forget(user_id="u", everything=True).removed.values()) > 0
    assert memory.export(user_id="u") == []


def test_the_last_turns_of_a_session(memory: SyncMemoryClient) -> None:
    """Both speakers in their order, redacted; other sessions, other users and what is forgotten are not there."""
    said = [
        ("chat-1", "user", "I want to see the lighthouse in Sassnitz."),
        ("chat-1", "assistant", "The lighthouse in Sassnitz opens at ten, and the ferry leaves at nine."),
        ("chat-2", "user", "My dentist moved to Goethestrasse 7."),
        ("chat-1", "user", "明天我从柏林坐火车过去，我的电话是13812345678。"),
    ]
    for at, (session, role, text) in enumerate(said):
        memory.publish_and_wait(
            user_id="t",
            session_id=session,
            event_id=f"t{at}",
            role=role,
            text=text,
            occurred_at=f"2026-03-02T09:0{at}Z",
        )
    turns = memory.turns("chat-1", user_id="t")
    assert [(turn.event_id, turn.role) for turn in turns] == [("t0", "user"), ("t1", "assistant"), ("t3", "user")]
    assert [turn.text for turn in turns[:2]] == [said[0][2], said[1][2]]
    assert "柏林" in turns[2].text
    assert "13812345678" not in turns[2].text
    assert [turn.event_id for turn in memory.turns("chat-1", user_id="t", limit=2)] == ["t1", "t3"]
    assert memory.turns("chat-1", user_id="nobody") == memory.turns("chat-3", user_id="t") == []

    found = memory.recall("Where is my dentist?", user_id="t", turns_of="chat-1", turns=1)
    assert "Goethestrasse" in found.memories[0].memory.content
    assert [turn.event_id for turn in found.turns] == ["t3"]
    prompt = memory.memory_prompt("Where is my dentist?", user_id="t", turns_of="chat-1")
    assert prompt.index("Goethestrasse") < prompt.index("<turns>") < prompt.index("lighthouse") < prompt.index("柏林")
    assert memory.memory_prompt("Where is my dentist?", user_id="nobody", turns_of="chat-1") == ""
    with pytest.raises(BadRequest, match="turns"):
        memory.turns("chat-1", user_id="t", limit=51)
    with pytest.raises(BadRequest, match="turns_of"):
        memory.turns("", user_id="t")

    memory.forget(user_id="t", event_ids=["t1"])
    assert [turn.event_id for turn in memory.turns("chat-1", user_id="t")] == ["t0", "t3"]
    memory.forget(user_id="t", session_id="chat-1")
    assert memory.turns("chat-1", user_id="t") == []


def test_errors_are_those_of_the_other_client(memory: SyncMemoryClient) -> None:
    with pytest.raises(BadRequest, match="user_id"):
        memory.recall("q", user_id="*")
    with pytest.raises(DeadlineExceeded):
        memory.recall("q", user_id="u", deadline=-1)
    with pytest.raises(BadRequest, match="messages"):
        list(memory.publish_many([{"user_id": "u", "messages": []}]))


def test_many_are_taken_in_the_callers_thread(memory: SyncMemoryClient) -> None:
    """An iterable that asks the same client would wait for itself in the client's thread."""
    threads = set()

    def events() -> Iterator[dict[str, Any]]:
        for number in range(IN_FLIGHT + 3):
            threads.add(threading.current_thread())
            if number % IN_FLIGHT == 0:
                memory.get("mem_none", user_id="many")
            yield {"user_id": "many", "event_id": f"m{number}", "messages": [{"text": "thanks!"}]}

    assert list(memory.publish_many(events())) == [f"m{number}" for number in range(IN_FLIGHT + 3)]
    assert threads == {threading.current_thread()}


def test_threads_share_it(memory: SyncMemoryClient) -> None:
    def one(number: int) -> list[str]:
        user = f"thread-{number}"
        memory.publish_and_wait(user_id=user, text=f"My locker at the gym is number {number}00.")
        found = memory.recall("Which locker at the gym?", user_id=user)
        return [m.memory.content for m in found.memories]

    with ThreadPoolExecutor(8) as pool:
        for number, found in enumerate(pool.map(one, range(16))):
            assert found
            assert all(f"{number}00" in content for content in found)


def test_closing_ends_what_waits(line: Pipeline, memory: SyncMemoryClient) -> None:
    before = threading.active_count()
    client = SyncMemoryClient(settings=line.settings, namespace="shop").__enter__()
    waits = threading.Event()

    async def never(_: MemoryClient) -> None:
        waits.set()
        await asyncio.Event().wait()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.call, never)
        assert waits.wait(60)
        client.close()
        with pytest.raises(Unavailable, match="closed"):
            waiting.result(60)
    client.close()
    assert threading.active_count() == before
    with pytest.raises(Unavailable, match="not open"):
        client.ping()
    # The other one of the process does not notice.
    memory.ping()


async def test_parts_that_nobody_takes_any_more(memory: SyncMemoryClient) -> None:
    parts = memory.export_parts(user_id="many")
    assert next(parts) == []
    parts.close()  # type: ignore[attr-defined]

    async def nothing_waits() -> bool:
        return memory.call(waiting) == 0

    async def waiting(client: MemoryClient) -> int:
        return len(client._waiting)

    await eventually(nothing_waits, what="the request to be given up")


def asked_in_a_child(memory: SyncMemoryClient, told: Any) -> None:
    try:
        memory.ping()
    except MemoryClientError as error:
        told.send(str(error))
    with memory:
        memory.ping()
        told.send("opened again")
    told.close()
    os._exit(0)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_is_told_to_open_its_own(memory: SyncMemoryClient) -> None:
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=asked_in_a_child, args=(memory, theirs))
    child.start()
    try:
        assert ours.poll(60)
        assert "one in each process" in ours.recv()
        assert ours.poll(60)
        assert ours.recv() == "opened again"
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()
    memory.ping()


def test_a_program_that_forgets_to_close_ends(line: Pipeline) -> None:
    code = (
        "from streams.sync_client import SyncMemoryClient\n"
        "memory = SyncMemoryClient(namespace='shop').__enter__()\n"
        "parts = memory.export_parts(user_id='forgetful')\n"
        "next(parts)\n"
        "print(memory.publish(user_id='forgetful', text='thanks!', event_id='e'))"
    )
    environment = {**os.environ, **line.environment}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "e\n"), done.stderr


# Nodes


def agent(memory: MemoryClient | SyncMemoryClient) -> Any:
    def model(state: MemoryState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"Known: {state['memory']}")]}

    graph = StateGraph(MemoryState)
    graph.add_node("recall", recall_before(memory, deadline=60))
    graph.add_node("model", model)
    graph.add_node("remember", remember_after(memory))
    for start, end in ((START, "recall"), ("recall", "model"), ("model", "remember"), ("remember", END)):
        graph.add_edge(start, end)
    return graph.compile(checkpointer=InMemorySaver())


def of(user: str, thread: str) -> dict[str, Any]:
    return {"configurable": {"user_id": user, "thread_id": thread}}


async def events_of(line: Pipeline, user: str) -> list[tuple[str, str, str]]:
    """(event id, role, text) as they lie in Kafka."""

    events = [ConversationEvent.from_bytes(value) async for _, value in line.read("conversations") if value]
    return [(e.event_id, m.role, m.text) for e in events if e.user_id == user for m in e.messages]


async def test_what_one_thread_tells_another_knows(line: Pipeline, memory: SyncMemoryClient) -> None:
    graph = agent(memory)
    first = await asyncio.to_thread(graph.invoke, {"messages": [HumanMessage(SEAT, id="1")]}, of("traveller", "t1"))
    assert first["messages"][-1].content == "Known: "
    assert (await events_of(line, "traveller"))[0] == ("t1/1", "user", SEAT)
    await line.drained()
    second = await asyncio.to_thread(graph.invoke, {"messages": [HumanMessage(WHICH)]}, of("traveller", "t2"))
    assert SEAT[:-1] in second["messages"][-1].content
    other = await asyncio.to_thread(graph.invoke, {"messages": [HumanMessage(WHICH)]}, of("stranger", "t3"))
    assert other["messages"][-1].content == "Known: "


async def test_each_turn_is_published_once(line: Pipeline) -> None:
    async with line.client(namespace="shop", deadline=60) as client:
        graph = agent(client)
        await graph.ainvoke(
            {"messages": [SystemMessage("Be brief."), HumanMessage("Good morning, 早上好", id="a")]}, of("once", "t")
        )
        await graph.ainvoke({"messages": [HumanMessage("Good night", id="b")]}, of("once", "t"))
    told = await events_of(line, "once")
    assert [(role, text) for _, role, text in told] == [
        ("user", "Good morning, 早上好"),
        ("assistant", "Known: "),
        ("user", "Good night"),
        ("assistant", "Known: "),
    ]
    assert len({event_id for event_id, _, _ in told}) == 4
    assert (told[0][0], told[2][0]) == ("t/a", "t/b")


async def test_all_that_the_user_said_last(line: Pipeline, memory: SyncMemoryClient) -> None:
    said = [
        AIMessage("Hello.", id="0"),
        HumanMessage("Good", id="1"),
        HumanMessage("morning", id="2"),
        AIMessage("Hi."),
    ]
    await asyncio.to_thread(remember_after(memory), {"messages": said}, of("pieces", "t"))
    assert [text for _, _, text in await events_of(line, "pieces")] == ["Good", "morning", "Hi."]


async def test_without_a_thread_messages_have_ids_of_their_own(line: Pipeline, memory: SyncMemoryClient) -> None:
    alone = {"configurable": {"user_id": "threadless"}}
    for text in ("Good morning", "Good night"):
        await asyncio.to_thread(remember_after(memory), {"messages": [HumanMessage(text, id="1")]}, alone)
    first, second = await events_of(line, "threadless")
    assert first[0] != second[0]


async def test_a_run_does_not_leave_the_clients_namespace(line: Pipeline, memory: SyncMemoryClient) -> None:
    asked = {"configurable": {"user_id": "crosser", "thread_id": "t", "namespace": "bank"}}
    await asyncio.to_thread(remember_after(memory), {"messages": [HumanMessage(SEAT)]}, asked)
    await line.drained()
    assert memory.export(user_id="crosser") != []
    assert memory.export(user_id="crosser", namespace="bank") == []
    memory.publish_and_wait(user_id="crosser", namespace="bank", text="My PIN pad is on the second floor.")
    block = await asyncio.to_thread(
        recall_before(memory, deadline=60), {"messages": [HumanMessage("Where is my PIN pad?")]}, asked
    )
    assert "second floor" not in block["memory"]


async def test_tools_and_empty_messages_are_left_out(line: Pipeline, memory: SyncMemoryClient) -> None:
    state = {
        "messages": [
            HumanMessage("What is the weather?", id="1"),
            AIMessage("", id="2", tool_calls=[{"name": "weather", "args": {}, "id": "c"}]),
            ToolMessage("18 degrees", id="3", tool_call_id="c"),
            AIMessage([{"type": "text", "text": "18 degrees."}], id="4"),
        ]
    }
    assert await asyncio.to_thread(remember_after(memory), state, of("tools", "t")) == {}
    assert await events_of(line, "tools") == [
        ("t/1", "user", "What is the weather?"),
        ("t/4", "assistant", "18 degrees."),
    ]


def test_a_run_without_a_user_is_refused(memory: SyncMemoryClient) -> None:
    with pytest.raises(BadRequest, match="user_id"):
        agent(memory).invoke({"messages": [HumanMessage("hi")]}, {"configurable": {"thread_id": "t"}})


def test_a_memory_that_is_late_costs_no_answer(memory: SyncMemoryClient, caplog: pytest.LogCaptureFixture) -> None:
    state = {"messages": [HumanMessage(SEAT)]}
    assert recall_before(memory, deadline=-1)(state, of("late", "t")) == {"memory": ""}
    (told,) = caplog.messages
    assert told.startswith("answering without memories: DeadlineExceeded")
    assert "seat" not in told


def test_what_can_not_be_asked_costs_no_answer(line: Pipeline, memory: SyncMemoryClient) -> None:
    closed = SyncMemoryClient(settings=line.settings, namespace="shop")
    for client, text in ((memory, "\ud800"), (memory, "长" * 800_000), (closed, SEAT)):
        assert recall_before(client)({"messages": [HumanMessage(text)]}, of("late", "t")) == {"memory": ""}
    with pytest.raises(Unavailable):
        remember_after(closed)({"messages": [HumanMessage(SEAT)]}, of("late", "t"))


# The store


@pytest.fixture
def store(memory: SyncMemoryClient) -> MemstreamStore:
    return MemstreamStore(memory)


def test_put_get_search_delete(store: MemstreamStore) -> None:
    user = ("shop", "keeper")
    store.put(user, "note", {"content": "My sister Ada plays the cello.", "speaker": "Eve"})
    (found, *_) = store.search(user, query="What does Ada play?", limit=3)
    assert found.value["content"] == "My sister Ada plays the cello."
    assert found.value["speaker"] == "Eve"
    assert found.score
    again = store.get(user, found.key)
    assert again is not None
    assert (again.value, again.key, again.namespace) == (found.value, found.key, user)
    by_key = store.get(user, "note")
    assert by_key is not None
    assert (by_key.key, by_key.value["content"]) == ("note", found.value["content"])
    assert store.get(("shop", "other"), found.key) is None
    assert store.get(("shop", "other"), "note") is None
    store.put(user, "note", {"content": "My sister Ada plays the cello.", "speaker": "Eve"})
    with pytest.raises(NotRemembered, match="under the id of the memory"):
        store.put(user, "note", {"content": "My sister Ada plays the drums."})
    store.delete(user, "note")
    assert store.get(user, "note") is None
    assert store.get(user, found.key) is None
    assert store.search(user) == []


async def test_putting_under_a_memorys_id_replaces_it(line: Pipeline, store: MemstreamStore) -> None:
    user, facts = ("shop", "mover"), {"layer": "fact"}
    await store.aput(user, "k", {"content": "I live in Bonn."})
    (old,) = await store.asearch(user, filter=facts)
    await store.aput(user, old.key, {"content": "I live in Graz."})
    await line.drained()
    (new,) = await store.asearch(user, filter=facts)
    assert "Graz" in new.value["content"]
    replaced = await store.aget(user, old.key)
    assert replaced is not None
    assert replaced.value["status"] == "superseded"
    assert replaced.value["superseded_by"] in {item.key for item in await store.asearch(user)}
    await store.adelete(user, new.key)
    assert await store.aget(user, new.key) is None


def test_listing_pages_and_filters(store: MemstreamStore) -> None:
    user = ("shop", "lister")
    for day, text in enumerate(("I play tennis.", "I play golf.", "I play chess."), 1):
        value = {"content": text, "occurred_at": f"2026-01-0{day}T00:00:00Z"}
        store.put((*user, f"s{day}"), f"k{day}", value)

    def contents(place: tuple[str, ...] = user, **how: Any) -> list[str]:
        return [item.value["content"] for item in store.search(place, **how)]

    listed = contents(filter={"layer": "episode"})
    assert listed == ["I play chess.", "I play golf.", "I play tennis."]
    assert contents(filter={"layer": "episode"}, limit=1, offset=1) == ["I play golf."]
    for how in ({}, {"query": "What do I play?"}):
        assert set(contents((*user, "s2"), **how)) == {"I play golf."}
        assert set(contents(filter={"session_id": "s3"}, **how)) == {"I play chess."}
        assert contents((*user, "s2"), filter={"session_id": "s3"}, **how) == []
        early = {"occurred_at": {"$gte": "2026-01-01T00:00:00Z", "$lt": "2026-01-02T00:00:00Z"}}
        assert set(contents(filter=early, **how)) == {"I play tennis."}
        with pytest.raises(BadRequest, match="layers"):
            contents(filter={"layer": "no such layer"}, **how)
    key = store.search((*user, "s2"))[0].key
    assert store.get((*user, "s2"), key) is not None
    assert store.get((*user, "s3"), key) is None


def test_sessions_of_one_user_lie_apart(store: MemstreamStore) -> None:
    first, second = ("shop", "sessions", "s1"), ("shop", "sessions", "s2")
    store.put(first, "note", {"content": "I play the harp."})
    store.put(second, "note", {"content": "I play the oboe."})
    note = store.get(second, "note")
    assert note is not None
    assert note.value["content"] == "I play the oboe."
    theirs = store.search(second)[0].key
    with pytest.raises(NotSupported, match="another session"):
        store.put(first, theirs, {"content": "I play the lute."})
    store.delete(first, theirs)
    store.delete(first, "note")
    assert store.search(first) == []
    assert {item.value["content"] for item in store.search(second)} == {"I play the oboe."}


def test_namespaces_are_listed_as_langgraph_lists_them(store: MemstreamStore) -> None:
    """Beside LangGraph's own store with the same in it."""
    reference = InMemoryStore()
    said = {
        ("shop", "lists"): "I am allergic to peanuts.",
        ("shop", "lists", "chat-7"): "I live in Graz.",
        ("shop", "lists", "聊天"): "我养了两只猫。",
        ("shop", "else", "chat-8"): "I work as a nurse.",
    }
    for place, text in said.items():
        for one in (store, reference):
            one.put(place, "note", {"content": text})
    user = ("shop", "lists")
    asked: tuple[dict[str, Any], ...] = (
        {"prefix": user},
        {"prefix": (*user, "*")},
        {"prefix": (*user, "chat-7")},
        {"prefix": (*user, "chat-7", "more")},
        {"prefix": user, "suffix": ("lists", "*")},
        {"prefix": user, "suffix": ("聊天",)},
        {"prefix": user, "max_depth": 2},
        {"prefix": user, "limit": 1, "offset": 1},
        {"prefix": user, "offset": 9},
        {"prefix": ("shop", "nobody")},
    )
    for how in asked:
        assert store.list_namespaces(**how) == reference.list_namespaces(**how), how
    assert len(store.list_namespaces(prefix=user)) == 3
    store.delete((*user, "chat-7"), "note")
    assert store.list_namespaces(prefix=(*user, "*")) == [(*user, "聊天")]


def test_text_that_leaves_no_memory(store: MemstreamStore) -> None:
    for key, text in (("a", "thanks!"), ("b", "My password is hunter2-Tr0ub4dor.")):
        with pytest.raises(NotRemembered, match="skipped") as raised:
            store.put(("shop", "quiet"), key, {"content": text})
        assert "hunter2" not in str(raised.value)


REFUSED: dict[str, tuple[Any, str]] = {
    "everybody's": (lambda s: s.search(("shop",), query="x"), r"\(namespace, user_id\)"),
    "a deep namespace": (lambda s: s.get(("a", "b", "c", "d"), "k"), "namespace"),
    "users": (lambda s: s.list_namespaces(prefix=("shop",)), "of one user at a time"),
    "users of any namespace": (lambda s: s.list_namespaces(prefix=("*", "u")), "of one user at a time"),
    "users by a suffix": (lambda s: s.list_namespaces(suffix=("shop", "u")), "of one user at a time"),
    "other fields": (lambda s: s.put(("n", "u"), "k", {"content": "x", "colour": "red"}), "'colour'"),
    "no text": (lambda s: s.put(("n", "u"), "k", {"memory": "x"}), "content"),
    "an index": (lambda s: s.put(("n", "u"), "k", {"content": "x"}, index=False), "index"),
    "a time to live": (lambda s: s.batch([PutOp(("n", "u"), "k", {"content": "x"}, ttl=5)]), "ttl"),
    "a filter": (lambda s: s.search(("n", "u"), filter={"importance": {"$gt": 3}}), r"importance \$gt"),
    "too many": (lambda s: s.search(("n", "u"), query="x", limit=40, offset=11), "50"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_counterpart_says_what_to_do(store: MemstreamStore, name: str) -> None:
    call, told = REFUSED[name]
    with pytest.raises(NotSupported, match=told):
        call(store)


async def test_a_store_for_asynchronous_graphs(line: Pipeline, store: MemstreamStore) -> None:
    user = ("shop", "waiter")
    await store.aput(user, "k", {"content": "I take my tea with milk."})
    async with line.client(deadline=60) as client:
        other = MemstreamStore(client)
        (found, *_) = await other.asearch(user, query="How do I take my tea?")
        assert found.value["content"] == "I take my tea with milk."
        with pytest.raises(NotSupported, match="SyncMemoryClient"):
            other.search(user)
        await other.adelete(user, "k")
    assert await store.asearch(user) == []
