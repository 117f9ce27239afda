"""API keys: who may do what in which namespaces. The file holds their SHA-256, never the keys.

A key is `msk_<id>_<secret>`. The secret has 256 random bits, so a plain digest can't be searched; the id only finds the
row, and the comparison takes the same time whether or not there is one.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import tempfile
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from schemas import Instant, Name
from streams.errors import ConfigurationError

log = logging.getLogger(__name__)

Verb = Literal[
    "write",
    "query",
    "update",
    "delete",
    "forget",
    "restore",
    "profile",
    "history",
    "turns",
    "export",
    "import",
    "import-status",
    "import-cancel",
]
VERBS: tuple[Verb, ...] = get_args(Verb)
PREFIX = "msk"
NOBODY = hashlib.sha256(b"").hexdigest()


def _rate(value: str) -> str:
    if value:
        from limits import parse

        parse(value)
    return value


class ApiKey(BaseModel):
    """One row of the file. `rate`: such as `600/minute`; empty: MEMSTREAM_HTTP_RATE."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[0-9a-f]{12}$")
    name: str = Field(min_length=1, max_length=100)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    namespaces: tuple[Name, ...] = Field(min_length=1)
    default_namespace: Name
    verbs: tuple[Verb, ...] = Field(min_length=1)
    rate: Annotated[str, AfterValidator(_rate)] = ""
    created_at: Instant | None = None

    @model_validator(mode="after")
    def _default_is_one_of_them(self) -> ApiKey:
        if self.default_namespace not in self.namespaces:
            raise ValueError("default_namespace must be one of namespaces")
        return self


class KeyFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    keys: tuple[ApiKey, ...] = ()


def new_key(**fields: object) -> tuple[str, ApiKey]:
    """A key, to be shown once, and its row. Raises `pydantic.ValidationError`."""
    key_id = secrets.token_hex(6)
    token = f"{PREFIX}_{key_id}_{secrets.token_urlsafe(32)}"
    return token, ApiKey.model_validate({**fields, "id": key_id, "sha256": digest(token)})


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def read_keys(path: Path) -> tuple[ApiKey, ...]:
    """No file: no keys. Raises `ConfigurationError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} can't be read ({type(error).__name__})") from None
    try:
        keys = KeyFile.model_validate_json(text).keys
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{path} is not a file of API keys: {place}: {first['msg']}") from None
    if len({key.id for key in keys}) < len(keys):
        raise ConfigurationError(f"{path} has the same key id twice")
    return keys


def write_keys(path: Path, keys: tuple[ApiKey, ...]) -> None:
    """All or nothing, readable by the owner alone. Raises `ConfigurationError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(KeyFile(keys=keys).model_dump_json(indent=2, exclude_none=True) + "\n")
        Path(temporary).replace(path)
    except OSError as error:
        raise ConfigurationError(f"{path} can't be written ({error.strerror})") from None


class KeyRing:
    """The keys of a file, read again when it changes. Raises `ConfigurationError` when it is bad from the start."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = self._stamp_now()
        self._keys = {key.id: key for key in read_keys(path)}

    def __len__(self) -> int:
        return len(self._keys)

    def verify(self, token: str) -> ApiKey | None:
        """The key's row, or None."""
        self._look()
        key_id = token.split("_")[1] if token.count("_") >= 2 else ""
        found = self._keys.get(key_id)
        same = hmac.compare_digest(digest(token), found.sha256 if found else NOBODY)
        return found if same else None

    def _look(self) -> None:
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._keys = {key.id: key for key in read_keys(self._path)}
        except ConfigurationError as error:
            log.error("the API keys stay as they were: %s", error)
        else:
            log.info("API keys read again: %d", len(self._keys))

    def _stamp_now(self) -> tuple[int, int, int]:
        try:
            found = self._path.stat()
        except OSError:
            return (0, 0, 0)
        return (found.st_mtime_ns, found.st_size, found.st_ino)
