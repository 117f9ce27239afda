"""An import beside publishing the same events: python -m bench.imports --json

One worker with all roles on a broker of its own, embedded store, constant embedder (the model is not the question).
In turns, each time for a user of its own: the command `memstream import FILE --watch`, and the same events by
`MemoryClient.publish_many`. Conversations a second from the first record to the last receipt, by the broker's clock;
memory is the importer's largest.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import sys
import time
from collections import defaultdict
from pathlib import Path

import psutil

from bench.rig import Rig, machine, rig, show, spread
from schemas import Tenant
from streams import compacted
from streams.client import MemoryClient
from streams.imports.formats import read
from streams.imports.spool import on_disk
from streams.imports.task import Batch, batch

COMMAND = ("-c", "import sys; from streams.cli import main; sys.exit(main())", "import")
# Sentences of words that hardly repeat, as those of a history do: of one pattern, they would be one neighbourhood.
CONSONANTS = (*"bcdfghklmnprstvz", "sh", "tr", "pl", "st")
SMALL = ("ok, thanks!", "好的，谢谢", "good night", "haha")
WAIT_SECONDS = 600


def history(file: Path, count: int, seed: int, *, remembered: int, characters: int = 0) -> Path:
    """`count` lines, spread among them those that are `remembered`; the others are small talk, or longer than that if
    each must have so many `characters`."""
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choice(CONSONANTS) + rng.choice("aeiou") for _ in range(rng.randrange(2, 5)))

    with file.open("w", encoding="utf-8") as out:
        for number in range(count):
            said = rng.choice(SMALL)
            if (number + 1) * remembered // count > number * remembered // count:
                said = f"The {word()} of {word().title()} keeps the {word()} in the {word()} behind the {word()}."
            while len(said) < characters:
                said += f" And {word()} {word()} {word()}."
            print(json.dumps({"time": 1_700_000_000 + 600 * number, "text": said}, ensure_ascii=False), file=out)
    return file


def events(file: Path, user: str) -> Batch:
    with file.open(encoding="utf-8") as lines:
        return batch(Tenant(namespace="bench", user_id=user), read(lines, "jsonl")[1], spool=on_disk())


async def span(made: Rig, topic: str, tenant: Tenant, start: dict[int, int]) -> list[int]:
    """When each record of a tenant was appended, in milliseconds; `start` is moved to the end."""
    found: list[int] = []
    async for entries in compacted.read(made.settings, topic, start):
        for entry in entries:
            start[entry.partition] = entry.offset + 1
            if entry.key.startswith(tenant.key.encode()):
                found.append(entry.timestamp)
    return found


class Sides:
    """Both ways, and what each run gave."""

    def __init__(self, made: Rig, worker: psutil.Process, file: Path, count: int) -> None:
        self._made, self._worker, self._file, self._count = made, worker, file, count
        self._sent: dict[int, int] = {}
        self._done: dict[int, int] = {}
        self.figures: dict[str, list[float]] = defaultdict(list)

    async def run(self, how: str, number: int) -> None:
        user = f"{how} {number}"
        before = spent(self._worker)
        await (self._import(user) if how == "imported" else self._publish(user))
        self.figures[f"{how}_per_second"].append(await self._rate(Tenant(namespace="bench", user_id=user)))
        self.figures[f"{how}_worker_ms_each"].append((spent(self._worker) - before) * 1000 / self._count)

    async def _rate(self, tenant: Tenant) -> float:
        """Conversations a second of the tenant, when all have their receipts."""
        done: list[int] = []
        end = time.monotonic() + WAIT_SECONDS
        while len(done) < self._count:
            if time.monotonic() > end:
                raise RuntimeError(f"only {len(done)} of {self._count} receipts within {WAIT_SECONDS} s")
            await asyncio.sleep(0.5)
            done += await span(self._made, "receipts", tenant, self._done)
        sent = await span(self._made, "conversations", tenant, self._sent)
        return self._count * 1000 / (max(done) - min(sent))

    async def _publish(self, user: str) -> None:
        made = events(self._file, user)
        async with MemoryClient(settings=self._made.settings) as client:
            async for _ in client.publish_many(made.events.events(set(made.event_ids))):
                pass

    async def _import(self, user: str) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *COMMAND, str(self._file), "--namespace", "bench", "--user", user, "--watch",
            env={**os.environ, **self._made.environment},
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        watched, largest, seconds = psutil.Process(process.pid), 0, 0.0
        ended = asyncio.create_task(process.wait())
        while not ended.done():
            with contextlib.suppress(psutil.Error):
                largest, seconds = max(largest, watched.memory_info().rss), max(seconds, spent(watched))
            await asyncio.wait([ended], timeout=0.2)
        if await ended:
            raise RuntimeError(f"the import ended with {await ended}")
        self.figures["importer_mb"].append(largest / 1e6)
        self.figures["importer_ms_each"].append(seconds * 1000 / self._count)


def spent(process: psutil.Process) -> float:
    """Seconds of a core."""
    times = process.cpu_times()
    return float(times.user + times.system)


async def measure(count: int, characters: int, rounds: int) -> dict[str, object]:
    before = machine()
    async with rig("bench.", embedder="constant", partitions=8) as made:
        file = history(made.folder / "history.jsonl", count, 7, remembered=count * 4 // 5, characters=characters)
        async with made.worker() as worker:
            sides = Sides(made, psutil.Process(worker.pid), file, count)
            for number in range(rounds):
                for how in ("imported", "published") if number % 2 else ("published", "imported"):
                    await sides.run(how, number)
        found = sides.figures
        pairs = zip(found["imported_per_second"], found["published_per_second"], strict=True)
        costs = zip(found["published_worker_ms_each"], found["imported_worker_ms_each"], strict=True)
        # What the machine's other work does not change: a worker that is never idle does so much of the same.
        found["worker_cost_ratio"] = [one / other for one, other in costs]
        found["ratio"] = [one / other for one, other in pairs]
        return {
            "n": count,
            "rounds": rounds,
            "file_mb": round(file.stat().st_size / 1e6, 1),
            **before,
            "load_after": machine()["load_before"],
            **{name: spread(values) for name, values in found.items()},
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=5000)
    parser.add_argument("--characters", type=int, default=0, help="at least so many in a conversation")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    figures = asyncio.run(measure(options.conversations, options.characters, options.rounds))
    show(figures, as_json=options.as_json)


if __name__ == "__main__":
    main()
