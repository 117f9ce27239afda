"""Street addresses, to the house number; a city or a street alone is no secret."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streams.memory.look import Looked
from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import LABELLED, Recognizer

_ROOM = (
    r"(?:\s?[A-Za-z]?[0-9]{1,4}[A-Za-z]?\s?(?:号楼|栋|幢|座))?(?:\s?[0-9A-Za-z]{1,3}\s?(?:单元|"
    r"门))?(?:\s?[0-9]{1,3}\s?[层楼])?"
    r"(?:\s?[A-Za-z]?[0-9]{2,5}[A-Za-z]?\s?(?:室|房|户|号)?)?"
)
_NUMBER_ZH = Looked(
    # a street with a number, and the building behind it
    r"(?:大道|大街|胡同|[路街道巷弄里村庄])[东西南北中]?(?:[一二三四五六七八九十0-9]{1,2}段|"
    r"[段路])?\s?[0-9]{1,5}(?:[\-之][0-9]{1,4})?\s?(?:[号號]院?|弄)"
    r"(?:[\u4e00-\u9fff]{0,12}?(?:小区|花园|公寓|大厦|苑|广场|家园|中心|园区|写字楼)(?:\s?[A-Za-z0-9]{1,2}塔)?)?"
    + _ROOM
    # or an estate with a building and a room
    + r"|(?:小区|花园|公寓|大厦|苑|家园|新村|嘉园|华府|庭)\s?[A-Za-z]?[0-9]{1,4}\s?(?:号楼|栋|幢|座|号)"
    r"\s?(?:[0-9A-Za-z]{1,3}\s?单元\s?)?[0-9]{2,5}\s?(?:室|房|户|号)?"
    r"|(?<![0-9A-Za-z])[0-9]{1,4}\s?(?:号楼|栋|幢|座)\s?[0-9]{1,3}\s?单元\s?[0-9]{2,5}\s?(?:室|房|户|号)?"
)
_NAME_ZH = re.compile(r"[\u4e00-\u9fffA-Za-z0-9]{1,30}$")
# What is said before an address is no part of it.
_LEAD_IN = re.compile(r".*(?:住址|地址|住在|搬到了?|寄到|送到|我在|位于|家在|[在住到是为至])")

_KIND = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Boulevard|Blvd|Drive|Dr|Court|Ct|Way|Place|Pl|Square|Sq|Terrace|"
    r"Highway|Hwy|Parkway|Pkwy|"
    r"Crescent|Cres|Close|Alley|Trail|Circle|Cir)"
)
_STREET_EN = Looked(
    r"(?<![0-9A-Za-z.,:/$€£\-])[0-9]{1,6}[A-Za-z]?,? (?:[NSEW]\.? |North |South |East |"
    r"West )?(?:(?:[A-Z][\w'’.\-]{0,24}|[0-9]{1,3}(?:st|nd|rd|th)) ){1,4}"
    + _KIND
    + r"\b\.?(?: (?:NW|NE|SW|SE|N|S|E|W)\b)?(?:,? ?(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|"
    r"#)\.? ?#?[0-9A-Za-z\-]{1,6})?"
    r"(?:, [A-Z][A-Za-z .'\-]{1,30}?(?:, ?[A-Z]{2})?(?: [0-9]{5}(?:-[0-9]{4})?|"
    r" [A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}))?"
)


def _addresses(text: str) -> Iterator[Hit]:
    for found in _NUMBER_ZH.finditer(text):
        start = found.start()
        name = _NAME_ZH.search(text, max(0, start - 30), start)
        if name:
            lead = _LEAD_IN.match(name.group())
            start = name.start() + (lead.end() if lead else 0)
        yield Hit("address", start, found.end(), LABELLED)
    for found in _STREET_EN.finditer(text):
        yield Hit("address", found.start(), found.end(), LABELLED)


ADDRESS = Recognizer(
    "address", frozenset({"address"}), re.compile(r"[0-9]{1,5}\s?(?:[号號弄巷栋幢座]|[A-Za-z]?,? [A-Z0-9])"), _addresses
)
