"""The quick start of docs/http.md does what it says, against a real `memstream up`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import MEMSTREAM, PATIENCE_SECONDS, Up, clean_environment, memstream
from tests.acceptance.test_readme import Block, blocks
from tests.harness import free_port

GUIDE = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
STEPS = [block for block in blocks(GUIDE) if block.language == "bash" and not block.code.startswith("memstream up")]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(tmp_path_factory.mktemp("guide"), {"MEMSTREAM_HTTP_PORT": str(free_port())}) as running:
        yield running


def test_every_step_says_what_it_prints() -> None:
    assert len(STEPS) == 4
    assert all(step.prints for step in STEPS)


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_step(step: Block, up: Up) -> None:
    port = up.settings["MEMSTREAM_HTTP_PORT"]
    assert f"HTTP on http://127.0.0.1:{port}" in up.said
    environment = clean_environment(up.settings)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", step.code.replace("localhost:8000", f"127.0.0.1:{port}")],
        cwd=up.folder,
        env={**environment, "PATH": f"{MEMSTREAM.parent}:{environment['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for line in step.prints:
        assert re.search(".*".join(map(re.escape, line.split("…"))), done.stdout), f"{line!r} is not in\n{done.stdout}"


def test_keys_by_the_command_line(tmp_path: Path) -> None:
    made = memstream("keys", "add", "demo", "--namespace", "shop", "--rate", "5/minute", folder=tmp_path)
    assert re.fullmatch(r"msk_[0-9a-f]{12}_[\w-]{43}\n", made.stdout)
    key_id = made.stdout.split("_")[1]
    listed = memstream("keys", "list", folder=tmp_path).stdout
    assert listed == f"{key_id}  demo  shop: write, query, update, profile, history, turns; 5/minute\n"
    for wrong in (["-n", "*"], ["-n", "shop", "--verbs", "fly"], ["-n", "shop", "--rate", "often"]):
        assert memstream("keys", "add", "x", *wrong, folder=tmp_path).returncode == 2
    assert memstream("keys", "remove", key_id, folder=tmp_path).returncode == 0
    assert memstream("keys", "remove", key_id, folder=tmp_path).returncode == 1
    assert memstream("keys", "list", folder=tmp_path).stdout == ""


def test_the_gateway_needs_a_port(tmp_path: Path) -> None:
    settings = {"MEMSTREAM_KAFKA_BOOTSTRAP": "127.0.0.1:1", "MEMSTREAM_HTTP_PORT": "0"}
    told = memstream("worker", "--roles", "http", folder=tmp_path, settings=settings)
    assert (told.returncode, "MEMSTREAM_HTTP_PORT" in told.stderr) == (1, True)
