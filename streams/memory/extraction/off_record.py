"""A message that asks not to be kept: nothing of it is remembered, in either layer.

Only an order to whoever listens counts ("don't save this", "别记下来"), about what is said here: "I don't remember this
place" tells something, "don't record over that tape" is about a tape, and 别记错了 asks to remember well.
"""

from __future__ import annotations

from typing import Final

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


def off_record(text: str) -> bool:
    """Whether the message asks that it not be kept.

    >>> off_record("please don't keep this one: I've started seeing a therapist"), off_record("I don't remember this")
    (True, False)
    >>> off_record("跟你说个事，这个不要记下来：我准备提离职"), off_record("这次别记错了")
    (True, False)
    """
    return bool(_EN.search(text) or _ZH.search(text))
