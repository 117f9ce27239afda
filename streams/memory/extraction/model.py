"""The model extractor: an OpenAI-compatible chat model reads the messages, and nothing it invents gets through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from schemas import Candidate, Layer, MemoryType, Message, RedactedEvent
from streams.errors import BadData, DependencyDown
from streams.memory.extraction import details
from streams.memory.extraction.condense import condense
from streams.memory.extraction.episodes import passages
from streams.memory.extraction.gate import gate, placeholder_only, says_something
from streams.memory.extraction.grounding import grounded
from streams.memory.extraction.lang import fold, is_chinese, language, words
from streams.memory.extraction.material import own_words
from streams.memory.extraction.off_record import on_record
from streams.memory.extraction.prompt import Prompt, load_prompt
from streams.memory.extraction.reply import items, reply_schema
from streams.memory.extraction.result import Extraction, Extractor, SentenceTrace
from streams.memory.extraction.rules import MAX_CANDIDATES, main_reason, validity
from streams.memory.extraction.sentences import sentences
from streams.memory.extraction.slots import NOUNS, SLOTS, slot_for
from streams.memory.extraction.speakers import first_person
from streams.memory.extraction.timing import timing
from streams.ports import ChatModel, ChatTurn

_MAX_CHARS = 12_000  # of message text in one call: small models have 8k tokens of context
_CONTEXT_MESSAGES, _CONTEXT_CHARS = 6, 300
_NUDGE = 'That was not usable. Answer again with one JSON object only: {"memories": [...]}.'
_THE_USER = frozenset({"user", "the user", "me", "i", "myself", "用户", "我", "本人", "使用者", ""})


@dataclass(frozen=True, slots=True)
class Passage:
    """Characters [start, end) of message `message`: what one call is asked about."""

    message: int
    start: int
    end: int


class ModelExtractor:
    """Asks a chat model, at most `attempts` times for the same text when the answer can't be read.

    Raises what the model's port raises (`DependencyDown`: the event waits and is tried again; `Refused`), and
    `BadData("unusable_model_reply")` when every answer was garbage: the event is parked, never counted as empty.
    With `fallback` a model that is down is replaced by it, and the extraction names the version that answered.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        prompt: Prompt | None = None,
        attempts: int = 3,
        deadline_seconds: float = 60.0,
        max_tokens: int = 1500,
        json_schema: bool = True,
        fallback: Extractor | None = None,
    ) -> None:
        self._chat = chat
        self._prompt = prompt or load_prompt()
        self._attempts = attempts
        self._deadline = deadline_seconds
        self._max_tokens = max_tokens
        self._json_schema = json_schema
        self._fallback = fallback

    @property
    def version(self) -> str:
        return f"model:{self._chat.name}"

    @property
    def prompt_version(self) -> str:
        return self._prompt.version

    async def extract(self, event: RedactedEvent) -> Extraction:
        event = on_record(event)
        readable, reasons = _readable(event)
        if not readable:
            return Extraction((), main_reason(reasons))
        try:
            found = [item for batch in _batches(readable) for item in await self._ask(event, batch)]
        except DependencyDown:
            if self._fallback is None:
                raise
            answer = await self._fallback.extract(event)
            return replace(answer, version=self._fallback.version)
        return assemble(found, event)

    async def _ask(self, event: RedactedEvent, batch: Sequence[Passage]) -> list[dict[str, Any]]:
        turns = build_turns(event, batch, self._prompt)
        most = MAX_CANDIDATES * len({passage.message for passage in batch})
        schema = reply_schema(most) if self._json_schema else None
        for _ in range(self._attempts):
            reply = await self._chat.complete(
                turns, json_schema=schema, max_tokens=self._max_tokens, deadline_seconds=self._deadline
            )
            found = items(reply.text)
            if found is not None and (not found or any(_usable(item) for item in found)):
                return found
            turns = [*turns, ChatTurn("assistant", reply.text or "(nothing)"), ChatTurn("user", _NUDGE)]
        raise BadData("unusable_model_reply", f"{self._attempts} answers, none could be read")


