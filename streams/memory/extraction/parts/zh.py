"""Where a Chinese sentence goes on with another statement."""

from __future__ import annotations

import re

from streams.memory.extraction.parts.lead import OWN, Lead, States
from streams.memory.extraction.patterns.zh import KIN, SURNAME

JOINT = re.compile(r"[，；;]\s*(?=\S)|,\s*(?!\d)(?=\S)")
_COMMA = re.compile(r"[，,；;：:。]\s*")
_NO_VERB = "[^，我是在叫有和跟与带陪给对把被让请找想帮为向同比像教送接养爱喜欢要会去来]"
_PERSON = rf"(?:[小老阿]{SURNAME}|{SURNAME}(?:老师|医生|经理|总|姐|哥|工|师傅))"
# Whose statement it is: the speaker, somebody of theirs, a person with a title. With a time ahead that goes with it.
_SUBJECT = re.compile(
    r"^\W*(?:而且|并且?|另外|还有|同时|然后|对了|那个)*(?:[^，我]{0,7}[天周月年号日晚早上午下])?"
    rf"(?P<s>(?:我们?|咱们?)(?:的|家的?)?(?:{_NO_VERB}{{0,4}}(?<!的))?{KIN}(?!的)|(?:大|小|二|老|前|新|亲|直属)?{KIN}(?!的)|我们?家?|咱们?家?|{_PERSON})(?!的)"
    r"(?P<when>每[天晚周月]|(?:下下?|这|本)个?(?:周[一二三四五六日天末]?|月|学期)|明[天年]|后天|(?:\d{1,2}月)\d{0,2}[号日份底初]?)?(?=\S\S)"
)
# A thing that has dates, people and amounts of its own, and what one says of such a thing.
_TOPIC = re.compile(r"^\W*(?P<s>[^，我你他她它这那\s]{1,8}?(?:项目|系统|活动|比赛|产品|平台|年会|婚礼|课程|工程|公司))")
_OF_TOPIC = re.compile(
    r"^(?:交付|截止|上线|开工|发布|开始|结束|项目|总)?(?:日期|时间|地点|地址|预算|费用|人数|价格|版本|进度|负责人|联系人|组长|经理|期限)"
    r"[^，我你他她它]{0,4}?(?:是|在|由|归|用|有|定|改|为)"
)
# Somebody or something that it is told of who, where, what it is, without a verb that the rules know.
_HOLDS = (
    r"[^，我你他她是在由用]{1,4}(?:日期|时间|地点|预算|负责人|联系人|组长|经理)(?:现在|目前)?"
    r"(?:是|在|由|定|改)[^，]{1,12}"
)
_NAMED = re.compile(
    r"^(?![我你您他她它这那其另谁哪什怎别请帮])[^，]{2,16}?(?:现在|目前|以后|已经|都|就|只)*"
    r"(?:叫|是|在|用的?|归|由|定|改|有|要|每|推迟|延|提前|大概|最多|对|住|喜欢|负责|[上下]?[周午晚早]|找|联系|交给|分给|\d)"
)
_OF_ONE = "房租|租金|工资|月薪|年薪|身高|体重|血型|鞋码|学费|车贷|房贷|预算"
_BARE = re.compile(
    rf"^(?:而且|并且?|同时|现在|目前|平时|平常|一直|也|还|都|已经|今年|最近|刚刚?|主要|一般|通常|另外|又|特别|很|比较)*"
    rf"(?:住|上班|养|喜欢|讨厌|从事|会[说讲]|属|在(?!于)|做|当|有|没有|爱|不吃|不喝|不喜欢|不能|喝|吃|用|开|学|读|上|教|是(?:一?[个名位]|做|搞)|今年|姓"
    rf"|负责|管|对|带|穿|受不了|怕|戒|{_OF_ONE}|\d+岁|每[天周晚月个])"
)
# Another time of the same subject: 早上喝红茶，晚上喝花茶.
_TIMED = re.compile(
    r"(?:(?P<clock>[\d一二三四五六七八九十两]{1,3}点)|(?P<day>周[一二三四五六日天末]|星期[一二三四五六日天]|礼拜[一二三四五六日天]|工作日)"
    r"|(?P<hours>早上|上午|中午|下午|晚上)|(?P<season>冬天|夏天))[^，]{2,}"
)
# Opens a clause that says something of the one before.
_LEANS = re.compile(
    r"^\W*(?:还|也|就)?(?:需要|必须|务必|最好|记得|麻烦|帮我|请)"  # what is wished of what was told before it
    r"|^(?:[因所]|但|不过|可是|可(?=[我他她])|然而|只是|如果|要是|虽|尽管|为了?|免得|以免|省得|否则|不然|要不|结果|于是|才|就|便|即|比如|例如|像|包括"
    r"|其中|尤其|毕竟|反正|估计|感觉|觉得|这|那(?!边|里)|而是|而不|不是|并不|导致|所谓|别|不要|要|想|给|请|麻烦|帮|记得|提醒|到时|你|您|能|可以|怎|谢|哈|嘿|连|离"
    r"|难怪|看来|说明|也就|还是|再|先|以便|等|也?不[用要需]|最好|直接|刚才?把|已经把|发现|让|对$|至少"
    r"|我们?(?:自己)?(?:也|并|其实)?(?:只是|就|想(?!要)|问|打算|需要|继续|先|不是|不想|不要))"
)
# Says it of what was named before.
_POINTS = re.compile(r"[它此]|[他她]|其(?![实他])|[这那][个种样边里次儿时]|一样|同样|前者|后者")
_GOVERNS = re.compile(
    r"因为|由于|如果|要是|虽然|尽管|既然|为了|只要|一旦|除非|无论|不管|万一|的时候|听说|据说|以为|认为|觉得|感觉|希望|担心|想(?!要)|怕|可能|也许|大概会"
    r"|(?:[他她妈爸婆公]|医生|老师|老板|领导|同事|朋友|客户|人家?|网上)[^，]{0,4}说|问|时$|之后$|以后$|之前$|以前$|^\W*(?:等|当)"
)
# What is so no longer, and then what is so instead.
_BEFORE = "以前|原来|本来|之前|曾|从前"
_ENDS = re.compile(rf"不是|不再|没再|不[^，]{{1,10}}了$|{_BEFORE}|原本|过去|戒|辞|离职|搬|换|改")
_THEN = re.compile(f"{_BEFORE}|原先|去年|前年|当年|当时|那时|小时候")
_INSTEAD = re.compile(r"^(?:现在|如今|目前|而是|是|改|换|后来|今年|刚|搬)")
# Brings in somebody or something that the next clause may be about.
_BRINGS_IN = re.compile(
    r"(?:有|养|买|收养|领养|认识|找|交|请|招|生|租|来|是)了?(?:一|两|三|四|五|几|\d+)?(?:个|只|条|位|名|款|辆|间|套|台|家)|有(?:孩子|宝宝|猫|狗|车)"
)
_VISITS = re.compile(r"出差|旅[游行]|度假|探亲|玩|开会|[几两三]天")
_ALSO = re.compile(r"^(?:也|还|同时|平时|而且|并且?)")
_FIRST = ("我", "咱")
_RELATED = re.compile(KIN)  # 我住望京，老婆在通州: whose wife is said before
_CALLED = re.compile(rf"(?:现在|的名字)?[叫是](?P<name>{_PERSON}|{SURNAME}[\u4e00-\u9fff]{{1,2}}(?=$))?")
_FAMILY = re.compile(r"[妈爸母父爷奶公婆哥弟姐妹儿女娃子媳妇妻夫爱](?!朋?友)|太太|孩")
_A_REMARK = 3  # characters: 她很好
_ASKS = re.compile(r"[吗呢么?？]\W*$")
# Of whom or what it is said where, who, what: 我在字节做后端, 狗子叫豆包, 前端负责人是阿敏, 前端用的Taro.
_ADVERBS = "(?:现在|目前|还|也|都|只|不|从不|一直|平时|最近|今年|小时候|以前|从前|下个?月|明年|去年|刚)*"
_SAYS = re.compile(
    rf"^\W*(?:(?:我们?|咱们?)?(?:的|家)?(?:{KIN})?{_ADVERBS}(?:在[^，]{{2,10}}?(?:做|当|上班|工作|读|念|教|开)|上班在|做(?![了完好过梦])|住|养|会[说讲]"
    r"|从事|入职|加入|跳槽到|搬[到来去]|喜欢|讨厌|吃(?!饭)|喝|开(?![会始玩心口学了])|穿|戴|学|教|弹)[^了过]{2,}"
    rf"|(?:我们?|咱们?)?的?(?:家|公司|学校|单位|办公室|老家|宿舍|店|{KIN})(?:就|都|现在)*在\S{{2,}}"
    rf"|(?:我们?|咱们?)?的?(?:{_OF_ONE})\S{{2,}}"
    rf"|[^，我你]{{1,6}}(?<![又在只被让])叫(?![号车人你我他她])[^，了]{{1,6}}[。！]?$|{_OF_TOPIC.pattern[1:]}|{_HOLDS}"
    r"|[^，我你这那]{2,8}?(?:现在|目前)?(?:用|跑在|放在|写在|存在)的?是?\s?[A-Z])"
)


