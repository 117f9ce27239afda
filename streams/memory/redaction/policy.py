"""The policy: per entity what happens to it, as data that a user can override."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

import re2

from streams.errors import ConfigurationError

Rule = Literal["mask", "drop-sentence", "drop", "keep"]
Mode = Literal["enforce", "report"]

_RULES: tuple[str, ...] = get_args(Rule)
_MODES: tuple[str, ...] = get_args(Mode)
_ENTITY = re2.compile(r"[a-z][a-z0-9]{1,15}(?:_[a-z][a-z0-9]{0,15}){0,2}")
MAX_CUSTOM = 100  # each one is a pass over every text
MAX_PATTERN_CHARS = 1000


@dataclass(frozen=True, slots=True)
class CustomPattern:
    """An RE2 pattern of the user; with `near`, one of these words must stand within 30 characters before a match."""

    entity: str
    pattern: str
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do with each entity (`rules`), what else to look for, and whether to act at all (`mode`)."""

    rules: Mapping[str, Rule]
    mode: Mode = "enforce"
    custom: tuple[CustomPattern, ...] = ()
    plugins: tuple[str, ...] = ()


def load_policy(path: Path | None = None) -> Policy:
    """The default policy, with the TOML file at `path` laid over it.

    Raises ConfigurationError, which names the file and the entry, for anything that is not understood: a policy
    with a misspelt entity would let through what it was written to stop.
    """
    default = tomllib.loads(files(__package__).joinpath("policy.toml").read_text(encoding="utf-8"))
    if path is None:
        return _policy(default, default["entities"], "the default policy")
    try:
        own = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"redaction policy {path}: {error.strerror or 'can not be read'}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"redaction policy {path}: not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"redaction policy {path}: not valid TOML: {error}") from None
    return _policy(own, default["entities"], f"redaction policy {path}")


def _policy(data: Mapping[str, Any], known: Mapping[str, Rule], where: str) -> Policy:
    unknown = data.keys() - {"mode", "entities", "custom", "plugins"}
    if unknown:
        raise ConfigurationError(f"{where}: unknown setting {', '.join(sorted(unknown))}")
    mode = data.get("mode", "enforce")
    if mode not in _MODES:
        raise ConfigurationError(f"{where}: mode must be one of {', '.join(_MODES)}")
    plugins = data.get("plugins", [])
    if not isinstance(plugins, list) or not all(isinstance(name, str) and name for name in plugins):
        raise ConfigurationError(f"{where}: plugins must be a list of names")
    custom, actions = _custom(data.get("custom", []), where)
    rules: dict[str, Rule] = {**known, **actions}
    entities = data.get("entities", {})
    if not isinstance(entities, dict):
        raise ConfigurationError(f"{where}: entities must be a table")
    for entity, rule in entities.items():
        if rule not in _RULES:
            raise ConfigurationError(f"{where}: entities.{entity} must be one of {', '.join(_RULES)}")
        # A plugin brings entities of its own, whose names are checked when it is loaded.
        if entity not in rules and not plugins:
            raise ConfigurationError(f"{where}: entities.{entity} is unknown; known are {', '.join(sorted(rules))}")
        _check_name(entity, where)
        rules[entity] = rule
    return Policy(rules, mode, custom, tuple(plugins))


def _check_name(entity: object, where: str) -> str:
    if not isinstance(entity, str) or not _ENTITY.fullmatch(entity):
        raise ConfigurationError(f"{where}: an entity is named in lower case letters, digits and _, like staff_id")
    return entity


def _custom(entries: object, where: str) -> tuple[tuple[CustomPattern, ...], dict[str, Rule]]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigurationError(f"{where}: custom must be a list of tables ([[custom]])")
    if len(entries) > MAX_CUSTOM:
        raise ConfigurationError(f"{where}: at most {MAX_CUSTOM} custom patterns")
    patterns: list[CustomPattern] = []
    actions: dict[str, Rule] = {}
    for number, entry in enumerate(entries, 1):
        at = f"{where}: custom {number}"
        unknown = entry.keys() - {"entity", "pattern", "near", "action"}
        if unknown:
            raise ConfigurationError(f"{at}: unknown setting {', '.join(sorted(unknown))}")
        entity = _check_name(entry.get("entity"), at)
        action = entry.get("action", "mask")
        if action not in _RULES:
            raise ConfigurationError(f"{at}: action must be one of {', '.join(_RULES)}")
        near = entry.get("near", [])
        if not isinstance(near, list) or not all(isinstance(word, str) and word for word in near):
            raise ConfigurationError(f"{at}: near must be a list of words")
        patterns.append(CustomPattern(entity, _check_pattern(entry.get("pattern"), at), tuple(near)))
        actions[entity] = action
    return tuple(patterns), actions


def _check_pattern(pattern: object, at: str) -> str:
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_PATTERN_CHARS:
        raise ConfigurationError(f"{at}: pattern must be a string of 1 to {MAX_PATTERN_CHARS} characters")
    try:
        compiled = re2.compile(pattern, quiet_options())
    except re2.error as error:
        reason = error.args[0] if error.args else "invalid"
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ConfigurationError(f"{at}: pattern is not valid RE2 (no look-around, no \\1): {reason}") from None
    if compiled.search("") is not None:
        raise ConfigurationError(f"{at}: pattern matches the empty text")
    return pattern


def quiet_options() -> Any:
    """RE2 options that keep its own error messages off stderr: ours says more."""
    options = re2.Options()
    options.log_errors = False
    return options
