"""What one has one at a time, what one has many of, and what holds only in part: read off nouns and their frame.

"My landlord is ..." names the one landlord, "my friend is called ..." one of the friends. "While Helen is away my
manager is Raj" says nothing of who is the manager otherwise.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from streams.memory.lexical import fold

# People, animals and things of which one has several, when nothing more tells them apart.
_MANY_EN: Final = (
    r"(?:best |good |old |other )?(?:friend|colleague|co-?worker|client|customer|cousin|neighbou?r|classmate|student"
    r"|pupil|kid|child|son|daughter|brother|sister|sibling|uncle|aunt|niece|nephew|cat|dog|pet|kitten|puppy|rabbit"
    r"|hamster|roommate|flatmate|housemate|guest|intern|patient|partner company)s?"
    # Of a subject there is one teacher: "my piano teacher".
    r"|(?:^|\b(?:my|our|the) |'s )(?:teacher|tutor|doctor|coach)s?"
)
_MANY_ZH: Final = (
    r"朋友|闺蜜|同事|客户|同学|学生|邻居|亲戚|孩子|儿子|女儿|哥哥?|弟弟?|姐姐?|妹妹?|叔叔|阿姨|舅舅|姑姑|猫|狗|狗狗"
    r"|猫咪|宠物"
    r"|(?:^|的|我)(?:老师|医生|教练)|室友|舍友|实习生|客人"
)
_MANY: Final = re.compile(rf"(?:\b{_MANY_EN}|{_MANY_ZH})$")
_NAMED: Final = re.compile(r"(?:'s)? name$|的?名字$")
# Appointments: a second one may be another.
_OCCASION: Final = re.compile(
    r"\b(?:meeting|appointment|interview|call|flight|train|class|lesson|exam|dinner|lunch|party|session|game|match"
    r"|check-?up|visit|trip)s?$|(?:会议?|面试|航班|火车|高铁|课|考试|聚餐|饭局|约会|预约|比赛|体检|行程)(?:的?时间)?$"
)
# For a time, on some days, in one place, as somebody heard or wishes: what holds otherwise is not said.
_PART_EN: Final = (
    r"\b(?:this|that|next|coming) (?:week|weekend|month|semester|term|quarter|time|trip|project|once|season|event"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|\bnext year\b"
    r"|\b(?:for|in|on) (?:this|that) \w+\b|\bjust (?:today|tomorrow|once)\b|\bfor (?:now|today|the (?:moment"
    r"|time being))\b"
    r"|\b(?:temporarily|interim|acting|at first|at weekends|on weekends|on weekdays|at night only|part-time)\b"
    r"|\b(?:while|whenever|unless|in case|as long as)\b"
    r"|\b(?:apparently|maybe|perhaps|probably|possibly|might|could|should|would|i wish|hopefully|i (?:hope|'m hoping"
    r"|hear|heard|read)"
    r"|rumou?rs?|seems?|(?:he|she|they|[a-z]+) (?:thinks?|thought|believes?|claims?|reckons?|guess\w*)|dream\w*"
    r"|going to"
    r"|plan(?:ning|s)? to|want(?:s|ed)? to|considering|thinking (?:of|about))\b"
    # "At work I drive a van", "in summer we live in Kerry"
    r"|^\W*(?:at|in|on|during|for) (?!(?:the )?(?:end|fact|moment|meantime|short|case|record|context|last|present"
    r"|future|other"
    r"|top|first)\b)[\w' ]{2,25}? (?=(?:i|we|my|our)\b)"
    r"|\b(?:my|our) (?:first|former|previous|old|last|ex)\b|\bused to\b|\bbefore that\b|\bback then\b"
)
_PART_ZH: Final = (
    r"这(?:一)?(?:周|次|趟|两天|几天|个?月|学期(?!起)|个?项目)|本(?:周|月)|下(?:周|个?月|学期)(?!起|开始)|明年(?!起)"
    r"|后年"
    r"|听说|据说|好像|可能|也许|或许|大概率|要是|如果|假如|万一|希望|但愿|(?<!不)想(?!法)|打算|准备(?!工作)|计划(?!书"
    r"|表)|考虑"
    r"|临时|暂时|代班|代管|期间|的时候|(?:周末|工作日|节假日|下雨天)(?!愉快)"
    r"|以前|从前|曾经|当年|原来|之前|小时候|上一?(?:任|个|家|份)"
)
_PART: Final = re.compile(f"{_PART_EN}|{_PART_ZH}")
_CLAUSE: Final = re.compile(r"[,;:](?!\d)|[.!?](?=\s|$)|—|[，。；！？\n]")
# These leave open what the rest of the sentence says.
_SUPPOSED: Final = re.compile(
    r"^\W*(?:and |but |so )?(?:if|unless|while|whenever|in case)\b|^\W*(?:要是|如果|假如|万一|听说|据说)"
)
_ASKS: Final = re.compile(r"[?？]|吗$|是不是|有没有")


# When something begins to hold is no part of the time.
_FROM: Final = re.compile(
    r"\b(?:as of|since|starting|from|beginning|effective) (?:this|next|last|the) \w+(?: on)?|从[^，。]{1,8}?(?:起|开始)"
)


@lru_cache(maxsize=20_000)
def one_of_many(noun: str) -> bool:
    """Does a noun phrase ("colleague", "我的同事") end in what one has several of?"""
    named = _NAMED.sub("", fold(noun).replace("’", "'").strip())
    return bool(_MANY.search(named)) and not sole(named)


@lru_cache(maxsize=20_000)
def occasion(noun: str) -> bool:
    """Does a noun phrase end in something that takes place, of which there may be a second one?"""
    return bool(_OCCASION.search(fold(noun).strip()))


@lru_cache(maxsize=20_000)
def in_part(text: str, value: str | None = None) -> bool:
    """Does a statement hold for a part only, or is it not said to be so? `value`: the clause that has it is looked at,
    and what a condition leaves open; without it the whole."""
    folded = fold(text).replace("’", "'")
    clauses = [clause for clause in _CLAUSE.split(folded) if clause.strip()]
    if _ASKS.search(folded) or any(_SUPPOSED.search(clause) for clause in clauses):
        return True
    wanted = fold(value or "").replace("’", "'")
    looked_at = [clause.replace(wanted, " ") for clause in clauses if wanted and wanted in clause] or clauses
    return any(_PART.search(_FROM.sub(" ", clause)) for clause in looked_at)


# Of these somebody or something has one at a time, unless more words tell it apart.
_SOLE_EN: Final = """
manager boss supervisor landlord landlady accountant bookkeeper gp dentist therapist physio physiotherapist barber
hairdresser lawyer solicitor coach trainer mentor nanny cleaner vet principal headteacher headmaster contractor caterer
photographer architect planner advisor adviser owner lead leader head chair chairman chairwoman ceo cto cfo captain
editor publisher husband wife
insurer bank gym isp provider internet broadband vpn email hosting host domain server database backend front-end
back-end frontend cache queue framework stack repo repository wiki tracker crm
deadline birthday anniversary wedding rent salary wage pay mortgage budget price fee limit cap quota weight height size
version release launch address office desk workspace venue location headquarters room cubicle plan tariff dose dosage
bedtime alarm wake-up curfew timezone school university college kindergarten nursery major thesis date topic title name
"""
_SOLE: Final = frozenset(_SOLE_EN.split())
_SOLE_TWO: Final = re.compile(
    r"\b(?:class teacher|homeroom teacher|form teacher|family doctor|head teacher|team lead|point of contact"
    r"|contact person|person in charge|tax adviser|tax advisor|due date|release date|launch date|wifi name|wi-fi name)$"
)
_SOLE_ZH: Final = re.compile(
    r"(?:领导|老板|上司|主管|经理|组长|队长|班长|班主任|导师|房东|会计|律师|牙医|教练|私教|保姆|月嫂|工头|包工头"
    r"|施工队|设计师|负责人|对接人|联系人|主治医生"
    r"|家庭医生|校长|院长|园长|店长|主任|总监|宽带|运营商|网络|后端|前端|数据库|缓存|框架|服务器|仓库|repo|银行"
    r"|开户行|健身房|房租|租金|月租|工资|月薪"
    r"|年薪|薪水|预算|价格|单价|定价|学费|截止日期?|期限|deadline|ddl|交付日期?|上线日期?|发布日期?|开业日期?|日期"
    r"|时间|生日|纪念日|地址|住址|办公室|工位|座位"
    r"|教室|会场|场地|地点|总部|鞋码|尺码|身高|体重|血型|版本|套餐|剂量|专业|学校|幼儿园|大学|题目|选题|标题|名字"
    r"|昵称|域名|老婆|老公|丈夫|妻子)$",
    re.IGNORECASE,
)


# Of these the time is the value; of the others ("the physio on March 19") it is one of several.
_DATED: Final = re.compile(
    r"\b(?:deadline|date|birthday|anniversary|wedding|alarm|bedtime|curfew|wake-up|launch|release|lunch break|time)$"
    r"|(?:期限|deadline|ddl|日期?|生日|纪念日|时间|闹钟|婚礼)$"
)


_YEARLY: Final = re.compile(r"\b(?:birthday|anniversary)$|(?:生日|纪念日)$")
_WEEKDAY: Final = re.compile(
    r"(?P<a>(?:on )?an? )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?: this year| next year)?"
    r"|(?:今年)?(?:是)?一?个?(?:周|星期|礼拜)[一二三四五六日天]"
)


def falls_on(noun: str, value: str) -> bool:
    """Does a value only tell on what day of the week something falls: "my birthday is a Sunday"?"""
    day = _WEEKDAY.fullmatch(fold(value).strip(" ."))
    return day is not None and (bool(day["a"]) or bool(_YEARLY.search(fold(noun).strip())))


_LAST: Final = re.compile(r"^.*[\u4e00-\u9fff](?=[a-z-]+$)")


@lru_cache(maxsize=20_000)
def one_time(noun: str) -> bool:
    """Does a noun phrase end in what has one day or time, and no second one?"""
    return bool(_DATED.search(fold(noun).strip()))


@lru_cache(maxsize=20_000)
def sole(noun: str) -> bool:
    """Does a noun phrase end in what one has one of at a time?"""
    folded = fold(noun).strip()
    last = _LAST.sub("", folded.split()[-1]) if folded else ""  # of 公司的ceo the last word
    return last in _SOLE or bool(_SOLE_TWO.search(folded)) or bool(_SOLE_ZH.search(folded))
