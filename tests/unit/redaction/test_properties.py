"""What holds for every text."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams.errors import ConfigurationError
from streams.memory.redaction import (
    Policy,
    Redactor,
    is_only_placeholders,
    load_policy,
    without_placeholders,
)
from streams.memory.redaction.view import View

DEFAULT = load_policy()
REDACTOR = Redactor(DEFAULT)
# The same findings, but masked: shows that nothing depends on whole sentences being gone.
MASKING = Redactor(Policy(dict.fromkeys(DEFAULT.rules, "mask")))
settings.register_profile("redaction", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("redaction")

FRAGMENTS = (
    "密码是", "验证码", "my password is ", "code ", "卡号", "电话", "call me at ", "138",
    "0013", "8000", "1380013800", "4111 1111 1111 1111", "6222 0212 3456 7890 128", "8392", "abc123!",
    "hunter2", "a@b.cn", "https://u:p4ss@h.cn/?token=", "sk-proj-", "AKIA", "[PHONE_1]", "[DROPPED]",
    "&#49;", "&nbsp;", "\u200b", "１２３", "一三八零零一三八", "one three eight zero",
    "then ", "然后", "。", "! ", "\n", ", ", "-", ".", " ", "😀", "身份证", "11010519491231002X",
    "| password |\n", "| a | b1c2 |\n", "4🙂1🙂5🙂5", "密码\t口令\n", "x\ty9z8\n", " and i live here now", "我下周搬家",
    "192.168.1.1", "::1", "token=", "\"", "'", "{",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk", "-----BEGIN PRIVATE KEY-----",
)  # fmt: skip
texts = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="0123456789 -.:@/abcdefXYZ密码是验证。\n[]_", max_size=80),
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=4)), max_size=14).map("".join),
)


@given(texts)
@settings(max_examples=400)
@pytest.mark.parametrize("redactor", [REDACTOR, MASKING], ids=["default", "masking"])
def test_redacting_twice_changes_nothing(redactor: Redactor, text: str) -> None:
    once = redactor.redact(text).text
    assert redactor.redact(once).text == once
    assert redactor.contains_dropped(once) is None


@given(texts)
@settings(max_examples=400)
def test_spans_lie_in_the_text_ascend_and_do_not_overlap(text: str) -> None:
    spans = REDACTOR.redact(text).spans
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert {span.entity for span in spans} <= DEFAULT.rules.keys()


@given(texts)
def test_the_same_text_gives_the_same_result(text: str) -> None:
    assert REDACTOR.redact(text) == Redactor(DEFAULT).redact(text)


@given(texts)
def test_a_view_maps_every_character_back(text: str) -> None:
    view = View(text)
    at = [view.to_original(i, i + 1) for i in range(len(view.text))]
    assert all(0 <= start < end <= len(text) for start, end in at)
    assert all(a[1] <= b[0] for a, b in pairwise(at))


def luhn(body: str) -> str:
    total = 0
    for i, char in enumerate(reversed(body)):
        digit = int(char) * (2 if i % 2 == 0 else 1)
        total += digit - 9 if digit > 9 else digit
    return body + str(-total % 10)


issuers = st.sampled_from(
    [
        ("4", 16),
        ("4", 13),
        ("51", 16),
        ("2221", 16),
        ("34", 15),
        ("37", 15),
        ("62", 16),
        ("62", 19),
        ("6011", 16),
        ("3530", 16),
    ]
)
cards = issuers.flatmap(
    lambda issuer: st.text(
        "0123456789", min_size=issuer[1] - 1 - len(issuer[0]), max_size=issuer[1] - 1 - len(issuer[0])
    ).map(lambda rest: luhn(issuer[0] + rest))
).filter(lambda card: len(set(card)) > 1)
separators = st.sampled_from(
    [
        "",
        " ",
        "-",
        ".",
        "\u200b",
        "\n",
        "/",
        "_",
        "·",
        "，",
        " - ",
        "\t",
        "&nbsp;",
        "\u3000",
        "—",
        "*",
        "|",
        "\u200d ",
        "…",
        ")",
        "(",
    ]
)
styles = st.sampled_from(
    [
        str,
        lambda digit: chr(0xFF10 + int(digit)),
        lambda digit: "零一二三四五六七八九"[int(digit)],
        lambda digit: f"&#{48 + int(digit)};",
    ]
)
around = st.sampled_from(
    [("", ""), ("我的卡号是", "。"), ("please charge ", ", thanks"), ("卡", "哈哈"), ("pay with ", " ok")]
)


@given(cards, st.data(), around)
@settings(max_examples=600)
@pytest.mark.parametrize("redactor", [REDACTOR, MASKING], ids=["default", "masking"])
def test_no_digit_of_a_valid_card_survives_any_mixture_of_separators(
    redactor: Redactor, card: str, data: st.DataObject, around: tuple[str, str]
) -> None:
    gaps = data.draw(st.lists(separators, min_size=len(card), max_size=len(card)))
    written = "".join(digit + gap for digit, gap in zip(card, [*gaps[:-1], ""], strict=True))
    text = around[0] + written + around[1]
    left = View(redactor.redact(text).text).text
    assert not re.search(r"[0-9]", re.sub("\ufffc", "", left)), text


@given(cards, styles)
def test_no_digit_of_a_valid_card_survives_a_disguise(card: str, style: object) -> None:
    text = "卡号 " + "".join(style(digit) for digit in card)  # type: ignore[operator]
    assert not re.search(r"[0-9０-９零一二三四五六七八九]", without_placeholders(REDACTOR.redact(text).text))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("policy")


patterns = st.text(alphabet="ab(|)*+?.[]{}^$\\d12,", min_size=1, max_size=24)


@given(patterns, st.text(alphabet="ab12 ", max_size=300))
@settings(max_examples=300)
def test_no_custom_pattern_of_a_user_can_stall_or_break(folder: Path, pattern: str, text: str) -> None:
    """RE2 has no backtracking: what it accepts is linear, what it does not is a clear error at start."""
    path = folder / "policy.toml"
    path.write_text(f"[[custom]]\nentity = \"own_thing\"\npattern = '{pattern}'\n", encoding="utf-8")
    try:
        policy = load_policy(path)
    except ConfigurationError as error:
        reason = str(error)
    else:
        reason = ""
        redactor = Redactor(policy)
        result = redactor.redact(text)
        assert redactor.redact(result.text).text == result.text
    assert not reason or "custom 1: pattern" in reason


@given(texts)
def test_only_placeholders_needs_a_placeholder(text: str) -> None:
    if without_placeholders(text) == text:
        assert not is_only_placeholders(text)
