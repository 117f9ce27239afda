"""English words of time: tables only. Folded spelling (`text.fold`)."""

from streams.memory.timephrases.tokens import Clock, Relative

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
SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter",
           "springtime": "spring", "summertime": "summer", "wintertime": "winter"}  # fmt: skip
# More often something else: they count next to a number or between a preposition of time and the end of a clause.
WEAK = frozenset({"may", "march", "mar", "sat", "sun", "wed", "mon", "dec", "jan", "fall", "spring"})

UNITS = {
    name.replace("_", " "): unit
    for unit, names in {
        "second": "second seconds sec secs s",
        "minute": "minute minutes min mins m '",
        "hour": "hour hours hr hrs h",
        "day": "day days d",
        "workday": "workday workdays weekday weekdays business_day business_days working_day working_days",
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
LONG_UNITS = frozenset(UNITS) - SHORT_UNITS

PARTS = {
    phrase: part
    for part, phrases in {
        "small hours": ("dawn", "early hours of the morning", "early hours", "small hours"),
        "early morning": ("early morning", "sunrise"),
        "morning": ("morning", "mornings", "forenoon"),
        "late morning": ("late morning",),
        "mid morning": ("mid morning", "midmorning"),
        "lunch": ("lunchtime", "lunch time"),
        "dinner": ("dinnertime", "dinner time"),
        "breakfast": ("breakfast time",),
        "early afternoon": ("early afternoon",),
        "afternoon": ("afternoon", "afternoons", "midafternoon"),
        "late afternoon": ("late afternoon",),
        "dusk": ("dusk", "sunset"),
        "early evening": ("early evening",),
        "evening": ("evening", "evenings", "early night"),
        "late evening": ("late evening", "later in the evening"),
        "night": ("night", "nights", "nighttime", "night time", "overnight"),
        "late night": ("late night", "late at night"),
        "daytime": ("daytime", "day time"),
        "business hours": ("business hours", "working hours", "office hours"),
        "after lunch": ("after lunch",),
        "after breakfast": ("after breakfast",),
        "after work": ("after work", "after school"),
        "after dinner": ("after dinner", "after supper"),
    }.items()
    for phrase in {p.replace(" ", joint) for p in phrases for joint in (" ", "-")}
}
NOT_A_TIME_AFTER = ("good", "nice", "great", "lovely", "happy")  # good night

TODAY, TOMORROW, YESTERDAY = (Relative("day", n) for n in (0, 1, -1))
NOW = Relative("second", 0)
RELATIVES = {
    **dict.fromkeys(("today", "otd"), TODAY),
    **dict.fromkeys(("tomorrow", "tmrw", "tmr", "tomorow", "tommorow", "tommorrow"), TOMORROW),
    "yesterday": YESTERDAY,
    **dict.fromkeys(("the day after tomorrow", "day after tomorrow", "overmorrow"), Relative("day", 2)),
    **dict.fromkeys(("the day before yesterday", "day before yesterday"), Relative("day", -2)),
    **dict.fromkeys(("tonight", "tonite", "this night"), Relative("day", 0, "night")),
    "late tonight": Relative("day", 0, "late night"),
    **dict.fromkeys(("last night", "yesterday night"), Relative("day", -1, "night")),
    "late last night": Relative("day", -1, "late night"),
    "the night before last": Relative("day", -2, "night"),
    **dict.fromkeys(("right now", "just now", "now", "at the moment", "at this moment", "at the minute",
                     "at the present time", "at present", "at this time", "asap",
                     "as soon as possible"), NOW),
    **dict.fromkeys(("eod", "the eod", "end of day", "end of the day", "the end of the day", "cob",
                     "close of business"), Relative("day", 0, clock=Clock(23, 59, exact=True))),
    **dict.fromkeys(("ytd", "year to date", "the year to date"), Relative("year", 0, edge="to date")),
    **dict.fromkeys(("mtd", "month to date", "the month to date"), Relative("month", 0, edge="to date")),
    **dict.fromkeys(("eom", "the eom"), Relative("month", 0, edge="end")),
    **dict.fromkeys(("eoy", "the eoy"), Relative("year", 0, edge="end")),
}  # fmt: skip
SHIFTS = {
    "this": 0, "current": 0, "my": 0, "all": 0, "next": 1, "following": 1, "last": -1, "previous": -1, "prior": -1,
}  # fmt: skip

# With a weekday the very next or the very last one, with a unit like "next" and "last".
CLOSEST = {
    "this coming": 1,
    "coming": 1,
    "upcoming": 1,
    "forthcoming": 1,
    "past": -1,
    "this past": -1,
    "most recent": -1,
}

NOON = {
    **dict.fromkeys(("noon", "midday", "mid day", "mid-day", "12 noon", "noontime", "noon time", "high noon"), 12),
    **dict.fromkeys(("midnight", "12 midnight"), 24),  # the coming one
}

# Words that bind phrases, by the kind of token they are; where two kinds share a word the first one listed has it.
BINDING: dict[str, tuple[str, ...]] = {
    "or_later": ("or later", "or after", "or beyond", "and later", "and after", "or newer"),
    "or_earlier": ("or earlier", "or before", "and earlier", "and before"),
    "at_most": ("no later than", "on or before", "before or in", "before or on", "at the latest by"),
    "at_least": ("on or after", "later than or at", "no earlier than", "not earlier than", "not before",
                 "as early as"),
    "approx": ("around", "about", "approximately", "approx", "roughly", "circa", "sometime", "some time",
               "somewhere around"),
    "since": ("ever since", "since", "as of", "starting on", "beginning on", "effective"),
    "until": ("not later than", "as late as", "until", "till", "til", "'til", "up to", "by"),
    "before": ("before", "prior to", "earlier than", "ahead of"),
    "after": ("later than", "after"),
    "later": ("from now", "later", "hence"),
    "ago": ("ago", "earlier", "back", "before now", "prior"),
    "onwards": ("onwards", "onward", "and onwards"),
    "within": ("within", "in less than", "in the space of"),
    "every": ("every", "each"),
    "other": ("other",),
    "between": ("in between", "between"),
    "from": ("starting from", "starting at", "beginning from", "starting", "from"),
    "beginning": ("beginning", "commencing"),
    "to": ("to", "through", "thru"),
    "and": ("and", "&"),
    "for": ("for",),
    "in": ("in", "during", "over"),
    "the": ("the",),
    "of": ("of",),
    "glue": ("'s", "sharp", "exactly", "precisely", "on the dot"),
    "on": ("on",),
    "at": ("at", "@"),
    "comma": (",",),
}  # fmt: skip
EDGES = {
    "start": ("the beginning of", "the start of", "beginning of", "start of"),
    "middle": ("the middle of", "middle of", "mid"),
    "end": ("the end of", "end of"),
    "early": ("early in", "early"),
    "late": ("late in", "late"),
    "rest": ("the rest of", "rest of", "rest", "remainder of", "remaining of", "remaining"),
    "later": ("later in", "later"),
    "earlier": ("earlier in", "earlier"),
}
DECADES = {"twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80,
           "nineties": 90}  # fmt: skip
SETS = {
    "daily": "day", "weekly": "week", "biweekly": "week", "bi-weekly": "week", "fortnightly": "week",
    "monthly": "month", "bimonthly": "month", "quarterly": "quarter", "annually": "year", "yearly": "year",
    "annual": "year", "semiannually": "half", "semi-annually": "half", "semiannual": "half", "semi-annual": "half",
    "hourly": "hour", "nightly": "day", "everyday": "day", "on weekdays": "day", "on weekends": "weekend",
}  # fmt: skip
QUANTITIES = {
    "a": 1, "an": 1, "a whole": 1, "another": 1, "full": 1, "a full": 1, "a couple of": 2, "a couple": 2,
    "couple of": 2, "couple": 2,
    "a pair of": 2, "a few": 3, "few": 3, "several": 3, "some": 3, "half a": 0.5, "half an": 0.5, "half": 0.5,
    "a half": 0.5, "a quarter of an": 0.25, "quarter of an": 0.25, "three quarters of an": 0.75,
    "three-quarters of an": 0.75, "½": 0.5, "¼": 0.25, "¾": 0.75, "1/2": 0.5, "1/4": 0.25, "3/4": 0.75,
    "one and a half": 1.5, "a dozen": 12,
}  # fmt: skip
FUZZY = frozenset({"a few", "few", "several", "some", "a couple of", "a couple", "couple of", "couple"})
