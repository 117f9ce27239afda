"""Find, decide, replace: pure functions of the text and the policy."""

from __future__ import annotations

import hashlib
import heapq
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from types import MappingProxyType

from streams.errors import ConfigurationError
from streams.memory.look import Look, forget
from streams.memory.redaction.model import Action, Hit, Redaction, Span
from streams.memory.redaction.placeholders import DROPPED, PLACEHOLDER
from streams.memory.redaction.policy import Policy, Rule
from streams.memory.redaction.recognizers import BUILTIN, REVISION, Recognizer
from streams.memory.redaction.recognizers.base import LABELLED, SHAPE
from streams.memory.redaction.recognizers.custom import from_pattern, from_plugin
from streams.memory.redaction.sentences import widen
from streams.memory.redaction.view import View

_ACTIONS: dict[Rule, Action] = {"mask": "mask", "drop-sentence": "drop", "drop": "drop", "keep": "keep"}
# Every pass replaces something, so passes end by themselves; far fewer than these are ever needed.
_MAX_PASSES = 8
# Libraries read their tables of countries and areas at the first use: have that done at start, not at an event.
_WARM_UP = "+86 138 0013 8000, +1 415 555 0132, +44 7400 123456, DE89 3704 0044 0532 0130 00"
_NOTHING: Mapping[str, str] = MappingProxyType({})
# What opens a door by being said.
SECRETS = frozenset({"password", "otp", "cvv", "api_key"})
_MAX_LOOKED_FOR = 200  # different secrets of one text that may be said again; keeps the search linear
_MAX_REPEATED = 50  # different secrets of one text or event that are said again


