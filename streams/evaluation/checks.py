"""One conversation judged: every expectation becomes a check of one dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas import Layer, MemoryRecord, MemoryStatus
from streams.evaluation.cases import Case, Question
from streams.evaluation.matching import falls_on, has, with_pieces
from streams.memory.extraction.grounding import grounded

Dimension = Literal["completeness", "recall", "accuracy", "conflict", "unrelated", "timeline", "isolation"]


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation of one conversation. `what` says in words what was expected (and what was there instead)."""

    case: str
    dimension: Dimension
    passed: bool
    what: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question got. `stranger`: the same asked as a user of whom nothing is known."""

    question: Question
    memories: Sequence[MemoryRecord]
    owners: frozenset[str]
    stranger: Sequence[MemoryRecord] = ()


@dataclass(frozen=True, slots=True)
class Observed:
    """What a conversation left behind: all records by user ("" is the conversation's own), and the answers.

    `source` is what was said, redacted, by user; `owner` the user id of the conversation's own user by `by`.
    """

    stored: Mapping[str, Sequence[MemoryRecord]]
    source: Mapping[str, str]
    owner: Mapping[str, str]
    answers: Sequence[Answer] = ()

    def facts(self, by: str = "") -> list[MemoryRecord]:
        return [m for m in self.stored.get(by, ()) if m.layer is Layer.FACT]

    def current(self, by: str = "") -> list[MemoryRecord]:
        return [m for m in self.facts(by) if m.status is MemoryStatus.ACTIVE]


def judge(case: Case, seen: Observed) -> list[Check]:
    """All checks of a conversation. A check that has no object is left out: a change of which one half was never
    stored says nothing on conflicts, and is counted under completeness."""
    checks = (_completeness, _accuracy, _conflict, _timeline, _isolation, _answers)
    return [check for part in checks for check in part(case, seen)]


def _completeness(case: Case, seen: Observed) -> Iterator[Check]:
    def check(found: bool, pieces: Sequence[str], kind: str) -> Check:
        return Check(case.id, "completeness", found, f"{kind}: {_words(pieces)}")

    for item in case.remember:
        yield check(bool(with_pieces(seen.current(item.by), item.has)), item.has, "no current fact")
    for change in case.superseded:
        yield check(bool(with_pieces(seen.facts(), change.old)), change.old, "the old fact was never stored")
        yield check(bool(with_pieces(seen.current(), change.new)), change.new, "no current fact")
    for pieces in (*case.together, *case.once):
        yield check(bool(with_pieces(seen.facts(), pieces)), pieces, "no fact")


def _accuracy(case: Case, seen: Observed) -> Iterator[Check]:
    for by, memories in seen.stored.items():
        for memory in memories:
            if memory.layer is Layer.FACT:
                wrong = _wrong(case, memory, seen.source[by])
                yield Check(case.id, "accuracy", wrong is None, f"{wrong}: {_words([memory.content])}")
    if case.silent:
        left = [m for memories in seen.stored.values() for m in memories]
        yield Check(case.id, "accuracy", not left, f"{len(left)} memories of what is not worth any")


def _wrong(case: Case, memory: MemoryRecord, source: str) -> str | None:
    if case.nothing or case.silent:
        return "not worth a fact"
    if any(has(memory.content, [piece]) for piece in case.never):
        return "must not be remembered"
    dates = [moment for moment in (memory.time.start, memory.time.end) if moment] if memory.time else []
    dates += [d.astimezone(case.zone) for d in dates]
    return None if grounded(memory.content, source, value=memory.value, dates=dates) else "not in the source"


def _conflict(case: Case, seen: Observed) -> Iterator[Check]:
    for change in case.superseded:
        if with_pieces(seen.facts(), change.old) and with_pieces(seen.facts(), change.new):
            current = seen.current()
            left = [m for m in with_pieces(current, change.old) if not has(m.content, change.new)]
            done = not left and bool(with_pieces(current, change.new))
            yield Check(
                case.id, "conflict", done, f"{_words(change.new)} does not stand in place of {_words(change.old)}"
            )
    for pieces in case.together:
        if with_pieces(seen.facts(), pieces):
            stands = bool(with_pieces(seen.current(), pieces))
            yield Check(case.id, "conflict", stands, f"wrongly replaced: {_words(pieces)}")
    for pieces in case.once:
        if with_pieces(seen.facts(), pieces):
            count = len(with_pieces(seen.current(), pieces))
            yield Check(case.id, "conflict", count == 1, f"{count} current facts: {_words(pieces)}")


def _timeline(case: Case, seen: Observed) -> Iterator[Check]:
    for item in case.remember:
        found = with_pieces(seen.facts(item.by), item.has)
        if item.when is not None and found:
            right = any(falls_on(m, item.when, case.zone) for m in found)
            times = ", ".join(_time(m.time.start if m.time else None, case) for m in found)
            yield Check(case.id, "timeline", right, f"{_words(item.has)}: {item.when} expected, got {times}")


def _isolation(case: Case, seen: Observed) -> Iterator[Check]:
    for secret in case.private:
        left = [m for memories in seen.stored.values() for m in memories if has(m.model_dump_json(), [secret])]
        yield Check(case.id, "isolation", not left, f"stored: {_words([secret])}")


def _answers(case: Case, seen: Observed) -> Iterator[Check]:
    for answer in seen.answers:
        yield from _answer(case, answer, seen)


def _answer(case: Case, answer: Answer, seen: Observed) -> Iterator[Check]:
    question, told = answer.question, [m.content for m in answer.memories]

    def check(dimension: Dimension, passed: bool, problem: str) -> Check:
        return Check(case.id, dimension, passed, f"{question.q} → {problem}")

    own = answer.owners <= {seen.owner[question.by]}
    yield check("isolation", own and not answer.stranger, "another user's memories")
    if question.none:
        kind: Dimension = "isolation" if question.by else "unrelated"
        yield check(kind, not told, f"an answer where there is none: {_words(told[:1])}")
    if question.recall:
        kind = "timeline" if question.as_of else "recall"
        found = any(has(content, question.recall) for content in told)
        yield check(kind, found, f"not found: {_words(question.recall)}")
    if question.avoid:
        kind = "conflict" if case.superseded and not question.by else "isolation"
        old = [text for text in told if has(text, question.avoid) and not _says_the_new(case, text)]
        yield check(kind, not old, f"must not be told: {_words(question.avoid)}")


def _says_the_new(case: Case, content: str) -> bool:
    return any(has(content, change.new) for change in case.superseded)


def _words(pieces: Sequence[str]) -> str:
    return " + ".join(f"“{piece}”" for piece in pieces)


def _time(moment: datetime | None, case: Case) -> str:
    return moment.astimezone(case.zone).isoformat(timespec="minutes")[:16] if moment else "none"
