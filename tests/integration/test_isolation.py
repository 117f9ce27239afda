"""No request, write or command ever touches another's memory, whatever the names are."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest_asyncio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from schemas import Tenant
from streams.adapters.kafka_broker import EmbeddedKafka
from streams.client import MemoryClient
from tests.harness import Pipeline, eventually, pipeline
from tests.kafka import run_elsewhere

# What has meaning in keys, URLs, filters, queries, paths, patterns and logs, and what only looks like something else.
PIECES = [
    "/", "//", ":", "%", "%2F", "%25", "*a", "a*", "?x", " ", "  ", ".", "..", "\\", "'", '"', "`", "|", "&", "#", "$",
    "{}", "[0]", "{{x}}", "null", "None", "true", "0", "-1", "1001", "user", "User", "USER", "ｕｓｅｒ", "🙂", "张三",
    "張三", "é", "e\u0301", "\u200b", "\u202e", "\ufeff", "\t", "\n", "a/b", "b/a", "' OR '1'='1", "'; DROP TABLE x",
    '{"must":[]}', '{"key":"tenant","match":{"any":["x"]}}', "../../etc", "shop", "<b>", "${jndi:x}", "\x7f", "ß",
]  # fmt: skip


def nameable(name: str) -> bool:
    try:
        Tenant(namespace=name, user_id=name)
    except ValueError:
        return False
    return True


names = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
    | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
).filter(nameable)
tenants = st.builds(lambda namespace, user: Tenant(namespace=namespace, user_id=user), names, names)


@st.composite
def groups(draw: st.DrawFn) -> list[Tenant]:
    """Some tenants, some of them made of the same pieces put together differently."""
    found = draw(st.lists(tenants, min_size=2, max_size=4, unique=True))
    one = found[0]
    alike = [
        (one.user_id, one.namespace),
        (f"{one.namespace}/{one.user_id}", one.user_id),
        (one.namespace, f"{one.user_id} "),
        (one.namespace, one.user_id.swapcase()),
        (one.namespace, f"{one.user_id}*"),
        (one.key, one.key),
    ]
    for namespace, user in draw(st.lists(st.sampled_from(alike), max_size=3)):
        if nameable(namespace) and nameable(user):
            found.append(Tenant(namespace=namespace, user_id=user))
    return list(dict.fromkeys(found))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(kafka: EmbeddedKafka) -> AsyncIterator[Pipeline]:
    async with pipeline(kafka.bootstrap, "own.", partitions=2) as made:
        await made.worker().start()
        yield made


rounds = itertools.count()


def pair(*both: tuple[str, str]) -> list[Tenant]:
    return [Tenant(namespace=namespace, user_id=user) for namespace, user in both]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(groups())
@example(pair(("a", "b/c"), ("a/b", "c"), ("a%2Fb", "c"), ("a", "b%2Fc")))
@example(pair(("n", "u"), ("n", "u "), ("n", " u"), ("N", "u"), ("n", "U"), ("n", "ｕ"), ("n", "u\u200b")))
@example(pair(("n", "u*"), ("n", "*u"), ("n*", "u"), ("n", "u%"), ("n", "u1"), ("n", "u2")))
@example(pair(("n", "é"), ("n", "e\u0301"), ("n", "ß"), ("n", "ss"), ("n", "张三"), ("n", "張三")))
@example(pair(("n", "' OR '1'='1"), ("n", '{"must":[]}'), ("n", "null"), ("n", "None"), ("n", "..")))
def test_nobody_touches_anothers_memory(line: Pipeline, people: list[Tenant]) -> None:
    run_elsewhere(lambda: nobody_touches_anothers_memory(line, people))


async def nobody_touches_anothers_memory(line: Pipeline, people: list[Tenant]) -> None:
    """Everybody says the same under the same event ids, but for a number that is theirs."""
    number = next(rounds)
    theirs = {tenant: f"locker {number * 1000 + 7 * at}" for at, tenant in enumerate(people)}

    def text(tenant: Tenant) -> str:
        return f"I keep the blue violin in {theirs[tenant]} at the station."

    async with line.client(deadline=60) as memory:
        stored = await asyncio.gather(
            *(
                memory.publish_and_wait(
                    event_id=f"round {number}", session_id="s", text=text(tenant), **names_of(tenant)
                )
                for tenant in people
            )
        )
        ids = {tenant: {m.memory_id for m in told.memories} for tenant, told in zip(people, stored, strict=True)}
        assert all(ids.values())
        assert len(set().union(*ids.values())) == sum(map(len, ids.values())), "two tenants share a memory id"
        every = sorted(set().union(*ids.values()))
        for tenant in people:
            await reads_only_its_own(memory, tenant, theirs, every, ids[tenant], number)

        # A write that names others' memories: the directive and the correction of one tenant are its own business.
        attacker, victims = people[0], people[1:]
        own, foreign = sorted(ids[attacker])[0], sorted(set(every) - ids[attacker])
        before = {tenant: await memory.get(*sorted(ids[tenant]), **names_of(tenant)) for tenant in victims}
        for target in foreign:
            await memory.supersede(target, own, **names_of(attacker))
        await memory.publish_and_wait(
            event_id=f"correction {number}",
            text="No, I keep no violin anywhere.",
            replaces=foreign,
            **names_of(attacker),
        )

        async def untouched() -> None:
            await line.drained()
            for tenant in victims:
                assert await memory.get(*sorted(ids[tenant]), **names_of(tenant)) == before[tenant]
                assert await memory.turns("s", **names_of(tenant))

        await untouched()
        # Commands: by others' ids, and by the event and session ids that everybody has.
        assert (await memory.restore(*foreign, **names_of(attacker))).restored == ()
        await memory.re_extract(f"round {number}", **names_of(attacker))
        assert not any((await memory.forget(memory_ids=foreign, **names_of(attacker))).removed.values())
        await untouched()
        assert {m.memory_id for m in await memory.get(*every, **names_of(attacker))} >= {own}
        await memory.forget(event_ids=[f"round {number}"], **names_of(attacker))
        await memory.forget(session_id="s", **names_of(attacker))
        await untouched()
        assert await memory.get(*every, **names_of(attacker)) == []


def names_of(tenant: Tenant) -> dict[str, str]:
    return {"namespace": tenant.namespace, "user_id": tenant.user_id}


async def reads_only_its_own(
    memory: MemoryClient, tenant: Tenant, theirs: dict[Tenant, str], every: list[str], own: set[str], number: int
) -> None:
    who = names_of(tenant)

    async def found() -> list[object]:
        reply = await memory.recall("Where is the blue violin?", top_k=50, threshold=False, reinforce=False, **who)
        return [one.memory for one in reply.memories]

    recalled = await eventually(found, what="what was stored to be recalled")
    explained = await asyncio.gather(*(memory.explain(i, "Where is the blue violin?", **who) for i in every))
    linked = await asyncio.gather(*(memory.related(i, **who) for i in every))
    kinds = {
        "recall": recalled,
        "get": await memory.get(*every, **who),
        "history": list(
            itertools.chain.from_iterable(await asyncio.gather(*(memory.history(i, **who) for i in every)))
        ),
        "explain": [one.memory for reply in explained for one in reply.memories],
        "related": [one.memory for found in linked for one in found],
        "profile": await memory.profile(**who),
        "export": await memory.export(**who),
    }
    turns = await memory.turns("s", **who)
    assert turns, "what was said just now"
    assert not any(f"{locker} " in turn.text for turn in turns for other, locker in theirs.items() if other != tenant)
    others = {locker for other, locker in theirs.items() if other != tenant}
    for kind, memories in kinds.items():
        for one in memories:
            assert one.tenant == tenant, kind
            assert not any(f"{locker} " in one.content for locker in others), kind
    assert {m.memory_id for m in kinds["get"]} == own
    assert {m.memory_id for m in kinds["explain"]} == own
    for kind in ("history", "related", "export"):
        assert {m.memory_id for m in kinds[kind]} >= own, kind
