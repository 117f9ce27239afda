"""What a clause speaks of when its values, its words of change and what says nothing of either are taken out.

English as stems, Chinese as stretches of characters: a stretch is found again when it can be put together from parts of
two characters or more. So nothing has to know where a word of Chinese ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from streams.memory.settle.wording import content_terms

MOVED: Final = (
    r"(?:moved?|pushed|postponed|rescheduled|rebooked|brought|extended|delayed|slipped|shifted|changed|switched"
    r"|raised|upped|increased|bumped|lowered|cut|reduced|dropped|gone|went|came|rose|fell|grew|grown|shrunk|put|set"
    r"|upgraded|downgraded|renamed|replaced|swapped|traded|handed|transferred|migrated)"
)
_CHANGE_EN: Final = re.compile(
    rf"\b{MOVED}\b|\b(?:up|down) to\b|\bfrom (?:now|here|today|next \w+|this \w+)(?: on)?\b|\bas of \w+\b"
    r"|\b(?:now|nowadays|these days|no longer|instead|any ?more|going forward|after all|already)\b"
)
_CHANGE_ZH: Final = re.compile(
    r"改(?:签|约|点|期|时间)?[到至成为在]?"
    r"|[推延挪调换转搬拖移涨降升加减提缩砍瘦胖长变][迟后期长整缓动高低到]*[到至成为去了]"
    r"|现在|如今|目前|以后|今后|从.{1,6}起"
)
_BESIDE_EN: Final = re.compile(
    r"\b(?:go|goes|have|has|had|take|takes|do|does|get|gets|mornings?|noon|afternoons?|evenings?|nights?"
    r"|days?|dates?|times?|hours?|weeks?|months?|years?|today|tonight|yesterday|finally|just|only|currently"
    r"|around|about|roughly|per|every|each|till|until|officially|back|forward|early|earlier|late|later|due|planned"
    r"|scheduled|booked|fixed|got|next|from|starting|our|my|the)\b"
)
_BESIDE_ZH: Final = re.compile(
    r"我们?|咱们?|你|了|的|在|把|被|是|有|会|要|就|都|已经|已|只|才|全部?|每(?:个|天|周|月|年|次)?|大概|大约"
    r"|早上|早晨|上午|中午|下午|傍晚|晚上|左右|差不多|定|安排|时间|日期|最近|终于|由|给|跟|和|从|起|为|到|至|于|那边|这边"
)
# Who changed it stands before the thing.
_AGENT_EN: Final = re.compile(rf"^.*?\b{MOVED} (?:up |back |forward )?(?=(?:the|our|my)\b)")
_AGENT_ZH: Final = re.compile(
    r"^[^，]{0,5}把|^(?:他们|公司|老板|领导|房东|对方|老师|医院|医生|客服)(?:那边)?(?:给我|给|说|通知)?"
)
# Units that tell how much, not of what.
_MEASURE: Final = re.compile(
    r"(?:kg|kilos?|kilograms?|grams?|g|mg|lbs?|pounds?|euros?|dollars?|km|miles?|metres?|meters?|minutes?|mins?|hours?"
    r"|hrs?|gb|mb|tb|percent|%|k|days?|weeks?|months?|years?)$"
)
CHINESE: Final = re.compile(r"[\u4e00-\u9fff]+")
_LEAST: Final = 2


def says_change(clause: str) -> bool:
    return bool(_CHANGE_EN.search(clause) or _CHANGE_ZH.search(clause))


def things(clause: str) -> frozenset[str]:
    """Of a folded clause without its values."""
    rest = _BESIDE_EN.sub(" ", _CHANGE_EN.sub(" ", _AGENT_EN.sub(" ", clause)))
    rest = _BESIDE_ZH.sub(" ", _CHANGE_ZH.sub(" ", _AGENT_ZH.sub(" ", rest)))
    return plain(rest)


def plain(rest: str) -> frozenset[str]:
    """Stems and stretches of what is left of a clause."""
    stems = {term for term in content_terms(rest) if term.isascii() and not _MEASURE.match(term)}
    return frozenset(stems.union(CHINESE.findall(rest)))


def missing(these: Iterable[str], there: Iterable[str]) -> tuple[str, ...]:
    """What of `these` is not found in `there`: stems, and the characters of stretches that are left over."""
    known = frozenset(there)
    text = " ".join(known)
    stems = (word for word in these if word.isascii() and word not in known)
    rests = (_rest(word, text) for word in these if not word.isascii())
    return (*stems, *(rest for rest in rests if rest))


def _rest(stretch: str, text: str) -> str:
    if stretch in text:
        return ""
    at, left = 0, []
    while at < len(stretch):
        end = len(stretch)
        while end - at >= _LEAST and stretch[at:end] not in text:
            end -= 1
        if end - at >= _LEAST:
            at = end
        else:
            left.append(stretch[at])
            at += 1
    return "".join(left)


def size(left: Iterable[str]) -> int:
    """How much is left over, in words; three characters of Chinese count as one."""
    words = list(left)
    chinese = sum(len(word) for word in words if not word.isascii())
    return sum(word.isascii() for word in words) + -(-chinese // 3)
