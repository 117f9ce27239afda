"""Secrets and numbers in tables, over lines, spelt out or with pictures between; and what only looks like it."""

from __future__ import annotations

import pytest

from streams.memory.redaction import Redactor, load_policy

REDACTOR = Redactor(load_policy())

FOUND = {
    "| service | login | password |\n|---|---|---|\n| mail | anna | Tr0ub4dor&3 |": "password",
    "账号\t密码\nzhangsan\tAbc12345": "password",
    "name | API key\nprod | a8f3k2m9x1q7": "password",
    "my password is\n\nhunter2!x": "password",
    "the wifi password is: correct horse battery staple": "password",
    "my passphrase is purple monkey dishwasher and i love bananas": "password",
    "mi contraseña es Gatito99": "password",
    "パスワードは himitsu99 です": "password",
    "code's eight three nine two zero one": "otp",
    "你登录的时候输 4821 就行": "otp",
    "CVV印在卡背面 是 456": "cvv",
    "call me 4🙂1🙂5🙂5🙂5🙂5🙂0🙂1🙂3🙂2": "phone",
    "my number: four one five, five five five, zero one three two": "phone",
    "ssn zero seven eight, zero five, one one two zero": "ssn",
    "write to anna (at) example (dot) com": "email",
}
LEFT_ALONE = (
    "| input tokens | output tokens |\n|---|---|\n| 1200 | 300 |",
    "| field | type |\n| password | string |",
    "| name | password |\n|---|---|\n| type | string |\n| shown as | **** |",
    "| pin | function |\n| 12 | GND |",
    "password: must be at least eight characters",
    "the password is: not needed for guests here",
    "I scored 3🙂 and then 4🙂, 5🙂 in all",
    "Meet me [at] noon",
    "one, two, three, four, then we start",
    "登录的时候输 2024 年的那个表",
    "我的密码\n昨天",
    "la contraseña es obligatoria",
)


@pytest.mark.parametrize("text", FOUND)
def test_it_is_found(text: str) -> None:
    assert FOUND[text] in {span.entity for span in REDACTOR.find(text)}


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_it_is_left_alone(text: str) -> None:
    assert REDACTOR.find(text) == ()


def test_each_row_of_a_table_goes_and_its_head_stays() -> None:
    text = "| login | password |\n|---|---|\n| anna | Tr0ub4dor |\n| otto | letmein |\n\nI moved to Bonn."
    assert REDACTOR.redact(text).text == "| login | password |\n|---|---|\n[DROPPED]\n[DROPPED]\n\nI moved to Bonn."
