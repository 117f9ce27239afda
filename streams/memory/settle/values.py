"""Values of a kind: a day, a time of day, an amount with its unit, a number or code."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from streams.memory.lexical import fold

MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
ZH_NUMBER: Final = r"[\d零一二两三四五六七八九十百千万.]+"
DAY: Final = re.compile(
    rf"\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}(?![a-z])"
    r"|\b(?:today|tonight|tomorrow|(?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|the \d{1,2}(?:st|nd|rd|th))\b"
    rf"|\d{{4}}-\d{{2}}-\d{{2}}|{ZH_NUMBER}月(?:{ZH_NUMBER}[日号號]|初|底|中旬|份)?|{ZH_NUMBER}[日号號](?![楼线院])"
    r"|(?:下下?|这|本|上|每)?(?:周|星期|礼拜)[一二三四五六日天]|(?:今|明|后)[天晚早]|(?:月底|月初|年底)"
)
CLOCK: Final = re.compile(
    rf"\b\d{{1,2}}(?:[:.]\d\d)? ?[ap]\.?m\b\.?|(?<![a-z\d.:])\d{{1,2}}:\d\d(?![a-z\d:])"
    r"|\b(?:noon|midnight)\b|\b\d{1,2} o['’]?clock\b"
    rf"|(?:早上|上午|中午|下午|晚上|凌晨|傍晚)?{ZH_NUMBER}[点點](?:半|一刻|{ZH_NUMBER}分?)?"
)
AMOUNT: Final = re.compile(
    rf"{ZH_NUMBER}(?P<zh>块钱?|元|个?人|个|位|公斤|斤|小时|分钟|公里|页|份|间|次|天|周|毫克|片|码|万|平米?"
    r"|杯|根|瓶|包|碗|盒|节|门|场)"
    r"|(?P<sign>[$€£¥￥])\s?\d[\d,.]*\s?(?:k|m|万|千)?\b"
    r"|(?<![\w.:/-])\d[\d,.]*(?:\s?(?:k|million|thousand))?(?: ?(?P<unit>%|[a-z]{1,15}))?(?![\w:/])"
)
_AROUND: Final = re.compile(
    r"(?:\b(?:on|at|the|a|an|of|and|every|each|about|around|max|only|per|month|year|week|day|head|person|night|hour"
    r"|gross|net"
    r"|after tax|in the (?:morning|afternoon|evening)|mornings?|afternoons?|evenings?|nights?)\b|[,.\s~约]"
    r"|[每一]个?(?:月|人|天|年|周)|大概|左右|上午|下午|早上|晚上|中午|钱|元|整)+"
)

_EACH: Final = re.compile(r"[每一]个?(?:月|人|天|年)|的$")


@lru_cache(maxsize=20_000)
def kinds_of(value: str) -> frozenset[str]:
    """The kinds of a value that is nothing but a day, a time or an amount; none when there is more to it."""
    folded = _EACH.sub(" ", fold(value)).strip()
    if re.fullmatch(ZH_NUMBER, folded):
        return frozenset({"number"})
    hits = {"day": DAY.search(folded), "clock": CLOCK.search(folded)}
    kinds = {name for name, hit in hits.items() if hit}
    rest = CLOCK.sub(" ", DAY.sub(" ", folded))
    if not kinds and (amount := AMOUNT.search(folded)) is not None:
        unit = amount["sign"] or amount["unit"] or amount["zh"] or "number"
        kinds = {"money" if unit in _MONEY else unit}
        rest = folded[: amount.start()] + " " + folded[amount.end() :]
    return frozenset(kinds) if kinds and not _AROUND.sub("", rest).strip() else frozenset()


_MONEY: Final = frozenset(
    ["$", "€", "£", "¥", "￥", "euro", "euros", "dollar", "dollars", "pound", "pounds", "元", "块", "块钱", "万"]
)
