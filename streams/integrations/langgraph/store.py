"""LangGraph's `BaseStore` over memstream: what a key-value store and a memory of what was said have in common.

A namespace is `(namespace, user_id)` or `(namespace, user_id, session_id)`. What is put is text that goes through all
stages (redacted, extracted, settled), so that it comes back as memories with ids of their own; the key of a put is the
id of its event, after its session's id if it has one. Both kinds of key work in `get` and `delete`. What has no
counterpart raises `NotSupported`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from pydantic import ValidationError

from schemas import Layer, MemoryRecord, MemoryStatus, RecallRequest
from streams.client import BadRequest, MemoryClient, MemoryClientError
from streams.sync_client import SyncMemoryClient

MOST: Final = 50  # RecallRequest.top_k
# Of a memory, in an item's value.
SHOWN: Final = {
    *("content", "layer", "memory_type", "importance", "tags", "status", "session_id", "role", "speaker"),
    *("occurred_at", "valid_from", "valid_until", "superseded_by"),
}
# Of a put, beside the text: as in a message and its event.
SAID: Final = {"role", "speaker", "occurred_at", "timezone"}
EXACT: Final = {"layer": "layers", "memory_type": "types", "session_id": "session_id"}
BOUNDS: Final = {"$gte": "since", "$lt": "until"}


class NotSupported(MemoryClientError, NotImplementedError):
    """A key-value store can do this and memstream can't; the message says why, and what to do instead."""


class NotRemembered(MemoryClientError):
    """A put left no memory. `reason` as in the receipt: `small_talk`, `nothing_to_keep`, `event_id_reused`, ..."""

    def __init__(self, outcome: str, reason: str) -> None:
        told = f"the text was not remembered ({outcome}: {reason})"
        if reason == "event_id_reused":
            told = (
                "this key was put before with other content, and what was said stays said: "
                "put under the id of the memory, as search returns it, to replace that memory"
            )
        super().__init__(told)
        self.reason = reason


class Place(NamedTuple):
    """A namespace of LangGraph, understood."""

    namespace: str
    user_id: str
    session_id: str | None = None

    @classmethod
    def of(cls, labels: tuple[str, ...]) -> Place:
        if not 2 <= len(labels) <= 3:
            raise NotSupported(
                "a namespace is (namespace, user_id) or (namespace, user_id, session_id): "
                "memories of one user lie apart from all others', and no request reaches several users"
            )
        return cls(*labels)

    @property
    def tenant(self) -> dict[str, Any]:
        return {"namespace": self.namespace, "user_id": self.user_id}

    def event_id(self, key: str) -> str:
        """Of what is put under a key: sessions of one user may have the same keys."""
        return key if self.session_id is None else f"{quote(self.session_id, safe='')}/{key}"

    def holds(self, record: MemoryRecord) -> bool:
        return self.session_id is None or record.session_id == self.session_id


class MemstreamStore(BaseStore):
    """Give a `SyncMemoryClient` for graphs of either kind, or a `MemoryClient` for `ainvoke` and `astream` alone.

    The client is opened and closed by whoever made it. Raises what the client raises, `NotSupported`, `NotRemembered`.
    """

    def __init__(self, memory: MemoryClient | SyncMemoryClient) -> None:
        self._memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        if isinstance(self._memory, MemoryClient):
            raise NotSupported(
                "a MemoryClient belongs to its event loop: use ainvoke and aget, or give the store a SyncMemoryClient"
            )
        wanted = list(ops)
        return self._memory.call(lambda client: _results(client, wanted))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        if isinstance(self._memory, SyncMemoryClient):
            return await asyncio.to_thread(self.batch, ops)
        return await _results(self._memory, list(ops))


async def _results(client: MemoryClient, ops: Sequence[Op]) -> list[Result]:
    """In their order, so that a get sees the put before it."""
    return [await _result(client, op) for op in ops]


async def _result(client: MemoryClient, op: Op) -> Result:
    match op:
        case GetOp():
            return await _get(client, Place.of(op.namespace), op)
        case SearchOp():
            return await _search(client, Place.of(op.namespace_prefix), op)
        case PutOp(value=None):
            await _delete(client, Place.of(op.namespace), op.key)
        case PutOp():
            await _put(client, Place.of(op.namespace), op)
        case ListNamespacesOp():
            return await _namespaces(client, op)
        case _:
            raise NotSupported(f"memstream knows no {type(op).__name__}")
    return None


async def _get(client: MemoryClient, place: Place, op: GetOp) -> Item | None:
    found = await client.get(op.key, **place.tenant) or await _of_event(client, place, place.event_id(op.key))
    record = next(filter(place.holds, found), None)
    return None if record is None else Item(key=op.key, **_shared(op.namespace, record))


async def _of_event(client: MemoryClient, place: Place, event_id: str) -> list[MemoryRecord]:
    """What an event became, facts first. There is no request for it: looks through all that the user has."""
    found = [
        record
        for record in await client.export(**place.tenant)
        if record.status is MemoryStatus.ACTIVE and any(source.event_id == event_id for source in record.sources)
    ]
    return sorted(found, key=lambda record: (record.layer is not Layer.FACT, record.memory_id))


async def _delete(client: MemoryClient, place: Place, key: str) -> None:
    found = await client.get(key, **place.tenant)
    if not found:
        await client.forget(event_ids=[place.event_id(key)], **place.tenant)
    elif any(map(place.holds, found)):
        await client.forget(memory_ids=[key], **place.tenant)


