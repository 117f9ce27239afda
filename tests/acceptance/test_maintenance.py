"""Looking after what is remembered, from the command line."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.acceptance.command import MEMSTREAM, Up, clean_environment, memstream

SAID = (
    "I met Ann Lee in Porto, and her ticket was 42.50 euros.",
    "The harbour tour starts at 9 and Bob Miller has the keys.",
    "我在《星星》书店花了三百元买书。",
    "My dog Rex is 3 years old.",
)
WHO = ("--namespace", "shop", "--user", "u1")


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(tmp_path_factory.mktemp("up")) as running:
        lines = [
            {"event_id": f"e{number}", "namespace": "shop", "user_id": "u1", "session_id": "s", "text": text}
            for number, text in enumerate(SAID)
        ]
        told = running.memstream("publish", "-", "--wait", stdin="\n".join(map(json.dumps, lines)))
        assert told.returncode == 0, told.stderr
        yield running


def test_decay_wants_to_be_asked_rightly(up: Up) -> None:
    for arguments in ([], ["--dry-run", "--now", "soon"], ["--dry-run", "--user", "u1"]):
        assert up.memstream("decay", *arguments).returncode == 2


def test_a_dry_run_says_what_a_window_would_do(up: Up) -> None:
    nothing = up.memstream("decay", "--dry-run")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert nothing.stderr.endswith("UTC: nothing to do\n")
    later = (datetime.now(UTC) + timedelta(days=100)).isoformat()
    told = up.memstream("decay", "--dry-run", "--now", later, "--json", *WHO)
    assert told.returncode == 0, told.stderr
    planned = [json.loads(line) for line in told.stdout.splitlines()]
    assert {(one["namespace"], one["user_id"]) for one in planned} == {("shop", "u1")}
    (fold,) = [one for one in planned if one["action"] == "fold"]
    assert len(fold["memory_ids"]) >= len(SAID)
    reasons = [one["reason"] for one in planned if one["action"] == "archive"]
    assert reasons
    assert set(reasons) <= {"not used for 99 days", "not used for 100 days"}
    table = up.memstream("decay", "--dry-run", "--now", later)
    assert [line.split()[0] for line in table.stdout.splitlines()] == ["what", *(one["action"] for one in planned)]
    assert "Porto" not in told.stdout + table.stdout + table.stderr
    other = up.memstream("decay", "--dry-run", "--now", later, "--namespace", "sho")
    assert other.stdout == ""


def test_export_rebuild_killed_and_import(up: Up) -> None:
    busy = up.memstream("rebuild")
    assert busy.returncode == 1
    assert "already running" in busy.stderr
    question = ("recall", "Who has the keys of the harbour tour?", *WHO, "--json")
    before = json.loads(up.memstream(*question).stdout)["memories"]
    assert before
    told = up.memstream("export", *WHO, "-o", "memories.jsonl")
    assert told.returncode == 0, told.stderr
    lines = (up.folder / "memories.jsonl").read_text(encoding="utf-8").splitlines()
    assert told.stderr == f"{len(lines)} memories\n"
    assert len(lines) > len(SAID)
    busy = up.memstream("import", "memories.jsonl")
    assert busy.returncode == 1
    assert "already running" in busy.stderr
    busy = up.memstream("import", "memories.jsonl", MEMSTREAM_QDRANT_URL="http://127.0.0.1:1")
    assert busy.returncode == 1
    assert "a worker with the role `memory` is running" in busy.stderr
    up.signal(signal.SIGTERM)
    assert up.ended() == 0
    killed = subprocess.Popen(
        [MEMSTREAM, "rebuild"], cwd=up.folder, env=clean_environment(up.settings), stderr=subprocess.PIPE, text=True
    )
    assert killed.stderr is not None
    for line in killed.stderr:
        if "receipts: " in line:
            break
    killed.kill()
    killed.wait()
    killed.stderr.close()
    told = up.memstream("rebuild")
    assert told.returncode == 0, told.stderr
    assert "done: " in told.stderr
    raw = json.dumps(json.loads(lines[0]) | {"memory_id": "mem_" + "1" * 32, "content": "call me at 415-555-2671"})
    told = up.memstream("import", "-", stdin="\n".join([*lines, raw]))
    assert told.returncode == 1
    assert told.stderr.endswith(f"0 stored, {len(lines)} there already, 1 refused (not_redacted)\n")
    up.start()
    after = json.loads(up.memstream(*question).stdout)["memories"]
    assert [m["memory"]["memory_id"] for m in after] == [m["memory"]["memory_id"] for m in before]
    published = {"event_id": "e0", "namespace": "shop", "user_id": "u1", "session_id": "s", "text": SAID[0]}
    assert "duplicate" in up.memstream("publish", "-", "--wait", stdin=json.dumps(published)).stdout


def test_a_rebuild_of_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    told = memstream("rebuild", folder=tmp_path_factory.mktemp("empty"))
    assert told.returncode == 1
    assert "nothing was ever kept in .memstream" in told.stderr
    told = memstream(
        "rebuild", folder=tmp_path_factory.mktemp("shared"), settings={"MEMSTREAM_QDRANT_URL": "http://127.0.0.1:1"}
    )
    assert told.returncode == 2
    assert "--into" in told.stderr


def test_a_bad_line_is_named_without_its_text(tmp_path: Path) -> None:
    for line in ('{"content": "opensesame"}', "opensesame"):
        told = memstream("import", "-", "--format", "memories", folder=tmp_path, stdin=line)
        assert told.returncode == 1
        assert told.stderr.startswith("memstream: line 1: ")
        assert "opensesame" not in told.stderr
    told = memstream("import", "nowhere.jsonl", folder=tmp_path)
    assert told.stderr == "memstream: nowhere.jsonl: No such file or directory\n"


def test_nobody_runs(tmp_path_factory: pytest.TempPathFactory) -> None:
    told = memstream("decay", "--dry-run", folder=tmp_path_factory.mktemp("empty"))
    assert told.returncode == 1
    assert told.stderr.startswith("memstream: no broker")
