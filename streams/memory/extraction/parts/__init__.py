"""Cut a sentence that says several things into a part for each, so that one can change and the others stay.

"I live in Porto with my sister and work as a nurse" is two memories, 我在字节做后端，住在望京 as well. A cut needs a
clause on either side: with a subject of its own, or with that of the clause before it, which is then carried on.
What belongs together stays: lists, reasons, conditions, what is said to be so instead, what a clause says of the one
before it. Where the wording leaves a doubt there is no cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streams.memory.extraction.parts import en, zh
from streams.memory.extraction.parts.lead import States

_OPENS = re.compile(r"[(（\"“「『]")
MOST = 5  # of a sentence
# What is quoted or said aside is not looked into.
_ASIDE = re.compile(r"[(（][^()（）\n]{0,200}[)）]|[\"“「『][^\"“”「」『』\n]{0,400}[\"”」』]")


@dataclass(frozen=True, slots=True)
class Part:
    """sentence[start:end]; `text` reads on its own, with the words that it shares with the clause before it."""

    start: int
    end: int
    text: str


def parts(sentence: str, lang: str, states: States, most: int = MOST) -> list[Part]:
    """The statements of a sentence in order, all of its words among them; one when it is not to be cut.

    `states`: whether the rules know what a text states; asked where the form alone does not show a statement.
    `most`: of them, at least one; the last one has what is left.

    >>> [part.text for part in parts("I live in Porto and work as a nurse.", "en", lambda text: True)]
    ['I live in Porto', 'I work as a nurse.']
    """
    joint_of, leads = (zh.JOINT, zh.leads) if lang == "zh" else (en.JOINT, en.leads)
    joints = list(joint_of.finditer(sentence))
    if not joints or most < 2:
        return [Part(0, len(sentence), sentence)]
    blank = _ASIDE.sub(lambda match: "_" * len(match.group()), sentence) if _OPENS.search(sentence) else sentence
    found: list[Part] = []
    start, shared = 0, ""
    ends = [*(joint.start() for joint in joints[1:]), len(sentence)]
    for joint, end in zip(joints, ends, strict=True):
        if len(found) >= most - 1 or blank[joint.start() : joint.end()] != joint.group():
            continue
        before = shared + blank[start : joint.start()]
        lead = leads(before, joint, blank[joint.end() : end], states)
        if lead is not None:
            found.append(Part(start, joint.start(), shared + sentence[start : joint.start()]))
            start, shared = joint.end() + lead.instead_of, lead.text
    return [*found, Part(start, len(sentence), shared + sentence[start:])]


def carried(sentence: str, lang: str) -> list[str]:
    """Its clauses without a subject, each with that of the clause before, whether the sentence is to be cut or not.

    >>> carried("我换工作了，现在在苏州上班", "zh")
    ['我现在在苏州上班']
    """
    return zh.carried(sentence) if lang == "zh" else en.carried(sentence)
