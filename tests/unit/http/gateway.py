"""A gateway without Kafka: its client is the real one, not started, so that what passes the guard is answered 503."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from schemas import MemoryRecord, RecallReply
from streams.client import MemoryClient
from streams.health import Health
from streams.http.app import make_app
from streams.http.keys import new_key, read_keys, write_keys
from streams.settings import Settings, load_settings
from tests.harness import eventually

PASSED = 503
RECORD = MemoryRecord.model_validate(
    {
        "memory_id": "mem_0",
        "namespace": "shop",
        "user_id": "u1",
        "layer": "fact",
        "content": "User lives in Bonn",
        "memory_type": "fact",
        "occurred_at": "2026-01-01T00:00:00Z",
        "created_at": "2026-01-01T00:00:00Z",
    }
)
QUESTION = {"user_id": "u1", "query": "Which seat?"}


def settings_for(folder: Path, **more: Any) -> Settings:
    return load_settings(kafka_bootstrap="127.0.0.1:1", data_dir=folder, **more)


def add_key(settings: Settings, **fields: Any) -> str:
    """Of namespaces `shop` and `lab`, all verbs, unless `fields` say otherwise."""
    namespaces = fields.pop("namespaces", ["shop", "lab"])
    verbs = fields.pop("verbs", ["write", "query", "delete", "profile", "history", "export"])
    token, key = new_key(
        **{"name": "test", "namespaces": namespaces, "default_namespace": namespaces[0], "verbs": verbs, **fields}
    )
    write_keys(settings.http_keys, (*read_keys(settings.http_keys), key))
    return token


@contextlib.asynccontextmanager
async def application(settings: Settings, client: type[MemoryClient] = MemoryClient) -> AsyncIterator[FastAPI]:
    made = client(settings=settings)
    try:
        yield make_app(settings, made, Health())
    finally:
        await made.close()


@contextlib.asynccontextmanager
async def gateway(
    settings: Settings, token: str = "", client: type[MemoryClient] = MemoryClient
) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with application(settings, client) as app:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=headers) as http:
            yield http


class Waiting(MemoryClient):
    """Its recalls wait until they are let go; its exports have no end."""

    begun: int
    go: asyncio.Event

    @classmethod
    def again(cls) -> None:
        cls.begun, cls.go = 0, asyncio.Event()

    @classmethod
    async def under_way(cls, count: int) -> None:
        async def so_many() -> bool:
            return cls.begun == count

        await eventually(so_many, every=0.01)

    async def recall(self, *_: Any, **__: Any) -> RecallReply:
        type(self).begun += 1
        await self.go.wait()
        return RecallReply()

    async def export_parts(self, **_: Any) -> AsyncIterator[list[MemoryRecord]]:
        while True:
            yield [RECORD] * 200
