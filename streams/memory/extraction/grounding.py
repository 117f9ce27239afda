"""Nothing is remembered that was not said: names, numbers and dates of a memory must occur in its source.

Numbers are compared by value, however they are written; English names by whole words; weekdays, months and days by
what they mean. Chinese has no capitals: there every character that is not of the words a rewording brings in
(`rewording.py`) must have been said, and what looks like a name must have been said as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Final

from streams.memory.extraction.lang import CJK, fold
from streams.memory.extraction.patterns.zh import SURNAME
from streams.memory.extraction.rewording import ORDINARY, ZH_WORDS
from streams.memory.lexical import terms
from streams.memory.lexicon import FUNCTION_CHARACTERS, STOP_WORDS
from streams.memory.timephrases.en_words import MONTHS, WEEKDAYS
from streams.memory.timephrases.numerals import ENGLISH_CARDINAL, ENGLISH_ORDINAL, english, han
from streams.memory.timephrases.zh_words import DAYS
from streams.memory.timephrases.zh_words import WEEKDAYS as ZH_WEEKDAYS

_LATIN: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_WORD = re.compile(rf"[{_LATIN}\d]+(?:['’-][{_LATIN}\d]+)*")
_NAME = re.compile(
    rf"(?<![{_LATIN}\d])(?:[A-Z\u00c0-\u00d6\u00d8-\u00de]|[a-z]+\d)[{_LATIN}\d]*(?:['’-][{_LATIN}\d]+)*"
)
_OPENS = re.compile(r"(?:^|[.!?:\n。！？：])[\s\"'“‘(]*$")

_HAN_DIGITS: Final = "零〇一二两三四五六七八九十百千万廿卅"
# The digits of "A380" are part of a name; those of "3pm" are a number.
_NUMBER = re.compile(rf"(?<![{_LATIN}\d])\d+(?:[.,:]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_MYRIADS = re.compile(r"(\d+(?:\.\d+)?)万")
_HAN = re.compile(f"[{_HAN_DIGITS}]+")
# What is counted; "一个" and the like count nothing, 三明治 and 四川 are no numbers.
_MEASURED = re.compile(
    rf"(?<![周期拜])(?!一(?:个|些|下|点(?!钟)|起|直|样|般|定|家人))(?!十分|千万)([{_HAN_DIGITS}]+)"
    r"(?=个|点|只|岁|天|日|号|月|年|块|元|次|遍|人|位|名|本|件|条|家|杯|瓶|盒|片|粒|双|台|辆|套|间|层|楼|章|页|公里|千米|米|斤|公斤|克|升"
    r"|小时|分钟?|秒|周|星期|礼拜|季度|口|张|把|匹|头|门|班|组|期|集|折|成|倍|度|刻)"
)
_ENGLISH_NUMBER = re.compile(rf"\b(?:{ENGLISH_ORDINAL}|{ENGLISH_CARDINAL}|dozen)\b")
# "One" and "second" are more often no numbers.
_UNCOUNTED: Final = frozenset({"one", "first", "second"})

_ZH_WEEKDAY = re.compile(
    r"(?<![一二两三四五六七八九十几\d])(?:周|星期|礼拜)([一二三四五六日天1-6])(?!次|个|回|遍|趟|[天日年])"
)
_ZH_MONTH = re.compile(rf"(\d{{1,2}}|[{_HAN_DIGITS}]{{1,2}})月")
_ZH_DAY = re.compile("|".join(sorted(DAYS, key=len, reverse=True)))
_EN_DAYS: Final = {"today": 0, "tomorrow": 1, "yesterday": -1}
_OF_CALENDAR: Final = WEEKDAYS.keys() | MONTHS.keys() | _EN_DAYS.keys()

_RUN = re.compile(rf"[{CJK}]+")
_SURNAME = re.compile(SURNAME)
# Surnames that are seldom the beginning of another word.
_CLEAR_SURNAMES: Final = frozenset(
    "王李张刘陈赵吴孙朱胡郭林罗郑梁宋唐许邓冯韩曹彭曾袁蒋蔡余杜苏魏吕沈姚卢崔谭陆汪廖贾傅邹熊孟秦薛侯潘"
)
_NICKNAMES: Final = frozenset("小老阿")
_OF_DATES: Final = frozenset(_HAN_DIGITS + "半点号日月年周星期礼拜天刻")
_REWORDED = re.compile("|".join(sorted(ZH_WORDS, key=len, reverse=True)))


@dataclass(frozen=True, slots=True)
class _Said:
    """What of a text a memory may repeat."""

    folded: str
    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[Decimal | str]
    weekdays: frozenset[int]
    months: frozenset[int]
    days: frozenset[int]


def grounded(content: str, source: str, *, value: str | None = None, dates: Iterable[datetime] = ()) -> bool:
    """Whether all names, numbers and dates of `content` (and the words of `value`) occur in `source` or are one of
    `dates`, which are in the user's zone."""
    said = _said(source)
    if not _literal(content, said):
        moments = list(dates)
        if not (_numbers_said(content, said, moments) and _days_said(content, said, moments)):
            return False
        if not all(_name_said(word, opens, content, said) for word, opens in _names(content)):
            return False
        if not all(_run_said(run, said.folded) for run in _RUN.findall(fold(content))):
            return False
    return value is None or all(_word_said(word, said) for word in re.findall(r"[^\W_]{2,}", fold(value)))


