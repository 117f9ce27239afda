"""What a namespace decides for itself."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bench.memory_store import MemoryStore
from schemas import ConversationEvent, Layer, Message, Tenant
from streams.adapters.embedders.constant import ConstantEmbedder
from streams.errors import ConfigurationError
from streams.ports import Where
from streams.settings import load_settings
from tests.inprocess import InProcess

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
BOTH = {Layer.FACT, Layer.EPISODE}


@pytest.mark.parametrize(
    ("layers", "own", "other"),
    [("facts+episodes", {Layer.FACT}, BOTH), ("facts", BOTH, {Layer.FACT})],
)
async def test_its_layers(layers: str, own: set[Layer], other: set[Layer]) -> None:
    chosen = "facts" if own == {Layer.FACT} else "facts+episodes"
    store = MemoryStore()
    line = InProcess(store, ConstantEmbedder(), load_settings(layers=layers, namespace_layers={"shop": chosen}))
    for namespace, expected in (("shop", own), ("clinic", other)):
        message = Message(text="I live in Bonn near the river.")
        said = ConversationEvent(event_id="e", namespace=namespace, user_id="u", messages=(message,), occurred_at=AT)
        await line.remember([said], AT)
        found, _ = await store.find(Tenant(namespace=namespace, user_id="u"), Where(), limit=100)
        assert {record.layer for record in found} == expected


def test_a_layer_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTREAM_NAMESPACE_LAYERS", '{"shop": "episodes"}')
    with pytest.raises(ConfigurationError, match="MEMSTREAM_NAMESPACE_LAYERS"):
        load_settings()
