"""A message that asks not to be kept: nothing of it is remembered, in either layer.

Only an order to whoever listens counts ("don't save this", "别记下来"), about what is said here: "I don't remember this
place" tells something, "don't record over that tape" is about a tape, and 别记错了 asks to remember well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from schemas import Message, RedactedEvent
from streams.memory.extraction.cued import Cued

_THIS_EN: Final = (
    r"(?:(?:any|all|some) of )?(?:this|that|these|what i(?:['’]m| am| just)? (?:say|said|saying|told you)"
    r"|(?:this|that|my last|the next|the last) (?:one|part|bit|message|conversation|chat|thing))"
)
_ENDS_EN: Final = (
    r"(?: (?:please|pls|ok(?:ay)?|down|anywhere|either|to (?:your |the )?memory|in (?:your |the )?memory))*"
)
_ORDER_EN: Final = r"(?:^|[.,;:!?()—–-]|\b(?:please|pls|and|but|so|just|can you|could you|also))\s*"
_DONT_EN: Final = rf"{_ORDER_EN}(?:please |pls |just )?(?:don['’]?t|do not|never|not) "
_EN: Final = Cued(
    "save store remember memorise memorize log note record write keep",
    rf"{_DONT_EN}(?:(?:save|store|remember|memori[sz]e|log|note|record|write) {_THIS_EN}"
    r"|keep (?:(?:this|that) (?:one|part|bit|message|conversation|chat)"
    r"|(?:a )?(?:record|note|track) of (?:this|that|it)))"
    rf"{_ENDS_EN}(?=\s*(?:$|[.,;:!?()—–\n-]))"
    # "It" may be anything, so long as more is said.
    rf"|{_DONT_EN}(?:save|store|remember|log|note|record) it"
    r"(?: please| pls)?(?=\W*$)"
    rf"|{_ORDER_EN}(?:please |pls |just )?(?:don['’]?t|do not) keep (?:this|that)(?=\s*:)"
    # Said of the message itself.
    r"|(?:^|[.,;:!?()—–-])\s*(?:this (?:is|one['’]?s|one is|stays) )?(?:strictly )?off the record\b",
)
_THIS_ZH: Final = r"[这這它](?:[个個条條句段些件])?(?:话|話|事情?|消息|内容|內容|对话|對話)?"
_ZH: Final = Cued(
    "",
    # The order begins its clause, or what it is about is "this": 合同不用保存 is about a contract.
    rf"(?:^|[，。！？；：、,.!?;:～~（）()\n\s]|{_THIS_ZH}|(?:下面|以下|上面|刚才|剛才)(?:[说說]?的)?(?:话|話|内容|內容|消息)?)"
    r"\s*(?:你|就|请|請|也|先|麻烦|千万)*"
    r"(?:不要|别|別|不用|不必|无需|勿)(?:帮我|幫我|给我|給我|替我|再|去)?"
    rf"(?:[把将]{_THIS_ZH}(?:给)?)?"
    r"(?:[记記](?:下[来來]?|住|[录錄](?:下[来來])?)?|保存(?:下[来來])?|存下[来來]|存档|存檔|[记記]到[记記][忆憶]里|[写寫放][进進][记記][忆憶])"
    rf"(?:{_THIS_ZH}|我的?[^，。！？；：,.!?;:\n]{{1,8}}(?=[：:]))?(?:啊|哦|哈|吧|了|啦|呀|就行|就好|好吗|可以吗)*"
    r"(?=\s*(?:$|[，。！？；：、,.!?;:～~（）()\n]))",
)


# Said of what was said before.
_BEFORE_EN: Final = (
    r"(?:what i(?:['’]ve| have)? just (?:said|told you|wrote|sent|mentioned|typed)"
    r"|(?:my|the|that) (?:last|previous) (?:one|message|line|sentence|part|bit|thing)|the message before(?: this)?)"
)
_BACK_EN: Final = Cued(
    "save store remember memorise memorize log note record keep write",
    rf"{_DONT_EN}(?:save|store|remember|memori[sz]e|log|note|record|keep|write down) {_BEFORE_EN}\b",
)
_BEFORE_ZH: Final = (
    r"(?:我?(?:刚才|刚刚|刚|剛才|剛剛|上面|前面)(?:[说說发發讲]的?)?(?:[那这這][句条條段些个個]|[句条條段])?|上一[句条條段]|上[条條]|前一[句条條段])"
    r"(?:话|話|消息|内容|內容|事情?)?"
)
_KEEP_ZH: Final = r"(?:[记記](?:下[来來]?|住|[录錄](?:下[来來])?)?|保存(?:下[来來])?|存(?:下[来來]|档|檔)?)"
_NO_ZH: Final = r"(?:你|就|请|請|也|先|麻烦|千万)*(?:不要|别|別|不用|不必|勿)(?:帮我|幫我|给我|給我|替我|再|去)?"
_BACK_ZH: Final = Cued(
    "",
    rf"{_BEFORE_ZH}{_NO_ZH}(?:[把将]它)?{_KEEP_ZH}(?!错|錯)|{_NO_ZH}(?:[把将]{_BEFORE_ZH}{_KEEP_ZH}|{_KEEP_ZH}{_BEFORE_ZH})",
)


_TOKEN: Final = re.compile(r"[a-z'’]+|[\u4e00-\u9fff]", re.IGNORECASE)
_MANNERS: Final = 3  # words or characters: "oh, sorry", 对了


def on_record(event: RedactedEvent) -> RedactedEvent:
    """The event with nothing in the place of those of the user's messages that the next one asks not to keep ("don't
    save what I just said", 刚才那句别记). Of earlier events nothing is known here."""
    unsaid = _unsaid(event.messages)
    if not unsaid:
        return event
    kept = (m.model_copy(update={"text": ""}) if at in unsaid else m for at, m in enumerate(event.messages))
    return event.model_copy(update={"messages": tuple(kept)})


def _unsaid(messages: Sequence[Message]) -> frozenset[int]:
    """Places of the messages that the user's next one takes off the record."""
    own = [at for at, message in enumerate(messages) if message.role == "user"]
    return frozenset(before for before, at in pairwise(own) if points_before(messages[at].text))


def points_before(text: str) -> bool:
    """Whether a message asks not to keep the one before it.

    >>> points_before("Please don't save what I just said."), points_before("刚才那句别记"), points_before("别记这个")
    (True, True, False)
    """
    order = _BACK_EN.search(text) or _BACK_ZH.search(text)
    # With more before the order, it is that which was just said.
    return order is not None and len(_TOKEN.findall(text[: order.start()])) <= _MANNERS


def off_record(text: str) -> bool:
    """Whether the message asks that it not be kept.

    >>> off_record("please don't keep this one: I've started seeing a therapist"), off_record("I don't remember this")
    (True, False)
    >>> off_record("跟你说个事，这个不要记下来：我准备提离职"), off_record("这次别记错了")
    (True, False)
    """
    return any(order.search(text) for order in (_EN, _ZH, _BACK_EN, _BACK_ZH))
