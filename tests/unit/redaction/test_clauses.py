"""Of a sentence that holds a secret only clauses stay that certainly tell something else."""

from __future__ import annotations

import re
import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.memory.redaction import Redactor, load_policy
from streams.memory.redaction.sentences import widen

REDACTOR = Redactor(load_policy())

STAYS = {
    "my pin is 4821 and i moved to Leeds last week": "i moved to Leeds last week",
    "i moved to Leeds last week and my pin is 4821": "i moved to Leeds last week",
    "my password is hunter2!x i've been to Rome with Anna": "i've been to Rome with Anna",
    "our door code is 7731, my wife's name is Clara": "my wife's name is Clara",
    "我的密码是abc12345我下周搬去杭州": "我下周搬去杭州",
    "我下周搬去杭州 验证码 839201": "我下周搬去杭州",
    "密码是abc12345，我女儿叫小雨 她在学画画": "我女儿叫小雨 她在学画画",
}
ALL_GOES = (
    "my netflix password is hunter22 and my hulu is sunflower",
    "my password is Tiger9 and my horse battery staple",
    "my pin is 4821 and we picked sunflower",
    "微信密码是abc12345，我支付宝是lovexiaoming",
    "my pin is 4821 and i mean four eight two two",
    "my pin is 4821 and i also have 9920",
    "my password is hunter2 and i add a q w at the end",
    "my password is hunter2 and i changed that from hunter1",
    "my pin is 4821 and my mother uses the other one",
    "my password is corr3ct-horse battery and i love that staple",
    "my pin is 4821, i live",
    "密码是abc12345，我后面还加了xyz",
    "密码是abc12345 我另一个是小雨生日",
    "密码是 abc12345，我的口令是芝麻开门",
    "银行卡 6222021234567890128 我密码也是这个",
)


@pytest.mark.parametrize("said", STAYS)
def test_a_clause_of_its_own_stays(said: str) -> None:
    redacted = REDACTOR.redact(said)
    assert redacted.text.replace("[DROPPED]", "").strip() == STAYS[said]
    assert redacted.dropped_sentences == 1


@pytest.mark.parametrize("said", ALL_GOES)
def test_what_may_belong_to_the_secret_goes_with_it(said: str) -> None:
    assert REDACTOR.redact(said).text == "[DROPPED]"


TOKENS = st.from_regex(r"[a-z]{2,5}[0-9]{2,4}[#@]?[A-Z]{0,2}|[0-9]{4,6}", fullmatch=True).filter(
    lambda token: not re.fullmatch(r"(?:19|20)[0-9]{2}", token)
)
TELLS = st.sampled_from(["my password is {}", "the pin is {}", "use {} as my password", "我的密码是{}", "登录密码 {}"])
TELLS_MORE = st.sampled_from([
    "i wrote {} down", "i swapped the halves, {}", "my brother has {}", "she knows {} too", "我记成了{}",
    "我妈那边写的{}",
])  # fmt: skip
FACTS = (
    "i moved to Leeds in spring",
    "my sister works at a bakery",
    "we like to go hiking",
    "我下周搬去杭州",
    "她在学画画呢",
)
LINKS = st.sampled_from([" ", " and ", ", ", "，", " but ", "", ", so "])


@given(
    tells=TELLS,
    secret=TOKENS,
    around=st.lists(st.one_of(st.sampled_from(FACTS), TELLS_MORE), max_size=3),
    place=st.integers(0, 3),
    links=st.lists(LINKS, min_size=4, max_size=4),
    piece=st.tuples(st.integers(0, 3), st.integers(3, 12)),
)
@settings(max_examples=300, deadline=None)
def test_no_piece_of_a_secret_stays(
    tells: str, secret: str, around: list[str], place: int, links: list[str], piece: tuple[int, int]
) -> None:
    """Told once, and once more in part by the clauses around it."""
    part = secret[piece[0] : piece[0] + piece[1]]
    clauses = [clause.format(part) for clause in around]
    clauses.insert(place, tells.format(secret))
    text = "".join(clause + link for clause, link in zip(clauses, links, strict=False))
    out = REDACTOR.redact(text)
    if any(span.action == "drop" for span in out.spans):
        assert not any(secret[n : n + 3] in out.text for n in range(len(secret) - 2))
        assert part not in out.text or not re.search(r"\d|[#@]", part)
    assert REDACTOR.redact(out.text).text == out.text


def _calls(clauses: int) -> int:
    """How often a function is entered, or goes on, for a sentence of so many clauses, each with a secret."""
    clause = "我的密码是abc12345，我昨天去了市场，"
    spans = [(n * len(clause) + 5, n * len(clause) + 13) for n in range(clauses)]
    seen = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal seen
        seen += event == "call"

    sys.setprofile(count)
    try:
        widen(clause * clauses, spans)
    finally:
        sys.setprofile(None)
    return seen


def test_the_work_grows_with_a_sentence_and_not_with_its_square() -> None:
    assert _calls(400) < 5 * _calls(100)


@pytest.mark.parametrize("endless", [" ", ".", "\n", "  ,", "… "])
def test_a_sentence_may_go_on_for_ever(endless: str) -> None:
    """Quadratic, this would take longer than a test may."""
    redacted = REDACTOR.redact(f"my pin is 4821{endless * 100_000}x")
    assert "4821" not in redacted.text
