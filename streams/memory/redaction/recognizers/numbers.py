"""Digits that belong together, whatever people put between them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from streams.memory.look import Looked

# Anything but letters may stand between two digits of a number; so may a word that says "and it goes on".
_BETWEEN = r"(?:(?!\ufffc)[\W_]){0,6}"
_GOES_ON = (
    r"(?:and then|then|and|followed by|after that|next|plus|dash|space|dot|the rest is|ending(?: in| with)?|"
    r"然后是?|接着是?|接下来是?|再是?|再来|后面(?:再?是|跟着?|接)?|跟着|后[三四五六七八]位是?|中间是?|最后是?|"
    r"加上?|杠|横杠|空格|点)"
)
_RUN = re.compile(
    rf"[0-9](?:{_BETWEEN}(?:{_GOES_ON}{_BETWEEN})?[0-9])*",
    re.IGNORECASE,
)


_DIGITS = tuple("0123456789")


@dataclass(frozen=True, slots=True)
class Run:
    """A longest chain of digits: `at[i]` is the position of `digits[i]`, `groups` are the indices where one starts."""

    digits: str
    at: list[int]
    groups: list[int]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Positions of digits[first:last]."""
        return self.at[first], self.at[last - 1] + 1

    def windows(self, shortest: int, longest: int) -> Iterator[tuple[int, int]]:
        """Every chain of whole groups of `shortest` to `longest` digits, as (first, last)."""
        bounds = [*self.groups, len(self.digits)]
        for i, first in enumerate(self.groups):
            for last in bounds[i + 1 : i + 1 + longest]:
                if last - first > longest:
                    break
                if last - first >= shortest:
                    yield first, last

    def sizes(self, first: int, last: int) -> tuple[int, ...]:
        """How many digits the groups of a window have: (4, 4, 4, 4)."""
        bounds = [*self.groups[bisect_left(self.groups, first) : bisect_left(self.groups, last)], last]
        return tuple(b - a for a, b in pairwise(bounds))


def runs(text: str, shortest: int) -> Iterator[Run]:
    """The runs of at least `shortest` digits, ascending."""
    if sum(map(text.count, _DIGITS)) < shortest:
        return
    for found in _RUN.finditer(text):
        if found.end() - found.start() < shortest:
            continue
        start = found.start()
        piece = found.group()
        at = [start + i for i, char in enumerate(piece) if "0" <= char <= "9"]
        if len(at) < shortest:
            continue
        groups = [i for i in range(len(at)) if i == 0 or at[i] != at[i - 1] + 1]
        yield Run("".join(text[i] for i in at), at, groups)


_LETTER = re.compile(r"[A-Za-z0-9]")


def stands_alone(text: str, start: int, end: int) -> bool:
    """No ASCII letter or digit touches the span: "ABC4111" is a product, not a number."""
    return not (start > 0 and _LETTER.match(text[start - 1])) and not (end < len(text) and _LETTER.match(text[end]))


# What is called one of these is no phone and no card, however it adds up.
OTHER_NUMBER = Looked(
    r"(?:订单|单号|运单|快递|物流|流水|工号|学号|群号|群|编号|编码|发票|邮编|序列号|型号|批次|条码|房间|版本|端口|"
    r"坐标|经纬度|金额|价格|合同|任务|"
    r"时间戳|雪花|商品|产品|货号|案号|书号|期号|积分|专利|申请|许可|uid|isbn|issn|"
    r"order|tracking|invoice|serial|sku|ticket|reference|ref|version|build|commit|timestamp|snowflake|upc|ean|"
    r"transaction|request|trace|session|job|task|part|model|product|item|lot|batch|case|zip|port|ts|id)"
    r"(?:号码|号|码|id|no|num(?:ber)?|ids?)?(?:[\s:：#=.\-\"'(（]|是|为|is|was|no|number|num|id){0,8}$",
    re.IGNORECASE,
)
