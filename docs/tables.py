"""The tables in docs/operations.md that come from the code: `python docs/tables.py` writes them anew."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

DOCUMENT = Path(__file__).with_name("operations.md")
sys.path.insert(0, str(DOCUMENT.parents[1]))

from pydantic import SecretStr  # noqa: E402

from streams import metrics  # noqa: E402
from streams.cli.topics import duration  # noqa: E402
from streams.settings import Settings  # noqa: E402
from streams.topics import TOPICS  # noqa: E402


def table(header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def settings() -> Iterator[tuple[str, ...]]:
    for name, field in Settings.model_fields.items():
        about = " ".join((field.description or "").split())
        yield (
            f"`MEMSTREAM_{name.upper()}`",
            kind(field.annotation),
            default(field.get_default(call_default_factory=True)),
            about,
        )


def kind(annotation: Any) -> str:
    if annotation is bool:
        return "`true` `false`"
    if get_origin(annotation) is Literal:
        return " ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return kind(next(part for part in get_args(annotation) if part is not NoneType))
    names = {"SecretStr": "secret", "str": "text", "int": "number", "float": "number", "Path": "path", "dict": "JSON"}
    return names[getattr(annotation, "__name__", str(annotation))]


def default(value: Any) -> str:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, bool):
        value = str(value).lower()
    return "" if value in ("", None, {}) else f"`{value}`"


def measures() -> Iterator[tuple[str, ...]]:
    for metric in vars(metrics).values():
        if hasattr(metric, "_documentation"):
            suffix = {"counter": "_total", "info": "_info"}.get(metric._type, "")
            yield f"`{metric._name}{suffix}`", metric._type, ", ".join(metric._labelnames), metric._documentation


def topics() -> Iterator[tuple[str, ...]]:
    for topic in TOPICS:
        value = ", ".join(model.__name__ for model in topic.models) or "as it came"
        yield f"`{topic.name}`", topic.flow, topic.key, value, topic.cleanup, duration(topic.retention_ms)


TABLES = {
    "settings": lambda: table(("variable", "kind", "default", "what for"), settings()),
    "metrics": lambda: table(("metric", "type", "labels", "what"), measures()),
    "topics": lambda: table(("topic", "from -> to", "key", "value", "cleanup", "retention"), topics()),
}


def written(document: str) -> str:
    """The document with its tables as the code has them now."""
    for name, make in TABLES.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if len(pattern.findall(document)) != 1:
            raise ValueError(f"{DOCUMENT.name} needs one place between {begin} and {end}")
        made = f"{begin}\n{make()}\n{end}"
        document = pattern.sub(lambda _, made=made: made, document)
    return document


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
