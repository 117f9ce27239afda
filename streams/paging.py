"""Reading a store page by page to the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from schemas import MemoryRecord, Tenant
from streams.ports import MemoryStore, Where

EVERY: Final = Where()


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


async def everything(
    store: MemoryStore,
    tenant: Tenant,
    where: Where = EVERY,
    *,
    archives: Sequence[bool] = (False, True),
    limit: int = 1000,
) -> list[MemoryRecord]:
    """All of the pages together; unless said otherwise, of both collections."""
    return [r async for page in pages(store, tenant, where, archives=archives, limit=limit) for r in page]
