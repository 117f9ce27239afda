"""English: tables of words and the patterns built from them. Reads folded text (`text.fold`)."""

import re
from datetime import datetime

from streams.memory.timephrases.calendar import Span
from streams.memory.timephrases.digits import EDGE_LEFT, MERIDIEM, checked, clock, year_of
from streams.memory.timephrases.digits import PATTERNS as DIGITS
from streams.memory.timephrases.feasts import RULES
from streams.memory.timephrases.numerals import ENGLISH_CARDINAL, ENGLISH_ORDINAL, ENGLISH_YEAR, english
from streams.memory.timephrases.tokens import Clock, Duration, Pattern, Relative, When, alternatives

MONTHS = {
    name: i
    for i, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sept sep", "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip
WEEKDAYS = {
    name: i
    for i, names in enumerate(
        ("monday mon", "tuesday tues tue", "wednesday weds wed", "thursday thurs thur thu", "friday fri",
         "saturday sat", "sunday sun"))
    for name in names.split()
}  # fmt: skip
SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}
UNITS = {
    name: unit
    for unit, names in {
        "second": "second seconds sec secs s",
        "minute": "minute minutes min mins m '",
        "hour": "hour hours hr hrs h",
        "day": "day days d",
        "week": "week weeks wk wks w",
        "fortnight": "fortnight fortnights",
        "weekend": "weekend weekends",
        "month": "month months mo mos",
        "quarter": "quarter quarters qtr qtrs",
        "year": "year years yr yrs y",
        "decade": "decade decades",
        "century": "century centuries",
        "season": "season seasons",
    }.items()
    for name in names.split()
}
SHORT_UNITS = frozenset({"s", "m", "h", "d", "w", "y", "'", "mo", "mos"})  # a unit only right behind digits
PARTS = {
    "early morning": "early morning", "early-morning": "early morning", "late morning": "late morning",
    "late-morning": "late morning", "mid-morning": "mid morning", "midmorning": "mid morning",
    "mid morning": "mid morning", "morning": "morning", "mornings": "morning", "dawn": "small hours",
    "sunrise": "early morning", "early hours of the morning": "small hours", "small hours": "small hours",
    "lunchtime": "lunch", "lunch time": "lunch", "lunch-time": "lunch", "dinnertime": "dinner",
    "early afternoon": "early afternoon", "early-afternoon": "early afternoon", "late afternoon": "late afternoon",
    "late-afternoon": "late afternoon", "afternoon": "afternoon", "afternoons": "afternoon",
    "early evening": "early evening", "early-evening": "early evening", "late evening": "late evening",
    "late-evening": "late evening", "later in the evening": "late evening", "evening": "evening",
    "evenings": "evening", "dusk": "dusk", "sunset": "dusk",
    "early night": "evening", "early-night": "evening", "late night": "late night", "late-night": "late night",
    "night": "night", "nights": "night", "nighttime": "night", "night-time": "night", "night time": "night",
    "daytime": "daytime", "day-time": "daytime", "business hours": "business hours", "working hours": "business hours",
}  # fmt: skip
RELATIVES = {
    **dict.fromkeys(("today", "otd"), Relative("day", 0)),
    **dict.fromkeys(("tomorrow", "tmrw", "tmr", "tomorow"), Relative("day", 1)),
    "yesterday": Relative("day", -1),
    **dict.fromkeys(("the day after tomorrow", "day after tomorrow", "overmorrow"), Relative("day", 2)),
    **dict.fromkeys(("the day before yesterday", "day before yesterday"), Relative("day", -2)),
    **dict.fromkeys(("tonight", "tonite", "this night"), Relative("day", 0, "night")),
    "late tonight": Relative("day", 0, "late night"),
    **dict.fromkeys(("last night", "yesterday night"), Relative("day", -1, "night")),
    "late last night": Relative("day", -1, "late night"),
    **dict.fromkeys(("now", "right now", "just now", "at the moment", "at this moment", "at the minute", "asap",
                     "as soon as possible"), Relative("second", 0)),
    **dict.fromkeys(("eod", "the eod", "end of day", "end of the day", "the end of the day", "cob",
                     "close of business"), Relative("day", 0, clock=Clock(23, 59, exact=True))),
    **dict.fromkeys(("eom", "the eom"), Relative("month", 0, edge="end")),
    **dict.fromkeys(("eoy", "the eoy"), Relative("year", 0, edge="end")),
}  # fmt: skip
SHIFTS = {
    "this": 0, "current": 0, "this coming": 1, "next": 1, "coming": 1, "upcoming": 1, "following": 1, "last": -1,
    "past": -1, "previous": -1, "prior": -1, "this past": -1, "my": 0,
}  # fmt: skip
WORDS: dict[str, tuple[str, ...]] = {
    "in": ("in",), "the": ("the",), "of": ("of", "'s"), "on": ("on",), "at": ("at", "@"),
    "for": ("for",), "from": ("from", "starting from", "starting at", "starting"), "between": ("between",),
    "and": ("and", "&"), "to": ("to", "-", "till", "until", "til", "up to", "'til"),
    "before": ("before", "prior to", "earlier than", "ahead of"), "after": ("after", "later than"),
    "since": ("since", "as of", "starting on", "as early as"), "until": ("by", "not later than", "as late as"),
    "at_most": ("no later than", "on or before", "before or in", "before or on", "at the latest by"),
    "at_least": ("on or after", "later than or at", "no earlier than", "from and after"),
    "ago": ("ago", "earlier", "back"), "later": ("from now", "later", "hence", "from today"),
    "within": ("within", "in less than", "during", "over", "for"), "every": ("every", "each"),
    "other": ("other",),
    "onwards": ("onwards", "onward", "on wards"),
    "or_later": ("or later", "or after", "or beyond"), "or_earlier": ("or earlier", "or before"),
    "approx": ("around", "about", "approximately", "approx", "roughly", "circa", "sometime", "some time", "ish"),
    "comma": (",",), "ordafter": ("after next", "after the next"),
    "beginning": ("beginning", "starting"),
    "last": ("last",),
}  # fmt: skip
EDGES = {
    "start": ("beginning of", "start of", "the beginning of", "the start of"),
    "end": ("end of", "the end of", "end"), "middle": ("middle of", "mid", "mid-", "the middle of"),
    "early": ("early in", "early"), "late": ("late in", "late"),
    "rest": ("rest of", "rest", "remainder of", "remaining of", "remaining"), "later": ("later in", "later"),
    "earlier": ("earlier in", "earlier"),
}  # fmt: skip
SETS = {
    "daily": "day", "weekly": "week", "biweekly": "week", "bi-weekly": "week", "monthly": "month",
    "quarterly": "quarter", "annually": "year", "yearly": "year", "semiannually": "half", "semi-annually": "half",
    "semiannual": "half", "semi-annual": "half", "hourly": "hour", "nightly": "day", "everyday": "day",
    "weekdays": "day", "annual": "year",
}  # fmt: skip
# Words that are more often something else; they count next to other time words or after a preposition of time.
WEAK_MONTHS = frozenset({"may", "march", "mar"})
WEAK_WEEKDAYS = frozenset({"mon", "wed", "sat", "sun", "fri", "tue", "thu"})

