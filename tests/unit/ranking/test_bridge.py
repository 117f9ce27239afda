"""Questions that name somebody by what was said of them."""

from collections.abc import Sequence

import pytest

from schemas import Layer, MemoryRecord, RecallRequest
from streams.memory.ranking.bridge import bridged
from streams.memory.ranking.query import understand
from streams.memory.ranking.weights import DEFAULT
from tests.unit.ranking.making import START, memory


def fact(subject: str, attribute: str, value: str, content: str = "", **more: object) -> MemoryRecord:
    fields: dict[str, object] = {"subject": subject, "attribute": attribute, "value": value, "cardinality": "single"}
    words = content or f"{subject} {attribute} {value}"
    return memory(f"{subject}-{attribute}", words, layer=Layer.FACT, **(fields | more))


KNOWN = [
    fact("user", "boss", "Li Wei"),
    fact("user", "age", "41"),
    fact("sister", "name", "Ada"),
    fact("sister", "employer", "Initech"),
    fact("妹妹", "employer", "字节跳动"),
    fact("user", "likes", "jazz", cardinality="multi"),
]


def asked(question: str, known: Sequence[MemoryRecord] = KNOWN) -> set[str]:
    request = RecallRequest(namespace="shop", user_id="1", query=question)
    return set(bridged(understand(request, START, DEFAULT), known))


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What does my boss like to drink?", {"li", "wei"}),
        ("What does my manager like to drink?", {"li", "wei"}),
        ("What does my sister's employer make?", {"ada", "initech"}),
        ("Which instrument does my sister play?", {"ada"}),
        ("我妹妹的公司是做什么的？", {"字节", "节跳", "跳动"}),
        # Neither somebody else's, nor what has been named already, nor what one has several of, nor a number.
        ("What does my brother's employer make?", set()),
        ("What does my boss Li Wei like?", set()),
        ("What do I like?", set()),
        ("What is usual at my age?", set()),
    ],
)
def test_what_a_question_means_by_other_words(question: str, meant: set[str]) -> None:
    assert asked(question) == meant


INTRODUCED = [
    fact("Ada", "employer", "Initech", content="My sister Ada works at Initech."),
    fact("小丽", "employer", "字节跳动", content="我表姐小丽在字节跳动上班。"),
    fact("Project Heron", "owner", "Marta", content="Order 4711 is for Project Heron, led by Marta."),
    fact("user", "", "", content="My dentist is Dr. Okafor."),
    fact("user", "", "", content="My car is blue."),
    fact("user", "", "", content="我的房东是李先生。"),
]


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What does my sister's employer make?", {"ada", "initech"}),
        ("What does the company my sister works for make?", {"ada", "initech"}),
        ("Which instrument does my sister play?", {"ada"}),
        ("我表姐的公司最近推出了什么？", {"小丽", "字节", "节跳", "跳动"}),
        ("我表姐喜欢什么乐器？", {"小丽"}),
        ("Where is my dentist's practice now?", {"dr", "okafor"}),
        ("什么时候能联系到我的房东？", {"李先", "先生"}),
        # Named already, somebody else's, and words that stand elsewhere in the sentence.
        ("Which instrument does my sister Ada play?", set()),
        ("What does my brother's employer make?", set()),
        ("When does order 4711 arrive?", set()),
        ("What did I say about my car?", set()),
    ],
)
def test_who_somebody_is_may_be_said_on_the_way(question: str, meant: set[str]) -> None:
    assert asked(question, INTRODUCED) == meant


def test_what_is_of_another_is_not_ones_own() -> None:
    own = fact("user", "employer", "Globex")
    assert asked("What does my sister's employer make?", [*INTRODUCED, own]) == {"ada", "initech"}
    assert asked("What does my employer make?", [*INTRODUCED, own]) == {"globex"}


def test_a_dialogue_asks_nothing_in_this_way() -> None:
    assert asked("user: My boss is nice.\nassistant: Good to hear.\nuser: What does my boss drink?") == set()
    assert asked("What does my boss drink?", []) == set()