async def _put(client: MemoryClient, place: Place, op: PutOp) -> None:
    if op.ttl is not None:
        raise NotSupported("ttl: what is remembered fades by its importance; delete what must be gone at a time")
    if op.index is not None:
        raise NotSupported("index: memstream makes what it remembers findable by itself; leave index out")
    fields = _said(op.value or {})
    if place.session_id is not None:
        fields["session_id"] = place.session_id
    found = await client.get(op.key, **place.tenant)
    if not found:
        fields["event_id"] = place.event_id(op.key)
    elif any(map(place.holds, found)):
        fields["replaces"] = [op.key]
    else:
        raise NotSupported("this key is a memory of another session of the user: put it there, or without a session")
    outcome = await client.publish_and_wait(**fields, **place.tenant)
    if outcome.outcome in ("skipped", "parked"):
        raise NotRemembered(outcome.outcome, outcome.reason)


def _said(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event. Raises `NotSupported`."""
    texts = [value[name] for name in ("content", "text") if name in value]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise NotSupported('a value is {"content": "a sentence that holds by itself"}: memstream remembers text')
    if unknown := value.keys() - SAID - {"content", "text"}:
        raise NotSupported(
            f"memstream can't keep the field {min(unknown)!r} of a value: say it in the text, "
            f"or keep it in a store of your own (known beside content: {', '.join(sorted(SAID))})"
        )
    return {"text": texts[0], **{name: value[name] for name in SAID & value.keys()}}


async def _search(client: MemoryClient, place: Place, op: SearchOp) -> list[SearchItem]:
    options = _options(op.filter or {})
    if place.session_id is not None:
        if options.get("session_id", place.session_id) != place.session_id:
            return []
        options["session_id"] = place.session_id
    until = op.offset + op.limit
    if op.query is None:
        listed = _listed(await client.export(**place.tenant), options)
        return [SearchItem(key=one.memory_id, **_shared(op.namespace_prefix, one)) for one in listed[op.offset : until]]
    if until > MOST:
        raise NotSupported(f"a search by meaning returns the best {MOST}: limit + offset may not be more")
    reply = await client.recall(op.query, **place.tenant, top_k=until, **options)
    return [
        SearchItem(key=found.memory.memory_id, score=found.score, **_shared(op.namespace_prefix, found.memory))
        for found in reply.memories[op.offset :]
    ]


async def _namespaces(client: MemoryClient, op: ListNamespacesOp) -> list[tuple[str, ...]]:
    """Of one user: where what is current was said."""
    conditions = op.match_conditions or ()
    named = (c.path[:2] for c in conditions if c.match_type == "prefix" and len(c.path) >= 2 and "*" not in c.path[:2])
    labels = next(named, None)
    if labels is None:
        raise NotSupported(
            "namespaces are listed of one user at a time, with the prefix (namespace, user_id): no request reaches "
            "several users; keep the ids of your users yourself"
        )
    place = Place.of(tuple(labels))
    sessions = {r.session_id for r in await client.export(**place.tenant) if r.status is MemoryStatus.ACTIVE}
    every = (tuple(filter(None, (*labels, session))) for session in sessions)
    found = {one[: op.max_depth] for one in every if all(_matches(condition, one) for condition in conditions)}
    return sorted(found)[op.offset : op.offset + op.limit]


def _matches(condition: MatchCondition, labels: tuple[str, ...]) -> bool:
    """As LangGraph's own stores match: `*` is any label."""
    wanted = condition.path
    if len(wanted) > len(labels):
        return False
    part = labels[: len(wanted)] if condition.match_type == "prefix" else labels[-len(wanted) :]
    return all(one in ("*", other) for one, other in zip(wanted, part, strict=True))


def _options(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Of a recall. Raises `NotSupported`."""
    options: dict[str, Any] = {}
    for name, wanted in filters.items():
        operators = wanted if isinstance(wanted, Mapping) else {"$eq": wanted}
        for operator, value in operators.items():
            if name in EXACT and operator == "$eq":
                options[EXACT[name]] = (value,) if name != "session_id" else value
            elif name == "occurred_at" and operator in BOUNDS:
                options[BOUNDS[operator]] = value
            else:
                raise NotSupported(
                    f"a search can't be filtered by {name} {operator}: {', '.join(EXACT)} by a value and "
                    "occurred_at by $gte and $lt can be; filter the rest of what search returns yourself"
                )
    return options


def _listed(records: Iterable[MemoryRecord], options: Mapping[str, Any]) -> list[MemoryRecord]:
    """What is current, newest first."""
    # Checked and converted as a recall's: a filter means the same with and without a query.
    try:
        asked = RecallRequest.model_validate({"kind": "export", "namespace": "-", "user_id": "-", **options})
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        raise BadRequest(f"filter: {first['loc'][0]}: {first['msg']}") from None
    found = [
        record
        for record in records
        if record.status is MemoryStatus.ACTIVE
        and (not asked.layers or record.layer in asked.layers)
        and (not asked.types or record.memory_type in asked.types)
        and (asked.session_id is None or record.session_id == asked.session_id)
        and (asked.since is None or record.occurred_at >= asked.since)
        and (asked.until is None or record.occurred_at < asked.until)
    ]
    return sorted(found, key=lambda record: (record.occurred_at, record.sequence, record.memory_id), reverse=True)


def _shared(labels: tuple[str, ...], record: MemoryRecord) -> dict[str, Any]:
    return {
        "namespace": labels,
        "value": record.model_dump(mode="json", include=SHOWN, exclude_none=True),
        "created_at": record.created_at,
        "updated_at": record.updated_at or record.created_at,
    }
