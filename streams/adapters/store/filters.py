"""Conditions on payloads in the engine's place: plain values, so that nothing a user wrote is ever parsed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from schemas import Tenant
from streams.adapters.store.layout import PointId
from streams.ports import Where


@dataclass(frozen=True, slots=True)
class Match:
    """The field (or one of its elements) equals one of `values`."""

    key: str
    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The instant lies in the half-open interval `[since, until)`, either side open; naive ones are UTC."""

    key: str
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            instant = getattr(self, name)
            if instant is not None and instant.tzinfo is None:
                object.__setattr__(self, name, instant.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Ids:
    ids: tuple[PointId, ...]


Condition = Match | Between | Ids
# All must hold.
Filter = tuple[Condition, ...]


def of_tenant(tenant: Tenant, *more: Condition) -> Filter:
    return (Match("tenant", (tenant.key,)), *more)


def memories(tenant: Tenant, where: Where) -> Filter:
    """`where` inside one tenant."""
    keyed = (
        ("layer", where.layers),
        ("memory_type", where.types),
        ("status", where.statuses),
        ("tags", where.tags),
        ("entities", where.entities),
        ("slot", where.slots),
        ("session_id", where.sessions),
        ("event_ids", where.event_ids),
    )
    conditions: list[Condition] = [Match(key, tuple(str(value) for value in values)) for key, values in keyed if values]
    if where.since is not None or where.until is not None:
        conditions.append(Between("occurred_at", where.since, where.until))
    return of_tenant(tenant, *conditions)
