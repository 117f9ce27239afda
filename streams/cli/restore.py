"""`memstream restore`: bring memories back from the archive."""

from __future__ import annotations

from typing import Annotated

import typer

from schemas import RestoreReceipt
from streams.cli.common import err, out, run, settings_for_client
from streams.cli.recall import AsJson, Namespace, User
from streams.client import MemoryClient


def register(app: typer.Typer) -> None:
    app.command("restore")(restore)


def restore(
    memory_ids: Annotated[list[str], typer.Argument(help="Ids of archived memories (see `export`).")],
    namespace: Namespace,
    user: User,
    as_json: AsJson = False,
) -> None:
    """Bring archived memories back. A digest is undone by it: its episodes are current again."""

    async def ask() -> RestoreReceipt:
        async with MemoryClient(settings=settings_for_client(), namespace=namespace) as client:
            return await client.restore(*memory_ids, user_id=user, deadline=30.0)

    receipt = run(ask())
    if as_json:
        typer.echo(receipt.model_dump_json(exclude_none=True))
    else:
        out.print(f"restored: {len(receipt.restored)}")
        for memory_id in receipt.unknown:
            err.print(f"no memory of this user has the id {memory_id}", markup=False, soft_wrap=True)
    if receipt.unknown and not receipt.restored:
        raise typer.Exit(1)
