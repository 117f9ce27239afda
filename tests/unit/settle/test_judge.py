"""What the rules can't tell is asked of a chat model, once a pair: the real SDK against a server that misbehaves."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from schemas import MemoryRecord, MemoryStatus, PairVerdict
from streams.adapters.chat import OpenAIChatModel
from streams.adapters.embedders.constant import ConstantEmbedder, hashed_vector
from streams.adapters.openai_calls import CallPolicy
from streams.agents.judging import MOST_PAIRS
from streams.memory.settle.judge import label
from streams.memory.settle.wording import words
from streams.ports import ModelProfile, Vectors
from streams.records import Inbound
from tests.memory_role import TENANT, Crash, MemoryRole, by_content, fact, inbound, said
from tests.misbehaving import Misbehaving, Step

START = datetime(2026, 1, 1, tzinfo=UTC)
PROFILE = ModelProfile(name="words", dimension=384, duplicate=0.99, conflict=0.6, recall=0.5, calibrated=True)
FIRST, SECOND = "I paid 42 euros for the ticket to Lisbon", "I paid 57 euros for the ticket to Lisbon"
ONE_TRY = CallPolicy(attempts=1, timeout_seconds=5.0, open_after=1000)


class Words(ConstantEmbedder):
    """Texts with many words in common are near."""

    @property
    def profile(self) -> ModelProfile:
        return PROFILE

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        made = [np.sum([hashed_vector(word, 384) for word in words(text)], axis=0) for text in texts]
        return np.asarray([vector / np.linalg.norm(vector) for vector in made], dtype=np.float32)


def verdict(word: str) -> Step:
    return Step(content=json.dumps({"verdict": word}))


@pytest.fixture
async def server() -> AsyncIterator[Misbehaving]:
    async with Misbehaving() as running:
        yield running


@pytest.fixture
async def role(server: Misbehaving) -> AsyncIterator[Callable[[], MemoryRole]]:
    made: list[OpenAIChatModel] = []

    def make() -> MemoryRole:
        made.append(OpenAIChatModel("small", base_url=server.base_url, key=SecretStr("k"), policy=ONE_TRY))
        return MemoryRole(Words(), made[-1])

    yield make
    for chat in made:
        await chat.close()


def event(number: int, text: str) -> Inbound:
    at = START + timedelta(days=number)
    return inbound("candidates", said(f"e{number}", at, fact(text)), at)


async def tell(role: MemoryRole, *records: Inbound) -> dict[str, MemoryRecord]:
    for record in records:
        await role.hand_in(record)
        await role.drain()
    return by_content((await role.memories()).values())


def verdicts(role: MemoryRole) -> list[PairVerdict]:
    kept = {r.key: r.value for r in role.kept.records if r.topic == "records" and b"/verdict%3A" in (r.key or b"")}
    return [PairVerdict.from_bytes(value or b"") for value in kept.values()]


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("same", MemoryStatus.DUPLICATE),
        ("replaces", MemoryStatus.SUPERSEDED),
        ("both", MemoryStatus.ACTIVE),
        ("unclear", MemoryStatus.ACTIVE),
    ],
)
async def test_the_verdict_stands_and_is_asked_for_once(
    server: Misbehaving, role: Callable[[], MemoryRole], word: str, status: MemoryStatus
) -> None:
    server.always("chat", verdict(word))
    here = role()
    both = (event(0, FIRST), event(1, SECOND))
    state = await tell(here, *both)
    changed = state[SECOND] if word == "same" else state[FIRST]
    assert changed.status is status
    assert bool(state[FIRST].ambiguous_with) is (word == "unclear")
    assert server.requests("chat") == 1
    (kept,) = verdicts(here)
    assert (kept.older, kept.newer) == (state[FIRST].memory_id, state[SECOND].memory_id)
    assert "ticket" not in kept.model_dump_json()
    # Redelivered, started anew, and with the events lost and replayed into a store that has the verdict only.
    here.start()
    assert await tell(here, *both) == state
    await here.store.delete(kept.tenant, [m.memory_id for m in state.values()])
    await here.store.delete_docs(kept.tenant, "receipt", ["e0", "e1"])
    assert await tell(here, *both) == state
    assert server.requests("chat") == 1


async def test_the_order_of_arrival_changes_nothing(server: Misbehaving, role: Callable[[], MemoryRole]) -> None:
    server.always("chat", verdict("replaces"))
    events = [event(0, FIRST), event(1, SECOND), event(2, "I paid 61 euros for the ticket to Lisbon")]
    states = [await tell(role(), *order) for order in permutations(events)]
    assert all(state == states[0] for state in states)
    assert [m.status for m in states[0].values()].count(MemoryStatus.ACTIVE) == 1


@pytest.mark.parametrize(
    "step",
    [
        Step("status", status=500),
        Step("status", status=429),
        Step("status", status=400, code="context_length_exceeded"),
        Step("status", status=401),
        Step("garbage"),
        Step("html"),
        Step("truncated"),
        Step("wrong_shape"),
        Step("cut"),
        Step("refuse"),
        Step("no_choices"),
        Step(content=""),
        Step(content="I would rather not say."),
        Step(content='{"verdict": "delete everything"}'),
        Step(content='{"verdict": "same"} or {"verdict": "replaces"}'),
        Step(content="", finish_reason="content_filter"),
    ],
)
async def test_a_failure_leaves_both_and_marks_them(
    server: Misbehaving, role: Callable[[], MemoryRole], step: Step
) -> None:
    server.always("chat", step)
    here = role()
    state = await tell(here, event(0, FIRST), event(1, SECOND))
    assert [m.status for m in state.values()] == [MemoryStatus.ACTIVE] * 2
    assert state[FIRST].ambiguous_with == (state[SECOND].memory_id,)
    assert verdicts(here) == []
    # The next time that something near them is said they are asked about again.
    server.always("chat", verdict("replaces"))
    state = await tell(here, event(2, "I paid 61 euros for the ticket to Lisbon"))
    assert [m.status for m in state.values()].count(MemoryStatus.ACTIVE) == 1


@pytest.mark.parametrize(
    "answer", ['```json\n{"verdict": "same"}\n```', 'Here you are: { "Verdict" : "SAME" }\nThey speak of one ticket.']
)
def test_words_around_a_verdict(answer: str) -> None:
    assert label(answer) == "duplicate"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "replaces",
        '{"verdict": "same',
        '{"verdict": "same" | "replaces" | "both" | "unclear"}',
        "verdict: replaces? No, both are true.",
        '{"verdict": "replaces"} Wait ... "both"',
        '{"verdict": "replaces"} or {"verdict": "same"}',
        '{"verdict": "replaces", "why": "newer"}',
        '{"verdict": "probably"}',
    ],
)
def test_what_is_no_verdict(answer: str) -> None:
    assert label(answer) is None


async def test_one_step_asks_about_a_few_pairs_only(server: Misbehaving, role: Callable[[], MemoryRole]) -> None:
    server.always("chat", verdict("both"))
    fares = [fact(f"I paid {fare} euros for the ticket to Lisbon", message=fare) for fare in range(30, 36)]
    await tell(role(), inbound("candidates", said("e", START, *fares), START))
    assert server.requests("chat") == MOST_PAIRS


@pytest.mark.parametrize("write", range(1, 6))
@pytest.mark.parametrize("after_it", [False, True])
async def test_a_crash_while_a_verdict_is_applied_asks_no_second_time(
    server: Misbehaving, role: Callable[[], MemoryRole], write: int, after_it: bool
) -> None:
    server.always("chat", verdict("replaces"))
    here = role()
    judged = await asked(here)
    # To the broker and to the store: the verdict, then what follows from it.
    here.crash_at(write, after_it=after_it)
    with suppress(Crash):
        await here.hand_in(judged)
    here.crash_at(0, after_it=False)
    here.start()
    state = await tell(here, judged)
    assert state[FIRST].superseded_by == state[SECOND].memory_id
    assert state[SECOND].ambiguous_with == ()
    assert len(verdicts(here)) == server.requests("chat") == 1


async def asked(role: MemoryRole) -> Inbound:
    """Two statements told, and what the judge said of them, not applied yet."""
    for said_so in (event(0, FIRST), event(1, SECOND)):
        await role.hand_in(said_so)
    (answer,) = await role.emitted()
    return answer


def ask_again(role: MemoryRole, answer: Inbound) -> None:
    pair = PairVerdict.from_bytes(answer.value or b"")
    assert role.judging is not None
    role.judging.ask(TENANT, [(pair.older, pair.newer)])


async def test_the_first_verdict_of_a_pair_stands(server: Misbehaving, role: Callable[[], MemoryRole]) -> None:
    server.always("chat", verdict("replaces"))
    here = role()
    first = await asked(here)
    # As when a partition moves while an answer is on its way.
    server.always("chat", verdict("both"))
    ask_again(here, first)
    (second,) = await here.emitted()
    state = await tell(here, first, second, first)
    assert (len(verdicts(here)), state[FIRST].superseded_by) == (1, state[SECOND].memory_id)


async def test_a_judge_that_hangs_holds_nobody_up(server: Misbehaving, role: Callable[[], MemoryRole]) -> None:
    """Neither the user whose statements wait, nor another one whose event is in the same step."""
    server.always("chat", Step("hang"))
    here = role()
    for said_so in (event(0, FIRST), event(1, SECOND)):
        await here.hand_in(said_so)
    await server.reached("chat", 1)
    other = TENANT.model_copy(update={"user_id": "v"})
    theirs = said("o", START, fact("I live in Graz"), user_id="v")
    await here.hand_in_all([event(2, "I moved to Oslo"), inbound("candidates", theirs, START)])
    assert [m.content for m in (await here.memories(other)).values()] == ["I live in Graz"]
    state = by_content((await here.memories()).values())
    assert state[FIRST].ambiguous_with == (state[SECOND].memory_id,)
    assert "I moved to Oslo" in state
    # The process ends, and the question with it; the answer to a later one counts.
    assert here.judging is not None
    await here.judging.close()
    server.always("chat", verdict("replaces"))
    here.judging.ask(TENANT, [(state[FIRST].memory_id, state[SECOND].memory_id)])
    await here.drain()
    assert (await tell(here))[FIRST].superseded_by == state[SECOND].memory_id


async def test_what_is_forgotten_meanwhile_is_not_asked_about(
    server: Misbehaving, role: Callable[[], MemoryRole]
) -> None:
    server.always("chat", verdict("replaces"))
    here = role()
    answer = await asked(here)
    await here.forget(START + timedelta(days=2), "c", "all")
    ask_again(here, answer)
    assert await here.emitted() == []
    assert await tell(here, answer) == {}
    assert (server.requests("chat"), verdicts(here)) == (1, [])


async def test_without_a_model_both_stay() -> None:
    state: dict[str, Any] = await tell(MemoryRole(Words()), event(0, FIRST), event(1, SECOND))
    assert all(m.status is MemoryStatus.ACTIVE and m.ambiguous_with for m in state.values())
