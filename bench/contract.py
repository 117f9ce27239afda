"""The command line that every quality bench shares: `python -m bench.NAME GOLD [--predictions OUT] [--json]`.

GOLD is JSON Lines (`.jsonl` or `.jsonl.gz`), one row with an `id` a line. `--predictions` writes what the product
found, one JSON object a line with the same `id`, for a scorer of the reader's choice; `--json` prints the figures
as one JSON object, else as `name value` lines. Both name the machine and the number of rows.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Arguments:
    gold: Path
    predictions: Path | None
    as_json: bool


def arguments(description: str, argv: list[str] | None = None) -> Arguments:
    """Parse the shared command line; a missing GOLD file ends the program with a plain message (exit code 2)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("gold", type=Path, metavar="GOLD", help="rows to answer, .jsonl or .jsonl.gz")
    parser.add_argument("--predictions", type=Path, metavar="OUT", help="write one prediction a line")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parsed = parser.parse_args(argv)
    if not parsed.gold.is_file():
        parser.error(f"no such file: {parsed.gold}")
    return Arguments(parsed.gold, parsed.predictions, parsed.json)


def _open(path: Path, mode: Literal["rt", "wt"]) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, mode, encoding="utf-8")
    return path.open(mode, encoding="utf-8")


def read_rows(path: Path) -> list[Row]:
    """Every non-blank line of a `.jsonl` or `.jsonl.gz` file."""
    with _open(path, "rt") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with _open(path, "wt") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def machine() -> str:
    """What the figures were measured on, e.g. `Linux x86_64, 2 cores, Python 3.11.7`."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return f"{platform.system()} {platform.machine()}, {cores} cores, Python {platform.python_version()}"


def report(name: str, n: int, figures: Mapping[str, Any], *, as_json: bool, out: IO[str] | None = None) -> None:
    """Print the machine, the number of rows and the figures, in the order given."""
    out = out or sys.stdout
    head: dict[str, Any] = {"bench": name, "machine": machine(), "n": n}
    if as_json:
        print(json.dumps({**head, "figures": dict(figures)}, ensure_ascii=False), file=out)
        return
    for key, value in {**head, **figures}.items():
        print(f"{key:<36} {value:.3f}" if isinstance(value, float) else f"{key:<36} {value}", file=out)
