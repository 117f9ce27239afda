"""Fences: what is forgotten and must not come back, whichever way it arrives again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from schemas.control import Fence, ForgetCommand
from schemas.events import CandidateEvent, RedactedEvent
from schemas.memory import MemoryRecord

# `Fence.until` is exclusive: the fence of "all" ends just behind the newest instant that it must cover.
_TICK = timedelta(microseconds=1)


def fence_of(command: ForgetCommand, newest_stored: datetime | None, now: datetime) -> Fence:
    """The fence of a command.

    "all", a session and an open interval cover what is dated up to the latest of `now` and the newest stored event
    time, so that what the user says after the command is remembered. `now`: append time of the command. The id is the
    command's: told twice, one fence.
    """
    since, until = command.since, command.until
    if command.scope == "all":
        since, until = None, max(now, newest_stored or now) + _TICK
    elif command.scope in ("interval", "session") and until is None:
        until = max(now, newest_stored or now) + _TICK
    return Fence(
        namespace=command.namespace,
        user_id=command.user_id,
        fence_id=command.command_id,
        scope=command.scope,
        since=since,
        until=until,
        session_id=command.session_id,
        ids=command.event_ids if command.scope == "events" else command.memory_ids,
        created_at=now,
    )


def blocked_by(
    fences: Iterable[Fence], item: MemoryRecord | RedactedEvent | CandidateEvent, *, after_forget: bool = False
) -> Fence | None:
    """The first fence that forbids `item`, None when it may pass.

    `after_forget` (an event's own flag counts too): old history imported on purpose passes the fences of "all",
    an interval and a session; ids that were named are never taken back.
    """
    willing = after_forget or (not isinstance(item, MemoryRecord) and item.after_forget)
    return next((fence for fence in fences if _blocks(fence, item, willing)), None)


def _blocks(fence: Fence, item: MemoryRecord | RedactedEvent | CandidateEvent, willing: bool) -> bool:
    if (fence.namespace, fence.user_id) != (item.namespace, item.user_id):
        return False
    match fence.scope:
        case "events":
            events = (item.source.event_id,) if isinstance(item, MemoryRecord) else (item.event_id,)
            return any(event in fence.ids for event in events)
        case "memories":
            return isinstance(item, MemoryRecord) and item.memory_id in fence.ids
        case "session":
            return not willing and item.session_id == fence.session_id and _inside(fence, item.occurred_at)
        case "all" | "interval":
            return not willing and _inside(fence, item.occurred_at)


def _inside(fence: Fence, moment: datetime | None) -> bool:
    if moment is None:
        return True
    return (fence.since is None or moment >= fence.since) and (fence.until is None or moment < fence.until)
