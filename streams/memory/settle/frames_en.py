"""English clauses that give one thing a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from streams.memory.settle.frame import NEW, Frame
from streams.memory.settle.single import sole
from streams.memory.settle.values import kinds_of
from streams.memory.settle.wording import content_terms

_NOW: Final = "now|currently|these days|nowadays"
_FROM_NOW: Final = (
    rf"(?:{_NOW}|(?:from )?(?:now|here|today|this \w+) on(?:wards)?|going forward|as of (?:\w+ ?){{1,3}}"
    rf"|since (?:last )?\w+"
    r"|starting (?:\w+ ?){1,2}|from \w+(?: on)?|at the moment|instead)"
)
_TITLE: Final = r"(?-i:Mrs?|Ms|Dr|Prof|Professor|Frau|Herr|Mme|Se[ñn]ora?)\.? "
_NAME: Final = (
    rf"(?:(?:the|an?) )?(?:{_TITLE})?(?-i:[ie]?[A-Z\d])[\w.+#&'-]*(?: (?-i:(?:of |the |de "
    rf"|van )?[A-Z\d])[\w.+#&'-]*){{0,3}}"
    r"(?: (?:hotel|inn|hostel|school|gym|café|cafe|restaurant|clinic|hospital|bank|studio|library))?"
)
_END: Final = rf"(?:,? (?P<now9>{_FROM_NOW}))?[.!]*$"
_BE: Final = {"is": ("is",), "are": ("are",), "will be": ("is",), "'s": ("is",), "is called": ("is", "called"),
              "is named": ("is", "called"), "are called": ("are", "called"), "runs on": ("use",), "run on": ("use",),
              "uses": ("use",), "use": ("use",), "is hosted on": ("at",), "is deployed on": ("at",),
              "lives in": ("live",), "live in": ("live",), "works at": ("work",), "works for": ("work",),
              "work at": ("work",), "work for": ("work",), "starts": ("start",), "begins": ("start",), "ends": ("end",),
              "opens": ("start",), "closes": ("end",)}  # fmt: skip
_IS: Final = re.compile(
    r"^(?:\w+ing \w+ )?(?P<topic>(?:(?:my|our|the) |[A-Z][\w-]*'s )?[\w'-]+(?: [\w'/-]+){0,6}?)"
    rf"(?: (?P<now1>{_NOW}))?(?P<verb> (?:is called|is named|are called|will be|is hosted on|is deployed on|runs? on"
    r"|uses?|lives? in|works? (?:at|for)|starts|begins|ends|opens|closes|is|are)|'s(?= ))"
    rf"(?: (?P<now2>{_NOW}))? (?P<value>.+?){_END}",
    re.IGNORECASE,
)
# "Raj is my manager now", "Mei owns the backend from here on", "I report to Raj".
_IS_MINE: Final = re.compile(
    rf"^(?P<value>{_NAME})(?: is|'s)(?: (?P<now1>now))? (?:my|our) (?P<topic>[\w' -]{{2,30}}?){_END}", re.IGNORECASE
)
_LOOKS_AFTER: Final = re.compile(
    rf"^(?P<value>{_NAME})(?: (?P<now1>now|currently))? (?:handles|runs|owns|leads|manages|maintains|covers|looks after"
    r"|takes care of|took over|has taken over|is (?:now )?(?:in charge of|responsible for|leading|running|handling))"
    rf" (?P<topic>(?:the|our|my|all) [\w' -]{{2,40}}?){_END}",
    re.IGNORECASE,
)
_REPORT: Final = re.compile(
    rf"^(?:I|we)(?: (?P<now1>now))? (?P<topic>report) (?:directly )?to (?P<value>{_NAME}){_END}", re.IGNORECASE
)
# "I drive a Skoda", "I'm reading Emma": of the first one has one, of the second maybe several.
_STEADY: Final = (
    r"drive|earn|weigh|bank with|(?:am |'m )on the|(?:am |'m )in (?:team|group|apartment|flat|room|class)"
    r"|(?:do|get|buy) (?:my|our|the) \w+ at"
)
_DOING: Final = re.compile(
    rf"^(?:I|we)(?:(?: (?P<now1>{_NOW}))? |(?='(?:m|re) ))(?P<topic>{_STEADY}|(?:am |'m )?(?:read|watch|learn|study"
    rf"|play)(?:ing)?"
    rf"|(?:am |'m )?train(?:ing)? (?:at|for|with)|(?:am |'m )?work(?:ing)? (?:at|for)|swim at|climb at|(?:am |'m "
    rf"|are |'re )?stay(?:ing)? at"
    rf"|take(?= \d)) (?P<value>.+?){_END}",
    re.IGNORECASE,
)
_DOSE: Final = re.compile(
    rf"^I(?: (?P<now1>{_NOW}))? take (?P<value>\d[\d.]* ?(?:mg|g|ml|mcg|µg|units?|drops?|tablets?|pills?)) (?:of )?"
    rf"(?P<topic>[a-z][\w -]{{2,40}}?){_END}",
    re.IGNORECASE,
)
_RIDE: Final = re.compile(
    rf"^(?:I|we)(?: (?P<now1>{_NOW}))?(?: usually| always| normally)? (?:take|catch|get) (?P<value>(?:the "
    rf"|a )?(?:bus |tram |line |train )?[\w:]+)"
    rf"(?: (?:bus|tram|train))? to (?P<topic>work|school|the office|uni|university){_END}",
    re.IGNORECASE,
)
# "I've got the dentist on March 19": an appointment and its time.
_HAVE: Final = re.compile(
    rf"^(?:I|we)(?:'ve got| have got| have| got) (?P<topic>(?:the|an?|my|our) [\w' -]{{2,30}}?) (?P<value>(?:on|at"
    rf"|next) .+?){_END}",
    re.IGNORECASE,
)
_MAKE: Final = re.compile(
    rf"^(?:please )?make (?P<value>{_NAME}) (?P<topic>(?:my|our) [\w' -]{{2,30}}?){_END}", re.IGNORECASE
)
# "Since the new job I take the tram to work".
_SINCE: Final = re.compile(
    r"^(?:since|after|as of|from) (?:the |my |our |this |last |next )?[\w' ]{2,25}? (?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
# "The team has 8 people"
_COUNTS: Final = re.compile(
    rf"^(?P<topic>(?:(?:my|our|the) )?[\w'-]+(?: [\w'-]+){{0,3}}?) (?:(?P<now1>{_NOW}) )?has (?:(?P<now2>{_NOW}) )?"
    rf"(?P<value>\d.*?){_END}",
    re.IGNORECASE,
)
_SET: Final = re.compile(
    r"^(?:please |can you |could you )?(?:(?:I|we|they)(?:'ve| have)? )?(?:just |finally )?(?:change|changed|switch"
    r"|switched"
    r"|set|moved?|renamed?|upgraded?|raised?|put|bumped?|cut|updated?) (?P<topic>(?:my|our"
    r"|the) [\w'-]+(?: [\w'-]+){0,3}?)"
    rf"(?: up| down| back| over)?(?: from .+?)? to (?P<value>.+?){_END}",
    re.IGNORECASE,
)
# "Switched gyms, I go to Ben Dunne now", "work gave me a new laptop, it's a ThinkPad": the thing, then its value.
_CHANGED: Final = re.compile(
    r"^(?:(?:I|we|they|work|(?:the |my |our )?(?:landlord|company|school|bank|doctor|boss))(?:'ve| have| has)? )?"
    r"(?:just |finally )?(?:changed|switched|upgraded|renamed|replaced|swapped|moved|joined|got|gave me|put|raised)"
    r"(?: me)? (?:(?:my|our|the|a) )?(?:(?:new|different|other) )?(?P<topic>[a-z][\w'-]*(?: [a-z][\w'-]*){0,2}?)"
    r"(?: up| down)?$",
    re.IGNORECASE,
)
_IT_IS: Final = re.compile(
    rf"^(?:so |and )?(?:(?:it|he|she|that|they)(?:'s| is| are)(?: called| named)?(?: now)?"
    rf"|I(?:'m)?(?: now)? (?:go to|see|use|have|drive|with|at|on)) (?P<value>.+?){_END}",
    re.IGNORECASE,
)
_ANOTHER: Final = re.compile(
    r"\b(?:changed|renamed|switched|upgraded|replaced|swapped|moved|put|raised|new|different)\b"
)
_BESIDE: Final = re.compile(
    r"\b(?:my|our) (?P<topic>[a-z][\w' -]{2,24}?), (?P<value>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+){0,2})(?=[.,!]"
    r"|$)",
    re.IGNORECASE,
)
# Words that no thing is named by: a clause with one of them before its verb is no frame.
_NO_TOPIC: Final = re.compile(
    r"\b(?:i|you|he|she|it|they|we|this|that|these|those|there|here|what|who|which|where|when|how|why|and|or|not"
    r"|never|was"
    r"|were|be|been|his|her|their|its|your|another|other|second|first|also|too|both|each|every|one|some|all|any|if|then"
    r"|yesterday|today|tomorrow|news|point|problem|idea|thing|reason|only)\b"
)
_OWN: Final = re.compile(r"^(?:my|our|the|an?)\b|(?<=\w) appointment$")
_OF_WHAT: Final = re.compile(
    r"(?P<value>.+?) (?P<more>(?:(?:for|of) (?:the |my |our )?|on (?:the |my |our ))(?!\w+ floor)[\w'-]+(?: [\w'-]+)?)$"
)
# Tells more of the value: "Dr Shah on Mill Street", "at Mario's every Friday", "on Mondays at the club".
_WHERE_IT_IS: Final = re.compile(
    r"(?<=\w) (?:on (?-i:[A-Z])\w+ (?:street|road|avenue|lane)|(?:by|near|next to|opposite|behind) [\w' ]+"
    r"|at the [\w' ]+"
    r"|at work|every \w+|from [\w ]+ to [\w ]+|in (?-i:[A-Z])[a-z]+)$",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"(?:'s)? name$")
_PLACED: Final = re.compile(r"^(?:at|in|on|with) (?P<where>.+)$", re.IGNORECASE)
_CALLED: Final = re.compile(r"^an? [a-z][\w -]*? (?:called|named) (?P<name>.+)$")
_FULL_NAME: Final = re.compile(rf"{_NAME}$")
_ADDRESS: Final = re.compile(
    r"(?:the )?(?:\w+ ){0,2}(?:floor|room|desk|building|gate|terminal|level|unit)(?: [\w.]+)?$|\d+\w? [A-Z].*$"
    r"|(?:room|floor|desk|gate|level|apartment|flat|year|grade|class) \w+$"
)
# What keeps a value from being a name: how somebody or something is, or when.
_NO_NAME: Final = re.compile(
    r"\w*(?:ish|ese|[^l]ian)$|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?$|(?-i:I|OK)$", re.IGNORECASE
)


def read(clauses: Sequence[str], text: str) -> Iterator[Frame]:
    """The frames of the clauses of a text, straight apostrophes in them."""
    for clause in clauses:
        if (one := _of(clause)) is not None:
            yield one
    for before, clause in pairwise(clauses):
        if (one := _of_two(before, clause)) is not None:
            yield one
    for beside in _BESIDE.finditer(text):
        if sole(beside["topic"]) and (one := _made(beside["topic"], ("is",), beside["value"])) is not None:
            yield one


def _of(clause: str) -> Frame | None:
    if (since := _SINCE.match(clause)) is not None:
        later = _of(clause[since.end() :])
        return replace(later, now=True) if later is not None else None
    if (found := _DOSE.match(clause)) is not None:
        terms = frozenset({"take", *content_terms(found["topic"])})
        return Frame(terms, frozenset({"do"}), kinds_of(found["value"]), found["value"], True, "")
    if (found := _HAVE.match(clause)) is not None and kinds_of(found["value"]):
        return _made(found["topic"], ("is",), found["value"], now=_said_now(found))
    if (found := _RIDE.match(clause)) is not None:
        terms = frozenset({"go", *content_terms(found["topic"])})
        return Frame(terms, frozenset({"do"}), frozenset({"ride"}), found["value"], _said_now(found), "")
    if (found := _MAKE.match(clause)) is not None:
        return _made(found["topic"], ("is",), found["value"], now=True)
    if (found := _REPORT.match(clause)) is not None:
        one = _made(found["topic"], ("report",), found["value"], now=_said_now(found))
        return replace(one, noun="manager") if one is not None else None
    for expression, verbs in ((_IS_MINE, ("is",)), (_LOOKS_AFTER, ("look after",))):
        if (found := expression.match(clause)) is not None:
            return _made(found["topic"], verbs, found["value"], now=_said_now(found))
    if (found := _SET.match(clause)) is not None:
        one = _made(found["topic"], ("is", "called", "at"), found["value"], now=True)
        return replace(one, kinds=one.kinds | {"place"}) if one is not None and "name" in one.kinds else one
    if (found := _COUNTS.match(clause)) is not None and kinds_of(found["value"]):
        return _made(found["topic"], ("has",), found["value"], now=_said_now(found))
    if (found := _DOING.match(clause)) is not None:
        return _doing(found)
    if (found := _IS.match(clause)) is not None:
        return _made(found["topic"], _BE[found["verb"].strip().lower()], found["value"], now=_said_now(found))
    return None


def _said_now(found: re.Match[str]) -> bool:
    return any(value for name, value in found.groupdict().items() if name.startswith("now"))


def _of_two(before: str, clause: str) -> Frame | None:
    changed = _CHANGED.match(before)
    if changed is None or not _ANOTHER.search(before.lower()):
        return None
    value = _IT_IS.match(clause)
    if value is None:
        return None
    one = _made(changed["topic"], ("is", "called", "at"), value["value"], now=True)
    # What is given another name is no second one.
    return replace(one, noun="") if one is not None and "renam" in before.lower() else one


def _doing(found: re.Match[str]) -> Frame | None:
    kinds = _kinds(_WHERE_IT_IS.sub("", found["value"]))
    done = content_terms(found["topic"]) or (found["topic"].lower(),)
    if kinds is None:
        return None
    steady = re.match(_STEADY, found["topic"].lower()) is not None or "instead" in (found["now9"] or "")
    return Frame(frozenset({"i", *done}), frozenset({"do"}), kinds, found["value"], _said_now(found), "", steady)


def _made(topic: str, verbs: tuple[str, ...], value: str, *, now: bool = False) -> Frame | None:
    """ "For the kitchen" after the value belongs to the topic, and "the wifi name is" tells what the wifi is called."""
    noun = topic.lower().replace("wi-fi", "wifi")
    if _NO_TOPIC.search(noun):
        return None
    value = _WHERE_IT_IS.sub("", value)
    of_what = _OF_WHAT.match(value)
    if of_what is not None and not re.search(r"\b(?:for|of)\b", noun):
        value, topic = of_what["value"], f"{topic} {of_what['more']}"
    value = value.strip(" '\"“”")
    if (called := _CALLED.match(value)) is not None:
        value = called["name"]
    if _NAMED.search(noun) and _NAMED.sub("", _OWN.sub("", noun)).strip():
        topic, verbs = _NAMED.sub("", topic), ("called",)
    kinds = _kinds(value)
    terms = frozenset(content_terms(NEW.sub(" ", _OWN.sub(" ", topic.lower().replace("wi-fi", "wifi")))))
    if not terms or kinds is None:
        return None
    return Frame(terms, frozenset(verbs), kinds, value, now or bool(NEW.search(noun)), _head(noun))


def _head(noun: str) -> str:
    """ "The contractor for the roof" is a contractor."""
    return re.split(r"\s(?:for|of|on|at|in|with|to)\s", noun)[0]


def _kinds(value: str) -> frozenset[str] | None:
    if re.match(r"(?:[A-Z]{1,3}-?\d[\w-]*|\d+[A-Z])$", value):
        return frozenset({"code"})
    timed = kinds_of(value)
    if timed:
        return timed
    if re.match(r"at \d{1,2}$", value):
        return frozenset({"clock"})
    if re.match(r"(?:at |on )?(?:version|v) ?\d[\w.]*$", value, re.IGNORECASE):
        return frozenset({"version"})
    if value.startswith("about "):
        return frozenset({"about"})
    placed = _PLACED.match(value)
    if placed is not None:
        where = placed["where"]
        named = _FULL_NAME.match(where) or _ADDRESS.match(where)
        return frozenset({"place"}) if named and not _NO_NAME.match(where.split()[0]) else None
    if _FULL_NAME.match(value) and not _NO_NAME.match(value) and len(value) > 1:
        return frozenset({"name"})
    return None
