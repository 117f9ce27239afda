"""What the clauses of a message do: state something about the speaker, state something else, request, or ask.

"With my shoulder acting up I skip presses—can you swap something in?" states first and asks then: that it ends in a
question mark must not hide what was said before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from streams.memory.look import Looked

_EN_CUT = re.compile(
    # It begins with a class, so that `re` skips all other characters; behind it one look back tells which it was.
    r"[\s,:—–](?:(?<=[—–\n])|(?<=:)\s|(?<=[.!?;]\s)|(?<=\s)(?:-\s|(?=(?:can|could|would|will) you\b))"
    r"|(?<=,)\s(?=(?:can|could|would|will) you\b|(?:what|how|why|which|is|are|any)\b[^,]*\?))"
)
# Without any of these an ASCII text is one clause.
_EN_CUT_CUES = ("\n", "\t", "\r", ": ", ". ", "! ", "? ", "; ", "- ", " you", "?")
_EN_ASKS = re.compile(  # and whatever holds a question mark
    r"^\W*(?:(?:ok|okay|also|and|so|but|please|then|now|or)\W+)*(?:can|could|would|will) (?:you|we|i)\b"
    r"|^\W*(?:what|how|why|which|who|where|is it|are there|any)\b"
)
EN_REQUEST = re.compile(
    r"^\W*(?:(?:ok|okay|thanks|thank you|great|nice|got it|perfect|cool|and|now|also|please|so|then|next|well"
    r"|alright)\b\W*)*"
    r"(?:give|show|write|tell|explain|list|make|create|rewrite|summari[sz]e|generate|add|help|describe|translate"
    r"|continue"
    r"|suggest|provide|compare|find|come up|re-?phrase|do|draft|turn|convert|act|design|use|build|change|improve|expand"
    r"|elaborate|answer|fix|correct|paraphrase|define|calculate|solve|analy[sz]e|ask)\b"
)
_EN_WORD = re.compile(r"\w+")
_EN_FIRST = frozenset(("i", "me", "my", "mine", "myself", "we", "our"))
# The speaker appears only as the one who asks: "I want to understand", "I'm drafting", "I saw".
_EN_ERRAND = Looked(
    r"\bi(?:'d| would)? (?:want|need|like) (?:you|to (?:know|see|ask|understand|learn|make|practice|write|create"
    r"|build|get))\b"
    r"|\bhelp me\b|\bi(?:'m| am) (?:trying|working|writing|looking|polishing|revising|drafting|preparing|building"
    r"|making"
    r"|designing|planning|curious)\b|\b(?:give|show|tell) me\b|\bi have a question|\bi wonder"
    r"|\bi (?:saw|read|heard|noticed|keep seeing)\b"
)
_ZH_CLAUSE = re.compile(r"[^。！？!?；;\n，,：:…]+(?:[。！？!?；;\n，,：:…]|$)")
_ZH_ASKS = re.compile(
    r"[?？]$|(?:吗|呢)\W?$|什么|怎么|哪|为什么|多少|几[个种点]|如何|是不是|有没有|能不能|能否|可不可以|区别"
)
ZH_REQUEST = re.compile(
    r"^\W*(?:(?:那|好|好的|行|嗯|再|然后|继续|可以|明白了?|谢谢|请|麻烦|帮我|顺便)[，,。]?)*(?:你?能不能|你?能否|能|可以|请|帮|给(?![他她它])|写"
    r"|解释|列|翻译|总结|改写|继续|告诉|讲|说说|来[一个]|换|举|用|把|推荐|介绍|分析|生成|设计|扮演)"
    r"|^\W*[这那把][^，。？我]{1,12}(?:帮我|给我|替我)(?=\S)"
)
_LONGEST = 4_000  # characters looked at: what a message is for shows in its first pages


@dataclass(frozen=True, slots=True)
class Clauses:
    """Counts of clauses by what they do."""

    own: int = 0  # statements about the speaker
    other: int = 0  # statements about anything else
    requests: int = 0
    questions: int = 0


@lru_cache(maxsize=16)  # a message is asked about for what it wants and for what it is worth
def clauses(folded: str, lang: str) -> Clauses:
    """`folded`: lower case, straight apostrophes, quotations blanked."""
    return _chinese(folded[:_LONGEST]) if lang == "zh" else _english(folded[:_LONGEST])


def _english(text: str) -> Clauses:
    own = other = requests = questions = 0
    one = text.isascii() and not any(cue in text for cue in _EN_CUT_CUES)
    for clause in (text,) if one else _EN_CUT.split(text):
        if not clause or not clause.strip():
            continue
        if "?" in clause or _EN_ASKS.match(clause):
            questions += 1
        elif EN_REQUEST.match(clause):
            requests += 1
        elif _EN_FIRST.isdisjoint(_EN_WORD.findall(clause)):
            other += 1
        elif _EN_ERRAND.search(clause):
            requests += 1
        else:
            own += 1
    return Clauses(own, other, requests, questions)


def _chinese(text: str) -> Clauses:
    own = other = requests = questions = 0
    for match in _ZH_CLAUSE.finditer(text):
        clause = match.group()
        if _ZH_ASKS.search(clause):
            questions += 1
        elif ZH_REQUEST.match(clause):
            requests += 1
        elif "我" in clause or "咱" in clause:
            own += 1
        else:
            other += 1
    return Clauses(own, other, requests, questions)
