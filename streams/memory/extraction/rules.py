"""The rule extractor: zh and en, no model. Sentences, then gate, reality, slots, relations, signals."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from schemas import Candidate, Layer, Message, MemoryType, RedactedEvent
from streams.memory.extraction import importance as weight
from streams.memory.extraction.condense import condense
from streams.memory.extraction.gate import gate, says_something
from streams.memory.extraction.lang import fold, language
from streams.memory.extraction.material import own_words
from streams.memory.extraction.patterns import Pattern, table
from streams.memory.extraction.relations import relation
from streams.memory.extraction.result import Extraction, SentenceTrace
from streams.memory.extraction.sentences import Sentence, sentences
from streams.memory.extraction.signals import Worth, worth
from streams.memory.extraction.slots import Slot, slot_for
from streams.memory.extraction.speakers import conditional, first_person, subject_of, unreal, without_quotations
from streams.memory.extraction.timing import time_of

MAX_CANDIDATES = 5
_LONG_TEXT = 2_000  # characters; longer events leave the event loop
_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z_]*_\d+\]")
_WORTH = 0.0  # log-odds
_DOCUMENT = 1_200  # characters; general statements in a pasted text are not the user's
_FREE_SENTENCES = 2  # of a message, beside those that fill a slot


@dataclass(frozen=True, slots=True)
class _Found:
    """One candidate in the making: the slot and its value, with the place of the value in the sentence."""

    slot: Slot | None
    subject: str | None
    value: str | None = None
    polarity: str = "positive"
    operation: str = "assert"
    replaced: str | None = None
    why: str = ""


class RuleExtractor:
    """`extract_now` is pure and synchronous; `extract` is the same without holding up an event loop."""

    version = "rules-1"
    prompt_version = ""

    async def extract(self, event: RedactedEvent) -> Extraction:
        if sum(len(message.text) for message in event.messages) > _LONG_TEXT:
            return await asyncio.to_thread(self.extract_now, event)
        return self.extract_now(event)

    def extract_now(self, event: RedactedEvent) -> Extraction:
        """Candidates of the facts layer, at most 5 a message; `skipped` says why when there are none."""
        candidates: list[Candidate] = []
        trace: list[SentenceTrace] = []
        reasons: list[str] = []
        zone = event.timezone or "UTC"
        for place, message in enumerate(event.messages):
            if message.role != "user":
                reasons.append(gate(message.text, message.role) or "assistant")
                continue
            reason = gate(message.text)
            if reason is not None:
                reasons.append(reason)
                trace.append(SentenceTrace(place, 0, len(message.text), False, reason))
                continue
            said_at = message.time or event.occurred_at or event.appended_at
            kept: list[Candidate] = []
            for candidate_or_trace in _read(message, place, said_at, zone):
                if isinstance(candidate_or_trace, Candidate):
                    kept.append(candidate_or_trace)
                else:
                    trace.append(candidate_or_trace)
                    if not candidate_or_trace.kept:
                        reasons.append(candidate_or_trace.why)
            candidates += _best(kept)
        return Extraction(tuple(candidates), None if candidates else _main(reasons), tuple(trace))


def _best(kept: list[Candidate]) -> list[Candidate]:
    """The most important ones, in the order in which they were said."""
    strongest = sorted(kept, key=lambda c: (-c.importance, c.start))[:MAX_CANDIDATES]
    return sorted(strongest, key=lambda c: c.start)


def _main(reasons: list[str]) -> str:
    """One word for an event from which nothing was kept: the reason that comes up most."""
    return max(reasons, key=reasons.count) if reasons else "nothing_to_keep"


def _read(message: Message, place: int, said_at: datetime, zone: str) -> Iterator[Candidate | SentenceTrace]:
    text = own_words(message.text)
    whole = worth(text, language(text))
    document = len(text) > _DOCUMENT
    verdicts = [_judge(sentence, message.speaker, document) for sentence in sentences(text)]
    if whole.score >= _WORTH and not any(v.standing for v in verdicts):
        verdicts = _keep_best(verdicts, whole, message.speaker)
    for verdict in verdicts:
        sentence = verdict.sentence
        yield SentenceTrace(place, sentence.start, sentence.end, bool(verdict.found), verdict.why)
        for one in verdict.found:
            yield _candidate(one, sentence, verdict.lang, message, place, said_at, zone)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """`open`: nothing speaks against keeping the sentence, though it names no slot."""

    sentence: Sentence
    lang: str
    found: tuple[_Found, ...] = ()
    why: str = ""
    open: bool = False
    standing: bool = False


def _judge(sentence: Sentence, speaker: str | None, document: bool) -> _Verdict:
    """What one sentence says for itself, and the reason for the decision either way."""
    text = sentence.text
    lang = language(text)
    reason = unreal(text)
    if not says_something(text):
        reason = "small_talk"
    elif "[" in text and _PLACEHOLDER.search(text) and not says_something(_PLACEHOLDER.sub(" ", text)):
        reason = "placeholder_only"
    if reason:
        return _Verdict(sentence, lang, why=reason)
    if not sentence.question and not conditional(text):
        slots = tuple(_slots(text, lang, speaker))
        if slots:
            return _Verdict(
                sentence, lang, slots, "slot: " + ", ".join(one.slot.attribute for one in slots if one.slot)
            )
        general = None if document else relation(text)
        if general:
            found = _Found(slot_for(general.attribute), general.subject, general.value, why="relation")
            return _Verdict(sentence, lang, (found,), f"relation: {general.attribute}")
        if not document and weight.STANDING.search(without_quotations(text)):
            found = _Found(slot_for("instruction"), first_person(speaker), why="standing rule")
            return _Verdict(sentence, lang, (found,), "standing rule", standing=True)
    return _Verdict(sentence, lang, why="question" if sentence.question else "nothing_to_keep", open=True)


def _keep_best(verdicts: list[_Verdict], whole: Worth, speaker: str | None) -> list[_Verdict]:
    """The message is worth keeping: so are its most telling sentences."""
    scores = {place: worth(v.sentence.text, v.lang).score for place, v in enumerate(verdicts) if v.open}
    ranked = sorted(scores, key=lambda place: -scores[place])
    enough = any(v.found for v in verdicts)
    chosen = {
        place
        for rank, place in enumerate(ranked[:_FREE_SENTENCES])
        if (rank == 0 and not enough) or (scores[place] >= _WORTH and not verdicts[place].sentence.question)
    }
    names = ", ".join(whole.names[:4])
    return [
        replace(v, found=(_Found(None, first_person(speaker), why=names),), why=f"signals: {names}")
        if place in chosen
        else v
        for place, v in enumerate(verdicts)
    ]


def _slots(text: str, lang: str, speaker: str | None) -> Iterator[_Found]:
    """The statements about known slots, at most one for each stretch of the sentence."""
    taken: list[tuple[int, int]] = []
    for pattern in table(lang).matching(fold(text)):
        for match in pattern.expression.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            one = _from_match(pattern, match, speaker)
            if one is not None:
                taken.append(match.span())
                yield one


def _from_match(pattern: Pattern, match: re.Match[str], speaker: str | None) -> _Found | None:
    groups = match.groupdict()
    subject = subject_of(groups.get("s"), speaker)
    value = (pattern.value or groups.get("v") or groups.get("w") or "").strip(" '\"’“”")
    if not value or _PLACEHOLDER.fullmatch(value):
        return None
    attribute = pattern.attribute if pattern.attribute != "*" else (groups.get("a") or "").lower().strip("的 ")
    if attribute.startswith(("favorite", "favourite")):
        attribute = attribute.replace("favourite", "favorite")
    slot = slot_for(attribute)
    if pattern.attribute == "*":
        slot = replace(slot, cardinality="single", kind="preference", importance=4)
    negated = bool(groups.get("n"))
    polarity = "negative" if negated or pattern.polarity == "negative" else "positive"
    return _Found(slot, subject, value, polarity, pattern.operation, groups.get("o"), why=slot.attribute)


def _candidate(
    one: _Found, sentence: Sentence, lang: str, message: Message, place: int, said_at: datetime, zone: str
) -> Candidate:
    start, end = condense(sentence.text, one.value)
    content = sentence.text[start:end]
    slot = one.slot
    when = time_of(content, said_at, zone)
    return Candidate.model_validate(
        {
            "layer": Layer.FACT,
            "content": content,
            "memory_type": MemoryType(slot.kind) if slot else MemoryType.FACT,
            "importance": weight.importance(slot.importance if slot else 3, content),
            "subject": one.subject,
            "attribute": slot.attribute if slot and one.value else None,
            "value": one.value,
            "polarity": one.polarity,
            "cardinality": slot.cardinality if slot else "multi",
            "operation": one.operation,
            "replaced_value": one.replaced,
            "time": when,
            "message": place,
            "start": sentence.start + start,
            "end": sentence.start + end,
            "said_at": said_at,
            "role": message.role,
            "speaker": message.speaker,
            "lang": lang,
            "why": one.why,
        }
    )
