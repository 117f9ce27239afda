"""E-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import CHECKED, Recognizer

_DOMAIN = r"(?:[^\W_](?:[^\W_]|-(?=[^\W_]|-)){0,62}\.){1,8}(?:[A-Za-z]{2,24}|xn--[a-z0-9]{2,30})"
_AT = re.compile(rf"@(?={_DOMAIN}(?![A-Za-z0-9_]))(?P<domain>{_DOMAIN})")
_ASCII_LOCAL = re.compile(r"[A-Za-z0-9.!#$%*+'_~\-]{1,64}$")
_WORD_LOCAL = re.compile(r"[^\W_]{1,20}$")
# "anna [at] example [dot] com"
_SPELT = re.compile(
    r"(?<![A-Za-z0-9._%+\-])[A-Za-z0-9._%+\-]{1,64} ?[\[({<] ?(?:at|@) ?[\])}>] ?"
    r"[A-Za-z0-9\-]{1,63}(?:(?: ?[\[({<] ?(?:dot|\.) ?[\])}>] ?|\.)[A-Za-z0-9\-]{2,63}){1,4}(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)
# In "邮箱是张三@a.cn" the words before the name are no part of the address.
_LEAD_IN = re.compile(r".*(?:邮箱|邮件|地址|发到|发给|联系|是|为)")


def _find(text: str) -> Iterator[Hit]:
    for at in _AT.finditer(text):
        head = text[max(0, at.start() - 64) : at.start()]
        local = _ASCII_LOCAL.search(head)
        start = local.start() if local else None
        if local is None:
            word = _WORD_LOCAL.search(head)
            if word is None:
                continue
            lead = _LEAD_IN.match(word.group())
            start = word.start() + (lead.end() if lead else 0)
        elif local.group()[0] in ".'":
            start = local.start() + 1
        if start is None or start >= len(head):
            continue
        base = at.start() - len(head)
        yield Hit("email", base + start, at.end(), CHECKED)
    for spelt in _SPELT.finditer(text):
        yield Hit("email", spelt.start(), spelt.end(), CHECKED)


EMAIL = Recognizer(
    "email", frozenset({"email"}), re.compile(r"@|[\[({<] ?at ?[\])}>]", re.IGNORECASE | re.ASCII), _find
)
