"""Is a message without a known slot worth keeping? Signals of wording, each with a weight; their sum decides.

The signals are properties of language (who speaks, statement or request, tense, what is pointed at), never topics.
The weights were fitted by logistic regression on one half of public dialogues and rounded; the sum is a log-odds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from streams.memory.extraction.clauses import EN_REQUEST, ZH_REQUEST, Clauses, clauses
from streams.memory.extraction.speakers import without_quotations
from streams.memory.look import Look

_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Worth:
    """`score` above 0 speaks for keeping; `names` are the signals that spoke for it, strongest first."""

    score: float
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Signal:
    """Shown when one of its words occurs (any text when it has none) and `find`, if any, finds something."""

    name: str
    weight: float
    find: Callable[[str], object | None] | None


def _finder(compiled: re.Pattern[str]) -> Callable[[str], object | None]:
    """One that is anchored to the beginning is not looked for at every place."""
    return compiled.match if compiled.pattern.startswith(("^", r"\A")) else compiled.search


class _Table:
    """Signals in order. The words of a text and one look for all expressions tell which expressions to run."""

    def __init__(self, rows: tuple[tuple[str, float, str | None, str | re.Pattern[str] | None], ...]) -> None:
        self.expressions = tuple(re.compile(e or "") for _, _, _, e in rows)
        self._signals = tuple(
            _Signal(name, weight, _finder(e) if e.pattern else None)
            for (name, weight, _, _), e in zip(rows, self.expressions, strict=True)
        )
        self._always = frozenset(place for place, (_, _, words, _) in enumerate(rows) if not words)
        # Only what a word may rule out is worth a look, not what is tried on every text.
        self._looked = [place for place, e in enumerate(self.expressions) if e.pattern and place not in self._always]
        self._look = Look(*(self.expressions[place] for place in self._looked))
        self._plain = frozenset(range(len(rows))) - set(self._looked)
        self._by_word: dict[str, set[int]] = {}
        for place, (_, _, words, _) in enumerate(rows):
            for word in (words or "").split():
                self._by_word.setdefault(word, set()).add(place)

    def shown(self, folded: str) -> list[tuple[float, str]]:
        places = set(self._always)
        for word in _WORD.findall(folded):
            places |= self._by_word.get(word, _NONE)
        may = self._plain.union([self._looked[at] for at in self._look.which(folded)])
        tried = (self._signals[place] for place in sorted(places & may))
        return [(s.weight, s.name) for s in tried if s.find is None or s.find(folded) is not None]


_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_NONE: frozenset[int] = frozenset()
_BASE = {"en": -2.25, "zh": -2.2}

_ENGLISH = _Table((
    # for
    ("about something of one's own", 2.0, "my mine", None),
    ("takes up an answer", 2.0, "yes yeah yep yup right exactly correct sure no",
     r"^\W*(?:yes|yeah|yep|yup|right|exactly|correct|sure|no)\b"),
    ("keeps to something", 1.6, "keep stick stay same before last",
     r"\b(?:keep|stick (?:to|with)|stay|same (?:as|way|style|tone|format)|(?:as|like) (?:before|last))\b"),
    ("in one's own time", 1.6, "last next this yesterday today tomorrow tonight lately recently already days again "
                               "now currently moment",
     r"\b(?:(?:last|next|this) (?:time|night|week|month|year|weekend|morning|evening|\w+day)|yesterday|today"
     r"|tomorrow|tonight"
     r"|lately|recently|already|these days|again|right now|currently|at the moment)\b"),
    ("points at what was said", 1.2, "that those this these",
     r"\b(?:that|those|this|these) (?:\S+ ){0,3}(?:thing|bit|part|line|one|stuff|question|note|example|story"
     r"|script|list|plan)\b"),
    ("exactly", 1.2, "exactly", None),
    ("gives a reason", 1.1, "because since so cause", r"\b(?:because|since|so that|so i|cause|so it)\b"),
    ("only", 1.0, "just only", None),
    ("actually", 1.0, "actually honestly fact basically", r"\b(?:actually|honestly|in fact|basically)\b"),
    ("i am", 0.9, "i i'm", r"\bi(?:'m| am)\b"),
    ("sets right", 0.9, "correction clarify clarification clarifying clear misspoke meant mean said mentioned "
                        "earlier really longer more anymore that",
     r"\b(?:correction|to clarify|clarif\w+|to be clear|misspoke|i meant|i didn't mean|i said|i mentioned|earlier"
     r"|what i meant"
     r"|not really|no longer|any ?more|that was)\b"),
    ("own past", 0.9, "i", r"\bi (?:\w+ly )?(?:was|had|did|went|got|bought|made|tried|found|started|finished|took"
                           r"|ran|kept|wrote|put"
     r"|thought|forgot|asked|said|used|moved|\w{2,}ed)\b"),
    ("own circumstances", 0.8, "before after while when until", r"\b(?:before|after|while|when|until) i\b"),
    ("i would", 0.8, "i'd", None),
    ("denies of oneself", 0.7, "i i'm",
     r"\bi (?:do not|don't|didn't|did not|can't|cannot|haven't|never|won't|wasn't|couldn't)\b|\bi(?:'m| am) not\b"),
    ("accepts", 0.7, "ok okay alright hi hello hey", r"^\W*(?:ok|okay|alright|hi|hello|hey)\b"),
    ("figure", 0.5, None, r"\d"),
    ("taste", 0.5, "prefer love like hate enjoy dislike rather taste favorite favourite preference into fan",
     r"\bi(?:'d)? (?:\w+ )?(?:prefer|love|like|hate|enjoy|dislike|rather)\b|\bmy (?:taste|favou?rite|preference)\b"
     r"|\bi'm (?:\w+ )?(?:into|a fan)\b"),
    ("restricts", 0.4, "don't no without instead rather not avoid skip except", r"\b(?:don't|no|without|instead"
        r"|rather than|not|avoid|skip|except)\b"),
    ("habit", 0.4, "usually always often never tend used every most normally typically generally mostly sometimes",
     r"\b(?:usually|always|often|never|tend to|used to|every (?:day|morning|night|week|evening|weekend|time)"
     r"|most days|normally"
     r"|typically|generally|mostly|sometimes)\b"),
    ("under way", 0.3, "i i'm i've", r"\bi(?:'m| am|'ve been| have been) (?:\w+ ){0,2}?\w+ing\b"),
    ("it is", 0.3, "it's that's", None),
    ("first person", 0.3, "i i'm i've i'd i'll me myself we we're we've our", None),
    # against
    ("an aside", -1.6, "unrelated random quick side curious curiosity trivia fun saw read heard noticed",
     r"\b(?:unrelated|random|quick question|side question|curious|curiosity|trivia|fun fact)\b"
     r"|\bi (?:just )?(?:saw|read|heard|noticed) (?:a|an|that|about|some|in|on)\b"),
    ("one more thing", -1.3, "also", r"(?:^|[.!?]\s*)also\b"),
    ("ends in a question", -1.1, None, r"\?\W{0,12}\Z"),
    ("very long", -1.6, None, r"\A[\s\S]{1200}"),
    ("thanks and goes on", -0.9,
     "thanks thank great nice got perfect cool interesting good makes that helpful love awesome",
     r"\A\W*(?:thanks|thank you|great|nice|got it|perfect|cool|interesting|good|makes sense|that helps|helpful|love it"
     r"|awesome)\b"),
    ("asks for any example", -0.8, "a an any some one two three another",
     r"\b(?:an?|any|some|one|two|three|another|one more) (?:\w+ ){0,3}(?:example|sample|tips?|way|version|line"
     r"|sentence|ideas?"
     r"|options?|paragraph|template|rule|question|metaphor|variants?|alternative|title|name|word|phrase)s?\b"),
    ("very short", -0.7, None, r"\A\W*(?:\S+\s+){0,4}\S*\Z"),
    ("orders a text", -0.6, "following based style step detail words essay article code function write",
     r"\b(?:the following|based on|in the style|step by step|in detail|\d+ words|essay|article|code|function"
     r"|write an?)\b"),
    ("opens with a request", -0.5,
     "give show write tell explain list make create rewrite summarise summarize generate add help describe translate "
     "continue suggest provide compare find come rephrase phrase do draft turn convert act design use build change "
     "improve expand elaborate answer fix correct paraphrase define calculate solve analyse analyze ask", EN_REQUEST),
    ("supposes", -0.5, "if suppose imagine let's", r"\A\W*(?:if|suppose|imagine|let's say)\b"),
    ("long", -1.2, None, r"\A[\s\S]{330}"),
    ("wants help", -0.4, "help want need like",
     r"\bhelp me\b|\bi(?:'d| would)? (?:want|need|like) (?:you|to (?:know|see|ask|understand|learn|make sure))\b"),
    ("opinion", -0.3, "think guess feel believe know hope wonder", r"\bi (?:think|guess|feel|believe|know|hope"
        r"|wonder)\b"),
    ("a list", -0.3, None, r"(?m)^[^\S\n]*(?:[-*•]|\d+[.)])\s"),
    ("about the assistant", -0.3, "your", None),
))  # fmt: skip

_CHINESE = _Table((
    # for
    ("states", 0.9, None, r"[。！.!…~～]\W{0,12}$|[\u4e00-\u9fff]$"),
    ("settles", 0.9, None, r"就"),
    ("takes up an answer", 0.9, None, r"^\W*(?:对|是的|没错|嗯)[，,。]"),
    ("own place", 0.8, None, r"手里|手上|家里|公司|单位|学校|桌|柜|屋|楼下|我这"),
    ("sets right", 0.75, None, r"其实|更正|纠正|澄清|说错|记错|改一下|不是.{0,25}(?:而是|是)|严格来说|别(?:当真"
                               r"|误会|记|把)|之前(?:说|那|我|的)"
     r"|刚才(?:那|说|我|你)|刚刚|上次|前面(?:那|说)|我的意思|只是"),
    ("tells at length", 0.7, None, r"，[^，]*，"),
    ("under way", 0.7, None, r"我[^，。？]{0,8}(?:在|正|准备|打算|已经|刚|要|想把)"),
    ("happened", 0.6, None, r"了(?=[，。；！\s]|$)|过(?=[，。；！]|$)|着"),
    ("own people", 0.5, None, r"老婆|老公|妈|爸|孩子|娃|儿子|女儿|同事|朋友|同学|老师|领导|客户|对象"),
    ("denies of oneself", 0.5, None, r"我[^，。？]{0,6}(?:不|没|别)"),
    ("keeps to something", 0.45, None, r"按|照|像.{0,6}那样|还是|跟.{0,8}一样"),
    ("first person", 0.4, None, r"我(?!们)"),
    ("in one's own time", 0.3, None, r"今天|今晚|明天|昨天|昨晚|[这下上]周|这次|最近|现在|刚|这[两几]天|[下上]个月"
                                     r"|今年|去年|周末|回头|待会|等会"),
    ("taste", 0.2, None, r"喜欢|讨厌|偏好|更想|更喜|倾向|不太?想|受不了|爱[吃看喝玩]|想要|宁愿"),
    # against
    ("asks", -1.0, None, r"[?？]"),
    ("an aside", -0.9, None, r"顺便问|冷知识|随便|题外话|好奇|看到(?:一|有|新闻|个)|听说|无关"),
    ("ends in a question", -0.8, None, r"[?？]\W{0,12}$|(?:吗|呢|么)\W{0,12}$"),
    ("asks in general", -0.8, None, r"一般|通常|比如|如果|怎么|是什么|有什么|区别|为什么|哪些|哪种|常见"),
    ("opens with a request", -0.8, None, ZH_REQUEST),
    ("asks for any example", -0.7, None, r"一个|一段|一句|一些|几个|三个|两个|一种|一版|例子|版本|模板|示例"),
    ("supposes", -0.4, None, r"^\W*(?:那|但)?如果"),
    ("asks to be given", -0.2, None, r"给我|帮我|告诉我|举[个一]|来[一个]段?|推荐"),
))  # fmt: skip


_SHORT = 200  # characters
_ONLY_STATES = 1.0  # not fitted: a message that asks for nothing tells something to be known


def fold(text: str) -> str:
    """Lower case, straight apostrophes, what others said (in quotation marks) blanked out."""
    return without_quotations(text[:_LONGEST].replace("’", "'")).lower()


def worth(text: str, lang: str) -> Worth:
    """How much a message, or one sentence of it, looks like something to remember."""
    folded = fold(text)
    table = _CHINESE if lang == "zh" else _ENGLISH
    shown = table.shown(folded)
    shown += _of_clauses(clauses(folded, lang), lang, len(text) <= _SHORT)
    total = _BASE[lang] + sum(weight for weight, _ in shown)
    return Worth(total, tuple(name for weight, name in sorted(shown, reverse=True) if weight > 0))


def _of_clauses(found: Clauses, lang: str, short: bool) -> list[tuple[float, str]]:
    if lang == "zh":
        weighted = (
            (0.4, "tells of oneself", found.own >= 1), (0.8, "tells of oneself twice", found.own >= 2),
            (0.35, "tells of oneself more", found.own >= 3), (0.5, "states facts", found.other >= 2),
            (-0.5, "requests", found.requests >= 1), (0.2, "asks", found.questions >= 1),
            (_ONLY_STATES, "only states", short and found.own >= 1 and not found.requests and not found.questions),
        )  # fmt: skip
    else:
        weighted = (
            (0.9, "tells of oneself", found.own >= 1), (0.8, "tells of oneself twice", found.own >= 2),
            (-0.5, "tells at length", found.own >= 3), (0.8, "states facts", found.other >= 1),
            (-0.5, "requests", found.requests >= 1), (-0.7, "asks", found.questions >= 1),
            (_ONLY_STATES, "only states", short and found.own >= 1 and not found.requests and not found.questions),
        )  # fmt: skip
    return [(weight, name) for weight, name, holds in weighted if holds]
