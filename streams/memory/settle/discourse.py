"""Does a text take back what its speaker said before? Read off how it speaks about the earlier statement.

Four properties of a correction, in English and Chinese; none of them is about a topic:
names    it says that it is one ("correction", "I misspoke", "更正", "口误")
refers   it points at something said earlier ("I said", "that X thing", "上次我说", "那句")
denies   it denies, or says that it no longer holds ("I'm not", "no longer", "其实不", "不再")
narrows  it takes the scope back ("I only meant", "just for that one", "只是", "随口")
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from streams.memory.lexical import fold

_NAMES_EN: Final = (
    r"\b(?:corrections?|correct (?:that|this|something|myself|what|the|my)|clarif(?:y|ication|ying)|"
    r"misspoke|mis-?stated|"
    r"mis-?typed|mistyped|(?:i|that) (?:was|were) (?:wrong|mistaken|joking|kidding|sarcastic|exaggerat\w+|"
    r"not (?:right|true|accurate))|"
    r"(?:got|put|said) (?:that|it|this) wrong|change of (?:plans?|heart|mind)|changed my mind|"
    r"scratch that|my mistake|"
    r"(?:was|were|am|is|i'm) (?:just |only |mostly |kind of )?(?:a )?(?:joke|joking|kidding|"
    r"being sarcastic|exaggerating|messing around)|"
    r"take (?:that|it) back|on second thought|not quite right|isn't (?:quite )?(?:right|true|accurate)|"
    r"to be clear|update (?:to|on) (?:what|that|my))\b"
)
_NAMES_ZH: Final = (
    r"更正|纠正|糾正|澄清|说错|說錯|口误|口誤|记错|記錯|搞错|弄错|写错|打错|搞混|记混|改(?:一)?下|修正|改主意|改口|开玩笑|開玩笑|玩笑话|气话|氣話|"
    r"口嗨|随口|隨口|瞎说|胡说|夸张|说重了|不算数|不准确|不太准确|不太对|不是真的|误会|誤會|误解|誤解|收回|别当真|别再?记|別再?記"
)
_REFERS_EN: Final = (
    r"\b(?:earlier|before|previously|last time|the other day|back then|in (?:my|that|the) (?:last|"
    r"previous|earlier|first) \w+|"
    r"i (?:\w+ )?(?:said|wrote|mentioned|told you|asked|called|put|listed|described|brought up|kept calling)|"
    r"(?:what|when|where) i (?:\w+ )?(?:said|wrote|meant|mentioned|asked)|i (?:only |just )?meant|"
    r"(?:that|this|the) (?:[\w'’“”\"-]+ ){0,5}(?:thing|bit|part|line|comment|message|request|question|"
    r"example|note|stuff|phase)|about (?:what|that|the|my)|"
    r"you (?:\w+ )?(?:said|assumed|noted|wrote|saved|remembered|have me|put me))\b"
)
_REFERS_ZH: Final = (
    r"(?:上次|上回|之前|以前|刚才|刚刚|剛才|剛剛|前面|先前|早先|那天|当时|當時|一开始|刚开始|最初|原来|原先|嗰陣|头先)"
    r"|我(?:\S{0,4})?(?:说的|说过|说|提的|提到|写的|讲的|問|问的|問的|講)(?:那|这|「|“|‘|\"|：|:)?|那(?:句|个|段|次|条)|你(?:别|不要|老|總|"
    r"总)?(?:\S{0,3})(?:记成|写成|当成|以为|记|理解)"
)
_DENIES_EN: Final = (
    r"\b(?:i'm not|i am not|i wasn't|we're not|it's not|it isn't|it wasn't|that's not|that isn't|"
    r"that wasn't|isn't|aren't|"
    r"i (?:\w+ )?(?:don't|do not|didn't|did not|haven't|won't|can't|never)|don't (?:\w+ )?(?:assume|treat|"
    r"want|need|use|add|make|take|save|include|list)|"
    r"no longer|not (?:\w+ ){0,2}any ?more|not really|not actually|anymore|instead|rather than|these days i|"
    r"i've (?:stopped|switched|moved|changed|quit|dropped|given up)|turns out|ended up|"
    r"not \w+(?: \w+){0,4}[,;—-]+ ?(?:but|it's|just))\b|\bactually\b|\bin fact\b"
)
_DENIES_ZH: Final = (
    r"其实|其實|并不|並不|并没|並沒|不是|不算|不再|不用|不要|不想|不打算|不准备|不需要|不喜欢|没有|沒有|唔係|唔使|没那么|不一定|不太|不怎么|"
    r"换成|换掉|改成|改为|改用|改到|改去|而是|反而|别再|別再|已经不|现在不|取消|放弃|戒了|恢复|后来|後來|严格来说|实际上|事实上|未必"
)
_NARROWS_EN: Final = (
    r"\b(?:i (?:just|only)|(?:just|only) (?:meant|for|because|asked|wanted|needed|as|an?|in|said|used|"
    r"when|applies|about)|"
    r"(?:was|is|were|it's|that's|that was) (?:just|only|more of|more like|purely|mainly)|for someone else|"
    r"one-off|one off|temporary|placeholder|hypothetical\w*|as (?:a test|an example)|"
    r"not (?:always|in general|necessarily|across the board|a (?:general|permanent|standing|strict|"
    r"hard) \w+)|unless)\b"
)
_NARROWS_ZH: Final = (
    r"只是|只针对|仅针对|只想|只限|不过是|顶多|頂多|临时|暂时|一时|代问|帮(?:同事|朋友|别人)|举(?:的)?例|例子|测试|假设|设定|剧情|场景|"
    r"那(?:一)?次|仅限|不代表|不等于|不是长期|不是固定|不算"
)


def _any(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


_NAMES: Final = (_any(_NAMES_EN), _any(_NAMES_ZH))
_REFERS: Final = (_any(_REFERS_EN), _any(_REFERS_ZH))
_DENIES: Final = (_any(_DENIES_EN), _any(_DENIES_ZH))
_NARROWS: Final = (_any(_NARROWS_EN), _any(_NARROWS_ZH))


@dataclass(frozen=True, slots=True)
class Discourse:
    names: bool
    refers: bool
    denies: bool
    narrows: bool

    @property
    def corrects(self) -> bool:
        """Two of the properties together, or the name of the act."""
        return self.names or (self.denies and (self.refers or self.narrows)) or (self.refers and self.narrows)


def _hit(expressions: tuple[re.Pattern[str], ...], text: str) -> bool:
    return any(expression.search(text) for expression in expressions)


@lru_cache(maxsize=20_000)
def discourse(text: str) -> Discourse:
    folded = fold(text).replace("’", "'").replace("*", "")
    return Discourse(
        names=_hit(_NAMES, folded),
        refers=_hit(_REFERS, folded),
        denies=_hit(_DENIES, folded),
        narrows=_hit(_NARROWS, folded),
    )
