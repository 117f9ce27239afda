"""`memstream decay --dry-run`: what a decay window would do, and why."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from schemas import MemoryRecord, Tenant
from streams.cli.common import err, fail, moment, out, run, settings_for_client
from streams.cli.recall import plain
from streams.compacted import is_memory, latest

if TYPE_CHECKING:
    from streams.memory.decay import Planned


def register(app: typer.Typer) -> None:
    app.command("decay")(decay)


def decay(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")] = False,
    now: Annotated[
        str | None, typer.Option(help="As if it were this time (ISO 8601), and nothing happened until then.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Only this namespace.")] = None,
    user: Annotated[str | None, typer.Option(help="Only this user; needs --namespace.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """What the window that ends at or before a time would do: tasks closed, sessions folded, memories archived.

    Reads the topic `records`, so it works beside running workers, and without any. Prints ids and reasons, no text.
    """
    if not dry_run:
        fail("workers carry windows out by themselves, every six hours: add --dry-run to see what one would do", 2)
    if user is not None and namespace is None:
        fail("--user needs --namespace", 2)
    from streams.memory.decay import window_start

    at = datetime.now(UTC) if now is None else moment("now", now)
    window_end = window_start(at)
    found = run(planned(window_end, tenant_prefix(namespace, user)))
    for tenant, one in found if as_json else ():
        typer.echo(json.dumps({**tenant.model_dump(), **asdict(one)}, ensure_ascii=False))
    if not as_json and found:
        out.print(table_of(found))
    counts = Counter(one.action for _, one in found)
    told = ", ".join(f"{count} {action}" for action, count in sorted(counts.items())) or "nothing to do"
    err.print(f"window ending {window_end:%Y-%m-%d %H:%M} UTC: {told}", soft_wrap=True)


def tenant_prefix(namespace: str | None, user: str | None) -> bytes:
    """Of the keys of `records`."""
    if namespace is None:
        return b""
    return f"{quote(namespace, safe='')}/{'' if user is None else quote(user, safe='') + '/'}".encode()


async def planned(window_end: datetime, prefix: bytes) -> list[tuple[Tenant, Planned]]:
    """By tenant; a tenant's in the order in which the window does it."""
    from streams.memory.decay import plan

    settings = settings_for_client()
    by_tenant: dict[Tenant, list[MemoryRecord]] = defaultdict(list)
    for key, value in (await latest(settings, "records", prefix)).items():
        if is_memory(key):
            record = MemoryRecord.from_bytes(value)
            by_tenant[record.tenant].append(record)
    tenants = sorted(by_tenant, key=lambda tenant: tenant.key)
    return [
        (tenant, one)
        for tenant in tenants
        for one in plan(by_tenant[tenant], window_end, settings.retention.get(tenant.namespace))
    ]


def table_of(found: list[tuple[Tenant, Planned]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("what", "namespace", "user", "memory", "why"):
        table.add_column(column, overflow="fold")
    for tenant, one in found:
        more = f" and {len(one.memory_ids) - 1} more" if len(one.memory_ids) > 1 else ""
        table.add_row(one.action, plain(tenant.namespace), plain(tenant.user_id), one.memory_ids[0] + more, one.reason)
    return table
