"""What the one writer of a tenant need not ask the store again: its documents, that its archive is empty, its tags.

Most users have no fence, no directive, nothing archived and no correction, yet every step asks for all of them. As
long as a process holds a tenant's partition nobody else writes them, so an answer stays true until this process
writes, or until partitions move (`forget_all`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from schemas import MemoryRecord, Tenant
from streams.ports import Doc, MemoryStore, Scored, StoredMemory, Vectors, Where

REMEMBERED_TENANTS = 20_000
# Of a tenant: what statements are about is a tag as well.
REMEMBERED_TAGS = 200
# What most users have none of; one lookup answers for all.
RARE = ("fence", "directive", "verdict")


class OwnedStore:
    """A `MemoryStore` over another one, for the writer. Reads that are not remembered go through."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._docs: OrderedDict[str, list[Doc]] = OrderedDict()
        self._no_archive: OrderedDict[str, None] = OrderedDict()
        # By tenant and tag, whether any memory outside the archive may have it.
        self._tagged: OrderedDict[str, dict[str, bool]] = OrderedDict()

    def forget_all(self) -> None:
        """Partitions moved: another process may have written meanwhile."""
        self._docs.clear()
        self._no_archive.clear()
        self._tagged.clear()

    async def find_docs(self, tenant: Tenant, *kinds: str) -> list[Doc]:
        if not set(kinds) <= set(RARE):
            return await self._store.find_docs(tenant, *kinds)
        known = self._docs.get(tenant.key)
        if known is None:
            known = self._docs[tenant.key] = await self._store.find_docs(tenant, *RARE)
            if len(self._docs) > REMEMBERED_TENANTS:
                self._docs.popitem(last=False)
        self._docs.move_to_end(tenant.key)
        return [doc for doc in known if doc.kind in kinds]

    async def put_docs(self, tenant: Tenant, docs: Sequence[Doc]) -> None:
        await self.put_docs_of({tenant: docs})

    async def put_docs_of(self, docs: Mapping[Tenant, Sequence[Doc]]) -> None:
        try:
            await self._store.put_docs_of(docs)
        finally:
            for tenant, of_it in docs.items():
                if any(doc.kind in RARE for doc in of_it):
                    self._docs.pop(tenant.key, None)

    async def delete_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> None:
        try:
            await self._store.delete_docs(tenant, kind, keys)
        finally:
            self._docs.pop(tenant.key, None)

    async def get_docs(self, tenant: Tenant, kind: str, keys: Sequence[str]) -> list[Doc]:
        return await self._store.get_docs(tenant, kind, keys)

    async def get_docs_of(self, kind: str, keys: Mapping[Tenant, Sequence[str]]) -> dict[Tenant, list[Doc]]:
        return await self._store.get_docs_of(kind, keys)

    async def _archive_is_empty(self, tenant: Tenant) -> bool:
        if tenant.key in self._no_archive:
            self._no_archive.move_to_end(tenant.key)
            return True
        page, _ = await self._store.find(tenant, Where(), limit=1, archive=True)
        if not page:
            self._no_archive[tenant.key] = None
            if len(self._no_archive) > REMEMBERED_TENANTS:
                self._no_archive.popitem(last=False)
        return not page

    async def _none_tagged(self, tenant: Tenant, tags: Sequence[str]) -> bool:
        known = self._tagged.setdefault(tenant.key, {})
        self._tagged.move_to_end(tenant.key)
        if len(self._tagged) > REMEMBERED_TENANTS:
            self._tagged.popitem(last=False)
        for tag in tags:
            if tag not in known:
                page, _ = await self._store.find(tenant, Where(tags=(tag,)), limit=1)
                # What was written while the store looked counts as well.
                known[tag] = known.get(tag, False) or bool(page)
        return not any(known[tag] for tag in tags)

    def _note_tags(self, tenant: Tenant, records: Iterable[MemoryRecord]) -> None:
        known = self._tagged.get(tenant.key)
        if known is not None:
            known.update((tag, True) for record in records for tag in record.tags)
            if len(known) > REMEMBERED_TAGS:
                # What is not known is looked up.
                del self._tagged[tenant.key]

    async def find(
        self, tenant: Tenant, where: Where, *, limit: int = 1000, cursor: str | None = None, archive: bool = False
    ) -> tuple[list[MemoryRecord], str | None]:
        if archive and await self._archive_is_empty(tenant):
            return [], None
        return await self._store.find(tenant, where, limit=limit, cursor=cursor, archive=archive)

    async def near(
        self, tenant: Tenant, vectors: Vectors, *, threshold: float, where: Where, archive: bool = False
    ) -> list[list[Scored]]:
        if archive and await self._archive_is_empty(tenant):
            return [[] for _ in vectors]
        if where.tags and not archive and await self._none_tagged(tenant, where.tags):
            return [[] for _ in vectors]
        return await self._store.near(tenant, vectors, threshold=threshold, where=where, archive=archive)

    async def upsert(self, tenant: Tenant, memories: Sequence[StoredMemory], *, archive: bool = False) -> None:
        await self.upsert_of({tenant: memories}, archive=archive)

    async def upsert_of(self, memories: Mapping[Tenant, Sequence[StoredMemory]], *, archive: bool = False) -> None:
        for tenant, of_it in memories.items():
            self._note_tags(tenant, (memory.record for memory in of_it))
            if archive:
                self._no_archive.pop(tenant.key, None)
        await self._store.upsert_of(memories, archive=archive)

    async def move(self, tenant: Tenant, memory_ids: Sequence[str], *, to_archive: bool) -> None:
        if not memory_ids:
            return
        (self._no_archive if to_archive else self._tagged).pop(tenant.key, None)
        await self._store.move(tenant, memory_ids, to_archive=to_archive)

    async def update(self, tenant: Tenant, records: Sequence[MemoryRecord]) -> list[str]:
        self._note_tags(tenant, records)
        return await self._store.update(tenant, records)

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None:
        await self._store.delete(tenant, memory_ids)

    async def get(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[MemoryRecord]:
        return await self._store.get(tenant, memory_ids)

    async def get_with_vectors(self, tenant: Tenant, memory_ids: Sequence[str]) -> list[StoredMemory]:
        return await self._store.get_with_vectors(tenant, memory_ids)