def leads(before: str, joint: re.Match[str], clause: str, states: States) -> Lead | None:
    """How the clause after a joint begins as a statement of its own; None when it is none."""
    if not clause or _LEANS.match(clause) or _ASKS.search(clause):
        return None
    lead = None if _GOVERNS.search(before) else _lead(before, _opening(before), clause)
    if lead is None or lead.sure:
        return lead
    return lead if _definite(lead.text + clause, states) and _definite(before, states) else None


def _lead(before: str, opening: re.Match[str] | None, clause: str) -> Lead | None:
    """By its form alone."""
    if clause[0] in "他她" and clause[1:2] != "们":
        return _spoken_of(opening, clause)
    if _POINTS.search(clause) or (_INSTEAD.match(clause) and _ENDS.search(before)):
        return None
    if _SUBJECT.match(clause) is not None:
        ours = opening is not None and opening["s"].startswith(_FIRST) and _RELATED.match(clause)
        return Lead("我") if ours else OWN
    other, timed = _TIMED.search(before), _TIMED.match(clause)
    if opening is not None and timed and other and timed.lastgroup == other.lastgroup:
        when = "" if clause[0] in "每周星礼工" else opening["when"] or ""
        return Lead(opening["s"] + when, sure=True)
    if opening is not None and _BARE.match(clause) is not None:
        return _goes_on(before, opening, clause)
    topic = _TOPIC.match(before)
    if topic is not None and _OF_TOPIC.match(clause):
        return Lead(topic["s"], sure=True)
    return OWN if _NAMED.match(clause) else None


