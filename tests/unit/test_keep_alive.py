"""The watch over the broker, with a broker that dies when the script says so (a real one: tests/acceptance)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, cast

from streams.adapters.kafka_broker import EmbeddedKafka
from streams.cli.keep_alive import RESTARTS, KeepAlive
from streams.errors import ConfigurationError


class Scripted:
    """Dies `deaths` times, each time as soon as it is watched, and then lives on."""

    def __init__(self, deaths: int, *, startable: bool = True) -> None:
        self.deaths = deaths
        self.starts = 0
        self.startable = startable
        self.alive = threading.Event()

    async def wait(self) -> str:
        if self.starts >= self.deaths:
            self.alive.set()
            await asyncio.Event().wait()
        return "Kafka stopped"

    async def start(self, progress: Any = None) -> None:
        if not self.startable:
            raise ConfigurationError("the disk is full")
        self.starts += 1


def watch(broker: Scripted) -> tuple[KeepAlive, list[str], threading.Event]:
    said: list[str] = []
    gave_up = threading.Event()
    return KeepAlive(cast(EmbeddedKafka, broker), said.append, gave_up.set), said, gave_up


def test_a_broker_that_dies_is_started_again() -> None:
    broker = Scripted(RESTARTS)
    keep_alive, said, gave_up = watch(broker)
    with keep_alive:
        assert broker.alive.wait(10)
    assert (broker.starts, keep_alive.gave_up, gave_up.is_set()) == (RESTARTS, False, False)
    assert said == ["Kafka stopped\nstarting it again"] * RESTARTS


def test_one_that_keeps_dying_is_given_up() -> None:
    broker = Scripted(RESTARTS + 5)
    keep_alive, said, gave_up = watch(broker)
    with keep_alive:
        assert gave_up.wait(10)
    assert broker.starts == RESTARTS
    assert keep_alive.gave_up
    assert "keeps dying" in said[-1]


def test_one_that_can_not_be_started_is_given_up() -> None:
    keep_alive, said, gave_up = watch(Scripted(1, startable=False))
    with keep_alive:
        assert gave_up.wait(10)
    assert keep_alive.gave_up
    assert said[-1].startswith("the disk is full\n")


def test_a_stop_leaves_it_alone() -> None:
    broker = Scripted(0)
    keep_alive, said, gave_up = watch(broker)
    with keep_alive:
        assert broker.alive.wait(10)
        keep_alive.stop()
    assert (broker.starts, said, gave_up.is_set()) == (0, [], False)
    keep_alive.stop()
