"""`memstream publish`: chat messages from a file of JSON Lines."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from pydantic import ValidationError

from schemas import ConversationEvent, EventOutcome
from streams.cli.common import err, fail, out, progress, run, settings_for_client
from streams.client import BadRequest, DeadlineExceeded, MemoryClient, TooLarge

WAIT_SECONDS = 60.0
IN_FLIGHT = 64


def register(app: typer.Typer) -> None:
    app.command("publish")(publish)


def publish(
    file: Annotated[str, typer.Argument(help="JSON Lines, one event a line; - for standard input.")],
    namespace: Annotated[str | None, typer.Option(help="For lines that name none.")] = None,
    user: Annotated[str | None, typer.Option(help="For lines that name none.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Print what became of each event.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --wait: one JSON object a line.")] = False,
) -> None:
    """Publish chat messages. A line has user_id, text (or messages), and optionally namespace, session_id, event_id,
    occurred_at, timezone, role, speaker. The same file twice adds nothing: ids are made from the lines."""
    run(_publish(file, namespace, user, wait, as_json))


async def _publish(file: str, namespace: str | None, user: str | None, wait: bool, as_json: bool) -> None:
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        source, total = _open(file, stack)
        bar = stack.enter_context(progress())
        task = bar.add_task("publishing", total=total)
        async with MemoryClient(settings=settings_for_client()) as memory:

            async def one(number: int, event: ConversationEvent) -> None:
                try:
                    if not wait:
                        await memory.publish(event)
                        counts["published"] += 1
                        return
                    outcome = await memory.publish_and_wait(event, deadline=WAIT_SECONDS)
                except (BadRequest, TooLarge) as error:
                    _complain(number, str(error), counts)
                except DeadlineExceeded as error:
                    if not error.published:
                        raise
                    counts["no outcome yet"] += 1
                    err.print(f"line {number}: {error}")
                else:
                    counts[outcome.outcome] += 1
                    if as_json:
                        print(outcome.model_dump_json(exclude_none=True))  # noqa: T201 - this is the output
                    else:
                        out.print(f"line {number}: {told(outcome)}", markup=False, soft_wrap=True)

            # Of one user in order; the window bounds what is in memory.
            pending: set[asyncio.Task[None]] = set()
            for number, line in source:
                try:
                    event = parse_line(line, namespace, user)
                except ValueError as error:
                    _complain(number, str(error), counts)
                    bar.advance(task)
                    continue
                started = asyncio.create_task(one(number, event))
                started.add_done_callback(lambda _: bar.advance(task))
                pending.add(started)
                await asyncio.sleep(0)
                if len(pending) >= IN_FLIGHT:
                    done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                    for finished in done:
                        finished.result()
            await asyncio.gather(*pending)
    err.print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())) or "nothing to publish")
    if counts["refused"]:
        sys.exit(1)


def told(outcome: EventOutcome) -> str:
    """In one line what became of an event; memories of the layer of facts in their words."""
    why = f" ({outcome.reason})" if outcome.reason else ""
    facts = "; ".join(m.content for m in outcome.memories if m.layer == "fact")
    kept = facts or ("as it was said" if outcome.memories else "")
    return f"{outcome.outcome}{why}" + (f"  {kept}" if kept else "")


def parse_line(line: str, namespace: str | None, user: str | None) -> ConversationEvent:
    """An event from a line. Raises `ValueError` with a reason that does not quote it."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(given, dict):
        raise ValueError("not a JSON object")
    fields: dict[str, Any] = dict(given)
    fields.setdefault("namespace", namespace)
    fields.setdefault("user_id", user)
    if "text" in fields and "messages" not in fields:
        message = {name: fields.pop(name) for name in ("text", "role", "speaker") if name in fields}
        fields["messages"] = [message]
    if "event_id" not in fields:
        who = json.dumps([fields["namespace"], fields["user_id"], given], sort_keys=True)
        fields["event_id"] = hashlib.sha256(who.encode()).hexdigest()[:32]
    try:
        event = ConversationEvent.model_validate(fields)
        event.to_bytes()
    except ValidationError as error:
        raise ValueError(problem(error)) from None
    except ValueError:
        raise ValueError("the text is not valid Unicode (a lone surrogate)") from None
    return event


def problem(error: ValidationError) -> str:
    """The first thing that is wrong, without what was given."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    what = first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing" or (
        first["loc"] in (("namespace",), ("user_id",)) and first["type"] == "string_type"
    ):
        what = "is missing"
    return f"{where}: {what}" if where else what


def _complain(number: int, reason: str, counts: Counter[str]) -> None:
    counts["refused"] += 1
    err.print(f"line {number}: {reason}", markup=False, soft_wrap=True)


def _open(file: str, stack: ExitStack) -> tuple[Iterator[tuple[int, str]], int | None]:
    if file == "-":
        return _lines(sys.stdin), None
    path = Path(file)
    try:
        with path.open("rb") as counted:
            total = sum(1 for line in counted if line.strip())
        return _lines(stack.enter_context(path.open(encoding="utf-8-sig", errors="replace"))), total
    except OSError as error:
        fail(f"{file}: {error.strerror}")


def _lines(source: IO[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source, 1):
        if line.strip():
            yield number, line
