"""Text in a message that its sender did not say: recalled memories, code, logs, quoted mail, a text to be worked on.

Everything here blanks such text with spaces, so that offsets in the message stay what they were.
"""

from __future__ import annotations

import re

from streams.memory.extraction.cued import Cued
from streams.memory.extraction.lang import is_chinese
from streams.memory.look import Looked

# Blocks that an agent prepends from its own memory: never new, whoever sends them back.
RECALLED = Looked(
    r"<(?P<tag>(?:recalled|relevant|retrieved|long[-_]?term|user|past)?[-_ ]?memor(?:y|ies)|memory[-_ ]context"
    r"|recall|turns)\b[^>]{0,200}>"
    r".*?(?:</(?P=tag)>|\Z)"
    r"|^\W{0,4}(?:recalled|relevant|retrieved|long-term) memor(?:y|ies)\b.*?(?:\n\s*\n|\Z)"
    r"|^[^\n]{0,80}\b(?:memor(?:y|ies)|facts?|notes?)\b[^\n]{0,80}\b(?:not instructions?|as data"
    r"|for reference only|background only)\b"
    r".*?(?:\n\s*\n|\Z)"
    r"|^[^\n]{0,30}记忆[^\n]{0,60}(?:仅供参考|不是指令|非指令|不要当作指令|只作参考|不代表指令)[^\n]*(?:\n[^\n]+)*",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
# One of these is in each of them.
_RECALLED_CUES = ("memor", "recall", "<turns", "fact", "note", "记忆")
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
LOG_LINE = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:\[\w+\]\s*)?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b[\s:\]|]"
    r"|Traceback \(most recent|File \"[^\"]+\", line \d|at [\w.$<>]+\(|[\w.]+Exception:|[\w.]+Error: |[\d.]+ - - \[)"
)
CODE_LINE = Looked(
    r"[{};]\s*$|^\s*(?:def|class|import|from|return|if|for|while|public|private|function|const|let|var|#include"
    r"|SELECT|INSERT"
    r"|UPDATE|CREATE|package|using|elif|else|try|except|print)\b.*[:;(){}=<>]|^\s*</?\w+[^>]*>"
    r"|^\s*[\w.\[\]\"']+(?:, ?\w+)* = \S"
    r"|^\s*[$>#]\s*\w+|^\s*[\"'][\w-]+[\"']\s*:|=>|::|^\s*[\w.]+\([^)]*\)\s*$"
)
_QUOTED_MAIL = re.compile(r"^\s*>.*$", re.MULTILINE)
# An order to work on a text, and the text: everything after the head belongs to somebody else.
_WORK_ON = Cued(
    "re rewrite rephrase paraphrase proof proofread polish summarise summarize translate correct edit improve clean "
    "fix review shorten simplify expand respond reply convert analyse analyze grade check explain read optimise "
    "optimize revise use below following attached here sent received this",
    r"(?:^\W*|[.!?,]\s*|\b(?:you|please|to|and|then|now) )(?:re-?write|re-?phrase|paraphrase|proof-?read|polish"
    r"|summari[sz]e|translate|correct"
    r"|edit|improve|clean|fix|review|shorten|simplify|expand|respond|reply|convert|analy[sz]e|grade|check|explain"
    r"|read|optimi[sz]e|revise|use)\b"
    r"|\b(?:below|the following|attached|here(?:['’]s| is| are) (?:an?|the|my|some|his|her|their)|sent me|i received"
    r"|this (?:email|text|message|article|paragraph|letter|code|essay|sentence|post|part|slide|is the))\b"
    r"|翻译|润色|改写|改一下这|总结一?下|修改|校对|以下|如下|下面(?:是|这)|这[段篇](?:话|文|代码|内容)|回复(?:一下)?这|原文",
)
_HEAD = re.compile(r"[^\n]{1,300}?(?::\s*\n?|：\s*\n?|\n)")
# Looked for in "\n" + text: a search that begins with one letter is many times faster than one that begins with "^".
_LETTER = re.compile(
    r"\n[^\S\n]*(?:dear\b[^\n]{0,60}[,:]|subject:|from:|to:|hi [A-Z{\[]\w*[^\n]{0,20},\s*$|尊敬的[^\n]{0,20}[：:]"
    r"|[\w.][\w .]{1,29}\s+\d?\d:\d\d\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
# One of these is in each of them, in lower case.
_LETTER_CUES = ("dear", "subject:", "from:", "to:", "hi ", "尊敬的")
_ENDS_IN_TIME = re.compile(r"\d:\d\d\s*$", re.MULTILINE)
_LETTER_END = re.compile(
    r"^[^\S\n]*(?:best|kind|warm)? ?(?:regards|wishes|sincerely|cheers)\b[^\n]*(?:\n[^\n]{1,40}$)?|此致",
    re.IGNORECASE | re.MULTILINE,
)
_MATERIAL_MIN, _MATERIAL_MIN_CJK = 40, 12  # characters: shorter ones are the speaker's own phrase after a colon
_LONGEST_ORDER = 80  # characters
# After an order to reword there is no phrase of the speaker's own, however short.
_REWORD = re.compile(
    r"\b(?:translat(?:e|ion)|re-?phrase|re-?word|re-?write|paraphrase|proof-?read|polish)\b|(?<![做当當是])翻[译譯](?![官员員公工专專行家社])|[润潤]色|改[写寫]|校[对對]",
    re.IGNORECASE,
)
_REWORD_ORDER = re.compile(
    r"\W*(?:[请請]|麻[烦煩]|能不能|可以)?(?:你)?(?:[帮幫]我)?(?:把[这這下]\S{0,4})?(?:翻[译譯]|[润潤]色|改[写寫]|校[对對])(?:一?下|成\S{1,4}文)?\s+(?=\S)"
)


def own_words(text: str) -> str:
    """The message with everything blanked that its sender only passed on. Same length, linear time.

    >>> own_words("Translate this: my name is Zorro and I was born in Los Angeles").rstrip()
    'Translate this:'
    """
    text = without_code(strip_recalled(text))
    if "\n" in text:
        text = "".join(_blank_line(line) for line in text.splitlines(keepends=True))
    head = _HEAD.match(text)
    least = _MATERIAL_MIN_CJK if is_chinese(text[:200]) else _MATERIAL_MIN
    head = head or _REWORD_ORDER.match(text)
    if head and head.end() <= _LONGEST_ORDER and _REWORD.search(head.group()):
        least = 1
    if head and len(text) - head.end() >= least and _WORK_ON.search(head.group()):
        return head.group() + _spaces(text[head.end() :])
    letter = _LETTER.search("\n" + text) if "\n" in text and _may_be_letter(text) else None
    if letter:
        end = _LETTER_END.search(text, letter.end() - 1)
        stop = end.end() if end else len(text)
        return text[: letter.start()] + _spaces(text[letter.start() : stop]) + text[stop:]
    return text


def _may_be_letter(text: str) -> bool:
    folded = text.lower()
    return any(cue in folded for cue in _LETTER_CUES) or _ENDS_IN_TIME.search(text) is not None


def strip_recalled(text: str) -> str:
    """The text with every block of recalled memories blanked."""
    folded = text.lower()
    if not any(cue in folded for cue in _RECALLED_CUES):
        return text
    return RECALLED.sub(_blank, text)


def without_code(text: str) -> str:
    """The text with fenced code blanked."""
    return _CODE_BLOCK.sub(_blank, text) if "```" in text else text


def is_code(text: str) -> bool:
    """Mostly log or code lines: two or more, and more than half of all; one log line alone."""
    lines = [line for line in text.splitlines() if line.strip()]
    logs = sum(bool(LOG_LINE.match(line)) for line in lines)
    code = sum(_is_code_line(line) for line in lines) if len(lines) > 1 else 0
    return (len(lines) == 1 and logs == 1) or any(hits >= 2 and hits * 2 > len(lines) for hits in (logs, code))


def _is_code_line(line: str) -> bool:
    # Without any of these characters no alternative can match.
    return any(mark in line for mark in "{};=<>()$#:") and bool(CODE_LINE.search(line))


def _blank_line(line: str) -> str:
    if LOG_LINE.match(line) or _is_code_line(line) or _QUOTED_MAIL.match(line):
        return _spaces(line)
    return line


def _blank(match: re.Match[str]) -> str:
    return _spaces(match.group())


def _spaces(text: str) -> str:
    """As many spaces, line breaks kept: sentences before and after stay apart."""
    return re.sub(r"[^\n]", " ", text)