def _readable(event: RedactedEvent) -> tuple[list[Passage], list[str]]:
    """What of the user's messages is worth asking about, and why the rest is not."""
    found: list[Passage] = []
    reasons: list[str] = []
    for place, message in enumerate(event.messages):
        reason = gate(message.text, message.role) or ("assistant" if message.role != "user" else None)
        if reason is not None:
            reasons.append(reason)
            continue
        found += [Passage(place, start, end) for start, end in passages(own_words(message.text), _MAX_CHARS)]
    return found, reasons


def _batches(readable: Sequence[Passage]) -> Iterator[list[Passage]]:
    batch: list[Passage] = []
    size = 0
    for passage in readable:
        length = passage.end - passage.start
        if batch and size + length > _MAX_CHARS:
            yield batch
            batch, size = [], 0
        batch.append(passage)
        size += length
    yield batch


def build_turns(event: RedactedEvent, batch: Sequence[Passage], prompt: Prompt) -> list[ChatTurn]:
    """The conversation with the model: instructions, examples as turns, then the messages by number."""
    lines = [
        f"context: {_name(message)}: {_line(message.text[:_CONTEXT_CHARS])}"
        for message in event.context[-_CONTEXT_MESSAGES:]
        if message.role in ("user", "assistant")
    ]
    for passage in batch:
        message = event.messages[passage.message]
        lines.append(f"[{passage.message}] {_name(message)}: {_line(message.text[passage.start : passage.end])}")
    return prompt.turns("\n".join(lines))


def _name(message: Message) -> str:
    return f"{message.role} ({message.speaker})" if message.speaker else message.role


def _line(text: str) -> str:
    """On one line: a message must not look like the next one."""
    return " ".join(text.split())


def assemble(found: Sequence[Mapping[str, Any]], event: RedactedEvent) -> Extraction:
    """Candidates from a model's items: those that are grounded, at most 5 a message. Pure."""
    kept: dict[int, list[Candidate]] = {}
    trace: list[SentenceTrace] = []
    for item in found:
        place = _message_of(item, event)
        candidate, why = _candidate(item, place, event)
        if candidate is None:
            trace.append(SentenceTrace(place, 0, 0, False, why))
            continue
        trace.append(SentenceTrace(place, candidate.start, candidate.end, True, why))
        same = kept.setdefault(place, [])
        if not any(other.content == candidate.content and other.attribute == candidate.attribute for other in same):
            same.append(candidate)
    candidates = [
        candidate
        for place in sorted(kept)
        for candidate in sorted(
            sorted(kept[place], key=lambda c: -c.importance)[:MAX_CANDIDATES], key=lambda c: c.start
        )
    ]
    if candidates:
        return Extraction(tuple(candidates), None, tuple(trace))
    reasons = [step.why for step in trace]
    return Extraction((), main_reason(reasons), tuple(trace))


def _usable(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("content"), str) and bool(item["content"].strip())


def _message_of(item: Mapping[str, Any], event: RedactedEvent) -> int:
    """The message that an item names, else the user message that shares most words with it."""
    own = [place for place, message in enumerate(event.messages) if message.role == "user"]
    said = item.get("message")
    if isinstance(said, int) and not isinstance(said, bool) and said in own:
        return said
    wanted = set(words(str(item.get("quote") or item.get("content") or "")))
    return max(own, key=lambda place: (len(wanted & set(words(event.messages[place].text))), place), default=0)


