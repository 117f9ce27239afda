"""A model tells an old session: bounded, grounded, once; in every other case the rule does."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from streams.agents import decay as stage
from streams.errors import DependencyDown, Refused
from streams.memory.decay.telling import MAX_CHARS, PROMPT_VERSION
from tests.memory_role import Crash, MemoryRole
from tests.unit.decay.test_window import DAY, START, chat, digest_of
from tests.unit.extraction.test_model import Scripted

TEXTS = ("I met Ann Lee in Porto on 5 May.", "The ticket was 42.50 euros.", "Bob drove us home, 30 km.")
GOOD = "Met Ann Lee in Porto on 5 May; the ticket was 42.50 euros."


def digest(text: str) -> str:
    return json.dumps({"digest": text})


async def folded(*answers: str | Exception, texts: tuple[str, ...] = TEXTS) -> tuple[MemoryRole, Scripted]:
    role, model = MemoryRole(), Scripted(*answers)
    role.teller = model
    role.start()
    await chat(role, texts=texts)
    await role.window(START + 31 * DAY)
    return role, model


async def test_it_tells_a_session_once_and_what_it_leaves_out_is_listed() -> None:
    role, model = await folded(digest(GOOD), digest("Another one."))
    made = await digest_of(role)
    date, told, rest = made.content.split("\n")
    assert (date, told) == ("2026-01-01", GOOD)
    assert set(rest.split(", ")) >= {"Bob", "30"}
    assert (made.extractor_version, made.prompt_version) == ("model:scripted", PROMPT_VERSION)
    assert all(text in model.asked[0][1].content for text in TEXTS)
    for _ in range(2):
        await role.window(START + 31 * DAY)
        await role.window(START + 31 * DAY + timedelta(hours=6))
    assert len(model.asked) == 1
    assert (await digest_of(role)).content == made.content
    assert role.log() == await role.memories()


@pytest.mark.parametrize(
    "answer",
    [
        digest("Met Carl in Porto."),
        digest("The ticket was 43 euros."),
        digest("在波尔图见了人"),
        digest("Met Ann Lee. " * (MAX_CHARS // 12)),
        digest(" "),
        "no JSON",
        '{"digest": 5}',
        Refused("chat", "400"),
        DependencyDown("chat"),
    ],
)
async def test_what_does_not_hold_is_told_by_rule(answer: str | Exception) -> None:
    role, model = await folded(answer)
    by_rule, _ = await folded(DependencyDown("chat"))
    made = await digest_of(role)
    assert len(model.asked) == 1
    assert made.content == (await digest_of(by_rule)).content
    assert made.extractor_version != "model:scripted"


async def test_a_model_that_is_down_is_asked_no_more_in_this_window_and_calls_are_counted() -> None:
    for answer, asked in ((DependencyDown("chat"), 1), (digest("Ann Lee paid."), stage.MOST_TOLD)):
        role, model = MemoryRole(), Scripted(*[answer] * (stage.MOST_TOLD + 2))
        role.teller = model
        role.start()
        for number in range(stage.MOST_TOLD + 2):
            await chat(role, f"s{number}", texts=tuple(f"Ann Lee paid {number}{n} euros." for n in range(3)))
        await role.window(START + 31 * DAY)
        assert len(model.asked) == asked
        digests = [m for m in (await role.memories(archive=False)).values() if m.digest_of]
        assert len(digests) == stage.MOST_TOLD + 2


@pytest.mark.parametrize("after_it", [False, True])
@pytest.mark.parametrize("write", range(1, 6))
async def test_a_crash_at_any_write_leaves_one_text(write: int, after_it: bool) -> None:
    role, model = MemoryRole(), Scripted(digest(GOOD), digest("Met Ann Lee in Porto."))
    role.teller = model
    role.start()
    await chat(role, texts=TEXTS)
    role.crash_at(write, after_it=after_it)
    try:
        await role.window(START + 31 * DAY)
    except Crash:
        role.start()
    role.crash_at(0, after_it=False)
    stored = [m for m in (await role.memories()).values() if m.digest_of]
    await role.window(START + 31 * DAY)
    made = await digest_of(role)
    assert made.content == (stored[0].content if stored else made.content)
    assert role.log() == await role.memories()