def _definite(text: str, states: States) -> bool:
    """Whether a text states something: by the rules, or since it says of whom or what it is where, who, what."""
    return _SAYS.match(text) is not None or states(text)


def _opening(before: str) -> re.Match[str] | None:
    """Of the last clause that has a subject of its own."""
    found = (_SUBJECT.match(clause) for clause in reversed(_COMMA.split(before)))
    return next((match for match in found if match is not None), None)


def _goes_on(before: str, opening: re.Match[str], clause: str) -> Lead | None:
    """The same subject in another clause, unless that may be about what the first one brought in (养了只猫，叫年糕), or
    holds then, as the first one does (我以前住在北京，在字节上班)."""
    if not opening["when"] and _THEN.search(before) and not _INSTEAD.match(clause):
        return None
    if (_BRINGS_IN.search(before) and not _ALSO.match(clause)) or (clause[0] in "住在" and _VISITS.search(before)):
        return None
    return Lead(opening["s"] + (opening["when"] or ""))


def _spoken_of(opening: re.Match[str] | None, clause: str) -> Lead | None:
    """我老婆叫王芳，她在华为上班: who is called something is who is spoken of; another may be the manager tomorrow."""
    if opening is None or opening["s"].rstrip("们家") in _FIRST or _POINTS.search(clause[1:]):
        return None
    called = _CALLED.match(opening.string, opening.end("s"))
    if called is None or len(clause) <= _A_REMARK:
        return None
    holder = called["name"] and not _FAMILY.search(opening["s"])
    return Lead(called["name"] if holder else opening["s"], 1, sure=True)


def carried(sentence: str) -> list[str]:
    """The clauses of a sentence that have no subject, with that of the clause before, whether it is cut or not."""
    clauses = _COMMA.split(sentence)
    found: list[str] = []
    for place, clause in enumerate(clauses[1:], 1):
        opening = _opening("，".join(clauses[:place])) if _BARE.match(clause) else None
        if opening is not None and _goes_on("，".join(clauses[:place]), opening, clause) is not None:
            found.append(opening["s"] + clause)
    return found
