"""IP and MAC addresses."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import CHECKED, SHAPE, Recognizer, before

_V4 = re.compile(r"(?<![A-Za-z0-9_.\-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![A-Za-z0-9_]|\.[0-9A-Za-z])")
_V6 = re.compile(
    r"(?<![A-Za-z0-9_:.])(?P<address>[0-9A-Fa-f:]{2,45}(?:(?:\.[0-9]{1,3}){3})?(?:%[A-Za-z0-9]{1,16})?)(?:/[0-9]{1,3})?"
    r"(?![A-Za-z0-9_:]|\.[0-9])"
)
_MAC = re.compile(
    r"(?<![0-9A-Za-z:\-.])(?:(?:[0-9A-Fa-f]{2}([:\-]))(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![0-9A-Za-z:\-]|\.[0-9A-Za-z])"
)
_VERSION = re.compile(r"(?:\bv|version|版本号?|release|升级到|build)[\s:：是为]{0,4}$")


def _ip(text: str) -> Iterator[Hit]:
    for found in _V4.finditer(text):
        if all(int(part) <= 255 for part in found.group().split(".")) and not _VERSION.search(
            before(text, found.start(), 16)
        ):
            yield Hit("ip", found.start(), found.end(), CHECKED)
    if "::" not in text and text.count(":") < 6:
        return
    for found in _V6.finditer(text):
        address = found.group("address")
        size = len(found.group())
        if address.endswith(":") and not address.endswith("::"):
            address, size = address[:-1], len(address) - 1
        if not any(char.isdigit() for char in address):
            continue  # `abc::def` is code
        try:
            ipaddress.IPv6Address(address)
        except ValueError:
            continue
        yield Hit("ip", found.start(), found.start() + size, CHECKED)


def _mac(text: str) -> Iterator[Hit]:
    for found in _MAC.finditer(text):
        if len(set(found.group().lower()) - set(":-.")) == 1:
            continue  # broadcast, all zero
        yield Hit("mac", found.start(), found.end(), CHECKED if ":" in found.group() else SHAPE + 30)


IP = Recognizer("ip", frozenset({"ip"}), re.compile(r"[0-9]\.[0-9]|::|:[0-9A-Fa-f]{1,4}:"), _ip)
MAC = Recognizer("mac", frozenset({"mac"}), re.compile(r"[0-9A-Fa-f]{2}[:\-][0-9A-Fa-f]{2}|[0-9A-Fa-f]{4}\."), _mac)