LEFT, RIGHT = r"(?<![a-z0-9_'])", r"(?![a-z0-9_])"
M = alternatives(MONTHS)
STRONG_M = alternatives(set(MONTHS) - WEAK_MONTHS)
W = alternatives(WEEKDAYS)
DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{ENGLISH_ORDINAL}|{ENGLISH_CARDINAL})"
YEAR = rf"(?:(?:1[5-9]|20|21)\d\d|'\d\d|{ENGLISH_YEAR})"
NUMBER = rf"(?:\d{{1,4}}(?:\.\d{{1,2}})?|{ENGLISH_CARDINAL})"
LONG_UNIT = alternatives(set(UNITS) - SHORT_UNITS)
QUANTITIES = {
    "a": 1, "an": 1, "one": 1, "the": 1, "a couple of": 2, "a couple": 2, "couple of": 2, "couple": 2, "a pair of": 2,
    "a few": 3, "few": 3, "several": 3, "some": 3, "half a": 0.5, "half an": 0.5, "half": 0.5, "a half": 0.5,
    "three quarters of an": 0.75, "three-quarters of an": 0.75, "a quarter of an": 0.25, "quarter of an": 0.25,
    "½": 0.5, "¼": 0.25, "¾": 0.75, "all": 1, "a whole": 1, "1/2": 0.5, "1/4": 0.25, "3/4": 0.75,
}  # fmt: skip
FUZZY_QUANTITIES = frozenset({"a few", "few", "several", "some", "a couple of", "a couple", "couple of", "couple"})
COUNT = rf"(?:{alternatives(set(QUANTITIES) - {'the'})}|{NUMBER})"


