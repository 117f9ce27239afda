"""Read what a sentence states: slots, relations, plans and dated events, with subject, value and operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from streams.memory.extraction.contrast import contrast, corrects, ends
from streams.memory.extraction.lang import fold
from streams.memory.extraction.parts import carried
from streams.memory.extraction.patterns import Pattern, table
from streams.memory.extraction.relations import general, relation, third_person
from streams.memory.extraction.slots import Slot, slot_for
from streams.memory.extraction.speakers import PRONOUNS, not_stated, subject_of

_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z_]*_\d+\]")
# "我的狗叫「旺财」": a name is looked for without its quotation marks.
_NAME_IN_QUOTES = re.compile(r"(?:(?<=[叫是为])|(?<=叫我))[\"“「『](?P<name>[^\"“”「」『』，。\n]{1,12})[\"”」』]")
# What was so once does not take the place of what is so.
_ONCE = re.compile(
    r"\b(?:formerly|previously|back then|in the past|as a (?:kid|child|teenager)|when i was)\b"
    r"|以前|从前|曾经?|小时候|当年|过去[^，。]{0,3}(?:住|在)",
    re.IGNORECASE,
)
_SINCE_THEN = re.compile(r"\b(?:but|now|then|since)\b|现在|目前|如今|但|后来", re.IGNORECASE)
_EN_CLAUSE = re.compile(r",\s+(?:and |but |so )?|;\s+|\s+(?:and|but)\s+")
_ZH_CLAUSE = re.compile(r"[，,；;、]\s*")


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is stated. `text`: the words to store when the sentence says several things, else None."""

    slot: Slot | None
    subject: str | None
    value: str | None = None
    polarity: Literal["positive", "negative"] = "positive"
    operation: Literal["assert", "retract", "correct"] = "assert"
    replaced: str | None = None
    why: str = ""
    text: str | None = None


def statements(text: str, lang: str, speaker: str | None, named: str | None) -> list[Statement]:
    """All slots that a sentence fills, or the one relation that it says. `named`: whom "she" means, if known."""
    # Names are told so in Chinese only.
    reduced = contrast(text if text.isascii() else _NAME_IN_QUOTES.sub(r"\g<name>", text))
    found = list(_slots(reduced.text, lang, speaker, named))
    if len(found) > 1:
        # Each with its own words: two statements of one sentence are two memories.
        found = _by_clause(reduced.text, lang, speaker, named) or found
    # 我做翻译，住在厦门: a clause may share the subject of the one before.
    shared = [(text, one) for text in carried(reduced.text, lang) for one in _slots(text, lang, speaker, named)]
    found += [replace(one, text=text) if found else one for text, one in shared if not _known(one, found)]
    if not found and general(reduced.text):
        found = _of_others(reduced.text, named)
    if reduced.old and len(found) == 1 and found[0].slot is not None:
        found = [replace(found[0], replaced=found[0].replaced or reduced.old)]
    if corrects(text):
        found = [replace(one, operation="correct") if one.operation == "assert" else one for one in found]
    return found


def _of_others(text: str, named: str | None) -> list[Statement]:
    related = relation(text)
    if related:
        return [Statement(slot_for(related.attribute), related.subject, related.value, why="relation")]
    about = third_person(text)
    if about:
        return [Statement(None, named if about.casefold() in PRONOUNS else about, why="about somebody")]
    return []


def _by_clause(text: str, lang: str, speaker: str | None, named: str | None) -> list[Statement]:
    """The slots of a sentence of which each clause says one thing on its own; none when a clause needs another."""
    clauses = (_ZH_CLAUSE if lang == "zh" else _EN_CLAUSE).split(text)
    found = [(clause, list(_slots(clause, lang, speaker, named))) for clause in clauses]
    whole = sum(1 for _ in _slots(text, lang, speaker, named))
    if sum(len(of_clause) for _, of_clause in found) != whole or any(len(of_clause) > 1 for _, of_clause in found):
        return []
    return [replace(one, text=clause.strip(" .。！!")) for clause, of_clause in found for one in of_clause]


def _known(one: Statement, found: list[Statement]) -> bool:
    return any(one.value == other.value or (one.slot == other.slot and one.subject == other.subject) for other in found)


def _slots(text: str, lang: str, speaker: str | None, named: str | None) -> Iterator[Statement]:
    """The slots filled in a text, at most one for each stretch of it."""
    unsaid: list[tuple[int, int]] | None = None
    taken: list[tuple[int, int]] = []
    for pattern in table(lang).matching(text if text.isascii() else fold(text)):
        for match in pattern.expression.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            # A value may stand in quotation marks, a statement that opens in them was made by somebody else.
            unsaid = not_stated(text) if unsaid is None else unsaid
            if any(start <= match.start() < end for start, end in unsaid):
                continue
            one = _from_match(pattern, match, speaker, named, text)
            if one is not None:
                taken.append(match.span())
                yield one


def _from_match(
    pattern: Pattern, match: re.Match[str], speaker: str | None, named: str | None, text: str
) -> Statement | None:
    groups = match.groupdict()
    said = groups.get("t") or groups.get("s")
    pronoun = bool(said) and str(said).casefold().strip() in PRONOUNS
    subject = named if pronoun else subject_of(said, speaker)
    value = (pattern.value or groups.get("v") or groups.get("w") or "").strip(" '\"’“”.，,")
    if not value or _PLACEHOLDER.fullmatch(value):
        return None
    attribute = pattern.attribute if pattern.attribute != "*" else (groups.get("a") or "").lower().strip("的 ")
    slot = slot_for(attribute.replace("favourite", "favorite"))
    if pattern.attribute == "*":
        slot = replace(slot, cardinality="single", kind="preference", importance=4)
    until = match.start("v") if groups.get("v") else match.end()
    if slot.cardinality == "single" and _ONCE.search(_SINCE_THEN.split(text[:until])[-1]):
        return Statement(None, subject, why="formerly")
    negated = bool(groups.get("n") or groups.get("m")) or pattern.polarity == "negative"
    operation = pattern.operation
    if negated and slot.cardinality == "single" and operation == "assert" and ends(text):
        operation = "retract"
    if pronoun and subject is None:  # somebody, but nobody knows who: the words are kept, no slot is filled
        return Statement(None, None, why=slot.attribute)
    return Statement(
        slot,
        subject,
        value,
        "negative" if negated else "positive",
        operation,
        (groups.get("o") or "").strip() or None,
        slot.attribute,
    )
