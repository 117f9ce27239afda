"""Where a sentence ends, for dropping one: coarse on purpose, a comma never saves a part of a secret's sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable

# A full stop ends a sentence before white space only: "1.5", "a.b@c.de" and "v2.1" go on.
_END = re.compile(r"[。！？!?；;…]+[\"'”’）)】\]]*|\.+(?=\s|$)|\n+")


def widen(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """The sentences that hold the spans, merged where they touch: (start, end, number of sentences) ascending.

    Ends inside a span don't count: a password may contain "!" and a key has lines. The white space after a sentence
    stays outside, so that what is left keeps its paragraphs.
    """
    ends = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    out: list[tuple[int, int, int]] = []
    at = 0
    done = 0
    for start, end in sorted(spans):
        while at + 1 < len(ends) and ends[at + 1] <= start:
            at += 1
        stop = at
        while stop + 1 < len(ends) and ends[stop] < end:
            stop += 1
        first, last = ends[at], ends[stop]
        if last <= done:
            continue  # another one in the same sentence
        done = last
        while first < start and text[first].isspace():
            first += 1
        while last > end and text[last - 1].isspace():
            last -= 1
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], last, out[-1][2] + 1)
        else:
            out.append((first, last, 1))
    return out
