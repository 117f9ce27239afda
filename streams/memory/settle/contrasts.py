"""Words that keep two near statements apart, because embeddings hardly see them: a few closed classes.

People by their role and colours; pairs of opposites; what is meant against what is so; whose matter it is; and the
order of the two sides of a comparison.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from streams.memory.lexical import fold, stem

# The words of one line name one person.
_PEOPLE: Final = """
mother mum mom mama 妈妈 母亲
father dad papa 爸爸 父亲
sister
brother
姐姐
妹妹
哥哥
弟弟
daughter 女儿
son 儿子
wife 妻子 老婆 太太
husband 丈夫 老公
grandmother grandma granny 奶奶 外婆 姥姥
grandfather grandpa granddad 爷爷 外公 姥爷
uncle 叔叔 舅舅
aunt 阿姨 姑姑
cousin
nephew
niece
girlfriend 女朋友 女友
boyfriend 男朋友 男友
boss manager 老板 上司
colleague coworker 同事
neighbour neighbor 邻居
teacher 老师
friend 朋友
roommate flatmate 室友
client customer 客户
landlord 房东
"""
_COLOURS: Final = """
red 红
blue 蓝
green 绿
yellow 黄色
white 白色
black 黑色
brown 棕
grey gray 灰色
pink 粉色
purple violet 紫
orange 橙
"""
_OPPOSITES: Final = """
left/right early/late short/long big/small large/small tall/short high/low hot/cold warm/cold old/young old/new
open/close begin/end start/finish buy/sell buy/rent lend/borrow give/receive read/write teach/learn win/lose find/lose
strict/relaxed cheap/expensive easy/difficult easy/hard fast/slow quick/slow light/dark light/heavy black/white
sweet/salty sweet/sour wet/dry full/empty rich/poor noisy/quiet loud/quiet morning/evening day/night morning/night
summer/winter indoor/outdoor inside/outside before/after with/without more/less most/least upper/lower first/last
front/back north/south east/west formal/informal formal/casual single/married wedding/funeral wedding/divorce
birth/death raw/cooked public/private online/offline male/female man/woman boy/girl import/export arrive/leave
accept/reject
左/右 早/晚 大/小 长/短 高/低 热/冷 买/卖 买/租 借给/向 新/旧
老/新 贵/便宜 快/慢 前/后 上午/下午 白天/晚上 夏天/冬天 男/女
甜/咸 辣/清淡 室内/室外 线上/线下 结婚/离婚 开始/结束 安静/热闹 上班/下班
"""


def _term(word: str) -> str:
    return stem(word) if word.isascii() else word


_KINDS: Final = tuple(
    tuple(tuple(_term(name) for name in line.split()) for line in kind.strip().splitlines())
    for kind in (_PEOPLE, _COLOURS)
)
_PAIRS: Final = tuple(tuple(_term(side) for side in entry.split("/")) for entry in _OPPOSITES.split())
_FRAME: Final = (
    r"^\W*(?:(?:the )?(?:user|client|customer)s?\b|i\b|we\b)?"
    r"(?:\W*(?:m|am|is|are|was|has|have|had|been|also|still|\w+ly)\b)*\W*"
)
_MEANT: Final = re.compile(
    _FRAME + r"(?:want(?:s|ed|ing)?|wish(?:es)?|hop(?:es?|ing)|plan(?:s|ning|ned)?|intend(?:s|ing)?|consider(?:s|ing)|"
    r"(?:\w+ )?interest(?:ed)?|curious|look(?:s|ing) (?:for|to)|seek(?:s|ing)|thinking (?:of|about)|would like|"
    r"dream(?:s|ing) of|going to|aspir(?:es|ing)|trying to|about to)\b|"
    r"^[^，。；]{0,6}(?:(?<!不)想|打算|准备|计划|希望|考虑|感兴趣|在找)"
)
# How a statement begins that says what is so. A note that only names something ("Data scientist") says neither.
_IS_SO: Final = re.compile(
    r"^\W*(?:(?:the )?(?:user|client|customer)\b)?(?:\W*(?:also|still|\w+ly)\b)*\W*"
    r"(?:(?:is|was|has|had|can)\b|(?:i|we) \w+\b|\w+ed\b|\w{2,}s\b(?! (?:where|who|with|of|about)\b)|"
    r"\w+ (?:an?|the|my|their) )|[是会在了过做]"
)
# A wish and a taste are often one: "wants short answers", "prefers short answers".
_ATTITUDE: Final = re.compile(
    r"\b(?:prefer\w*|lik(?:es?|ed)|enjoy\w*|lov(?:es?|ed)|request\w*|ask(?:s|ed|ing)?|need\w*|requir\w*|favou?r\w*|"
    r"appreciat\w*|desir\w*|aim\w*|fan|fond|keen|into|motivated|would|should|must|avoid\w*|dislik\w*|hat(?:es?|ed)|"
    r"want\w*|interest\w*|hop(?:es?|ing)|goal|feel\w*|believ\w*|please)\b|喜欢|喜歡|偏好|需要|要求|爱|请|讨厌|希望|想"
)
_TASTE: Final = re.compile(r"\b(?:interest(?:ed)?|curio\w+|likes?|enjoys?|fan of|loves?)\b|感兴趣|兴趣|喜欢|爱好")
_GOAL: Final = re.compile(r"\b(?:goals?|ambitions?|aspirations?|career plans?)\b|目标|志向|职业规划")
_COMPARES: Final = re.compile(r"\b(?:over|than|to|from|instead of)\b|多过|胜过|甚于|比|也不|而不是")
_ONESELF: Final = re.compile(r"^\W*(?:(?:i|we|(?:the )?user) (?!has\b|have\b|had\b)|(?:我|用户)(?!的|有))")
_SOMEONE: Final = re.compile(
    r"^\W*(?:(?:my|his|her|their|our) |我的?)(?:" + "|".join(name for names in _KINDS[0] for name in names) + ")"
)
_EN_WORD: Final = re.compile(r"[a-z]+")


@lru_cache(maxsize=20_000)
def _stems(folded: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _EN_WORD.findall(folded))


def _said(term: str, folded: str) -> bool:
    return term in _stems(folded) if term.isascii() else term in folded


@lru_cache(maxsize=20_000)
def _named(folded: str) -> tuple[frozenset[int], ...]:
    """The people and the colours that a text speaks of, as numbers of lines."""
    return tuple(
        frozenset(at for at, names in enumerate(kind) if any(_said(name, folded) for name in names)) for kind in _KINDS
    )


@lru_cache(maxsize=20_000)
def _sides(folded: str) -> frozenset[tuple[int, int]]:
    """The sides of pairs of opposites of which a text has one and not the other."""
    found = ((at, [side for side, term in enumerate(both) if _said(term, folded)]) for at, both in enumerate(_PAIRS))
    return frozenset((at, sides[0]) for at, sides in found if len(sides) == 1)


def contrast(old: str, new: str) -> str | None:
    """What keeps two statements apart, in words; None when nothing of this kind does."""
    one, other = fold(old), fold(new)
    if any(mine - theirs and theirs - mine for mine, theirs in zip(_named(one), _named(other), strict=True)):
        return "they speak of different people or colours"
    opposites = _sides(one)
    if any((at, 1 - side) in opposites for at, side in _sides(other)):
        return "a word of one is the opposite of a word of the other"
    for this, that in ((one, other), (other, one)):
        if _SOMEONE.match(this) and _ONESELF.match(that):
            return "one is about oneself"
        if _MEANT.search(this) and _is_so(that):
            return "one is meant, the other is so"
        if _GOAL.search(this) and _TASTE.search(that) and not (_GOAL.search(that) or _TASTE.search(this)):
            return "one is a goal, the other a taste"
    if _turned(one, other):
        return "the two sides are exchanged"
    return None


def _is_so(folded: str) -> bool:
    """Is it said as a fact, not as a wish, a plan or a taste?"""
    return bool(_IS_SO.search(folded)) and not _MEANT.search(folded) and not _ATTITUDE.search(folded)


def _turned(one: str, other: str) -> bool:
    """The same words in another order, with a word between that tells the two sides apart."""
    if not (_COMPARES.search(one) and _COMPARES.search(other)):
        return False
    mine, theirs = ([c for c in text if c.isalnum()] for text in (one, other))
    return mine != theirs and sorted(mine) == sorted(theirs)