def number(text: str) -> float:
    text = text.strip()
    if text in QUANTITIES:
        return QUANTITIES[text]
    return float(text) if text[0].isdigit() else float(english(text))


def day_number(text: str) -> int:
    return int(re.sub(r"(?:st|nd|rd|th)$", "", text)) if text[0].isdigit() else english(text)


def any_year(text: str) -> int:
    return year_of(text) if text[0] in "'0123456789" else english(text)


def _duration(m: "re.Match[str]") -> Duration | None:
    amount = number(m["n"])
    unit = UNITS.get(m["u"] or m["short"])
    if unit is None or amount > 100_000:
        return None
    if m["half"]:
        amount += 0.25 if "quarter" in m["half"] else 0.5
    return Duration(((amount, unit),), fuzzy=m["n"].strip() in FUZZY_QUANTITIES)


def _month_day(m: "re.Match[str]") -> When | None:
    day = day_number(m["d"])
    month = MONTHS[m["m"]]
    if m["y"]:
        return checked(any_year(m["y"]), month, day)
    return checked(None, month, day)


def _month_year(m: "re.Match[str]") -> When:
    return When(year=any_year(m["y"]), month=MONTHS[m["m"]])


def _month(m: "re.Match[str]") -> When | None:
    name = m["m"]
    if name in WEAK_MONTHS and not _supported(m):
        return None
    return When(month=MONTHS[name])


SUPPORT_BEFORE = re.compile(
    r"(?:^|[\d,/]|\b(?:in|of|since|by|until|till|to|during|for|last|next|this|early|late|mid|before|after|from|between"
    r"|and|every|each|on|and|at|past|previous|coming|or|mid-|end|beginning|of the))[\s-]*$"
)
SUPPORT_AFTER = re.compile(r"\s*(?:$|[.,!?;:)]*\s*$|,?\s*\d|'\d\d|\s(?:last|next|this)\s|\s(?:morning|afternoon|evening|night)|\s(?:after|in)\s(?:next|the|\d|a\b))")


def _supported(m: "re.Match[str]") -> bool:
    """The word stands alone, or behind a preposition of time and not before a plain word that would make it a verb."""
    text = m.string
    before, after = text[max(0, m.start() - 12) : m.start()], text[m.end() : m.end() + 16]
    alone = re.fullmatch(r"\s*", before) is not None and re.fullmatch(r"[\s.!?]*", after) is not None
    numbered = re.match(r"\.?,?\s?(?:\d|the\s(?:\d|first|second|third)|'\d\d)", after) is not None
    preposition = re.search(r"\b(?:in|of|since|by|until|till|during|last|next|this|every|each|mid|early|late|on|before|after|past|from|between|to|and)[\s-]+$", before)
    closed = re.match(r"\s*(?:$|[.,!?;:)\u4e00-\u9fff]|(?:to|and|or|at|morning|afternoon|evening|night|until|through|-|of|last|next|this|for|i|we|he|she|they|when|with|after|in)\b)", after)
    if re.match(r"\s*-?\s*[a-z]+\s*-?\s*to\b", after) and not preposition:
        return False
    tail = re.search(r"(?:\d|[,-]|[ap]m)\s*$", before) is not None
    return bool(alone or numbered or (preposition and closed) or (tail and closed))


def _weekday(m: "re.Match[str]") -> When | None:
    name = m["w"]
    if name in WEAK_WEEKDAYS and name in ("sat", "sun", "wed", "mon") and not _supported(m):
        return None
    return When(weekday=WEEKDAYS[name])


def _season(m: "re.Match[str]") -> When | None:
    name = m.group()
    if name in ("fall", "spring") and not re.search(r"\b(?:in|of|since|by|until|during|last|next|this|every|each|the|early|late|mid|current|past|previous|coming|before|after)[\s-]+$", m.string[max(0, m.start() - 12) : m.start()]):
        return None
    return When(season=SEASONS[name])


