"""The vector store: a Qdrant server, or the same engine in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from streams.errors import ConfigurationError
from streams.ports import MaintenanceScan, ModelProfile, VectorStore


class Store(VectorStore, MaintenanceScan, Protocol):
    """What one adapter is: everything about the memories of one deployment."""


def make_store(
    url: str | None, path: Path | None, profile: ModelProfile, *, api_key: str | None = None, prefix: str = ""
) -> Store:
    """A server at `url`, else the embedded store in the directory `path`. Nothing is opened yet.

    `prefix` begins the names of a server's collections.

    Raises `ConfigurationError` unless exactly one of the two is given.
    """
    if (url is None) == (path is None):
        raise ConfigurationError("set either the URL of a Qdrant server or the directory of the embedded store")
    if url is not None:
        from streams.adapters.store.qdrant import QdrantStore

        return QdrantStore(url, profile, api_key=api_key, prefix=prefix)
    assert path is not None
    from streams.adapters.store.edge import EdgeStore

    return EdgeStore(path, profile)
