"""`memstream keys`: the API keys of the HTTP gateway. A key is shown once; the file keeps its digest."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import pydantic
import typer

from streams.cli.common import err, fail, out
from streams.settings import load_settings

# What an agent service needs day by day; erasing and exporting are given on purpose.
USUAL = "write,query,update,profile,history,turns"

File = Annotated[Path | None, typer.Option("--file", help="Default: MEMSTREAM_HTTP_KEYS_FILE.")]


def register(app: typer.Typer) -> None:
    keys = typer.Typer(no_args_is_help=True, help="API keys of the HTTP gateway: add, list, remove.")
    keys.command("add")(add)
    keys.command("list")(list_)
    keys.command("remove")(remove)
    app.add_typer(keys, name="keys")


def add(
    name: Annotated[str, typer.Argument(help="Whose key it is: a service, never a person's text.")],
    namespace: Annotated[
        list[str], typer.Option("--namespace", "-n", help="May be repeated; the first is the default of requests.")
    ],
    verbs: Annotated[str, typer.Option(help="Comma-separated, or all.")] = USUAL,
    rate: Annotated[str, typer.Option(help="Such as 600/minute. Default: MEMSTREAM_HTTP_RATE.")] = "",
    file: File = None,
) -> None:
    """Make a key and print it. It can't be shown again."""
    from streams.http.keys import VERBS, new_key, read_keys, write_keys

    path = file or load_settings().http_keys
    chosen = VERBS if verbs.strip() == "all" else [verb.strip() for verb in verbs.split(",") if verb.strip()]
    try:
        token, key = new_key(
            name=name,
            namespaces=list(dict.fromkeys(namespace)),
            default_namespace=namespace[0],
            verbs=chosen,
            rate=rate,
            created_at=datetime.now(UTC),
        )
    except pydantic.ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        fail(f"{first['loc'][0] if first['loc'] else 'key'}: {first['msg']}", 2)
    write_keys(path, (*read_keys(path), key))
    err.print(f"{key.id} is in {path}; a gateway that runs there knows it at once", markup=False)
    typer.echo(token)


def list_(file: File = None) -> None:
    """What each key may do."""
    from streams.http.keys import read_keys

    for key in read_keys(file or load_settings().http_keys):
        what = f"{', '.join(key.namespaces)}: {', '.join(key.verbs)}" + (f"; {key.rate}" if key.rate else "")
        out.print(f"{key.id}  {key.name}  {what}", markup=False)


def remove(key_id: str, file: File = None) -> None:
    """Take a key away, by the id that `list` shows."""
    from streams.http.keys import read_keys, write_keys

    path = file or load_settings().http_keys
    keys = read_keys(path)
    left = tuple(key for key in keys if key.id != key_id)
    if len(left) == len(keys):
        fail(f"{path} has no key {key_id}")
    write_keys(path, left)
    err.print(f"{key_id} is gone; a gateway that runs there refuses it at once", markup=False)
