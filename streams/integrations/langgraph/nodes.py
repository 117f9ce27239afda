"""Two nodes of a `StateGraph`: what is remembered goes in before the model, what was said goes out after it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NotRequired, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState

from streams.client import BadRequest, MemoryClient, MemoryClientError
from streams.sync_client import SyncMemoryClient

log = logging.getLogger(__name__)

Returned = TypeVar("Returned")
Node = Callable[[Any, RunnableConfig], Any]

# What of the dialogue the question is made of: enough for "and the other one?" to have something before it.
TURNS: Final = 4


class NoUser(BadRequest):
    """The config of a run says not whose memories it is about."""


class MemoryState(MessagesState):
    """`memory`: the block for the system message; "" when nothing relevant is remembered."""

    memory: NotRequired[str]


def recall_before(memory: MemoryClient | SyncMemoryClient, *, deadline: float = 2.0, **options: Any) -> Node:
    """A node that looks up the last turns of `messages` and sets `memory`.

    The run's config names the user: `{"configurable": {"thread_id": ..., "user_id": ...}}`, and, unless the client has
    one, the `namespace`. Options as in `MemoryClient.recall`. A memory that does not answer within `deadline` seconds,
    or can't be asked, is logged and left out: the model answers without. Asynchronous with a `MemoryClient`, else for
    graphs of either kind. Raises `NoUser`.
    """

    async def recall(client: MemoryClient, state: MemoryState, config: RunnableConfig) -> dict[str, str]:
        tenant = _tenant(client, config)
        turns = [_turn(message) for message in _spoken(state)[-TURNS:]]
        if not turns:
            return {"memory": ""}
        return {"memory": await client.memory_prompt(messages=turns, deadline=deadline, **tenant, **options)}

    def without(error: MemoryClientError) -> dict[str, str]:
        if isinstance(error, NoUser):
            raise error
        log.warning("answering without memories: %s: %s", type(error).__name__, error)
        return {"memory": ""}

    return _node(memory, recall, without)


def remember_after(memory: MemoryClient | SyncMemoryClient) -> Node:
    """A node that publishes the turn: what the user said last and what came after it. It changes no state.

    `session_id` is the thread's id. In a thread the ids of events are those of the messages, so that the node may run
    again: give it a `retry_policy` for `Unavailable` and `DeadlineExceeded`. Returns when Kafka has them; memories come
    of them later. Raises `NoUser` and what `MemoryClient.publish` raises.
    """

    async def remember(client: MemoryClient, state: MemoryState, config: RunnableConfig) -> dict[str, Any]:
        thread = str(config.get("configurable", {}).get("thread_id", ""))
        for message in _last_turn(_spoken(state)):
            fields = {"messages": [_turn(message)], "session_id": thread, **_tenant(client, config)}
            if thread and message.id:
                fields["event_id"] = f"{thread}/{message.id}"
            await client.publish(fields)
        return {}

    def refused(error: MemoryClientError) -> dict[str, Any]:
        raise error

    return _node(memory, remember, refused)


def _node(
    memory: MemoryClient | SyncMemoryClient,
    work: Callable[[MemoryClient, MemoryState, RunnableConfig], Awaitable[Returned]],
    otherwise: Callable[[MemoryClientError], Returned],
) -> Node:
    if isinstance(memory, SyncMemoryClient):
        shared = memory

        def waiting(state: MemoryState, config: RunnableConfig) -> Returned:
            try:
                return shared.call(lambda client: work(client, state, config))
            except MemoryClientError as error:
                return otherwise(error)

        return waiting

    async def node(state: MemoryState, config: RunnableConfig) -> Returned:
        try:
            return await work(memory, state, config)
        except MemoryClientError as error:
            return otherwise(error)

    return node


def _tenant(client: MemoryClient, config: RunnableConfig) -> dict[str, Any]:
    """Whoever starts a run may not leave the namespace that a client is bound to. Raises `NoUser`."""
    named = config.get("configurable", {})
    if "user_id" not in named:
        raise NoUser('user_id: whose memories? Run the graph with {"configurable": {"user_id": ...}}')
    open_to = ("user_id",) if client.namespace is not None else ("user_id", "namespace")
    return {name: named[name] for name in open_to if name in named}


def _spoken(state: MemoryState) -> list[AnyMessage]:
    """What people and the model said, without instructions, tools and empty calls of them."""
    return [m for m in state["messages"] if isinstance(m, HumanMessage | AIMessage) and m.text.strip()]


def _last_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """From the first of the user's last messages on: people press enter in the middle of what they say."""
    said = [isinstance(message, HumanMessage) for message in messages]
    if not any(said):
        return []
    start = len(said) - 1 - said[::-1].index(True)
    while start and said[start - 1]:
        start -= 1
    return messages[start:]


def _turn(message: AnyMessage) -> dict[str, Any]:
    return {"role": "user" if isinstance(message, HumanMessage) else "assistant", "text": str(message.text)}
