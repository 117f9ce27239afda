"""Conversations through one store, side by side as tenants, then asked and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain

from schemas import ConversationEvent, MemoryRecord, Message, Tenant
from streams.errors import BadData, Refused
from streams.evaluation.cases import Case, Question, Turn
from streams.evaluation.checks import Answer, Check, Observed, judge
from streams.evaluation.memory import Memory
from streams.memory.redaction import Redactor, load_policy

NAMESPACE = "standard"
STRANGER = "stranger"


async def run_cases(memory: Memory, cases: Sequence[Case], step: Callable[[], None] = lambda: None) -> list[Check]:
    """The checks of all conversations. All are told before the first is asked, so that each question is asked beside
    everybody else's memories. `step` is called twice a conversation, for a progress bar.

    What a worker would park (answers of a model that can't be read) is a check that failed. Raises `DependencyDown`.
    """
    checks: list[Check] = []
    for case in cases:
        for at, turns in case.events():
            try:
                await _tell(memory, case, at, turns)
            except (BadData, Refused) as error:
                checks.append(Check(case.id, "completeness", False, f"{at:%Y-%m-%d %H:%M}: parked: {error.reason}"))
        step()
    redactor = Redactor(load_policy(None))
    for case in cases:
        checks += judge(case, await _observe(memory, case, redactor))
        step()
    return checks


async def _tell(memory: Memory, case: Case, at: datetime, turns: Sequence[Turn]) -> None:
    by = turns[0].by
    event = ConversationEvent(
        event_id=f"{by}@{at.isoformat()}",
        namespace=NAMESPACE,
        user_id=user_id(case, by),
        session_id=f"{case.id}@{at.date()}",
        occurred_at=at,
        timezone=case.timezone,
        messages=tuple(Message.model_validate({"role": t.role, "text": t.text, "speaker": t.speaker}) for t in turns),
    )
    for _ in range(turns[0].times):
        await memory.remember(event, case.instant(case.processed_at) if case.processed_at else at)


async def _observe(memory: Memory, case: Case, redactor: Redactor) -> Observed:
    users = case.users()
    return Observed(
        stored={by: await memory.everything(_tenant(case, by)) for by in users},
        source={by: _source(case, by, redactor) for by in users},
        owner={by: user_id(case, by) for by in [*users, *(q.by for q in case.ask)]},
        answers=[await _answer(memory, case, question) for question in case.ask],
    )


async def _answer(memory: Memory, case: Case, question: Question) -> Answer:
    async def ask(by: str) -> list[MemoryRecord]:
        reply = await memory.ask(
            _tenant(case, by),
            question.q,
            case.asked_at(question),
            timezone=case.timezone,
            as_of=case.instant(question.as_of) if question.as_of else None,
        )
        return [one.memory for one in reply.memories]

    told = await ask(question.by)
    owners = frozenset(record.user_id for record in told)
    return Answer(question, told, owners, stranger=await ask(STRANGER))


def _source(case: Case, by: str, redactor: Redactor) -> str:
    turns = chain.from_iterable(turns for _, turns in case.events() if turns[0].by == by)
    session = redactor.session()
    return "\n".join(session.redact(turn.text).text for turn in turns)


def user_id(case: Case, by: str) -> str:
    return f"{case.id}/{by}" if by else case.id


def _tenant(case: Case, by: str) -> Tenant:
    return Tenant(namespace=NAMESPACE, user_id=user_id(case, by))
