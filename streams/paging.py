"""Reading a store page by page to the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from schemas import MemoryRecord, Tenant
from streams.ports import MemoryStore, Where


async def pages(
    store: MemoryStore, tenant: Tenant, where: Where, *, archives: Sequence[bool] = (False,), limit: int = 1000
) -> AsyncIterator[list[MemoryRecord]]:
    """Every page of `store.find` that is not empty; `archives`: which collections, in this order."""
    for archive in archives:
        cursor: str | None = None
        while True:
            page, cursor = await store.find(tenant, where, limit=limit, cursor=cursor, archive=archive)
            if page:
                yield page
            if cursor is None:
                break
