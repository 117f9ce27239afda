"""The model extractor with a real language model, over HTTP and the real SDK.

The model is too small to be good, so what is asked is what holds for any: answers are read or refused, never taken for
empty; what it makes up does not get through; it is stopped at its budget. It repeats itself and never ends: a cut-off
answer is its usual one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest

from schemas import RedactedEvent
from streams import metrics
from streams.adapters.chat import OpenAIChatModel
from streams.adapters.openai_calls import CallPolicy
from streams.errors import BadData, DependencyDown
from streams.memory.extraction import Extraction, ModelExtractor
from streams.memory.extraction.grounding import grounded
from streams.memory.extraction.reply import ITEM_SCHEMA, items
from streams.ports import ChatReply, ChatTurn
from tests.small_model import NAME, small_model
from tests.unit.extraction.events import event

pytestmark = pytest.mark.model

MOST_TOKENS = 160  # what it writes after that is mostly a repetition
PATIENCE = 240.0  # seconds; the first answer waits until the model has read the instructions
RELEASE = "The release is led by Wang now."
DIET = "I am a vegetarian."
BADMINTON = "我每周三晚上打羽毛球。"


class Heard:
    """The real model, with its answers kept."""

    def __init__(self, model: OpenAIChatModel) -> None:
        self.name = model.name
        self.replies: list[ChatReply] = []
        self._model = model

    async def complete(
        self,
        turns: Sequence[ChatTurn],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        deadline_seconds: float = 60.0,
    ) -> ChatReply:
        reply = await self._model.complete(
            turns, json_schema=json_schema, max_tokens=max_tokens, deadline_seconds=deadline_seconds
        )
        self.replies.append(reply)
        return reply

    async def close(self) -> None: ...


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with small_model() as url:
        yield url


@pytest.fixture
async def heard(base_url: str) -> AsyncIterator[Heard]:
    model = OpenAIChatModel(NAME, base_url=base_url, policy=CallPolicy(attempts=1, timeout_seconds=PATIENCE))
    yield Heard(model)
    await model.close()


def sound(found: Extraction, source: RedactedEvent) -> bool:
    """Every candidate says only what was said, and rests on a place in its message."""
    return all(
        grounded(c.content, source.messages[c.message].text, value=c.value)
        and 0 <= c.start < c.end <= len(source.messages[c.message].text)
        for c in found.candidates
    )


async def test_by_schema_every_item_has_its_shape_and_nothing_is_invented(heard: Heard) -> None:
    spent = metrics.MODEL_TOKENS.labels("completion")._value.get()
    said = event(RELEASE)
    found = await ModelExtractor(heard, max_tokens=MOST_TOKENS, deadline_seconds=PATIENCE).extract(said)
    read = [item for reply in heard.replies for item in items(reply.text) or ()]
    assert read
    assert all(set(item) == set(ITEM_SCHEMA["required"]) for item in read)
    assert len(found.trace) == len(read)  # each is kept or has its reason
    assert sound(found, said)
    written = sum(reply.completion_tokens for reply in heard.replies)
    assert 0 < written <= len(heard.replies) * MOST_TOKENS
    assert metrics.MODEL_TOKENS.labels("completion")._value.get() == spent + written


@pytest.mark.parametrize("text", [DIET, BADMINTON])
async def test_in_words_an_answer_is_read_or_refused(heard: Heard, text: str) -> None:
    said = event(text)
    extractor = ModelExtractor(heard, json_schema=False, attempts=1, max_tokens=MOST_TOKENS, deadline_seconds=PATIENCE)
    found: Extraction | None = None
    with suppress(BadData):
        found = await extractor.extract(said)
    read = items(heard.replies[0].text)
    # Refused if and only if nothing could be read: never a silent empty success.
    assert (found is None) == (not read)
    if found is not None:
        assert len(found.trace) == len(read or ())
        assert sound(found, said)


async def test_a_deadline_ends_an_answer_that_goes_on(heard: Heard) -> None:
    with pytest.raises(DependencyDown, match="no answer within 1 s"):
        await ModelExtractor(heard, max_tokens=100_000, deadline_seconds=1).extract(event(BADMINTON))
    assert heard.replies == []
