"""What a window would do to the memories of a tenant, and why: the rules of the window without carrying them out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from schemas.memory import Layer, MemoryRecord, MemoryStatus
from streams.memory.decay.digest import fold_session
from streams.memory.decay.due import due
from streams.memory.decay.evidence import ENOUGH_SESSIONS, LATE, may_gain, with_evidence
from streams.memory.decay.windows import WINDOW

Action = Literal["erase", "close", "fold", "archive", "strengthen"]


@dataclass(frozen=True, slots=True)
class Planned:
    """`memory_ids`: one memory, or the episodes that become one digest."""

    action: Action
    memory_ids: tuple[str, ...]
    reason: str


def plan(memories: Iterable[MemoryRecord], window_end: datetime, retention: timedelta | None = None) -> list[Planned]:
    """In the order in which the window does it. `memories`: all of one tenant, every status and the archive."""
    by_id = {memory.memory_id: memory for memory in memories}
    planned: list[Planned] = []
    if retention is not None:
        ended = [i for i, memory in by_id.items() if memory.occurred_at < window_end - retention]
        planned = [Planned("erase", (i,), f"was said more than {retention.days} days ago") for i in ended]
        by_id = {i: memory for i, memory in by_id.items() if i not in set(ended)}
    sessions: dict[str, list[MemoryRecord]] = defaultdict(list)
    repeats: dict[str, list[MemoryRecord]] = defaultdict(list)
    for memory in by_id.values():
        if memory.layer is Layer.EPISODE and memory.session_id:
            sessions[memory.session_id].append(memory)
        if memory.layer is Layer.FACT and memory.status is MemoryStatus.DUPLICATE and memory.duplicate_of:
            repeats[memory.duplicate_of].append(memory)
    verdicts = {memory_id: due(memory, window_end) for memory_id, memory in by_id.items()}
    planned += [Planned("close", (i,), verdict.reason) for i, verdict in verdicts.items() if verdict.action == "close"]
    folded: set[str] = set()
    for session in sessions.values():
        if (fold := fold_session(session, window_end)) is not None:
            ids = tuple(episode.memory_id for episode in fold.archived)
            folded.update(ids)
            last = max(episode.occurred_at for episode in fold.archived)
            planned.append(Planned("fold", ids, f"a session that ended on {last:%Y-%m-%d} becomes one digest"))
    planned += [
        Planned("archive", (i,), verdict.reason)
        for i, verdict in verdicts.items()
        if verdict.action == "archive" and i not in folded
    ]
    since = window_end - WINDOW - LATE
    planned += [
        Planned("strengthen", (i,), f"said in {ENOUGH_SESSIONS} sessions or more")
        for i, memory in by_id.items()
        if may_gain(memory, since) and with_evidence(memory, repeats[i], window_end) is not memory
    ]
    return planned
