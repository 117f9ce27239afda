"""The door between a model and the store: what passes is finite, of the right shape and of length 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from streams.errors import DependencyDown
from streams.ports import Vectors


def unit_rows(raw: ArrayLike, rows: int, dimension: int) -> Vectors:
    """`raw` as float32 of shape (rows, dimension), every row divided by its L2 norm.

    Raises `DependencyDown("embedder")` on any other shape and on NaN, infinite or zero rows: a store accepts those
    and gives them back as nonsense later.
    """
    try:
        vectors = np.asarray(raw, dtype=np.float32)
    except (TypeError, ValueError):
        raise DependencyDown("embedder", "the vectors are not rows of numbers of one length") from None
    if vectors.shape != (rows, dimension):
        raise DependencyDown("embedder", f"vectors of shape {vectors.shape} instead of {(rows, dimension)}")
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise DependencyDown("embedder", "a vector holds NaN or infinity")
    if not norms.all():
        raise DependencyDown("embedder", "a vector is all zeros")
    return np.asarray(vectors / norms, dtype=np.float32)
