"""What the core asks of the world: model and store interfaces. Adapters implement them, `streams.app` connects them.

Every interface has one behaviour suite in `tests/contract` that each adapter passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of an embedding model.

    `duplicate`, `conflict` and `recall` are cosine thresholds after centring on `mean` (when there is one);
    `calibrated` is False for a model on which they were never measured.
    """

    name: str
    dimension: int
    query_prefix: str = ""
    passage_prefix: str = ""
    max_chars: int = 1000
    mean: tuple[float, ...] | None = None
    duplicate: float = 0.95
    conflict: float = 0.85
    recall: float = 0.30
    calibrated: bool = False


class Embedder(Protocol):
    """Text to unit vectors. Queries have their own thread and never wait behind a batch of passages.

    Raises `DependencyDown("embedder")` when the same call may succeed later, `Refused("embedder")` when it won't.
    """

    @property
    def profile(self) -> ModelProfile: ...

    async def embed_query(self, text: str) -> Vectors:
        """One query: shape (dimension,), float32, L2 norm 1 (zeros for a text without any token)."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages: shape (len(texts), dimension), rows as in `embed_query`. Texts over `max_chars` are cut."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ChatTurn:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """`text` as the model wrote it; token counts are 0 when the server did not say."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ChatModel(Protocol):
    """An OpenAI-compatible chat model.

    Raises `DependencyDown("chat")` (connection, 5xx, 429, time-out, open circuit) or `Refused("chat")` (4xx on
    this input). An empty or cut-off answer is returned as it is: the caller knows what it can salvage.
    """

    @property
    def name(self) -> str: ...

    async def complete(
        self,
        turns: Sequence[ChatTurn],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        deadline_seconds: float = 60.0,
    ) -> ChatReply: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids (uint32, ascending, unique) and their weights; IDF is applied by the store."""

    indices: tuple[int, ...] = ()
    values: tuple[float, ...] = field(default=())
