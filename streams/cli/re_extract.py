"""`memstream re-extract`: the facts of a user's events once more, by the extractor that the workers have now."""

from __future__ import annotations

from typing import Annotated

import typer

from schemas import ReExtractReceipt
from streams.cli.common import err, moment, out, run, settings_for_client
from streams.cli.recall import AsJson, Namespace, User
from streams.client import MemoryClient


def register(app: typer.Typer) -> None:
    app.command("re-extract")(re_extract)


def re_extract(
    namespace: Namespace,
    user: User,
    since: Annotated[str | None, typer.Option(help="Only what was said from this time on (ISO 8601).")] = None,
    event: Annotated[list[str] | None, typer.Option(help="Only this event id; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Extract the facts of stored events anew: those that are not found again are withdrawn, new ones are added.

    What was said is taken from the stored episodes. Until it is through each event keeps the facts that it has.
    """
    start = None if since is None else moment("since", since)

    async def ask() -> ReExtractReceipt:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as client:
            return await client.re_extract(*(event or ()), user_id=user, since=start)

    receipt = run(ask())
    if as_json:
        typer.echo(receipt.model_dump_json(exclude_none=True))
        return
    out.print(f"events on their way to extraction: {len(receipt.event_ids)}")
    if receipt.not_rebuilt:
        err.print(f"not rebuilt, because nothing of what was said is stored: {receipt.not_rebuilt}")
    for event_id in receipt.without_text:
        err.print(f"  {event_id}", markup=False, soft_wrap=True)
    if receipt.not_rebuilt > len(receipt.without_text):
        err.print("  ...")
    if receipt.not_rebuilt and not receipt.event_ids:
        raise typer.Exit(1)
