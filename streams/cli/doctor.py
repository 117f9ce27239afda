"""`memstream doctor`: one line a check, with what to do when it fails."""

from __future__ import annotations

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import typer
from pydantic import SecretStr

from streams.cli.common import kafka_folder, out, run, settings_for_client
from streams.errors import ConfigurationError, MemstreamError
from streams.settings import Settings, load_settings
from streams.topics import check_topics

LEAST_FREE_BYTES = 1 << 30
ENDPOINT_SECONDS = 10.0
MODELS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    detail: str


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor() -> None:
    """Check broker, topics, store, model, ports and disk. Exit code 1 when something is wrong."""

    async def checks() -> list[Check]:
        return [check async for check in examine()]

    failed = False
    for check in run(checks()):
        failed |= not check.ok
        mark = "[green]ok  [/]" if check.ok else "[bold red]FAIL[/]"
        out.print(f"{mark} {check.name}: ", end="")
        out.print(check.detail, markup=False, soft_wrap=True)
    raise typer.Exit(1 if failed else 0)


async def examine() -> AsyncIterator[Check]:
    """All checks in order; a broker that is away only fails what needs it."""
    try:
        settings = settings_for_client()
    except MemstreamError as error:
        yield Check("broker", False, str(error))
        settings = load_settings()
    else:
        async for check in _kafka(settings):
            yield check
    yield _disk(settings)
    yield _port(settings)
    async for check in _endpoints(settings):
        yield check
    async for check in _model_and_store(settings):
        yield check


async def _kafka(settings: Settings) -> AsyncIterator[Check]:
    try:
        states = await check_topics(settings)
    except MemstreamError as error:
        yield Check("broker", False, f"{error}. Check MEMSTREAM_KAFKA_BOOTSTRAP and MEMSTREAM_KAFKA_SECURITY_PROTOCOL")
        return
    yield Check("broker", True, settings.kafka_bootstrap)
    wrong = [f"{state.name} {state.problem}" for state in states if state.problem]
    yield Check("topics", not wrong, "; ".join(wrong) or f"{len(states)} topics are as they must be")


def _disk(settings: Settings) -> Check:
    folder = Path(settings.data_dir)
    there = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    free = shutil.disk_usage(there).free
    enough = free >= LEAST_FREE_BYTES
    advice = "" if enough else ": free some space, or set MEMSTREAM_DATA_DIR to another disk"
    return Check("disk", enough, f"{free / 2**30:.1f} GiB free for {folder}{advice}")


def _port(settings: Settings) -> Check:
    if not settings.metrics_port:
        return Check("metrics port", True, "switched off (MEMSTREAM_METRICS_PORT=0)")
    with socket.socket() as probe:
        probe.settimeout(1)
        taken = probe.connect_ex((settings.metrics_host, settings.metrics_port)) == 0
    state = "in use (by a running worker, or by something else: set MEMSTREAM_METRICS_PORT)" if taken else "free"
    return Check("metrics port", True, f"{settings.metrics_port} is {state}")


async def _endpoints(settings: Settings) -> AsyncIterator[Check]:
    """Whether the configured models are among those that OpenAI-compatible endpoints list."""
    if "model" in (settings.extractor, settings.judge):
        url, key = settings.chat_base_url, settings.chat_api_key
        yield await _endpoint("chat", settings.chat_model, url, key, only_proof=True)
    if settings.embedder.startswith("openai:"):
        url, key = settings.embedder_base_url, settings.embedder_api_key
        name = settings.embedder.removeprefix("openai:")
        # Not every list has the models for embeddings: the check `model` makes a vector.
        yield await _endpoint("embedder", name, url, key, only_proof=False)


async def _endpoint(what: str, model: str, url: str, key: SecretStr, *, only_proof: bool) -> Check:
    """`only_proof`: no other check asks this model for anything, so that it must be listed."""
    from streams.adapters.model_list import check_endpoint, has_model, list_models
    from streams.app import OPENAI

    name, setting = f"{what} endpoint", f"MEMSTREAM_{what.upper()}"
    if not model:
        return Check(name, False, f"no model is chosen: set {setting}_MODEL")
    url = url or OPENAI
    # Without a password or a key.
    where = url.partition("?")[0].rpartition("@")[2]
    try:
        check_endpoint(setting, url, key)
        models = await list_models(url, key, seconds=ENDPOINT_SECONDS, dependency=what)
    except ConfigurationError as error:
        return Check(name, False, str(error))
    except MemstreamError as error:
        return Check(name, False, f"{where}: {error}. Check {setting}_BASE_URL and {setting}_API_KEY")
    if models is None:
        return Check(name, not only_proof, f"{where} lists no models (HTTP 404): does {setting}_BASE_URL end in /v1?")
    if has_model(models, model):
        return Check(name, True, f"{where} has {model}")
    shown = ", ".join(models[:MODELS_SHOWN]) + (", ..." if len(models) > MODELS_SHOWN else "")
    return Check(name, not only_proof, f"{where} does not list {model}; it has {shown or 'no model'}")


async def _model_and_store(settings: Settings) -> AsyncIterator[Check]:
    from streams.app import embedder_of, store_of

    try:
        embedder = embedder_of(settings)
        vector = (await asyncio.wait_for(embedder.embed_passages(["ping"]), 30))[0]
    except (MemstreamError, TimeoutError) as error:
        yield Check("model", False, str(error) or "did not answer within 30 s")
        return
    profile = embedder.profile
    calibrated = (
        "calibrated"
        if profile.calibrated
        else "NOT calibrated: its thresholds are guesses until `memstream calibrate` has run"
    )
    yield Check("model", True, f"{profile.name}, {len(vector)} dimensions, {calibrated}")
    try:
        if not settings.qdrant_url and is_locked_by_worker(settings):
            yield Check("store", True, f"embedded in {settings.data_dir}, in use by the running worker")
            return
        store = store_of(settings, profile)
        await store.open()
        count = await store.count()
        await store.close()
        where = settings.qdrant_url or f"embedded in {settings.data_dir}"
        yield Check("store", True, f"{where}, {profile.dimension} dimensions, {count} memories")
    except MemstreamError as error:
        yield Check("store", False, str(error))
    finally:
        await embedder.close()


def is_locked_by_worker(settings: Settings) -> bool:
    from streams.adapters.kafka_broker import describe_left_over

    running = describe_left_over(kafka_folder(settings))
    return running is not None and running.owner is not None
