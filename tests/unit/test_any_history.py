"""Any history of a user, through the stages that write: the end does not depend on order, repetition or crashes.

Two processes live through the same history. One gets each record once, in the order in which it was said. The other one
gets what was said between two commands or windows in any order, in any batches, some of it again at any later time, and
dies at any write.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from schemas import Candidate, CandidateEvent, MemoryRecord, MemoryStatus, MemoryType, ReExtraction, Supersede
from schemas.control import Access, DecayTick, ForgetCommand, RestoreCommand
from streams.agents.writer import memory_id
from streams.memory.decay import WINDOW, window_start
from streams.memory.settle import FORGOTTEN_SINCE
from streams.records import Inbound
from streams.topics import shard_of
from tests.memory_role import TENANT, Crash, MemoryRole, episode, fact, inbound, said

T = TypeVar("T")
EXAMPLES = int(os.environ.get("MEMSTREAM_EXAMPLES", "500"))
LONG = 20_000
STEPS = 14
START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
CITIES = ("Bonn", "Oslo", "Graz")
SAYINGS = (
    "I met Ann Lee at the harbour",
    "I met Bob at the harbour",
    "Correction: I never met Ann Lee at the harbour",
    "我在港口花了300元",
    "The ticket was 42.50 euros",
)


@st.composite
def statements(draw: st.DrawFn) -> tuple[Candidate, ...]:
    """What one event holds: a fact, its episode, or both."""
    kind = draw(st.sampled_from(("city", "city", "away", "taste", "taste", "task", "saying", "episode", "episode")))
    text = draw(st.sampled_from(SAYINGS))
    city: dict[str, Any] = {"subject": "user", "attribute": "city", "cardinality": "single"}
    match kind:
        case "city":
            value = draw(st.sampled_from(CITIES))
            operation = draw(st.sampled_from(("assert", "assert", "assert", "correct", "retract")))
            said_so = f"I live in {value}" if operation != "retract" else f"I no longer live in {value}"
            made = fact(said_so, value=value, operation=operation, **city)
            return (made, episode(said_so)) if draw(st.booleans()) else (made,)
        case "away":
            end = START + draw(st.integers(1, 60)) * DAY
            return (fact("This week I live in Lyon", value="Lyon", temporary=True, valid_until=end, **city),)
        case "taste":
            value = draw(st.sampled_from(("jazz", "rock")))
            polarity = draw(st.sampled_from(("positive", "positive", "negative")))
            likes = f"I like {value}" if polarity == "positive" else f"I don't like {value} any more"
            return (
                fact(
                    likes, subject="user", attribute="likes", value=value, polarity=polarity, memory_type="preference"
                ),
            )
        case "task":
            return (fact(f"Send: {text}", memory_type="task", valid_until=START + draw(st.integers(1, 60)) * DAY),)
        case "saying":
            return (fact(text),)
        case _:
            return (episode(text), episode("Good morning", message=1))


class AnyHistory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.steady, self.shaken = MemoryRole(), MemoryRole()
        self.now = START
        self.events: list[CandidateEvent] = []
        # Said since the last command or window, not delivered yet; and all that was delivered.
        self.waiting: list[Inbound] = []
        self.delivered: list[Inbound] = []
        self.known: list[str] = []
        self.told: set[str] = set()
        self.forgotten: list[ForgetCommand] = []
        self.commands = 0

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    # What is said and sent

    @rule(
        items=statements(),
        ago=st.sampled_from((0, 0, 1, 5, 40)),
        session=st.sampled_from(("a", "b", "c", "")),
        replaces=st.integers(0, 12),
    )
    def say(self, items: tuple[Candidate, ...], ago: int, session: str, replaces: int) -> None:
        """An event, told late by `ago` days; one in a few corrects an earlier one by its id."""
        self.now += timedelta(hours=1)
        event_id = f"e{len(self.events)}"
        old = tuple(self.known[replaces : replaces + 1])
        event = said(
            event_id,
            self.now - ago * DAY,
            *items,
            session=session,
            appended_at=self.now,
            replaces=old if items[0].operation == "correct" else (),
        )
        if event.replaces:
            self.told |= {*old, *(memory_id(TENANT, event_id, item) for item in items)}
        self.events.append(event)
        self.known += [memory_id(TENANT, event_id, item) for item in items]
        self.waiting.append(inbound("candidates", event, self.now))

    @precondition(lambda self: len(self.known) > 1)
    @rule(data=st.data())
    def a_client_replaces(self, data: st.DataObject) -> None:
        old, new = data.draw(st.lists(st.sampled_from(self.known), min_size=2, max_size=2, unique=True))
        self.now += timedelta(hours=1)
        word = Supersede(old_id=old, new_id=new, occurred_at=self.now, **TENANT.model_dump())
        self.told |= {old, new}
        self.waiting.append(inbound("supersede", word, self.now))

    # Commands and windows: what was said before them is there

    @precondition(lambda self: self.events)
    @rule(data=st.data(), items=statements())
    def extract_again(self, data: st.DataObject, items: tuple[Candidate, ...]) -> None:
        """The facts of an event anew, as another extractor finds them."""
        self.now += timedelta(hours=1)
        event = data.draw(st.sampled_from(self.events))
        anew = ReExtraction(command_id=self.command(), at=self.now)
        found = event.model_copy(update={"candidates": items, "re_extraction": anew})
        ids = [memory_id(TENANT, event.event_id, item) for item in items if item.layer == "fact"]
        self.known += [i for i in ids if i not in self.known]
        if event.replaces:
            self.told |= {*event.replaces, *ids}
        self.all_have(inbound("candidates", found, self.now))

    @precondition(lambda self: self.known)
    @rule(data=st.data(), scope=st.sampled_from(("memories", "events", "session", "interval", "all")))
    def forget(self, data: st.DataObject, scope: str) -> None:
        self.now += timedelta(hours=1)
        what: dict[str, Any] = {}
        match scope:
            case "memories":
                what["memory_ids"] = (data.draw(st.sampled_from(self.known)),)
            case "events":
                what["event_ids"] = (data.draw(st.sampled_from(self.events)).event_id,)
            case "session":
                what["session_id"] = data.draw(st.sampled_from(("a", "b", "c")))
            case "interval":
                what["since"] = self.now - data.draw(st.integers(1, 30)) * DAY
        fields = {"command_id": self.command(), "scope": scope, "requested_at": self.now, **TENANT.model_dump(), **what}
        command = ForgetCommand.model_validate(fields)
        self.forgotten.append(command)
        self.all_have(inbound("commands", command, self.now))

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        self.now += timedelta(hours=1)
        ids = set(data.draw(st.lists(st.sampled_from(self.known), min_size=1, max_size=3)))
        ids |= {i for i, m in self.run(self.steady.memories()).items() if m.memory_type is MemoryType.DIGEST}
        command = RestoreCommand(
            command_id=self.command(), requested_at=self.now, memory_ids=tuple(sorted(ids)), **TENANT.model_dump()
        )
        self.all_have(inbound("commands", command, self.now))

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        self.now += timedelta(hours=1)
        ids = data.draw(st.lists(st.sampled_from(self.known), min_size=1, max_size=3, unique=True))
        self.commands += 1
        used = Access(
            memory_ids=tuple(ids), partition=0, offset=self.commands, accessed_at=self.now, **TENANT.model_dump()
        )
        self.all_have(inbound("access", used, self.now))

    @rule(days=st.sampled_from((1, 32, 95)))
    def a_window_ends(self, days: int) -> None:
        self.now = window_start(self.now + days * DAY)
        tick = DecayTick(shard=shard_of(TENANT), window_start=self.now - WINDOW, window_end=self.now)
        # Settling's own events take milliseconds, a window comes every six hours.
        self.settle()
        self.all_have(inbound("decay", tick, self.now))

    def command(self) -> str:
        self.commands += 1
        return f"c{self.commands}"

    # How it is delivered

    def all_have(self, record: Inbound) -> None:
        self.deliver()
        self.run(self.steady.hand_in(record))
        self.shake([record])
        self.delivered.append(record)

    def deliver(self) -> None:
        for record in self.waiting:
            self.run(self.steady.hand_in(record))
        self.run(self.steady.drain())
        again = [r for r in self.delivered if self.chance.random() < 0.1]
        mixed = [*self.waiting, *again, *(r for r in self.waiting if self.chance.random() < 0.3)]
        self.chance.shuffle(mixed)
        while mixed:
            # A batch is of one topic; what is there twice in it is one event.
            batch = [r for r in mixed[: self.chance.randint(1, 4)] if r.topic == mixed[0].topic]
            mixed = mixed[len(batch) :] if batch == mixed[: len(batch)] else [r for r in mixed if r not in batch]
            self.shake(batch if batch[0].topic in ("candidates", "supersede") else batch[:1])
            if self.chance.random() < 0.5:
                self.run(self.shaken.drain())
        self.delivered += self.waiting
        self.waiting = []

    def shake(self, batch: list[Inbound]) -> None:
        """Until it is through, as a runner does; it may die on the way, each time in a new process."""
        while self.chance.random() < 0.3:
            self.shaken.crash_at(self.chance.randint(1, 8), after_it=self.chance.random() < 0.5)
            try:
                self.run(self.shaken.hand_in_all(batch))
            except Crash:
                self.shaken.start()
        self.shaken.crash_at(0, after_it=False)
        self.run(self.shaken.hand_in_all(batch))

    def settle(self) -> None:
        self.deliver()
        for role in (self.steady, self.shaken):
            self.run(role.drain())

    # What holds in the end

    def teardown(self) -> None:
        try:
            self.settle()
            state = self.run(self.shaken.memories())
            assert state == self.run(self.steady.memories())
            for role in (self.steady, self.shaken):
                assert role.log() == state
            archived = {i for i, m in state.items() if m.status is MemoryStatus.ARCHIVED}
            # What a crash left outside the archive is moved by the next window; nothing current lies in it.
            assert self.run(self.shaken.memories(archive=True)).keys() <= archived
            self.forgotten_is_gone(state)
            a_status_has_its_reason(state)
            self.a_city_has_one_truth(state)
        finally:
            self.loop.close()

    def forgotten_is_gone(self, state: dict[str, MemoryRecord]) -> None:
        for command in self.forgotten:
            for memory in state.values():
                events = {source.event_id for source in memory.sources[:1]}
                assert memory.memory_id not in command.memory_ids
                assert events.isdisjoint(command.event_ids)
                if command.scope in ("all", "session", "interval"):
                    told = command.session_id in (None, memory.session_id)
                    since = command.since or datetime.min.replace(tzinfo=UTC)
                    assert not (told and since <= memory.occurred_at <= command.requested_at)

    def a_city_has_one_truth(self, state: dict[str, MemoryRecord]) -> None:
        """Unless a client had a say, of whatever it is that stands for a repeat."""
        told = self.told | {str(m.duplicate_of) for m in state.values() if m.memory_id in self.told}
        current = [
            memory
            for memory in state.values()
            if memory.slot == "user|city"
            and memory.status in (MemoryStatus.ACTIVE, MemoryStatus.ARCHIVED)
            and memory.operation != "retract"
            and not memory.temporary
            and memory.memory_id not in told
        ]
        assert len({memory.value for memory in current}) <= 1


def a_status_has_its_reason(state: dict[str, MemoryRecord]) -> None:
    for memory in state.values():
        match memory.status:
            case MemoryStatus.DUPLICATE:
                kept = state[str(memory.duplicate_of)]
                assert kept.duplicate_of is None
                assert memory.source in kept.sources
                assert kept.memory_id in memory.reason
            case MemoryStatus.SUPERSEDED:
                newer = state.get(str(memory.superseded_by))
                assert memory.superseded_at is not None
                assert str(memory.superseded_by) in memory.reason
                if newer is None:
                    assert memory.reason.endswith(FORGOTTEN_SINCE)
                else:
                    assert memory.memory_id in newer.supersedes
            case MemoryStatus.ACTIVE | MemoryStatus.ARCHIVED:
                assert memory.duplicate_of is memory.superseded_by is memory.superseded_at is None
                assert (memory.status is MemoryStatus.ARCHIVED) <= (memory.archived_at is not None)
        assert all(state[older].superseded_by == memory.memory_id for older in memory.supersedes)


PROOF = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.timeout(900)
def test_any_history_ends_the_same() -> None:
    run_state_machine_as_test(AnyHistory, settings=PROOF)


@pytest.mark.soak
@pytest.mark.timeout(36_000)
def test_any_history_in_the_long_form(soak: int) -> None:
    """20,000 histories, others at each run."""
    if not soak:
        pytest.skip("the long form: pytest --soak")
    run_state_machine_as_test(AnyHistory, settings=settings(PROOF, max_examples=LONG, derandomize=False, database=None))
