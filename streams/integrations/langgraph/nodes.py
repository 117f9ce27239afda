"""Two nodes of a `StateGraph`: what is remembered goes in before the model, what was said goes out after it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NotRequired, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState

from streams.client import BadRequest, DeadlineExceeded, MemoryClient, Unavailable
from streams.sync_client import SyncMemoryClient

log = logging.getLogger(__name__)

Returned = TypeVar("Returned")
Node = Callable[[Any, RunnableConfig], Any]

# What of the dialogue the question is made of: enough for "and the other one?" to have something before it.
TURNS: Final = 4


class MemoryState(MessagesState):
    """`memory`: the block for the system message; "" when nothing relevant is remembered."""

    memory: NotRequired[str]


def recall_before(memory: MemoryClient | SyncMemoryClient, *, deadline: float = 2.0, **options: Any) -> Node:
    """A node that looks up the last turns of `messages` and sets `memory`.

    The run's config names the user: `{"configurable": {"thread_id": ..., "user_id": ...}}`, and, unless the client has
    one, the `namespace`. Options as in `MemoryClient.recall`. A memory that does not answer within `deadline` seconds
    is logged and left out: the model answers without. Asynchronous with a `MemoryClient`, else for graphs of either
    kind.
    """

    async def recall(client: MemoryClient, state: MemoryState, config: RunnableConfig) -> dict[str, str]:
        turns = [_turn(message) for message in _spoken(state)[-TURNS:]]
        if not turns:
            return {"memory": ""}
        try:
            block = await client.memory_prompt(messages=turns, deadline=deadline, **_tenant(config), **options)
        except (Unavailable, DeadlineExceeded) as error:
            log.warning("answering without memories: %s: %s", type(error).__name__, error)
            block = ""
        return {"memory": block}

    return _node(memory, recall)


def remember_after(memory: MemoryClient | SyncMemoryClient) -> Node:
    """A node that publishes the turn: the last message of the user and what came after it. It changes no state.

    `session_id` is the thread's id. The ids of events are those of the messages, so that the node may run again: give
    it a `retry_policy` for `Unavailable` and `DeadlineExceeded`. Returns when Kafka has them; memories come of them
    later.
    """

    async def remember(client: MemoryClient, state: MemoryState, config: RunnableConfig) -> dict[str, Any]:
        thread = str(config.get("configurable", {}).get("thread_id", ""))
        for message in _last_turn(_spoken(state)):
            fields = {"messages": [_turn(message)], "session_id": thread, **_tenant(config)}
            if message.id:
                fields["event_id"] = f"{thread}/{message.id}"
            await client.publish(fields)
        return {}

    return _node(memory, remember)


def _node(
    memory: MemoryClient | SyncMemoryClient,
    work: Callable[[MemoryClient, MemoryState, RunnableConfig], Awaitable[Returned]],
) -> Node:
    if isinstance(memory, SyncMemoryClient):
        shared = memory

        def waiting(state: MemoryState, config: RunnableConfig) -> Returned:
            return shared.call(lambda client: work(client, state, config))

        return waiting

    async def node(state: MemoryState, config: RunnableConfig) -> Returned:
        return await work(memory, state, config)

    return node


def _tenant(config: RunnableConfig) -> dict[str, Any]:
    """Raises `BadRequest` when the config names no user."""
    named = config.get("configurable", {})
    if "user_id" not in named:
        raise BadRequest('user_id: whose memories? Run the graph with {"configurable": {"user_id": ...}}')
    return {name: named[name] for name in ("user_id", "namespace") if name in named}


def _spoken(state: MemoryState) -> list[AnyMessage]:
    """What people and the model said, without instructions, tools and empty calls of them."""
    return [m for m in state["messages"] if isinstance(m, HumanMessage | AIMessage) and m.text.strip()]


def _last_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    start = max((at for at, message in enumerate(messages) if isinstance(message, HumanMessage)), default=len(messages))
    return messages[start:]


def _turn(message: AnyMessage) -> dict[str, Any]:
    return {"role": "user" if isinstance(message, HumanMessage) else "assistant", "text": str(message.text)}
