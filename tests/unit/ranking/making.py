"""Memories for these tests."""

from datetime import UTC, datetime

from schemas import Layer, MemoryRecord, MemoryType, Source, Tenant

TENANT = Tenant(namespace="shop", user_id="1")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def memory(
    name: str, content: str, *, at: datetime = START, layer: Layer = Layer.EPISODE, **more: object
) -> MemoryRecord:
    """A memory whose event is `name` and whose id is `mem_<name>`."""
    fields: dict[str, object] = {
        "memory_id": f"mem_{name}",
        "namespace": TENANT.namespace,
        "user_id": TENANT.user_id,
        "layer": layer,
        "memory_type": MemoryType.EPISODE if layer is Layer.EPISODE else MemoryType.FACT,
        "content": content,
        "session_id": "s",
        "sequence": round(at.timestamp() * 1_000_000),
        "occurred_at": at,
        "created_at": at,
        "sources": (Source(event_id=name),),
    }
    return MemoryRecord.model_validate(fields | more)
