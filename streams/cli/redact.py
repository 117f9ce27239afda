"""`memstream redact`: what a policy makes of a text, before anything is turned on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.cli.source import File, Lines, read, show
from streams.settings import load_settings

if TYPE_CHECKING:
    from streams.memory.redaction import Redaction


def register(app: typer.Typer) -> None:
    app.command("redact")(redact)


def redact(
    file: File = "-",
    as_json: Annotated[
        bool, typer.Option("--json", help="The spans: type, start, end, action; in characters of the input.")
    ] = False,
    as_jsonl: Annotated[
        bool, typer.Option("--jsonl", help='One object a line with a "text" field, in and out, spans included.')
    ] = False,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file (default: MEMSTREAM_REDACTION_POLICY, else the built-in one).")
    ] = None,
) -> None:
    """Print a text as memstream would let it in. Nothing is sent or stored; no model is used."""
    from streams.memory.redaction import Redactor, load_policy

    redactor = Redactor(load_policy(policy or load_settings().redaction_policy))
    if as_jsonl:
        lines = Lines(file)
        for number, given in lines:
            if isinstance(given.get("text"), str):
                result = redactor.redact(given["text"])
                # Other fields are left out, because they have not been looked at; an id is kept to tell lines apart.
                kept = {"id": given["id"]} if isinstance(given.get("id"), str | int) else {}
                show({**kept, "text": result.text, "spans": spans(result)})
            else:
                lines.refuse(number, 'no "text" field')
        lines.end()
        return
    result = redactor.redact(read(file))
    if as_json:
        show(spans(result))
    else:
        typer.echo(result.text, nl=False)


def spans(result: Redaction) -> list[dict[str, Any]]:
    return [{"type": s.entity, "start": s.start, "end": s.end, "action": s.action} for s in result.spans]