def _clock_words(m: "re.Match[str]") -> When | None:
    hour = int(number(m["h"]))
    minute = None if m["m"] is None else int(number(m["m"].removeprefix("oh ").removeprefix("o ")))
    if hour > 12 and m["half"]:
        return None
    return clock(hour, minute, None, m["half"])


def _oclock(m: "re.Match[str]") -> When | None:
    return clock(int(number(m["h"])), None, None, m["half"])


FRACTIONS = {"half": 30, "quarter": 15, "a quarter": 15, "three quarters": 45, "a half": 30}


def _past(m: "re.Match[str]") -> When | None:
    minutes = FRACTIONS.get(m["n"]) or int(number(m["n"]))
    if minutes > 59:
        return None
    if m["word"]:
        base = {"noon": 12, "midday": 12, "midnight": 0}[m["word"]]
        half = None
        exact = True
    else:
        base, half, exact = int(number(m["h"])), m["half"], False
    if m["dir"] in ("to", "till", "before", "of"):
        total = (base * 60 - minutes) % 1440
        if base <= 12 and not exact:
            total = ((base % 12 or 12) * 60 - minutes) % 720
            total += 720 if total < 60 else 0
        return clock(total // 60, total % 60, None, half, exact)
    return clock(base, minutes, None, half, exact or base > 12)


def _ish(m: "re.Match[str]") -> When | None:
    digits = m["h"]
    hour, minute = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), None)
    found = clock(hour, minute)
    return found and When(clock=found.clock, fuzzy=True)


def _decade(m: "re.Match[str]") -> When | None:
    text = m["d"].lstrip("'")
    year = int(text) if len(text) == 4 else (2000 if int(text) < 30 else 1900) + int(text)
    if year % 10:
        return None
    return When(base=Span(datetime(year, 1, 1), datetime(year + 10, 1, 1), "decade"))


def _quarter(m: "re.Match[str]") -> Relative | None:
    """Q3, Q3 2016, 2016Q3, H1 2016."""
    unit, n = ("quarter", int(m["n"])) if m["q"] == "q" else ("half", int(m["n"]))
    year = m["y"] or m["z"]
    return None if unit == "half" and (n > 2 or not year) else Relative(unit, 0, nth=n, year=year and int(year))


NOON = {"noon": (12, False), "midday": (12, False), "mid day": (12, False), "mid-day": (12, False),
        "12 noon": (12, False), "noonish": (12, True), "midnight": (0, False), "12 midnight": (0, False),
        "noontime": (12, False), "noon time": (12, False)}  # fmt: skip


def _word(*words: str) -> str:
    return LEFT + alternatives(words) + RIGHT


def _minutes_pair(m: "re.Match[str]") -> When | None:
    return clock(int(number(m["h"])), int(number(m["m"])))


WORD_HOUR = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
WORD_MINUTE = (
    r"(?:(?:oh?\s)(?:one|two|three|four|five|six|seven|eight|nine)|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty)(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?)"
)
FEASTS = [name for name in RULES if name.isascii() and not name.isdigit()]


