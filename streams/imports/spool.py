"""The events of an import until they are sent: in a file without a name, so that memory holds their ids alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from schemas import ConversationEvent

# What a request in JSON can carry stays in memory.
IN_MEMORY_BYTES = 4 * 1024 * 1024


class Spool:
    """Gone with the process, or when nobody holds it any more."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115

    def add(self, event_id: str, value: bytes) -> None:
        """`value`: the event as JSON, which is one line."""
        self.ids.append(event_id)
        self._file.write(value + b"\n")

    def events(self, wanted: AbstractSet[str]) -> Iterator[ConversationEvent]:
        """Those with an id that is wanted, in their order; one iteration at a time."""
        self._file.seek(0)
        for event_id, line in zip(self.ids, self._file, strict=True):
            if event_id in wanted:
                yield ConversationEvent.from_bytes(line)
