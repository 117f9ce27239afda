"""Keys that show by their form: vendors' keys, JWT, PEM blocks, credentials in URLs, headers and on command lines."""

from __future__ import annotations

import base64
import binascii
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files

from streams.memory.look import Looked
from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import CERTAIN, CHECKED, LABELLED, Recognizer
from streams.memory.redaction.recognizers.tokens import EXPRESSION


def _vendor_patterns() -> list[str]:
    table = files(__package__).joinpath("vendors.toml").read_text(encoding="utf-8")
    return [pattern for patterns in tomllib.loads(table).values() for pattern in patterns]


_VENDOR = Looked(
    r"(?<![A-Za-z0-9_\-])(?:"
    + "|".join(f"(?:{pattern})" for pattern in _vendor_patterns())
    + r")(?![A-Za-z0-9_]|-[A-Za-z0-9#*]|\.{2}|…)"
)
_REPEATS = re.compile(r"([xX*#.0])\1{5}|EXAMPLE.{0,3}EXAMPLE")


def entropy(token: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(token) * math.log2(n / len(token)) for n in Counter(token).values())


def is_dummy(token: str) -> bool:
    """`xxxxxxxx`, `EXAMPLEEXAMPLE...`: a form to fill in, not a key."""
    return bool(_REPEATS.search(token))


def _vendor_keys(text: str) -> Iterator[Hit]:
    for found in _VENDOR.finditer(text):
        if not is_dummy(found.group()):
            yield Hit("api_key", found.start(), found.end(), CERTAIN)


_JWT = re.compile(
    r"(?<![A-Za-z0-9_\-])e[yw][A-Za-z0-9_\-]{10,}\.e[yw][A-Za-z0-9_\-]{4,}(?:\.[A-Za-z0-9_\-]{0,}={0,2}){0,3}"
)


