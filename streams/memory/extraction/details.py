"""What goes with a statement: names, topics, the event it is about, the emotion that is said, how long it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable

from streams.memory.extraction.cued import Cued, words_of
from streams.memory.extraction.lang import CJK, fold

_LATIN_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w’'&-]*(?: (?:of |the )?[A-Z][\w’'&-]*){0,4}")
_TITLE = re.compile(r"[《「『]([^《》「」『』\n]{1,30})[》」』]")
_NO_NAME = re.compile(
    r"^(?:I|I['’]\w+|Im|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May"
    r"|June|July|August|September"
    r"|October|November|December|OK|Ok|Yes|No|The|A|An|And|But|So|If)$"
)
_CHINESE = re.compile(rf"[{CJK}]")
_KIN = re.compile(
    r"^(?:老婆|妻子|太太|媳妇|老公|丈夫|爱人|女朋友|男朋友|女友|男友|对象|[妈爸哥弟姐妹]|母亲|父亲"
    r"|儿子|女儿|孩子|爷爷|奶奶|朋友|同事|同学|老板|领导|老师|室友|狗|猫)"
)
# Slots whose value is a name whatever it looks like.
_NAMING = frozenset({
    "name", "nickname", "city", "birthplace", "hometown", "employer", "school", "spouse", "partner", "owner", "boss",
    "friend",
})  # fmt: skip
_MOST_ENTITIES = 8

# Topic: English words (a plural s is taken off before looking), Chinese expression.
_TOPICS: dict[str, tuple[str, str]] = {
    "food": (
        "food eat eating ate cook cooking restaurant recipe breakfast lunch dinner meal diet vegan vegetarian "
        "coffee tea drink snack",
        "吃|喝|饭|菜|餐|食|咖啡|茶|味|辣",
    ),
    "travel": (
        "travel traveling travelling trip flight hotel vacation holiday visit airport train tour",
        "旅行|旅游|出差|机票|酒店|航班|高铁|行程|地铁|景点",
    ),
    "work": (
        "work working job office company boss manager colleague client meeting project team salary career "
        "interview deadline",
        "工作|上班|公司|老板|领导|同事|客户|会议|开会|项目|团队|工资|面试|加班|职业",
    ),
    "study": (
        "study studying school university college exam course class homework thesis learn learning teacher "
        "professor degree essay",
        "学习|学校|大学|考试|课|作业|论文|老师|专业|复习|雅思",
    ),
    "health": (
        "health healthy doctor hospital allergic allergy pain sick medicine medication exercise gym sleep weight "
        "workout injury"
        " diabetes pregnant asthma",
        "健康|医院|医生|过敏|疼|痛|病|药|锻炼|健身|睡|减肥|体重|怀孕",
    ),
    "family": (
        "wife husband mother father mom mum dad parent son daughter kid child children brother sister family "
        "grandma grandpa"
        " grandmother grandfather",
        "老婆|老公|妻子|丈夫|妈|爸|父|母|孩子|儿子|女儿|哥|弟|姐|妹|家人|爷|奶",
    ),
    "relationship": (
        "girlfriend boyfriend partner friend dating married divorced single wedding",
        "女朋友|男朋友|对象|朋友|结婚|离婚|单身|恋爱|分手",
    ),
    "money": (
        "money budget price cost salary rent mortgage loan invest investment bank",
        "[$€£¥]|预算|钱|价格|工资|房租|房贷|贷款|投资",
    ),
    "home": ("house apartment flat room furniture kitchen garden move moved moving", "房子|住在|搬|装修|厨房|客厅|柜"),
    "pets": ("dog cat pet puppy kitten", "狗|猫|宠物"),
    "leisure": (
        "game movie film music song book novel anime concert hobby band playlist football basketball hiking "
        "painting jazz",
        "游戏|电影|音乐|歌|书|小说|动漫|爱好|篮球|足球|跑步|爬山|画",
    ),
    "technology": (
        "python java code software server database api laptop computer phone app linux docker kafka model",
        "代码|软件|服务器|数据库|电脑|手机|程序|接口|模型",
    ),
    "style": (
        "tone format bullet paragraph concise formal casual style markdown reply replies",
        "语气|格式|风格|简洁|正式|口语|回复|回答|排版",
    ),
    "schedule": (
        "schedule appointment remind reminder notify notification calendar tomorrow",
        "提醒|日程|预约|明天|下周|后天|点钟|点半",
    ),
}
_WORD_TOPICS: dict[str, set[str]] = {}
for _name, (_english, _) in _TOPICS.items():
    for _word in _english.split():
        _WORD_TOPICS.setdefault(_word, set()).add(_name)
_CHINESE_TOPIC = {name: re.compile(chinese) for name, (_, chinese) in _TOPICS.items()}
_MOST_TAGS = 4

# Phrases of one or more English words, and a Chinese expression.
_EMOTIONS: dict[str, tuple[str, str]] = {
    "anxious": (
        "anxious|nervous|worried|afraid|scared|stressed|overwhelmed|panicked|panicking|panicky",
        "焦虑|担心|紧张|害怕|慌|压力(?:很|好|特别|太)?大",
    ),
    "sad": ("sad|depressed|heartbroken|lonely|upset|disappointed", "难过|伤心|失落|沮丧|孤独|舍不得|失望"),
    "angry": ("angry|furious|annoyed|frustrated|mad at|irritated", "生气|愤怒|气死|恼火|烦死?了?|火大"),
    "tired": ("tired|exhausted|burned out|burnt out|worn out", "累|疲惫|精疲力尽|困死"),
    "happy": ("happy|glad|excited|thrilled|delighted|overjoyed|proud", "开心|高兴|激动|兴奋|自豪|期待"),
    "grateful": ("grateful|thankful", "感恩|感激"),
    "guilty": ("guilty|ashamed|embarrassed|regret", "内疚|后悔|尴尬|惭愧"),
}
_EMOTION = {
    name: Cued(
        english.replace("|", " "),
        rf"\b(?:i(?:['’]m| am| was| feel| felt|['’]ve been)|makes? me|made me)(?: \w+){{0,2}} (?:{english})\b"
        rf"|我[^，。！？]{{0,8}}(?:{english}|{chinese})",
    )
    for name, (english, chinese) in _EMOTIONS.items()
}
_OF_SPEAKER = Cued("i me", r"\b(?:i|me)\b|我")  # without one no expression above matches
_ANY_EMOTION = Cued(  # a first look, above all at Chinese
    " ".join(english.replace("|", " ") for english, _ in _EMOTIONS.values()),
    "|".join(f"{english}|{chinese}" for english, chinese in _EMOTIONS.values()),
)
_EVENT = Cued(
    "meeting interview appointment exam wedding conference trip flight concert party deadline presentation demo "
    "release launch workshop marathon surgery graduation move vacation holiday dinner birthday",
    r"\b(?:meeting|interview|appointment|exam|wedding|conference|trip|flight|concert|party|deadline|presentation"
    r"|demo|release|launch|workshop|marathon"
    r"|surgery|graduation|move|vacation|holiday|dinner|birthday)\b|会议|开会|面试|预约|考试|婚礼|大会|出差|航班"
    r"|演唱会|聚会|聚餐|发布会|发布|上线|手术|毕业"
    r"|搬家|旅行|旅游|体检|答辩|比赛|评审|生日",
)
# 临时有事 and 临时通知 tell of what came up, not of what holds for a while.
_TEMPORARY = Cued(
    "just only now temporary temporarily being",
    r"\b(?:(?:just|only) (?:for )?(?:this|today|tonight|tomorrow|the (?:next|coming))\b|this \w+ only|for now"
    r"|temporar(?:y|ily)|for the time being"
    r"|(?:today|tonight|tomorrow) only|only for)\b|暂时|临时(?!有[事点个]|通知|决定|取消|被|说|加)"
    r"|只(?:有|在|是)?(?:今|这|明|本)|就(?:今天"
    r"|这[周次两几])|(?:这|本)(?:周|个?月|两天"
    r"|几天|段时间)[^，。]{0,4}先|这(?:段时间|几天|两天|阵子)(?:先|暂)?|仅限?(?:今|本|这)",
)


def entities(content: str, subject: str | None, attribute: str | None, value: str | None) -> tuple[str, ...]:
    """Names in a statement as they were said, each once: who it is about, what it names, capitalised words, titles."""
    found: list[str] = []
    if (
        subject
        and subject != "user"
        and (subject[0].isupper() or (_CHINESE.match(subject) and not _KIN.match(subject)))
    ):
        found.append(subject)
    if value and attribute in _NAMING and len(value) <= 40:
        found.append(value)
    found += [match for match in _LATIN_NAME.findall(content) if not _NO_NAME.match(match) and "_" not in match]
    found += _TITLE.findall(content)
    return tuple(_once(found))[:_MOST_ENTITIES]


def _once(names: Iterable[str]) -> list[str]:
    """Without repeats and without names that are part of a longer one."""
    kept: list[str] = []
    for name in names:
        name = re.sub(r"['’]s$", "", name).strip(" .,'’")
        if name and not any(fold(name) in fold(other) for other in kept):
            kept.append(name)
    return kept


def tags(content: str) -> tuple[str, ...]:
    """Topics of a statement, from a fixed list, at most four."""
    found: set[str] = set()
    for word in words_of(content):
        found |= _WORD_TOPICS.get(word) or _WORD_TOPICS.get(word.removesuffix("s"), set())
    if _CHINESE.search(content):
        found |= {name for name, expression in _CHINESE_TOPIC.items() if expression.search(content)}
    return tuple(name for name in _TOPICS if name in found)[:_MOST_TAGS]


def emotion(content: str) -> str | None:
    """The emotion that the speaker says they have; never guessed from what happened."""
    if not _OF_SPEAKER.search(content) or not _ANY_EMOTION.search(content):
        return None
    return next((name for name, expression in _EMOTION.items() if expression.search(content)), None)


def event(content: str) -> str | None:
    """The kind of event that a statement is about, as said ("interview", 面试)."""
    match = _EVENT.search(content)
    return match.group().lower() if match else None


def temporary(content: str) -> bool:
    """Said to hold for a while only."""
    return bool(_TEMPORARY.search(content))