def _candidate(item: Mapping[str, Any], place: int, event: RedactedEvent) -> tuple[Candidate | None, str]:
    if not _usable(item):
        return None, "no_content"
    message = event.messages[place]
    own = own_words(message.text)
    content = _text(item, "content") or ""
    first, last = condense(content)
    content = content[first:last]
    said_at = message.time or event.occurred_at or event.appended_at
    start, end = _span(_text(item, "quote") or content, own)
    sentence = message.text[start:end]
    when = timing(sentence, said_at, event.timezone or "UTC")
    source = "\n".join([own, *(earlier.text for earlier in (*event.context, *event.messages[:place]))])
    value = _text(item, "value")
    if is_chinese(own) and not is_chinese(content) and not _quotes(content, own):
        return None, "other_language"
    dates = [moment for moment in (when.time.start, when.time.end) if moment] if when.time else []
    if not grounded(content, source, dates=[_local(moment, event) for moment in dates]):
        return None, "not_grounded"
    if not says_something(content) or placeholder_only(content):
        return None, "placeholder_only" if placeholder_only(content) else "small_talk"
    subject = _subject(item, message, source)
    if value is not None and not grounded(value, source, value=value):
        value = None
    attribute = _attribute(item) if value else None
    slot = slot_for(attribute) if attribute else SLOTS["identity"]
    kind = item.get("memory_type")
    memory_type = MemoryType(kind if kind in ("preference", "fact", "progress", "task") else slot.kind)
    temporary = item.get("temporary") is True and when.time is not None and when.time.end is not None
    valid_from, valid_until = validity(slot, when, temporary)
    replaced = _text(item, "replaced_value")
    return Candidate(
        layer=Layer.FACT,
        content=content,
        memory_type=memory_type,
        importance=_importance(item.get("importance")),
        tags=details.tags(content),
        event=details.event(content),
        subject=subject,
        attribute=attribute,
        value=value,
        polarity=_word(item, "polarity", ("positive", "negative")),
        cardinality=slot.cardinality if attribute else "multi",
        operation=_word(item, "operation", ("assert", "retract", "correct")) if attribute else "assert",
        replaced_value=replaced if replaced and fold(replaced) in fold(source) else None,
        temporary=temporary,
        emotion=details.emotion(sentence),
        entities=details.entities(content, subject, attribute, value),
        time=when.time,
        valid_from=valid_from,
        valid_until=valid_until,
        message=place,
        start=start,
        end=end,
        said_at=said_at,
        role="user",
        speaker=message.speaker,
        lang=language(own),
        why="model",
    ), "model"


def _local(moment: datetime, event: RedactedEvent) -> datetime:
    return moment.astimezone(ZoneInfo(event.timezone or "UTC"))


def _span(quote: str, text: str) -> tuple[int, int]:
    """Where in a message a quote stands: exactly, ignoring case, else the sentence that shares most words with it."""
    at = text.find(quote)
    if at < 0 and len(text.lower()) == len(text):
        at = text.lower().find(quote.lower())
    if at >= 0 and quote:
        return at, at + len(quote)
    wanted = set(words(quote))
    best = max(sentences(text), key=lambda sentence: len(wanted & set(words(sentence.text))), default=None)
    return (best.start, best.end) if best else (0, len(text))


def _quotes(content: str, text: str) -> bool:
    return fold(content) in fold(text)


def _text(item: Mapping[str, Any], key: str) -> str | None:
    value = item.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def _word(item: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> Any:
    value = item.get(key)
    return value if value in allowed else allowed[0]


def _importance(value: Any) -> float:
    try:
        return float(min(5, max(1, float(value))))
    except (TypeError, ValueError):
        return 3.0


def _subject(item: Mapping[str, Any], message: Message, source: str) -> str:
    said = _text(item, "subject") or ""
    if fold(said) in _THE_USER or fold(said) not in fold(source):
        return first_person(message.speaker)
    return said


def _attribute(item: Mapping[str, Any]) -> str | None:
    said = (_text(item, "attribute") or "").lower().replace(" ", "_")
    spaced = said.replace("_", " ")
    if not said or said in ("none", "null"):
        return None
    if said in SLOTS:
        return said
    return NOUNS[spaced].attribute if spaced in NOUNS else spaced
