"""The built-in recognizers, one family a module."""

from streams.memory.redaction.recognizers import (
    address,
    cards,
    codes,
    contact,
    keys,
    named_keys,
    network,
    papers,
    passwords,
    phone,
    tables,
)
from streams.memory.redaction.recognizers.base import Recognizer

# Part of the version that a redacted text carries: raise it with every change to what is found.
REVISION = "3"

BUILTIN: tuple[Recognizer, ...] = (
    contact.EMAIL,
    network.IP,
    network.MAC,
    phone.PHONE,
    address.ADDRESS,
    papers.RESIDENT_ID,
    papers.TRAVEL,
    papers.NATIONAL_ID,
    papers.LICENCE,
    papers.PLATE,
    cards.CARD,
    cards.BESIDE_CARD,
    cards.IBAN,
    cards.ACCOUNT,
    cards.WALLET,
    keys.VENDOR_KEY,
    keys.JWT,
    keys.PEM,
    keys.URL,
    keys.HEADER,
    codes.CODE,
    passwords.PASSWORD,
    tables.TABLE,
    named_keys.ASSIGNED,
    named_keys.NAMED_KEY,
)

__all__ = ["BUILTIN", "REVISION", "Recognizer"]
