"""`memstream eval`: how well a memory remembers, on conversations with what is expected of them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from streams.cli.common import err, fail, out
from streams.cli.extract import Kind, make_extractor
from streams.cli.recall import plain
from streams.cli.source import show
from streams.errors import ConfigurationError, MemstreamError
from streams.settings import load_settings

if TYPE_CHECKING:
    from streams.evaluation import Case, Check, Score
    from streams.evaluation.cases import SetName
    from streams.settings import Settings

# Where the source tree keeps it; an installed wheel has no tests, there `--cases` says where they are.
STANDARD = Path(__file__).parents[2] / "tests" / "acceptance" / "standard"

commands = typer.Typer(no_args_is_help=True, help="Measure what is remembered, on conversations with expectations.")


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="eval")


@commands.callback()
def root() -> None:
    """Measure what is remembered, on conversations with expectations."""


@commands.command("standard")
def standard(
    extractor: Annotated[Kind | None, typer.Option(help="Default: MEMSTREAM_EXTRACTOR.")] = None,
    embedder: Annotated[str, typer.Option(help="Default: MEMSTREAM_EMBEDDER.", metavar="NAME")] = "",
    chosen: Annotated[
        str, typer.Option("--set", help="Which part: blind, known, unseen or all.", metavar="SET")
    ] = "all",
    cases: Annotated[
        Path | None, typer.Option(help="Folder of the conversations. Default: the set of the source tree.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The figures and failing checks as one JSON object.")] = False,
) -> None:
    """Run conversations through redaction, extraction, settling, a store and recall, and judge what is left.

    Nothing is sent to Kafka; the store is a temporary one. Exit code 1 when a figure is below its goal.
    """
    from streams.evaluation import below, load_cases, scores
    from streams.evaluation.cases import SETS

    if chosen not in (*SETS, "all"):
        raise typer.BadParameter(f"--set: {', '.join(SETS)} or all")
    half: SetName = chosen  # type: ignore[assignment]
    overrides = {"embedder": embedder} if embedder else {}
    try:
        settings = load_settings(**overrides)
        if cases is None and not STANDARD.is_dir():
            raise ConfigurationError(
                "this installation has no test set; give --cases DIR (tests/acceptance/standard of the source tree)"
            )
        loaded = load_cases(cases or STANDARD, half)
        checks = asyncio.run(_run(settings, loaded, extractor))
    except MemstreamError as error:
        fail(str(error))
    found = scores(checks)
    if as_json:
        show(_as_object(loaded, checks, found))
    else:
        out.print(score_table(found))
        failing = [check for check in checks if not check.passed]
        if failing:
            out.print(f"\n{len(failing)} checks failed:")
            out.print(failing_table(failing))
    if below(found):
        raise typer.Exit(1)


async def _run(settings: Settings, cases: Sequence[Case], extractor: Kind | None) -> list[Check]:
    from streams.adapters.embedders import CachedQueries
    from streams.adapters.store.edge import EdgeStore
    from streams.app import embedder_of
    from streams.evaluation import Memory, run_cases

    async with AsyncExitStack() as stack:
        chosen = make_extractor(settings, extractor, stack)
        model = CachedQueries(embedder_of(settings))
        stack.push_async_callback(model.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        store = EdgeStore(Path(folder), model.profile)
        await store.open()
        stack.push_async_callback(store.close)
        progress = stack.enter_context(Progress(console=err, transient=True, disable=not err.is_terminal))
        bar = progress.add_task("conversations", total=2 * len(cases))
        return await run_cases(Memory(store, model, chosen, settings), cases, lambda: progress.advance(bar))


def _as_object(cases: Sequence[Case], checks: Sequence[Check], found: Sequence[Score]) -> dict[str, object]:
    return {
        "conversations": len(cases),
        "dimensions": {
            s.dimension: {"share": s.share and round(s.share, 4), "passed": s.passed, "n": s.n, "goal": s.goal}
            for s in found
        },
        "failing": [{"conversation": c.case, "dimension": c.dimension, "what": c.what} for c in checks if not c.passed],
    }


def score_table(found: Sequence[Score]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("dimension")
    for column in ("share", "passed", "n", "goal"):
        table.add_column(column, justify="right")
    for s in found:
        share = "-" if s.share is None else f"{s.share:.3f}"
        under = s.share is not None and s.goal is not None and s.share < s.goal
        goal = "" if s.goal is None else f"{s.goal:.2f}"
        table.add_row(s.dimension, f"[red]{share}[/]" if under else share, str(s.passed), str(s.n), goal)
    return table


def failing_table(failing: Sequence[Check]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("conversation", "dimension", "what"):
        table.add_column(column, overflow="fold")
    for check in failing:
        table.add_row(plain(check.case), check.dimension, plain(check.what))
    return table
