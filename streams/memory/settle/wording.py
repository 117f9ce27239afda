"""What settling reads off a text on its own: figures, negation, names, frequency, content words.

These are the guards' material: two texts that differ in one of them say different things, however near they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from streams.memory.lexical import fold, terms

_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_TOKEN: Final = re.compile(rf"\d+(?:[.,:/-]\d+)*%?|[{_CJK}]|[^\W\d_{_CJK}]+(?:['’-][^\W\d_{_CJK}]+)*")

_DIGITS: Final = "零一二三四五六七八九"
_CN_DIGIT: Final = {c: i for i, c in enumerate(_DIGITS)} | {"〇": 0, "两": 2, "兩": 2, "壹": 1, "贰": 2, "叁": 3}
_CN_UNIT: Final = {"十": 10, "百": 100, "千": 1000}
_CN_NUMBER: Final = re.compile(
    r"[零〇一二两兩三四五六七八九十百千万萬亿]{2,}|[一二两兩三四五六七八九十](?=[点點个個岁歲年月日号號天周次元块塊人只隻条條杯瓶本家台楼樓层層室章节節期班组組栋棟])"
)
_EN_UNITS: Final = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen"
)
_EN_TENS: Final = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_EN_NUMBER: Final = {w: i for i, w in enumerate(_EN_UNITS.split("|"))} | {
    w: 10 * i for i, w in enumerate(_EN_TENS.split("|"), 2)
}
# "One" that stands for something named before, or for anybody.
_NO_NUMBER: Final = re.compile(
    r"\b(?:this|that|which|another|each|every|no|any|some|the (?:only|same|first|last|other|\w+)) one\b|"
    r"\bone(?= (?:of|and(?! a half)|or(?! (?:two|more))|for|to|in|on|at|with|is|was|who|that|yet|day)\b|"
    r"['’]s\b|\W*$|[,;.)])"
)
_MAGNITUDE: Final = {"k": 1e3, "万": 1e4, "萬": 1e4, "千": 1e3, "百": 1e2, "亿": 1e8, "m": 1e6}
_FIGURE: Final = re.compile(
    r"(?<![a-z0-9.])(\d+(?:,\d{3})+|\d+)((?:[.:/-]\d+)*)\s?([k万萬千百亿](?![a-z]))?", re.IGNORECASE
)

_WEEKDAYS: Final = {
    name: day
    for day, names in enumerate(
        ("monday 周一 星期一 礼拜一", "tuesday 周二 星期二 礼拜二", "wednesday 周三 星期三 礼拜三",
         "thursday 周四 星期四 礼拜四", "friday 周五 星期五 礼拜五", "saturday 周六 星期六 礼拜六",
         "sunday 周日 周天 星期日 星期天 礼拜天"),
    )
    for name in names.split()
}  # fmt: skip
_DAY: Final = re.compile("|".join(sorted(_WEEKDAYS, key=len, reverse=True)))

_NOT_EN: Final = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|dislik\w+|hate[sd]?|detest\w*|loath\w+|"
    r"avoid(?:s|ed|ing)?|exclud(?:es?|ed|ing)|prohibit(?:s|ed)?|forbid(?:s|den)?|bans?|banned|"
    r"refuses?|lacks?|stopped|quit|unable|unlike|against|except|unless|rather than|instead of|\w+n['’]t)\b|"
    r"\bfinds? [^,.;]{2,40} (?:boring|annoying|tedious|frustrating|unpleasant|pointless)\b|"
    r"\b(?:non|un)-"
)
_NOT_ZH: Final = re.compile(
    r"不(?!错|錯|仅|僅|但|过|過|管|论|論|如|同)|没(?!关系)|沒|讨厌|討厭|拒绝|拒絕|避免|别(?!人|的|墅|名)|未(?!来|來|成年)|無法|无法|戒了|除了|除非"
)
_OFTEN: Final = {
    "always": ("always", "every time", "every day", "daily", "总是", "一直", "每天", "每次", "天天"),
    "often": ("often", "usually", "frequently", "mostly", "a lot", "经常", "通常", "常常", "平时", "一般"),
    "sometimes": (
        "sometimes",
        "occasionally",
        "now and then",
        "at times",
        "from time to time",
        "有时",
        "偶尔",
        "有時",
        "偶爾",
    ),
    "rarely": ("rarely", "seldom", "hardly", "很少", "几乎不", "極少"),
    "never": ("never", "从不", "从来不", "從不", "從來不"),
}
_QUANTITY: Final = {
    "all": ("all", "every", "everyone", "everything", "所有", "全部", "每个", "都"),
    "some": ("some", "several", "a few", "某些", "有些", "一些", "部分"),
    "only": ("only", "exclusively", "solely", "只", "仅"),
}

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME: Final = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_MONTH_OF_A_DATE: Final = re.compile(
    rf"\b{_MONTH_NAME}\.? (?=\d)|(?<=\d)(?:st|nd|rd|th)?(?: of)? {_MONTH_NAME}\b", re.IGNORECASE
)


def _months(text: str) -> set[str]:
    """Names of months beside a number: elsewhere "may" is a verb and "June" may be a person."""
    return {(before or after).lower() for before, after in _MONTH_OF_A_DATE.findall(text)}


@lru_cache(maxsize=20_000)
def key(text: str) -> str:
    """Texts with one key are the same text: case, width, punctuation and spacing make no difference."""
    folded = fold(text)
    kept = (c if unicodedata.category(c)[0] in "LNS" else " " for c in folded)
    return " ".join("".join(kept).split())


def words(text: str) -> tuple[str, ...]:
    """Folded tokens in order: Latin words, figures, single CJK characters."""
    return tuple(_TOKEN.findall(fold(text)))


def _chinese_number(text: str) -> float:
    total = section = digit = 0
    if all(c in _CN_DIGIT for c in text):
        return float("".join(str(_CN_DIGIT[c]) for c in text))
    for c in text:
        if c in _CN_DIGIT:
            digit = _CN_DIGIT[c]
        elif c in _CN_UNIT:
            section += (digit or 1) * _CN_UNIT[c]
            digit = 0
        else:
            total += (section + digit) * int(_MAGNITUDE[c])
            section = digit = 0
    return float(total + section + digit)


def figures(text: str) -> frozenset[str]:
    """Numbers of a text in one spelling: "5,000", "5k", "五千" are "5000"; "Wednesday" and "周三" are one too."""
    folded = fold(text)
    found: set[str] = set()
    for match in _FIGURE.finditer(folded):
        whole, rest, unit = match.groups()
        if rest and not re.fullmatch(r"\.\d+", rest):
            # A time of day is one figure; a date and a range are the figures that they join.
            parts = [whole + rest] if ":" in rest else re.split(r"[./-]", whole + rest)
            if len(parts) == 3 and len(whole) == 4:
                found.add("month" + parts.pop(1).lstrip("0"))
            found.update(part.lstrip("0").replace(":00", "") for part in parts)
        else:
            value = float(whole.replace(",", "") + (rest or "")) * _MAGNITUDE.get((unit or "").lower(), 1)
            found.add(f"{value:g}")
    found.update(f"{_chinese_number(m.group()):g}" for m in _CN_NUMBER.finditer(folded))
    found.update(f"{_EN_NUMBER[w]:g}" for w in re.findall(r"[a-z]+", _NO_NUMBER.sub(" ", folded)) if w in _EN_NUMBER)
    found.update(f"day{_WEEKDAYS[d]}" for d in _DAY.findall(folded))
    found.update(f"month{_MONTHS.index(name[:3]) + 1}" for name in _months(folded))
    return frozenset(found)


_OUTRIGHT: Final = re.compile(
    r"\b(?:not|never|no longer|cannot|dislike[sd]?|hate[sd]?|stopped|quit|\w+n['’]t)\b|"
    r"不(?!错|錯|仅|僅|但|过|過|管|论|論|如|同)|没(?!关系)|沒|讨厌|討厭|别(?!人|的|墅|名)|未(?!来|來|成年)|无法|戒了"
)


def _marks(table: dict[str, tuple[str, ...]]) -> dict[str, re.Pattern[str]]:
    return {
        band: re.compile("|".join(rf"\b{re.escape(m)}\b" if m.isascii() else re.escape(m) for m in marks))
        for band, marks in table.items()
    }


_OFTEN_MARKS: Final = _marks(_OFTEN)
_QUANTITY_MARKS: Final = _marks(_QUANTITY)


def _bands(folded: str, table: dict[str, re.Pattern[str]]) -> frozenset[str]:
    return frozenset(band for band, marks in table.items() if marks.search(folded))


@dataclass(frozen=True, slots=True)
class Wording:
    """Everything that the guards compare, of one text."""

    key: str
    words: tuple[str, ...]
    # Content terms in order, without what only says whose statement it is; verbs of liking are one.
    said: tuple[str, ...]
    content: frozenset[str]
    figures: frozenset[str]
    denials: int
    # Denied outright, by "not", "never", "no longer", 不, 没: not only by "without" or "non-".
    denied: bool
    often: frozenset[str]
    quantity: frozenset[str]
    names: frozenset[str]
    # Content of what is denied, to the end of the clause.
    withheld: frozenset[str]
    # Content of what comes second: "tea over COFFEE", "rather than COFFEE", "no longer COFFEE", "而不是咖啡".
    rejected: frozenset[str]


_NAME: Final = re.compile(r"(?<=[a-z0-9,;:'’] )(?:[A-Z][\w'’.-]*)")
_LATIN: Final = re.compile(rf"(?<=[{_CJK}])[A-Z][A-Za-z0-9.+#-]+")  # among Chinese: 用Java写
_OWNED: Final = re.compile(r"['’]s?$")
_SEVERAL: Final = re.compile(r"[A-Z]{2,}s")
MOST_INITIALS: Final = 5
_QUOTED: Final = re.compile(r"[《「『“\"]([^》」』”\"]{1,40})[》」』”\"]")


def names(text: str) -> frozenset[str]:
    """Latin words with a capital inside a sentence, and what stands in quotation marks or title marks."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    found: Iterable[str] = [*_NAME.findall(text), *_QUOTED.findall(text), *_LATIN.findall(text)]
    return frozenset(name_of(n) for n in found) - {"i", "i'm", "i've", "i'll", "i'd", ""} - _months(text)


