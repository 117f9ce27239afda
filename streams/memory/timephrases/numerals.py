"""Numbers as people write them: Arabic, Chinese and English words."""

import re

HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "幺": 1,
    "壹": 1,
    "叁": 3,
    "首": 1,
    "俩": 2,
    "仨": 3,
}
HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "廿": 20, "卅": 30}
HAN = "零〇一二两三四五六七八九十百千廿卅"

ONES = {
    w: i
    for i, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
TENS = {
    w: 10 * i for i, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
ORDINAL_ONES = {
    w: i
    for i, w in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
        ],
        1,
    )
}
ORDINAL_TENS = {"twentieth": 20, "thirtieth": 30}
_ALTERNATIVES = {
    name: "|".join(sorted(table, key=len, reverse=True))
    for name, table in (("ones", ONES), ("tens", TENS), ("ord_ones", ORDINAL_ONES), ("ord_tens", ORDINAL_TENS))
}
ENGLISH_ORDINAL = (
    r"(?:(?:{tens})[\s-]?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|{ord_tens}|{ord_ones})"
).format(**_ALTERNATIVES)
ENGLISH_CARDINAL = r"(?:(?:{tens})(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?|{ones})".format(
    **_ALTERNATIVES
)
ENGLISH_YEAR = (
    rf"(?:(?:nineteen|eighteen)\shundred(?:\sand)?(?:\s{ENGLISH_CARDINAL})?"
    rf"|two\sthousand(?:(?:\sand)?\s{ENGLISH_CARDINAL})?"
    rf"|(?:nineteen|twenty)\s(?:{_ALTERNATIVES['tens']})(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?"
    rf"|twenty\s(?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen))"
)

ENGLISH_WORDS = frozenset(ONES) | TENS.keys() | ORDINAL_ONES.keys() | ORDINAL_TENS.keys() | {"half", "quarter"}


def han(text: str) -> float:
    """Value of a Chinese or Arabic numeral: 二十三, 二〇二三 (by digits), 3.5, 半.

    Raises:
        ValueError: not a numeral.
    """
    if text == "半":
        return 0.5
    if text[0].isdigit() and text.isascii():
        return float(text)
    if not set(text) & HAN_UNITS.keys():
        return int("".join(str(HAN_DIGITS[c]) if c in HAN_DIGITS else c for c in text))
    total = section = digit = 0
    for c in text:
        if c in HAN_DIGITS:
            digit = HAN_DIGITS[c]
        elif c in "廿卅":
            section += HAN_UNITS[c]
        elif c == "万":
            total, section, digit = total + (section + digit) * 10_000, 0, 0
        elif c in HAN_UNITS:
            section, digit = section + (digit or 1) * HAN_UNITS[c], 0
        else:
            raise ValueError("not a numeral")
    return total + section + digit


def english(text: str) -> int:
    """Value of an English number word, cardinal or ordinal, up to a year: "twenty-first", "two thousand and five"."""
    words = [w for w in re.split(r"[\s-]+", text) if w != "and"]
    total = 0
    pair = 0
    for word in words:
        if word == "hundred":
            pair *= 100
        elif word == "thousand":
            total, pair = pair * 1000, 0
        else:
            value = next(t[word] for t in (ONES, TENS, ORDINAL_ONES, ORDINAL_TENS) if word in t)
            # "nineteen ninety three" is said in two pairs.
            pair = pair * 100 + value if 10 <= pair < 100 and (value >= 10) else pair + value
    return total + pair
