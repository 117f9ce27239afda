"""Looking up words, or a look by RE2, before searching loses no match."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streams.memory.extraction as extraction
from streams.memory.extraction.cued import Cued


def _all_cued() -> Iterator[tuple[str, Cued]]:
    for found in pkgutil.walk_packages(extraction.__path__, f"{extraction.__name__}."):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            # Looks before another search that wants whole words: it may find more than that.
            if isinstance(value, Cued) and name != "_ANY_EMOTION":
                yield f"{found.name}.{name}", value
    from streams.memory.extraction import contrast, details

    yield from ((f"emotion {name}", one) for name, one in details._EMOTION.items())
    yield from ((f"contrast {place}", one) for place, (one, _) in enumerate(contrast._CONTRASTS))


CUED = dict(_all_cued())


@pytest.mark.parametrize("name", CUED)
@settings(max_examples=20)
@given(data=st.data())
def test_whatever_an_expression_matches_is_found(name: str, data: st.DataObject) -> None:
    cued = CUED[name]
    text = data.draw(st.from_regex(cued.expression))
    match = cued.expression.search(text)
    found = cued.search(text)
    assert (match and match.span()) == (found and found.span())


def test_a_text_without_its_words_is_not_searched() -> None:
    cued = Cued("tea", r"\b(?:tea|coffee)\b")
    assert cued.search("Coffee?") is None
    assert cued.search("TEA?") is not None
    assert cued.search("喝 coffee 吗") is not None