def _jwts(text: str) -> Iterator[Hit]:
    for found in _JWT.finditer(text):
        header = found.group().partition(".")[0]
        try:
            decoded = base64.urlsafe_b64decode(header[: len(header) // 4 * 4])
        except (binascii.Error, ValueError):
            continue
        # `"alg": "none"` is signed by no one and opens nothing.
        if decoded[:1] == b"{" and b'"none"' not in decoded.lower():
            yield Hit("jwt", found.start(), found.end(), CERTAIN)


_PEM = re.compile(
    r"-----BEGIN (?:[A-Z0-9 ]{0,30} )?PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<body>(?:(?!-----(?:BEGIN|END))[\s\S]){1,20000})(?:-----END (?:[A-Z0-9 ]{0,30} )?PRIVATE KEY(?: BLOCK)?-----)?"
)
_PUTTY = re.compile(r"PuTTY-User-Key-File-[23]:[\s\S]{1,6000}")


def _pem(text: str) -> Iterator[Hit]:
    for found in _PEM.finditer(text):
        if len(found.group("body").strip()) >= 12:
            yield Hit("private_key", found.start(), found.end(), CERTAIN)
    for found in _PUTTY.finditer(text):
        yield Hit("private_key", found.start(), found.end(), CERTAIN)


_URL = re.compile(r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{1,30}://[^\s\"'<>，。；、）】]{3,2000}")
_USERINFO = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]{1,30}://(?P<user>[^\s/:@?#]{0,200}):(?P<secret>[^\s/@]{1,200}(?:@[^\s/@:]{0,60}(?=@))?)@[^\s@]"
)
_QUERY_SECRET = re.compile(
    r"[?&;#](?:[A-Za-z0-9_\-]{0,20}(?:token|secret|api_?key|apikey|access_?key|signature|password|passwd|pwd|auth|"
    r"session_?id|sig|credential)|key|code)="
    r"(?P<value>[^&#\s\"'<>]{8,1000})",
    re.IGNORECASE,
)
_ALPHABET = re.compile(r"abcdefghijkl|1234567890", re.IGNORECASE)  # typed to show where a token goes
_STAND_IN = re.compile(
    r"\$\{?|<|\{\{|%[A-Za-z_(]|\[|\*{3}|\.{3}|x{4}|(?:your|my|the|some|user(?:name)?|pass(?:word|wd)?|pwd|secret|"
    r"token|key|example|placeholder|changeme|redacted|host|none|null)(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def is_stand_in(value: str) -> bool:
    """`${TOKEN}`, `<password>`, `****`, `your_key`: words where a secret would be."""
    return bool(_STAND_IN.match(value)) or not re.search(r"[^\W_]", value)


def _urls(text: str) -> Iterator[Hit]:
    for found in _URL.finditer(text):
        url = found.group().rstrip(".,;:!?)")
        user = _USERINFO.match(url)
        if (
            user
            and not is_stand_in(user.group("secret"))
            and (user.group("user") != "" or len(user.group("secret")) > 3)
        ):
            yield Hit("url_credentials", found.start(), found.start() + len(url), CERTAIN)
            continue
        for secret in _QUERY_SECRET.finditer(url):
            value = secret.group("value")
            if (
                not is_stand_in(value)
                and any(char.isdigit() for char in value)
                and len(value) >= 20
                and not _ALPHABET.search(value)
            ):
                yield Hit(
                    "url_credentials",
                    found.start() + secret.start("value"),
                    found.start() + secret.end("value"),
                    CHECKED,
                )


_BEARER = Looked(
    r"\b(?:bearer|basic|digest|apikey)[ :]{1,2}(?P<value>[A-Za-z0-9_\-.~+/]{16,2000}={0,2})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_COMMAND_USER = Looked(
    r"\b(?:curl|wget|http)\b[^\n]{0,300}?\s(?:-u|--user|"
    r"--proxy-user)[ =]{1,3}(?P<quote>['\"]?)(?P<value>[^\s'\"]{1,100}(?:['\"]:['\"][^\s'\"]{1,100})?)(?P=quote)"
)
_CONTINUED_USER = Looked(
    r"(?:^|\n|\\)\s{0,8}(?:-u|--user)[ =]{1,3}(?P<quote>['\"]?)(?P<value>[^\s'\":]{0,60}:[^\s'\"]{2,100})(?P=quote)"
)
_MYSQL = Looked(
    r"\b(?:(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n]{0,200}?\s-p|sshpass\s-p\s?['\"]?)(?P<value>[^\s'\"]{3,64})"
)


def _headers(text: str) -> Iterator[Hit]:
    for found in _BEARER.finditer(text):
        value = found.group("value")
        if (
            not is_dummy(value)
            and not is_stand_in(value)
            and not EXPRESSION.search(value)
            and (any(char.isdigit() for char in value) or entropy(value) > 4)
        ):
            yield Hit("api_key", found.start(), found.end(), LABELLED + 15)
    for pattern in (_COMMAND_USER, _CONTINUED_USER):
        for found in pattern.finditer(text):
            user, _, secret = found.group("value").partition(":")
            secret = secret.strip("'\"")
            value = secret or user
            if (
                ":" in found.group("value")
                and len(value) >= 6
                and not is_stand_in(value)
                and re.search(r"[0-9]|[A-Z]", value)
            ):
                yield Hit("password", *found.span("value"), CHECKED)
    for found in _MYSQL.finditer(text):
        if not is_stand_in(found.group("value")):
            yield Hit("password", *found.span("value"), CHECKED)


VENDOR_KEY = Recognizer(
    "vendor_key", frozenset({"api_key"}), re.compile(r"[A-Za-z0-9_\-.]{9}"), _vendor_keys, reach=1500
)
JWT = Recognizer("jwt", frozenset({"jwt"}), re.compile(r"e[yw][A-Za-z0-9_\-]{10}"), _jwts, reach=None)
PEM = Recognizer("pem", frozenset({"private_key"}), re.compile(r"PRIVATE KEY|PuTTY-User"), _pem, reach=None)
URL = Recognizer("url", frozenset({"url_credentials"}), re.compile(r"://"), _urls, reach=2500)
HEADER = Recognizer(
    "header",
    frozenset({"api_key", "password"}),
    re.compile(r"bearer|basic|digest|apikey|curl|wget|http|-u|mysql|maria|sshpass", re.IGNORECASE),
    _headers,
)