@lru_cache(maxsize=16)  # all candidates of a message have one source
def _said(source: str) -> _Said:
    folded = fold(source)
    return _Said(
        folded,
        frozenset(_parts(folded)),
        frozenset(terms(source)),
        frozenset(_numbers(folded)),
        frozenset(_weekdays(folded)),
        frozenset(_months(folded)),
        frozenset(_days(folded)),
    )


def _literal(content: str, said: _Said) -> bool:
    """Said as it stands, and not within a word or a number."""
    wanted = fold(content)
    inside = rf"[{_LATIN}\d]"
    before = rf"(?<!{inside})(?<!\d[.,:])" if re.match(inside, wanted) else ""
    after = rf"(?!{inside}|[.,:]\d)" if re.match(inside, wanted[-1:]) else ""
    # Chinese has no spaces: a short piece may be part of another name.
    return len(wanted) > 3 and re.search(f"{before}{re.escape(wanted)}{after}", said.folded) is not None


def _parts(text: str) -> Iterator[str]:
    """Words, possessors without their 's, and the parts of what is hyphenated."""
    for word in _WORD.findall(text):
        yield word
        yield from re.split(r"['’-]", word)


# Numbers


def _numbers(folded: str) -> Iterator[Decimal | str]:
    for token in _NUMBER.findall(folded):
        yield from _figures(token)
    for match in _MYRIADS.finditer(folded):
        yield Decimal(match[1]) * 10_000
    for run in _HAN.findall(folded):
        yield from _han(run)
    for word in _ENGLISH_NUMBER.findall(folded):
        yield Decimal(12 if word == "dozen" else english(word))


def _figures(token: str) -> list[Decimal | str]:
    if _GROUPED.fullmatch(token):
        return [Decimal(token.replace(",", ""))]
    found: list[Decimal | str] = []
    for part in token.split(","):
        # A time of day or a version is one thing.
        one = ":" not in part and part.count(".") < 2
        found.append(Decimal(part) if one else re.sub(r"(?<!\d)0+(?=\d)", "", part))
    return found


def _han(run: str) -> list[Decimal]:
    try:
        return [Decimal(str(han(run)))]
    except (ValueError, KeyError, IndexError):
        return []


def _numbers_said(content: str, said: _Said, dates: list[datetime]) -> bool:
    folded = fold(content)
    wanted: list[Decimal | str] = [number for token in _NUMBER.findall(folded) for number in _figures(token)]
    for run in _MEASURED.findall(folded):
        wanted += _han(run)
    wanted += [
        Decimal(12 if word == "dozen" else english(word))
        for word in _ENGLISH_NUMBER.findall(folded)
        if word not in _UNCOUNTED
    ]
    return all(number in said.numbers or number in _of_dates(dates) for number in wanted)


