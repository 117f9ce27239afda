"""The last turns of a session, read from its episodes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from schemas import Layer, MemoryRecord, MemoryType, Tenant, Turn
from streams.memory.turns import last_that_fit, turns_from_episodes
from streams.ports import VectorStore

# What a reply can carry, whatever alphabet and escapes it is written in.
MOST_CHARS = 200_000
# Behind everything that was ever said: what stands before it is the end of the session.
_END = 2**62


async def last_turns(store: VectorStore, tenant: Tenant, session_id: str, count: int) -> Sequence[Turn]:
    """At most `count` and some 200,000 characters, oldest first; none where a namespace keeps no episodes."""
    wanted = count + 1
    while True:
        found = await store.neighbours(tenant, [_end(tenant, session_id)], before=wanted, after=0)
        made = turns_from_episodes([one.record for one in found])
        # The first of more than were asked for may lack its beginning.
        if len(found) < wanted or len(made) > count:
            return last_that_fit(made[-count:], MOST_CHARS, lambda turn: len(turn.text))
        wanted *= 4


def _end(tenant: Tenant, session_id: str) -> MemoryRecord:
    """A place in the session, not a memory."""
    now = datetime.now(UTC)
    return MemoryRecord.model_construct(
        memory_id="end",
        namespace=tenant.namespace,
        user_id=tenant.user_id,
        session_id=session_id,
        sequence=_END,
        layer=Layer.EPISODE,
        memory_type=MemoryType.EPISODE,
        content="",
        occurred_at=now,
        created_at=now,
        sources=(),
    )
