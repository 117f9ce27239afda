"""Chat leaves apostrophes out; what is kept stays in its words and where they stand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.memory.extraction.contractions import Restored
from tests.unit.extraction.events import extract

READ = {
    "im vegan, dont call": "i'm vegan, don't call",
    "Shes late and theyre not": "She's late and they're not",
    "ive been, cant stay": "i've been, can't stay",
    "I'm here and don't go": "I'm here and don't go",
}
AS_IT_IS = ("IM me", "ich wohne im Haus", "its well, we were", "id please", "imdont", "antidont", "dont-know")
KEPT = {
    "im allergic to nuts": ("allergy", "nuts"),
    "my name is jo. shes late, im vegan": ("diet", "vegan"),
    "hi all\ni dont eat pork": ("diet", None),
}


@pytest.mark.parametrize("message", READ)
def test_a_missing_apostrophe_is_read(message: str) -> None:
    assert Restored(message).text == READ[message]


@pytest.mark.parametrize("message", AS_IT_IS)
def test_other_words_stay(message: str) -> None:
    assert Restored(message).text == message


@given(st.lists(st.sampled_from(["im", "dont", "I'm", "vegan", "，", "\n", "shes", "ok.", "Im"])).map(" ".join))
def test_every_place_leads_back(message: str) -> None:
    read = Restored(message)
    places = [read.place(at) for at in range(len(read.text) + 1)]
    assert places[0] == 0
    assert places[-1] == len(message)
    assert all(later - earlier in (0, 1) for earlier, later in pairwise(places))
    assert read.words(read.text, 0, len(read.text)) == message


@pytest.mark.parametrize("message", KEPT)
def test_what_is_kept_is_in_the_words_of_the_message(message: str) -> None:
    found = extract(message)
    attribute, value = KEPT[message]
    one = next(candidate for candidate in found.candidates if candidate.attribute == attribute)
    assert one.content in message
    assert message[one.start : one.end] == one.content
    assert value is None or one.value == value
    assert all(0 <= trace.start < trace.end <= len(message) for trace in found.trace)
