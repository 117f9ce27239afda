"""Bank cards with what is printed beside the number, IBANs, account numbers, wallets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from stdnum import bitcoin, iban
from stdnum.iso7064 import mod_97_10

from streams.memory.look import Looked
from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import CERTAIN, LABELLED, Recognizer, before
from streams.memory.redaction.recognizers.numbers import OTHER_NUMBER, Run, runs, stands_alone

# Issuer prefixes and the lengths that they issue (ISO/IEC 7812, as published by the networks).
_ISSUERS = tuple(
    (prefix, frozenset(lengths))
    for prefix, lengths in (
        (r"4", (13, 16, 19)),  # Visa
        (r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720", (16,)),  # Mastercard
        (r"3[47]", (15,)),  # American Express
        (r"30[0-5]|309|36|3[89]", (14, 16, 19)),  # Diners Club
        (r"6011|64[4-9]|65", (16, 17, 18, 19)),  # Discover
        (r"62|81", (16, 17, 18, 19)),  # UnionPay
        (r"35(?:2[89]|[3-8])", (16, 17, 18, 19)),  # JCB
        (r"2131|1800", (15,)),  # JCB
        (r"50|5[6-8]|6[0-79]", (12, 13, 14, 15, 16, 17, 18, 19)),  # Maestro
        (r"220[0-4]", (16, 17, 18, 19)),  # Mir
        (r"60|82|508|353|356", (16,)),  # RuPay
        (r"9792", (16,)),  # Troy
        (r"60|68|69|9[0-9]", (16, 17, 18, 19)),  # mainland banks before UnionPay's own prefix
    )
)
_BY_LENGTH = {
    length: re.compile("|".join(f"(?:{prefix})" for prefix, lengths in _ISSUERS if length in lengths))
    for length in range(12, 20)
}
# Prefixes that order numbers and the like begin with as well: they need a word that says "card".
_SHARED = re.compile(r"9(?!792)|50|5[6-8]|6[013-79]|68")
_USUAL = frozenset(
    {
        (4, 4, 4, 4),
        (4, 4, 4, 4, 3),
        (4, 4, 4, 4, 2),
        (4, 4, 4, 4, 1),
        (4, 6, 5),
        (4, 6, 4),
        (6, 13),
        (6, 10),
        (4, 4, 4, 1),
    }
)
_CARD = Looked(
    r"(?:卡|visa|master ?card|amex|american express|银联|union ?pay|maestro|jcb|discover|diners|card|credit|debit|\bcc)"
    r"[^\d\n。！？]{0,24}$"
)
_CARD_NUMBER = re.compile(
    r"(?:银行卡号?|信用卡号?|借记卡号?|储蓄卡号?|卡号|card (?:no\.?|number|#))[\s:：#是为isw'\"]{0,5}$"
)
_CARD_WORD = re.compile(r"(?:visa|mastercard|amex|unionpay|jcb|card|cc|no)$")


def _alone(text: str, start: int, end: int) -> bool:
    """As `stands_alone`, but "visa4111…" is a card too."""
    return stands_alone(text, start, end) or (
        bool(_CARD_WORD.search(before(text, start, 12))) and not text[end : end + 1].isalnum()
    )


_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)  # the digits of 2 * n added up


class _Luhn:
    """Whether any part of a chain of digits passes the Luhn check, each in constant time after one pass over it.

    A long chain has thousands of parts that may be a card.
    """

    def __init__(self, digits: str) -> None:
        numbers = [int(digit) for digit in digits]
        # Sums up to each place, the digits at even places doubled and those at odd ones.
        self._sums = [
            [0, *accumulate(_DOUBLED[n] if place % 2 == parity else n for place, n in enumerate(numbers))]
            for parity in (0, 1)
        ]

    def passes(self, first: int, last: int) -> bool:
        sums = self._sums[last % 2]  # the last digit is not doubled, the one before it is
        return (sums[last] - sums[first]) % 10 == 0


def _is_card(text: str, run: Run, first: int, last: int) -> bool:
    """Whether a part of a run that passes the Luhn check is a card."""
    digits = run.digits[first:last]
    issued = bool(_BY_LENGTH[len(digits)].match(digits))
    # Issuers come and go: a number that is called a card and adds up is one. A label stands before the whole run.
    if not (issued or (first == 0 and len(digits) >= 14)) or len(set(digits)) == 1:
        return False
    start, end = run.span(first, last)
    head = before(text, start)
    labelled = bool(_CARD.search(head))
    if OTHER_NUMBER.search(head) or not _alone(text, start, end):
        return False
    if not labelled and (not issued or (_SHARED.match(digits) and (len(digits) != 16 or digits[0] == "9"))):
        return False
    # In a longer chain only groups that cards are printed in count; a chain of its own may be written anyhow.
    sizes = run.sizes(first, last)
    return labelled or (first, last) == (0, len(run.digits)) or len(sizes) == 1 or sizes in _USUAL


def _cards_of(text: str, run: Run) -> Iterator[Hit]:
    """Of windows that overlap the longest stands: 19 digits that end in another card's number are one card."""
    best: tuple[int, int] | None = None
    luhn = _Luhn(run.digits)
    for first, last in run.windows(12, 19):
        if not luhn.passes(first, last) or not _is_card(text, run, first, last):
            continue
        if best and first < best[1]:
            if last - first > best[1] - best[0]:
                best = (first, last)
            continue
        if best:
            yield Hit("bank_card", *run.span(*best), CERTAIN)
        best = (first, last)
    if best:
        yield Hit("bank_card", *run.span(*best), CERTAIN)


