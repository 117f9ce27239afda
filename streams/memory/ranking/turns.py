"""Candidates in their conversations: which stand side by side, and how much a turn takes over from those around it.

A turn answers the one before it: dialogue context is worth more than any model. Nothing of it is stored; the turns
around each hit are fetched with it and weighed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas import Layer, MemoryRecord
from streams.memory.ranking.weights import Weights

Floats = NDArray[np.float64]

# A pause that ends a conversation: what comes after it is no answer.
PAUSE: Final = timedelta(hours=1)
# How far context reaches once hits lie close together.
REACH: Final = 4

_ASIDE = re.compile(r"\s*\[[^\]]*\]\s*$")
_ENDS_ASKING = re.compile(r"[?？][\"”」』)\s~～!！]*$")
# What opens a request or a thing that is only imagined: neither tells what is so.
_ONLY_WISHED = re.compile(
    r"^\W*(?:(?:(?:ha)+h?|lol|hm+|oh|well|ok|so|and|but)\W+)*"
    r"(?:(?:please|pls|can|could|would|will) (?:you )?\w+|help me|(?:what )?if (?:i|we|you|my)\b"
    r"|suppos(?:e|ing)\b|imagine\b"
    r"|(?:麻烦|请|能不能|可以|可不可以)?(?:你|您)?帮(?:我|忙|我们)|麻烦(?:你|您)|请(?:你|您|给我|把|问)"
    r"|给我(?:写|做|讲|推荐|列|画|查|找|翻译)|(?:那|但是?|可是)?(?:假如|如果|要是|假设|假使|万一))",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|mine|we|we['’](?:re|ve|d|ll)|our|us|myself)\b|[我俺咱]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What kind of turn a text is."""

    asks: bool
    ends_asking: bool
    first_person: bool
    # A request, a thing imagined: its words are no evidence that something is so.
    only_wished: bool = False


def kind_of(record: MemoryRecord) -> Kind:
    """A fact is a statement in the first person whatever its wording."""
    if record.layer is Layer.FACT:
        return Kind(asks=False, ends_asking=False, first_person=True)
    text = record.content
    asks = "?" in text or "？" in text
    # "What is it? [a photo of a cat]": what is attached does not end the sentence.
    ends_asking = asks and _ENDS_ASKING.search(_ASIDE.sub("", text)) is not None
    return Kind(
        asks=asks,
        ends_asking=ends_asking,
        first_person=_FIRST_PERSON.search(text) is not None,
        only_wished=_ONLY_WISHED.match(text) is not None,
    )


def place_of(record: MemoryRecord) -> tuple[bool, str, int, str, int, int]:
    """Reading order: the turns session by session in the store's order, then the facts, which stand in none."""
    source = record.source
    turn = record.layer is Layer.EPISODE
    return not turn, record.session_id, record.sequence, source.event_id, source.message, source.start


def steps(records: Sequence[MemoryRecord], anchors: Sequence[bool], reach: int) -> list[bool]:
    """For records in reading order: whether each is the very next turn after the one before it.

    Around an anchor `reach` turns on either side are present, so inside that window neighbours in the list are
    neighbours in the session; between two windows turns may be missing.
    """
    linked = [False] * len(records)
    for at, anchor in enumerate(anchors):
        if anchor:
            # Pairs (k - 1, k) that lie within the window of this anchor.
            for k in range(max(1, at - reach + 1), min(len(records), at + reach + 1)):
                linked[k] = True
    for k in range(1, len(records)):
        one, other = records[k - 1], records[k]
        linked[k] = (
            linked[k]
            and one.layer is other.layer is Layer.EPISODE
            and one.session_id == other.session_id
            and other.occurred_at - one.occurred_at <= PAUSE
        )
    return linked


def context(linked: Sequence[bool], kinds: Sequence[Kind], weights: Weights) -> tuple[Floats, Floats]:
    """Two matrices (n, n), for words and for meaning: row i says what turn i takes over from each turn, itself 1."""
    asks = np.array([kind.asks for kind in kinds], bool)
    # link[k]: k - 1 and k stand side by side.
    link = np.array(linked, bool)
    mirrored = np.roll(link[::-1], 1)
    made = []
    for side in (0, 1):
        matrix = np.eye(len(kinds))
        beside = np.where(asks, weights.before_question[side], weights.before[side])
        _spread(matrix, link, beside, weights.second, weights.before[side])
        # Seen from the other end, what comes after is what comes before.
        beside = np.full(len(kinds), weights.after[side])
        _spread(matrix[::-1, ::-1], mirrored, beside, weights.second, weights.after[side])
        made.append(matrix)
    return made[0], made[1]


def _spread(matrix: Floats, link: NDArray[np.bool_], beside: Floats, second: float, further: float) -> None:
    """Fill in what each turn takes over from the up to `REACH` turns before it, as long as none is missing between.

    `beside` is the share of each turn in the next one. Two turns away is the same speaker again: nearly as close.
    Beyond that it fades by the plain share.
    """
    rows = np.arange(len(link))
    share = np.ones(len(link))
    for distance in range(1, REACH + 1):
        rows = rows[rows >= distance]
        rows = rows[link[rows - distance + 1]]
        share[rows] *= beside[rows - 1] if distance == 1 else second if distance == 2 else further
        matrix[rows, rows - distance] = share[rows]
