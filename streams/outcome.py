"""What became of a record: a value, mapped to ack, dead letter or back-off in one place (`streams.runner`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outbound:
    """A record to produce; `topic` without the prefix unless it comes from a reply header (`exact`)."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """Handled. `emit` is acknowledged by the broker before the input is."""

    emit: tuple[Outbound, ...] = ()


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Known already: nothing changed. `emit` carries a reply, if one was asked for."""

    emit: tuple[Outbound, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """Deliberately not processed further."""

    reason: str
    emit: tuple[Outbound, ...] = ()


@dataclass(frozen=True, slots=True)
class Parked:
    """Can't be processed: goes to the dead letters byte for byte. `emit` tells later stages."""

    stage: str
    reason: str
    emit: tuple[Outbound, ...] = ()
    exception: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """A dependency is down: stay on this record and back off. `after` in seconds, when the dependency said so."""

    dependency: str
    after: float | None = None


Outcome = Done | Duplicate | Skipped | Parked | Retry
