"""Other words for a question: what of an answer is used, and that no chat model holds a recall up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from schemas import RecallRequest
from streams.adapters.chat import OpenAIChatModel
from streams.adapters.openai_calls import CallPolicy
from streams.agents.rewriting import Rewriter
from streams.memory.ranking import DEFAULT
from streams.memory.ranking.query import understand
from streams.memory.ranking.rewrite import load_prompt, usable, with_words
from tests.harness import eventually
from tests.misbehaving import Misbehaving, Step
from tests.unit.ranking.making import START

# Seconds. A test that expects an answer waits for long, one that expects none for hardly any time.
PATIENT, SHORT = 30.0, 0.05
WORDS = Step(content="diet allergy vegetarian")


@pytest.fixture
async def server() -> AsyncIterator[Misbehaving]:
    async with Misbehaving() as running:
        yield running


@pytest.fixture
async def chat(server: Misbehaving) -> AsyncIterator[OpenAIChatModel]:
    model = OpenAIChatModel("m", base_url=server.base_url, policy=CallPolicy(timeout_seconds=PATIENT))
    yield model
    await model.close()


def rewriter(chat: OpenAIChatModel, *, budget: float = PATIENT, call: float = PATIENT, size: int = 8) -> Rewriter:
    return Rewriter(chat, budget_seconds=budget, call_seconds=call, size=size)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("diet allergy vegetarian", "diet allergy vegetarian"),
        (" “车票，高铁、酒店” ", "车票 高铁 酒店"),
        ("diet\nallergy", "diet allergy"),
        ("", ""),
        (" … ", ""),
        ('{"memories": []}', ""),
        ("Sure! Here are some words: diet", ""),
        ("I can't help with that.", ""),
        ("one " * 13, ""),
        ("字" * 121, ""),
    ],
)
def test_only_a_short_line_of_words_is_used(answer: str, words: str) -> None:
    assert usable(answer) == words


def test_words_are_added_and_replace_nothing() -> None:
    request = RecallRequest(namespace="shop", user_id="1", query="What could I cook for my sister?")
    plain = understand(request, START, DEFAULT)
    told = with_words(plain, "cook diet allergy sister", DEFAULT)
    assert (told.words, told.text) == (plain.words, plain.text)
    assert plain.added.items() <= told.added.items()
    assert {told.added["diet"], told.added["allergi"]} == {DEFAULT.rewritten}
    assert "cook" not in told.added
    assert told.rewritten == "cook diet allergy sister"


async def test_the_same_question_is_asked_once(server: Misbehaving, chat: OpenAIChatModel) -> None:
    server.always("chat", WORDS)
    asks = rewriter(chat)
    told = await asyncio.gather(*(asks.words("What could I cook?", PATIENT) for _ in range(5)))
    told.append(await asks.words("What could I cook?", PATIENT))
    assert told == ["diet allergy vegetarian"] * 6
    assert server.requests("chat") == 1
    (body,) = server.bodies("chat")
    assert body["messages"][0]["content"] == load_prompt().system
    assert body["messages"][-1] == {"role": "user", "content": "What could I cook?"}


async def test_what_is_kept_is_bounded(server: Misbehaving, chat: OpenAIChatModel) -> None:
    server.always("chat", WORDS)
    asks = rewriter(chat, size=2)
    for question in ("a?", "b?", "a?", "c?", "a?", "b?"):
        assert await asks.words(question, PATIENT)
    assert server.requests("chat") == 4


@pytest.mark.parametrize(
    "step",
    [
        Step("status", status=500),
        Step("status", status=429),
        Step("status", status=401),
        Step("garbage"),
        Step("html"),
        Step("wrong_shape"),
        Step("no_choices"),
        Step("refuse"),
        Step(content=""),
        Step(content="Sure! Here is what I would search for. Diet."),
    ],
    ids=lambda step: f"{step.mode}-{step.status}-{step.content is not None}",
)
async def test_a_model_that_fails_gives_no_words_and_is_asked_again(
    server: Misbehaving, chat: OpenAIChatModel, step: Step
) -> None:
    server.always("chat", step)
    asks = rewriter(chat, call=0.2)
    assert await asks.words("What could I cook?", PATIENT) == ""
    server.always("chat", WORDS)
    assert await rewriter(chat).words("What could I cook?", PATIENT) == "diet allergy vegetarian"


@pytest.mark.parametrize("mode", ["hang", "slow"])
async def test_a_late_answer_is_there_the_next_time(server: Misbehaving, chat: OpenAIChatModel, mode: str) -> None:
    server.always("chat", Step(mode, content="diet allergy vegetarian", interval=0.001))
    asks = rewriter(chat, budget=SHORT if mode == "hang" else 0.0)
    assert await asks.words("What could I cook?", PATIENT) == ""
    await server.reached("chat", 1)
    server.release()

    async def kept() -> bool:
        return await asks.words("What could I cook?", PATIENT) != ""

    await eventually(kept, every=0.01)
    assert server.requests("chat") == 1


async def test_a_deadline_that_is_near_leaves_no_time(server: Misbehaving, chat: OpenAIChatModel) -> None:
    server.always("chat", Step("hang"))
    asks = rewriter(chat)
    assert await asks.words("What could I cook?", SHORT) == ""
    await asks.close()
