"""What commands read: a file or standard input, as one text or as JSON Lines."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from streams.cli.common import err, fail
from streams.imports.conversations import NOT_UTF_8

File = Annotated[str, typer.Argument(help="A text file; - (the default) for standard input.")]


def read(file: str) -> str:
    """Everything, with the line ends that it has: offsets count characters of the input."""
    return read_bytes(file).decode("utf-8", "replace")


def read_bytes(file: str) -> bytes:
    """Of a file, or of standard input for "-"."""
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        fail(f"{file}: {error.strerror}")


class Lines:
    """The objects of a JSON Lines input. A line that is none is named on stderr (never quoted) and left out."""

    def __init__(self, file: str) -> None:
        self._text = read(file).removeprefix("\ufeff")
        self.refused = 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        # Not splitlines(): it also breaks at U+2028, which a JSON string may contain as it is.
        for number, line in enumerate(self._text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                given = json.loads(line)
            except (ValueError, RecursionError):
                self.refuse(number, "not JSON")
                continue
            if isinstance(given, dict):
                yield number, given
            else:
                self.refuse(number, "not a JSON object")

    def refuse(self, number: int, reason: str) -> None:
        self.refused += 1
        err.print(f"line {number}: {reason}", markup=False, soft_wrap=True)

    def end(self) -> None:
        """Exit code 1 when a line was refused."""
        if self.refused:
            raise typer.Exit(1)


def lines_of(file: str) -> Iterator[str]:
    """One by one, each with its "\\n". Only UTF-8: words in another encoding would be remembered as gibberish."""
    try:
        opened = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115
        # Not splitlines(): it also breaks at U+2028, which a JSON string may contain as it is.
        with io.TextIOWrapper(opened, encoding="utf-8-sig", newline="\n") as text:
            yield from text
    except UnicodeDecodeError:
        fail(f"{file}: {NOT_UTF_8}")
    except OSError as error:
        fail(f"{file}: {error.strerror}")


def show(value: Any) -> None:
    """One line of JSON. Half of a surrogate pair, which JSON can name and UTF-8 can't carry, stays an escape."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value)
    typer.echo(text)
