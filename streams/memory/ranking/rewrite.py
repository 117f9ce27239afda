"""A recall query in other words, by a chat model: what it is asked, and what of its answer may be used. Pure.

What it gives is added to the plain query, never put in its place.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Final

from schemas import RecallRequest
from streams.memory.extraction.prompt import Prompt
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


@cache
def load_prompt(name: str = "rewrite-1") -> Prompt:
    text = files("streams.memory.ranking").joinpath("prompts", f"{name}.toml").read_text(encoding="utf-8")
    return Prompt.model_validate(tomllib.loads(text))


def asked(request: RecallRequest) -> str:
    """The question, or the end of the dialogue."""
    return "\n".join(turn.text for turn in dialogue_turns(request.query, request.messages))[-QUESTION_CHARS:]


def turns(question: str) -> list[ChatTurn]:
    prompt = load_prompt()
    shown = [
        turn
        for example in prompt.examples
        for turn in (ChatTurn("user", example.user), ChatTurn("assistant", example.assistant))
    ]
    return [ChatTurn("system", prompt.system), *shown, ChatTurn("user", question)]


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
