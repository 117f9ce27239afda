"""Somebody who is now something else to the user: a girlfriend whom they have married, a colleague who leads them now.

Only the statement that names who it is ("my girlfriend is Emma") is replaced; what is told of Emma stands.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from schemas.memory import MemoryRecord
from streams.memory.lexical import fold

_COURTED_EN: Final = r"(?:girlfriend|boyfriend|fianc[eé]{1,2}|partner)"
_COURTED_ZH: Final = r"(?:女朋友|男朋友|女友|男友|对象|未婚[妻夫])"
_WED_EN: Final = r"(?:wife|husband|fianc[eé]{1,2}|ex(?:-\w+)?)"
_WED_ZH: Final = r"(?:老婆|妻子|太太|媳妇|爱人|老公|丈夫|未婚[妻夫]|前(?:女友|男友|任))"
_OFFICE_EN: Final = r"(?:colleague|co-?worker|boss|manager|supervisor|lead|flatmate|roommate|neighbou?r|landlord)"
_OFFICE_ZH: Final = r"(?:同事|老板|领导|上司|经理|室友|邻居|房东)"
_COURTED: Final = re.compile(rf"^(?:my )?{_COURTED_EN}$|^我?的?{_COURTED_ZH}$")
_OFFICE: Final = re.compile(rf"^(?:my )?{_OFFICE_EN}$|^我?的?{_OFFICE_ZH}$")
_OPEN: Final = re.compile(
    r"\b(?:will|would|want\w*|hop\w+|plan\w*|going to|next|soon|if|might|maybe|should|not|never|\w+n['’]t|almost)\b|\?"
    r"|想|打算|准备|计划|将|明年|下个?月|快|要|没|不|可能|如果|希望|？|吗"
)
_SHORTEST: Final = 2


_TELLS: Final = re.compile(
    rf"\b(?:married|engaged|tied the knot|broke up|split up|divorced)\b|\bmy (?:new )?{_WED_EN}\b"
    rf"|\bmy {_OFFICE_EN} now\b|\bnow my {_OFFICE_EN}\b"
    rf"|领证|结婚|订婚|登记|分手|离婚|我的?{_WED_ZH}|是我们?的?{_OFFICE_ZH}"
)


def may_tell(text: str) -> bool:
    """Does it say that somebody is something to the user that they may not have been before?"""
    return bool(_TELLS.search(fold(text)))


def became(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Does the newer one say that whom the older one names is something else to the user now?"""
    name = fold(old.value or "").strip()
    if len(name) < _SHORTEST or old.role != "user" or new.role != "user" or old.polarity == "negative":
        return False
    said = fold(new.content)
    if name not in said:
        return False
    # "My girlfriend is called Emma" has her as its subject, "my girlfriend is Emma" as its attribute.
    role = fold((old.subject if old.attribute == "name" else old.attribute) or "").strip()
    married, office = _now(name)
    if _COURTED.match(role):
        told = married.search(said)
    else:
        told = office.search(said) if _OFFICE.match(role) else None
    return told is not None and not _OPEN.search(told.group())


@lru_cache(maxsize=1_000)
def _now(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    who = rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name)
    both = rf"(?:{who} and (?:i|me)|(?:i|me|we) and {who})"
    married = re.compile(
        rf"{both}(?: [\w’']+){{0,3}} (?:married|engaged|tied the knot|broke up|split up|divorced)\b"
        rf"|{who}(?: is|['’]s)(?: \w+){{0,2}} my {_WED_EN}\b|\bi (?:just |finally )?married {who}"
        rf"|\bmy (?:new )?{_WED_EN}(?: is|,)? {who}"
        rf"|我们?[和跟与]{who}[^,，。]{{0,8}}(?:领证|结婚|订婚|登记|分手|离婚)|{who}[^。]{{0,12}}?[是成](?:了|为)?我的?{_WED_ZH}"
        rf"|我的?{_WED_ZH}(?:就是|是|叫)?{who}"
    )
    office = re.compile(
        rf"{who}(?: is|['’]s) (?:now my {_OFFICE_EN}|my {_OFFICE_EN} now)\b"
        rf"|{who}(?:[^。,，]{{0,8}}(?:现在|升)[^。]{{0,8}})是我们?的?{_OFFICE_ZH}"
    )
    return married, office
