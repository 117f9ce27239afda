"""Recognizers that the user brings: RE2 patterns from the policy file, and Python entry points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import entry_points

import re2

from streams.errors import ConfigurationError
from streams.memory.redaction.model import Hit
from streams.memory.redaction.policy import CustomPattern, quiet_options
from streams.memory.redaction.recognizers.base import CHECKED, Recognizer, before

GROUP = "memstream.recognizers"
_NEAR_CHARS = 30
_ANY = re.compile(r"[\s\S]")


def from_pattern(custom: CustomPattern) -> Recognizer:
    """RE2 takes time linear in the text whatever the pattern is: a user's slip can't stop the stream."""
    pattern = re2.compile(custom.pattern, quiet_options())
    near = tuple(word.lower() for word in custom.near)

    def find(text: str) -> Iterator[Hit]:
        for found in pattern.finditer(text):
            start, end = found.span()
            if end > start and (not near or any(word in before(text, start, _NEAR_CHARS) for word in near)):
                yield Hit(custom.entity, start, end, CHECKED)

    return Recognizer(f"custom:{custom.entity}", frozenset({custom.entity}), _ANY, find)


def from_plugin(name: str) -> Recognizer:
    """The `Recognizer` that the entry point `name` points to. Raises ConfigurationError."""
    found = tuple(entry_points(group=GROUP, name=name))
    if not found:
        installed = ", ".join(sorted(entry_points(group=GROUP).names)) or "none"
        raise ConfigurationError(f"redaction policy: no plugin {name!r} is installed (installed: {installed})")
    try:
        recognizer = found[0].load()
    except Exception as error:  # whatever a foreign module raises when it is imported
        raise ConfigurationError(
            f"redaction policy: plugin {name!r} can't be loaded: {type(error).__name__}"
        ) from error
    if not isinstance(recognizer, Recognizer):
        raise ConfigurationError(f"redaction policy: plugin {name!r} is not a streams.memory.redaction.Recognizer")
    return recognizer
