"""One-time codes: the words around them say what they are, before or after."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streams.memory.look import Looked
from streams.memory.redaction.model import Hit
from streams.memory.redaction.recognizers.base import LABELLED, Recognizer, before

# 4 to 10 letters and digits with at least one digit, maybe in groups ("118 245", "KX7-22Q", "0 4 8 2 1 6").
_DIGITS = (
    r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{3,5}|[0-9]{4,10}|[0-9]{2}(?:[ \-][0-9]{2}){2,3}|[0-9]{2,4}[ \-][0-9]{2,4}|"
    r"[0-9](?:[ \-][0-9]){3,7}"
)
_MIXED = r"(?=[A-Za-z\-]{0,9}[0-9])[A-Za-z0-9]{2,5}(?:-[A-Za-z0-9]{2,5}){1,2}|(?=[A-Za-z]{0,9}[0-9])[A-Za-z0-9]{4,10}"
_END = (
    r"(?![A-Za-z0-9@]|[\-.:/][0-9A-Za-z]|[ ]?(?:位|分钟|秒|小时|天|元|块|次|个|条|年|月|号楼|%|digits?\b|"
    r"characters?\b|minutes?\b|mins?\b|hours?\b|seconds?\b|times?\b|days?\b|lines?\b))"
)

_ZH = (
    r"(?:验证码|校验码|验证碼|驗證碼|动态码|动态密码|动态口令|一次性(?:密码|口令|验证码)|短信码|短信密码|激活码|"
    r"确认码|安全码|"
    r"取件码|取货码|提货码|登录码|登陆码|识别码|授权码|核销码|认证码|随机码|口令码|提取码)"
)
_LINK_ZH = (
    r"(?:[\s:：=,，\"'(（\[【\-]|就?是|为|应该是|换成|变成|改成|给你|发的是|收到的?|到了|来了|如下|了|刚才的?|"
    r"刚刚|我的?|这个|那个|新的|现在|code|no\.?){0,6}"
)
_AFTER_ZH = Looked(_ZH + _LINK_ZH + rf"(?P<value>{_DIGITS}|{_MIXED})" + _END)
_BEFORE_ZH = Looked(
    rf"(?<![0-9A-Za-z.\-/])(?P<value>{_DIGITS})(?![0-9A-Za-z])"
    rf"(?:\s?(?:就?是|为|作为|[(（，,]|这个|那个|这是|才是)\s?[^\d\n。！？]{{0,12}}?(?:登[录陆]|注册|支付|短信|"
    rf"手机)?{_ZH}"
    r"|\s?(?:来|去)?(?:登[录陆]|完成验证|进行验证|验证身份|完成登[录陆]))"
)
_USE_ZH = Looked(
    rf"(?:输入?|填写?|用|使用|回复)(?:一下|"
    rf"上)?\s?(?P<value>{_DIGITS})(?![0-9A-Za-z])\s?[^\d\n。！？]{{0,6}}?(?:登[录陆]|验证|激活|确认)"
)

# "code" alone is many things; what stands before it tells.
_NOT_A_SECRET = (
    r"(?:error|exit|status|return(?:ed|s)?|response|zip|area|country|dial(?:ling)?|postal|post|source|dress|promo|"
    r"promotion(?:al)?|coupon|discount|"
    r"voucher|purchase|referral|invite|invitation|gift|product|item|bar|qr|color|colour|hex|unicode|key|country|"
    r"currency|language|airport|icd|"
    r"sort|swift|bank|branch|http|fault|trouble|stock|ticker|station|course|class|room|order|building|tax|hs|"
    r"machine|byte|op|py|unit|test|morse|"
    r"clean|engine|tracking|reference|legacy|with|no|of|penal|civil|labou?r|telegraph)"
)
_EN = (
    r"(?:(?:verification|verify|confirmation|security|2[ \-]step|two[ \-]step|log[ \-]?in|sign[ \-]?in|"
    r"one[ \-]?time|auth(?:entication|"
    r"orization|enticator)?|access|activation|sms|"
    r"2fa|mfa|two[ \-]factor|backup|recovery|reset|temporary|validation|registration|secret|pairing|device|unique|"
    r"single[ \-]use)[ \-]?(?:pass)?(?:codes?|coce|pin|number|password)|"
    r"\botp|\bpass ?code|verifycode|passkey code|one[ \-]?time pass(?:word|code)|(?:2fa|mfa|"
    r"authenticator)(?= (?:says|shows|is))|"
    r"(?<![a-z])(?<!-)code|\bpin|\bcodes?(?= (?:they|you|we) (?:texted|sent|emailed)))"
)
_LINK_EN = (
    r"(?:[\s:：=,\"'(\[\-#]|(?<=['’])s(?=\s)|is|was|are|says|show(?:s|ing)|now|it's|it is|by sms|via sms|"
    r"they (?:texted|sent|gave) me|"
    r"(?:for|on|to|from|in) [A-Za-z.]{1,20}|you requested|below|the|your|my){0,8}"
)
_AFTER_EN = Looked(
    _EN
    + r"(?![a-z])"
    + _LINK_EN
    + rf"(?P<value>{_DIGITS}|(?-i:(?=[A-Z\-]{{0,9}}[0-9])[A-Z0-9]{{3,5}}-?[A-Z0-9]{{2,5}})|"
    rf"(?<=[:\" ])(?=[a-z]{{0,9}}[0-9])[a-z0-9]{{3,5}}-[a-z0-9]{{3,5}})" + _END,
    re.IGNORECASE | re.ASCII,
)
_BEFORE_EN = Looked(
    rf"(?<![0-9A-Za-z.\-/])(?P<value>{_DIGITS})(?![0-9A-Za-z])[\"')]?"
    r"(?:\s?[(\-,]?\s?(?:is|was|are)?\s?(?:your|the|my|a|an)?\s?[^\d\n.!?]{0,30}?(?<!promo )(?<!zip )(?<!area )"
    r"(?:\b(?:verification|verify|confirmation|security|login|log-in|sign-in|one-time|otp|authentication|activation|"
    r"access|sms|2fa)\b|\bpasscode\b|\b(?:is|as)\b[^\d\n.!?]{0,24}\bcode\b)"
    r"|\s(?:to|for)\s(?:log|sign|verify|verification|confirm|authenticate|reset|activate|unlock)|"
    r"\sas your\s[^\d\n.!?]{0,20}?(?:code|password|pin))",
    re.IGNORECASE | re.ASCII,
)
_USE_EN = Looked(
    rf"\b(?:use|enter|type|input|reply with|confirm with|submit)\s(?:the\s)?(?:(?:this\s)?(?:code|pin|"
    rf"otp)\s)?[(\"']?(?P<value>{_DIGITS})[)\"']?(?![0-9A-Za-z])"
    r"\s(?:to|as|for|on)\s[^\d\n.!?]{0,30}?(?:log|sign|verify|verif|confirm|authenticat|reset|activat|unlock|access|"
    r"password|code|pin)",
    re.IGNORECASE | re.ASCII,
)
_FROM_EN = Looked(
    rf"\b(?:the|my|your|this|that|a|here'?s? (?:is )?the)\s(?P<what>(?:[\w\-]{{2,16}}\s){{0,2}})"
    rf"(?:code|pin|otp)(?=[\s,])(?!\s(?:base|review|coverage|path|line|snippet|block|freeze))"
    rf"(?P<gap>[^\d\n.!?]{{0,36}}?)(?:\bis|\bwas|\bit['’]?s|:|=)\s?[\"'(]?(?P<value>{_DIGITS})(?:\#|(?![A-Za-z0-9@#])){_END}",
    re.IGNORECASE | re.ASCII,
)
_WITH_EN = Looked(
    rf"\b(?:in|verify|confirm|authenticate|unlock|it) with (?:the |this |my |your )?(?:code|pin|"
    rf"otp) (?P<value>{_DIGITS})(?![0-9A-Za-z])",
    re.IGNORECASE | re.ASCII,
)
# "登录的时候输 4821"
_ASKED_ZH = Looked(
    rf"登[录陆][^\d\n。！？，,A-Za-z]{{0,6}}?(?:输入?|填写?|按|打)(?:上|一下|个)?\s?(?P<value>{_DIGITS})" + _END
)
_NEAR_ZH = Looked(rf"{_ZH}(?P<gap>[^\d。！？\n；A-Za-z]{{0,16}})(?P<value>{_DIGITS})" + _END)
_LOOSE_ZH = Looked(
    rf"(?:(?<![编号页代邮条价数尺密起扫二])码\s?(?:是|为|[:：])|验证[^\d。\n，,]{{0,10}}(?:是|为|"
    rf"[:：]))\s?(?P<value>{_DIGITS})" + _END
)
_SENT_ZH = Looked(
    rf"(?:发|收到|填|输入?)[^\d\n。，,]{{0,8}}?(?<![编号页代邮条价数尺密起扫二])码\s?[:：]?\s?(?P<value>{_DIGITS})"
    + _END
)
# "The six digits they asked for: 093417", 六位数是 093 417: as many as are said.
_COUNTED = Looked(
    r"(?:\b(?P<en>four|five|six|eight|[4-8])[ \-]digits?\b[^\d\n.!?]{0,30}?(?:\bis|\bare|\bwas|:)"
    r"|(?P<zh>[四五六八4-8])位(?:数字?|码|验证码)[^\d\n。，,]{0,6}?(?:是|[:：]))\s?(?P<value>[0-9](?:[ \-]?[0-9]){3,7})"
    + _END,
    re.IGNORECASE | re.ASCII,
)
_COUNTS = {
    "four": 4, "five": 5, "six": 6, "eight": 8, "四": 4, "五": 5, "六": 6, "八": 8, **{str(n): n for n in range(4, 9)},
}  # fmt: skip
_TEXTED = Looked(
    r"\btexted (?:me|you|us)(?: (?:the|a|this)(?: code)?)?:?\s(?P<value>[0-9]{3}[ \-][0-9]{3}|[0-9]{6})" + _END,
    re.IGNORECASE | re.ASCII,
)
_LOOSE_EN = Looked(rf"\bverification\s?[:：]\s?(?P<value>{_DIGITS})" + _END, re.IGNORECASE | re.ASCII)
_CALLED_FOR = re.compile(r"登[录陆]|验证|短信|收到|发来|注册")
_ABOUT = re.compile(
    r"过期|收不到|没收到|有效|错误|发送|次数|位数|长度|超时|重新获取|格式|第|编号|error|status|return|version|"
    r"review|exit"
)
_CONFIRM_EN = Looked(
    rf"\bconfirm (?:it )?with (?:the )?code (?P<value>{_DIGITS})(?![0-9A-Za-z])", re.IGNORECASE | re.ASCII
)
_GOOGLE = Looked(r"(?<![A-Za-z0-9\-])G-(?P<value>[0-9]{6})(?![0-9A-Za-z\-])")
# The same words in the languages that text messages come in.
_OTHER = Looked(
    r"(?:пароль|код(?: подтверждения| доступа)?|código|codigo|code de (?:vérification|confirmation|sécurité)|"
    r"(?:verifizierungs|bestätigungs|sicherheits)?code lautet|"
    r"(?:verifizierungs|bestätigungs|sicherheits|aktivierungs)code|codice(?: di verifica)?|kode verifikasi|"
    r"kod weryfikacyjny|doğrulama kodu|mã xác (?:nhận|thực|minh)|"
    r"인증번호|認証コード|確認コード|認証番号)"
    r"(?:[\s:：=\"'(\[\-]|es|est|ist|lautet|è|jest|là|は|는|de|для|do|di|[A-Za-z]{2,20} ){0,6}(?P<value>[0-9]{4,8}|"
    r"[0-9]{3}[ \-][0-9]{3})(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_OTHER_BEFORE = Looked(
    r"(?<![0-9A-Za-z.\-/])(?P<value>[0-9]{4,8}|[0-9]{3}[ \-][0-9]{3})(?![0-9A-Za-z])\s(?:ist|es|est|è|jest|este|"
    r"é)\s[^\d\n]{0,24}?(?:code|código|codice|kod)",
    re.IGNORECASE,
)
# Of several codes only the first stands beside the word.
_NEXT = re.compile(
    rf"(?:\s?[,，、;/]\s?(?:and |or )?|\s(?:and|or|&)\s|\s?[和或跟]\s?|\n[^\S\n]*)(?P<value>{_DIGITS}|{_MIXED})" + _END
)
_DIGIT = re.compile(r"[0-9]")
_WRONG_CODE = re.compile(rf"\b{_NOT_A_SECRET}[ \-_]?$", re.IGNORECASE)
_OTHER_CODE = re.compile(rf"\b{_NOT_A_SECRET}[ \-_]?code(?: (?:is|was))?\W{{0,3}}$")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}$")


_ANY_WORD = Looked(
    r"[码碼口]|cod|coce|kod|код|пароль|otp|pin|verif|\blog|\bsign|인증|認証|確認|mã |G-|2fa|mfa|authenticator|activat|"
    r"confirm|\buse\b|enter|reset|texted|digit|登|验证|激活|确认|位",
    re.IGNORECASE,
)


def _codes(text: str) -> Iterator[Hit]:
    """The codes that a word calls so, and those of the same form that follow each."""
    for hit in _called_codes(text):
        yield hit
        form = _form(text[hit.start : hit.end])
        found = _NEXT.match(text, hit.end)
        while found and _form(found["value"]) == form:
            yield Hit("otp", *found.span("value"), hit.score)
            found = _NEXT.match(text, found.end())


def _form(code: str) -> str:
    return _DIGIT.sub("0", code)


def _called_codes(text: str) -> Iterator[Hit]:
    if not _ANY_WORD.search(text):
        return
    for pattern in (
        _AFTER_ZH,
        _BEFORE_ZH,
        _USE_ZH,
        _ASKED_ZH,
        _SENT_ZH,
        _TEXTED,
        _BEFORE_EN,
        _USE_EN,
        _CONFIRM_EN,
        _WITH_EN,
        _GOOGLE,
        _OTHER,
        _OTHER_BEFORE,
    ):
        for found in pattern.finditer(text):
            if pattern in (_BEFORE_EN, _BEFORE_ZH, _ASKED_ZH) and (
                _YEAR.match(found.group("value")) or _OTHER_CODE.search(before(text, found.start("value")))
            ):
                continue
            yield Hit("otp", *found.span("value"), LABELLED + 5)
    for pattern in (_FROM_EN, _NEAR_ZH):
        for found in pattern.finditer(text):
            what = found.groupdict().get("what") or ""
            if _WRONG_CODE.search(what.rstrip()):
                continue
            if not _ABOUT.search(found.group("gap").lower()) and not _YEAR.match(found.group("value")):
                yield Hit("otp", *found.span("value"), LABELLED + 5)
    for found in _COUNTED.finditer(text):
        if len(_DIGIT.findall(found["value"])) == _COUNTS[(found["en"] or found["zh"]).lower()]:
            yield Hit("otp", *found.span("value"), LABELLED)
    for found in _LOOSE_ZH.finditer(text):
        if _CALLED_FOR.search(text, max(0, found.start() - 40), found.start("value")):
            yield Hit("otp", *found.span("value"), LABELLED)
    for found in _LOOSE_EN.finditer(text):
        yield Hit("otp", *found.span("value"), LABELLED)
    for found in _AFTER_EN.finditer(text):
        bare = found.group().lower().startswith(("code", "pin"))
        head = before(text, found.start(), 24)
        if bare and _WRONG_CODE.search(head):
            continue
        if found.group().lower().startswith("code") and not _said_as_secret(text, found, head):
            continue
        yield Hit("otp", *found.span("value"), LABELLED + 5)


_OWNER = re.compile(
    r"\b(?:your|my|the|his|her|our|this|a|use|enter|their|new)\s(?:[\w.&'\-]{1,20}\s){0,2}$|[\]】>]\s?$|"
    r"^\s?(?:[a-z]{2,16}\s){0,2}$|(?<!错误)(?<!返回)(?<!状态)(?<!异常)(?<!响应)(?<!退出)[\u4e00-\u9fff]\s?$"
)


def _said_as_secret(text: str, found: re.Match[str], head: str) -> bool:
    """ "code" with nothing that says which: a code of someone ("your Uber code is"), not one of a thing."""
    if not _OWNER.search(head):
        return False
    if re.search(r"\b(?:use|enter)\s$", head) and not found.group("value").isdigit():
        return False  # "use code SPRING15": what opens a door is said to do so
    gap = text[found.start() + 4 : found.start("value")]
    return bool(re.search(r"\bis\b|['’]s\b|[:：=(\"]|was|texted|sent", gap)) or bool(
        re.fullmatch(r"\s", gap) and re.match(r"^\s?(?:[a-z]{2,16}\s){1,2}$", head)
    )


CODE = Recognizer("one_time_code", frozenset({"otp"}), re.compile(r"[0-9]"), _codes)
