"""Which model the vectors were made by. A store is never opened with another one: the scores would mean nothing."""

from __future__ import annotations

from typing import Any

from streams.errors import ConfigurationError
from streams.ports import ModelProfile

FORMAT = 2


def manifest_of(profile: ModelProfile) -> dict[str, Any]:
    return {"format": FORMAT, "model": profile.name, "dimension": profile.dimension}


def check_manifest(found: dict[str, Any], profile: ModelProfile) -> None:
    """Raises `ConfigurationError` with the fix."""
    if found.get("format") != FORMAT:
        raise ConfigurationError(
            f"the store has format {found.get('format')!r}, this version reads {FORMAT}: run `memstream rebuild`"
        )
    if (found.get("model"), found.get("dimension")) != (profile.name, profile.dimension):
        raise ConfigurationError(
            f"the store holds vectors of {found.get('model')} ({found.get('dimension')} dimensions), the embedder is "
            f"{profile.name} ({profile.dimension}): run `memstream rebuild` to embed everything anew, or configure "
            "the model that the store was made with"
        )
