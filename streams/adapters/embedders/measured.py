"""What `memstream calibrate` measured, as a file, and a model's profile with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from streams.errors import ConfigurationError
from streams.ports import ModelProfile

Cosine = Annotated[float, Field(ge=-1, le=1)]


class MeasuredProfile(BaseModel):
    """`mean` only when it was measured as well; `pairs`: on how many of each label the thresholds stand."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    model: str = Field(min_length=1)
    dimension: int = Field(ge=1)
    duplicate: Cosine
    conflict: Cosine
    recall: Cosine
    pairs: Mapping[str, int] = Field(default_factory=dict)
    mean: tuple[float, ...] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.mean is not None and len(self.mean) != self.dimension:
            raise ValueError("mean must have `dimension` numbers")
        if self.duplicate <= self.conflict:
            raise ValueError("duplicate must be over conflict")
        return self


def write_profile(path: Path, measured: MeasuredProfile) -> None:
    """Raises `ConfigurationError`."""
    try:
        path.write_text(measured.model_dump_json(exclude_none=True, indent=None) + "\n", "utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} can't be written: {error.strerror}") from None


def read_profile(path: Path) -> MeasuredProfile:
    """Raises `ConfigurationError`."""
    try:
        return MeasuredProfile.model_validate_json(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(f"MEMSTREAM_MODEL_PROFILE: {path} can't be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"MEMSTREAM_MODEL_PROFILE: {path}: {place}: {first['msg']}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"MEMSTREAM_MODEL_PROFILE: {path} is not UTF-8") from None


def with_measured(profile: ModelProfile, measured: MeasuredProfile) -> ModelProfile:
    """The profile with what was measured. Raises `ConfigurationError` when that was another model.

    Vectors around another mean are another space, so the name changes with the mean: a store made without it is
    refused until it is rebuilt.
    """
    if (measured.model, measured.dimension) != (profile.name, profile.dimension):
        raise ConfigurationError(
            f"MEMSTREAM_MODEL_PROFILE is of {measured.model} ({measured.dimension} dimensions), MEMSTREAM_EMBEDDER is "
            f"{profile.name} ({profile.dimension}): run `memstream calibrate` with this model, or take the other away"
        )
    name, mean = profile.name, profile.mean
    if measured.mean is not None:
        mean = measured.mean
        name = f"{name}+{hashlib.sha256(json.dumps(mean).encode()).hexdigest()[:8]}"
    return replace(
        profile,
        name=name,
        mean=mean,
        duplicate=measured.duplicate,
        conflict=measured.conflict,
        recall=measured.recall,
        calibrated=True,
    )
