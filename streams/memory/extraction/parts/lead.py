"""How a clause that follows another one begins when it stands alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

States = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Lead:
    """The words that a clause shares with the one before, in front of it and instead of so many of its characters.

    `sure`: by the form alone it states something.
    """

    text: str = ""
    instead_of: int = 0
    sure: bool = False


OWN = Lead()  # the clause names its subject
