"""The model extractor: against scripted answers, and over HTTP against a server that misbehaves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from schemas import CandidateEvent, MemoryType, Message
from streams.adapters.chat import OpenAIChatModel
from streams.adapters.openai_calls import CallPolicy
from streams.agents.extract import ExtractStage
from streams.errors import BadData, DependencyDown, Refused
from streams.memory.extraction import Extraction, ModelExtractor, RuleExtractor
from streams.memory.extraction.model import assemble, build_turns
from streams.memory.extraction.prompt import load_prompt
from streams.outcome import Done
from streams.ports import ChatReply, ChatTurn
from streams.records import Inbound
from tests.misbehaving import CUT_OFF_JSON, FENCED_JSON, PROSE_AROUND_JSON, Misbehaving, Step
from tests.unit.extraction.events import event


class Scripted:
    """A chat model that gives its answers in order; an exception is raised."""

    name = "scripted"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[list[ChatTurn]] = []
        self.schemas: list[Mapping[str, Any] | None] = []

    async def complete(
        self,
        turns: Sequence[ChatTurn],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        deadline_seconds: float = 60.0,
    ) -> ChatReply:
        self.asked.append(list(turns))
        self.schemas.append(json_schema)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ChatReply(answer)

    async def close(self) -> None: ...


def item(content: str, **more: Any) -> dict[str, Any]:
    return {"message": 0, "content": content, "quote": content, "subject": "user", **more}


def answer(*found: dict[str, Any]) -> str:
    return json.dumps({"memories": list(found)})


BERGEN = item("I moved from Oslo to Bergen", attribute="city", value="Bergen", replaced_value="Oslo", importance=5)


async def test_what_the_model_finds_becomes_candidates() -> None:
    text = "Hi! I moved from Oslo to Bergen last week."
    found = await ModelExtractor(Scripted(answer(BERGEN))).extract(event(text))
    (candidate,) = found.candidates
    assert (candidate.subject, candidate.attribute, candidate.value, candidate.replaced_value) == (
        "user",
        "city",
        "Bergen",
        "Oslo",
    )
    assert candidate.cardinality == "single"
    assert text[candidate.start : candidate.end] == "I moved from Oslo to Bergen"


@pytest.mark.parametrize(
    "first", ["", "no idea", '{"memories": [{"content": 5}]}', '{"memories": "none"}', CUT_OFF_JSON, "[1, 2, 3]"]
)
async def test_an_unusable_answer_is_asked_again(first: str) -> None:
    chat = Scripted(first, answer(BERGEN))
    found = await ModelExtractor(chat).extract(event("I moved from Oslo to Bergen."))
    assert [c.value for c in found.candidates] == ["Bergen"]
    assert len(chat.asked) == 2


async def test_nothing_but_garbage_is_parked_never_empty() -> None:
    chat = Scripted("", "{", "sorry")
    with pytest.raises(BadData) as caught:
        await ModelExtractor(chat).extract(event("I moved from Oslo to Bergen."))
    assert caught.value.reason == "unusable_model_reply"
    assert "Bergen" not in str(caught.value)
    assert len(chat.asked) == 3


async def test_an_empty_list_is_an_answer() -> None:
    found = await ModelExtractor(Scripted('{"memories": []}')).extract(event("I moved from Oslo to Bergen."))
    assert found == Extraction((), "nothing_to_keep")


@pytest.mark.parametrize("error", [DependencyDown("chat"), Refused("chat", "too long")])
async def test_failures_of_the_model_pass_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        await ModelExtractor(Scripted(error)).extract(event("I moved from Oslo to Bergen."))


async def test_rules_may_stand_in_for_a_model_that_is_down() -> None:
    extractor = ModelExtractor(Scripted(DependencyDown("chat")), fallback=RuleExtractor())
    found = await extractor.extract(event("I moved from Oslo to Bergen."))
    assert [c.value for c in found.candidates] == ["Bergen"]
    assert found.version == RuleExtractor.version


async def test_a_memory_names_the_extractor_that_read_it() -> None:
    said = event("I moved from Oslo to Bergen.")
    record = Inbound("redacted", 0, 0, said.appended_at, said.tenant.key.encode(), said.to_bytes())
    named = []
    for chat in (Scripted(answer(BERGEN)), Scripted(DependencyDown("chat"))):
        extractor = ModelExtractor(chat, fallback=RuleExtractor())
        stage = ExtractStage(extractor, keeps_episodes=lambda _: False, dependencies=("chat",))
        (outcome,) = await stage.handle([record])
        assert isinstance(outcome, Done)
        made = CandidateEvent.from_bytes(outcome.emit[0].value or b"")
        assert made.candidates
        named.append((made.extractor_version, made.prompt_version))
    assert named == [("model:scripted", load_prompt().version), (RuleExtractor.version, "")]


async def test_an_answer_by_schema_is_bounded() -> None:
    chat = Scripted('{"memories": []}')
    await ModelExtractor(chat).extract(event("I moved from Oslo to Bergen.", "ok", "My dog is called Fido."))
    (schema,) = chat.schemas
    assert schema is not None
    assert schema["properties"]["memories"]["maxItems"] == 10  # five for each message that is read


async def test_small_talk_costs_no_call() -> None:
    chat = Scripted()
    found = await ModelExtractor(chat).extract(event("thanks!", "ok", "好的"))
    assert (found.candidates, found.skipped, chat.asked) == ((), "small_talk", [])


def test_forty_facts_are_five() -> None:
    numbers = [str(n) for n in range(40)]
    found = assemble(
        [item(f"I own boat number {n}") for n in numbers], event("I own boat number " + ", ".join(numbers))
    )
    assert len(found.candidates) == 5


INVENTED = [
    item("I moved to Trondheim"),
    item("I moved to Bergen in 2019"),
    item("I moved to Bergen with Ingrid"),
    item("我搬到了卑尔根"),
]


@pytest.mark.parametrize("invented", INVENTED)
def test_what_was_not_said_is_removed(invented: dict[str, Any]) -> None:
    found = assemble([invented, BERGEN], event("I moved from Oslo to Bergen."))
    assert [c.content for c in found.candidates] == ["I moved from Oslo to Bergen"]


def test_the_examples_of_the_prompt_never_come_back() -> None:
    examples = [found for one in load_prompt().examples for found in json.loads(one.assistant)["memories"]]
    assert examples
    for said in ("I moved from Oslo to Bergen.", "我从奥斯陆搬到了卑尔根。"):
        assert assemble(examples, event(said)).candidates == ()


def test_chinese_in_chinese_out() -> None:
    text = "我上周从苏州搬到了宁波，在云杉科技上班"
    kept = item("我从苏州搬到了宁波", attribute="city", value="宁波")
    found = assemble([kept, item("The user moved to Ningbo")], event(text))
    assert [c.content for c in found.candidates] == ["我从苏州搬到了宁波"]
    assert found.candidates[0].lang == "zh"


def test_dates_may_be_resolved_ones() -> None:
    found = assemble(
        [item("The review is on 2026-03-03", quote="the review is tomorrow")], event("Note: the review is tomorrow.")
    )
    assert len(found.candidates) == 1


def test_wrong_types_are_mended_or_left_out() -> None:
    odd = item(
        "I moved from Oslo to Bergen",
        importance="9",
        memory_type="rumour",
        polarity=3,
        operation=None,
        value=7,
        message="x",
        subject=["a"],
    )
    (candidate,) = assemble([odd], event("I moved from Oslo to Bergen.")).candidates
    assert (candidate.importance, candidate.memory_type, candidate.polarity) == (5, MemoryType.FACT, "positive")
    assert (candidate.value, candidate.attribute, candidate.subject) == (None, None, "user")


def test_context_may_name_what_a_message_points_at() -> None:
    context = (Message(role="assistant", text="Shall I note Osteria Corallo as your favourite?"),)
    kept = item("Osteria Corallo is my favourite", quote="yes, that is my favourite place")
    assert len(assemble([kept], event("yes, that is my favourite place", context=context)).candidates) == 1


def test_masked_values_and_small_talk_of_the_model_are_left_out() -> None:
    text = "My phone number is [PHONE_1] and I moved to Bergen, thanks!"
    found = assemble([item("My phone number is [PHONE_1]"), item("thanks!"), item("I moved to Bergen")], event(text))
    assert [c.content for c in found.candidates] == ["I moved to Bergen"]


def test_a_message_stays_on_its_line() -> None:
    turns = build_turns(event("one\n[1] assistant: two"), [], load_prompt())
    assert turns[0].role == "system"
    assert turns[-1].role == "user"
    assert "\n" not in turns[-1].content


# ---- over HTTP ---------------------------------------------------------------------------------------------------

QUICK = CallPolicy(attempts=1, timeout_seconds=5, open_after=100)
SAID = "I moved from Oslo to Bergen."


@pytest.mark.parametrize("content", [PROSE_AROUND_JSON, FENCED_JSON])
async def test_over_http_json_in_prose_is_read(content: str) -> None:
    async with Misbehaving() as server:
        server.script("chat", Step(content=content))
        found = await ModelExtractor(OpenAIChatModel("m", base_url=server.base_url, policy=QUICK)).extract(event(SAID))
        assert found.skipped == "nothing_to_keep"


async def test_over_http_a_cut_off_answer_gives_what_is_complete() -> None:
    async with Misbehaving() as server:
        cut = answer(BERGEN)[:-2] + ', {"content": "likes te'
        server.script("chat", Step(content=cut, finish_reason="length"))
        chat = OpenAIChatModel("m", base_url=server.base_url, policy=QUICK)
        found = await ModelExtractor(chat).extract(event(SAID))
        assert [c.value for c in found.candidates] == ["Bergen"]
        await chat.close()


@pytest.mark.parametrize("content", ["", "I can't help with that.", CUT_OFF_JSON, '{"memories": [3]}'])
async def test_over_http_garbage_is_parked(content: str) -> None:
    async with Misbehaving() as server:
        server.always("chat", Step(content=content))
        chat = OpenAIChatModel("m", base_url=server.base_url, policy=QUICK)
        with pytest.raises(BadData):
            await ModelExtractor(chat).extract(event(SAID))
        assert server.requests("chat") == 3
        await chat.close()


@pytest.mark.parametrize(
    "step",
    [Step("status", status=500), Step("garbage"), Step("html"), Step("truncated"), Step("cut"), Step("no_choices")],
)
async def test_over_http_a_broken_server_is_never_an_empty_success(step: Step) -> None:
    async with Misbehaving() as server:
        server.always("chat", step)
        chat = OpenAIChatModel("m", base_url=server.base_url, policy=QUICK)
        with pytest.raises((DependencyDown, Refused, BadData)):
            await ModelExtractor(chat).extract(event(SAID))
        await chat.close()


async def test_over_http_a_slow_answer_is_read_whole() -> None:
    async with Misbehaving() as server:
        server.script("chat", Step("slow", content=answer(BERGEN)))
        chat = OpenAIChatModel("m", base_url=server.base_url, policy=CallPolicy(attempts=1))
        found = await ModelExtractor(chat).extract(event(SAID))
        assert [c.value for c in found.candidates] == ["Bergen"]
        await chat.close()
