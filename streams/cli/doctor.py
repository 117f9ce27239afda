"""`memstream doctor`: one line a check, with what to do when it fails."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr

from streams.adapters.kafka_folder import describe_left_over
from streams.cli.common import KAFKA_PORT, kafka_folder, out, run, settings_for_client, tenant_of
from streams.cli.doctor_questions import Check, about_event, about_import, about_memory
from streams.disk import free_bytes
from streams.errors import ConfigurationError, MemstreamError
from streams.ports import ModelProfile
from streams.settings import Settings, load_settings
from streams.topics import check_topics

LEAST_FREE_BYTES = 1 << 30
# A worker with all roles takes up to 1 GB; where one runs already, it has had its share.
LEAST_MEMORY_BYTES = 512 << 20
# Of Linux, in kB.
MEMORY = Path("/proc/meminfo")
ASK_SECONDS = 2.0
# Where who listens everywhere can be asked.
LOCAL = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}
ENDPOINT_SECONDS = 10.0
MODELS_SHOWN = 8


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    event: Annotated[str, typer.Option(metavar="EVENT_ID", help="Written but not found: what became of it.")] = "",
    memory: Annotated[str, typer.Option(metavar="MEMORY_ID", help="Old value returned: what took its place.")] = "",
    task: Annotated[str, typer.Option("--import", metavar="TASK", help="Import stuck: how far it is.")] = "",
    namespace: Annotated[str | None, typer.Option(help="Whose event or memory.")] = None,
    user: Annotated[str | None, typer.Option(help="Whose event or memory.")] = None,
) -> None:
    """Check broker, topics, store, model, ports, memory and disk, or answer a question about one event, memory or
    import. Exit code 1 when something is wrong.
    """
    if sum(map(bool, (event, memory, task))) > 1:
        raise typer.BadParameter("give one of --event, --memory, --import")
    if event or memory:
        if not (namespace and user):
            raise typer.BadParameter("--namespace and --user say whose it is")
        tenant = tenant_of(namespace, user)

    def asked() -> AsyncIterator[Check]:
        if task:
            return about_import(settings_for_client(), task, namespace)
        if event:
            return about_event(settings_for_client(), tenant, event)
        return about_memory(settings_for_client(), tenant, memory) if memory else examine()

    async def checks() -> list[Check]:
        return [check async for check in asked()]

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
    yield _memory()
    async for check in _ports(settings):
        yield check
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
    free = free_bytes(folder)
    enough = free >= LEAST_FREE_BYTES
    advice = "" if enough else ": free some space, or set MEMSTREAM_DATA_DIR to another disk"
    return Check("disk", enough, f"{free / 2**30:.1f} GiB free for {folder}{advice}")


def _memory() -> Check:
    try:
        lines = dict(line.split(":", 1) for line in MEMORY.read_text(encoding="ascii").splitlines())
        free = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return Check("memory", True, "how much is free is not known on this system; a worker takes up to 1 GB")
    enough = free >= LEAST_MEMORY_BYTES
    advice = "" if enough else ": a worker takes up to 1 GB and Kafka as much; end something else"
    return Check("memory", enough, f"{free / 2**30:.1f} GiB free{advice}")


async def _ports(settings: Settings) -> AsyncIterator[Check]:
    for name, host, port in (
        ("metrics port", settings.metrics_host, settings.metrics_port),
        ("HTTP port", settings.http_host, settings.http_port),
    ):
        setting = f"MEMSTREAM_{name.split()[0].upper()}_PORT"
        if not port:
            yield Check(name, True, f"switched off ({setting}=0)")
        else:
            yield await _port(name, host, port, f"set {setting} to another", is_memstream)
    running = describe_left_over(kafka_folder(settings))
    own = running.state.port if running and running.state else None
    if own is not None:
        yield Check("Kafka port", True, f"{own} is that of the broker that runs on {settings.data_dir}")
    elif not load_settings().kafka_bootstrap:

        async def never(_host: str, _port: int) -> bool:
            return False

        advice = "give `memstream up --kafka-port` another"
        yield await _port("Kafka port", "127.0.0.1", KAFKA_PORT, advice, never)


async def _port(name: str, host: str, port: int, advice: str, ours: Callable[[str, int], Awaitable[bool]]) -> Check:
    host = LOCAL.get(host, host)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.settimeout(1)
        taken = probe.connect_ex((host, port)) == 0
    if not taken:
        return Check(name, True, f"{port} is free")
    if await ours(host, port):
        return Check(name, True, f"{port} is in use by memstream")
    return Check(name, False, f"{port} is taken by another program: {advice}")


async def is_memstream(host: str, port: int) -> bool:
    """Whether who listens there has memstream's metrics."""
    import httpx

    address = f"[{host}]" if ":" in host else host
    try:
        async with httpx.AsyncClient(timeout=ASK_SECONDS, trust_env=False) as client:
            answer = await client.get(f"http://{address}:{port}/metrics")
    except (httpx.HTTPError, httpx.InvalidURL):
        return False
    return "memstream_build_info" in answer.text


async def _endpoints(settings: Settings) -> AsyncIterator[Check]:
    """Whether the configured models are among those that OpenAI-compatible endpoints list."""
    if "model" in (settings.extractor, settings.judge, settings.recall_rewrite):
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
    yield Check("model", True, f"{profile.name}, {len(vector)} dimensions, {calibrated}; {thresholds(profile)}")
    try:
        if not settings.qdrant_url and is_locked_by_worker(settings):
            yield Check("store", True, f"embedded in {settings.data_dir}, in use by the running worker")
            return
        if not settings.qdrant_url and not (settings.data_dir / "store").exists():
            # To open one would make it, for this model.
            yield Check("store", True, f"none yet in {settings.data_dir}: the first start makes it")
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


def thresholds(profile: ModelProfile) -> str:
    named = (("recall", profile.recall), ("conflict", profile.conflict), ("duplicate", profile.duplicate))
    values = ", ".join(f"{name} {value:.2f}" for name, value in named)
    return f"thresholds {values} (irrelevant results: `memstream explain MEMORY QUESTION`)"


def is_locked_by_worker(settings: Settings) -> bool:
    running = describe_left_over(kafka_folder(settings))
    return running is not None and running.owner is not None