class Redactor:
    """Applies one policy. Build it once (it compiles and loads); it keeps no text and may be shared by threads.

    `version` names the policy and the recognizers, so that a stored memory can say what it passed.
    Raises ConfigurationError for a plugin that can't be used.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        plugins = [from_plugin(name) for name in policy.plugins]
        self._recognizers: tuple[Recognizer, ...] = (*BUILTIN, *map(from_pattern, policy.custom), *plugins)
        self._triggers = Look(*(recognizer.trigger for recognizer in self._recognizers), wide=True)
        known = frozenset().union(*(recognizer.entities for recognizer in self._recognizers))
        unknown = policy.rules.keys() - known
        if unknown:
            raise ConfigurationError(f"redaction policy: nothing finds {', '.join(sorted(unknown))}")
        self._rules: dict[str, Rule] = {entity: policy.rules.get(entity, "mask") for entity in known}
        self.version = self._digest()
        self.find(_WARM_UP)

    def _digest(self) -> str:
        facts = [
            REVISION,
            self.policy.mode,
            sorted(self._rules.items()),
            [[custom.entity, custom.pattern, list(custom.near)] for custom in self.policy.custom],
            list(self.policy.plugins),
        ]
        return hashlib.sha256(json.dumps(facts, ensure_ascii=False).encode()).hexdigest()[:12]

    def session(self) -> RedactionSession:
        """Placeholders that stay the same within one event: use one session for its messages and their context."""
        return RedactionSession(self)

    def redact(self, text: str) -> Redaction:
        """One text with a session of its own. Time and memory are linear in the text."""
        return self.session().redact(text)

    def contains_dropped(self, text: str) -> str | None:
        """The guard of the store: the first entity in `text` that the policy never lets in, else None.

        In mode `report` nothing is held back, so it is None.
        """
        if self.policy.mode == "report":
            return None
        return next((span.entity for span in self.find(text) if span.action == "drop"), None)

    def find(self, text: str, known: Mapping[str, str] = _NOTHING) -> tuple[Span, ...]:
        """What is in the text and what the policy does with it: ascending, never overlapping.

        `known` are secrets that were told before (value as a view shows it, to entity): they are found without a word.
        """
        try:
            return self._found(text, known)
        finally:
            forget()

    def _found(self, text: str, known: Mapping[str, str]) -> tuple[Span, ...]:
        view = View(text)
        hits: list[Hit] = []
        # Most texts hold none of what most recognizers begin with.
        for place in sorted(self._triggers.which(view.text)):
            hits.extend(self._recognizers[place].hits(view.text))
        if not hits and not known:
            return ()
        owners = strongest(hits)
        owners = strongest([*owners, *self._repeated(view.text, owners, known)])
        spans = []
        for hit in owners:
            if not any(map(str.isalnum, view.text[hit.start : hit.end])):
                continue  # the punctuation between two findings
            start, end = view.to_original(hit.start, hit.end)
            spans.append(Span(hit.entity, start, end, _ACTIONS[self._rules[hit.entity]]))
        return tuple(spans)

    def _repeated(self, text: str, hits: Iterable[Hit], known: Mapping[str, str]) -> Iterator[Hit]:
        """The same secret said again, where no word around it gives it away: "验证码 8392, yes, 8392"."""
        told = {
            text[hit.start : hit.end]: hit.entity for hit in hits if hit.entity in SECRETS and hit.end - hit.start <= 64
        }
        first = islice(told.items(), _MAX_LOOKED_FOR)
        again = {value: entity for value, entity in first if len(value) >= 4 and text.count(value) > 1}
        again |= {value: entity for value, entity in known.items() if value in text}
        if not again:
            return
        literal = "|".join(map(re.escape, sorted(again, key=lambda value: (-len(value), value))[:_MAX_REPEATED]))
        for found in re.finditer(rf"(?<![A-Za-z0-9])(?:{literal})(?![A-Za-z0-9])", text):
            yield Hit(again[found.group()], found.start(), found.end(), SHAPE)

    def secrets_of(self, text: str, spans: Iterable[Span]) -> dict[str, str]:
        """Of the findings the secrets that may be said again, as `find` wants them; short words are too common."""
        told = ((View(text[span.start : span.end]).text, span.entity) for span in spans if span.entity in SECRETS)
        return {value: entity for value, entity in told if 5 <= len(value) <= 64 and not value.isalpha()}

    def drops_message(self, span: Span) -> bool:
        """Whether the policy drops the whole message for this finding."""
        return self._rules[span.entity] == "drop"


def strongest(hits: Iterable[Hit]) -> list[Hit]:
    """One owner for every character: ascending, never overlapping, in O(n log n).

    A hit inside a longer one that a label or a checksum vouches for is a part of it (the mail address in a URL with
    credentials). Else the higher score takes what both cover, and the weaker keeps the rest: a phone that begins a
    longer secret must not uncover the secret's end.
    """
    ordered = sorted(set(hits), key=lambda hit: (hit.start, -hit.end, -hit.score, hit.entity))
    heap: list[tuple[int, int, int, str]] = []
    reach, reaching = -1, -1
    for hit in ordered:
        if hit.end <= hit.start or (hit.end <= reach and hit.start >= reaching):
            continue
        if hit.score >= LABELLED and hit.end > reach:
            reach, reaching = hit.end, hit.start
        heap.append((hit.start, -hit.end, -hit.score, hit.entity))
    out: list[Hit] = []
    while heap:  # `heap` is sorted, so it is a heap already
        start, negative_end, negative_score, entity = heapq.heappop(heap)
        hit = Hit(entity, start, -negative_end, -negative_score)
        last = out[-1] if out else None
        if last is None or hit.start >= last.end:
            out.append(hit)
        elif hit.score <= last.score:
            if hit.end > last.end:
                heapq.heappush(heap, (last.end, -hit.end, -hit.score, hit.entity))
        else:
            out[-1] = replace(last, end=hit.start)
            if out[-1].end <= out[-1].start:
                out.pop()
            out.append(hit)
            if last.end > hit.end:
                heapq.heappush(heap, (hit.end, -last.end, -last.score, last.entity))
    return out


class RedactionSession:
    """Numbers placeholders over the texts of one event: equal values get equal placeholders, in order of appearance.

    It also remembers the secrets of the event: "got it, I'll use hunter2" gives away what an earlier message told.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._numbers: dict[tuple[str, str], int] = {}
        self._last: dict[str, int] = {}
        self._secrets: dict[str, str] = {}

    def redact(self, text: str) -> Redaction:
        """Redact one text of the event. What comes out holds nothing that a second look would find."""
        try:
            return self._redacted(text)
        finally:
            forget()

    def _redacted(self, text: str) -> Redaction:
        spans = self._redactor.find(text, self._secrets)
        if not spans or self._redactor.policy.mode == "report":
            return Redaction(text, spans)
        self._reserve(text)
        if len(self._secrets) < _MAX_REPEATED:
            self._secrets |= self._redactor.secrets_of(text, spans)
        for _ in range(_MAX_PASSES):
            if any(map(self._redactor.drops_message, spans)):
                return Redaction(DROPPED, spans, dropped_message=True)
            out, dropped, pieces = self._render(text, spans)
            again = [span for span in self._redactor.find(out, self._secrets) if span.action != "keep"]
            if not again:
                return Redaction(out, spans, dropped)
            spans = _merged(spans, _mapped(again, pieces))
        return Redaction(DROPPED, spans, dropped_message=True)

    def _reserve(self, text: str) -> None:
        """A number that the text already uses as a placeholder is not given to another value."""
        for found in PLACEHOLDER.finditer(text):
            entity, _, number = found.group()[1:-1].lower().rpartition("_")
            if number.isdigit():
                self._last[entity] = max(self._last.get(entity, 0), int(number))

    def _placeholder(self, entity: str, value: str) -> str:
        key = (entity, _normal(entity, value))
        if key not in self._numbers:
            self._last[entity] = self._numbers[key] = self._last.get(entity, 0) + 1
        return f"[{entity.upper()}_{self._numbers[key]}]"

    def _render(self, text: str, spans: tuple[Span, ...]) -> tuple[str, int, list[tuple[int, int, int]]]:
        """The redacted text, the number of dropped sentences, and what was kept of the text.

        Each kept piece is (start in the redacted text, start in the text, length).
        """
        sentences = widen(text, ((span.start, span.end) for span in spans if span.action == "drop"))
        edits = [(start, end, DROPPED) for start, end, _ in sentences]
        at = 0
        for span in spans:
            while at < len(sentences) and sentences[at][1] <= span.start:
                at += 1
            inside = at < len(sentences) and sentences[at][0] < span.end
            if span.action == "mask" and not inside:
                edits.append((span.start, span.end, self._placeholder(span.entity, text[span.start : span.end])))
        out: list[str] = []
        pieces: list[tuple[int, int, int]] = []
        length = position = 0
        for start, end, by in sorted(edits):
            pieces.append((length, position, start - position))
            out += (text[position:start], by)
            length += start - position + len(by)
            position = end
        pieces.append((length, position, len(text) - position))
        out.append(text[position:])
        return "".join(out), sum(count for _, _, count in sentences), pieces