def name_of(text: str) -> str:
    """A name as it is compared: whose it is and how many make no difference ("Eddy's", "RPGs")."""
    text = _OWNED.sub("", text.strip(" .'’"))
    return fold(text[:-1] if _SEVERAL.fullmatch(text) else text)


def spelled_out(short: str, words: tuple[str, ...]) -> frozenset[str]:
    """The words in a row that an abbreviation stands for ("uk": "united", "kingdom"); none when there are none.

    Every one of them has content: "Al" is not short for "a lot".
    """
    if not (1 < len(short) <= MOST_INITIALS and short.isascii() and short.isalpha()):
        return frozenset()
    for at in range(len(words) - len(short) + 1):
        row = words[at : at + len(short)]
        if all(word[0] == letter and content_terms(word) for word, letter in zip(row, short, strict=True)):
            return frozenset(row)
    return frozenset()


# "User likes", "the user's", "I am", "用户": whose statement it is, in a note or in their own words.
_FRAME: Final = re.compile(r"^\W*(?:the )?(?:user|client|customer)(?:'s|’s)?\b|^\W*(?:用户|用戶|本人|我)(?:的|是)?")
_LIKING: Final = dict.fromkeys(
    ("enjoy", "love", "like", "dislik", "hate", "prefer", "fond", "fan"), "like"
) | dict.fromkeys(("喜欢", "喜歡", "热爱", "钟爱", "讨厌", "討厭", "偏好"), "like")


