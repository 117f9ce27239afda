"""Phone numbers: mainland, Hong Kong, Macau, Taiwan, and international by `phonenumbers`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import phonenumbers

from streams.memory.look import Looked
from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import CHECKED, LABELLED, SHAPE, Recognizer, after, before
from streams.memory.redaction.recognizers.numbers import OTHER_NUMBER, runs, stands_alone

_MOBILE = re.compile(r"(?:(?:00)?86)?1[3-9][0-9]{9}")
_USUAL = frozenset({(11,), (3, 4, 4), (3, 8), (7, 4), (3, 3, 5), (4, 3, 4), (1,) * 11})
_PREFIXED = frozenset({(2, *sizes) for sizes in _USUAL} | {(4, *sizes) for sizes in _USUAL} | {(13,), (15,)})
_LISTING = re.compile(r"[,;:/%$€¥=<>、。]")


def _mobiles(text: str) -> Iterator[Hit]:
    for run in runs(text, 11):
        end_of_last = 0
        for first, last in run.windows(11, 15):
            if first < end_of_last or not _MOBILE.fullmatch(run.digits, first, last):
                continue
            start, end = run.span(first, last)
            if not stands_alone(text, start, end):
                continue
            sizes = run.sizes(first, last)
            listing = bool(_LISTING.search(text, start, end))
            usual = (sizes in _USUAL or sizes in _PREFIXED) and not (listing and len(sizes) > 4)
            # Odd groups are a number if nothing else is around, and nothing in them looks like a list of figures.
            odd = (first, last) == (0, len(run.digits)) and not listing
            if not (usual or odd) or (not usual and "." in text[start:end]):
                continue
            if OTHER_NUMBER.search(before(text, start)) or _IN_A_NAME.search(before(text, start)):
                continue
            if text[max(0, start - 2) : start].strip() == "+" and run.digits.startswith("00", first):
                continue
            if text[max(0, start - 2) : start].strip() == "+" and run.digits.startswith("86", first):
                start = text.rindex("+", 0, start)
            end_of_last = last
            yield Hit("phone", start, end, CHECKED - 5)


_EXTENSION = r"(?:\s{0,2}(?:ext(?:ension)?\.?|extn|x|转|轉|分机号?|分機|#)\s{0,2}[:：]?\s{0,2}[0-9]{1,6})?"
_CANDIDATE = re.compile(
    r"(?:(?<![0-9A-Za-z_])(?<![0-9][.,])|(?<![0-9])(?=\+))"
    r"(?:\( {0,2})?(?:\+ {0,2})?\(?[0-9](?:[ \-./()\u00a0]{0,4}[0-9]){4,16}\)?" + _EXTENSION + r"(?![0-9])",
    re.IGNORECASE | re.ASCII,
)
_LABEL = Looked(
    r"(?:\bphones?|\bmobile|\bcell(?:phone)?|\btel(?:ephone|efon)?|\bfax|\bdesk|\boffice|\bhome|\bwork|whats ?app|"
    r"wechat|signal|telegram|viber|"
    r"\bcall(?:ing)?|\bdial|\bring|\btext(?:ing)?|\bsms|\bcontact|\bhotline|\breach|\banswering|\bmessages? to|"
    r"\bregistered|"
    r"(?:\bmy|\bhis|\bher|\bour|\byour|\bus|preferr?ed|\binternational|\bnew|\bcontact) (?:number|one|num|no\.)|"
    r"电话|手机|座机|号码|號碼|電話|手機|联系方式|热线|传真|致电|拨打|拨|打|呼叫|短信|微信|新号|换号|找我|固话|"
    r"专线|客服)"
    r"(?:[\s:：.#=\-(,，\"']|号码|号|不是|是|为|了|改成|换成|给|到|联系|他|我|你|她|的|有|"
    r"\bnumbers?\b|\bno\b|\bnum\b|\bis\b|\bare\b|\bwas\b|\bat\b|\bon\b|\bme\b|\bus\b|\bhim\b|\bher\b|\bto\b|\bor\b|"
    r"\band\b|\bmy\b|\bthe\b|\bit's\b|\bhere\b){0,10}$"
)
_LABEL_AFTER = re.compile(r"[\s\-(,]{0,3}(?:office|fax|mobile|cell|home|work|desk|phone|tel|手机|电话|座机)\b")
_IN_A_NAME = re.compile(r"[a-z0-9][\-/_]$|://[^\s]{0,38}$")  # a slug, a path, a DOI
_DATE = Looked(
    r"(?:19|20)[0-9]{2}([\-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([\-/.])[0-9]{1,2}\2(?:19|20)[0-9]{2}|(?:19|"
    r"20)[0-9]{2}[/\-](?:19|20)[0-9]{2}"
)
_NORTH_AMERICA = re.compile(
    r"[0-9]{3}\)[ ]?[0-9]{3}[ .\-][0-9]{4}|(?:\+?1[ .\-]?)?(?:\([1-9][0-9]{2}\)[ .\-]?[0-9]{3}[ .\-][0-9]{4}|"
    r"[0-9]{3}([ .\-])[0-9]{3}\1[0-9]{4})"
)
_LANDLINE = re.compile(r"\(?0(?:10|2[0-9]|[3-9][0-9]{2})\)?[ \-]{0,3}[2-9][0-9]{2,3}[ \-]?[0-9]{4}")
_LANDLINE_SOLID = re.compile(r"0(?:10|2[0-9])[2-9][0-9]{7}|0[3-9][0-9]{2}[2-9][0-9]{6,7}")
_SERVICE = re.compile(r"[48]00[ \-]?[0-9]{3,4}[ \-]?[0-9]{3,4}")
_NEIGHBOURS = re.compile(
    r"(?:86[ \-](?:10|2[0-9]|[3-9][0-9]{2})[ \-]?[2-9][0-9]{2,3}[ \-]?[0-9]{4}|"
    r"852[ \-]?[2-9][0-9]{3}[ \-]?[0-9]{4}|853[ \-]?[268][0-9]{3}[ \-]?[0-9]{4}|886[ \-]?0?9(?:[ \-]?[0-9]){8})"
)
_TAIWAN_MOBILE = re.compile(r"09[0-9]{2}[ \-]?[0-9]{3}[ \-]?[0-9]{3}")
_SEPARATED_ZERO = re.compile(r"\(?0[0-9]{1,4}\)?[ \-.][0-9 \-.]{6,14}")
_TRY_REGIONS = ("GB", "AU", "JP", "KR", "FR", "DE")


def _valid(number: str, region: str | None) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


def _score(text: str, start: int, end: int, number: str) -> int:
    """How surely text[start:end] is a phone number, 0 for not."""
    bare = re.sub(rf"{_EXTENSION[:-1]}$", "", number, flags=re.IGNORECASE | re.ASCII)
    digits = re.sub(r"[^0-9]", "", bare)
    head = before(text, start)
    if OTHER_NUMBER.search(head) or (_DATE.match(bare.strip(" ()")) and len(digits) <= 12):
        return 0
    international = bare.lstrip("( ").startswith("+")
    if international and _valid(bare, None):
        return CHECKED
    if 5 <= len(digits) <= 17 and _LABEL.search(head) and (len(digits) >= 7 or (len(digits) == 6 and _strong(head))):
        return LABELLED
    if 7 <= len(digits) <= 15 and _LABEL_AFTER.match(after(text, end)):
        return LABELLED - 5
    if not stands_alone(text, start, end) or international or _IN_A_NAME.search(head):
        return 0
    if digits.startswith("00") and len(digits) >= 10 and _valid("+" + digits[2:], None):
        return CHECKED - 10
    shape = bare.strip()
    if _NORTH_AMERICA.fullmatch(shape) or _NEIGHBOURS.fullmatch(shape):
        return SHAPE + 10
    if _LANDLINE.fullmatch(shape) and not shape.isdigit():
        return SHAPE + 10
    if _SERVICE.fullmatch(shape) and (not shape.isdigit() or _valid(shape, "CN")):
        return SHAPE + 5
    if _TAIWAN_MOBILE.fullmatch(shape):
        return SHAPE + 5
    if (
        not shape.isdigit()
        and _SEPARATED_ZERO.fullmatch(shape)
        and any(_valid(shape, region) for region in _TRY_REGIONS)
    ):
        return SHAPE
    # A message that is nothing but a number answers "what is your number?".
    if len(text) < 40 and text.strip() == number.strip() and len(digits) == 10 and _valid(digits, "US"):
        return SHAPE
    return 0


_STRONG = re.compile(r"(?:phone|mobile|电话|手机|座机|热线|tel|call)[^0-9]{0,14}$")


def _strong(head: str) -> bool:
    return bool(_STRONG.search(head))


def _phones(text: str) -> Iterator[Hit]:
    yield from _mobiles(text)
    for found in _CANDIDATE.finditer(text):
        number = found.group()
        start, end = found.span()
        if number.count("(") > number.count(")") and number.startswith("("):
            number, start = number[1:], start + 1
        if number.endswith(")") and number.count(")") > number.count("("):
            number, end = number[:-1], end - 1
        if end < len(text) and text[end].isascii() and text[end].isalpha():
            continue
        score = _score(text, start, end, number)
        if score:
            yield Hit("phone", start, end, score)


PHONE = Recognizer("phone", frozenset({"phone"}), re.compile(r"[0-9](?:[^0-9]{0,30}[0-9]){4}"), _phones)