def _kinds() -> list[Pattern]:
    patterns = [
        # --- dates ---
        Pattern("when", rf"{EDGE_LEFT}(?P<y>(?:19|20)\d\d)\s?[-/,]?\s?(?P<m>{M})\.?\s?[-/]\s?(?P<d>\d{{1,2}})(?!\d|[:/.]\d)", _month_day),
        Pattern("when", rf"{EDGE_LEFT}(?P<y>(?:19|20)\d\d)\s?[-/]\s?(?P<d>\d{{1,2}})\s?[-/]\s?(?P<m>{M}){RIGHT}", _month_day),
        Pattern("when", rf"{LEFT}(?P<m>{M})\.?[\s/-]*(?:the\s)?(?P<d>{DAY})(?:\s(?:day\s)?|,\s?|-|/|\s?,\s?)(?:of\s)?(?P<y>{YEAR})(?![\d:]|[.,]\d|\s?[ap]\.?m)", _month_day),
        Pattern("when", rf"(?<![\d.,:$/a-z])(?P<d>{DAY})(?:\s(?:day\s)?of\s|\s|-|/|\.\s?)?(?P<m>{M})\.?(?:,?\s(?:of\s)?|-|/|\.|,)?(?P<y>{YEAR})(?![\d:]|[.,]\d|\s?[ap]\.?m)", _month_day),
        Pattern("when", rf"(?<![\d.,:$/a-z])(?P<d>\d{{1,2}}(?:st|nd|rd|th)?)\s(?:of\s)?(?P<m>{M})\s(?P<y>\d\d)(?=$|[.!?,;])", lambda m: _month_day_short(m)),
        Pattern("when", rf"{EDGE_LEFT}(?P<y>{YEAR})\s?[,/-]?\s?(?P<m>{STRONG_M}|may|march){RIGHT}", _month_year),
        Pattern("when", rf"{LEFT}(?P<m>{M})\.?(?:\s?,?\s?(?:of\s|in\s)?|\sof\s|/|-)(?P<y>{YEAR}|(?<=of\s)\d\d)(?![\d:]|[.,/]\d|\s?[ap]\.?m)", _month_year),
        Pattern("when", rf"{LEFT}(?P<m>{M})\.?[\s/-]*(?:the\s)?(?P<d>{DAY})(?P<y>)(?![\d:]|[.,]\d|\s?(?:[ap]\.?m{RIGHT}|o'?clock)|h\d|[a-z])", _month_day),
        Pattern("when", rf"(?<![\d.,:$/a-z])(?<!\$)(?P<d>{DAY})(?:\s(?:day\s)?of\s|\s|-|/|\.\s?)?(?P<m>{M})(?P<y>)\.?{RIGHT}", lambda m: _month_day(m) if m["m"] not in ("mar", "march", "may") or _supported_at(m, "m") else None),
        # --- clock ---
        Pattern("when", rf"{LEFT}(?P<n>half|a quarter|quarter|three quarters|{NUMBER})\s(?:(?:minutes?|mins?)\s)?(?P<dir>past|after|to|till|before|of)\s(?:(?P<word>noon|midnight|midday)|(?P<h>{NUMBER})(?:\s?h(?=\W|$)|\s?o'?\s?clock)?(?:{MERIDIEM.replace('short', 'short1')})?){RIGHT}", lambda m: _past(m) if _past_ok(m) else None),
        Pattern("when", rf"{LEFT}(?P<h>{NUMBER})\s?o'?\s?clock(?:\s?(?P<half>[ap])\s?\.?\s?m\.?)?{RIGHT}", _oclock),
        Pattern("when", rf"{LEFT}(?P<h>{WORD_HOUR})(?:\s(?P<m>{WORD_MINUTE}))?\s(?P<half>[ap])\s?\.?\s?m(?![a-z])\.?", _clock_words),
        Pattern("when", rf"(?<=at\s|om\s|to\s|nd\s|en\s|nd\s|by\s|il\s|ll\s)(?P<h>{WORD_HOUR})\s(?P<m>{WORD_MINUTE}){RIGHT}(?!\s(?:{LONG_UNIT}|percent|people))", _minutes_pair),
        Pattern("when", rf"{LEFT}(?P<h>\d{{1,4}})\s?-?ish{RIGHT}", _ish),
        Pattern("when", _word(*NOON), lambda m: When(clock=Clock(NOON[m.group()][0], exact=True), fuzzy=NOON[m.group()][1])),
        # --- durations ---
        Pattern("dur", rf"(?<![\d.,:$/a-z-])(?P<n>{COUNT})(?:\s|-)?(?:more\s|long\s|full\s)?(?:(?P<u>{LONG_UNIT}){RIGHT}|(?P<short>(?<=\d\s)[hm]|(?<=\d)(?:s|m|h|d|w|y|mo|mos)|(?<=\d)'){RIGHT})(?P<half>\sand\sa\s(?:half|quarter)){{0,1}}", _duration),
    ]
    return patterns


def _month_day_short(m: "re.Match[str]") -> When | None:
    return checked(year_of(m["y"]), MONTHS[m["m"]], day_number(m["d"]))


def _supported_at(m: "re.Match[str]", group: str) -> bool:
    return re.match(r"\.?\s*(?:$|[^a-z\s]|(?:in|at|to|until|till|through|and|or|for|from|between|on|this|next|last|i|we)\b)", m.string[m.end(group) : m.end(group) + 12]) is not None


