"""What is shown, in which order, each thing once."""

from datetime import timedelta

import pytest

from schemas import Layer, MemoryRecord, MemoryStatus, RecallRequest
from streams.memory.ranking.score import Judged
from streams.memory.ranking.select import hidden, select
from streams.memory.ranking.weights import DEFAULT
from tests.unit.ranking.making import START, memory

DAY = timedelta(days=1)


def judged(record: MemoryRecord, evidence: float, *beside: str) -> Judged:
    return Judged(record, evidence=evidence, support=1, alone=1, beside=beside)


def chosen(*found: Judged, top_k: int = 5, **more: bool) -> list[str]:
    answer = select(
        found, enough=lambda one: True, worth_of=lambda one: one.evidence, top_k=top_k, weights=DEFAULT, **more
    )
    return [one.record.source.event_id for one in answer]


def test_best_first_and_no_more_than_asked() -> None:
    found = [judged(memory(name, f"text {name}"), value) for name, value in (("a", 1), ("b", 3), ("c", 2))]
    assert chosen(*found) == ["b", "c", "a"]
    assert chosen(*found, top_k=2) == ["b", "c"]


def test_same_words_are_said_once() -> None:
    assert chosen(judged(memory("a", "I like tea."), 2), judged(memory("b", "i like TEA！"), 1)) == ["a"]


def test_what_another_one_replaces_is_left_out() -> None:
    old = judged(memory("latte", "Likes latte", layer=Layer.FACT), 5)
    new = judged(memory("americano", "Likes Americano", layer=Layer.FACT, supersedes=("mem_latte",)), 1)
    assert chosen(old, new) == ["americano"]
    assert chosen(old, new, keep_superseded=True) == ["latte", "americano"]


def test_a_fact_stands_before_the_episode_it_came_from() -> None:
    episode = judged(memory("e", "I always take the window seat"), 3)
    fact = judged(memory("f", "Prefers the window", layer=Layer.FACT, sources=({"event_id": "e"},)), 1)
    other = judged(memory("o", "Something else"), 2)
    answer = select(
        [episode, other, fact],
        enough=lambda one: True,
        worth_of=lambda one: one.evidence,
        top_k=5,
        weights=DEFAULT,
    )
    assert [one.record.memory_id for one in answer] == ["mem_f", "mem_e", "mem_o"]


def test_an_ambiguous_pair_comes_together() -> None:
    one = judged(memory("nine", "Remind me at 9", ambiguous_with=("mem_eleven",)), 5)
    between = judged(memory("x", "Other"), 3)
    two = judged(memory("eleven", "Remind me at 11", ambiguous_with=("mem_nine",)), 1)
    assert chosen(one, between, two) == ["nine", "eleven", "x"]


def test_a_turn_beside_a_listed_one_counts_less() -> None:
    top = judged(memory("a", "one"), 3, "mem_b")
    beside = judged(memory("b", "two"), 2.0)
    apart = judged(memory("c", "three"), 1.9)
    assert chosen(top, beside, apart) == ["a", "c", "b"]


def test_likeness_to_the_best_counts_far_down_only() -> None:
    found = [judged(memory(name, f"Text {name}"), 8 - place) for place, name in enumerate("abcdefgh")]
    later = dict.fromkeys(("mem_e", "mem_h"), 2.5)
    answer = select(
        found, enough=lambda one: True, worth_of=lambda one: one.evidence, top_k=8, weights=DEFAULT, later=later
    )
    assert "".join(one.record.source.event_id for one in answer) == "abcdehfg"


def asked(**more: object) -> RecallRequest:
    return RecallRequest.model_validate({"namespace": "shop", "user_id": "1", "query": "q", **more})


@pytest.mark.parametrize(
    ("fields", "request_fields"),
    [
        ({}, {"layers": ["fact"]}),
        ({}, {"types": ["preference"]}),
        ({"tags": ("work",)}, {"tags": ["home"]}),
        ({}, {"session_id": "other"}),
        ({}, {"since": (START + DAY).isoformat()}),
        ({}, {"until": START.isoformat()}),
        ({"status": MemoryStatus.DUPLICATE}, {}),
        ({"status": MemoryStatus.SUPERSEDED}, {}),
        ({"superseded_by": "mem_x"}, {}),
        ({"layer": Layer.FACT, "valid_until": START}, {}),
        ({"superseded_at": START}, {"as_of": (START + DAY).isoformat()}),
        ({}, {"as_of": (START - DAY).isoformat()}),
    ],
)
def test_hidden(fields: dict[str, object], request_fields: dict[str, object]) -> None:
    record = memory("a", "text", **fields)  # type: ignore[arg-type]
    assert hidden(record, asked(**request_fields), START + DAY)


@pytest.mark.parametrize(
    ("fields", "request_fields"),
    [
        ({}, {}),
        ({"status": MemoryStatus.SUPERSEDED}, {"include_superseded": True}),
        ({"status": MemoryStatus.SUPERSEDED, "superseded_at": START + 3 * DAY}, {"as_of": (START + DAY).isoformat()}),
        ({"status": MemoryStatus.ARCHIVED}, {}),
        ({"tags": ("work",)}, {"tags": ["work", "home"]}),
    ],
)
def test_shown(fields: dict[str, object], request_fields: dict[str, object]) -> None:
    record = memory("a", "text", **fields)  # type: ignore[arg-type]
    assert hidden(record, asked(**request_fields), START + DAY) is None