def _of_dates(dates: list[datetime]) -> set[Decimal | str]:
    found: set[Decimal | str] = set()
    for at in dates:
        found |= {Decimal(n) for n in (at.year, at.month, at.day, at.hour, at.hour % 12 or 12)}
        found |= {f"{at.hour}:{at.minute}", f"{at.hour % 12 or 12}:{at.minute}"}
        if at.minute:
            found.add(Decimal(at.minute))
    return found


# Days


def _weekdays(folded: str) -> Iterator[int]:
    yield from (WEEKDAYS[word.rstrip("s")] for word in _parts(folded) if word.rstrip("s") in WEEKDAYS)
    yield from (WEEKDAYS[word] for word in _parts(folded) if word in WEEKDAYS)
    yield from (ZH_WEEKDAYS[day] for day in _ZH_WEEKDAY.findall(folded))


def _months(folded: str) -> Iterator[int]:
    yield from (MONTHS[word] for word in _parts(folded) if word in MONTHS)
    yield from (int(n) for month in _ZH_MONTH.findall(folded) for n in (_han(month) if month else ()))


def _days(folded: str) -> Iterator[int]:
    yield from (_EN_DAYS[word] for word in _parts(folded) if word in _EN_DAYS)
    yield from (DAYS[word] for word in _ZH_DAY.findall(folded))


def _days_said(content: str, said: _Said, dates: list[datetime]) -> bool:
    folded = fold(content)
    named = [word for word in _WORD.findall(content) if word[0].isupper()]
    weekdays = {WEEKDAYS[fold(w)] for w in named if fold(w) in WEEKDAYS and fold(w) not in said.words}
    weekdays |= {day for day in _weekdays(folded) if _spelt_out(day, folded)}
    months = {MONTHS[fold(w)] for w in named if fold(w) in MONTHS and fold(w) not in said.words}
    # The end of a day is the beginning of the next.
    moments = [at if n == 0 else at - timedelta(microseconds=1) for n, at in enumerate(sorted(dates))]
    return (
        weekdays <= said.weekdays | {at.weekday() for at in moments}
        and months <= said.months | {at.month for at in moments}
        and set(_days(folded)) <= said.days
    )


def _spelt_out(day: int, folded: str) -> bool:
    """Not one of "sun", "sat", "wed", which small letters make other words."""
    return day in {ZH_WEEKDAYS[d] for d in _ZH_WEEKDAY.findall(folded)} or any(
        len(word) > 4 and WEEKDAYS.get(word.rstrip("s")) == day for word in _parts(folded)
    )


# Names


def _names(content: str) -> Iterator[tuple[str, bool]]:
    """Capitalised words and codes, and whether the word opens a sentence, where every word has a capital."""
    for match in _NAME.finditer(content):
        yield fold(match.group()), _OPENS.search(content, 0, match.start()) is not None


def _name_said(name: str, opens: bool, content: str, said: _Said) -> bool:
    base = name.removesuffix("'s")
    if base in said.words or base in ORDINARY or base in _OF_CALENDAR or base.rstrip("s") in WEEKDAYS:
        return True
    if all(part in said.words for part in re.split(r"['-]", base)):
        return True
    if _ENGLISH_NUMBER.fullmatch(base):
        return True
    return opens and (base in STOP_WORDS or (bool(found := terms(base)) and said.stems.issuperset(found)))


def _run_said(run: str, folded: str) -> bool:
    """Whether a run of Chinese characters says no more than was said, reworded."""
    free = set()
    for match in _REWORDED.finditer(run):
        free |= set(range(*match.span()))
    free |= {n for n, c in enumerate(run) if c in _OF_DATES or c in FUNCTION_CHARACTERS}
    if any(c not in folded and n not in free for n, c in enumerate(run)):
        return False
    for n, (first, second) in enumerate(pairwise(run)):
        if first + second in folded or n in free or n + 1 in free:
            continue
        # Put together anew of characters that were said: "王明" of "李明" and "王伟".
        if first in _CLEAR_SURNAMES or first in _NICKNAMES:
            return False
    return True


def _word_said(word: str, said: _Said) -> bool:
    """A word of a value: whole, or inflected; Chinese as it stands."""
    if _RUN.search(word):
        return word in said.folded or _run_said(word, said.folded)
    if word in said.words or said.stems.issuperset(terms(word)):
        return True
    return word.isdecimal() and Decimal(word) in said.numbers
