"""What goes with a secret that drops its sentence: all of it, but for clauses that certainly tell something else.

Coarse on purpose: a comma alone never saves a part of a secret's sentence. Chat has sentences without any punctuation
("my pin is 4821 and i moved to Leeds last week"), so a clause stays if it begins with a subject of its own and nothing
in it could belong to the secret.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set

# A full stop ends a sentence before white space only: "1.5", "a.b@c.de" and "v2.1" go on.
_END = re.compile(r"[。！？!?；;…]+[\"'”’）)】\]]*|\.(?=\s|$)|\n+")
_CJK = r"\u3400-\u9fff"
_SUBJECT = re.compile(
    rf"(?:i|we|he|she|they|my|our)(?:['’][a-z]{{1,2}})?\s+[a-z]{{2}}|[我咱他她][{_CJK}]{{3}}", re.IGNORECASE
)
# What links two clauses, before a subject. Without any word only where a secret of ASCII characters has just ended.
_LINK = re.compile(
    # From its first blank on: a search that may begin at each one takes quadratic time in a run of them.
    rf"(?:(?:[,，]|(?<!\s))\s+(?:and|but|so|because)|[,，])\s+(?={_SUBJECT.pattern})"
    rf"|(?<=[!-~])\s+(?=i(?:['’][a-z]{{1,2}})?\s+[a-z]{{2}})"
    rf"|(?:[，,]\s*|(?<=[!-~])\s*|(?<=[{_CJK}])\s+)(?=[我咱他她][{_CJK}]{{3}}|(?:登[录陆]|支付)?(?:密码|验证码|口令|卡号|银行卡))",
    re.IGNORECASE,
)
# A clause with any of these may say the secret again, in part or another one.
_MAY_BELONG = re.compile(
    r"\d|[!#$%&*+/:<=>@\\^_`{|}~\"'“”「」\[\]()（）：](?!(?:m|s|t|ve|re|ll|d)\b)|[零〇一二两三四五六七八九幺壹贰叁肆伍陆柒捌玖]{2}"
    # letters one by one, but for "a" and "I"
    r"|\b[b-hj-z]\b(?<!['’].)"
    r"|\b(?:it|its|that|this|these|those|one|ones|other|another|second|too|also|same|new|old|backup|mean|meant"
    r"|wait|sorry|correct|wrong|actually|instead|change[ds]?|letters?|digits?|numbers?|words?|capital|followed|then|plus"
    r"|zero|two|three|four|five|six|seven|eight|nine|oh|dash|dot|underscore|hash|pass\w*|pwd|pins?|codes?|keys?|tokens?|secrets?|login\w*|log"
    r"|cards?|cvv|account|unlock\w*|opens?|use[ds]?|using|typ(?:e[ds]?|ing)|enter\w*|put|say|said|call|spell\w*)\b"
    # Whose thing it is, or has: the next secret may be told so ("and my hulu is sunflower").
    r"|\A\s*(?:my|our)\b(?! (?:wife|husband|partner|girlfriend|boyfriend|sister|brother|m[uo]m|dad|mother|father|son"
    r"|daughter|boss|manager)\b)|\b(?:has|have|had|got|pick\w*|chose|knows?)\b|是"
    r"|[码碼密钥鑰]|口令|暗号|[它这這那另][个個]?|也|还|還|同样|一样|前面|后面|加上|然后|就是|其实|不对|错|改|换|用|输|按|填|登|卡|号|號|位|数字|字母|大写|小写|拼",
    re.IGNORECASE,
)
_WORDS = re.compile(rf"[A-Za-z]+|[{_CJK}]")
_FEWEST_WORDS = 4
_PIECE = 3  # characters of a secret that no clause beside it may hold
# Where a secret ends is certain when it is one word with something in it that no other word has.
_ONE_WORD = re.compile(r"(?=[!-~]*[^A-Za-z'\-.,])[!-~]+")

Span = tuple[int, int]


def widen(text: str, spans: Iterable[Span]) -> list[tuple[int, int, int]]:
    """What goes with the spans, merged where it touches: (start, end, number of sentences) ascending.

    Ends inside a span don't count: a password may contain "!" and a key has lines. The white space around stays, so
    that what is left keeps its paragraphs. Linear in the text, however long its sentences are.
    """
    out: list[tuple[int, int, int]] = []
    for first, last, inside in _sentences(text, spans):
        for n, (start, end) in enumerate(_clauses(text, first, last, inside)):
            count = 1 if n == 0 else 0
            if out and start <= out[-1][1]:
                out[-1] = (out[-1][0], end, out[-1][2] + count)
            else:
                out.append((start, end, count))
    return out


def _sentences(text: str, spans: Iterable[Span]) -> Iterator[tuple[int, int, list[Span]]]:
    """The sentences that hold the spans, each with its own."""
    ends = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    at = 0
    held: tuple[int, int, list[Span]] | None = None
    for start, end in sorted(spans):
        while at + 1 < len(ends) and ends[at + 1] <= start:
            at += 1
        stop = at
        while stop + 1 < len(ends) and ends[stop] < end:
            stop += 1
        if held and ends[at] < held[1]:
            held[2].append((start, end))
            held = (held[0], max(held[1], ends[stop]), held[2])
            continue
        if held:
            yield held
        held = (ends[at], ends[stop], [(start, end)])
    if held:
        yield held


def _clauses(text: str, first: int, last: int, inside: Sequence[Span]) -> Iterator[Span]:
    """The parts of a sentence to drop, without the white space around them. `inside`: ascending, never overlapping."""
    links: list[Span] = []
    if all(_ONE_WORD.fullmatch(text, *span) for span in inside):
        links = [link.span() for link in _LINK.finditer(text, first, last) if not _touches(link.span(), inside)]
    starts = [first, *(end for _, end in links)]
    ends = [*(start for start, _ in links), last]
    pieces = _pieces(text[slice(*span)] for span in inside) if links else frozenset()
    kept = [
        (start, end)
        for start, end in zip(starts, ends, strict=True)
        if not _touches((start, end), inside) and _tells_something_else(text[start:end].strip(), pieces)
    ]
    position = first
    for start, end in [*kept, (last, last)]:
        dropped = text[position:start]
        if dropped.strip():
            yield position + len(dropped) - len(dropped.lstrip()), start - (len(dropped) - len(dropped.rstrip()))
        position = end


def _touches(stretch: Span, spans: Sequence[Span]) -> bool:
    """Whether one of the spans, ascending and never overlapping, has a character in a stretch."""
    before_end = bisect_left(spans, stretch[1], key=lambda span: span[0])
    return before_end > 0 and spans[before_end - 1][1] > stretch[0]


def _tells_something_else(clause: str, pieces: Set[str]) -> bool:
    """`pieces`: of the secrets beside the clause; it may hold none of them."""
    return (
        _SUBJECT.match(clause) is not None
        and _MAY_BELONG.search(clause) is None
        and len(_WORDS.findall(clause)) >= _FEWEST_WORDS
        and _pieces([clause]).isdisjoint(pieces)
    )


def _pieces(texts: Iterable[str]) -> frozenset[str]:
    folded = map(str.casefold, texts)
    return frozenset(text[n : n + _PIECE] for text in folded for n in range(len(text) - _PIECE + 1))
