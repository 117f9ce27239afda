"""Passwords and PINs as people tell them: "密码是…", "my password is …", "hunter2 is my password"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streams.memory.look import Looked
from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import LABELLED, Recognizer, after, before
from streams.memory.redaction.recognizers.keys import is_stand_in
from streams.memory.redaction.recognizers.numbers import OTHER_NUMBER
from streams.memory.redaction.recognizers.tokens import EXPRESSION, MADE_UP, like_password, trim

_TOKEN = r"[!-~]{1,200}"
_ZH_LABEL = r"(?:密码|密碼|口令|暗号|PIN\s?码|pin|passcode|password|passwd|pwd|密保答案)"
_ZH_LINK = (
    r"(?:\s?(?:也|还|就|应该|暂时|现在|一直|仍然|统一|都|好像|之前|以前|原来|默认|已经|先|被我?)){0,3}\s?"
    r"(?:(?:改|设|换|重置|设置|变|定|更新|修改)(?:成|为|到|了[,，]?\s?(?:现在|新的)?[用是]的?是?|的是)了?|"
    r"用的?是?|叫做?|是|为|写的是|[:：=]|(?:是|为)[:：])"
    r"\s?(?:以前|之前|原来|原先)?(?:那个|这个)?的?\s?"
)
_STRONG_ZH = Looked(
    rf"{_ZH_LABEL}(?:改了|换了|更新了|[(（][^()（）\n]{{0,12}}[)）])?[,，]?{_ZH_LINK}[\"'`]?(?P<value>{_TOKEN})",
    re.IGNORECASE | re.ASCII,
)
_FAR_ZH = Looked(rf"{_ZH_LABEL}[:：]\s?[\u4e00-\u9fff]{{1,6}}\s?(?P<value>{_TOKEN})", re.IGNORECASE | re.ASCII)
_PLAIN_ZH = Looked(rf"(?:密码|密碼|口令|PIN\s?码)[\s\"'(（【\[]{{0,2}}(?P<value>{_TOKEN})", re.IGNORECASE | re.ASCII)
_REVERSE_ZH = Looked(
    r"(?<![!-~])(?P<value>[!-~]{3,64}?)[\"']?\s?(?:就是|才是|是|为|作为|当|这个|"
    r"那个)(?:[^\s\d,，。！？!?\n]{0,10}?)(?:密码|口令|密碼)(?!是|"
    r"[^\s。！，,]{0,4}[吗么])"
)
# Spoken words as a secret: only where nothing but a secret can stand.
_WORDS_ZH = Looked(
    r"(?:口令|暗号|密保答案)(?:就?是[:：]?|为[:：]?|"
    r"[:：])\s?[\"'“]?(?P<value>[\u4e00-\u9fff]{2,10})(?=[\"'”，。！,!\s]|$)"
)
_QUOTED_ZH = Looked(r"(?:密码|密碼|口令|暗号)(?:就?是|为|[:：]|改成|设成|设为)?\s?\"(?P<value>[^\"\n]{2,40})\"")
_NO_VALUE_ZH = re.compile(r"什么|多少|错|对的|一样|空的?|没|不|正确|安全|必须|自己|忘|谁|哪|怎么|啥")
_EN_LABEL = (
    r"(?:pass ?words?|passwd|pwd|pass ?phrases?|pass ?codes?|\bpw|\bpin(?: ?code| number)?|\bpass(?=\s?[:=])|"
    r"(?:door|gate|alarm|garage|unlock|lock|safe|entry|building|keypad|locker|vault|house)(?: ?lock)?(?: code|"
    r" combination| combo)|\bcombination(?= (?:is|for|to))|"
    r"\blogin(?= (?:is|pass)))"
)
_EN_FOR = r"(?:\s(?:for|to|of|on|in|at|from)(?:\s[\w'’.@\-]{1,24}){1,5}?)?"
_EN_LINK = (
    r"\s?(?:(?:is|was|are|['’]s|equals|used to be|will be|should be|would be)(?: now| still| currently| always|"
    r" just| set to| changed to)?|"
    r"(?:has been |is |was |got )?(?:set|changed|reset|updated|switched)(?: it)?(?: from \S{1,40})? to|"
    r"to(?= \S{3,40}[.!,]?$)|->|=>|(?:!|=)?==|:?=|[:：])\s?"
)
_STRONG_EN = Looked(rf"{_EN_LABEL}{_EN_FOR}{_EN_LINK}(?P<quote>[\"'`]?)(?P<value>{_TOKEN})", re.IGNORECASE | re.ASCII)
_PHRASE_EN = Looked(
    r"pass ?phrase(?: is|:|：)\s?[\"']?(?P<value>[a-z]{2,16}(?: [a-z]{1,16}){2,9}?)"
    r"(?=[\"'.,;!\n]|$|\s(?:and|but|so|because)\s(?:i|we|he|she|they|it|my|our|you)\b)",
    re.IGNORECASE | re.ASCII,
)
# Words, where nothing of a sentence stands between them: "wifi password: correct horse battery staple".
_WORDS_EN = Looked(
    r"(?:pass ?words?|pass ?codes?)\s?(?:is|was)?\s?[:：=]\s?[\"']?"
    r"(?P<value>[a-z]{3,16}(?:[ \-][a-z]{3,16}){2,7})(?=[\"'.,;!\n]|$)",
    re.IGNORECASE | re.ASCII,
)
_OF_A_SENTENCE = re.compile(
    r"\b(?:the|and|but|not|for|with|your|you|our|his|her|its|are|was|were|has|have|had|must|may|can|will|should|would|could"
    r"|that|this|than|then|from|when|what|which|who|where|why|how|any|all|some|please|need|needs|least|into|about|only|use"
    r"|see|ask|does|did|don|been|being|there|here|too|very|just|again|also|more|most|one|get|got|set|new|old|reset|change"
    r"|changed|expired|forgot|forgotten|required|characters?|letters?|digits?|passwords?|managers?|polic(?:y|ies)|field)\b",
    re.IGNORECASE,
)
_OTHER_TONGUES = Looked(
    r"(?:contrase[ñn]a|mot de passe|passwort|kennwort|senha|wachtwoord|lösenord|hasło|şifre|пароль|"
    r"パスワード|暗証番号|비밀번호|mật khẩu)"
    r"(?:\s?(?:es|est|ist|lautet|é|är|to|это|は|는|은|là)\b\s?|\s?[:：=]\s?|\s)[\"'`]?(?P<value>[!-~]{4,64})",
    re.IGNORECASE,
)
# Alone on a line below: "my password is", then hunter2!x.
_NEXT_LINE = Looked(
    r"(?:密码|口令|password|passcode|passphrase|\bpin)[^\S\n]?(?:is|was|是|为)?[^\S\n]?[:：]?[^\S\n]{0,2}\n\s{0,4}(?P<value>[!-~]{4,64})[^\S\n]*(?:\n|$)",
    re.IGNORECASE | re.ASCII,
)
_PLAIN_EN = Looked(
    rf"(?:\bpass ?words?|\bpasswd|\bpwd|\bpass ?code|\bpw|\bpin(?: code|"
    rf" number)?)\s(?P<quote>[\"'`(]?)(?P<value>{_TOKEN})",
    re.IGNORECASE | re.ASCII,
)
_REVERSE_EN = Looked(
    r"(?<![!-~])[\"']?(?P<value>[!-~]{3,64}?)[\"']?\s(?:is|was|as)\s(?:my|the|our|your|his|her|a|"
    r"an)\s[^\d\n.!?,]{0,30}?(?:password|passcode|\bpin\b|passphrase|pwd|(?:door|gate|alarm|garage|lock) code)",
    re.IGNORECASE | re.ASCII,
)
_CREDENTIALS = Looked(
    r"(?:\b(?:login|log-in|credentials?|creds|account|logins)\b[^\n:/]{0,40}?(?:\bis\b|\bare\b|[:：]|\blike\b)|账号|"
    r"用户名|登[录陆]|wi-?fi is|wi-?fi)\s{0,2}[:：]?\s{0,2}"
    r"(?P<user>[^\s:/，,]{2,64})\s{0,2}[/:|]\s{0,2}(?P<value>[!-~]{5,64})",
    re.IGNORECASE | re.ASCII,
)
_MORE_CREDENTIALS = Looked(
    r"(?<![^\s:：\"'(])(?P<user>[^\s/@:：\"'(]{1,64}@[^\s/]{3,64})\s?/\s?(?P<value>[!-~]{5,64})",
    re.IGNORECASE | re.ASCII,
)
_WITH_EN = Looked(
    r"\b(?:with|its?|had|the|login|and) (?:the )?pass(?:word|code)\s(?P<quote>['\"]?)(?P<value>[^\s'\"]{4,64})",
    re.IGNORECASE | re.ASCII,
)
_ADJECTIVE = re.compile(r"(?:[a-z]+(?:ed|ing|able|ible|ly|ful|less|ive|ous)|[a-z]{1,3})$")
_PREDICATES = frozenset(
    [
        "wrong",
        "weak",
        "strong",
        "incorrect",
        "correct",
        "same",
        "too",
        "very",
        "not",
        "required",
        "safe",
        "secure",
        "unsafe",
        "insecure",
        "invalid",
        "valid",
        "empty",
        "blank",
        "missing",
        "case-sensitive",
        "sensitive",
        "good",
        "bad",
        "long",
        "short",
        "simple",
        "complex",
        "easy",
        "hard",
        "unique",
        "different",
        "available",
        "public",
        "private",
        "secret",
        "okay",
        "fine",
        "important",
        "mandatory",
        "optional",
        "usually",
        "always",
        "never",
        "something",
        "somewhere",
        "someone",
        "anything",
        "nothing",
        "everything",
        "still",
        "already",
        "also",
        "only",
        "just",
        "what",
        "where",
        "when",
        "which",
        "that",
        "there",
        "here",
        "about",
        "above",
        "below",
        "inside",
        "under",
        "your",
        "mine",
        "ours",
        "theirs",
        "hers",
        "his",
        "stored",
        "hashed",
        "known",
        "unknown",
        "lost",
        "stolen",
        "broken",
        "forgotten",
        "written",
        "kept",
        "hidden",
        "been",
        "being",
        "default",
        "null",
        "none",
        "undefined",
        "true",
        "false",
        "required.",
        "kaput",
        "visible",
        "obvious",
        "random",
        "meaningful",
        "bcrypt",
        "longer",
        "shorter",
        "better",
        "worse",
        "text",
        "string",
        "field",
        "manager",
        "reset",
        "change",
        "recovery",
        "protected",
        "policy",
        "prompt",
    ]
)
_UNIT = re.compile(
    r"\s?(?:位|个|次|分钟|天|年|月|小时|秒|字符|个字符|characters?\b|chars?\b|digits?\b|times?\b|minutes?\b|"
    r"days?\b|letters?\b|"
    r"months?\b|attempts?\b|块|元(?!旦)|万(?!一)|岁)"
)
# What a code opens, with or without the word "password".
_DOOR_ZH = Looked(
    r"(?:门禁|门锁|大门|单元门|保险柜|保险箱|车库|储物柜|行李箱|密码箱|指纹锁|智能锁|锁屏|"
    r"手机解锁)[^\d。！？\n，,]{0,8}?(?:是|为|[:：]|按|输入?)\s?"
    r"(?P<value>[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}|[0-9*]{4,8}[#*]?)(?![0-9A-Za-z年月号])"
)
# "输 5201# 进门"
_TO_OPEN_ZH = Looked(
    r"(?:输入?|按|打)(?:上|一下)?\s?(?P<value>[0-9]{4,8}[#*]?)(?:就能|就可以|就|可以|能)?\s?(?:进门|开门|开锁|解锁|进楼|进来|进去|上楼)"
)
_DOOR_EN = Looked(
    r"\b(?:keypad|vault|garage|gate|alarm|safe|lock ?box|locker|padlock|front door|back door|building|"
    r"elevator)\b[^\d\n.!?]{0,24}?"
    r"(?:\bis|\bopens with|:|\bpunch in|\benter|\bdial|\btype|\bpress|"
    r"\buse)\s(?P<value>[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}|[0-9*]{4,8}[#*]?)"
    r"(?![0-9A-Za-z]|[ ]?(?:m2|sq|years?|square|people|dollars|floors|meters|feet)\b)",
    re.IGNORECASE | re.ASCII,
)
_IT_IS = Looked(
    r"(?:password|passcode|passphrase|\bpin|(?:gate|door|alarm|garage|lock|entry) code"
    r"|密码|口令)(?: again)?\s?[?？.。!！…]{1,3}\s{0,2}"
    r"(?:(?:oh|ah|ok(?:ay)?|right|i think|哦|对了?)[,，]?\s?)?(?:it['’]?s|it is|mine (?:is|says)|here(?: it is)?"
    r"|(?:好像|应该|就)?是)[\s:：]{0,2}(?P<value>[!-~]{4,64})",
    re.IGNORECASE | re.ASCII,
)
_FROM_TO = Looked(
    r"(?:密码|口令|password|passcode|\bpin)[^。！？\n]{0,40}?(?:换成|改成|变成|改为|换为|"
    r"(?:重置|重设|设置|设|恢复)[成为]|\bto)\s?(?P<value>[!-~]{4,64})",
    re.IGNORECASE | re.ASCII,
)
_OTHER_ONE = Looked(
    r"\b(?:(?:old|new|previous|current|other) (?:ones?|pass) (?:was|is|were)|(?:and|but) now it['’]?s"
    r"|it['’]?s now)\s(?P<value>[!-~]{4,64})",
    re.IGNORECASE | re.ASCII,
)
_TRY = Looked(
    r"\b(?:try|use|type|enter|put)\s(?P<value>[!-~]{5,64})\s[^.!?\n]{0,30}?pass ?(?:word|code)",
    re.IGNORECASE | re.ASCII,
)
_LISTED = Looked(
    r"(?:^|[,/;|，]\s?)(?:pass|密码|口令)\s(?P<value>[!-~]{4,64})", re.IGNORECASE | re.ASCII | re.MULTILINE
)
_KNOWN_USER = Looked(
    r"(?<![\w/.@\-])(?:admin|root|guest|administrator|sysadmin)(?:\s?[:/]\s?(?P<value>[^\s/:]{6,64})"
    # Without a mark between them the second word must be one that nobody says.
    r"|\s(?=[!-~]{0,62}[A-Za-z])(?=[!-~]{0,62}[0-9])(?=[!-~]{1,62}[!@#$%^&*+~?][A-Za-z0-9])"
    r"(?![!-~]{1,62}@[\w\-]{1,62}\.)(?P<plain>[^\s/:=()]{6,64}))",
    re.IGNORECASE | re.ASCII,
)


def _opens_a_door(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_DOOR_ZH, _TO_OPEN_ZH, _DOOR_EN):
        for found in pattern.finditer(text):
            if not re.fullmatch(r"(?:19|20)[0-9]{2}", found.group("value")):
                yield found.span("value")
    for pattern in (_IT_IS, _FROM_TO, _TRY, _LISTED, _KNOWN_USER, _NEXT_LINE):
        for found in pattern.finditer(text):
            start, end = trim(text, *found.span(found.lastgroup or 0))
            value = text[start:end]
            if end - start >= 4 and (_MIXED.search(value) or (pattern is _IT_IS and _is_pin(value))):
                yield start, end
    for found in _OTHER_ONE.finditer(text):
        start, end = trim(text, *found.span("value"))
        near = _NEAR.expression.search(text, max(0, found.start() - 60), found.end() + 60)
        if near and _MIXED.search(text[start:end]):
            yield start, end


_NEAR = Looked(
    r"密码|密碼|口令|暗号|PIN\s?码|\bpass ?words?\b|\bpass(?= (?:is|was)\b)|\bpasswd\b|\bpwd\b|\bpass ?code\b|"
    r"\bpass ?phrase\b|\bpin\b(?! code)",
    re.IGNORECASE | re.ASCII,
)
_NEAR_CHARS = 26
_CLAUSE_END = re.compile(r"[。！？；\n]|[.!?;](?=\s)")
# A clause that goes on like this is about passwords, it does not tell one.
_ABOUT = re.compile(
    r"(?<!怕)(?<!怕我)(?<!别)忘|花了|价|错|查|管理|学|无法|不能|不要用|登录失败|强度|长度|至少|超过|要求|过期|泄露|找回|重置密|位数|版|第|"
    r"(?<!before i )(?<!in case i )(?<!n['’]t )(?<!dont )forg[eo]t|"
    r"reset|wrong|incorrect|expire|policy|least|than|every|within|after|characters|length|fail|manager|"
    r"field|protect|hash|stored|encrypt|"
    r"rotat|review|link|input|process|env|config|require|must|chapter|page|version|error|in\s*$|on\s*$|at\s*$|"
    r"by\s*$|from\s*$|since\s*$",
    re.IGNORECASE,
)
_PIN = re.compile(r"(?!(?:19|20)[0-9]{2}$)[0-9]{4,12}[#*]?")


def _is_pin(value: str) -> bool:
    """Digits, as they are typed at a door maybe with its last key, but no year."""
    return _PIN.fullmatch(value) is not None


def _told_nearby(text: str) -> Iterator[tuple[int, int]]:
    """ "密码就是名字加生日：zhaolei0312": a token in the same clause that can hardly be anything else."""
    for label in _NEAR.finditer(text):
        stop = _CLAUSE_END.search(text, label.end(), label.end() + 60)
        limit = stop.start() if stop else min(len(text), label.end() + 60)
        spoken = not label.group()[0].isascii() or label.group().lower() == "pin"
        for token in _ASCII_TOKEN.finditer(text, label.end(), limit):
            start, end = trim(text, *token.span())
            gap, value = text[label.end() : start], text[start:end]
            if len(gap) > _NEAR_CHARS or _ABOUT.search(gap):
                break
            if (spoken and _is_pin(value) and not OTHER_NUMBER.search(before(text, start))) or (
                _MIXED.search(value) and len(value) >= 5
            ):
                yield start, end
                break


_ASCII_TOKEN = re.compile(r"[!-~]+")
# Letters with digits, or a symbol between them that prose does not have.
_MIXED = re.compile(
    r"^(?=[!-~]*[A-Za-z])(?=[!-~]*[0-9])(?![!-~]*[/\\()=])(?!v?[0-9.]+[a-z]{0,3}$)|[A-Za-z][!@#$%^&*_+][A-Za-z0-9]"
)


def _spoken(text: str) -> Iterator[tuple[int, int]]:
    for found in _STRONG_ZH.finditer(text):
        start, end = trim(text, *found.span("value"))
        value = text[start:end]
        if (
            len(value) >= 3
            and not _NO_VALUE_ZH.match(text[end : end + 4])
            and (like_password(value) or len(value) >= 5)
        ):
            yield start, end
    for pattern in (_PLAIN_ZH, _FAR_ZH):
        for found in pattern.finditer(text):
            start, end = trim(text, *found.span("value"))
            if end - start >= 4 and like_password(text[start:end]):
                yield start, end
    for found in _REVERSE_ZH.finditer(text):
        start, end = trim(text, *found.span("value"))
        if end - start >= 4 and like_password(text[start:end]):
            yield start, end
    for pattern in (_WORDS_ZH, _QUOTED_ZH):
        for found in pattern.finditer(text):
            if not _NO_VALUE_ZH.search(found.group("value")):
                yield found.span("value")
    for found in _STRONG_EN.finditer(text):
        start, end = trim(text, *found.span("value"), found.group("quote"))
        value = text[start:end]
        if len(value) < 3 or (text[found.start("value")] in "{[" and text[end : end + 1] in ":,"):
            continue  # a schema
        assigned = bool(re.search(r"[:=>]\s?[\"'`]?$", text[found.start() : found.start("value")]))
        if like_password(value) or (found.group("quote") and value.lower() not in _PREDICATES and not value.isspace()):
            yield start, end
        elif value.isascii() and value.lower() not in _PREDICATES and not _ADJECTIVE.match(value.lower()):
            ends = not re.match(r"\s?[A-Za-z(]", text[end : end + 2]) or re.match(
                r"\s(?:and|but|so|if|please|thanks|ok)\b", after(text, end)
            )
            if ends and (assigned or len(value) >= 5):
                yield start, end
    for found in _PHRASE_EN.finditer(text):
        yield found.span("value")
    for found in _WORDS_EN.finditer(text):
        if not _OF_A_SENTENCE.search(found.group("value")):
            yield found.span("value")
    for found in _OTHER_TONGUES.finditer(text):
        start, end = trim(text, *found.span("value"))
        if end - start >= 4 and like_password(text[start:end]):
            yield start, end
    for pattern in (_PLAIN_EN, _WITH_EN):
        for found in pattern.finditer(text):
            start, end = trim(text, *found.span("value"), found.group("quote"))
            if end - start >= 4 and like_password(text[start:end]):
                yield start, end
    for found in _REVERSE_EN.finditer(text):
        start, end = trim(text, *found.span("value"))
        if end - start >= 4 and like_password(text[start:end]):
            yield start, end
    for pattern in (_CREDENTIALS, _MORE_CREDENTIALS):
        for found in pattern.finditer(text):
            start, end = trim(text, *found.span("value"))
            if end - start >= 5 and like_password(text[start:end]):
                yield start, end


# `{{ vault.db_password }}`, up to the name and whole: a reference, where `{{ Tr0ub4dor&3 }}` is none.
_OPENS_TEMPLATE = re.compile(r"\{\{\s?\Z")
_NAME_IN_TEMPLATE = re.compile(r"[A-Za-z_][\w.|\- ]*\}\}", re.ASCII)


def _in_template(text: str, start: int) -> bool:
    opened = _OPENS_TEMPLATE.search(text, max(0, start - 4), start)
    return opened is not None and _NAME_IN_TEMPLATE.match(text, opened.end()) is not None


def _passwords(text: str) -> Iterator[Hit]:
    for start, end in (*_spoken(text), *_told_nearby(text), *_opens_a_door(text)):
        value = text[start:end]
        if (
            end <= start
            or is_stand_in(value.lstrip("=: "))
            or _in_template(text, start)
            or EXPRESSION.search(value)
            or MADE_UP.search(value)
            or _UNIT.match(text, end)
        ):
            continue
        if "://" in value or value.startswith(("--", "//", "{")):
            continue
        yield Hit("password", start, end, LABELLED)


PASSWORD = Recognizer(
    "password",
    frozenset({"password"}),
    re.compile(
        r"密[码碼保]|口令|暗号|pass|pwd|\bpw\b|pin|cred|login|log-in|logins|combination|code|combo|账号|用户名|"
        r"登[录陆]|wi-?fi| / |门|柜|箱|车库|锁|keypad|vault|garage|gate|alarm|safe|lock|door|building|elevator|"
        r"admin|root|guest|contrase|kennwort|senha|wachtwoord|senord|has.o|ifre|парол|パスワ|暗証|비밀번호|mật khẩu",
        re.IGNORECASE | re.ASCII,
    ),
    _passwords,
)
