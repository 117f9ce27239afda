"""The OpenAPI document as a file: `python -m streams.http.document` writes docs/openapi.json anew."""

from __future__ import annotations

import asyncio
from pathlib import Path

from streams.client import MemoryClient
from streams.contract import as_text
from streams.health import Health
from streams.http.app import make_app
from streams.settings import load_settings

FILE = Path(__file__).parents[2] / "docs" / "openapi.json"


async def document() -> str:
    """Needs no broker."""
    settings = load_settings(kafka_bootstrap="none:1")
    client = MemoryClient(settings=settings)
    try:
        return as_text(make_app(settings, client, Health()).openapi())
    finally:
        await client.close()


if __name__ == "__main__":
    FILE.write_text(asyncio.run(document()), encoding="utf-8")
