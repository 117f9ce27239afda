"""The second layer: the words themselves."""

from __future__ import annotations

from schemas import Layer, MemoryType, Message, RedactedEvent
from streams.memory.extraction import episodes
from tests.unit.extraction.events import SAID, event


def _event(*messages: Message) -> RedactedEvent:
    return event("x").model_copy(update={"messages": messages})


def test_both_sides_of_the_conversation_with_their_places() -> None:
    found = episodes(
        _event(
            Message(role="user", text="How does the interface of project A look?", speaker="Ola"),
            Message(role="assistant", text="It has three endpoints: list, read and write."),
            Message(role="user", text="thanks!"),
            Message(role="assistant", text="You're welcome!"),
            Message(role="system", text="Be brief."),
        )
    )
    assert [(e.message, e.role, e.speaker) for e in found] == [(0, "user", "Ola"), (1, "assistant", None)]
    assert all(e.layer is Layer.EPISODE and e.memory_type is MemoryType.EPISODE and e.importance == 1 for e in found)
    assert all(e.said_at == SAID for e in found)


def test_long_messages_are_cut_at_sentence_ends_and_nothing_is_lost() -> None:
    text = " ".join(f"Sentence number {n} says something." for n in range(100))
    found = episodes(event(text), max_latin=300)
    assert len(found) > 5
    assert all(len(e.content) <= 300 and e.content.endswith(".") for e in found)
    assert all(text[e.start : e.end] == e.content for e in found)
    assert " ".join(e.content for e in found) == text


def test_a_text_without_breaks_is_cut_anyway() -> None:
    found = episodes(event("项目" * 700), max_cjk=400)
    assert "".join(e.content for e in found) == "项目" * 700
    assert all(len(e.content) <= 400 for e in found)


def test_recalled_blocks_are_no_episodes() -> None:
    found = episodes(event("<memories>\n- lives in Bergen\n</memories>\nWhat about the harbour project?"))
    assert [e.content for e in found] == ["What about the harbour project?"]