def _past_ok(m: "re.Match[str]") -> bool:
    if m["word"]:
        return True
    hour = number(m["h"])
    if not (hour == int(hour) and 0 < hour <= 24):
        return False
    if m["dir"] in ("of", "before", "after") and m["n"] not in FRACTIONS and not (m["half"] or m["short1"]) and "clock" not in m.group() and not m.group().rstrip().endswith("h"):
        return m["dir"] == "after" and "minute" in m.group()
    if m["dir"] in ("to", "till") and m["n"] not in FRACTIONS and not ("minute" in m.group() or "min" in m.group() or "clock" in m.group()):
        return m["n"] in ("five", "ten", "twenty", "twenty-five", "twenty five")
    return number(m["n"]) < 60 if m["n"] not in FRACTIONS else True


def _edge(m: "re.Match[str]") -> str:
    return next(edge for edge, words in EDGES.items() if m.group() in words)


def _kind_of(word: str) -> str:
    return next(kind for kind, words in WORDS.items() if word in words)


def _part(m: "re.Match[str]") -> When:
    return When(part=PARTS[m.group()])


def _table(kind: str) -> Pattern:
    words = WORDS[kind]
    lexical = [w for w in words if w[0].isalpha()]
    other = [w for w in words if not w[0].isalpha()]
    regex = "|".join(([_word(*lexical)] if lexical else []) + [re.escape(w) for w in other])
    return Pattern(kind, f"(?:{regex})")


def _ordinal(m: "re.Match[str]") -> float:
    return day_number(m.group())


def build() -> list[Pattern]:
    order_words = ("or_later", "or_earlier", "at_most", "at_least", "ordafter", "approx", "since", "until", "before",
                   "after", "later", "ago", "onwards", "within", "every", "other", "between", "from", "and", "for", "in",
                   "the", "of", "on", "at", "comma")  # fmt: skip
    dates = _kinds()
    return [
        Pattern("when", LEFT + alternatives(FEASTS) + RIGHT, lambda m: When(feast=m.group())),
        *dates[:9],
        *DIGITS,
        *dates[9:],
        Pattern("when", _word(*RELATIVES), lambda m: RELATIVES[m.group()]),
        Pattern("when", rf"{LEFT}(?P<d>(?:1[89]|20)\d0|'?\d0)'?s{RIGHT}", _decade),
        Pattern("when", rf"{EDGE_LEFT}(?:(?P<y>(?:19|20)\d\d)\s?-?)?(?P<q>[qh])(?P<n>[1-4])(?:\s?(?:of\s|,\s?|-)?(?P<z>(?:19|20)\d\d))?{RIGHT}", _quarter),
        Pattern("edge", LEFT + alternatives(w for ws in EDGES.values() for w in ws) + r"(?![a-z0-9_])(?=\s|-)", _edge),
        Pattern("when", _word(*PARTS), _part),
        Pattern("when", rf"{LEFT}(?P<w>{W})\.?{RIGHT}", _weekday),
        Pattern("when", rf"{LEFT}(?P<m>{M})\.?{RIGHT}", _month),
        Pattern("when", _word(*SEASONS), _season),
        Pattern("set", _word(*SETS, *(f"{w}s" for w in WEEKDAYS if len(w) > 5)), lambda m: SETS.get(m.group(), "week")),
        *(_table(kind) for kind in order_words),
        Pattern("shift", _word(*SHIFTS), lambda m: SHIFTS[m.group()]),
        Pattern("to", rf"{LEFT}(?P<w>to|till|until|til|up\sto|'til|through|thru){RIGHT}|-(?!\d{{4}})", lambda m: "through" if m.group() in ("through", "thru") else "to"),
        Pattern("unit", _word(*(set(UNITS) - SHORT_UNITS), "workweek"), lambda m: "week" if m.group() == "workweek" else UNITS[m.group()]),
        Pattern("ord", rf"{LEFT}(?:\d{{1,2}}(?:st|nd|rd|th)|{ENGLISH_ORDINAL}){RIGHT}", _ordinal),
        Pattern("when", rf"{EDGE_LEFT}(?P<y>{YEAR})(?:\s(?:ad|ce))?(?![\d_%]|[.,:/]\d|[a-z]|\s?-\s?\d{{3,4}}-)", lambda m: When(year=any_year(m["y"])) if 1900 <= any_year(m["y"]) <= 2100 else None),
        Pattern("num", rf"{EDGE_LEFT}(?:\d{{1,4}}|{ENGLISH_CARDINAL}){RIGHT}", lambda m: number(m.group())),
    ]
