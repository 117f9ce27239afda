"""Looking after what is remembered, from the command line."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas import DecayTick, Tenant
from streams.cli.common import settings_for_client
from streams.kafka import make_producer
from streams.topics import shard_of
from tests.acceptance.command import MEMSTREAM, PATIENCE_SECONDS, Up, clean_environment, memstream

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


def remember(up: Up, user: str, *texts: str) -> None:
    lines = [{"event_id": f"{user}.{n}", "namespace": "shop", "user_id": user, "text": t} for n, t in enumerate(texts)]
    told = up.memstream("publish", "-", "--wait", stdin="\n".join(map(json.dumps, lines)))
    assert told.returncode == 0, told.stderr


def exported(up: Up, user: str) -> list[dict[str, str]]:
    told = up.memstream("export", "--namespace", "shop", "--user", user)
    assert told.returncode == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


def answered(up: Up, answer: str, *arguments: str) -> tuple[int, str]:
    """Exit code and standard error of a command that asks a person at a terminal."""
    person, terminal = os.openpty()
    try:
        asking = subprocess.Popen(
            [MEMSTREAM, *arguments],
            cwd=up.folder,
            env=clean_environment(up.settings),
            stdin=terminal,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.write(person, answer.encode())
        _, said = asking.communicate(timeout=PATIENCE_SECONDS)
        return asking.returncode, said
    finally:
        os.close(person)
        os.close(terminal)


def test_forget_by_a_query_asks_first(up: Up) -> None:
    remember(up, "u2", "My dog Rex is 3 years old.", "I live in Porto near the river.")
    asked = ("forget", "--namespace", "shop", "--user", "u2", "--query", "My dog Rex is 3 years old.", "--top-k", "1")
    before = exported(up, "u2")

    unasked = up.memstream(*asked)
    assert unasked.returncode == 2
    assert "--yes" in unasked.stderr
    assert up.memstream(*asked, "--session", "s", "--yes").returncode == 2
    code, said = answered(up, "n\n", *asked)
    assert code == 1
    assert "nothing was forgotten" in said
    assert exported(up, "u2") == before

    code, said = answered(up, "y\n", *asked)
    assert code == 0, said
    gone = {m["memory_id"] for m in before} - {m["memory_id"] for m in exported(up, "u2")}
    assert any(memory_id in said for memory_id in gone), "what goes was shown with its id"
    assert {m["content"] for m in exported(up, "u2")} == {m["content"] for m in before if m["memory_id"] not in gone}
    assert not [m for m in exported(up, "u2") if "Rex" in m["content"]]
    assert [m for m in exported(up, "u2") if "Porto" in m["content"]]

    nothing = up.memstream(*asked[:5], "--query", "zzz qqq", "--yes")
    assert (nothing.returncode, nothing.stdout) == (1, "")


def test_restore(up: Up) -> None:
    remember(up, "u3", "I live in Porto near the river.")
    settings = settings_for_client(data_dir=up.folder / ".memstream", partitions=2)
    end = datetime.now(UTC) + timedelta(days=200)
    shard = shard_of(Tenant(namespace="shop", user_id="u3"))

    async def window_ends() -> None:
        producer = make_producer(settings, max_request_size=100_000)
        await producer.start()
        tick = DecayTick(shard=shard, window_start=end - timedelta(hours=6), window_end=end)
        topic = settings.topic_prefix + "decay"
        await producer.send_and_wait(topic, tick.to_bytes(), key=str(shard).encode(), partition=shard % 2)
        await producer.stop()

    asyncio.run(window_ends())
    until = datetime.now(UTC) + timedelta(seconds=PATIENCE_SECONDS)
    while {m["status"] for m in exported(up, "u3")} != {"archived"}:
        assert datetime.now(UTC) < until, "the window archives what nobody used"
    ids = [m["memory_id"] for m in exported(up, "u3")]

    unknown = "mem_" + "0" * 32
    told = up.memstream("restore", "--namespace", "shop", "--user", "u3", *ids, unknown)
    assert told.returncode == 0, told.stderr
    assert told.stdout == f"restored: {len(ids)}\n"
    assert unknown in told.stderr
    assert "archived" not in {m["status"] for m in exported(up, "u3")}
    assert up.memstream("restore", "--namespace", "shop", "--user", "u3", unknown).returncode == 1


def test_export_rebuild_killed_and_import(up: Up) -> None:
    beside = up.memstream("rebuild")
    assert beside.returncode == 0, beside.stderr
    assert "switched: " in beside.stderr
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
    busy = up.memstream("optimize")
    assert busy.returncode == 1
    assert "stop it first" in busy.stderr
    up.signal(signal.SIGTERM)
    assert up.ended() == 0
    told = up.memstream("optimize")
    assert (told.returncode, told.stderr) == (0, "done\n")
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


def test_nothing_to_optimize(tmp_path: Path) -> None:
    told = memstream("optimize", folder=tmp_path)
    assert told.returncode == 1
    assert "nothing was ever kept in .memstream" in told.stderr
    told = memstream("optimize", folder=tmp_path, settings={"MEMSTREAM_QDRANT_URL": "http://127.0.0.1:1"})
    assert told.returncode == 2
    assert "does this by itself" in told.stderr


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
