"""Any sentence-transformers model from a local directory or the local Hugging Face cache. Nothing is fetched."""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from streams.adapters.embedders.profiles import find_profile
from streams.adapters.embedders.threads import Encode, ThreadedEmbedder
from streams.errors import ConfigurationError
from streams.ports import ModelProfile, Vectors

# Read when the libraries are imported. What the user set stays.
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",  # else a warning after every fork
}


def load_sentence_transformers(
    model: str, *, device: str = "cpu", threads: int = 1, profile_name: str | None = None
) -> ThreadedEmbedder:
    """Load `model`, a directory or a name that is in the local Hugging Face cache already.

    `threads` is what PyTorch may use for each of the two threads. `profile_name` names the profile of a directory
    whose own name does not tell the model. Raises `ConfigurationError` when the extra or the model is missing.
    """
    loaded = _load(model, device)
    import torch

    torch.set_num_threads(threads)
    profile = _profile_of(profile_name or model, loaded)
    return ThreadedEmbedder(
        profile,
        _encoder(twin_model(loaded), profile.query_prefix, threads),
        _encoder(loaded, profile.passage_prefix, threads),
    )


def _load(model: str, device: str) -> Any:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ImportError as error:
        raise ConfigurationError(
            "sentence-transformers is not installed: pip install 'memstream[sentence-transformers]'"
        ) from error
    disable_progress_bar()  # type: ignore[no-untyped-call,unused-ignore]
    directory = Path(model).expanduser()
    if (directory.is_absolute() or model.startswith((".", "~"))) and not directory.is_dir():
        raise ConfigurationError(f"there is no model directory {directory}")
    try:
        return SentenceTransformer(
            str(directory) if directory.is_dir() else model, device=device, local_files_only=True
        ).eval()
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigurationError(
            f"the model {model} can't be loaded from this machine ({type(error).__name__}). "
            f"Nothing is downloaded here: fetch it with `hf download {model}`, or give the directory that holds it"
        ) from error


def twin_model(model: Any) -> Any:
    """A second model over the same weights with a tokenizer of its own.

    Fast tokenizers keep truncation and padding as state, so two threads that share one can fail with "Already
    borrowed" (huggingface/tokenizers#537, huggingface/transformers#47085); tensors that are only read can be shared.
    """
    shared = {id(tensor): tensor for tensor in itertools.chain(model.parameters(), model.buffers())}
    return copy.deepcopy(model, shared)


def _encoder(model: Any, prefix: str, threads: int) -> Encode:
    import torch

    def encode(texts: Sequence[str]) -> Vectors:
        torch.set_num_threads(threads)  # OpenMP keeps it for each thread
        vectors = model.encode(
            [prefix + text for text in texts],
            prompt="",  # the profile's prefix takes the place of the model's own prompt
            batch_size=len(texts),
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(vectors, dtype=np.float32)

    return encode


def _profile_of(name: str, model: Any) -> ModelProfile:
    dimension = int(model.encode(["."], show_progress_bar=False).shape[1])
    known = find_profile(name)
    if known is None:
        prompts: dict[str, str] = dict(model.prompts or {})
        return ModelProfile(
            name=Path(name).name,
            dimension=dimension,
            query_prefix=prompts.get("query") or "",
            passage_prefix=prompts.get("passage") or prompts.get("document") or "",
        )
    if known.dimension != dimension:  # another model under a known name: nothing measured holds
        return replace(known, dimension=dimension, mean=None, calibrated=False)
    return known
