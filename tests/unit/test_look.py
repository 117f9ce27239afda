"""A look by RE2 before a search loses no match, whatever stands around it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streams.memory.extraction as extraction
from streams.memory.extraction.patterns import table
from streams.memory.extraction.signals import _ENGLISH
from streams.memory.look import Look, Looked
from streams.memory.timephrases import en


def _expressions() -> Iterator[tuple[str, re.Pattern[str]]]:
    for found in pkgutil.iter_modules(extraction.__path__):
        module = importlib.import_module(f"{extraction.__name__}.{found.name}")
        for name, value in vars(module).items():
            # Of `plain._CODE`, which looks ahead for what must follow, hypothesis can make no example.
            if isinstance(value, Looked) and name != "_CODE":
                yield f"{found.name}.{name}", value.expression
    yield from ((f"wording {n}", one.expression.expression) for n, one in enumerate(table("en")))
    yield from ((f"signal {n}", one) for n, one in enumerate(_ENGLISH.expressions) if one.pattern)
    yield from ((f"time {n}", re.compile(one.regex)) for n, one in enumerate(en.build().patterns))


EXPRESSIONS = dict(_expressions())
# ASCII, what counts as one character, and letters and spaces beyond.
SEEN = st.one_of(st.characters(max_codepoint=127), st.sampled_from("’“”—–…€😀，。"), st.sampled_from("éß中文\u3000ı"))
AROUND = st.text(SEEN, max_size=6)


@pytest.mark.parametrize("name", EXPRESSIONS)
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_an_expression_matches_is_seen(name: str, data: st.DataObject) -> None:
    expression = EXPRESSIONS[name]
    said = data.draw(st.from_regex(expression))
    text = data.draw(st.sampled_from([said, said.encode("ascii", "ignore").decode()]))
    text = data.draw(AROUND) + text + data.draw(AROUND)
    if expression.search(text):
        assert Look(expression, wide=True).may(text)
    if expression.match(text):
        assert Look(expression, anchored=True, wide=True).may(text)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"a\sb$", "a\x1cb\n"),
        (r"(?P<q>['’\"])\w+(?P=q)", "he said 'so'"),
        (r"[^，。]b", "’b"),
        (r"(?<!x)(?:(?!\d)[\W_]){0,3}9{2,}", "a—_99"),
        (r"\bI\b", "—I—"),
        (r"\bété\b", "l'été"),
        (r"[\u4e00-\u9fff]{2}", "中文"),
        (r"^b", "a\nb"),
        (r"\w{3}\b", "für"),
        (r"(?<!\S)[^\W\d]{2}\s\d", "中文\u3000３"),
        (r"(?i)pin", "PıN"),
        (r"[^，\s]了", "好了"),
        (r"(?a)\bpin\b", "我的pin是"),
        (r"(?s)a(?P<x>.)(?P=x)b", "a中中b"),
        (r"\b(?:is|model)\W+(?=[A-Z-]*\d)[A-Z]{1,6}-?[A-Z]?\d{3,}\b", "the model is XPS-1234."),
    ],
)
def test_what_re2_reads_otherwise(expression: str, text: str) -> None:
    compiled = re.compile(expression, re.MULTILINE if expression.startswith("^") else 0)
    assert compiled.search(text)
    for around in ("", "é", "中", "’"):
        if compiled.search(around + text + around):
            assert Look(compiled, wide=True).may(around + text + around)


def test_a_look_tells_which() -> None:
    look = Look(*map(re.compile, (r"tea(?=s)", r"\bcoffee\b", r"milk{2}")), wide=True)
    assert sorted(look.which("teas and coffee")) == [0, 1]
    assert sorted(look.which("喝 coffee 吗")) == [1]
    assert list(look.which("water")) == list(look.which("茶")) == []
    assert Looked(r"\bcoffee\b").search("decoffeed") is None
