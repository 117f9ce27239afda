"""`memstream dead-letters`: what was parked, where it came from, and what is to become of it."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from streams.adapters.dead_letters import dead_letters
from streams.cli.common import err, fail, moment, out, run, settings_for_client
from streams.dead_letters import Box, Letter, LetterId, Wanted, refusal
from streams.settings import Settings
from streams.topics import BY_NAME

LISTED = 100

Ids = Annotated[list[str] | None, typer.Argument(help="Letters as `list` names them, such as dead-letters/0/17.")]
Stage = Annotated[str | None, typer.Option(help="Only of this stage: redact, extract, memory.")]
Reason = Annotated[str | None, typer.Option(help="Only with this reason, such as too_large.")]
Source = Annotated[str | None, typer.Option("--topic", help="Only from this topic, or only in this dead-letter topic.")]
Since = Annotated[str | None, typer.Option(help="Only what was parked from this time on (ISO 8601).")]
Until = Annotated[str | None, typer.Option(help="Only what was parked before this time (ISO 8601).")]
Limit = Annotated[int | None, typer.Option(min=1, help="At most so many, the oldest first.")]
All = Annotated[bool, typer.Option("--all", help="Every letter that is open.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]

commands = typer.Typer(no_args_is_help=True, help="Records that were parked: list, show, redrive, drop.")


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="dead-letters")


@commands.command("list")
def list_letters(
    stage: Stage = None,
    reason: Reason = None,
    topic: Source = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = LISTED,
    settled: Annotated[bool, typer.Option("--settled", help="Also what was redriven or dropped.")] = False,
    as_json: AsJson = False,
) -> None:
    """The letters that are open, oldest first. Their text is not read out."""
    settings = settings_for_client()
    wanted = _wanted(settings, None, stage, reason, topic, since, until)
    box = run(_box(settings))
    found = [letter for letter in box.letters if wanted.takes(letter)] if settled else box.open(wanted)
    shown = found[:limit]
    if as_json:
        for letter in shown:
            typer.echo(json.dumps({**letter.as_json(), "state": box.settled.get(letter.id, "open")}))
        return
    if not found:
        out.print("no dead letters")
        return
    out.print(_table(shown, box))
    if len(found) > len(shown):
        err.print(f"and {len(found) - len(shown)} more: --limit shows them")


@commands.command()
def show(
    letter: Annotated[str, typer.Argument(help="As `list` names it, such as dead-letters/0/17.")],
    value: Annotated[bool, typer.Option("--value", help="Also key and text: they name and quote a user.")] = False,
    as_json: AsJson = False,
) -> None:
    """Where one letter came from and why it is here."""
    settings = settings_for_client()
    wanted = _wanted(settings, [letter])
    box = run(_box(settings))
    found = next((one for one in box.letters if wanted.takes(one)), None)
    if found is None:
        fail(f"{letter} is not there (any more)")
    facts: dict[str, Any] = {
        **found.as_json(),
        "state": box.settled.get(found.id, "open"),
        "kept_until": _kept_until(found).isoformat(),
        "redrive": refusal(found, settings.partitions) or "possible",
    }
    if value:
        key, content = run(_value(settings, found.id)) or (None, None)
        facts |= _readable("key", key) | _readable("value", content)
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    for name, fact in facts.items():
        text = fact if isinstance(fact, str) else json.dumps(fact)
        # What a terminal would obey (escape sequences) is written as what it is.
        out.print(f"{name}: {_escaped(text)}", markup=False, soft_wrap=True)


@commands.command()
def redrive(
    letters: Ids = None,
    stage: Stage = None,
    reason: Reason = None,
    topic: Source = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    everything: All = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send letters back to the topic that they came from, once what parked them is mended.

    Each return is counted; one that came back too often is refused. Exit code 1 when any was refused.
    """
    settings = settings_for_client()
    chosen = _chosen(settings, _wanted(settings, letters, stage, reason, topic, since, until), everything, limit)
    refused = {letter.id: why for letter in chosen if (why := refusal(letter, settings.partitions))}
    able = [letter for letter in chosen if letter.id not in refused]
    done = {letter.id for letter in able}
    if able and not dry_run:
        _confirm(f"Send {_count(able)} back?", yes)
        done = run(_redrive(settings, able))
    would = "would be redriven" if dry_run else "redriven"
    for letter in chosen:
        said = refused.get(letter.id)
        _report(letter, "refused" if said else would if letter.id in done else "gone", said or "", as_json)
    _sum(f"{would}: {len(done)}, refused: {len(refused)}", as_json)
    if refused or len(done) < len(able):
        raise typer.Exit(1)


