"""Orders for one time: "double the garlic this time" tells the assistant what to do now and nothing of later.

Only short ones that say nothing else: "don't use bullets this time" tells against what the assistant did before.
"""

from __future__ import annotations

import re

from streams.memory.extraction.cued import Cued
from streams.memory.extraction.importance import STANDING

_EN_ONCE = Cued(
    "time once now today tonight",
    r"\b(?:this time(?: (?:around|round))?|(?:just |only )?this once|just for (?:now|today|tonight))\b",
)
# A bare verb, then what it is done to: "cut the salt", "leave out onions", "make it spicier".
_EN_ORDER = re.compile(
    r"\W*(?:(?:please|ok(?:ay)?|and|but|so|then|now|just|also|maybe|this time|(?:can|could|would) you)\W+)*"
    r"(?!(?:the|an?|my|our|your|his|her|their|its?|i|we|you|he|she|they|this|that|these|those|there|not?|never|always"
    r"|all|only|had|was|is|are|got|went|came|took|made|left|found|kept|told|keep|avoid|do|[a-z]+(?:s|ed|ing))\b)"
    r"[a-z]{2,} (?:(?:the|an?|it|them|me|us|this|that|these|those|in|out|up|down|off|on|with|more|less|fewer|twice"
    r"|half)\b|\w+er\b)",
    re.IGNORECASE,
)
_EN_MORE = re.compile(r"[,;:—–]|n['’]t\b|\b(?:not|no|because|since|so)\b", re.IGNORECASE)
_EN_WORDS = 9
_ZH_ORDER = re.compile(
    r"\W*(?:那|就|先|只|今天|今晚)*(?:请|麻烦|你|帮我|给我|替我)*(?:把|将)?[^，,。我们咱不别]{0,6}?(?:这次|这回|这一次)"
    r"(?:请|你|帮我|就|先|只)*(?:多|少|用|放|加|减|换|改|写|做|按|来)[^，,。我们咱了]{1,10}\W*$"
)


def one_off(text: str) -> bool:
    """Whether a sentence only orders something for this time.

    >>> one_off("Double the garlic this time."), one_off("The audit is in May this time."), one_off("这次多放点蒜")
    (True, False, True)
    """
    if STANDING.search(text):
        return False
    if not text.isascii() and _ZH_ORDER.match(text):
        return True
    if not _EN_ONCE.search(text) or len(text.split()) > _EN_WORDS or _EN_MORE.search(text):
        return False
    return _EN_ORDER.match(text) is not None
