"""`memstream export`, and `memstream import` of what it wrote: a user's memories as JSON Lines, back without loss."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from schemas import MemoryRecord
from streams.cli.common import err, fail, run, settings_for_client
from streams.cli.rebuild import broker_of
from streams.cli.recall import Namespace, User
from streams.cli.worker import end_as_ctrl_c, one_owner
from streams.client import MemoryClient
from streams.errors import ConfigurationError
from streams.settings import Settings, load_settings

if TYPE_CHECKING:
    from streams.transfer import Taken


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    namespace: Namespace,
    user: User,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file instead of stdout.")] = None,
    deadline: Annotated[float, typer.Option(help="Seconds to wait for the whole answer.")] = 60.0,
) -> None:
    """All that is remembered of a user, one memory a line: current, replaced, repeated, archived, with sources."""
    count = run(write_export(namespace, user, output, deadline))
    err.print(f"{count} memories")


async def write_export(namespace: str, user: str, output: Path | None, deadline: float) -> int:
    count = 0
    try:
        target = sys.stdout if output is None else output.open("w", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{output} can't be written: {error.strerror}") from None
    try:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as memory:
            async for part in memory.export_parts(user_id=user, deadline=deadline):
                for record in part:
                    target.write(record.model_dump_json(exclude_none=True) + "\n")
                    count += 1
    finally:
        if target is not sys.stdout:
            target.close()
    return count


def take_back(lines: Iterable[str], *, after_forget: bool, data_dir: Path | None) -> None:
    """While nothing else writes: refuses where a worker has the role `memory`."""
    settings = load_settings(data_dir=data_dir)
    records = read_memories(lines)
    if settings.qdrant_url:
        told = run(write_import(settings_for_client(data_dir=data_dir), records, after_forget))
    else:
        end_as_ctrl_c()
        with one_owner(settings):
            told = run(import_here(settings, records, after_forget))
    refused = "".join(f", {count} refused ({reason})" for reason, count in sorted(told.refused.items()))
    err.print(f"{told.stored} stored, {told.known} there already{refused}", soft_wrap=True)
    if told.refused:
        raise typer.Exit(1)


def read_memories(lines: Iterable[str]) -> list[MemoryRecord]:
    """All lines, before anything is written. Ends the command at the first bad one; names its number and no text."""
    records: list[MemoryRecord] = []
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                records.append(MemoryRecord.model_validate_json(line))
                if not records[-1].sources:
                    fail(f"line {number}: sources: a memory names where it comes from")
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        fail(f"line {number}: {'.'.join(map(str, first['loc'])) or 'memory'}: {first['msg']}")
    return records


async def import_here(settings: Settings, records: list[MemoryRecord], after_forget: bool) -> Taken:
    async with broker_of(settings) as connected:
        return await write_import(connected, records, after_forget)


async def write_import(settings: Settings, records: list[MemoryRecord], after_forget: bool) -> Taken:
    from streams.app import embedder_of, store_of
    from streams.emitter import Emitter
    from streams.health import Health
    from streams.memory.redaction import Redactor, load_policy
    from streams.topics import ensure_topics
    from streams.transfer import Importer

    await ensure_topics(settings)
    await no_writer(settings)
    embedder = embedder_of(settings)
    store = store_of(settings, embedder.profile)
    emitter = Emitter(settings, Health(roles_ready={}))
    try:
        await store.open()
        await emitter.start()
        redactor = Redactor(load_policy(settings.redaction_policy))
        taken = await Importer(store, embedder, emitter, redactor, after_forget=after_forget).take(records)
        await store.flush()
        return taken
    finally:
        await emitter.stop()
        await store.close()
        await embedder.close()


async def no_writer(settings: Settings) -> None:
    """Raises `ConfigurationError` while a worker has the role `memory`."""
    from streams.app import consumer_group
    from streams.kafka import members

    if any((await members(settings, [consumer_group(settings, "memory")])).values()):
        raise ConfigurationError("a worker with the role `memory` is running: stop it first, there is one writer")
