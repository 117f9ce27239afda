"""What an import is, and how far it has come. No clock, no Kafka.

An event's id is a digest of who, when and what, so that the same conversation is the same event in whatever file it
comes, and the id of a task is a digest of its events and of how many were refused:
the same file is the same task, which goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from pydantic import BaseModel, ValidationError

from schemas import ConversationEvent, Job, Receipt, Tenant
from streams.imports.conversations import Conversation, Unread, Unusable
from streams.imports.spool import Spool
from streams.limits import MAX_RECORD_BYTES
from streams.records import IMPORTED

# A task is one record on Kafka, which names its events.
MOST_CONVERSATIONS = 50_000
# Whoever sends a task sends all the time, and what was sent gets outcomes: after so long without any, nobody sends it.
STILL = timedelta(minutes=2)


class Batch(NamedTuple):
    """`refused` counts `problems` by "import:reason"."""

    tenant: Tenant
    task_id: str
    events: Spool
    refused: Mapping[str, int]
    problems: Sequence[Unread]

    @property
    def event_ids(self) -> Sequence[str]:
        return self.events.ids


class Received(NamedTuple):
    """What a status needs of a receipt, and when it was written. `why`: "stage:reason", or empty."""

    outcome: str
    why: str
    at: datetime


def received(receipt: Receipt, at: datetime) -> Received:
    bad = receipt.outcome in ("skipped", "parked")
    why = f"{receipt.stage or 'memory'}:{receipt.reason or 'unknown'}" if bad else ""
    # One text for all of them: a history has tens of thousands.
    return Received(sys.intern(receipt.outcome), sys.intern(why), at)


class ImportStatus(BaseModel):
    """`queued`: no outcome yet. `failed`: parked or refused. `reasons` counts them and the skipped, by "stage:reason".

    `sent`: Kafka has all of it; until then keep what you sent. `incomplete`: not all was sent, and nothing has come of
    it for two minutes: whoever sent it has ended, or no worker runs. The same file or request again goes on with it.
    `quiet_since`: nothing has come of it since then, which is two minutes or more; of one that was sent, what handles
    it is missing or waits. `per_second` and `remaining_seconds` are there once something has an outcome.
    """

    task_id: str
    state: Literal["running", "incomplete", "done", "cancelled"]
    sent: bool = False
    total: int
    queued: int = 0
    stored: int = 0
    duplicate: int = 0
    skipped: int = 0
    failed: int = 0
    reasons: Mapping[str, int] = {}
    per_second: float | None = None
    remaining_seconds: float | None = None
    quiet_since: datetime | None = None


def batch(
    tenant: Tenant,
    found: Iterable[Conversation | Unread],
    *,
    timezone: str | None = None,
    after_forget: bool = False,
    spool: Spool | None = None,
    accepted: Callable[[Conversation], None] | None = None,
) -> Batch:
    """`after_forget`: also what the user had forgotten since, as events that are not those of before.

    `spool`: an empty one for the events, else in memory. `accepted` is called with each that is not refused.

    Raises `Unusable` for more than a task can hold, and what the spool raises.
    """
    events = spool or Spool()
    refused: Counter[str] = Counter()
    problems: list[Unread] = []
    repeats: Counter[bytes] = Counter()

    def refuse(problem: Unread, why: str = "import:invalid") -> None:
        refused[why] += 1
        problems.append(problem)

    for one in found:
        if isinstance(one, Unread):
            refuse(one)
            continue
        said = json.dumps(
            [
                tenant.key,
                one.time and one.time.isoformat(),
                [(m.role, m.speaker, m.time and m.time.isoformat(), m.text) for m in one.messages],
                *(["after_forget"] if after_forget else []),
            ]
        )
        # Those that are the same word for word are told apart by their number, whatever is added before them.
        same = hashlib.sha256(said.encode()).digest()
        event_id = IMPORTED + hashlib.sha256(f"{repeats[same]}{said}".encode()).hexdigest()[:32]
        repeats[same] += 1
        try:
            event = ConversationEvent(
                event_id=event_id,
                namespace=tenant.namespace,
                user_id=tenant.user_id,
                session_id=one.session_id,
                occurred_at=one.time,
                timezone=timezone,
                after_forget=after_forget,
                messages=one.messages,
            )
            value = event.to_bytes()
        except (ValidationError, ValueError):
            refuse(Unread(one.where, "its text, session or speaker is no Unicode text"))
            continue
        if len(value) > MAX_RECORD_BYTES:
            refuse(Unread(one.where, f"has more than {MAX_RECORD_BYTES // 1024**2} MiB"), "import:too_large")
        elif len(events.ids) == MOST_CONVERSATIONS:
            raise Unusable(f"more than {MOST_CONVERSATIONS} conversations, the most of a task: split the file")
        else:
            events.add(event_id, value)
            if accepted:
                accepted(one)
    counts = (f"{reason}={count}" for reason, count in sorted(refused.items()))
    digest = hashlib.sha256("\n".join((tenant.key, *sorted(events.ids), *counts)).encode()).hexdigest()
    return Batch(tenant, f"task_{digest[:32]}", events, refused, problems)


def status_of(job: Job, known: Mapping[str, Received], now: datetime) -> ImportStatus:
    """`known`: by event id; those of other events do not count."""
    mine = [known[event_id] for event_id in job.event_ids if event_id in known]
    outcomes = Counter(one.outcome for one in mine)
    reasons = Counter(job.refused)
    reasons.update(one.why for one in mine if one.why)
    refused = sum(job.refused.values())
    queued = len(job.event_ids) - len(mine)
    seconds = (max(one.at for one in mine) - job.started_at).total_seconds() if mine else 0.0
    rate = len(mine) / seconds if seconds > 0 else None
    state: Literal["running", "incomplete", "done", "cancelled"] = job.state if queued else "done"
    heard = max([job.updated_at, *(one.at for one in mine)])
    quiet = state == "running" and now - heard > STILL
    if quiet and not job.sent:
        state = "incomplete"
    return ImportStatus(
        task_id=job.job_id,
        state=state,
        sent=job.sent or not queued,
        total=len(job.event_ids) + job.known + refused,
        queued=queued,
        stored=outcomes["stored"],
        duplicate=outcomes["duplicate"] + job.known,
        skipped=outcomes["skipped"],
        failed=outcomes["parked"] + refused,
        reasons=dict(sorted(reasons.items())),
        per_second=round(rate, 2) if rate else None,
        remaining_seconds=None if quiet or not rate or state != "running" else round(queued / rate, 1),
        quiet_since=heard if quiet else None,
    )
