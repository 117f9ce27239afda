"""From a verdict to a record, and what a record needs before it can be settled."""

from __future__ import annotations

from hashlib import blake2b

from schemas.memory import Layer, MemoryRecord
from streams.memory.settle.about import about
from streams.memory.settle.correction import TAG, may_take_back
from streams.memory.settle.fold import Verdict
from streams.memory.settle.wording import key

# The attribute of an episode: its words as a digest, so that the store finds an exact repeat by slot.
SAID = "said:"


def keyed(record: MemoryRecord) -> MemoryRecord:
    """The record as it must be stored, so that the store can find what settling has to compare.

    An episode gets the slot by which its exact repeats are found; a fact gets tags of what it is about, and what may
    correct others gets one.
    """
    changes: dict[str, object] = {}
    if record.layer is Layer.EPISODE and not record.attribute:
        digest = blake2b(key(record.content).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        changes |= {"subject": record.speaker or record.role, "attribute": SAID + digest}
    tags = list(about(record.content)) if record.layer is Layer.FACT and record.role == "user" else []
    if may_take_back(record):
        tags.append(TAG)
    if missing := [tag for tag in tags if tag not in record.tags]:
        changes["tags"] = (*record.tags, *missing)
    return record.model_copy(update=changes) if changes else record


def apply(record: MemoryRecord, verdict: Verdict) -> MemoryRecord:
    """The record with what settling derived. The same object when nothing changed."""
    derived = {
        "status": verdict.status,
        "duplicate_of": verdict.duplicate_of,
        "superseded_by": verdict.superseded_by,
        "superseded_at": verdict.superseded_at,
        "supersedes": verdict.supersedes,
        "ambiguous_with": verdict.ambiguous_with,
        "linked": verdict.linked,
        "reason": verdict.reason,
        "sources": verdict.sources,
        "updated_at": verdict.updated_at,
    }
    if all(getattr(record, name) == value for name, value in derived.items()):
        return record
    return record.model_copy(update=derived)
