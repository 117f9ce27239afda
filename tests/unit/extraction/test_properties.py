"""Whatever comes in: every candidate has its place in the source, and invents nothing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import Message
from streams.memory.extraction import episodes
from streams.memory.extraction.grounding import grounded
from streams.memory.extraction.lang import limit
from streams.memory.extraction.material import own_words
from streams.memory.extraction.sentences import sentences
from tests.unit.extraction.events import EXTRACTOR, event

PIECES = st.sampled_from([
    "I live in ", "Bergen", "我住在", "青岛", "。", ". ", ", not ", "，不是", "my wife ", "Lisa", " works at ",
    "在云杉科技上班", "from now on ", "以后都按这个来",
    "tomorrow at 3pm", "下周三", "[PHONE_1]", "“", "”", "```", "\n", "<memories>", "😀", "?", "？",
    "not ", " but ", "I don't like ", "香菜", "123", "The ",
    " of ", " is ", "if ", "如果", "\u200b", "\ud7ff", "  ",
])  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=200))


@given(text=TEXTS, before=st.lists(TEXTS, max_size=2))
@settings(max_examples=300, deadline=None)
def test_candidates_lie_in_the_message_and_are_grounded(text: str, before: list[str]) -> None:
    context = tuple(Message(text=earlier) for earlier in before)
    given_event = event(text, context=context)
    found = EXTRACTOR.extract_now(given_event)
    assert (found.skipped is None) == bool(found.candidates)
    assert len(found.candidates) <= 5
    source = "\n".join([text, *before])
    for candidate in found.candidates:
        assert 0 <= candidate.start < candidate.end <= len(text)
        assert grounded(candidate.content, source)
        assert len(candidate.content) <= limit(candidate.content)
    assert found == EXTRACTOR.extract_now(given_event)


@given(text=TEXTS)
@settings(max_examples=300, deadline=None)
def test_sentences_and_episodes_are_places_in_the_text(text: str) -> None:
    last = 0
    for sentence in sentences(text):
        assert sentence.start >= last
        assert text[sentence.start : sentence.end] == sentence.text
        last = sentence.end
    for episode in episodes(event(text), max_cjk=20, max_latin=50):
        assert (
            own_words(text)[episode.start : episode.end].strip() or text[episode.start : episode.end] == episode.content
        )


@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_own_words_keep_their_places(text: str) -> None:
    own = own_words(text)
    assert len(own) == len(text)
    assert all(a == b or a == " " for a, b in zip(own, text, strict=True))
