"""One truth per fact: every status of a neighbourhood derived by one pure function from the sorted list of items."""

from streams.memory.settle.fold import CLIENT_SAID, FORGOTTEN_SINCE, Verdict, settle, stated, undecided
from streams.memory.settle.history import as_of, chain, markers
from streams.memory.settle.neighbourhood import (
    DIRECTIVES,
    VERDICTS,
    Neighbourhood,
    nearness,
    neighbourhood,
    outdated_episodes,
    verdict_key,
)
from streams.memory.settle.state import apply, keyed

__all__ = [
    "CLIENT_SAID",
    "DIRECTIVES",
    "FORGOTTEN_SINCE",
    "VERDICTS",
    "Neighbourhood",
    "Verdict",
    "apply",
    "as_of",
    "chain",
    "keyed",
    "markers",
    "nearness",
    "neighbourhood",
    "outdated_episodes",
    "settle",
    "stated",
    "undecided",
    "verdict_key",
]
