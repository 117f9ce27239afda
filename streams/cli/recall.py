"""`memstream recall` and `memstream history`: memories as a table, a report, or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table

from schemas import Layer, MemoryRecord, MemoryType, Message, RecalledMemory, RecallReply
from streams.cli.common import err, fail, moment, out, printable, run, settings_for_client
from streams.client import MemoryClient

Namespace = Annotated[str, typer.Option(help="Namespace of the user.")]
User = Annotated[str, typer.Option(help="User id.")]
AsJson = Annotated[bool, typer.Option("--json", help="The reply as JSON.")]
# What the ranking saw, as against the weighted parts of the score (`RecalledMemory.parts`).
EVIDENCE = "evidence."
# Groups of options in the help.
WHICH = "Which memories"
PRINTED = "What is printed"
_WHOSE = re.compile(r"(?:(?P<role>user|assistant)|<(?P<speaker>[^<>]{1,256})>)\s*[:：]\s*(?P<text>.*)", re.DOTALL)


class Form(StrEnum):
    MEMORIES = "memories"
    PROMPT = "prompt"


class PlacedIn(StrEnum):
    SYSTEM = "system"
    USER = "user"


def _which(what: str, *names: str) -> Any:
    return typer.Option(*names, help=f"{what}; may be repeated.", rich_help_panel=WHICH)


def register(app: typer.Typer) -> None:
    app.command("recall")(recall)
    app.command("history")(history)


def recall(
    namespace: Namespace,
    user: User,
    question: Annotated[str, typer.Argument(help="A question, in any language. Or give --message.")] = "",
    message: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of a question: a message of the dialogue so far, oldest first; may be repeated. "
            "'assistant: …' and '<Anna>: …' say whose it is.",
            metavar="TEXT",
        ),
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, max=50, help="At most so many memories.")] = 5,
    layers: Annotated[list[Layer] | None, _which("Of this layer", "--layers", "--layer")] = None,
    types: Annotated[list[MemoryType] | None, _which("Of this type", "--types", "--type")] = None,
    tags: Annotated[list[str] | None, _which("With this tag", "--tags", "--tag")] = None,
    session: Annotated[str | None, typer.Option(help="Said in this session.", rich_help_panel=WHICH)] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Said from this time on (ISO 8601; UTC without an offset).", rich_help_panel=WHICH),
    ] = None,
    until: Annotated[str | None, typer.Option(help="Said before this time.", rich_help_panel=WHICH)] = None,
    as_of: Annotated[str | None, typer.Option(help="What held at this time.", rich_help_panel=WHICH)] = None,
    about: Annotated[str | None, typer.Option(help="Whom it is about: a name.", rich_help_panel=WHICH)] = None,
    superseded: Annotated[
        bool,
        typer.Option(
            "--include-superseded", "--superseded", help="Also what was replaced since.", rich_help_panel=WHICH
        ),
    ] = False,
    archived: Annotated[
        bool, typer.Option("--include-archived", help="Also what was archived.", rich_help_panel=WHICH)
    ] = False,
    form: Annotated[
        Form, typer.Option("--format", help="`prompt`: the block for a prompt.", rich_help_panel=PRINTED)
    ] = Form.MEMORIES,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="The same as --format prompt.", rich_help_panel=PRINTED)
    ] = False,
    prompt_role: Annotated[
        PlacedIn,
        typer.Option(help="The message that the block goes into, before its text.", rich_help_panel=PRINTED),
    ] = PlacedIn.SYSTEM,
    explain: Annotated[
        bool, typer.Option("--explain", help="Each part of each score, and why.", rich_help_panel=PRINTED)
    ] = False,
    deadline: Annotated[float, typer.Option(help="Seconds to wait for the reply.")] = 5.0,
    as_json: AsJson = False,
) -> None:
    """Ask what is remembered. An empty answer means that nothing relevant was said."""
    if bool(question.strip()) == bool(message):
        fail("give either a question or --message", 2)
    times = {"since": since, "until": until, "as_of": as_of}
    options: dict[str, Any] = {
        "messages": tuple(_said(text) for text in message or ()),
        "top_k": top_k,
        "layers": tuple(layers or ()),
        "types": tuple(types or ()),
        "tags": tuple(tags or ()),
        "session_id": session,
        "about": about,
        "include_superseded": superseded,
        "include_archived": archived,
        "explain": explain,
        "format": (Form.PROMPT if prompt else form).value,
        "prompt_role": prompt_role.value,
        **{name: moment(name.replace("_", "-"), text) for name, text in times.items() if text is not None},
    }

    async def ask() -> RecallReply:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as memory:
            return await memory.recall(question, user_id=user, deadline=deadline, **options)

    reply = run(ask())
    if as_json:
        typer.echo(reply.model_dump_json(exclude_none=True))
        return
    if reply.degraded:
        err.print(left_out(reply.degraded), soft_wrap=True)
    if options["format"] == "prompt":
        typer.echo(reply.prompt or "")
    elif explain:
        print_report(reply)
    elif reply.memories:
        out.print(memory_table(reply))
    else:
        out.print("nothing relevant is remembered")


def _said(text: str) -> Message:
    """A message of `--message`.

    >>> _said("assistant: Where to?").role, _said("<Anna>: To Bonn.").speaker, _said("https://a.example").text
    ('assistant', 'Anna', 'https://a.example')
    """
    whose = _WHOSE.fullmatch(text.strip())
    if whose is None:
        return Message(text=text)
    return Message(role=whose["role"] or "user", speaker=whose["speaker"], text=whose["text"])


def memory_table(reply: RecallReply) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("score", "relevance", "said", "type", "memory"):
        table.add_column(column, overflow="fold")
    for found in reply.memories:
        memory = found.memory
        table.add_row(
            f"{found.score:.2f}",
            f"{found.relevance:.2f}",
            memory.occurred_at.strftime("%Y-%m-%d"),
            memory.memory_type.value,
            plain(memory.content),
        )
    return table


_LEFT_OUT = {
    "dense": "the embedding model did not answer in time: found by words alone",
    "rewrite": "the chat model did not answer in time: asked as it was put",
}


def left_out(degraded: Sequence[str]) -> str:
    """What a reply was made without, in words."""
    return "note: " + "; ".join(_LEFT_OUT.get(part, f"answered without {part}") for part in degraded)


def print_report(reply: RecallReply) -> None:
    """Each memory with the reason in words, the sum that is its score, and what the ranking saw in it."""
    for place, found in enumerate(reply.memories, 1):
        for line in explained(found, f"{place}."):
            out.print(line, soft_wrap=True)
        out.print()
    if not reply.memories:
        out.print("nothing relevant is remembered")
    steps = ", ".join(f"{step} {spent:.1f}" for step, spent in reply.timings_ms.items())
    if steps:
        out.print(f"milliseconds: {steps}", soft_wrap=True)


def explained(found: RecalledMemory, mark: str) -> Iterator[str]:
    """The lines on one memory, `mark` before the first."""
    memory = found.memory
    indent = " " * (len(mark) + 1)
    yield f"{mark} {plain(memory.content)}"
    layer = f"{memory.layer.value}, {memory.memory_type.value}, {memory.status.value}"
    yield f"{indent}said       {memory.occurred_at:%Y-%m-%d %H:%M} UTC ({layer})"
    yield f"{indent}id         {plain(memory.memory_id)}"
    yield f"{indent}why        {plain(found.why)}"
    weighted = {name: value for name, value in found.parts.items() if not name.startswith(EVIDENCE)}
    seen = {name.removeprefix(EVIDENCE): value for name, value in found.parts.items() if name.startswith(EVIDENCE)}
    yield f"{indent}score      {found.score:.2f} = " + " + ".join(f"{plain(n)} {v:.2f}" for n, v in weighted.items())
    yield f"{indent}relevance  {found.relevance:.2f} (0.50 is the threshold of this question)"
    strongest = sorted(seen.items(), key=lambda item: -abs(item[1]))
    yield f"{indent}evidence   " + (", ".join(f"{plain(n)} {v:+.2f}" for n, v in strongest) or "none")


def history(
    memory_id: Annotated[str, typer.Argument(help="Id of a memory (see `recall --json`).")],
    namespace: Namespace,
    user: User,
    as_json: AsJson = False,
) -> None:
    """The chain around a memory: what it replaced, what replaced it, and where each was said."""

    async def ask() -> list[MemoryRecord]:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as memory:
            return await memory.history(memory_id, user_id=user)

    records = run(ask())
    if as_json:
        for record in records:
            typer.echo(record.model_dump_json(exclude_none=True))
        return
    if not records:
        err.print("no memory of this user has that id")
        raise typer.Exit(1)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("said", "status", "memory", "why", "id", "source"):
        table.add_column(column, overflow="fold")
    for record in records:
        table.add_row(
            record.occurred_at.strftime("%Y-%m-%d %H:%M"),
            record.status.value,
            plain(record.content),
            plain(record.reason),
            record.memory_id,
            plain(", ".join(source.event_id for source in record.sources)),
        )
    out.print(table)


def plain(text: str) -> str:
    """Stored text can't style or move the terminal."""
    from rich.markup import escape

    return escape(printable(text))
