"""The `server.properties` of the embedded broker: one node, KRaft, loopback only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streams.errors import ConfigurationError

HOST = "127.0.0.1"

OWN = frozenset(
    {
        "process.roles",
        "node.id",
        "controller.quorum.voters",
        "listeners",
        "advertised.listeners",
        "controller.listener.names",
        "listener.security.protocol.map",
        "log.dirs",
        "metadata.log.dir",
    }
)
"""What the embedded broker decides by itself: `extra_properties` may not name these."""


def settings(data: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """Everything but the ports. Raises `ConfigurationError` for a folder or a property that can't be used."""
    if "," in str(data):
        raise ConfigurationError(f"Kafka can't keep its data in {data}: the name must not contain a comma")
    if taken := OWN & set(extra):
        raise ConfigurationError(f"the embedded Kafka sets {', '.join(sorted(taken))} by itself")
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(data / "log"),
        # Apart from log.dirs: else a second broker on this folder writes into the first one's metadata
        # before it fails on Kafka's own lock.
        "metadata.log.dir": str(data / "meta"),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        # After kill -9 the controller waits out the dead broker's session: 4.5 s instead of 12.4 s until ready.
        "broker.session.timeout.ms": "2000",
        "broker.heartbeat.interval.ms": "500",
        # Two index files are laid out at full size for each partition: 256 KiB instead of 10 MiB each, which still
        # covers a segment of 64 MiB (one 12-byte entry per 4 KiB).
        "log.index.size.max.bytes": str(256 * 1024),
        "log.segment.bytes": str(64 * 1024 * 1024),
        # The cleaner takes this from the heap at start: 128 MiB by default, a quarter of ours.
        "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
        "num.network.threads": "2",
        "num.io.threads": "4",
        **extra,
    }


def listeners(port: int, controller_port: int) -> dict[str, str]:
    return {
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
    }


def render(properties: Mapping[str, str]) -> str:
    """As `java.util.Properties` reads it: Latin-1 with `\\uXXXX`, so that any folder name survives."""
    return "".join(f"{key}={_escape(value)}\n" for key, value in properties.items())


def _escape(value: str) -> str:
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    pairs = (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    return "".join(chr(unit) if 0x20 <= unit < 0x7F else f"\\u{unit:04x}" for unit in pairs)
