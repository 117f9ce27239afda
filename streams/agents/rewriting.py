"""Has recall queries put in other words by a chat model, within a budget: a model never holds an answer up."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from hashlib import sha256

from streams.errors import MemstreamError
from streams.memory.ranking.rewrite import MOST_TOKENS, load_prompt, turns, usable
from streams.ports import ChatModel

# Questions that wait for a model at the same time; the next ones do without.
MOST_RUNNING = 64


class Rewriter:
    """`budget_seconds`: what a recall waits; `call_seconds`: what a call may take, which goes on after that, so that
    the same question finds its words the next time.

    Keeps the answers to its `size` most recently used questions by SHA-256; the questions, redacted as they are, are
    not kept. Identical ones at the same time share a call. A failure is not kept.
    """

    def __init__(self, chat: ChatModel, *, budget_seconds: float, call_seconds: float, size: int = 2048) -> None:
        self._chat = chat
        self._budget = budget_seconds
        self._call_seconds = call_seconds
        self._size = size
        self._kept: OrderedDict[bytes, str] = OrderedDict()
        self._running: dict[bytes, asyncio.Task[str]] = {}

    async def words(self, question: str, left_seconds: float) -> str:
        """Words to add to a redacted question; "" when the model fails, is late or gives none. Raises nothing."""
        key = sha256(f"{load_prompt().version}\0{question}".encode("utf-8", "surrogatepass")).digest()
        if (kept := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return kept
        task = self._running.get(key)
        if task is None:
            if len(self._running) >= MOST_RUNNING:
                return ""
            task = self._running[key] = asyncio.create_task(self._ask(key, question))
        # It goes on when this question has to do without.
        done, _ = await asyncio.wait([task], timeout=max(0.0, min(self._budget, left_seconds)))
        return task.result() if done and not task.cancelled() else ""

    async def close(self) -> None:
        for task in list(self._running.values()):
            task.cancel()

    async def _ask(self, key: bytes, question: str) -> str:
        try:
            reply = await self._chat.complete(
                turns(question), max_tokens=MOST_TOKENS, deadline_seconds=self._call_seconds
            )
        except MemstreamError:
            return ""
        finally:
            del self._running[key]
        words = usable(reply.text)
        if words:
            self._kept[key] = words
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return words
