"""Bring a kept sentence to the length of a memory: the user's wording, fewer words, every name and number kept."""

from __future__ import annotations

import re

from streams.memory.extraction.lang import limit

_LEAD = re.compile(
    r"^(?:\W*(?:well|so|ok(?:ay)?|hey|hi|hello|oh|um+|uh+|yeah|yes|yep|actually|anyway|by the way|btw|also|and|but"
    r"|just fyi|fyi|thanks?(?: you)?|thank you|sure|exactly|quick (?:note|one|question)|to be honest|honestly"
    # "No, I moved" opens with a word that says nothing, "no meetings on Mondays" does not.
    r"|(?:no|right|great)(?=\s*[,.!;:—–])|you know|look|listen)\b"
    r"[\s,.:!;—–-]+)+(?=\S)",
    re.IGNORECASE,
)
_LEAD_ZH = re.compile(
    r"^(?:(?:嗯+|哦+|啊+|呃+|额+|欸|诶|唉|哎呀?|对了|对的?|好的?|是的|那个|话说|顺便(?:说|问)?一?[句下]?|另外|还有|其实吧|你好|谢谢|行|OK)[，,。！!、~\s]+)+",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(r"[,，;；:：、—–]\s*|\s(?=(?:and|but|because|so|which|while|although)\b)", re.IGNORECASE)


def trim(text: str) -> tuple[int, int]:
    """Where the text starts and ends without openings that say nothing: offsets into it, start < end.

    >>> trim("Well, actually, I moved to Bonn.")
    (16, 32)
    """
    lead = _LEAD.match(text) or _LEAD_ZH.match(text)
    start = lead.end() if lead else 0
    if not any(character.isalnum() for character in text[start:]):
        start = 0
    return start, len(text)


def condense(text: str, keep: str | None = None) -> tuple[int, int]:
    """The part of a sentence to store: offsets, at most the limit of its script, cut between clauses.

    `keep`: words that must stay (the value of the slot); the part is taken around them.
    """
    start, end = trim(text)
    most = limit(text)
    if end - start <= most:
        return start, end
    wanted = text.find(keep, start) if keep else -1
    if wanted >= 0 and keep and wanted + len(keep) - start > most:
        start = max((cut for cut in _cuts(text) if start < cut <= wanted), default=wanted)
    last = max((cut for cut in _cuts(text) if start + most // 2 <= cut <= start + most), default=0)
    if not last:
        last = start + most
        space = text.rfind(" ", start + most // 2, last)
        last = space if space > 0 else last
    return start, start + len(text[start:last].rstrip(" ,，;；:：、—–"))


def _cuts(text: str) -> list[int]:
    return [match.end() for match in _BOUNDARY.finditer(text)]
