"""Vectors from any server that speaks the OpenAI embeddings API: OpenAI, vLLM, Ollama, text-embeddings-inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import BaseModel, SecretStr

from streams.adapters.embedders.profiles import find_profile
from streams.adapters.embedders.text import clean
from streams.adapters.embedders.vectors import unit_rows
from streams.adapters.openai_calls import CallPolicy, GuardedCalls, connect, read_answer
from streams.errors import ConfigurationError, DependencyDown
from streams.ports import ModelProfile, Vectors

PASSAGE_POLICY = CallPolicy(timeout_seconds=30.0)
# A recall has seconds: one quick retry, then lexical search must do.
QUERY_POLICY = CallPolicy(attempts=2, backoff_seconds=0.1, timeout_seconds=3.0)


class _Row(BaseModel):
    index: int
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Row]


class OpenAIEmbedder:
    """An `Embedder` over `POST {base_url}/embeddings`, through the openai SDK.

    `dimensions` is what the vectors must have: required for a model without a profile, and sent to the server when it
    differs from what a known model gives by itself. Vectors of another size, NaN, a wrong count and unreadable answers
    raise `DependencyDown`: nothing of them is ever returned. A refusal (too long, filtered) is of the whole batch.
    Queries have requests, retries and a circuit of their own and never wait behind passages.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "https://api.openai.com/v1",
        key: SecretStr | str | None = None,
        dimensions: int | None = None,
        batch_size: int = 64,
        deadline_seconds: float = 120.0,
        query_deadline_seconds: float = 5.0,
        policy: CallPolicy = PASSAGE_POLICY,
        query_policy: CallPolicy = QUERY_POLICY,
    ) -> None:
        known = find_profile(model)
        if known is None and dimensions is None:
            raise ConfigurationError(
                f"the dimension of the model {model} is not known: set MEMSTREAM_EMBEDDER_DIMENSION (`dimensions`)"
            )
        self._model = model
        self._profile = _profile(model, known, dimensions)
        self._extra: dict[str, Any] = {}
        if known is not None and known.dimension != self._profile.dimension:
            self._extra["dimensions"] = self._profile.dimension
        self._batch_size = batch_size
        self._deadline_seconds = deadline_seconds
        self._query_deadline_seconds = query_deadline_seconds
        self._client = connect(base_url, key, policy.timeout_seconds)
        self._passage_calls = GuardedCalls("embedder", policy)
        self._query_calls = GuardedCalls("embedder", query_policy)

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    async def embed_query(self, text: str) -> Vectors:
        text = clean(text, self._profile.max_chars)
        if not text:
            return np.zeros(self._profile.dimension, np.float32)
        vectors = await self._embed(
            self._query_calls, [self._profile.query_prefix + text], self._query_deadline_seconds
        )
        return np.asarray(vectors[0], dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        cleaned = [clean(text, self._profile.max_chars) for text in texts]
        rows = [row for row, text in enumerate(cleaned) if text]
        vectors = np.zeros((len(cleaned), self._profile.dimension), np.float32)
        for start in range(0, len(rows), self._batch_size):
            batch = rows[start : start + self._batch_size]
            passages = [self._profile.passage_prefix + cleaned[row] for row in batch]
            vectors[batch] = await self._embed(self._passage_calls, passages, self._deadline_seconds)
        return vectors

    async def close(self) -> None:
        await self._client.close()

    async def _embed(self, calls: GuardedCalls, texts: list[str], deadline_seconds: float) -> Vectors:
        if self._client.is_closed():
            raise DependencyDown("embedder", "it is closed")

        async def call() -> Vectors:
            response = await self._client.embeddings.with_raw_response.create(
                input=texts, model=self._model, encoding_format="float", **self._extra
            )
            answer = read_answer(_Answer, response.content, "embedder")
            if sorted(row.index for row in answer.data) != list(range(len(texts))):
                raise DependencyDown("embedder", f"{len(answer.data)} vectors, or not one each, for {len(texts)} texts")
            ordered = sorted(answer.data, key=lambda row: row.index)
            return unit_rows([row.embedding for row in ordered], len(texts), self._profile.dimension)

        return await calls.run(call, deadline_seconds=deadline_seconds)


def _profile(model: str, known: ModelProfile | None, dimensions: int | None) -> ModelProfile:
    if known is None:
        return ModelProfile(name=model, dimension=dimensions or 0)
    if dimensions is None or dimensions == known.dimension:
        return known
    # Shortened vectors: what was measured on the full ones does not hold.
    return replace(known, name=f"{known.name}:{dimensions}", dimension=dimensions, mean=None, calibrated=False)
