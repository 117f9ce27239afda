"""Is a message without a known slot worth keeping? Signals of wording, each with a weight; their sum decides.

The signals are properties of language (who speaks, statement or request, tense, what is pointed at), never topics.
The weights were fitted by logistic regression on one half of public dialogues and rounded; the sum is a log-odds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streams.memory.extraction.clauses import EN_REQUEST, ZH_REQUEST, Clauses, clauses
from streams.memory.extraction.speakers import without_quotations

_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Worth:
    """`score` above 0 speaks for keeping; `names` are the signals that spoke for it, strongest first."""

    score: float
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Signal:
    name: str
    weight: float
    expression: re.Pattern[str]


def _table(rows: tuple[tuple[str, float, str | re.Pattern[str]], ...]) -> tuple[_Signal, ...]:
    return tuple(_Signal(name, weight, re.compile(expression)) for name, weight, expression in rows)


_BASE = {"en": -2.25, "zh": -1.75}

_ENGLISH = _table((
    # for
    ("about something of one's own", 2.0, r"\b(?:my|mine)\b"),
    ("takes up an answer", 2.0, r"^\W*(?:yes|yeah|yep|yup|right|exactly|correct|sure|no)\b"),
    ("keeps to something", 1.6, r"\b(?:keep|stick (?:to|with)|stay|same (?:as|way|style|tone|format)|(?:as|like) (?:before|last))\b"),
    ("in one's own time", 1.6, r"\b(?:(?:last|next|this) (?:time|night|week|month|year|weekend|morning|evening|\w+day)|yesterday"
     r"|today|tomorrow|tonight|lately|recently|already|these days|again|right now|currently|at the moment)\b"),
    ("points at what was said", 1.2, r"\b(?:that|those|this|these) (?:\S+ ){0,3}(?:thing|bit|part|line|one|stuff|question|note"
     r"|example|story|script|list|plan)\b"),
    ("exactly", 1.2, r"\bexactly\b"),
    ("gives a reason", 1.1, r"\b(?:because|since|so that|so i|cause|so it)\b"),
    ("only", 1.0, r"\b(?:just|only)\b"),
    ("actually", 1.0, r"\b(?:actually|honestly|in fact|basically)\b"),
    ("i am", 0.9, r"\bi(?:'m| am)\b"),
    ("sets right", 0.9, r"\b(?:correction|to clarify|clarif\w+|to be clear|misspoke|i meant|i didn't mean|i said|i mentioned"
     r"|earlier|what i meant|not really|no longer|any ?more|that was)\b"),
    ("own past", 0.9, r"\bi (?:\w+ly )?(?:was|had|did|went|got|bought|made|tried|found|started|finished|took|ran|kept|wrote|put"
     r"|thought|forgot|asked|said|used|moved|\w{2,}ed)\b"),
    ("own circumstances", 0.8, r"\b(?:before|after|while|when|until) i\b"),
    ("i would", 0.8, r"\bi'd\b"),
    ("denies of oneself", 0.7, r"\bi (?:do not|don't|didn't|did not|can't|cannot|haven't|never|won't|wasn't|couldn't)\b|\bi(?:'m| am) not\b"),
    ("accepts", 0.7, r"^\W*(?:ok|okay|alright|hi|hello|hey)\b"),
    ("figure", 0.5, r"\d"),
    ("taste", 0.5, r"\bi(?:'d)? (?:\w+ )?(?:prefer|love|like|hate|enjoy|dislike|rather)\b|\bmy (?:taste|favou?rite|preference)\b"
     r"|\bi'm (?:\w+ )?(?:into|a fan)\b"),
    ("restricts", 0.4, r"\b(?:don't|do not|no|without|instead|rather than|not|avoid|skip|except)\b"),
    ("habit", 0.4, r"\b(?:usually|always|often|never|tend to|used to|every (?:day|morning|night|week|evening|weekend|time)"
     r"|most days|normally|typically|generally|mostly|sometimes)\b"),
    ("under way", 0.3, r"\bi(?:'m| am|'ve been| have been) (?:\w+ ){0,2}?\w+ing\b"),
    ("it is", 0.3, r"\bit's\b|\bthat's\b"),
    ("first person", 0.3, r"\b(?:i|i'm|i've|i'd|i'll|me|myself|we|we're|we've|our)\b"),
    # against
    ("an aside", -1.6, r"\b(?:unrelated|random|quick question|side question|curious|curiosity|trivia|fun fact)\b"
     r"|\bi (?:just )?(?:saw|read|heard|noticed) (?:a|an|that|about|some|in|on)\b"),
    ("one more thing", -1.3, r"(?:^|[.!?]\s*)also\b"),
    ("ends in a question", -1.1, r"\?\W*$"),
    ("very long", -1.1, r"^[\s\S]{1200}"),
    ("thanks and goes on", -0.9, r"^\W*(?:thanks|thank you|great|nice|got it|perfect|cool|interesting|good|makes sense|that helps"
     r"|helpful|love it|awesome)\b"),
    ("asks for any example", -0.8, r"\b(?:an?|any|some|one|two|three|another|one more) (?:\w+ ){0,3}(?:example|sample|tips?|way"
     r"|version|line|sentence|ideas?|options?|paragraph|template|rule|question|metaphor|variants?|alternative|title|name|word"
     r"|phrase)s?\b"),
    ("very short", -0.7, r"^\W*(?:\S+\s+){0,4}\S*$"),
    ("orders a text", -0.6, r"\b(?:the following|based on|in the style|step by step|in detail|\d+ words|essay|article|code|function"
     r"|write an?)\b"),
    ("opens with a request", -0.5, EN_REQUEST),
    ("supposes", -0.5, r"^\W*(?:if|suppose|imagine|let's say)\b"),
    ("long", -0.5, r"^[\s\S]{400}"),
    ("wants help", -0.4, r"\bhelp me\b|\bi (?:want|need|would like|'d like) (?:you|to (?:know|see|ask|understand|learn|make sure))\b"),
    ("opinion", -0.3, r"\bi (?:think|guess|feel|believe|know|hope|wonder)\b"),
    ("a list", -0.3, r"(?m)^\s*(?:[-*•]|\d+[.)])\s"),
    ("about the assistant", -0.3, r"\byour\b"),
))  # fmt: skip

_CHINESE = _table((
    # for
    ("states", 0.9, r"[。！.!…~～]\W*$|[\u4e00-\u9fff]$"),
    ("settles", 0.9, r"就"),
    ("takes up an answer", 0.9, r"^\W*(?:对|是的|没错|嗯)[，,。]"),
    ("own place", 0.8, r"手里|手上|家里|公司|单位|学校|桌|柜|屋|楼下|我这"),
    ("sets right", 0.75, r"其实|更正|纠正|澄清|说错|记错|改一下|不是.{0,25}(?:而是|是)|严格来说|别(?:当真|误会|记|把)|之前(?:说|那|我|的)"
     r"|刚才(?:那|说|我|你)|刚刚|上次|前面(?:那|说)|我的意思|只是"),
    ("tells at length", 0.7, r"，[^，]*，"),
    ("under way", 0.7, r"我[^，。？]{0,8}(?:在|正|准备|打算|已经|刚|要|想把)"),
    ("happened", 0.6, r"了(?=[，。；！\s]|$)|过(?=[，。；！]|$)|着"),
    ("own people", 0.5, r"老婆|老公|妈|爸|孩子|娃|儿子|女儿|同事|朋友|同学|老师|领导|客户|对象"),
    ("denies of oneself", 0.5, r"我[^，。？]{0,6}(?:不|没|别)"),
    ("keeps to something", 0.45, r"按|照|像.{0,6}那样|还是|跟.{0,8}一样"),
    ("first person", 0.4, r"我(?!们)"),
    ("in one's own time", 0.3, r"今天|今晚|明天|昨天|昨晚|[这下上]周|这次|最近|现在|刚|这[两几]天|[下上]个月|今年|去年|周末|回头|待会|等会"),
    ("taste", 0.2, r"喜欢|讨厌|偏好|更想|更喜|倾向|不太?想|受不了|爱[吃看喝玩]|想要|宁愿"),
    # against
    ("asks", -1.0, r"[?？]"),
    ("an aside", -0.9, r"顺便问|冷知识|随便|题外话|好奇|看到(?:一|有|新闻|个)|听说|无关"),
    ("ends in a question", -0.8, r"[?？]\W*$|(?:吗|呢|么)\W*$"),
    ("asks in general", -0.8, r"一般|通常|比如|如果|怎么|是什么|有什么|区别|为什么|哪些|哪种|常见"),
    ("opens with a request", -0.8, ZH_REQUEST),
    ("asks for any example", -0.7, r"一个|一段|一句|一些|几个|三个|两个|一种|一版|例子|版本|模板|示例"),
    ("supposes", -0.4, r"^\W*(?:那|但)?如果"),
    ("asks to be given", -0.2, r"给我|帮我|告诉我|举[个一]|来[一个]段?|推荐"),
))  # fmt: skip


def fold(text: str) -> str:
    """Lower case, straight apostrophes, what others said (in quotation marks) blanked out."""
    return without_quotations(text[:_LONGEST].replace("’", "'")).lower()


def worth(text: str, lang: str) -> Worth:
    """How much a message, or one sentence of it, looks like something to remember."""
    folded = fold(text)
    shown = [(s.weight, s.name) for s in (_CHINESE if lang == "zh" else _ENGLISH) if s.expression.search(folded)]
    shown += _of_clauses(clauses(folded, lang), lang)
    total = _BASE[lang] + sum(weight for weight, _ in shown)
    return Worth(total, tuple(name for weight, name in sorted(shown, reverse=True) if weight > 0))


def _of_clauses(found: Clauses, lang: str) -> list[tuple[float, str]]:
    if lang == "zh":
        weighted = (
            (0.4, "tells of oneself", found.own >= 1), (0.8, "tells of oneself twice", found.own >= 2),
            (0.35, "tells of oneself more", found.own >= 3), (0.5, "states facts", found.other >= 2),
            (-0.5, "requests", found.requests >= 1), (0.2, "asks", found.questions >= 1),
        )  # fmt: skip
    else:
        weighted = (
            (0.9, "tells of oneself", found.own >= 1), (0.8, "tells of oneself twice", found.own >= 2),
            (-0.5, "tells at length", found.own >= 3), (0.8, "states facts", found.other >= 1),
            (-0.5, "requests", found.requests >= 1), (-0.7, "asks", found.questions >= 1),
        )  # fmt: skip
    return [(weight, name) for weight, name, holds in weighted if holds]
