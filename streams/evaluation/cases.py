"""The schema of a test set: YAML files, each a list of conversations with what a good memory makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from schemas.events import Zone
from streams.errors import ConfigurationError

SETS = ("blind", "known", "unseen")
SetName = Literal["blind", "known", "unseen", "all"]


def _as_text(value: object) -> object:
    # YAML reads 482913 and 2026-03-05 as a number and a date; here both are pieces of text.
    return value.isoformat() if isinstance(value, date) else str(value) if isinstance(value, int | float) else value


Text = Annotated[str, BeforeValidator(_as_text), Field(min_length=1)]
# Key pieces of a memory's content: all must occur, case and width apart; "a|b" is either.
Pieces = Annotated[tuple[Text, ...], Field(min_length=1)]
# Local: "2026-03-05", "2026-03-05T15:00", "2025-10" or "2026-03-09..2026-03-15" (both days included).
When = Annotated[
    str, BeforeValidator(_as_text), Field(pattern=r"^\d{4}-\d\d(-\d\d(T\d\d:\d\d)?)?(\.\.\d{4}-\d\d-\d\d)?$")
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Turn(_Part):
    """One message. `at` (local time) begins a new event; a turn without it belongs to the event before it."""

    at: datetime | None = None
    say: str = ""
    bot: str = ""
    system: str = ""
    # Another user of the same namespace; "" is the conversation's own.
    by: str = ""
    speaker: str | None = None
    # The event is delivered this many times.
    times: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _one_text(self) -> Turn:
        if sum(map(bool, (self.say, self.bot, self.system))) != 1:
            raise ValueError("a turn has one of say, bot and system")
        return self

    @property
    def role(self) -> str:
        return "user" if self.say else "assistant" if self.bot else "system"

    @property
    def text(self) -> str:
        return self.say or self.bot or self.system


class Remember(_Part):
    """A current fact that must be there in the end; `when` is the day or time that it must resolve to."""

    has: Pieces
    when: When | None = None
    by: str = ""


class Change(_Part):
    """Two statements of which the second ends the first."""

    old: Pieces
    new: Pieces


class Question(_Part):
    """Asked after the last turn (or `at`), a day later. `recall`: one of the answers has all of these pieces.

    `none`: there must be no answer. `not`: no answer may have all of these. `as_of`: asked of that time.
    """

    q: str
    at: datetime | None = None
    as_of: datetime | None = None
    by: str = ""
    recall: tuple[Text, ...] = ()
    avoid: tuple[Text, ...] = Field(default=(), alias="not")
    none: bool = False

    @model_validator(mode="after")
    def _expects(self) -> Question:
        if self.none == bool(self.recall or self.avoid):
            raise ValueError("a question expects none, or recall and/or not")
        return self


class Case(_Part):
    """One conversation and what is expected of it; tests/acceptance/standard/README.md explains each field."""

    id: str
    lang: Literal["zh", "en"]
    timezone: Zone = ""
    turns: tuple[Turn, ...] = Field(min_length=1)
    # When the events reach the product, for old conversations; default: when they were said.
    processed_at: datetime | None = None
    remember: tuple[Remember, ...] = ()
    # No fact may have all pieces (one string: that piece).
    never: tuple[Text, ...] = ()
    # No fact at all may come of it / no memory of either layer.
    nothing: bool = False
    silent: bool = False
    superseded: tuple[Change, ...] = ()
    # Both (all) stay current.
    together: tuple[Pieces, ...] = ()
    # Said again, still one current fact.
    once: tuple[Pieces, ...] = ()
    # In no stored record of any kind.
    private: tuple[Text, ...] = ()
    ask: tuple[Question, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _zone_of_language(cls, given: Any) -> Any:
        if isinstance(given, dict) and "timezone" not in given:
            return {**given, "timezone": "Asia/Shanghai" if given.get("lang") == "zh" else "UTC"}
        return given

    @model_validator(mode="after")
    def _begins(self) -> Case:
        if self.turns[0].at is None:
            raise ValueError("the first turn needs a time")
        return self

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def instant(self, local: datetime) -> datetime:
        return local if local.tzinfo else local.replace(tzinfo=self.zone)

    def events(self) -> list[tuple[datetime, list[Turn]]]:
        """The turns by event, each with the time of its first."""
        grouped: list[tuple[datetime, list[Turn]]] = []
        for turn in self.turns:
            if turn.at is not None:
                grouped.append((self.instant(turn.at), []))
            grouped[-1][1].append(turn)
        return grouped

    def asked_at(self, question: Question) -> datetime:
        if question.at is not None:
            return self.instant(question.at)
        return max(at for at, _ in self.events()) + timedelta(days=1)

    def users(self) -> list[str]:
        return list(dict.fromkeys(["", *(turn.by for turn in self.turns)]))


def load_cases(folder: Path, chosen: SetName = "all") -> list[Case]:
    """The conversations of the parts of the set under `folder`, or of the folder itself when it has none of them.

    Raises `ConfigurationError` that names the file and the conversation.
    """
    import yaml

    halves = [folder / name for name in SETS if (folder / name).is_dir()]
    if chosen != "all":
        halves = [half for half in halves if half.name == chosen]
    elif not halves:
        halves = [folder]
    files = sorted(file for half in halves for file in half.glob("*.yaml"))
    if not files:
        raise ConfigurationError(
            f"no conversations (*.yaml) under {folder}" + ("" if chosen == "all" else f"/{chosen}")
        )
    cases: list[Case] = []
    for file in files:
        try:
            listed = yaml.safe_load(file.read_text("utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{file}: no YAML: {_line(str(error))}") from None
        if not isinstance(listed, list):
            raise ConfigurationError(f"{file}: a list of conversations is expected")
        cases += [_case(file, number, given) for number, given in enumerate(listed, 1)]
    twice = _repeated(case.id for case in cases)
    if twice:
        raise ConfigurationError(f"two conversations have the id {twice}")
    return cases


def _case(file: Path, number: int, given: Any) -> Case:
    name = given.get("id", number) if isinstance(given, dict) else number
    try:
        return Case.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{file}: conversation {name}: {where}: {first['msg']}") from None


def _repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
