"""A process that writes until it is killed: `python -m tests.contract.store_writer DIR (write|optimize|hold|full)`.

`write` prints the number of each batch once the store has acknowledged it.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

from schemas import Tenant
from streams.adapters.store import make_store
from streams.adapters.store.edge import optimize
from streams.errors import DependencyDown
from streams.ports import Doc
from tests.contract.store_parts import PROFILE, memory

TENANT = Tenant(namespace="shop", user_id="writer")
BATCH = 7


async def write(path: Path) -> None:
    store = make_store(None, path, PROFILE)
    await store.open()
    for batch in range(10**6):
        await store.upsert(TENANT, [memory(TENANT, batch * BATCH + at) for at in range(BATCH)])
        if batch % 3 == 2:
            await store.move(TENANT, [memory(TENANT, batch * BATCH).record.memory_id], to_archive=True)
            await store.delete(TENANT, [memory(TENANT, batch * BATCH + 1).record.memory_id])
        await store.put_docs(TENANT, [Doc("receipt", str(batch), {"batch": batch})])
        print(batch, flush=True)


async def hold(path: Path) -> None:
    store = make_store(None, path, PROFILE)
    await store.open()
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.read)


async def full(path: Path) -> None:
    """Write until files may not grow any more, then let them grow again."""
    store = make_store(None, path, PROFILE)
    await store.open()
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 * 1024, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    batch = 0
    try:
        while batch < 20_000:
            await store.put_docs(TENANT, [Doc("receipt", str(batch), {"x": "x" * 200_000})])
            batch += 1
        print("never full", flush=True)
        return
    except DependencyDown as error:
        print(f"{batch} {error.dependency}", flush=True)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await store.put_docs(TENANT, [Doc("receipt", str(batch), {})])
    print(len(await store.find_docs(TENANT, "receipt")), flush=True)
    await store.close()


def main() -> None:
    path, what = Path(sys.argv[1]), sys.argv[2]
    if what == "optimize":
        print("start", flush=True)
        optimize(path)
        print("end", flush=True)
    else:
        asyncio.run({"write": write, "hold": hold, "full": full}[what](path))


if __name__ == "__main__":
    main()
