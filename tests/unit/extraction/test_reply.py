"""What can be read of a model's answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streams.memory.extraction.reply import items

TWO = [{"content": "likes tea"}, {"content": "lives in Bergen"}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps({"memories": TWO}), TWO),
        (json.dumps(TWO), TWO),
        (json.dumps({"facts": TWO}), TWO),
        (json.dumps(TWO[0]), TWO[:1]),
        (f"Sure, here you go:\n```json\n{json.dumps({'memories': TWO})}\n```\nAnything else?", TWO),
        (f"I found [2] things. {json.dumps({'memories': TWO})} Done.", TWO),
        ('{"memories": [{"content": "likes tea"}, {"content": "lives in Ber', TWO[:1]),
        ('```json\n{"memories": [{"content": "likes tea"}, {"content": "lives in Ber', TWO[:1]),
        ("<think>{}</think>" + json.dumps({"memories": TWO}), TWO),
        ('["likes tea", "lives in Bergen"]', TWO),
        ('{"memories": []}', []),
        ("[]", []),
    ],
)
def test_what_is_whole_is_kept(text: str, expected: list[dict[str, Any]]) -> None:
    assert items(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "nothing to add", "{", '{"memories": [{"content": "likes te', "[1, 2]", '{"error": [], "x": {}}', "null"],
)
def test_garbage_is_not_an_empty_list(text: str) -> None:
    assert items(text) is None


def test_lone_surrogates_are_dropped_whole_characters_stay() -> None:
    assert items('[{"content": "tea \\ud83d here \\ud83c\\udf75\\u0000"}]') == [{"content": "tea  here 🍵"}]


def test_an_endless_nest_does_not_hang_or_raise() -> None:
    assert items("[" * 100_000) is None
    assert items("{" * 100_000) is None