@commands.command()
def drop(
    letters: Ids = None,
    stage: Stage = None,
    reason: Reason = None,
    topic: Source = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    everything: All = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Settle letters that nobody will mend: they are listed no more and can't be redriven.

    Kafka can delete a partition only from its start. What lies there and is settled is deleted at once; a letter
    behind one that is still open is kept, as it is told, until its retention ends.
    """
    settings = settings_for_client()
    chosen = _chosen(settings, _wanted(settings, letters, stage, reason, topic, since, until), everything, limit)
    if not chosen or dry_run:
        for letter in chosen:
            _report(letter, "would be dropped", "", as_json)
        _sum(f"would be dropped: {len(chosen)}", as_json)
        return
    _confirm(f"Drop {_count(chosen)}? This can't be undone.", yes)
    kept, allowed = run(_drop(settings, chosen))
    for letter in chosen:
        until_then = f"its text is gone by {_kept_until(letter):%Y-%m-%d %H:%M} UTC" if letter.id in kept else "deleted"
        _report(letter, "dropped", until_then, as_json)
    _sum(f"dropped: {len(chosen)}, deleted now: {len(chosen) - len(kept)}", as_json)
    if not allowed:
        err.print("the broker lets this user delete no records: they go with their retention")


async def _box(settings: Settings) -> Box:
    async with dead_letters(settings) as there:
        return await there.box()


async def _value(settings: Settings, letter: LetterId) -> tuple[bytes | None, bytes | None] | None:
    async with dead_letters(settings) as there:
        return await there.value(letter)


async def _redrive(settings: Settings, letters: Sequence[Letter]) -> set[LetterId]:
    async with dead_letters(settings) as there:
        return {letter.id async for letter in there.redrive(letters)}


async def _drop(settings: Settings, letters: Sequence[Letter]) -> tuple[set[LetterId], bool]:
    """Those whose text is still there, and whether the broker let us delete."""
    async with dead_letters(settings) as there:
        await there.mark([letter.id for letter in letters], "dropped")
        allowed = await there.delete_settled()
        still = {letter.id for letter in (await there.box()).letters}
        return {letter.id for letter in letters} & still, allowed


def _wanted(
    settings: Settings,
    letters: Sequence[str] | None,
    stage: str | None = None,
    reason: str | None = None,
    topic: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Wanted:
    """Times without a zone are UTC."""
    return Wanted(
        ids=frozenset(LetterId.parse(text.removeprefix(settings.topic_prefix)) for text in letters or ()),
        stage=stage,
        reason=reason,
        topic=topic.removeprefix(settings.topic_prefix) if topic else None,
        since=moment("since", since) if since is not None else None,
        until=moment("until", until) if until is not None else None,
    )


def _chosen(settings: Settings, wanted: Wanted, everything: bool, limit: int | None) -> list[Letter]:
    if wanted.everything and not everything:
        fail("which letters? Name them, or filter, or give --all", 2)
    found = run(_box(settings)).open(wanted)
    if missing := wanted.ids - {letter.id for letter in found}:
        fail(f"not among the open letters: {', '.join(str(one) for one in sorted(missing))}")
    return found[:limit]


def _confirm(question: str, yes: bool) -> None:
    if not yes and not typer.confirm(question, err=True):
        err.print("nothing was done")
        raise typer.Exit(1)


def _report(letter: Letter, what: str, detail: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({**letter.as_json(), "did": what, "detail": detail}))
    else:
        line = f"{letter.id} {letter.stage} {letter.reason}: {what}" + (f" ({detail})" if detail else "")
        out.print(line, markup=False, soft_wrap=True)


def _sum(text: str, as_json: bool) -> None:
    if not as_json:
        out.print(text)


def _count(letters: Sequence[Letter]) -> str:
    return "1 letter" if len(letters) == 1 else f"{len(letters)} letters"


def _kept_until(letter: Letter) -> datetime:
    return letter.parked_at + timedelta(milliseconds=BY_NAME[letter.id.topic].retention_ms or 0)


def _table(letters: Sequence[Letter], box: Box) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("letter", "parked", "stage", "reason", "came from", "event", "bytes", "redriven", "state"):
        table.add_column(column, overflow="fold")
    for letter in letters:
        cells = (
            str(letter.id),
            f"{letter.parked_at:%Y-%m-%d %H:%M:%S}",
            letter.stage,
            letter.reason,
            f"{letter.source_topic}/{letter.source_partition}/{letter.source_offset}",
            letter.event_id,
            str(letter.value_bytes),
            str(letter.redriven),
            box.settled.get(letter.id, "open"),
        )
        # As they are: a header may hold what looks like markup.
        table.add_row(*map(Text, cells))
    return table


def _readable(name: str, data: bytes | None) -> dict[str, str | None]:
    if data is None:
        return {name: None}
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode()}


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
