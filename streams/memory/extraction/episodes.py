"""The second layer: what was said, in its own words, so that it can be found and read again later."""

from __future__ import annotations

import re

from schemas import Candidate, Layer, MemoryType, RedactedEvent
from streams.memory.extraction.gate import gate
from streams.memory.extraction.lang import language, limit
from streams.memory.extraction.material import strip_recalled
from streams.memory.extraction.off_record import on_record
from streams.memory.extraction.sentences import sentences

_EPISODE_CJK, _EPISODE_LATIN = 400, 1000  # some five sentences: a passage that one embedding still describes
_IMPORTANCE = 1.0
_SHORT = 200  # characters
_BOILERPLATE = re.compile(
    r"^\W*(?:as an ai\b|i['’]?m (?:just )?an ai\b|i['’]?m sorry,? but i can(?:no|['’])t|i can(?:no"
    r"|['’])?t (?:assist|help) with"
    r"|(?:sure|of course|certainly|absolutely|got it|great|you['’]re welcome|no problem"
    r"|happy to help)[^.!?\n]{0,60}[.!?]?$"
    r"|how can i (?:help|assist)|is there anything else|let me know if)"
    r"|^\W*(?:作为(?:一个)?(?:AI|人工智能)|(?:很)?抱歉[，,]?我(?:无法|不能)|(?:好的|当然|没问题|不客气|明白了?|收到)[^。！？\n]{0,15}[。！]?$"
    r"|(?:请问)?(?:还有|有)什么(?:我)?(?:可以|能)(?:帮|为)|(?:如果?)?有(?:任何|什么)?(?:问题|需要|疑问)[^。！？\n]{0,8}(?:随时|尽管|再)"
    r"[^。！？\n]{0,10}[。！]?$)",
    re.IGNORECASE,
)
# What an assistant says of itself would be found as if the user had said it.
_OF_ITSELF = re.compile(
    r"\bmy name is\b|\bmy (?:own )?(?:favou?rite|hobb\w+)|\bi (?:really |also )?(?:love|enjoy|adore|like)\b(?! your)"
    r"|\bi['’]?(?:m| am) (?:just |only )?an? (?:\w+ )?(?:assistant|program|bot|language model|machine)\b"
    r"|我(?:是|只是)(?:一[个名款])?(?:AI|人工智能|智能助手|语言模型|程序|机器人)|我(?:叫|喜欢|最爱)",
    re.IGNORECASE,
)


def episodes(
    event: RedactedEvent, *, max_cjk: int = _EPISODE_CJK, max_latin: int = _EPISODE_LATIN
) -> tuple[Candidate, ...]:
    """Passages of the user's and the assistant's messages that pass the gate, in order, each with its place.

    A long message is split at sentence ends into passages of at most `max_cjk` (Chinese) or `max_latin` characters.
    """
    found: list[Candidate] = []
    for place, message in enumerate(on_record(event).messages):
        if message.role not in ("user", "assistant") or gate(message.text, message.role) is not None:
            continue
        text = strip_recalled(message.text)
        if message.role == "assistant" and _says_nothing(text.strip()):
            continue
        said_at = message.time or event.occurred_at
        lang = language(text)
        for start, end in passages(text, limit(text, max_cjk, max_latin)):
            found.append(
                Candidate(
                    layer=Layer.EPISODE,
                    content=text[start:end],
                    memory_type=MemoryType.EPISODE,
                    importance=_IMPORTANCE,
                    message=place,
                    start=start,
                    end=end,
                    said_at=said_at,
                    role=message.role,
                    speaker=message.speaker,
                    lang=lang,
                    why="said",
                )
            )
    return tuple(found)


def _says_nothing(text: str) -> bool:
    """A short message of the assistant that is manners, or about itself."""
    return len(text) < _SHORT and bool(_BOILERPLATE.match(text) or _OF_ITSELF.search(text))


def passages(text: str, most: int) -> list[tuple[int, int]]:
    """Spans of at most `most` characters that together hold every sentence, cut at sentence ends where possible."""
    spans: list[tuple[int, int]] = []
    for sentence in sentences(text):
        for start, end in _pieces(text, sentence.start, sentence.end, most):
            if spans and end - spans[-1][0] <= most:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
    return spans


def _pieces(text: str, start: int, end: int, most: int) -> list[tuple[int, int]]:
    """A sentence that is longer than `most` is cut at spaces or, without any, anywhere."""
    pieces = []
    while end - start > most:
        cut = text.rfind(" ", start + most // 2, start + most)
        cut = cut if cut > 0 else start + most
        pieces.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    pieces.append((start, end))
    return [piece for piece in pieces if piece[1] > piece[0]]
