"""The product's worker for the speed benches; says `ready`. `--empty`: the same topology with empty stages."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from streams import app
from streams.logs import set_up_logs
from streams.outcome import Done, Outbound, Outcome, Parked
from streams.records import Inbound
from streams.settings import load_settings


class EmptyStage:
    """Takes a record and passes it on: what Kafka and Faust cost without our work."""

    dead_letters = "dead-letters"
    dependencies: tuple[str, ...] = ()
    lane_batch = 100
    side_by_side = 8

    def __init__(self, name: str, topic: str, to: str) -> None:
        self.name, self.topic, self._to = name, topic, to

    def lane(self, record: Inbound) -> str:
        return (record.key or b"").hex()

    async def handle(self, records: Sequence[Inbound]) -> Sequence[Outcome]:
        return [Done((Outbound(self._to, self._key(record), self._value(record)),)) for record in records]

    def _key(self, record: Inbound) -> bytes | None:
        return record.key if self._to != "receipts" else f"{record.partition}/{record.offset}".encode()

    def _value(self, record: Inbound) -> bytes | None:
        return record.value

    async def on_parked(self, record: Inbound, parked: Parked) -> Sequence[Outbound]:
        return []


def empty_stages() -> None:
    """Put the empty stages in the place of the real ones."""
    vars(app).update(
        RedactStage=lambda *_: EmptyStage("redact", "conversations", "redacted"),
        ExtractStage=lambda *_, **__: EmptyStage("extract", "redacted", "candidates"),
        RememberStage=lambda *_: EmptyStage("memory", "candidates", "receipts"),
    )


def main() -> int:
    settings = load_settings()
    set_up_logs(settings)
    if "--empty" in sys.argv:
        empty_stages()
    return app.run_worker(settings, on_ready=lambda: print("ready", flush=True))


if __name__ == "__main__":
    sys.exit(main())