_REJECTED: Final = re.compile(
    r"\b(?:over|rather than|instead of|no longer|switched (?:away )?from|moved (?:away )?from|stopped|quit|gave up)\b"
    r"([^,;.()]{2,60}?)(?=\s(?:for|in|when|because|as|during|with|at|on|to|by|and|but)\b|[,;.()]|$)"
    r"|(?:而不是|而非|不再|代替|戒掉?了?|放弃了?)([^，。；,;]{1,20})"
)


_WITHHELD: Final = re.compile(rf"(?:{_NOT_EN.pattern}|{_NOT_ZH.pattern})([^,;:.()，。；、]*)")


@lru_cache(maxsize=20_000)
def content_terms(text: str) -> tuple[str, ...]:
    """`Wording.said` alone."""
    return tuple(_LIKING.get(term, term) for term in terms(_FRAME.sub(" ", fold(text))))


@lru_cache(maxsize=20_000)
def wording(text: str) -> Wording:
    folded = fold(text)
    said = content_terms(text)
    return Wording(
        key=key(text),
        words=words(text),
        said=said,
        content=frozenset(said),
        figures=figures(text),
        denials=len(_NOT_EN.findall(folded)) + len(_NOT_ZH.findall(folded)),
        denied=bool(_OUTRIGHT.search(folded)),
        often=_bands(folded, _OFTEN_MARKS),
        quantity=_bands(folded, _QUANTITY_MARKS),
        names=names(text),
        withheld=frozenset(term for part in _WITHHELD.findall(folded) for term in content_terms(part)),
        rejected=frozenset(terms(" ".join(part for groups in _REJECTED.findall(folded) for part in groups))) - {"user"},
    )
