"""A long text does not hold up the event loop: it is read in a thread."""

from __future__ import annotations

import threading

from streams.memory.extraction import RuleExtractor
from tests.unit.extraction.events import event


async def test_long_texts_leave_the_loop_short_ones_stay() -> None:
    threads: list[int] = []

    class Watched(RuleExtractor):
        def extract_now(self, event):  # type: ignore[no-untyped-def]
            threads.append(threading.get_ident())
            return super().extract_now(event)

    extractor = Watched()
    await extractor.extract(event("I live in Bergen."))
    long = await extractor.extract(event("I live in Bergen. " * 500))
    assert threads[0] == threading.get_ident()
    assert threads[1] != threading.get_ident()
    assert long == RuleExtractor().extract_now(event("I live in Bergen. " * 500))
