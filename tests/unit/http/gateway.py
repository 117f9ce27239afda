"""A gateway without Kafka: its client is the real one, not started, so that what passes the guard is answered 503."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from streams.client import MemoryClient
from streams.health import Health
from streams.http.app import make_app
from streams.http.keys import new_key, read_keys, write_keys
from streams.settings import Settings, load_settings

PASSED = 503
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
