"""Pairs from what is remembered: the topic `records` keeps every memory and its links, whatever model embedded it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from schemas import Layer, MemoryRecord, Tenant
from streams.calibration.pairs import Pair
from streams.compacted import is_memory, read
from streams.memory.lexical import passage_text
from streams.settings import Settings

# A sample: the figures hardly move above this, and the texts are held in memory.
MOST_RECORDS: Final = 20_000
MOST_PAIRS: Final = 1000


async def read_facts(settings: Settings) -> list[MemoryRecord]:
    """Facts as they stand now, the first of them in the order of the topic; what was deleted meanwhile is gone.

    Raises `ConfigurationError`, `DependencyDown("kafka")`.
    """
    found: dict[bytes, MemoryRecord] = {}
    async for entries in read(settings, "records"):
        for entry in entries:
            if not is_memory(entry.key):
                continue
            if entry.value is None:
                found.pop(entry.key, None)
            elif entry.key in found or len(found) < MOST_RECORDS:
                record = MemoryRecord.from_bytes(entry.value)
                if record.layer is Layer.FACT:
                    found[entry.key] = record
    return list(found.values())


def pairs_of(records: Iterable[MemoryRecord]) -> list[Pair]:
    """Two values of one slot, one after the other ("conflict"), and two slots of one user ("unrelated").

    Both were told apart by their slots, not by a cosine that is to be measured here. Repeats and the answers to
    questions can't be had so: settling finds repeats by the very threshold, and nobody's questions are kept.
    """
    by_tenant: dict[Tenant, dict[str, MemoryRecord]] = defaultdict(dict)
    for record in records:
        if record.slot is not None:
            by_tenant[record.tenant][record.memory_id] = record
    conflicts: dict[Pair, None] = {}
    unrelated: dict[Pair, None] = {}
    for own in by_tenant.values():
        for old in own.values():
            new = own.get(old.superseded_by or "")
            if new is not None and new.slot == old.slot and new.value != old.value:
                conflicts[Pair(passage_text(old), passage_text(new), "conflict")] = None
        # Ids are hashes: their order is as good as none.
        mixed = [own[memory_id] for memory_id in sorted(own)]
        for one, other in zip(mixed[::2], mixed[1::2], strict=False):
            if one.attribute != other.attribute and not set(one.entities) & set(other.entities):
                unrelated[Pair(passage_text(one), passage_text(other), "unrelated")] = None
    return [pair for pair in (*list(conflicts)[:MOST_PAIRS], *list(unrelated)[:MOST_PAIRS]) if pair.a != pair.b]
