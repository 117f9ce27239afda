"""`memstream topics`: the topic table, checked and created."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from streams.cli.common import err, out, run, settings_for_client
from streams.topics import DAY, HOUR, TOPICS, TopicState, check_topics, ensure_topics


def register(app: typer.Typer) -> None:
    app.command("topics")(topics)


def topics(
    create: Annotated[bool, typer.Option("--create", help="Create what is missing.")] = False,
    table_only: Annotated[bool, typer.Option("--table", help="Print the table without asking a broker.")] = False,
) -> None:
    """The topics that memstream needs, and whether they are as they must be (exit code 1 when not)."""
    states: dict[str, TopicState] = {}
    prefix = "memory."
    if not table_only:
        settings = settings_for_client()
        prefix = settings.topic_prefix
        found = run(ensure_topics(settings) if create else check_topics(settings))
        states = {state.name: state for state in found}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("topic", "key", "cleanup", "retention", "from -> to", "state"):
        table.add_column(column, overflow="fold")
    for topic in TOPICS:
        state = states.get(prefix + topic.name)
        table.add_row(
            prefix + topic.name,
            topic.key,
            topic.cleanup,
            duration(topic.retention_ms),
            topic.flow,
            "" if state is None else (state.problem or f"ok, {state.partitions} partitions"),
        )
    out.print(table)
    if any(state.problem for state in states.values()):
        err.print("some topics are not as they must be")
        raise typer.Exit(1)


def duration(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds // DAY} d" if milliseconds % DAY == 0 and milliseconds > DAY else f"{milliseconds // HOUR} h"
