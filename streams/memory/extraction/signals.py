"""Is a sentence without a known slot worth keeping? Signals of wording, each with a weight; their sum decides.

The signals are properties of language (who speaks, assertion or request, tense, durable or one-off), never topics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signal:
    name: str
    weight: float
    expression: re.Pattern[str]


def _signals(rows: tuple[tuple[str, float, str], ...]) -> tuple[Signal, ...]:
    return tuple(Signal(name, weight, re.compile(expression, re.IGNORECASE)) for name, weight, expression in rows)


THRESHOLD = 1.0

_ENGLISH = _signals((
    ("first person", 0.5, r"\b(?:i|i['’]m|i['’]ve|i['’]d|i['’]ll|me|myself|we|we['’]re)\b"),
    ("my", 0.5, r"\b(?:my|mine|our)\b"),
    ("question", -2.0, r"\?\W*$"),
    ("request opening", -1.5, r"^\W*(?:(?:ok|okay|thanks|great|nice|and|now|also|please|so|then|next|well)\W+)*(?:can|could|would|will) (?:you|we)\b|^\W*(?:please |now |then )*(?:give|show|write|tell|explain|list|make|create|rewrite|summarize|generate|add|help|describe|translate|continue|suggest|provide|compare|find|come up|rephrase|do|draft|turn|convert)\b"),
    ("want from the assistant", -1.0, r"\bi (?:want|need|would like|['’]d like) (?:you|to (?:know|see|ask|understand|learn))\b|\bhelp me\b|\bi(?:['’]m| am) (?:trying|looking) to (?:understand|learn|figure|find)"),
    ("correction", 2.0, r"\b(?:correction|correct (?:that|myself|something)|to clarify|clarif\w+|just to be clear|to be clear|i (?:misspoke|mis-?typed|meant)|what i meant|i didn['’]t mean|earlier i|when i said|i said earlier|that was (?:just|only)|not really|no longer|not any ?more)\b"),
    ("actually", 1.0, r"\bactually\b|\bin fact\b|\bto be honest\b|\bhonestly\b"),
    ("negated self", 1.0, r"\bi(?:['’]m not| am not| don['’]t| do not| didn['’]t| can['’]t| cannot| haven['’]t| never| won['’]t)\b"),
    ("agreement with substance", 0.5, r"^\W*(?:yes|yeah|yep|right|exactly|correct)\b"),
    ("durable", 1.0, r"\b(?:usually|always|often|never|prefer|love|hate|like to|enjoy|tend to|used to|every (?:day|morning|night|week|evening|weekend)|most days|these days|lately|keep \w+ing|habit)\b"),
    ("progress", 0.5, r"\bi(?:['’]m| am|['’]ve been| have been) (?:\w+ ){0,2}\w+ing\b|\bi['’]ve\b"),
    ("past", 0.5, r"\bi (?:\w+ )?(?:was|had|did|went|got|bought|made|tried|found|started|finished|took|saw|\w{3,}ed)\b"),
))  # fmt: skip

_CHINESE = _signals((
    ("first person", 0.7, r"我|咱|本人"),
    ("question", -2.0, r"[?？]\W*$|吗[。！]?$|呢[。]?$"),
    ("request opening", -1.5, r"^\W*(?:(?:那|好|好的|行|嗯|再|然后)[，,]?)*(?:请|帮我|帮忙|给我|给出|写|解释|列|翻译|总结|改写|继续|你能|能不能|可以|麻烦|告诉我|讲|说说|来一|换)"),
    ("want from the assistant", -0.5, r"我想(?:问|知道|了解|把|要|做|让|用|找)|帮我|给我"),
    ("correction", 2.0, r"其实|更正|纠正|澄清|说错|记错|改一下|不是.{0,20}(?:而是|是)|严格来说|别(?:当真|误会|记)|之前(?:说|那)|刚才(?:那|说)|上次(?:我|你|那)|我前面|我的意思"),
    ("negated self", 0.7, r"我.{0,6}(?:不|没)"),
    ("agreement with substance", 0.5, r"^\W*(?:对|是的|没错|嗯)[，,]"),
    ("durable", 1.0, r"平时|一般|通常|总是?|经常|每天|每周|习惯|喜欢|讨厌|偏好|更想|一直|从小|最近|越来越"),
    ("progress", 0.5, r"我.{0,8}(?:在|正在|准备|打算|已经|刚)"),
))  # fmt: skip


def signals(sentence: str, lang: str) -> list[Signal]:
    """The signals that a sentence shows, in the order of the table."""
    table = _CHINESE if lang == "zh" else _ENGLISH
    return [signal for signal in table if signal.expression.search(sentence)]


def score(found: list[Signal]) -> float:
    return sum(signal.weight for signal in found)
