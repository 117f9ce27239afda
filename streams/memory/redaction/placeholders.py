"""Typed placeholders such as `[PHONE_1]`, and sentences that are worth nothing without the value they stood for."""

from __future__ import annotations

import re

DROPPED = "[DROPPED]"

PLACEHOLDER = re.compile(r"\[(?:DROPPED|[A-Z][A-Z0-9]{1,31}(?:_[A-Z][A-Z0-9]{0,31}){0,5}_[1-9][0-9]{0,5})\]")

# What is left of "my phone number is [PHONE_1]" is a possessor, the name of the thing and a copula: no fact. The lists
# name things that a placeholder can stand for, and words that only point.
_LABELS_ZH = (
    "手机号码|手机号|电话号码|电话号|手机|电话|座机|分机|号码|联系方式|微信号|微信|邮箱地址|邮箱|电子邮件|邮件|身份证号码|身份证号|身份证|证件号码|证件号|证件|"
    "护照号码|护照号|护照|通行证号|通行证|车牌号|车牌|驾驶证号|驾照号|驾照|银行卡号|银行卡|卡号|账号|账户|社保号|家庭住址|家庭地址|收货地址|详细地址|住址|地址|"
    "IP地址|MAC地址|密码|口令|验证码|密钥|令牌|有效期|安全码"
)
_FILL_ZH = (
    "如下|以下|下面|现在|目前|新的|新|旧|老|原来|以前|另外|还有|以及|和|或者|或|是|为|叫|在|的|了|吧|哦|啊|呢|哈|嗯|请|记一下|记住|记下|记好|帮我|麻烦|可以|"
    "打|拨打|拨|发到|发给|发|寄到|联系|加|换成|换|改成|改|到|给|这个|那个|这|那|就|我们|咱们|我|你们|你|您|他们|她们|他|她|它|公司|家里|家|单位|本人|办公室|个人|工作|备用|个|也|都|一下|直接|有事"
)
_FILL_EN = (
    r"my|our|your|his|her|their|its|the|a|an|this|that|it|i|we|you|he|she|they|me|us|him|them|is|are|was|am|be|s|"
    r"phone|cell|mobile|tel|telephone|number|numbers|no|fax|desk|office|work|home|new|old|current|personal|business|"
    r"e|mail|email|address|id|card|passport|ssn|social|security|licen[sc]e|driver|drivers|plate|account|iban|ip|mac|"
    r"wallet|bank|call|text|reach|ring|contact|at|on|or|and|to|for|of|in|via|by|please|pls|note|remember|save|here|"
    r"can|could|just|now|also|live|lives|send|ship|under|with|extension|ext"
)
_POSSESSOR = re.compile(
    r"[\u4e00-\u9fff]{1,4}的(?=" + _LABELS_ZH + r")"
    r"|^[\u4e00-\u9fff]{2,3}(?=(?:" + _LABELS_ZH + r")[:：是为])"
    r"|\b[A-Z][\w.-]{0,30}(?: [A-Z][\w.-]{0,30})?['’]s\b"
)
_FILL = re.compile(rf"{_LABELS_ZH}|{_FILL_ZH}|\b(?:{_FILL_EN})\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")


def without_placeholders(text: str) -> str:
    """The text without any placeholder, for counting words or showing a quotation."""
    return PLACEHOLDER.sub("", text)


def is_only_placeholders(sentence: str) -> bool:
    """True for a sentence that has a placeholder and, apart from who it belongs to and what it is called, nothing else.

    Such a sentence is no memory: "我的电话是[PHONE_1]", "Lisa's new email is [EMAIL_1]", "[DROPPED]". A sentence
    without a placeholder is never one, however empty it is: that is for the small-talk gate to judge.
    """
    rest, count = PLACEHOLDER.subn(" ", sentence)
    if not count:
        return False
    return not _WORD.search(_FILL.sub(" ", _POSSESSOR.sub(" ", rest)))
