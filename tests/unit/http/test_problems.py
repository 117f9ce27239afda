"""The table of docs/http.md has every problem of the gateway, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from starlette.exceptions import HTTPException

from streams.http import problems

GUIDE = Path(__file__).parents[3] / "docs" / "http.md"


def of_the_code() -> Iterator[tuple[int, str]]:
    """Status and kind of each problem that a module of the gateway names."""
    for module in Path(problems.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("Problem", "try_again"):
                match node.args[:2]:
                    case [ast.Constant(value=int(status)), ast.Constant(value=str(kind))]:
                        yield status, kind
                    case _:
                        # Only what hands its own arguments on.
                        assert module.name == "problems.py", f"{module.name}:{node.lineno} names no problem"
    for status in (404, 405):
        yield status, problems.of_framework(HTTPException(status)).kind


def of_the_guide() -> Iterator[tuple[list[int], list[str]]]:
    table = GUIDE.read_text(encoding="utf-8").partition("| status | `type` ends with |")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        _, statuses, kinds, *_ = row.split("|")
        yield [int(status) for status in statuses.split()], re.findall(r"`([a-z0-9-]+)`", kinds)


def test_the_guide_has_every_problem() -> None:
    rows, code = list(of_the_guide()), set(of_the_code())
    assert {kind for _, kinds in rows for kind in kinds} == {kind for _, kind in code}
    assert {status for statuses, _ in rows for status in statuses} == {status for status, _ in code}
    missing = [(s, k) for s, k in code if not any(s in statuses and k in kinds for statuses, kinds in rows)]
    assert missing == []
