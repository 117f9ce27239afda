"""Questions that name somebody by what was said of them."""

from collections.abc import Sequence

import pytest

from schemas import Layer, MemoryRecord, RecallRequest
from streams.memory.ranking.bridge import bridged
from streams.memory.ranking.query import understand
from streams.memory.ranking.weights import DEFAULT
from tests.unit.ranking.making import START, memory


def fact(subject: str, attribute: str, value: str, **more: object) -> MemoryRecord:
    fields: dict[str, object] = {"subject": subject, "attribute": attribute, "value": value, "cardinality": "single"}
    return memory(f"{subject}-{attribute}", f"{subject} {attribute} {value}", layer=Layer.FACT, **(fields | more))


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


def test_a_dialogue_asks_nothing_in_this_way() -> None:
    assert asked("user: My boss is nice.\nassistant: Good to hear.\nuser: What does my boss drink?") == set()
    assert asked("What does my boss drink?", []) == set()