def _normal(entity: str, value: str) -> str:
    """What makes two spellings the same value."""
    plain = View(value).text.lower()
    if entity == "phone":
        return re.sub(r"^(?:00)?86(?=1[0-9]{10}$)", "", re.sub(r"[^0-9]", "", plain))
    return "".join(filter(str.isalnum, plain)) or value


def _mapped(spans: Iterable[Span], pieces: list[tuple[int, int, int]]) -> Iterator[Span]:
    """Spans of a redacted text in characters of the input; placeholders and markers have no counterpart there."""
    at = 0
    for span in spans:
        while at + 1 < len(pieces) and pieces[at + 1][0] <= span.start:
            at += 1
        for new, old, size in pieces[at:]:
            if new >= span.end:
                break
            start, end = max(span.start, new), min(span.end, new + size)
            if start < end:
                yield Span(span.entity, old + start - new, old + end - new, span.action)


def _merged(first: Iterable[Span], second: Iterable[Span]) -> tuple[Span, ...]:
    """Both, ascending; `second` lies outside of what `first` replaced, but may cover what was kept."""
    second = list(second)
    kept = [a for a in first if a.action != "keep" or all(a.end <= b.start or b.end <= a.start for b in second)]
    return tuple(sorted((*kept, *second), key=lambda span: span.start))
