"""`memstream extract`: what would be remembered of a text, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError
from rich.table import Table

from schemas import ConversationEvent, RedactedEvent
from streams.cli.common import fail, out
from streams.cli.recall import plain
from streams.cli.source import File, Lines, read, show
from streams.errors import ConfigurationError, MemstreamError
from streams.settings import Settings, load_settings

if TYPE_CHECKING:
    from streams.memory.extraction import Extraction, Extractor
    from streams.memory.redaction import Redactor


class Kind(StrEnum):
    RULES = "rules"
    MODEL = "model"


def register(app: typer.Typer) -> None:
    app.command("extract")(extract)


def extract(
    file: File = "-",
    as_json: Annotated[bool, typer.Option("--json", help="The answer as one JSON object.")] = False,
    as_jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl",
            help="Reads one object a line (text or messages; as for `publish`), writes one JSON object for each.",
        ),
    ] = False,
    extractor: Annotated[Kind | None, typer.Option(help="Default: MEMSTREAM_EXTRACTOR.")] = None,
    at: Annotated[
        str, typer.Option(help="When it was said, for lines that do not say: ISO 8601. Default: now.", metavar="TIME")
    ] = "",
    tz: Annotated[str, typer.Option("--tz", help="Zone of relative dates, such as Asia/Shanghai.")] = "UTC",
    explain: Annotated[bool, typer.Option("--explain", help="Why each sentence was or was not kept.")] = False,
) -> None:
    """Show the candidates of a text: it is redacted first, then read. Nothing is sent to Kafka or stored.

    A plain text is one message of the user.
    """
    from streams.memory.redaction import Redactor, load_policy

    settings = load_settings()
    said_at = parse_time(at)
    redactor = Redactor(load_policy(settings.redaction_policy))

    def event_of(given: Mapping[str, Any]) -> RedactedEvent:
        return as_event(given, redactor, said_at, tz)

    try:
        if as_jsonl:
            asyncio.run(_lines(file, event_of, settings, extractor, explain))
        else:
            asyncio.run(_text(file, event_of, settings, extractor, explain, as_json))
    except MemstreamError as error:
        fail(str(error))


async def _text(
    file: str,
    event_of: Callable[[Mapping[str, Any]], RedactedEvent],
    settings: Settings,
    kind: Kind | None,
    explain: bool,
    as_json: bool,
) -> None:
    text = read(file)
    if not text.strip():
        fail("there is nothing to read")
    try:
        event = event_of({"text": text})
    except ValueError as error:
        fail(str(error))
    async with AsyncExitStack() as stack:
        found = await make_extractor(settings, kind, stack).extract(event)
    if as_json:
        show(answer(event, found, explain))
    else:
        out.print(candidate_table(found) if found.candidates else f"nothing is kept ({found.skipped})")
        if explain:
            out.print(trace_table(event, found))


async def _lines(
    file: str,
    event_of: Callable[[Mapping[str, Any]], RedactedEvent],
    settings: Settings,
    kind: Kind | None,
    explain: bool,
) -> None:
    lines = Lines(file)
    async with AsyncExitStack() as stack:
        chosen = make_extractor(settings, kind, stack)
        for number, given in lines:
            try:
                event = event_of(given)
            except ValueError as error:
                lines.refuse(number, str(error))
                continue
            found = await chosen.extract(event)
            kept = {"id": given["id"]} if isinstance(given.get("id"), str | int) else {}
            show({**kept, **answer(event, found, explain)})
    lines.end()


def make_extractor(settings: Settings, kind: Kind | None, stack: AsyncExitStack) -> Extractor:
    """Raises `ConfigurationError` when the model is not configured."""
    from streams.memory.extraction import RuleExtractor

    if (kind or settings.extractor) == "rules":
        return RuleExtractor()
    from streams.app import chat_of, model_extractor_of

    if not settings.chat_model:
        raise ConfigurationError("--extractor model needs MEMSTREAM_CHAT_MODEL (and MEMSTREAM_CHAT_BASE_URL)")
    chat = chat_of(settings)
    stack.push_async_callback(chat.close)
    return model_extractor_of(settings, chat)


def as_event(given: Mapping[str, Any], redactor: Redactor, said_at: datetime, zone: str) -> RedactedEvent:
    """A line or a text as the stage `extract` gets it. Raises `ValueError` with a reason that quotes nothing."""
    from streams.agents.redact import redact_event
    from streams.cli.publish import problem

    fields: dict[str, Any] = {"event_id": "try", "namespace": "try", "user_id": "try", "timezone": zone, **given}
    fields.setdefault("occurred_at", said_at)
    if isinstance(fields.get("text"), str) and "messages" not in fields:
        fields["messages"] = [{name: fields[name] for name in ("text", "role", "speaker") if name in fields}]
    try:
        event = ConversationEvent.model_validate(fields)
        event.to_bytes()
    except ValidationError as error:
        raise ValueError(problem(error)) from None
    except ValueError:
        raise ValueError("the text is not valid Unicode (a lone surrogate)") from None
    # Its own time is the clock here: a text from a file was not appended anywhere.
    appended_at = max(event.occurred_at or said_at, said_at)
    return redact_event(event, redactor, appended_at, event.timezone or zone)


def parse_time(text: str) -> datetime:
    """Now, or an ISO 8601 time; without an offset it is UTC."""
    if not text:
        return datetime.now(UTC)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter("--at: write it like 2026-03-02T09:00:00+08:00") from None
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def answer(event: RedactedEvent, found: Extraction, explain: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "candidates": [c.model_dump(mode="json", exclude_none=True) for c in found.candidates],
        "skipped": found.skipped,
    }
    if explain:
        made["sentences"] = [
            {"text": event.messages[t.message].text[t.start : t.end], "kept": t.kept, "why": t.why} for t in found.trace
        ]
    return made


def candidate_table(found: Extraction) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("type", "importance", "about", "time", "memory"):
        table.add_column(column, overflow="fold")
    for item in found.candidates:
        about = f"{item.subject}.{item.attribute}" if item.attribute else (item.subject or "")
        if item.value:
            about += f" = {'not ' if item.polarity == 'negative' else ''}{item.value}"
        time = item.time.start.isoformat(timespec="minutes") if item.time and item.time.start else ""
        table.add_row(item.memory_type.value, f"{item.importance:g}", plain(about), time, plain(item.content))
    return table


def trace_table(event: RedactedEvent, found: Extraction) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("kept", "why", "sentence"):
        table.add_column(column, overflow="fold")
    for step in found.trace:
        sentence = event.messages[step.message].text[step.start : step.end]
        table.add_row("yes" if step.kept else "no", plain(step.why), plain(sentence.strip()))
    return table
