"""What `memstream doctor` answers about one event, memory or import. Ids, states and times; never text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from schemas import MemoryRecord, MemoryStatus, Receipt, Tenant
from streams.cli.import_chats import line
from streams.client import MemoryClient
from streams.compacted import is_memory, latest
from streams.errors import DependencyDown
from streams.imports.tasks import Tasks
from streams.kafka import members
from streams.settings import Role, Settings
from streams.topics import event_key, memory_key

MOST_STEPS = 20
# Of workers that an imported conversation passes.
HANDLING: tuple[Role, ...] = ("redact", "extract", "memory")


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    detail: str


async def about_event(settings: Settings, tenant: Tenant, event_id: str) -> AsyncIterator[Check]:
    """Written but not found: the outcome of the event, and of each of its memories."""
    key = event_key(tenant, event_id)
    value = (await latest(settings, "receipts", key)).get(key)
    if value is None:
        detail = "no outcome: it was not published with this id for this user, or no worker has got to it yet"
        yield Check("event", False, detail)
        yield await workers(settings, quiet=False)
        return
    receipt = Receipt.from_bytes(value)
    yield Check("event", receipt.outcome in ("stored", "duplicate"), outcome(receipt))
    found = await memories_of(settings, tenant) if receipt.memory_ids else {}
    for memory_id in receipt.memory_ids:
        yield Check(f"memory {memory_id}", memory_id in found, standing(found, memory_id))


def outcome(receipt: Receipt) -> str:
    where = f"by {receipt.stage or 'memory'} ({receipt.reason or 'unknown'})"
    match receipt.outcome:
        case "parked":
            advice = "`memstream dead-letters list` names its letter; mend the cause and `redrive` it"
            return f"parked {where}: {advice}"
        case "skipped":
            return f"skipped {where}: nothing of it is remembered. `memstream extract --explain` says what would be"
        case _:
            ids = ", ".join(receipt.memory_ids) or "no memory of its own"
            return f"{receipt.outcome} as {ids}. Not found by a question: `memstream explain MEMORY QUESTION` says why"


async def about_memory(settings: Settings, tenant: Tenant, memory_id: str) -> AsyncIterator[Check]:
    """Old value returned: whether something newer took the place of the memory."""
    found = await memories_of(settings, tenant)
    yield Check(f"memory {memory_id}", memory_id in found, standing(found, memory_id))


async def memories_of(settings: Settings, tenant: Tenant) -> dict[str, MemoryRecord]:
    """By id, as `records` has them."""
    kept = await latest(settings, "records", memory_key(tenant, ""))
    records = (MemoryRecord.from_bytes(value) for key, value in kept.items() if is_memory(key))
    return {record.memory_id: record for record in records}


def standing(found: Mapping[str, MemoryRecord], memory_id: str) -> str:
    """`found`: memories of the user by id."""
    one = found.get(memory_id)
    if one is None:
        return "this user has no such memory: it was forgotten, or belongs to another user or namespace"
    said = f"said {one.occurred_at.isoformat()}"
    match one.status:
        case MemoryStatus.SUPERSEDED:
            steps = [one]
            while (later := found.get(steps[-1].superseded_by or "")) and len(steps) < MOST_STEPS:
                steps.append(later)
            chain = " -> ".join(f"{step.memory_id} (said {step.occurred_at.isoformat()})" for step in steps[1:])
            return f"superseded, {said}; what holds now: {chain or one.superseded_by}"
        case MemoryStatus.DUPLICATE:
            return f"a repeat of {one.duplicate_of}, {said}: that one is found in its place"
        case MemoryStatus.ARCHIVED:
            return f"archived, {said}: idle for long. `memstream explain` or a question that names it brings it back"
    if one.layer == "fact" and one.attribute and one.cardinality == "single":
        advice = "nothing later was understood as another value; `memstream doctor --event` of the event that said so"
        return f"holds, {said}: {advice}, or name both in `supersede`"
    return f"holds, {said}: it is no slot with one value, so that only `supersede` or a correction replaces it"


async def about_import(settings: Settings, task_id: str, namespace: str | None) -> AsyncIterator[Check]:
    """Import stuck: how far it is, and who has to move."""
    async with MemoryClient(settings=settings) as client:
        task = await Tasks(settings, client).find(task_id, [namespace] if namespace else None)
        if task is None:
            yield Check("import", False, "there is no such task: `memstream import FILE` prints the id of its own")
            return
        async with task:
            told = await task.status()
    moves = told.state in ("running", "done") and not told.quiet_since
    yield Check("import", moves, line(told))
    if told.queued and told.state != "cancelled":
        yield await workers(settings, quiet=told.quiet_since is not None)


async def workers(settings: Settings, *, quiet: bool) -> Check:
    """Who handles what Kafka has. `quiet`: nothing comes of it."""
    from streams.app import consumer_group

    groups = {consumer_group(settings, role): role for role in HANDLING}
    try:
        at_work = await members(settings, list(groups))
    except DependencyDown as error:
        return Check("workers", not quiet, f"how many there are is not known: {error}")
    missing = ",".join(role for group, role in groups.items() if not at_work.get(group))
    if missing:
        return Check("workers", False, f"none has the roles {missing}: `memstream worker --roles {missing}` starts one")
    if quiet:
        advice = "its /readyz names a dependency that it waits for, memstream_consumer_lag_records what stands before"
        return Check("workers", False, f"every role has one, and yet nothing comes of it: {advice}")
    return Check("workers", True, f"every role has one ({', '.join(HANDLING)})")
