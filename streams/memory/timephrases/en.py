# ruff: noqa: E501  # a pattern reads best on one line
"""English: how the words of `en_words` combine into tokens. Patterns read folded text (`text.fold`)."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from streams.memory.timephrases.calendar import OutOfCalendar, Span, iso_week
from streams.memory.timephrases.digits import (
    CLOCKS,
    DATES,
    EDGE_LEFT,
    LOOSE_DATE,
    MERIDIEM,
    ZONES,
    checked,
    clock,
    year_of,
)
from streams.memory.timephrases.en_context import (
    A_SECOND,
    COUNTED_THINGS,
    CUES,
    FEASTS,
    FUTURE,
    LIGHT,
    PAST,
    SHORT_AFTER,
    SHORT_EXPECTED,
    YEAR_AFTER,
    YEAR_BEFORE,
    YEAR_OF_OLD,
    M,
    W,
    stands,
    stands_at,
)
from streams.memory.timephrases.en_words import (
    BINDING,
    CLOSEST,
    DECADES,
    EDGES,
    FUZZY,
    LONG_UNITS,
    MONTHS,
    NOON,
    NOT_A_TIME_AFTER,
    PARTS,
    QUANTITIES,
    RELATIVES,
    SEASONS,
    SETS,
    SHIFTS,
    UNITS,
    WEAK,
    WEEKDAYS,
)
from streams.memory.timephrases.numerals import ENGLISH_CARDINAL, ENGLISH_ORDINAL, ENGLISH_WORDS, ENGLISH_YEAR, english
from streams.memory.timephrases.tokens import (
    IMPOSSIBLE,
    Clock,
    Duration,
    Lexer,
    Pattern,
    Relative,
    When,
    alternatives,
)
from streams.memory.timephrases.zones import OFFSETS

LEFT, RIGHT = r"(?<![a-z0-9_'])", r"(?![a-z0-9_])"
DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{ENGLISH_ORDINAL}|{ENGLISH_CARDINAL})"
YEAR = rf"(?:(?:1[5-9]|20|21)\d\d|'\d\d|{ENGLISH_YEAR})"
YEAR_END = r"(?![\d:]|[.,]\d|\s?[ap]\.?m)"
DAY_LEFT = r"(?<![\d.,$/a-z])(?<!\d:)(?<!\$\s)"
NUMBER = rf"(?:\d{{1,4}}(?:\.\d{{1,2}})?|{ENGLISH_CARDINAL})"
UNIT = alternatives(LONG_UNITS)
# "3-4 days": about the lower of them.
EITHER = rf"(?:{NUMBER}\s?(?:-|\sto\s|\sor\s)\s?{NUMBER})"
COUNT = rf"(?:{EITHER}|(?:{NUMBER})\sand\s(?:a|an)\shalf|{alternatives(QUANTITIES)}|{NUMBER})"
WORD_HOUR = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
WORD_MINUTE = (
    r"(?:oh?\s(?:one|two|three|four|five|six|seven|eight|nine)|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty)(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?)"
)
FRACTIONS = {"half": 30, "a half": 30, "quarter": 15, "a quarter": 15, "three quarters": 45}


def number(text: str) -> float:
    text = text.strip()
    if text in QUANTITIES:
        return QUANTITIES[text]
    if (either := re.match(rf"({NUMBER})\s?(?:-|\sto\s|\sor\s)", text)) and not re.fullmatch(ENGLISH_CARDINAL, text):
        return number(either[1])
    if text.endswith(" half"):  # two and a half
        return number(re.split(r"\sand\sa", text)[0]) + 0.5
    return float(text) if text[0].isdigit() else float(english(text))


def day_number(text: str) -> int:
    return int(re.sub(r"(?:st|nd|rd|th)$", "", text)) if text[0].isdigit() else english(text)


def any_year(text: str) -> int:
    return year_of(text) if text[0] in "'0123456789" else english(text)


def _date(m: "re.Match[str]") -> When | object | None:
    day = day_number(m["d"])
    if not 1 <= day <= 31:
        return None
    if (
        m["m"] in WEAK
        and not m["y"]
        and m["m"] in ("may", "march", "mar")
        and m.end() == m.end("m")
        and not stands_at(m)
    ):
        return None
    return checked(any_year(m["y"]) if m["y"] else None, MONTHS[m["m"]], day) or IMPOSSIBLE


def _short_year(m: "re.Match[str]") -> When | None:
    return checked(year_of(m["y"]), MONTHS[m["m"]], day_number(m["d"]))


def _month_year(m: "re.Match[str]") -> When:
    return When(year=any_year(m["y"]), month=MONTHS[m["m"]])


def _month(m: "re.Match[str]") -> When | None:
    return None if m["m"] in WEAK and not stands(m) else When(month=MONTHS[m["m"]])


def _weekday(m: "re.Match[str]") -> When | None:
    return None if m["w"] in WEAK and not stands(m) else When(weekday=WEEKDAYS[m["w"]])


def _season(m: "re.Match[str]") -> When | None:
    return None if m.group() in WEAK and not stands(m) else When(season=SEASONS[m.group()])


def _year(m: "re.Match[str]") -> When | None:
    """A year where one is expected; elsewhere four digits count anything."""
    year = any_year(m["y"])
    before, after = m.string[max(0, m.start() - 14) : m.start()], m.string[m.end() : m.end() + 3]
    if COUNTED_THINGS.match(m.string, m.end()):
        return None
    expected = not (before + after).strip(" .!?") or YEAR_BEFORE.search(before) or YEAR_AFTER.match(m.string, m.end())
    earliest = 1500 if YEAR_OF_OLD.search(before) else 1900
    return When(year=year) if expected and earliest <= year <= 2100 else None


def _loose_year(m: "re.Match[str]") -> When | None:
    year = any_year(m["y"])
    return When(year=year) if 1900 <= year <= 2100 else None


def _decade(m: "re.Match[str]") -> When:
    digits = m["d"].lstrip("'")
    year = int(digits) if len(digits) == 4 else int(digits) + (2000 if int(digits) < 30 else 1900)
    return When(base=_ten_years(year))


def _ten_years(year: int) -> Span:
    return Span(datetime(year, 1, 1), datetime(year + 10, 1, 1), "decade")


def _quarter(m: "re.Match[str]") -> Relative | None:
    """Q3, Q3 2016, 2016Q3, H1 2016."""
    unit, n, year = "quarter" if m["q"] == "q" else "half", int(m["n"]), m["y"] or m["z"]
    if unit == "half" and (n > 2 or not year):
        return None
    return Relative(unit, 0, nth=n, year=int(year) if year else None)


def _iso_week(m: "re.Match[str]") -> When | object:
    try:
        return When(base=iso_week(int(m["y"]), int(m["n"])))
    except OutOfCalendar:
        return IMPOSSIBLE


def _part(m: "re.Match[str]") -> When | None:
    before = m.string[max(0, m.start() - 9) : m.start()].rstrip()
    if m.group() in LIGHT and not before.endswith(("at", "before", "after", "by", "around", "until", "till", "since")):
        return None
    return None if before.endswith(NOT_A_TIME_AFTER) else When(part=PARTS[m.group()])


def _clock_words(m: "re.Match[str]") -> When | None:
    minute = None if not m["m"] else int(number(re.sub(r"^oh?\s", "", m["m"])))
    return clock(int(number(m["h"])), minute, None, m["half"])


def _oclock(m: "re.Match[str]") -> When | None:
    return clock(int(number(m["h"])), None, None, m["half"])


def _past(m: "re.Match[str]") -> When | None:
    """Half past seven, quarter to 8, 20 past 3pm, ten minutes to noon."""
    minutes = FRACTIONS.get(m["n"]) or number(m["n"])
    hour = NOON[m["word"]] % 24 if m["word"] else number(m["h"])
    if minutes != int(minutes) or not 0 < minutes < 60 or hour != int(hour) or not 0 <= hour <= 24:
        return None
    backward = m["dir"] in ("to", "till", "before", "of")
    half, short = m["half"], m["n"] in FRACTIONS or bool(m["min"])
    marked = bool(half or m["oclock"] or m["word"])
    # "five to six" and "two of three" may count things; "ten past nine" hardly does.
    if m["dir"] in ("of", "before", "after") and not (short or marked):
        return None
    if (
        m["dir"] in ("to", "till")
        and not (short or m["word"])
        and (m["n"].isdigit() or not (marked or minutes in (5, 10, 20, 25)))
    ):
        return None
    total = int(hour) * 60 + (-int(minutes) if backward else int(minutes))
    if hour <= 12 and not m["word"]:
        total = total if total >= 60 else total + 720
        return clock(total // 60, total % 60, None, half)
    return clock(total % 1440 // 60, total % 60, None, half, exact=True)


def _ish(m: "re.Match[str]") -> When | None:
    digits = m["h"]
    found = clock(int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else clock(int(digits), None)
    return found and When(clock=found.clock, fuzzy=True)


def _duration(m: "re.Match[str]") -> Duration | None:
    amount = number(m["n"])
    unit = UNITS[m["u"] or m["short"]]
    if 1900 <= amount <= 2100 and m["u"] and not m["u"].endswith("s"):  # "2021 weekend"
        return None
    short = m["short"] or ""
    expected = SHORT_EXPECTED.search(m.string, max(0, m.start() - 10), m.start()) or SHORT_AFTER.match(
        m.string, m.end()
    )
    if short not in ("", "h") and not expected:  # "3D", "50m", "429s"
        return None
    if m["u"] == "second" and m["n"] in ("twenty", "thirty"):  # an ordinal
        return None
    if m["u"] == "second" and m["n"] == "a" and not A_SECOND.search(m.string, max(0, m.start() - 8), m.end() + 6):
        return None
    if m["half"]:
        amount += 0.25 if "quarter" in m["half"] else 0.5
    return (
        Duration(
            ((amount, unit),), fuzzy=m["n"].strip() in FUZZY or re.search(r"\d-|\s(?:to|or)\s", m["n"]) is not None
        )
        if amount <= 100_000
        else None
    )


def _meridiem_part(m: "re.Match[str]") -> When:
    return When(part="morning" if m.group()[0] == "a" else "afternoon")


def _words(words: Iterable[str]) -> str:
    return LEFT + alternatives(words) + RIGHT


def _binding(kind: str, words: tuple[str, ...]) -> Pattern:
    lexical = [w for w in words if w[0].isalpha()]
    signs = [re.escape(w) for w in words if not w[0].isalpha()]
    if kind in ("or_later", "or_earlier"):  # "2019 or later", but not "before 2019 and after 2021"
        return Pattern(kind, _words(words) + rf"(?!\s(?:\d|{M}|{W}))")
    return Pattern(kind, f"(?:{'|'.join(([_words(lexical)] if lexical else []) + signs)})")


def _edge(m: "re.Match[str]") -> str:
    return next(edge for edge, words in EDGES.items() if m.group().rstrip("-") in words)


MONTH_DAY_RIGHT = rf"(?![\d:]|[.,]\d|\s?(?:[ap]\.?m{RIGHT}|o'?clock)|h\d|[a-z]|\s(?:{UNIT}){RIGHT})"
DATE_WORDS = (
    Pattern("when", LEFT + alternatives(FEASTS) + RIGHT, lambda m: When(feast=m.group())),
    # 2019-aug-01, 2020/23/Sep
    Pattern("when", rf"{EDGE_LEFT}(?P<y>(?:19|20)\d\d)\s?[-/,]?\s?(?P<m>{M})\.?\s?[-/]\s?(?P<d>\d{{1,2}})(?!\d|[:/.]\d)", _date),
    Pattern("when", rf"{EDGE_LEFT}(?P<y>(?:19|20)\d\d)\s?[-/]\s?(?P<d>\d{{1,2}})\s?[-/]\s?(?P<m>{M}){RIGHT}", _date),
    # March 3rd, 2018
    Pattern("when", rf"{LEFT}(?P<m>{M})\.?[\s/-]*(?:the\s)?(?P<d>{DAY})(?:\s?,\s?|\s|-|/)(?:of\s|in\s)?(?P<y>{YEAR}){YEAR_END}", _date),
    # the 3rd of March 2018
    Pattern("when", rf"{DAY_LEFT}(?P<d>{DAY})(?:\s(?:day\s)?of\s|\s|-|/|\.\s?)?(?P<m>{M})\.?(?:,?\s(?:of\s|in\s)?|-|/|\.|,)?(?P<y>{YEAR}){YEAR_END}", _date),
    Pattern("when", rf"{DAY_LEFT}(?P<d>\d{{1,2}}(?:st|nd|rd|th)?)\s(?:of\s)?(?P<m>{M})\s(?P<y>\d\d)(?=$|[.!?,;])", _short_year),
    Pattern("when", rf"{LEFT}(?P<m>{M})\.?\s(?P<d>\d{{1,2}}(?:st|nd|rd|th)?),\s(?P<y>\d\d)(?=$|[.!?,;])", _short_year),
    # 2016, nov / Nov 2016 / April of 87
    Pattern("when", rf"{EDGE_LEFT}(?P<y>{YEAR})\s?[,/-]?\s?(?P<m>{M}){RIGHT}(?!\s?\d)", _month_year),
    Pattern("when", rf"{LEFT}(?P<m>{M})\.?(?:\s?,?\s?(?:of\s|in\s)?|\sof\s|/|-)(?P<y>{YEAR}|(?<=of\s)\d\d){YEAR_END}(?!/\d)", _month_year),
    # March 3rd / the 3rd of March
    Pattern("when", rf"{LEFT}(?P<m>{M})\.?(?:[\s/-]*(?:the\s)?|,\s(?=\d+(?:st|nd|rd|th)))(?P<d>{DAY})(?P<y>){MONTH_DAY_RIGHT}", _date),
    Pattern("when", rf"{DAY_LEFT}(?P<d>{DAY})(?:\s(?:day\s)?of\s|\s|-|/|\.\s?)?(?P<m>{M})(?P<y>)\.?{RIGHT}", _date),
)  # fmt: skip
CLOCK_WORDS = (
    Pattern("when", rf"{LEFT}(?P<n>{alternatives(FRACTIONS)}|{NUMBER})\s(?P<min>(?:minutes?|mins?)\s)?(?P<dir>past|after|to|till|before|of)\s(?:(?P<word>noon|midnight|midday)|(?P<h>{NUMBER})(?P<oclock>\s?h(?=\W|$)|\s?o'?\s?clock)?(?:{MERIDIEM})?){RIGHT}(?!\s(?:{UNIT}|thousand|hundred){RIGHT})", _past),
    Pattern("when", rf"{LEFT}(?P<h>{NUMBER})\s?o'?\s?clock(?:\s?(?P<half>[ap])\s?\.?\s?m\.?)?{RIGHT}", _oclock),
    Pattern("when", rf"{LEFT}(?P<h>{WORD_HOUR})(?:\s(?P<m>{WORD_MINUTE}))?\s(?P<half>[ap])\s?\.?\s?m(?![a-z])\.?", _clock_words),
    # Two bare numbers are a time only where one is expected.
    Pattern("when", rf"(?<=at\s|om\s|to\s|nd\s|en\s|by\s|il\s|ll\s|or\s)(?P<h>{WORD_HOUR})[\s-](?P<m>{WORD_MINUTE})(?P<half>){RIGHT}(?!\s(?:{UNIT}|percent|people){RIGHT})", lambda m: clock(int(number(m["h"])), int(number(re.sub(r"^oh?\s", "", m["m"]))))),
    Pattern("when", r"(?<=\bat\s)(?P<h>\d{1,2})\.(?P<m>[0-5]\d)(?![\d.])(?!\s(?:k|kg|percent|m|miles))", lambda m: clock(int(m["h"]), int(m["m"]))),
    Pattern("when", rf"(?<=\bat\s)(?P<h>\d{{1,2}})\s(?P<m>[0-5]\d)(?![\d.:/])(?!\s(?:{UNIT}|percent|[ap]\.?m)|%)", lambda m: clock(int(m["h"]), int(m["m"]))),
    Pattern("when", rf"(?:^|(?<=at\s|by\s|nd\s))half\s(?P<h>{WORD_HOUR})(?![a-z])", lambda m: clock(int(number(m["h"])), 30)),
    Pattern("when", rf"{LEFT}(?P<h>\d{{1,4}})\s?-?ish{RIGHT}", _ish),
    Pattern("when", _words(NOON), lambda m: When(clock=Clock(NOON[m.group()], exact=True))),
    Pattern("when", _words(("noonish", "around noon", "about noon")), lambda m: When(clock=Clock(12, exact=True), fuzzy=True)),
)  # fmt: skip
DURATIONS = (
    Pattern("dur", rf"(?<![\d.,:$/a-z-])(?P<n>{COUNT})(?:\s|-)?(?:more\s|long\s|full\s|whole\s)?(?:(?P<u>{UNIT}){RIGHT}|(?P<short>(?<=\d\s)[hm]|(?<=\d)(?:s|m|h|d|w|y|mo|mos)|(?<=\d)'){RIGHT}(?!\s?\d))(?P<half>\sand\sa\s(?:half|quarter)){{0,1}}", _duration),
)  # fmt: skip
DECADE = Pattern("when", rf"{LEFT}(?P<d>(?:1[89]|20)\d0|'?\d0)'?s{RIGHT}", _decade)  # fmt: skip
RELATIVE_WORDS = (
    Pattern("when", _words(RELATIVES) + r"(?!\.[a-z])", lambda m: RELATIVES[m.group()]),
    Pattern("when", r"(?<=\bto\s)date(?!\s?[a-z0-9])", lambda m: Relative("second", 0)),
    Pattern("when", rf"{EDGE_LEFT}(?:(?P<y>(?:19|20)\d\d)\s?-?)?(?P<q>[qh])(?P<n>[1-4])(?:\s?(?:of\s|,\s?|-)?(?P<z>(?:19|20)\d\d))?{RIGHT}", _quarter),
    Pattern("when", _words(PARTS), _part),
    Pattern("edge", rf"{LEFT}{alternatives(w for ws in EDGES.values() for w in ws)}(?:-(?=[a-z0-9])|(?=\s))(?!\sof\sthe\sday)", _edge),
    Pattern("when", r"(?<=\bat\s)(?:lunch|dinner|breakfast)(?![a-z])", lambda m: When(part=m.group())),
    Pattern("loose", _words(("am", "pm", "a.m.", "p.m.")), _meridiem_part),
    Pattern("when", rf"{LEFT}(?P<w>{W})\.?{RIGHT}", _weekday),
    Pattern("when", rf"{LEFT}(?P<m>{M})\.?{RIGHT}", _month),
    Pattern("when", _words(SEASONS), _season),
    Pattern("when", rf"{LEFT}(?:the\s)?(?:nineteen\s)?(?P<d>{alternatives(DECADES)}){RIGHT}", lambda m: When(base=_ten_years(1900 + DECADES[m["d"]]))),
    Pattern("set", rf"{LEFT}(?:once|twice|{WORD_HOUR}\stimes|\d\stimes|several\stimes)\s(?:an?|per|every|each)\s(?P<u>{UNIT}){RIGHT}", lambda m: UNITS[m["u"]]),
    Pattern("set", rf"(?!everyday\s[a-z]){_words(SETS)}", lambda m: SETS[m.group()]),
    Pattern("weekdays", _words(f"{w}s" for w in WEEKDAYS if len(w) > 5), lambda m: WEEKDAYS[m.group()[:-1]]),
    Pattern("ordafter", rf"{LEFT}(?:after|before)\s(?:the\s)?(?:next|last){RIGHT}(?!\s(?:{W}|{M}|{UNIT}){RIGHT})", lambda m: 2 if m.group()[0] == "a" else -2),
)  # fmt: skip
REST = (
    Pattern("shift", _words(SHIFTS), lambda m: SHIFTS[m.group()]),
    Pattern("closest", _words(CLOSEST), lambda m: CLOSEST[m.group()]),
    Pattern("to", r"-+|(?<=:\d\d)/(?=\d{4}-)"),
    Pattern("when", rf"{LEFT}(?:the\s)?(?:calendar\s|fiscal\s)?(?:years?|fy|cy)\s?(?P<y>{YEAR})(?![\d_%]|[.,:/]\d|[a-z])", _loose_year),
    Pattern("when", rf"{EDGE_LEFT}(?P<y>(?:19|20)\d\d)-?w(?P<n>\d\d)(?!\d)", _iso_week),
    Pattern("weekof", r"(?<![a-z0-9])(?:w/c|wc|week commencing)(?=\s)"),
    Pattern("units", _words(u for u in LONG_UNITS if u.endswith("s")), lambda m: UNITS[m.group()]),
    Pattern("ord", rf"{LEFT}second(?=\s(?:last\s)?(?:{UNIT}|{W}|half){RIGHT})", lambda m: 2),
    Pattern("unit", rf"{LEFT}half(?=\sof\s(?:the\s|last\s|this\s|next\s)?(?:year|{YEAR}))", lambda m: "half"),
    Pattern("unit", rf"{LEFT}work(?:ing)?[\s-]?week{RIGHT}", lambda m: "workweek"),
    Pattern("unit", rf"{LEFT}(?:calendar\s|fiscal\s|work\s?|school\s)?(?P<u>{UNIT}){RIGHT}", lambda m: UNITS[m["u"]]),
    Pattern("ord", rf"{LEFT}(?:\d{{1,2}}(?:st|nd|rd|th)|{ENGLISH_ORDINAL}){RIGHT}", lambda m: day_number(m.group())),
    Pattern("when", rf"{EDGE_LEFT}(?P<y>{YEAR})(?:\s(?:ad|ce)(?![a-z]))?(?![\d_%]|[.,:/]\d|[a-z]|-\d{{5}})", _year),
    Pattern("loose", rf"{EDGE_LEFT}(?P<y>{YEAR})(?![\d_%]|[.,:/]\d|[a-z])", _loose_year),
    Pattern("num", rf"{EDGE_LEFT}(?:\d{{1,4}}|{ENGLISH_CARDINAL}){RIGHT}", lambda m: number(m.group())),
)  # fmt: skip


__all__ = ["CUES", "FUTURE", "PAST", "build"]


def build() -> Lexer:
    shift_first = [Pattern("closest", _words(w for w in CLOSEST if " " in w), lambda m: CLOSEST[m.group()])]
    patterns = [
        *DATE_WORDS,
        *ZONES,
        *DATES,
        *CLOCKS,
        *CLOCK_WORDS,
        DECADE,
        *DURATIONS,
        LOOSE_DATE,
        *RELATIVE_WORDS,
        *shift_first,
        *(_binding(kind, words) for kind, words in BINDING.items()),
        *REST,
    ]
    words = {_words(table) for table in (RELATIVES, PARTS, SEASONS, SETS, SHIFTS)}
    patterns = [
        replace(p, first="other") if p.regex in words or p.kind in BINDING or p.kind in ("edge", "weekdays") else p
        for p in patterns
    ]
    return Lexer(patterns, STARTS)


def _first_words() -> set[str]:
    tables = (
        DECADES,
        {"once": 1, "twice": 2},
        MONTHS,
        WEEKDAYS,
        SEASONS,
        LONG_UNITS,
        PARTS,
        RELATIVES,
        SHIFTS,
        NOON,
        SETS,
        QUANTITIES,
        FEASTS,
        ENGLISH_WORDS,
    )
    words = {w for table in tables for w in table}
    words |= {w for group in (*BINDING.values(), *EDGES.values()) for w in group} | {"workweek", "noonish", "date"}
    words |= {
        "calendar",
        "fiscal",
        "work",
        "school",
        "w",
        "wc",
        "half",
        "working",
        "lunch",
        *CLOSEST,
        *OFFSETS,
        "eastern",
        "pacific",
        "central",
        "mountain",
        "beijing",
        "london",
        "dinner",
        "breakfast",
    }
    words |= {f"{w}s" for w in WEEKDAYS} | {"am", "pm", "q1", "q2", "q3", "q4", "h1", "h2"}
    return {re.split(r"[^a-z0-9]", w)[0] for w in words}


# A token begins with a digit, one of the signs that bind, or a word of the tables; other words are passed in one step.
STARTS = (
    rf"(?<![a-z0-9_])(?:(?:{'|'.join(sorted(filter(str.isalpha, _first_words()), key=len, reverse=True))})(?![a-z])"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|[qh])(?=\d))|(?<!\d)\d|(?<=\d)h\d|[-,&@'½¼¾/]|(?<=:\d\d)[+]\d\d"
    r"|(?<=\d{4}[-/.]\d\d[-/.]\d\d)\d|(?<=\d)(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|[a-z]{1,5}(?![a-z]))"
)
