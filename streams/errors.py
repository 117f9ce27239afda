"""Failures that have a type: bad data, a dependency that is down, a reply that can't be used.

Messages never carry conversation text, user ids or secrets: they end up in logs and dead-letter headers.
"""

from __future__ import annotations


class MemstreamError(Exception):
    """Base of every error that memstream raises on purpose."""


class ConfigurationError(MemstreamError):
    """The settings, the files or the machine can't work as they are; the message says what to change."""


class BadData(MemstreamError):
    """This input can never be processed: it is parked at once.

    `reason` is a short machine-readable word such as `not_json`, `too_large`, `unknown_schema_version`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class DependencyDown(MemstreamError):
    """A dependency (`store`, `embedder`, `chat`, `kafka`) did not do its work now; the same call may succeed later.

    `retry_after` is in seconds, when the dependency said so.
    """

    def __init__(self, dependency: str, detail: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(f"{dependency} is unavailable" + (f": {detail}" if detail else ""))
        self.dependency = dependency
        self.retry_after = retry_after


class Refused(MemstreamError):
    """A dependency is up and refuses this very input (too long, content filter, invalid): repeating it is useless."""

    def __init__(self, dependency: str, reason: str) -> None:
        super().__init__(f"{dependency} refused the input: {reason}")
        self.dependency = dependency
        self.reason = reason
