"""Importance of a fact from 1 to 5, from the signals that docs/extending.md lists."""

from __future__ import annotations

from streams.memory.extraction.cued import Cued

# A standing rule is what every later answer has to obey.
STANDING = Cued(
    "now forward default rule whenever every future ever always never remember",
    r"\b(?:from now on(?!,? (?:i\b|i['’]|you(?: are| will be|['’]re)))|going forward\b|by default\b|as a rule\b"
    r"|whenever (?:you|i)\b|every time (?:you|i)\b"
    r"|for (?:all )?future \w+|don['’]?t ever\b|in future,)"
    r"|(?:^|[.!?;,—–-]\s*|\b(?:please|and|but|should|must) )(?:always|never) (?!been\b|had\b|been\b|mind\b|again\b"
    r"|the\b|so\b|as\b)\w+"
    r"|\b(?:please )?remember(?: that)? (?:i\b|i['’]|my\b|this\b)"
    r"|(?:[以今往][后後]|[从從][现現]在起|[从從]今(?:天|往[后後]))(?!的)|每次都|一律|默[认認](?:用|按|是|就)"
    r"|请?(?:帮我)?记(?:住|得)(?!了)|[别別]再|不要再|都按(?:[这這]|此)",
)
_STRONG = Cued(
    "must critical crucial essential important absolutely strictly severe severely serious seriously deadly "
    "urgent emergency never stand hate love priority negotiable",
    r"\b(?:must|critical|crucial|essential|important|absolutely|strictly|severe(?:ly)?|serious(?:ly)?|deadly"
    r"|urgent|emergency|never|can['’]?t stand|hate"
    r"|love|top priority|non-negotiable)\b|必须|一定要|千万|绝对|严重|致命|重要|紧急|关键|特别|非常|最|绝不",
)
_WEAK = Cued(
    "maybe perhaps might sort kind bit slightly sometimes occasionally now once time sure",
    r"\b(?:maybe|perhaps|might|sort of|kind of|a bit|slightly|sometimes|occasionally|for now|just this once"
    r"|this time|not sure)\b"
    r"|可能|也许|大概|有点|偶尔|有时|暂时|这次|不太确定|好像",
)


def importance(base: int, sentence: str, *, correction: bool = False) -> float:
    """`base` is the slot's; a standing rule is 5; strong words and corrections add one, hedges take one.

    >>> importance(3, "I might try it"), importance(3, "from now on answer in French")
    (2.0, 5.0)
    """
    if STANDING.search(sentence):
        return 5.0
    score = base + (1 if correction or _STRONG.search(sentence) else 0) - (1 if _WEAK.search(sentence) else 0)
    return float(min(5, max(1, score)))
