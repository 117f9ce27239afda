"""The embedded store's folder, the new one that a rebuild makes beside it, and how that takes its place.

It does so by whoever has the store: the rebuild itself, or the worker, which is then asked by a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from pydantic import BaseModel

from streams.errors import ConfigurationError
from streams.settings import Settings


def discard(folder: Path) -> None:
    """Begin anew."""
    rmtree(new_folder(folder), ignore_errors=True)


def switch(folder: Path) -> None:
    """Put the new store in the place of the old one, which is left to be removed. `mend` mends a crash in between."""
    old = old_folder(folder)
    rmtree(old, ignore_errors=True)
    folder.rename(old)
    new_folder(folder).rename(folder)


def mend(folder: Path) -> None:
    """After a crash in `switch`: between the renames the new store was whole."""
    if folder.exists() or not old_folder(folder).exists():
        return
    new = new_folder(folder)
    (new if new.exists() else old_folder(folder)).rename(folder)


def new_folder(folder: Path) -> Path:
    return folder.with_name(folder.name + ".new")


def old_folder(folder: Path) -> Path:
    return folder.with_name(folder.name + ".old")


class Wanted(BaseModel):
    """What a worker is asked for: the model of the new store, as it was configured where that was made."""

    embedder: str
    embedder_base_url: str
    embedder_dimension: int | None
    model_profile: Path | None

    @classmethod
    def by(cls, settings: Settings) -> Wanted:
        profile = settings.model_profile
        return cls.model_validate(
            {**settings.model_dump(include=set(cls.model_fields)), "model_profile": profile and profile.absolute()}
        )

    def applied(self, settings: Settings) -> Settings:
        """Keys are not in it: they are the worker's own."""
        return settings.model_copy(update=dict(self))


def ask(folder: Path, settings: Settings) -> None:
    """Ask the worker that has the store for the switch."""
    refusal(folder).unlink(missing_ok=True)
    part = _request(folder).with_suffix(".part")
    part.write_text(Wanted.by(settings).model_dump_json(), encoding="utf-8")
    part.replace(_request(folder))


def wanted(folder: Path) -> Wanted | None:
    """What was asked for and is to be done; what has been done is taken away."""
    request = _request(folder)
    if not request.exists():
        return None
    if not new_folder(folder).exists():
        request.unlink(missing_ok=True)
        return None
    return Wanted.model_validate_json(request.read_bytes())


def asked(folder: Path) -> bool:
    return _request(folder).exists()


def withdraw(folder: Path) -> None:
    """Nobody need do what was asked for."""
    _request(folder).unlink(missing_ok=True)


def refuse(folder: Path, why: str) -> None:
    refusal(folder).write_text(why, encoding="utf-8")
    _request(folder).unlink(missing_ok=True)


def refusal(folder: Path) -> Path:
    """Holds why a worker refused."""
    return folder.with_name(folder.name + ".refused")


def _request(folder: Path) -> Path:
    return folder.with_name(folder.name + ".switch")


def in_use(folder: Path) -> bool:
    """Whether somebody has the store open."""
    if not folder.exists():
        return False
    try:
        with sole_owner(folder):
            return False
    except ConfigurationError:
        return True


@contextmanager
def sole_owner(folder: Path) -> Iterator[None]:
    """Raises `ConfigurationError` while a worker has the store open."""
    import portalocker

    from streams.adapters.store.edge import LOCK

    mend(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as holder:
        try:
            portalocker.lock(holder, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.LockException:
            raise ConfigurationError("a worker has the embedded store open: stop it first") from None
        yield
