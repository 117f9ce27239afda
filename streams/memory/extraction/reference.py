"""What "she", "do it like that" and 以后都按这个来 point at: earlier messages of the same conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas import Message
from streams.memory.extraction.condense import condense
from streams.memory.extraction.gate import gate
from streams.memory.extraction.importance import STANDING
from streams.memory.extraction.material import own_words
from streams.memory.extraction.sentences import sentences
from streams.memory.look import Looked

_DEICTIC = re.compile(
    # Not "legal was clear about that": there the rule itself has been said.
    r"(?<!about )(?<!of )\b(?:that|this|it|so|those|these|like (?:that|this)|the same(?: way)?)\b\W*"
    r"(?:way|format|style|tone|one|please|too|then)?\W*$"
    r"|(?:按|照|用|就|[这這]么|那么)?[这這那](?:[个個]|[样樣]|[种種]|[么麼]|套)?(?:[来來]|[办辦]|做|[写寫]|[说說]|弄|[处處]理|[执執]行"
    r"|格式|方式|方法|[标標][准準]|[风風]格|[规規]矩)?(?:就行|就好|吧|了)?\W*$",
    re.IGNORECASE,
)
_PERSON = Looked(
    r"\b[Mm]y (?:wife|husband|partner|girlfriend|boyfriend|mother|father|mom|mum|dad|son|daughter|brother|sister"
    r"|friend|boss|manager|colleague"
    r"|roommate|teacher|professor)(?: (?P<name>[A-Z][a-z]+))?"
    r"|(?<![.!?] )(?<!^)\b(?P<bare>[A-Z][a-z]+)(?= (?:is|was|has|had|works?|lives?|moved|said|got|will|likes?"
    r"|loves?|went|joined)\b)"
    r"|^(?P<first>[A-Z][a-z]+)(?= (?:is|was|has|had|works?|lives?|moved|said|says|told|got|will|likes?|loves?|went"
    r"|joined|adopted"
    r"|bought)\b)"
    r"|我(?P<kin>老婆|妻子|太太|老公|丈夫|女朋友|男朋友|妈妈?|爸爸?|儿子|女儿|哥哥?|弟弟?|姐姐?|妹妹?|朋友|同事"
    r"|老板|室友|同学|导师|老师)"
)
_PRONOUNS_AND_OPENERS = "I It This That There The What Who He She They We You My Everyone Someone"
_NOBODY = frozenset(_PRONOUNS_AND_OPENERS.split())
_LOOK_BACK = 6  # messages
_TAIL = 24  # characters at the end of a sentence, where "like that" stands


def points_back(sentence: str) -> bool:
    """A standing rule whose content was said before ("from now on do it like that")."""
    return bool(STANDING.search(sentence) and _DEICTIC.search(sentence[-_TAIL:]))


def agreed(earlier: Sequence[Message]) -> str | None:
    """What such a rule is about: the user's last request with content, else what the assistant said last.

    `earlier`: messages before this one, oldest first.
    """
    for role in ("user", "assistant"):
        for message in reversed(earlier[-_LOOK_BACK:]):
            if message.role != role or gate(message.text, role) is not None:
                continue
            text = own_words(message.text)
            for sentence in sentences(text):
                if gate(sentence.text) is None:
                    start, end = condense(sentence.text)
                    return sentence.text[start:end]
    return None


def last_person(texts: Sequence[str]) -> str | None:
    """The person named last, which a following "she" or "he" most likely means; relations as "wife", 老婆."""
    for text in reversed(texts):
        found = None
        for match in _PERSON.finditer(text):
            name = match["name"] or match["bare"] or match["first"] or match["kin"]
            if name is None:
                name = match.group().split()[-1].lower()
            if name not in _NOBODY:
                found = name
        if found:
            return found
    return None
