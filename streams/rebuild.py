"""The store made anew from the compacted topics: what they say is the truth, the store is a view of it.

Order: fences, then receipts, then records, each from its start to where it ends now. Receipts come before records,
because the writer has both acknowledged together: whoever reads in this order knows no event as stored whose memories
it has not read. Nothing is extracted and nothing is settled again; what changes is the vectors.

How far it has come is kept in the new store, so that a killed rebuild goes on, and a finished one catches up with what
was written since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from schemas import Fence, MemoryRecord, PairVerdict, Receipt, Supersede, Tenant
from streams.agents.erasure import fence_doc
from streams.agents.judging import verdict_doc
from streams.agents.timer import SYSTEM, WRITER
from streams.agents.writer import directive_doc, put_in_place, receipt_doc
from streams.compacted import DIRECTIVE, VERDICT, Entry, is_memory, read
from streams.errors import ConfigurationError
from streams.memory.fences import blocked_by
from streams.memory.lexical import passage_text, sparse_passage
from streams.memory.settle import DIRECTIVES
from streams.ports import Doc, Embedder, StoredMemory
from streams.settings import Settings
from streams.store_folders import discard, in_use, new_folder

if TYPE_CHECKING:
    from streams.adapters.store import Store

PROGRESS = "rebuild"
TOPICS = ("fences", "receipts", "records")
# Kafka keeps a tombstone for seven days (`delete.retention.ms`): who takes longer may miss that something was deleted.
LONGEST = timedelta(days=6)

Say = Callable[[str], None]


@dataclass(slots=True)
class Rebuilt:
    """What one run did. `embedded` of `memories` needed the model, the others had their vector already."""

    fences: int = 0
    receipts: int = 0
    memories: int = 0
    embedded: int = 0
    deleted: int = 0


class Rebuild:
    """`store` is open; nobody else writes to it."""

    def __init__(self, settings: Settings, store: Store, embedder: Embedder, say: Say = lambda line: None) -> None:
        self._settings = settings
        self._store = store
        self._embedder = embedder
        self._say = say
        self._offsets: dict[str, dict[int, int]] = {}
        self._begun = datetime.now(UTC)
        self._fences: dict[Tenant, list[Fence]] = {}
        self.done = Rebuilt()

    async def run(self) -> Rebuilt:
        """Everything up to where the topics end now.

        Raises `ConfigurationError` when the store is not one that a rebuild may write to.
        """
        await self._resume()
        start = datetime.now(UTC)
        apply = {"fences": self._fence, "receipts": self._receipt, "records": self._record}
        for topic in TOPICS:
            known = self._offsets.setdefault(topic, {})
            async for entries in read(self._settings, topic, known):
                if not entries:
                    continue
                last = {entry.key: entry for entry in entries}
                await apply[topic](list(last.values()))
                known[entries[-1].partition] = entries[-1].offset + 1
                await self._keep()
                self._say(f"{topic}: {self._told()}")
        # From here on a later run has to read only what is written from now on.
        self._begun = start
        await self._keep()
        await self._store.flush()
        return self.done

    def _told(self) -> str:
        done = self.done
        return f"{done.memories} memories ({done.embedded} embedded), {done.receipts} receipts, {done.fences} fences"

    async def _resume(self) -> None:
        found = await self._store.get_docs(SYSTEM, PROGRESS, [PROGRESS])
        if await self._store.get_docs(SYSTEM, WRITER, [WRITER]):
            raise ConfigurationError("workers have been writing to this store: a rebuild needs one of its own")
        if not found:
            if await self._store.count() + await self._store.count(archive=True):
                raise ConfigurationError("this store holds memories that no rebuild put there: name an empty one")
            await self._keep()
            return
        self._begun = datetime.fromisoformat(found[0].body["begun"])
        if datetime.now(UTC) - self._begun > LONGEST:
            raise TooOld(
                f"the rebuild in this store was last complete or begun on {self._begun:%Y-%m-%d}: what was deleted "
                "since may be missed. Empty the store and begin anew"
            )
        self._offsets = {
            topic: {int(partition): int(offset) for partition, offset in offsets.items()}
            for topic, offsets in found[0].body["offsets"].items()
        }

    async def _keep(self) -> None:
        offsets = {topic: {str(p): offset for p, offset in known.items()} for topic, known in self._offsets.items()}
        body = {"begun": self._begun.isoformat(), "offsets": offsets}
        await self._store.put_docs(SYSTEM, [Doc(PROGRESS, PROGRESS, body)])

    async def _fence(self, entries: Sequence[Entry]) -> None:
        for tenant, own in _by_tenant(entries).items():
            fences = [Fence.from_bytes(entry.value) for entry in own if entry.value is not None]
            await self._store.put_docs(tenant, [fence_doc(fence) for fence in fences])
            self.done.fences += len(fences)

    async def _receipt(self, entries: Sequence[Entry]) -> None:
        for tenant, own in _by_tenant(entries).items():
            receipts = [Receipt.from_bytes(entry.value) for entry in own if entry.value is not None]
            await self._store.put_docs(tenant, [receipt_doc(receipt) for receipt in receipts])
            self.done.receipts += len(receipts)

    async def _record(self, entries: Sequence[Entry]) -> None:
        wanted: dict[Tenant, list[MemoryRecord]] = {}
        for tenant, own in _by_tenant(entries).items():
            await self._directives(tenant, [entry for entry in own if DIRECTIVE in entry.key])
            said = [PairVerdict.from_bytes(e.value) for e in own if VERDICT in e.key and e.value is not None]
            await self._store.put_docs(tenant, [verdict_doc(verdict) for verdict in said])
            memories = [entry for entry in own if is_memory(entry.key)]
            gone = [_id_of(entry) for entry in memories if entry.value is None]
            records = [MemoryRecord.from_bytes(entry.value) for entry in memories if entry.value is not None]
            # What was imported on purpose after a forget stands; ids that were named never come back.
            fences = await self._fences_of(tenant)
            blocked = [r.memory_id for r in records if blocked_by(fences, r, after_forget=True) is not None]
            await self._store.delete(tenant, [*gone, *blocked])
            self.done.deleted += len(gone) + len(blocked)
            wanted[tenant] = [record for record in records if record.memory_id not in blocked]
        for tenant, stored in (await self._with_vectors(wanted)).items():
            await put_in_place(self._store, tenant, stored)
            self.done.memories += len(stored)

    async def _directives(self, tenant: Tenant, entries: Sequence[Entry]) -> None:
        said = [Supersede.from_bytes(entry.value) for entry in entries if entry.value is not None]
        if said:
            await self._store.put_docs(tenant, [directive_doc(event) for event in said])
        gone = [_id_of(entry).partition(":")[2] for entry in entries if entry.value is None]
        if gone:
            await self._store.delete_docs(tenant, DIRECTIVES, gone)

    async def _fences_of(self, tenant: Tenant) -> list[Fence]:
        if tenant not in self._fences:
            docs = await self._store.find_docs(tenant, "fence")
            self._fences[tenant] = [Fence.model_validate(doc.body) for doc in docs]
        return self._fences[tenant]

    async def _with_vectors(self, wanted: Mapping[Tenant, Sequence[MemoryRecord]]) -> dict[Tenant, list[StoredMemory]]:
        """A later state of a memory that is there already says the same words: its vector stays."""
        model = self._embedder.profile.name
        made: dict[Tenant, list[StoredMemory]] = {tenant: [] for tenant in wanted}
        new: list[tuple[Tenant, MemoryRecord]] = []
        for tenant, records in wanted.items():
            there = await self._store.get_with_vectors(tenant, [record.memory_id for record in records])
            by_id = {memory.record.memory_id: memory for memory in there}
            for record in records:
                record = record.model_copy(update={"embedding_model": model})
                before = by_id.get(record.memory_id)
                if before is not None and passage_text(before.record) == passage_text(record):
                    made[tenant].append(StoredMemory(record, before.vector, before.sparse))
                else:
                    new.append((tenant, record))
        texts = [passage_text(record) for _, record in new]
        vectors = await self._embedder.embed_passages(texts) if texts else ()
        for (tenant, record), vector, text in zip(new, vectors, texts, strict=True):
            made[tenant].append(StoredMemory(record, vector, sparse_passage(text)))
        self.done.embedded += len(new)
        return made


class TooOld(ConfigurationError):
    """A rebuild that was interrupted for so long that it can't go on."""


def _by_tenant(entries: Sequence[Entry]) -> dict[Tenant, list[Entry]]:
    found: dict[Tenant, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[Tenant.from_key(entry.tenant_key)].append(entry)
    return found


def _id_of(entry: Entry) -> str:
    return unquote(entry.key.rpartition(b"/")[2].decode())


@asynccontextmanager
async def beside(folder: Path, embedder: Embedder) -> AsyncIterator[Store]:
    """The new store beside `folder`, open: that of a killed rebuild when it can go on, else an empty one."""
    from streams.adapters.store import make_store

    path = new_folder(folder)
    store = make_store(None, path, embedder.profile)
    try:
        await store.open()
    except ConfigurationError:
        # Begun for another model, unless somebody is at it.
        if in_use(path):
            raise ConfigurationError("another `memstream rebuild` of this store is under way: let it end") from None
        discard(folder)
        await store.open()
    try:
        yield store
    finally:
        await store.close()
