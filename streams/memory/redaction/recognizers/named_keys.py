"""Keys and passwords that only their name gives away: `api_key = "…"`, "the token is …", "密钥是 …"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streams.memory.look import Looked
from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import LABELLED, Recognizer
from streams.memory.redaction.recognizers.keys import entropy, is_dummy, is_stand_in
from streams.memory.redaction.recognizers.tokens import EXPRESSION, MADE_UP, like_password, trim

# A value in code: a name that says secret, an assignment, and a literal.
_NAME = r"(?<![A-Za-z0-9_\-.])[A-Za-z_][A-Za-z0-9_\-.]{1,79}"
_SECRET_NAME = re.compile(
    r"pass(?:word|wd|phrase)?(?![a-z]*(?:enger|age|ive|port|ed))|pwd|secret|token|api[_\-.]?key|(?:access|private|"
    r"secret|auth|encryption|signing|account|license|service|client|master|app)[_\-.]?(?:key|id)$|"
    r"credential|auth|session|sess_?id$|(?:^|[_\-.])key|key$",
    re.IGNORECASE | re.ASCII,
)
_ASSIGN_QUOTED = Looked(
    rf"(?P<name>{_NAME})(?:[\"']?\]?\s{{0,8}}(?:===?|!==?|:=|\?=|=>|->|[=:])|"
    rf"[\"']\s{{0,8}},)\s{{0,4}}[brfu@]{{0,2}}(?P<quote>[\"'`])(?=(?P<value>[^\n]{{1,400}}?)(?P=quote)(?![A-Za-z0-9]))"
)
_ASSIGN_BARE = Looked(
    rf"(?P<name>{_NAME})\s{{0,4}}(?::=|\?=|=>|"
    rf"[=:])\s{{0,2}}(?=(?P<value>[^\s\"'`,;(){{}}\[\]<>$=:][^\s\"'`;]{{3,300}}))"
)
_IS_PASSWORD = re.compile(r"pass|pwd", re.IGNORECASE | re.ASCII)
# "the key is …", "token: …", "密钥是 …": the name of a key, then something that looks like one.
_KEY_WORD = (
    r"(?:api[ _\-]?keys?|(?-i:[AS]K)(?=\s?[:：=])|[A-Za-z0-9_]{1,24}(?:secret|token|_key)|secret(?:[ _\-]?(?:key|"
    r"access key|id))?|(?:access|"
    r"auth|bearer|refresh|session|bot|personal access|app|deploy|service)[ _\-]?(?:key|token)s?|tokens?|"
    r"\bkeys?|credentials?|client[ _\-]?(?:secret|id)|access ?key ?(?:id|secret)|accesskeysecret|secretid|secretkey|"
    r"webhook|subscription key|sas|license key)"
)
_KEY_WORD_ZH = r"(?:密钥|秘钥|令牌|私钥|授权码|凭证|口令|密匙)"
_KEY_SAID = Looked(
    rf"(?:(?<![A-Za-z0-9&?/=.\-]){_KEY_WORD}|{_KEY_WORD_ZH})[\"']?"
    r"(?:(?:for|of|on|in|from|to) (?:[A-Za-z0-9_\-]{2,20} ){1,2}(?:is|was)\b|"
    rf"[\s:：=\"'(`\-]|is|was|are|to|for|of|is set|set|the|this|it|that|"
    rf"your|id|value|(?:[A-Za-z]{{2,16}} ){{1,3}}?(?:service|api|account|server|app)|是|为|我的?|给你|改成|换成|"
    rf"用){{1,8}}"
    r"(?P<value>(?![/&=:%|#@^*])[A-Za-z0-9_\-.+/=~!:%|&#@^*]{8,600})",
    re.IGNORECASE | re.ASCII,
)
# Mail providers make passwords for programs of 16 letters, in groups of four or not.
_FOR_PROGRAMS = Looked(
    r"(?:授权码|应用专用密码|\bapp(?:lication)?[ \-](?:specific )?passwords?)(?:\s?(?:is|was|是|为|[:：]))?[\s\"']{0,3}"
    r"(?P<value>[a-z]{16}|[a-z]{4}(?:[ \-][a-z]{4}){3})(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)
_SAYS_SECRET = re.compile(r"token|secret|api[ _-]?key|密钥|令牌", re.IGNORECASE | re.ASCII)
_COOKIE = Looked(
    r"cookie:\s?(?P<value>[^\s=;]{2,40}=[^\s;]{8,400}(?:;[ ]?[^\s=;]{1,40}(?:=[^;\n]{0,200})?){0,20})",
    re.IGNORECASE | re.ASCII,
)
_IN_URL = ("&", "?")  # a query is read by the recognizer of URLs


def _assigned(text: str) -> Iterator[Hit]:
    for pattern in (_ASSIGN_QUOTED, _ASSIGN_BARE):
        for found in pattern.finditer(text):
            start, end = found.span("value")
            if pattern is _ASSIGN_BARE:
                start, end = trim(text, start, end)
            value = text[start:end]
            if (
                len(value) < 4
                or is_stand_in(value)
                or MADE_UP.search(value)
                or EXPRESSION.search(value)
                or "//" in value
                or value.startswith("/")
            ):
                continue
            name = found.group("name")
            if not _SECRET_NAME.search(name) or text[found.start() - 1 : found.start()] in _IN_URL:
                continue
            if _IS_PASSWORD.search(name):
                if pattern is _ASSIGN_QUOTED or like_password(value):
                    yield Hit("password", start, end, LABELLED - 5)
            elif _UUID.fullmatch(value) and _NAMES_AN_ID.search(name):
                continue
            elif _like_key(value, shortest=8 if pattern is _ASSIGN_QUOTED else 12):
                yield Hit("api_key", start, end, LABELLED - 5)


# Words, joined or not, with a number at most: `holland_4`, `ticket-12345`, `tips_v2`.
_IDENTIFIER = re.compile(r"[A-Za-z]+(?:[_\-.][A-Za-z]+)*(?:[_\-.]?v?[0-9]{1,3}|[_\-][0-9]{1,12})?")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_NAMES_AN_ID = re.compile(r"(?:_id|Id)$")  # `report_access_id`: a reference, not a key


def _like_key(value: str, shortest: int) -> bool:
    """Letters and digits in no order that a word or a path would have."""
    if len(value) < shortest or is_dummy(value) or is_stand_in(value) or re.search(r"(.)\1{9}", value):
        return False
    if re.search(r"\s", value):
        return False
    digits = sum(char.isdigit() for char in value)
    if len(set(re.findall(r"[^\w\s/.\-,()]", value))) >= 4:
        return True
    if digits == 0:
        return len(value) >= 20 and entropy(value) > 4 and not re.search(r"[/.]", value)
    if digits == len(value):
        return False
    return entropy(value) >= 2.7 and not _IDENTIFIER.fullmatch(value)


def _keys_by_name(text: str) -> Iterator[Hit]:
    for found in _KEY_SAID.finditer(text):
        start, end = trim(text, *found.span("value"))
        value = text[start:end]
        if (
            "//" in value
            or value.startswith("/")
            or "?" in value
            or EXPRESSION.search(value)
            or re.match(r"^[\w.\-]+@[\w\-]+\.", value)
        ):
            continue
        if text.startswith(("..", "…", "***"), end):
            continue  # shortened by whoever showed it
        if _like_key(value, shortest=12) or (
            value.isdigit() and len(value) >= 15 and _SAYS_SECRET.search(found.group()[:24])
        ):
            yield Hit("api_key", start, end, LABELLED)
    for found in _FOR_PROGRAMS.finditer(text):
        yield Hit("api_key", *found.span("value"), LABELLED)
    for found in _COOKIE.finditer(text):
        yield Hit("api_key", *found.span("value"), LABELLED)


ASSIGNED = Recognizer(
    "assigned_secret",
    frozenset({"password", "api_key"}),
    re.compile(
        r"(?:pass|pwd|secret|token|key|auth|credential|client|sess|access|login)[^\n]{0,60}?[:=,]",
        re.IGNORECASE | re.ASCII,
    ),
    _assigned,
    reach=600,
)
NAMED_KEY = Recognizer(
    "named_key",
    frozenset({"api_key"}),
    re.compile(
        r"key|[as]k\s?[:：=]|专用密码|app[ \-a-z]{1,10}password|applic|secret|token|cred|"
        r"webhook|client|sas|cookie|密[钥匙]|秘钥|令牌|私钥|授权码|凭证|口令",
        re.IGNORECASE | re.ASCII,
    ),
    _keys_by_name,
    reach=1000,
)
