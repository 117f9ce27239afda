"""What a failure of an OpenAI-compatible server means for the caller: later, or never.

Only status codes and machine words of a server's answer get into messages: its prose may quote the input or the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from streams.errors import DependencyDown, Refused

if TYPE_CHECKING:
    import openai

_MACHINE_WORD = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]{0,63}")
_REFUSES_THIS_INPUT = frozenset({400, 413, 422})
# A 400 can also mean that the request is wrong whatever the input is. Parking every event would be wrong then.
_ABOUT_THE_SETTINGS = frozenset({"model", "dimensions", "encoding_format", "api_key", "model_not_found"})
_SETTINGS_HINT = {
    401: "check the key",
    402: "check the billing of the account",
    403: "check the key's permissions",
    404: "check the address and the model's name",
}


class Misconfigured(DependencyDown):
    """The server is up and rejects the key, the address or the model: no use to retry before someone mends it."""


def failure(error: openai.OpenAIError, dependency: str) -> DependencyDown | Refused:
    """The typed error for what the SDK raised."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return DependencyDown(dependency, "the request timed out")
    if isinstance(error, openai.APIConnectionError):
        return DependencyDown(dependency, "the connection failed")
    if not isinstance(error, openai.APIStatusError):
        return DependencyDown(dependency, f"the answer is unreadable ({type(error).__name__})")
    status = error.status_code
    words = [word for word in (error.code, error.type) if isinstance(word, str) and _MACHINE_WORD.fullmatch(word)]
    detail = f"HTTP {status}" + (f" {words[0]}" if words else "")
    if status in _REFUSES_THIS_INPUT:
        if _ABOUT_THE_SETTINGS.isdisjoint({error.param, error.code}):
            return Refused(dependency, detail)
        return Misconfigured(dependency, f"{detail}, check the settings of the model")
    if status in _SETTINGS_HINT:
        return Misconfigured(dependency, f"{detail}, {_SETTINGS_HINT[status]}")
    return DependencyDown(dependency, detail, retry_after=retry_after(error.response.headers, datetime.now(UTC)))


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `now` that `Retry-After` (RFC 9110: seconds or an HTTP date) asks for; `retry-after-ms` is finer.

    None when there is neither, or nothing readable.
    """
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return _seconds(float(milliseconds) / 1000)
        if (value := headers.get("retry-after")) is None:
            return None
        if re.fullmatch(r"\d+(\.\d+)?", value.strip()):
            return _seconds(float(value))
        date = parsedate_to_datetime(value)
        return _seconds((date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


def _seconds(value: float) -> float | None:
    return max(0.0, value) if value < float("inf") else None
