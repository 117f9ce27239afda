"""What the redactor promises: examples for each kind, the policy, sessions, sentences, the guard."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams.errors import ConfigurationError
from streams.memory.redaction import (
    CustomPattern,
    Policy,
    Redactor,
    is_only_placeholders,
    load_policy,
)

DEFAULT = load_policy()
REDACTOR = Redactor(DEFAULT)


def found(text: str) -> list[tuple[str, str]]:
    return [(span.entity, text[span.start : span.end]) for span in REDACTOR.redact(text).spans]


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("写信到 li.lei@example.cn 就行", "email", "li.lei@example.cn"),
        ("我手机13800138000", "phone", "13800138000"),
        ("打 +86 138-0013-8000 找我", "phone", "+86 138-0013-8000"),
        ("座机 010-82345678 转 801", "phone", "010-82345678 转 801"),
        ("客服 400-123-4567", "phone", "400-123-4567"),
        ("香港电话 +852 5123 4567", "phone", "+852 5123 4567"),
        ("ring me at (415) 555-0132", "phone", "(415) 555-0132"),
        ("uk mobile +44 7400 123456", "phone", "+44 7400 123456"),
        ("身份证 11010519491231002X", "id_card", "11010519491231002X"),
        ("身分證 A123456789", "id_card", "A123456789"),
        ("HKID A123456(3)", "id_card", "A123456(3)"),
        ("护照号 E12345678", "passport", "E12345678"),
        ("我的台胞证 12345678", "permit", "12345678"),
        ("my SSN is 536-90-4399", "ssn", "536-90-4399"),
        ("IBAN DE89 3704 0044 0532 0130 00", "iban", "DE89 3704 0044 0532 0130 00"),
        ("车牌沪A12345", "license_plate", "沪A12345"),
        ("新能源 粤BD12345", "license_plate", "粤BD12345"),
        ("服务器在 10.20.30.40", "ip", "10.20.30.40"),
        ("ping fe80::1ff:fe23:4567:890a", "ip", "fe80::1ff:fe23:4567:890a"),
        ("mac 00:1b:44:11:3a:b7", "mac", "00:1b:44:11:3a:b7"),
        ("我住在上海市徐汇区漕溪北路398号2号楼1502室", "address", "上海市徐汇区漕溪北路398号2号楼1502室"),
        ("send it to 221 Baker Street please", "address", "221 Baker Street"),
        ("clone https://bob:hunter22@git.example.com/x.git", "url_credentials", "https://bob:hunter22@git.example.com/x.git"),
    ],
)  # fmt: skip
def test_entities(text: str, entity: str, value: str) -> None:
    assert found(text) == [(entity, value)]


@pytest.mark.parametrize(
    "text",
    [
        "１３８００１３８０００",
        "138 0013 8000",
        "138.0013.8000",
        "1 3 8 0 0 1 3 8 0 0 0",
        "一三八零零一三八零零零",
        "幺三八 零零幺三 八零零零",
        "138\u200b0013\u200b8000",
        "138\n0013\n8000",
        "&#49;&#51;&#56;00138000",
        "1️⃣3️⃣8️⃣0️⃣0️⃣1️⃣3️⃣8️⃣0️⃣0️⃣0️⃣",
        "138 then 0013 8000",
        "138，然后是0013，后四位是8000",
        "one three eight zero zero one three eight zero zero zero",
        "138-0013-八零零零",
    ],
)
def test_disguised_numbers_are_one_phone(text: str) -> None:
    session = REDACTOR.session()
    assert session.redact("我的号码 13800138000").text == "我的号码 [PHONE_1]"
    assert session.redact(text).text == "[PHONE_1]"


@pytest.mark.parametrize(
    "text",
    [
        "订单号 4111111111111111",
        "order number 13800138000",
        "价格 1,380,013,800 元",
        "2024-03-15 13:00:13",
        "v3.11.7",
        "version 10.0.0.1",
        "ISBN 978-7-5086-9876-5",
        "坐标 31.230416, 121.473701",
        "commit 3f5a9c0e7b2d41f8a6c9e0b1d2f3a4b5c6d7e8f9",
        "trace_id=1745829304857264128",
        "一三五上班，二四六休息",
        "我在上海徐汇区上班",
        "std::vector<int> a::b",
        "[0,1,2],[3,4,5],[6,7,8],[0,3,6],[1,4,7]",
    ],
)
def test_what_only_looks_like_one(text: str) -> None:
    assert found(text) == []
    assert REDACTOR.redact(text).text == text


def test_equal_values_share_a_placeholder_within_an_event_only() -> None:
    session = REDACTOR.session()
    assert session.redact("打 13800138000 或 13900139000").text == "打 [PHONE_1] 或 [PHONE_2]"
    assert session.redact("还是 139 0013 9000，邮箱 a@b.cn").text == "还是 [PHONE_2]，邮箱 [EMAIL_1]"
    assert REDACTOR.redact("打 13900139000").text == "打 [PHONE_1]"


def test_a_placeholder_in_the_text_is_not_given_to_another_value() -> None:
    assert REDACTOR.redact("[PHONE_1] 和 13900139000").text == "[PHONE_1] 和 [PHONE_2]"


def test_the_sentence_with_a_secret_is_dropped_and_counted() -> None:
    result = REDACTOR.redact("下周三去杭州。我的网银密码是 Xy9$kLm2!记得哦。电话 13800138000。")
    assert result.text == "下周三去杭州。[DROPPED]记得哦。电话 [PHONE_1]。"
    assert (result.dropped_sentences, result.dropped_message) == (1, False)


def test_a_phone_in_a_dropped_sentence_leaves_no_trace() -> None:
    assert REDACTOR.redact("13800138000 的验证码是 583920").text == "[DROPPED]"


def test_a_secret_is_found_again_where_nothing_says_so() -> None:
    session = REDACTOR.session()
    session.redact("my password is hunter2")
    assert session.redact("Noted. I will try hunter2 first. Lunch?").text == "Noted. [DROPPED] Lunch?"


def test_offsets_are_characters_of_the_input() -> None:
    text = "😀 打 1\u200b3\u200b8&nbsp;0013&nbsp;8000 找我"
    (span,) = REDACTOR.redact(text).spans
    assert text[span.start : span.end] == "1\u200b3\u200b8&nbsp;0013&nbsp;8000"


def test_the_guard_names_what_must_not_be_stored() -> None:
    assert REDACTOR.contains_dropped("the user's password is hunter2") == "password"
    assert REDACTOR.contains_dropped("卡号 4111 1111 1111 1111") == "bank_card"
    assert REDACTOR.contains_dropped("用户的电话是 13800138000") is None


def test_report_mode_finds_and_changes_nothing() -> None:
    redactor = Redactor(Policy(DEFAULT.rules, mode="report"))
    result = redactor.redact("密码是 abc123，电话 13800138000")
    assert result.text == "密码是 abc123，电话 13800138000"
    assert [(span.entity, span.action) for span in result.spans] == [("password", "drop"), ("phone", "mask")]
    assert redactor.contains_dropped("密码是 abc123") is None
    assert redactor.version != REDACTOR.version


def test_each_action(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(
        '[entities]\nphone = "keep"\nemail = "drop"\nip = "drop-sentence"\npassword = "mask"\n', encoding="utf-8"
    )
    redactor = Redactor(load_policy(path))
    assert redactor.redact("打 13800138000").text == "打 13800138000"
    assert redactor.redact("打 13800138000").spans[0].action == "keep"
    assert redactor.redact("好的。写信到 a@b.cn。明天见。").text == "[DROPPED]"
    assert redactor.redact("好的。写信到 a@b.cn。明天见。").dropped_message
    assert redactor.redact("好的。IP 是 10.1.2.3。明天见。").text == "好的。[DROPPED]明天见。"
    assert redactor.redact("密码是 abc123。").text == "密码是 [PASSWORD_1]。"
    # What the file does not name stays as the default has it.
    assert redactor.redact("卡号 4111 1111 1111 1111").text == "[DROPPED]"


def test_custom_patterns(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(
        '[[custom]]\nentity = "staff_id"\npattern = \'E\\d{6}\'\nnear = ["工号", "staff"]\naction = "mask"\n',
        encoding="utf-8",
    )
    redactor = Redactor(load_policy(path))
    assert redactor.redact("我的工号是 E102938").text == "我的工号是 [STAFF_ID_1]"
    assert redactor.redact("型号 E102938").text == "型号 E102938"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('[entities]\nfone = "mask"\n', "entities.fone is unknown"),
        ('[entities]\nphone = "hide"\n', "entities.phone must be one of mask, drop-sentence, drop, keep"),
        ('mode = "on"\n', "mode must be one of enforce, report"),
        ("mod = 1\n", "unknown setting mod"),
        ("entities = 3\n", "entities must be a table"),
        ("[entities\n", "not valid TOML"),
        ('[[custom]]\nentity = "Staff"\npattern = "a"\n', "lower case"),
        ('[[custom]]\nentity = "staff"\npattern = "("\n', "custom 1: pattern is not valid RE2"),
        ('[[custom]]\nentity = "staff"\npattern = "(?=a)b"\n', "custom 1: pattern is not valid RE2"),
        ('[[custom]]\nentity = "staff"\npattern = "a*"\n', "custom 1: pattern matches the empty text"),
        ('[[custom]]\nentity = "staff"\n', "custom 1: pattern must be a string"),
        ('[[custom]]\nentity = "staff"\npattern = "a"\naction = "hide"\n', "custom 1: action must be one of"),
        ('plugins = "x"\n', "plugins must be a list of names"),
    ],
)
def test_a_policy_that_is_not_understood_names_the_place(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        load_policy(path)
    assert says in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_missing_policy_file_and_a_missing_plugin_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        load_policy(tmp_path / "none.toml")
    with pytest.raises(ConfigurationError, match="no plugin 'nobody' is installed"):
        Redactor(Policy(DEFAULT.rules, plugins=("nobody",)))


def test_the_version_names_policy_and_patterns() -> None:
    other = Redactor(Policy({**DEFAULT.rules, "phone": "keep"}))
    custom = Redactor(Policy(DEFAULT.rules, custom=(CustomPattern("staff_id", "E[0-9]+"),)))
    assert len({REDACTOR.version, other.version, custom.version}) == 3
    assert Redactor(load_policy()).version == REDACTOR.version


@pytest.mark.parametrize(
    ("sentence", "empty"),
    [
        ("我的电话是[PHONE_1]", True),
        ("张三的手机号：[PHONE_1]", True),
        ("我换号了，新号码[PHONE_1]", False),
        ("My phone number is [PHONE_1].", True),
        ("Lisa's new email is [EMAIL_1]!", True),
        ("[DROPPED]", True),
        ("有事打[PHONE_1]找我", False),
        ("I moved to Berlin, my new address is [ADDRESS_1]", False),
        ("我对花生过敏", False),
        ("好的", False),
    ],
)
def test_a_sentence_that_is_worth_nothing_without_its_placeholder(sentence: str, empty: bool) -> None:
    assert is_only_placeholders(sentence) is empty