def _cards(text: str) -> Iterator[Hit]:
    for run in runs(text, 12):
        found = False
        for hit in _cards_of(text, run):
            found = True
            yield hit
        # Called a card number and as long as one, but the check digit is wrong: a slip of the finger is still a card.
        start, end = run.span(0, len(run.digits))
        if not found and 15 <= len(run.digits) <= 19 and _CARD_NUMBER.search(before(text, start)):
            yield Hit("bank_card", start, end, LABELLED)


_CVV = Looked(
    r"(?:\bcvv2?|\bcvc2?|\bcvn2?|\bcid|card verification (?:code|value|number)|security code|安全码|"
    r"背面(?:的)?(?:后)?(?:三|"
    r"3)位(?:数字?|码)?|"
    r"(?:three|3|four|4)[ -]digits?(?: code| number| one)? (?:on|at) the (?:back|front)(?: of (?:the|my) card)?)"
    r"(?:[\s:：=#\-()（）]|is|are|was|code|number|on the (?:back of the )?card|on the back|"
    r"在|印|上|是|为|码|卡背面三位|卡背面|背面|三位|后|"
    r"的){0,10}(?P<value>[0-9]{3,4})(?![0-9A-Za-z]|[ \-]?[0-9])",
    re.IGNORECASE | re.ASCII,
)
# Beside a number that is a card nothing needs a name: "5387 …, 11/27, 268".
_BESIDE = Looked(
    r"[0-9]{3}[ ,;/，、]{1,4}(?:(?P<expiry>(?:0[1-9]|1[0-2]) ?/ ?(?:20)?[2-4][0-9])[ ,;/，、]{1,4})?"
    r"(?:(?:sec(?:urity)? )?(?:code|cv[cv]?2?)[\s:：]{1,3}|[后末]三位[\s:：是]{0,3})(?P<cvv>[0-9]{3,4})(?![0-9A-Za-z])"
    r"|[0-9]{3}[ ,;/，、]{1,4}(?P<only>(?:0[1-9]|1[0-2]) ?/ ?(?:20)?[2-4][0-9])(?![0-9/])",
    re.IGNORECASE,
)
_BACK_ZH = Looked(
    r"(?:背面|签名栏|卡片?(?:背|后)面?)[^\d\n。]{0,10}?(?:三|3)位(?:数字?|码)?[\s:：是为]{0,3}(?P<value>[0-9]{3})(?![0-9A-Za-z])"
)
_EXPIRY = Looked(
    r"(?:\bexp(?:\.|iry|ires?|iration)?(?: ?date)?|valid (?:thru|through|until|to)|good thru|有效期限?|到期日?|截止日?)"
    r"(?:[\s:：=.]|is|on|to|至|到|是|为){0,6}"
    r"(?P<value>(?:0[1-9]|1[0-2]) ?[/\-.] ?(?:20)?[2-4][0-9]|20[2-4][0-9] ?[/\-.年] ?(?:0[1-9]|1[0-2]))(?![0-9/\-])",
    re.IGNORECASE | re.ASCII,
)
_ANY_CARD = re.compile(r"卡|card|visa|amex|cvv|cvc", re.IGNORECASE | re.ASCII)


