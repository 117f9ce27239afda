"""Where an English sentence goes on with another statement."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streams.memory.extraction.cued import Cued
from streams.memory.extraction.parts.lead import OWN, Lead, States

# Begins with one of few characters, which is looked for fast.
JOINT = re.compile(
    r"[ ,;—–](?:(?<=[,;])(?:\s+(?:and also|and|but|plus))?|(?<= )(?:and also|and|but|plus|[-–—]+)|(?<=[—–]))\s+(?=\S)"
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ONE = _set("is was has does isn't wasn't hasn't doesn't")
_MANY = _set("are were have do aren't weren't haven't don't")
_ANY = _set("will won't can can't cannot did didn't had hadn't")
_THIRD = _set(
    "lives works loves likes hates prefers enjoys owns drives speaks studies plays eats drinks uses runs teaches leads "
    "manages starts begins ends leaves costs needs wants takes goes comes joins handles covers sits stays sleeps meets "
    "opens closes expires belongs attends trains practices practises cooks bakes reads watches writes collects keeps "
    "pays earns weighs reports hosts supports organizes organises looks sells makes gets moves turns lasts visits "
    "travels rents wears does lands arrives departs brings picks walks feeds wakes serves ships sends spends sings "
    "paints swims cycles fits holds includes contains offers"
)
_PAST = _set(
    "moved joined adopted started retired graduated got became turned left bought sold lost went came switched changed "
    "took married opened closed"
)
_BASE = _set(
    "live work love hate prefer enjoy own drive speak study play eat drink use run teach lead manage have need "
    "rent commute attend train collect wear sleep swim cycle"
)
# What they say of somebody holds for longer than the moment.
_HOLDS = _set(
    "live lives work works wear wears own owns drive drives speak speaks study studies play plays eat eats drink "
    "drinks teach teaches rent rents commute commutes attend attends collect collects prefer prefers hate hates "
    "enjoy enjoys"
)
# And with a number of what: "I take 20 mg", "I pay 900 euros".
_COUNTS = _set(
    "take takes pay pays earn earns weigh weighs wake wakes start starts finish finishes go goes sleep sleeps"
)
_ADVERBS = _set(
    "also now currently just still usually always never mostly really already both mainly often actually recently "
    "generally normally basically"
)
# Words at which a noun phrase is over.
_CLAUSES = _set(
    "and or but who whom whose which that because if when while so than as to where not i we you he she they it"
)
_LINKS = _CLAUSES | _set("for with from at in on of")
_NO_SUBJECT = _set(
    "a an and but so if when that this these those it he she they you what which who why how where also no yes not "
    "or nor in on at for since from with by to please because although while then there here let maybe perhaps"
)
_TIMES = _set(
    "on in since from until every each next this last tomorrow today yesterday tonight at by starting after before "
    "during these currently nowadays mondays tuesdays wednesdays thursdays fridays saturdays sundays"
)
_BEFORE_CLAUSES = _set("since until after before")
# A clause that begins with its verb.
_BARE = re.compile(
    rf"(?:(?:{'|'.join(_ADVERBS)}) )*(?:{'|'.join(sorted(_BASE | _THIRD | _ONE))}|am|are|don['’]t|can['’]t) \S",
    re.IGNORECASE,
)
# "My 1:1 with Dana is on Monday and the one with Omar on Friday"
_ONE_WITH = re.compile(r"(?:my|the) (?:other )?one (?=(?:with|for|at|in|on)\b)", re.IGNORECASE)
_SOMETHING_WITH = re.compile(r"(?:my|our|the) [\w:’'-]+(?: [\w-]+)? (?=(?:with|for|at|in|on)\b)", re.IGNORECASE)
_PRONOUN = re.compile(r"(?:he|she)(?=['’]s\b|\s)", re.IGNORECASE)
_PLURALS = _set("people children men women")
_LONGEST_SUBJECT = 7  # words
_LONGEST_TIME = 6  # words
# Said of what stands before, or in its place: not to be understood without it.
_BOUND = re.compile(
    r"\b(?:it|its|it['’]s|this|that|these|those|they|them|their|he|she|his|him|her|hers|there|one|ones|both|either"
    r"|neither|instead|rather|too|as well|then|so|same|otherwise|else|such|you|your)\b",
    re.IGNORECASE,
)
# Governs what follows, across "and".
_GOVERNS = Cued(
    "because since if when whenever while unless although though until whether so in as once before after why how "
    "think thinks thought say says said tell tells told know knew hope hoping guess heard hear believe suppose wish "
    "ask asks asked wonder imagine sure afraid mean means meant feel feels remember remind let seem seems please "
    "would could should might may",
    r"\b(?:because|since|if|when|whenever|while|unless|although|though|until|whether|so that|in case|as soon as|once"
    r"|before|after|why|how) (?:i|we|he|she|they|it|you|my|our|the|there|his|her|their|[a-z]+ing)\b"
    r"|\b(?:think|thinks|thought|say|says|said|tell|tells|told|know|knew|hope|hoping|guess|heard|hear|believe|suppose"
    r"|wish|ask|asks|asked|wonder|imagine|sure|afraid|means?|meant|feels? (?:like|that)|remember|remind|let"
    r"|seems?|please|would|could|should|might|(?-i:may)(?! \d))\b",
)
# A bare form may go on with one of these: "I want to learn Dutch and move to Ghent".
_TAKES_BARE = re.compile(
    r"\bto [a-z]{2,}|\b(?:can|will|must|shall|do|don['’]t|did|didn['’]t|['’]ll|cannot|can['’]t|won['’]t|let['’]?s"
    r"|help|make)\b",
    re.IGNORECASE,
)
_WITHIN = re.compile(r"\b(?:who|which|that|where|whose)\b", re.IGNORECASE)
# What is so no longer, and what is so instead.
_ENDS = re.compile(
    r"\b(?:no longer|not|never|used to|quit|left|stopped|sold|gave up|given up|any ?more|was|were|had|\w+n['’]t)\b",
    re.IGNORECASE,
)
_OVER = re.compile(r"\b(?:used to|no longer|formerly|any ?more|was|were|did)\b", re.IGNORECASE)
_MALE = re.compile(
    r"\b(?:husband|father|dad|son|brother|boyfriend|uncle|nephew|grand(?:pa|father|son))\b", re.IGNORECASE
)
_FEMALE = re.compile(
    r"\b(?:wife|mother|mom|mum|daughter|sister|girlfriend|aunt|niece|grand(?:ma|mother|daughter))\b", re.IGNORECASE
)
_KIN = re.compile(rf"{_MALE.pattern}|{_FEMALE.pattern}|\b(?:boss|friend|colleague|with|to) (?-i:[A-Z])", re.IGNORECASE)
_FAMILY = re.compile(rf"(?!girlfriend|boyfriend)(?:{_MALE.pattern}|{_FEMALE.pattern})", re.IGNORECASE)
_VALUE = re.compile(r"\s[\"“'(]?(?:[A-Z][\w+]|[$€£¥]?\d)")
_IS_NAME = re.compile(r"\s*(?:is|['’]s)(?: now)? (?:called |named )?(?P<name>[A-Z][\w’'-]*\.?(?: [A-Z][\w’'-]*){0,2})")
_IS_CALLED = re.compile(r"\s*(?:is|['’]s)(?: now)? (?:(?:called|named) )?(?:an? \w|[A-Z])")
_STATIVE = _set("a an in at on not now from allergic vegan vegetarian called named married based the")


@dataclass(frozen=True, slots=True)
class _Opening:
    """How a clause opens: with a time or nothing, then its subject up to `end`, then a finite verb."""

    time: str
    subject: str
    first: bool  # the speaker, alone or with others
    many: bool
    end: int


def leads(before: str, joint: re.Match[str], clause: str, states: States) -> Lead | None:
    """How the clause after a joint begins as a statement of its own; None when it is none."""
    pronoun, stands_for = _PRONOUN.match(clause), _ONE_WITH.match(clause)
    if pronoun is None and _BOUND.search(clause, stands_for.end() if stands_for else 0):
        return None
    link = joint.group().lower().strip(" ,;")
    own = None
    if pronoun is None:
        own = _opens(clause) or (_noun_alone(clause) if not link[:1].isalpha() else None)
        if own is None and (link == "but" or not _BARE.match(clause)):
            return None
    if _GOVERNS.search(before) or (link == "but" and _OVER.search(before)):
        return None
    opening = _opening(before)
    if opening is None:
        return None
    if stands_for is not None:
        what = _SOMETHING_WITH.match(opening.subject)
        lead = Lead(what.group(), stands_for.end()) if what is not None else None
    elif own is not None:
        # "Next week my sister visits and my brother moves": whether the time goes on is not said.
        lead = OWN if bool(own.time) or not opening.time else None
    elif pronoun is not None:
        lead = _spoken_of(before, opening, clause, pronoun)
    else:
        lead = _goes_on(before, opening, clause)
    if lead is None or not (lead.sure or _definite(lead.text + clause[lead.instead_of :], states)):
        return None
    return lead if _definite(before, states) else None


def _definite(text: str, states: States) -> bool:
    """Whether a text states something: by the rules, or since it names who, what, when or how much something is."""
    found = _opens(text) or _noun_alone(text)
    if found is not None:
        said = [_plain(word) for word in text[found.end :].split() if _plain(word) not in _ADVERBS]
        verb = said[0] if len(said) > 1 else ""
        if verb in _HOLDS or (verb in _COUNTS and any(map(str.isdigit, text))):
            return True
        if not found.first and _VALUE.search(text, found.end):
            return True
    return states(text)


def _noun_alone(clause: str) -> _Opening | None:
    """ "Contractor is Dave": chat leaves the article out."""
    found = _opens(f"the {clause}") if clause and _plain(clause.split()[0]) not in _NO_SUBJECT else None
    return found and _Opening("", found.subject[4:], found.first, found.many, found.end - 4)


def _goes_on(before: str, opening: _Opening, clause: str) -> Lead | None:
    """A finite verb that goes with the subject of the clause before, and what it says of it."""
    words = clause.split()
    place = next((at for at, word in enumerate(words) if word.lower() not in _ADVERBS), len(words))
    if place + 1 >= len(words) or words[place].endswith((",", ".", ";")) or _WITHIN.search(before):
        return None
    if words[place + 1].lower() in ("and", "or") or _ENDS.search(before):
        return None
    verb = _plain(words[place])
    if opening.first or opening.many:
        bare = verb in _BASE or verb in ("don't", "can't")
        fits = verb == ("am" if opening.first else "are") or (bare and not _TAKES_BARE.search(before[opening.end :]))
    else:
        fits = verb in _THIRD or verb in _ONE - {"was", "wasn't"}
    return Lead(f"{before[: opening.end].strip()} ") if fits else None


def _spoken_of(before: str, opening: _Opening, clause: str, pronoun: re.Match[str]) -> Lead | None:
    """ "My manager is Helen and she likes tea": who is called something is who is spoken of."""
    if opening.first or opening.many or re.search(r"['’]s \w|\bname$", opening.subject):
        return None  # "my sister's name is Ines and she": not the name
    said = _plain(before[opening.end :].split()[0])
    if not _IS_CALLED.match(before, opening.end) and (said not in _HOLDS or _KIN.search(before, opening.end)):
        return None
    if _MALE.search(opening.subject) and pronoun.group().lower() == "she":
        return None
    if _FEMALE.search(opening.subject) and pronoun.group().lower() == "he":
        return None
    rest = clause[pronoun.end() :]
    if _BOUND.search(rest) or len(rest.split()) < 2:
        return None
    space = " " if rest[0] == " " else ""
    # Another one may be the manager tomorrow, who need not like tea.
    held = opening.subject[:4].lower() != "the " and not _FAMILY.search(opening.subject)
    holder = _IS_NAME.match(before, opening.end) if held else None
    who = holder["name"] if holder is not None else before[: opening.end].strip()
    return Lead(who + space, pronoun.end() + len(space), sure=True)


def _opening(text: str) -> _Opening | None:
    """Of the first clause of a text that is one: "Good news: I moved" opens with "I"."""
    at = 0
    while True:
        found = _opens(text[at:]) or _noun_alone(text[at:])
        if found is not None:
            return _Opening(found.time, found.subject, found.first, found.many, at + found.end)
        stop = _STOP.search(text, at)
        if stop is None or not stop.end():
            return None
        at = stop.end()


_STOP = re.compile(r"[,;:—–.!]\s+|\s[-–—]+\s+")
_TOKEN = re.compile(r"\S+")
_OPENERS = _set("also and but so plus oh ok okay well anyway btw then yes yeah yep actually hi hey hello")


def _opens(text: str) -> _Opening | None:
    tokens = [(match.group(), match.end()) for match in _TOKEN.finditer(text[:200])]
    skipped = 0
    while skipped < len(tokens) and tokens[skipped][0].lower().strip(",.!") in _OPENERS:
        skipped += 1
    tokens = tokens[skipped:]
    time = ""
    found = _subject(tokens)
    if found is None and tokens and _plain(tokens[0][0]) in _TIMES:
        for at in range(1, min(_LONGEST_TIME, len(tokens))):
            if at == 1 and _plain(tokens[0][0]) in _BEFORE_CLAUSES:
                continue  # "since we moved"
            found = _subject(tokens[at:], named=False)
            if found is not None:
                time = text[: tokens[at - 1][1]]
                break
    if found is None:
        return None
    end, first, many = found
    return _Opening(time, text[:end], first, many, end)


def _subject(tokens: list[tuple[str, int]], *, named: bool = True) -> tuple[int, bool, bool] | None:
    """Where the subject ends that a finite verb follows; whether it is the speaker, and whether it is many."""
    if len(tokens) < 2:
        return None
    word, end = tokens[0]
    who, _, short = word.replace("’", "'").partition("'")
    if who.lower() in ("i", "we"):
        if not short and (_plain(tokens[1][0]) in _LINKS or who != word):
            return None
        return (end - len(short) - 1 if short else end), True, who.lower() == "we"
    determined = who.lower() in ("my", "our", "the")
    if not determined and not (named and word[:1].isupper() and _plain(word) not in _NO_SUBJECT):
        return None
    noun, noun_end = ("", 0) if determined else (word, end)
    for at in range(0 if not determined else 1, min(_LONGEST_SUBJECT, len(tokens) - 1)):
        word, end = tokens[at]
        if word.replace("’", "'").endswith("'s") and _says_of(tokens[at + 1][0]):
            return end - 2, False, False
        plain = _plain(word)
        if not at or plain in _ADVERBS:
            continue
        if noun:
            many = _plural(noun)
            if plain in _ANY or plain in _PAST or plain in (_MANY | _BASE if many else _ONE | _THIRD):
                return (noun_end, False, many) if noun[-1] not in ",;:" else None
        if plain in (_CLAUSES if determined else _LINKS) or not (determined or word[:1].isupper()):
            return None
        noun, noun_end = word, end
    return None


def _says_of(word: str) -> bool:
    """Whether "'s" before a word is a verb: "Leo's a nurse"."""
    return _plain(word) in _STATIVE or word.lower().endswith("ing")


def _plural(noun: str) -> bool:
    noun = noun.lower()
    return noun in _PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))


def _plain(word: str) -> str:
    return word.lower().replace("’", "'").strip('.,;:!"()')


def carried(sentence: str) -> list[str]:
    """The clauses of a sentence that have no subject, with that of the clause before, whether it is cut or not."""
    found: list[str] = []
    for joint in JOINT.finditer(sentence):
        if not _BARE.match(sentence, joint.end()):
            continue
        opening = _opening(sentence[: joint.start()])
        clause = JOINT.split(sentence[joint.end() :], maxsplit=1)[0]
        lead = _goes_on(sentence[: joint.start()], opening, clause) if opening is not None else None
        found += [lead.text + clause] if lead is not None else []
    return found
