"""LangGraph: nodes that recall before the model and remember after it, and a `BaseStore`. docs/agents.md shows both."""

from __future__ import annotations

try:
    from streams.integrations.langgraph.nodes import MemoryState, NoUser, recall_before, remember_after
    from streams.integrations.langgraph.store import MemstreamStore, NotRemembered, NotSupported
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("langgraph", "langchain_core"):
        raise
    raise ImportError("langgraph is not installed: pip install 'memstream[langgraph]'") from None

__all__ = [
    "MemoryState",
    "MemstreamStore",
    "NoUser",
    "NotRemembered",
    "NotSupported",
    "recall_before",
    "remember_after",
]