def _beside(text: str) -> Iterator[Hit]:
    for found in _CVV.finditer(text):
        yield Hit("cvv", *found.span("value"), LABELLED + 10)
    for found in _BESIDE.finditer(text):
        if _ANY_CARD.search(text, max(0, found.start() - 50), found.start()):
            for name, entity in (("expiry", "card_expiry"), ("cvv", "cvv"), ("only", "card_expiry")):
                if found.group(name):
                    yield Hit(entity, *found.span(name), LABELLED)
    for found in _BACK_ZH.finditer(text):
        yield Hit("cvv", *found.span("value"), LABELLED)
    for found in _EXPIRY.finditer(text):
        around = text[max(0, found.start() - 60) : found.end() + 40]
        if _ANY_CARD.search(around):
            yield Hit("card_expiry", *found.span("value"), LABELLED)


_IBAN = Looked(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?:[ \-]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9@])")
_IBAN_LABEL = re.compile(r"\biban\b[^\n]{0,24}$")


# Countries that use the format without being in the SWIFT registry, with their lengths.
_UNREGISTERED = {
    "AO": 25, "BF": 28, "BJ": 28, "CF": 27, "CG": 27, "CI": 28, "CM": 27, "CV": 25, "DZ": 26, "GA": 27, "GQ": 27,
    "GW": 25, "IR": 26, "KM": 27, "MA": 28, "MG": 27, "ML": 28, "MZ": 25, "NE": 28, "SN": 28, "TD": 27, "TG": 28,
}  # fmt: skip


def _is_iban(candidate: str) -> bool:
    if not (candidate.isupper() or candidate.islower()):
        return False
    compact = iban.compact(candidate)
    if _UNREGISTERED.get(compact[:2]) == len(compact):
        return bool(mod_97_10.is_valid(compact[4:] + compact[:4]))
    return bool(iban.is_valid(candidate))


def _ibans(text: str) -> Iterator[Hit]:
    for found in _IBAN.finditer(text):
        candidate = found.group()
        # Words may follow the number: give up blanks from the right until it adds up.
        while len(candidate) >= 15:
            if not _is_iban(candidate):
                cut = max(candidate.rfind(" "), candidate.rfind("-"))
                if cut < 0:
                    break
                candidate = candidate[:cut]
                continue
            yield Hit("iban", found.start(), found.start() + len(candidate), CERTAIN)
            break
        else:
            candidate = ""
        if _IBAN_LABEL.search(before(text, found.start())):
            solid = re.match(r"[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{11,30}", found.group())
            if solid:
                yield Hit("iban", found.start(), found.start() + solid.end(), LABELLED)


_ACCOUNT = Looked(
    r"(?:\b(?:bank )?(?:account|acct|a/c)(?: ?(?:no\.?|number|num|#))|\bbank account|\brouting(?: number)?|\bacc:|"
    r"\baccounts? like|银行账[号户]|银行帐[号户]|"
    r"收款账[号户]|对公账[号户]|开户账[号户]|账号|帐号|账户|社保号|公积金账号)"
    r"(?:[\s:：#='\"]|is|was|ending|是|为|"
    r"of){0,6}(?P<value>(?=[A-Z\-]{0,8}[0-9])[A-Z]{0,5}[0-9](?:[ \-]?[0-9]){6,20})(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)


def _accounts(text: str) -> Iterator[Hit]:
    for found in _ACCOUNT.finditer(text):
        yield Hit("bank_account", *found.span("value"), LABELLED)


_WALLET = Looked(
    r"(?<![A-Za-z0-9])(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[02-9ac-hj-np-z]{11,71}|0x[0-9a-fA-F]{40})(?![A-Za-z0-9])"
)


def _wallets(text: str) -> Iterator[Hit]:
    for found in _WALLET.finditer(text):
        address = found.group()
        if address.startswith("0x") or bitcoin.is_valid(address):
            yield Hit("crypto_wallet", found.start(), found.end(), CERTAIN)


CARD = Recognizer("card", frozenset({"bank_card"}), re.compile(r"[0-9]"), _cards)
BESIDE_CARD = Recognizer("card_details", frozenset({"cvv", "card_expiry"}), re.compile(r"[0-9]{2}"), _beside)
IBAN = Recognizer("iban", frozenset({"iban"}), re.compile(r"[A-Za-z]{2}[0-9]{2}"), _ibans)
ACCOUNT = Recognizer(
    "account",
    frozenset({"bank_account"}),
    re.compile(r"acc|a/c|routing|[账帐社公]", re.IGNORECASE | re.ASCII),
    _accounts,
)
WALLET = Recognizer(
    "wallet", frozenset({"crypto_wallet"}), re.compile(r"[13][1-9A-HJ-NP-Za-km-z]{25}|bc1|0x"), _wallets
)
