"""A recall query in other words, by a chat model: what it is asked, and what of its answer may be used. Pure.

What it gives is added to the plain query, never put in its place.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from schemas import RecallRequest
from streams.memory.extraction.prompt import Prompt
from streams.memory.extraction.prompt import load_prompt as load
from streams.memory.ranking.dialogue import dialogue_turns
from streams.memory.ranking.query import QUESTION_CHARS, Understanding, content_words
from streams.memory.ranking.weights import Weights
from streams.ports import ChatTurn

MOST_TOKENS: Final = 64
MOST_CHARS: Final = 120
MOST_WORDS: Final = 12
# A line of words has neither markup nor the end of a sentence.
_NO_WORDS = re.compile(r"[{}<>\[\]`=]|[.!?。！？](?:\s|$)")
_BETWEEN = re.compile(r"[\s,，、;；|/]+")


def load_prompt() -> Prompt:
    return load("rewrite-1", "streams.memory.ranking")


def asked(request: RecallRequest) -> str:
    """The question, or the end of the dialogue."""
    return "\n".join(turn.text for turn in dialogue_turns(request.query, request.messages))[-QUESTION_CHARS:]


def turns(question: str) -> list[ChatTurn]:
    return load_prompt().turns(question)


def usable(answer: str) -> str:
    """The words of an answer, on one line; "" for what is no short line of words."""
    line = answer.strip().strip("\"'“”")
    words = [word for word in _BETWEEN.split(line) if any(c.isalnum() for c in word)]
    if len(line) > MOST_CHARS or len(words) > MOST_WORDS or _NO_WORDS.search(line):
        return ""
    return " ".join(words)


def with_words(understanding: Understanding, rewritten: str, weights: Weights) -> Understanding:
    """The query with these words as expansions; those of the question itself, and of its own expansions, stay."""
    known = {*understanding.words, *understanding.added}
    new = {term: weights.rewritten for term in content_words(rewritten) if term not in known}
    return replace(understanding, added={**understanding.added, **new}, rewritten=rewritten)
