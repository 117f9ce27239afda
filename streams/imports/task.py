"""What an import is, and how far it has come. Pure: no clock, no Kafka.

An event's id is a digest of who, when and what, so that the same conversation is the same event in whatever file it
comes, and the id of a task is a digest of its events and of how many were refused:
the same file is the same task, which goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import BaseModel, ValidationError

from schemas import ConversationEvent, Job, Receipt, Tenant
from streams.imports.conversations import Conversation, Problem, Unusable
from streams.limits import MAX_RECORD_BYTES

# A task is one record on Kafka, which names its events.
MOST_CONVERSATIONS = 50_000


class Batch(NamedTuple):
    """`refused` counts by "import:reason"; `problems` are those of them that `batch` itself refused."""

    tenant: Tenant
    task_id: str
    events: Sequence[ConversationEvent]
    refused: Mapping[str, int]
    problems: Sequence[Problem] = ()


class Received(NamedTuple):
    """A receipt, and when it was written."""

    receipt: Receipt
    at: datetime


class ImportStatus(BaseModel):
    """`queued`: no outcome yet. `failed`: parked or refused. `reasons` counts them and the skipped, by "stage:reason".

    `per_second` and `remaining_seconds` are there once something has an outcome.
    """

    task_id: str
    state: Literal["running", "done", "cancelled"]
    total: int
    queued: int = 0
    stored: int = 0
    duplicate: int = 0
    skipped: int = 0
    failed: int = 0
    reasons: Mapping[str, int] = {}
    per_second: float | None = None
    remaining_seconds: float | None = None


def batch(
    tenant: Tenant, conversations: Iterable[Conversation], *, unread: int = 0, timezone: str | None = None
) -> Batch:
    """`unread`: items that were no conversation. Raises `Unusable` for more than a task can hold."""
    events: dict[str, ConversationEvent] = {}
    refused = Counter({"import:invalid": unread} if unread else {})
    problems: list[Problem] = []
    repeats: Counter[str] = Counter()
    for one in conversations:
        said = json.dumps(
            [
                tenant.key,
                one.time and one.time.isoformat(),
                [(m.role, m.speaker, m.time and m.time.isoformat(), m.text) for m in one.messages],
            ]
        )
        # Those that are the same word for word are told apart by their number, whatever is added before them.
        event_id = "imp_" + hashlib.sha256(f"{repeats[said]}{said}".encode()).hexdigest()[:32]
        repeats[said] += 1
        try:
            event = ConversationEvent(
                event_id=event_id,
                namespace=tenant.namespace,
                user_id=tenant.user_id,
                session_id=one.session_id,
                occurred_at=one.time,
                timezone=timezone,
                messages=one.messages,
            )
            size = len(event.to_bytes())
        except (ValidationError, ValueError):
            refused["import:invalid"] += 1
            problems.append(Problem(one.where, "its text, session or speaker is no Unicode text"))
            continue
        if size > MAX_RECORD_BYTES:
            refused["import:too_large"] += 1
            problems.append(Problem(one.where, f"has more than {MAX_RECORD_BYTES // 1024**2} MiB"))
        else:
            events[event_id] = event
    if len(events) > MOST_CONVERSATIONS:
        raise Unusable(f"{len(events)} conversations; a task has at most {MOST_CONVERSATIONS}: split the file")
    counts = (f"{reason}={count}" for reason, count in sorted(refused.items()))
    digest = hashlib.sha256("\n".join((tenant.key, *sorted(events), *counts)).encode()).hexdigest()
    return Batch(tenant, f"task_{digest[:32]}", list(events.values()), refused, problems)


def status_of(job: Job, received: Mapping[str, Received]) -> ImportStatus:
    """`received`: by event id; those of other events do not count."""
    mine = [received[event_id] for event_id in job.event_ids if event_id in received]
    outcomes = Counter(one.receipt.outcome for one in mine)
    reasons = Counter(job.refused)
    for receipt, _ in mine:
        if receipt.outcome in ("skipped", "parked"):
            reasons[f"{receipt.stage or 'memory'}:{receipt.reason or 'unknown'}"] += 1
    refused = sum(job.refused.values())
    queued = len(job.event_ids) - len(mine)
    seconds = (max(one.at for one in mine) - job.started_at).total_seconds() if mine else 0.0
    rate = len(mine) / seconds if seconds > 0 else None
    return ImportStatus(
        task_id=job.job_id,
        state=job.state if queued else "done",
        total=len(job.event_ids) + job.known + refused,
        queued=queued,
        stored=outcomes["stored"],
        duplicate=outcomes["duplicate"] + job.known,
        skipped=outcomes["skipped"],
        failed=outcomes["parked"] + refused,
        reasons=dict(sorted(reasons.items())),
        per_second=round(rate, 2) if rate else None,
        remaining_seconds=round(queued / rate, 1) if rate and job.state == "running" else None,
    )
