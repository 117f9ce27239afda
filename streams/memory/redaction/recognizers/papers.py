"""Identity papers: resident ids, permits, passports, social security and other national numbers, licences."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from stdnum.exceptions import ValidationError
from stdnum.in_ import aadhaar
from stdnum.iso7064 import mod_11_2
from stdnum.us import ssn

from streams.memory.look import Look, Looked
from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import CERTAIN, CHECKED, LABELLED, SHAPE, Recognizer, before
from streams.memory.redaction.recognizers.numbers import stands_alone

_ID_LABEL = Looked(
    r"(?:身份证|身份|证件|居民证|身分證|身份證|id card|identity card|identity number|national id|hkid|resident id|\bid)"
    r"(?:号码?|號碼?|no\.?|number|[\s:：#='\"(（]|是|为|為|is){0,8}$"
)
# GB/T 2260: the first two digits of a resident id.
_PROVINCES = frozenset(
    [
        "11",
        "12",
        "13",
        "14",
        "15",
        "21",
        "22",
        "23",
        "31",
        "32",
        "33",
        "34",
        "35",
        "36",
        "37",
        "41",
        "42",
        "43",
        "44",
        "45",
        "46",
        "50",
        "51",
        "52",
        "53",
        "54",
        "61",
        "62",
        "63",
        "64",
        "65",
        "71",
        "81",
        "82",
        "83",
    ]
)
_GAP = r"[ \-\u200b._\n]{0,2}"
_MAINLAND = Looked(rf"(?<![0-9A-Za-z])[1-9](?:{_GAP}[0-9]){{13,16}}(?:{_GAP}[0-9Xx])?(?![0-9A-Za-z])")
_HONG_KONG = Looked(r"(?<![0-9A-Za-z])([A-Za-z]{1,2})[ \-]?([0-9]{6})[ \-]?([(\[]?)([0-9A])[)\]]?(?![0-9A-Za-z])")
_MACAU = Looked(r"(?<![0-9A-Za-z])[157][0-9]{6}[ \-]?[(\[/]?[0-9][)\]]?(?![0-9A-Za-z])")
_TAIWAN = Looked(r"(?<![0-9A-Za-z])[A-Z][A-D1289][0-9]{8}(?![0-9A-Za-z])", re.IGNORECASE | re.ASCII)


def _born(digits: str) -> bool:
    """YYYYMMDD of someone who may be alive."""
    try:
        return dt.date(int(digits[:4]), int(digits[4:6]), int(digits[6:8])).year in range(1880, 2040)
    except ValueError:
        return False


def _mainland(compact: str, labelled: bool) -> int:
    """The score of a mainland resident id, 0 for none."""
    if len(compact) == 18:
        if compact[:2] in _PROVINCES and _born(compact[6:14]) and mod_11_2.is_valid(compact.upper()):
            return CERTAIN
        return LABELLED if labelled else 0
    if len(compact) == 15 and compact.isdigit():
        if compact[:2] in _PROVINCES and _born("19" + compact[6:12]):
            return CHECKED - 10 if labelled else SHAPE
        return LABELLED if labelled else 0
    return 0


def _hong_kong(letters: str, digits: str, check: str) -> bool:
    padded = letters.upper().rjust(2)
    values = [36 if char == " " else ord(char) - 55 for char in padded] + [int(char) for char in digits]
    total = sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True))
    return (total + (10 if check == "A" else int(check))) % 11 == 0


_TAIWAN_AREAS = {char: code for code, char in enumerate("ABCDEFGHJKLMNPQRSTUVXYWZIO", 10)}


def _taiwan(number: str) -> bool:
    area = _TAIWAN_AREAS[number[0].upper()]
    second = number[1].upper()
    first = _TAIWAN_AREAS[second] % 10 if second.isalpha() else int(second)
    digits = [area // 10, area % 10, first, *map(int, number[2:])]
    weights = (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True)) % 10 == 0


def _resident_ids(text: str) -> Iterator[Hit]:
    for found in _MAINLAND.finditer(text):
        labelled = bool(_ID_LABEL.search(before(text, found.start(), 24)))
        compact = re.sub(r"[^0-9Xx]", "", found.group())
        score = _mainland(compact, labelled)
        if score:
            yield Hit("id_card", found.start(), found.end(), score)
    for found in _HONG_KONG.finditer(text):
        letters, digits, bracket, check = found.groups()
        labelled = bool(_ID_LABEL.search(before(text, found.start(), 24)))
        if (bracket or labelled) and _hong_kong(letters, digits, check.upper()):
            yield Hit("id_card", found.start(), found.end(), CHECKED)
        elif labelled and bracket:
            yield Hit("id_card", found.start(), found.end(), LABELLED)
    for found in _MACAU.finditer(text):
        bracket = found.group()[-1] in ")]"
        if bracket or _ID_LABEL.search(before(text, found.start(), 24)):
            yield Hit("id_card", found.start(), found.end(), LABELLED)
    for found in _TAIWAN.finditer(text):
        if _taiwan(found.group()):
            yield Hit("id_card", found.start(), found.end(), CHECKED)
        elif _ID_LABEL.search(before(text, found.start(), 24)):
            yield Hit("id_card", found.start(), found.end(), LABELLED)


_PERMIT = Looked(
    r"(?:通行证|回乡证|台胞证|还乡证|居住证|港澳证|travel permit|home return permit)(?:号码?|no\.?|number|"
    r"[\s:：#]|是|为|is){0,6}"
    r"(?P<value>[A-Z]{0,2}[0-9]{7,18}(?:[(（][A-Z0-9][)）])?)(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)
_PASSPORT = Looked(
    r"(?:护照|護照|passport|passeport|pasaporte|reisepass)(?:号码?|號碼?|\b ?id\b|no\.?|nr\.?|num(?:ber)?|details|"
    r"[\s:：#='\"(]|是|为|is|was){0,8}"
    r"(?P<value>(?=[A-Z\-]{0,12}[0-9])[A-Z0-9][A-Z0-9\-]{4,20}[A-Z0-9])(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)


def _travel(text: str) -> Iterator[Hit]:
    for found in _PERMIT.finditer(text):
        yield Hit("permit", *found.span("value"), CHECKED)
    for found in _PASSPORT.finditer(text):
        value = found.group("value")
        if sum(char.isdigit() for char in value) >= 3:
            yield Hit("passport", *found.span("value"), CHECKED)


_SSN = Looked(r"(?<![0-9A-Za-z\-.])([0-9]{3})([ \-.])([0-9]{2})\2([0-9]{4})(?![0-9A-Za-z]|[\-.][0-9])")
_SSN_LABEL = re.compile(r"(?:\bssn|social security|\bsocial)[^\n]{0,30}$")
_SSN_SOLID = Looked(
    r"(?:\bssn|social security(?: number| no\.?)?)(?:[\s:#='\"]|is|was|number|"
    r"no){0,8}(?P<value>[0-9](?:[ \-.,]{0,2}[0-9]){8})(?![0-9A-Za-z])",
    re.IGNORECASE | re.ASCII,
)
_NINO = Looked(
    r"(?<![0-9A-Za-z])(?!BG|GB|NK|KN|TN|NT|"
    r"ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D](?![0-9A-Za-z])",
    re.IGNORECASE | re.ASCII,
)
_ITIN = re.compile(r"9[0-9]{2}-(?:5[0-9]|6[0-5]|7[0-9]|8[0-8]|9[0-24-9])-[0-9]{4}")
_ITIN_SOLID = Looked(r"(?<![0-9A-Za-z.\-+])9[0-9]{8}(?![0-9A-Za-z]|[.\-][0-9])")
_AADHAAR = Looked(r"(?<![0-9A-Za-z])[2-9][0-9]{3}([ \-]?)[0-9]{4}\1[0-9]{4}(?![0-9A-Za-z]|[ \-][0-9])")
_NATIONAL = Looked(
    r"(?:\baadhaa?r|\bpan(?= (?:card|no|number|id)|\b[\s:#]{1,2}[A-Z]{5}[0-9])|\bnino|national (?:insurance|"
    r"id(?:entity)?|identification)|"
    r"\bnin\b|\bsin\b|\bnric|\bcpf\b|\bcurp\b|\bdni\b|\bnie\b|voter id|codice fiscale|纳税人识别号)"
    r"(?:[\s:#='\"]|card|number|no\.?|id|is|was|是|为|：){0,8}"
    r"(?P<value>(?=[A-Z]{0,8}[ \-]?[A-Z0-9\-]{0,8}[0-9]{3})[A-Z0-9](?:[ \-]?[A-Z0-9]){6,17}?)(?=['\"\s,.;)，。；）]|$)",
    re.IGNORECASE | re.ASCII,
)


def _national_ids(text: str) -> Iterator[Hit]:
    for found in _SSN.finditer(text):
        number = "-".join(found.group(1, 3, 4))
        labelled = _SSN_LABEL.search(before(text, found.start()))
        if _ITIN.fullmatch(number):
            yield Hit("ssn" if labelled else "national_id", found.start(), found.end(), CHECKED)
        elif ssn.is_valid(number):
            yield Hit("ssn", found.start(), found.end(), CHECKED)
        elif labelled:
            yield Hit("ssn", found.start(), found.end(), LABELLED)
    for found in _SSN_SOLID.finditer(text):
        yield Hit("ssn", *found.span("value"), CHECKED)
    for found in _NINO.finditer(text):
        yield Hit("national_id", found.start(), found.end(), CHECKED - 5)
    for found in _ITIN_SOLID.finditer(text):
        if len(text) < 40 and text.strip() == found.group():
            yield Hit("national_id", found.start(), found.end(), SHAPE)
    for found in _AADHAAR.finditer(text):
        try:
            aadhaar.validate(found.group())
        except ValidationError:
            continue
        if found.group(1) and stands_alone(text, *found.span()):
            yield Hit("national_id", found.start(), found.end(), LABELLED)
    for found in _NATIONAL.finditer(text):
        yield Hit("national_id", *found.span("value"), LABELLED + 5)


_LICENCE = Looked(
    r"(?:driver['’]?s?['’]? licen[cs]e|driving licen[cs]e|\bdl\b|驾驶证|驾照)"
    r"(?:[\s:#='\"：]|number|num|no\.?|id|is|was|号码?|是|为|档案编号){0,8}"
    r"(?P<value>(?=[A-Z_\-]{0,8}[0-9])[A-Z0-9][A-Z0-9_\-]{4,22}[A-Z0-9])(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)


def _licences(text: str) -> Iterator[Hit]:
    for found in _LICENCE.finditer(text):
        if sum(char.isdigit() for char in found.group("value")) >= 4:
            yield Hit("driver_license", *found.span("value"), CHECKED - 5)


_PLATE_ZH = Looked(
    r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-HJ-NP-Z][·.\- ]?"
    r"(?:[0-9]{5}[A-HJK]|[A-HJK][A-HJ-NP-Z0-9][0-9]{4}|[A-HJ-NP-Z0-9]{4}[A-HJ-NP-Z0-9挂学警港澳试超])(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)
# DVLA: no I, Q or Z in the area, the age is 02-29 or 51-79, no I or Q at the end.
_PLATE_GB = Looked(
    r"(?<![0-9A-Za-z])[A-HJ-PR-Y]{2}(?:0[2-9]|[12][0-9]|5[1-9]|[67][0-9])[ \-]?(?:(?![IQ])[A-Z]){3}(?![0-9A-Za-z])",
    re.IGNORECASE | re.ASCII,
)
_INDIA = (
    "AN|AP|AR|AS|BR|CG|CH|DD|DL|DN|GA|GJ|HP|HR|JH|JK|KA|KL|LA|LD|MH|ML|MN|MP|MZ|NL|OD|OR|PB|PY|RJ|SK|TN|TR|TS|UK|UP|WB"
)
_PLATE_IN = Looked(
    rf"(?<![0-9A-Za-z])(?:{_INDIA})[ \-]?[0-9]{{1,2}}[ \-]?[A-HJ-NP-Z]{{1,3}}[ \-]?[0-9]{{4}}(?![0-9A-Za-z])",
    re.IGNORECASE | re.ASCII,
)
_PLATE_LABEL = Looked(
    r"(?:licen[cs]e plate|number plate|plate (?:no\.?|number)|\bplates?|registration (?:number|plate)|"
    r"车牌号?码?)(?:[\s:#：]|is|was|number|no\.?|是|为){0,6}"
    r"(?P<value>(?=[A-Z \-]{0,4}[0-9])[A-Z0-9](?:[ \-]?[A-Z0-9]){3,8})(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)


_ANY_PLATE = Look(*(one.expression for one in (_PLATE_ZH, _PLATE_GB, _PLATE_IN, _PLATE_LABEL)), wide=True)


def _plates(text: str) -> Iterator[Hit]:
    if not _ANY_PLATE.may(text):
        return
    for found in _PLATE_ZH.finditer(text):
        if any(char.isdigit() for char in found.group()):
            yield Hit("license_plate", found.start(), found.end(), CHECKED)
    for pattern in (_PLATE_GB, _PLATE_IN):
        for found in pattern.finditer(text):
            yield Hit("license_plate", found.start(), found.end(), SHAPE)
    for found in _PLATE_LABEL.finditer(text):
        yield Hit("license_plate", *found.span("value"), SHAPE)


_DIGITS = re.compile(r"[0-9]")
RESIDENT_ID = Recognizer("resident_id", frozenset({"id_card"}), re.compile(r"[0-9]{4}"), _resident_ids)
TRAVEL = Recognizer(
    "travel",
    frozenset({"passport", "permit"}),
    re.compile(r"证|护照|護照|pass|permit|pasap", re.IGNORECASE | re.ASCII),
    _travel,
)
NATIONAL_ID = Recognizer("national_id", frozenset({"ssn", "national_id"}), _DIGITS, _national_ids)
LICENCE = Recognizer(
    "licence", frozenset({"driver_license"}), re.compile(r"licen|驾|\bdl\b", re.IGNORECASE | re.ASCII), _licences
)
PLATE = Recognizer("plate", frozenset({"license_plate"}), _DIGITS, _plates)
