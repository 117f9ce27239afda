"""The events of an import until they are sent."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import IO

from schemas import ConversationEvent
from streams.errors import ConfigurationError

IN_MEMORY_BYTES = 4 * 1024 * 1024


class Spool:
    """In memory, so that nothing of them reaches a disk, or in `file`; `ids` are in memory always."""

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self.ids: list[str] = []
        self._file = io.BytesIO() if file is None else file

    def add(self, event_id: str, value: bytes) -> None:
        """`value`: the event as JSON, which is one line. Raises `ConfigurationError` when the disk takes no more."""
        self.ids.append(event_id)
        try:
            self._file.write(value + b"\n")
            # Else a full disk would be told of when they are read.
            self._file.flush()
        except OSError as error:
            raise ConfigurationError(
                f"conversations wait in a temporary file, which can't be written ({error.strerror}): "
                "make room, or set TMPDIR to a folder with more"
            ) from None

    def events(self, wanted: AbstractSet[str]) -> Iterator[ConversationEvent]:
        """Those with an id that is wanted, in their order; one iteration at a time."""
        self._file.seek(0)
        for event_id, line in zip(self.ids, self._file, strict=True):
            if event_id in wanted:
                yield ConversationEvent.from_bytes(line)


def on_disk() -> Spool:
    """What is more than 4 MiB is in a file without a name (in `TMPDIR`), gone with the process or its last holder."""
    return Spool(tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES))
