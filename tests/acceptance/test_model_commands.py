"""`memstream extract` and `memstream eval` with a chat model: the commands, the real SDK, a server on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.acceptance.command import memstream
from tests.misbehaving import Misbehaving, Step

CASES = """
- id: moved
  lang: en
  turns:
    - at: 2026-03-02 09:00
      say: Hi! I moved from Oslo to Bergen last week.
  remember:
    - has: [Bergen]
  ask:
    - q: Which town did I move to?
      recall: [Bergen]
"""
FACT = {
    "message": 0,
    "quote": "I moved from Oslo to Bergen",
    "content": "I moved from Oslo to Bergen",
    "subject": "user",
    "attribute": "city",
    "value": "Bergen",
    "importance": 5,
}
INVENTED = {"message": 0, "quote": "I moved", "content": "I moved to Bergen with Ingrid", "subject": "user"}
GOOD = Step(content=json.dumps({"memories": [FACT, INVENTED]}))


@pytest.fixture
async def server() -> AsyncIterator[Misbehaving]:
    async with Misbehaving() as running:
        yield running


async def told(
    server: Misbehaving, folder: Path, *arguments: str, stdin: str = "", **settings: str
) -> CompletedProcess[str]:
    """A command in a process of its own, while this one serves the model."""
    given = {"MEMSTREAM_CHAT_BASE_URL": server.base_url, "MEMSTREAM_CHAT_MODEL": "m", **settings}
    return await asyncio.to_thread(
        lambda: memstream(*arguments, "--extractor", "model", folder=folder, settings=given, stdin=stdin)
    )


async def test_extract_shows_what_the_model_found_and_what_was_not_said(server: Misbehaving, tmp_path: Path) -> None:
    server.always("chat", GOOD)
    text = "Hi! I moved from Oslo to Bergen last week."
    shown = await told(server, tmp_path, "extract", "--json", "--explain", stdin=text, MEMSTREAM_CHAT_MAX_TOKENS="77")
    assert shown.returncode == 0, shown.stderr
    answer = json.loads(shown.stdout)
    assert [c["content"] for c in answer["candidates"]] == ["I moved from Oslo to Bergen"]
    assert [s["why"] for s in answer["sentences"]] == ["model", "not_grounded"]
    assert server.bodies("chat")[0]["max_tokens"] == 77


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (Step("status", status=500), "chat is unavailable: HTTP 500 error"),
        (Step("hang"), "chat is unavailable: no answer within 1"),
        (Step(content="I found nothing worth keeping."), "unusable_model_reply: 3 answers, none could be read"),
    ],
    ids=["500", "hang", "prose"],
)
async def test_a_failing_model_is_one_line(server: Misbehaving, tmp_path: Path, step: Step, line: str) -> None:
    server.always("chat", step)
    shown = await told(server, tmp_path, "extract", stdin="I live in Bonn.", MEMSTREAM_CHAT_DEADLINE_SECONDS="1")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert line in shown.stderr
    assert shown.stderr.count("\n") == 1
    assert "Bonn" not in shown.stderr


async def test_rules_stand_in_where_that_is_set(server: Misbehaving, tmp_path: Path) -> None:
    server.always("chat", Step("refuse"))
    shown = await told(server, tmp_path, "extract", "--json", stdin="I live in Bonn.", MEMSTREAM_CHAT_WHEN_DOWN="rules")
    assert [c["value"] for c in json.loads(shown.stdout)["candidates"]] == ["Bonn"]


async def test_eval_prints_its_table(server: Misbehaving, tmp_path: Path) -> None:
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / "moved.yaml").write_text(CASES, encoding="utf-8")
    server.always("chat", GOOD)
    shown = await told(server, tmp_path, "eval", "standard", "--cases", str(tmp_path), "--set", "known", "--json")
    figures = json.loads(shown.stdout)
    assert figures["dimensions"]["completeness"] == {"share": 1.0, "passed": 1, "n": 1, "goal": 0.9}
    assert figures["dimensions"]["accuracy"]["share"] == 1.0
    assert server.requests("chat") == 1

    own = tmp_path / "own.toml"
    own.write_text('version = "own-7"\nsystem = "Pick out what matters."', encoding="utf-8")
    asked = {"MEMSTREAM_EXTRACTION_PROMPT": str(own)}
    await told(server, tmp_path, "eval", "standard", "--cases", str(tmp_path), "--set", "known", **asked)
    assert server.bodies("chat")[-1]["messages"][0] == {"role": "system", "content": "Pick out what matters."}

    server.always("chat", Step(content="sorry"))
    shown = await told(server, tmp_path, "eval", "standard", "--cases", str(tmp_path), "--set", "known")
    assert shown.returncode == 1
    assert shown.stderr == ""
    assert "parked: unusable_model_reply" in shown.stdout
    assert shown.stdout.splitlines()[0].split() == ["dimension", "share", "passed", "n", "goal"]

    server.always("chat", Step("status", status=401))
    shown = await told(server, tmp_path, "eval", "standard", "--cases", str(tmp_path), "--set", "known")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr.startswith("memstream: chat is unavailable: ")
