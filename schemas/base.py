"""What all wire models share: version, tolerance of unknown fields, names of tenants, instants."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

SCHEMA_VERSION: Literal[1] = 1

MAX_NAME_CHARS = 256


class WireModel(BaseModel):
    """A record's value. Unknown fields are ignored, so that an older reader takes a newer writer's record."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    schema_version: Literal[1] = SCHEMA_VERSION

    def to_bytes(self) -> bytes:
        """UTF-8 JSON; fields that are None are left out."""
        return self.model_dump_json(exclude_none=True).encode()

    @classmethod
    def from_bytes(cls, value: bytes) -> Self:
        """Raises `pydantic.ValidationError`."""
        return cls.model_validate_json(value)


def _id_as_text(value: object) -> object:
    # 1001 and "1001" are the same user; True and 1.5 are not ids.
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


# One tenant's records come together, so nearly every name has just been looked at.
@lru_cache(maxsize=1024)
def _one_name(value: str) -> str:
    folded = unicodedata.normalize("NFKC", value).strip()
    if not folded or all(not c.isprintable() or unicodedata.category(c) == "Cf" for c in folded):
        raise ValueError("must not be blank")
    if set(folded) <= set("*%?"):
        raise ValueError("must name one tenant; wildcards are refused")
    if "\x00" in value:
        raise ValueError("must not contain NUL")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise ValueError("must be valid Unicode, without lone surrogates")
    return value


# One namespace or one user. Kept exactly as given (never trimmed, folded or lower-cased), so that two names that
# differ are two tenants.
# The lengths stand first: behind a validator of ours they would be checked in Python.
Name = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME_CHARS), BeforeValidator(_id_as_text), AfterValidator(_one_name)
]


def _as_utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie within the years 1 to 9999 of UTC") from None


def _iso(value: datetime) -> str:
    return (value if value.tzinfo is UTC else value.astimezone(UTC)).isoformat().removesuffix("+00:00") + "Z"


# A point in time: aware, in UTC, written as RFC 3339 with "Z". A naive input is taken as UTC.
Instant = Annotated[datetime, AfterValidator(_as_utc), PlainSerializer(_iso, return_type=str, when_used="json")]
