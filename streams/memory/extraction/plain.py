"""Plain statements: what people tell without a word for themselves, in a message that asks for nothing.

"The audit is on March 12", "all pull requests need two approvals", 报销单必须在25号之前提交, 最近改喝美式了. Chat drops
the subject, so the frame of the sentence decides: what must be, what recurs, what is dated, what has changed, what is
done. The caller makes sure that the message is short, requests nothing and asks nothing.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from schemas import TimeRef
from streams.memory.extraction.lang import language
from streams.memory.extraction.patterns.zh import KIN, SURNAME
from streams.memory.extraction.plans import THIS_MOMENT
from streams.memory.extraction.slots import SLOTS, Slot
from streams.memory.look import Looked

LONGEST = 200  # characters; longer messages are prose, in which such frames say little about the user
_NEAR = timedelta(days=800)  # dates that are further away belong to history or fiction
_DAYS = frozenset({"second", "minute", "hour", "daypart", "day", "workday", "weekend", "week", "fortnight"})

# What is said to the assistant, about its text, or as a reaction to it, is no statement about the world.
_EN_ADDRESSED = Looked(
    r"\b(?:you|your|you['’]\w+|ya)\b|^\W*(?:it|that|this|these|those|there|which|what|so|not? (?!an?\b|\w+ \w+))\b"
    r"|\b(?:words?|lines?|sentences?|paragraphs?|characters?|essay|story|scene|rhymes?|version|option|tone|bullets?"
    r"|chapter (?:of|about)|output|prompt|text|format|title|section)\b",
    re.IGNORECASE,
)
_ZH_ADDRESSED = re.compile(
    r"[你您]|我(?:还)?想(?:要|加|改|写|把)|^\W*(?:这(?!周|个?月|学期|两[周天]|几天|阵子|段时间)|那(?!边)|它|就|再|先|更|偏|只要|不用|还是|比如|例如|听说)"
    r"|[字句段篇]|版(?!本)|语气|风格|剧情|情节|文案|标题|选项|随便|行吗|好吗"
)

_EN_RULE = Looked(
    r"\b(?:must(?! (?:be (?:nice|hard|fun|great|so|tough)|have been))|may (?:not|never|only)|(?:has|have) to be"
    r"|(?:needs?|requires?) (?:to be|at least|an?|two|three|four|five|\d)"
    r"|(?:is|are) (?:not |never |only )?(?:allowed|permitted|required|mandatory|forbidden|prohibited|capped|limited)"
    r"|(?:is|are)n['’]t (?:allowed|permitted))\b"
    r"|^\W*no \w+(?: \w+){0,3} (?:on|after|before|until|during|in|without|at|over)\b"
    r"|\b(?:at most|no more than|no less than|up to|max(?:imum)?(?: of)?|not more than|under|below|within)"
    r" [$€£]?\d|\bcan(?:not|['’]?t| not| only) be \w+ed\b",
    re.IGNORECASE,
)
# A form that everything of a kind takes: said with these words it stands, whatever it is about.
_ZH_STANDING = re.compile(
    r"^\W*[^，。我你]{1,8}(?:统一|一律|都)(?:用|按|走|放|写)\S{2,}|(?:格式|字体|单位|时区|货币|配色|编码)(?:统一|都|就)?(?:用|按|是|为)\S{2,}"
)
_ZH_RULE = re.compile(
    r"必须|务必|只能|只准|只许|禁止|严禁|不允许|不得(?![不已])|不准|不许|不能(?!这样|吧)|不可以|最多|最晚|最迟|统一(?:用|按|走|发|放)|一律"
    r"|(?:控制|限制)在|以内|不超过|(?:至少|最少)要?|一定要|要(?:附上?|带上?|先|提前|用|走|经过|写明)(?=\S)|不要(?:超过|给|让|动|碰|买|放|安排|打)\S"
    r"|^\W*别(?:再)?(?:给我|跟我|让我|在)\S{2,}"
)
_EN_RECURRING = Looked(
    r"\b(?:every|each) (?:single |other |second )?(?:day|night|morning|evening|week|weekend|month|quarter|year"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bon (?:weekdays|weekends)\b"
    r"|\b(?:daily|weekly|fortnightly|monthly|quarterly|once a (?:day|week|month|year)|twice a (?:day|week|month))\b",
    re.IGNORECASE,
)
_ZH_RECURRING = re.compile(
    r"每(?:个)?(?:周|星期|礼拜|月|天|年|晚|季度|隔)|(?:周|星期)[一二三四五六日天](?:、|和)?(?:周|星期)[一二三四五六日天]"
    r"|^\W*(?:平时|平常|一般|通常|周末)(?=\S{3})|我(?:一般|通常|平时|平常)|一(?:天|周|个?月)[一二两三四\d]次"
)
_EN_EXISTING = r"(?:the|our|my) [\w' -]{2,40}?|[a-z][\w-]*(?: [\w-]+){0,3}?"  # "the refund flow", "login page"
_EN_PROGRESS = Looked(
    rf"^\W*(?:(?:ok|so|and|update|good news|bad news)\W+)*(?:{_EN_EXISTING})"
    r"(?:['’](?:s|re)| is| are| was| were| keeps?)"
    r"(?: now| finally| all| almost| nearly| still| already| not yet| half| fully)*"
    r" (?:(?:up|in|out|live)(?=\W*$|[,;.!]| now| and| but)|done|finished|complete|completed|ready|fixed|merged"
    r"|deployed|launched|shipped|broken|failing|blocked|stuck|painted|built|installed|approved|signed|submitted|released|pending|working|missing|late|delayed"
    r"|at \d+ ?(?:%|percent)|\d+ ?(?:%|percent) (?:done|complete))\b"
    r"|\bonly (?:the )?[\w' -]{2,30} (?:left|missing|to go)\b|\bstill (?:broken|failing|missing|open|to do|blocked)\b"
    r"|\b(?:finished|completed|reached|passed|done with) (?:unit|chapter|part|step|phase|level|module|lesson) \d+",
    re.IGNORECASE,
)
_ZH_WORK = "写做改建搭画跑翻读看学练装修测译背剪录弄搞迁谈签审刷编拍走排补查调"
_ZH_PROGRESS = re.compile(
    rf"(?:[{_ZH_WORK}]|完成|重构|开发|部署|迁移|测试|准备)(?:完|好|通过?)(?:成)?了|(?:已经|已|全部|终于|都|刚刚?)\S{{0,8}}(?:完成|上线|通过|搞定|交付|提交|发布)了?"
    rf"|(?:上线|搞定|通过|完工|交付|收尾|封顶|定稿)了|[{_ZH_WORK}]到(?:了)?(?:第?[\d一二三四五六七八九十百]+|一半|最后)"
    r"|[\d一二三四五六七八九十]+%|百分之|完成了|(?:还|只)(?:剩|差)|卡在|进度"
)
_EN_CHANGE = Looked(
    r"\b(?:has|have|had|was|were|is|are|been|got)? ?(?:moved|postponed|rescheduled|pushed(?: back)?|brought forward"
    r"|switched|changed|raised|increased|cut|extended|delayed|upgraded|renamed)(?: \w+){0,2} (?:to|until|from|by)\b",
    re.IGNORECASE,
)
_ZH_CHANGE = re.compile(
    r"(?:改|换|转|调|挪|移|迁|升|涨|降|加|减|推迟|延期|提前|延后)(?:成|为|到|至)\s?(?=\S)[^，。？?]{1,20}"
    r"|(?:最近|现在|目前|今年|这阵子|这段时间|后来)\S{0,4}[改换]\S{1,12}了?"
)
_ZH_PLACED = re.compile(
    r"(?:订|定|设|放|安排|约|选|存|挂|租)(?:在|到)(?=\S{2})|(?:地点|位置|地址|会场|型号|编号|版本|型号)(?:是|在|为)"
)
_EN_USES = Looked(
    r"\b(?:we|i)(?:['’]re|['’]m| are| am)? (?:\w+ly |all |only |now |still )?(?:use|using|host|hosting|deploy|deploying"
    r"|run on|running on|store|build with|write in|rewriting|rewrite|migrat\w+|switch\w*|standardi[sz]ed?)\b"
    r" (?!(?:it|that|this|them|your?)\b)\S",
    re.IGNORECASE,
)
_ZH_USES = re.compile(
    r"(?:我们?|咱们?)?(?:都|一直|统一|平时)?(?:记|放|存|写|做)在\S{2,}里|(?:定|选)了?(?:用|走)\S{2,}|(?:[只都]|主要|一直|平时|目前|现在|统一)用\s?(?!的是|来|到|着)\S{2,}"
    r"|[^，。？我你您这那它]{2,10}(?:现在|目前)?用的(?:都|就|也)?是[^，。？什哪谁啥]{2,}"
)
_EN_TASTE = Looked(
    r"^\W*(?:(?:also|and|honestly|but|really)\W+)*(?:not )?(?:an? )?(?:big |huge |massive |great )?(?:fan of"
    r"|into|partial to|allergic to) \w|^\W*(?:can['’]?t stand|hate|love|adore|prefer) (?!it|that|this|how|when|what)\w"
    r"|^\W*\w+(?: \w+)? only(?:,? please)?(?=\W*$|,)|^\W*(?:no|never) \w+(?: \w+){0,2} for me\b",
    re.IGNORECASE,
)
_ZH_TASTE = re.compile(
    r"我(?:只|不|都|最|很少|从不|从来不|平时)?(?:吃|喝|穿|用|看(?![到见起来看])|听(?![说到])|坐|睡|起)\S{2,}|只(?:吃|喝|穿|坐|买)\S{2,}"
)
_EN_TO_DO = Looked(
    r"^\W*(?:(?:and|also|then|still|so)\W+)*(?:still |really )?(?:have|need|got|gotta|plan|hoping)"
    r" (?:to )?(?!know|see|ask|understand|hear)(?:\w+) (?:\w+ )?\w",
    re.IGNORECASE,
)
_ZH_TO_DO = re.compile(r"(?:要把|得把|还要|还得|需要把|记得|要去|得去|之前要|前要)\S{2,}")
_ZH_STATE = re.compile(
    r"^\W*(?:我)?(?:一直|最近|现在|目前|还|正)*在(?:吃|服|用|做|学|练|读|追|备考|准备|写|翻译|装修|减|戒|养|存|还|找)\S{2,}"
    r"|(?:月薪|年薪|工资|房租|房贷|车贷|存款|收入|租金|首付|身高|体重|鞋码|尺码|血型|定金|押金|学费)\S{0,6}[\d一二两三四五六七八九十百千万]"
    r"|(?:骨折|撕裂|突出|扭伤|发炎|溃疡|炎|症|结石|怀孕|手术|贫血|近视|高血压|糖尿病)"
)
_CODE = Looked(
    r"(?:\b(?:is|are|called|number|model|code)\W+|[:：是为叫]\W*)(?=[A-Z-]*\d)[A-Z]{1,6}-?[A-Z]?\d{3,}[A-Z\d-]*\b"
)
# Who does what, what is what: "Wei does the data part", "backend is Django", "hosted on Hetzner".
_EN_SHARES = Looked(
    r"^\W*(?:and |but )?(?:i|we|(?:my|our) \w+|(?-i:[A-Z][a-z]+(?: [A-Z][a-z]+)?)) (?:does?|do|handles?|runs?|owns?"
    r"|covers?|manages?|takes? care of|looks? after|leads?|maintains?) (?:the|our|all|most of)\b \w",
    re.IGNORECASE,
)
_EN_NAMED = Looked(
    r"(?:^\W*|[,;] (?:and )?)(?:the |our |my )?(?:back-?end|front-?end|database|db|cache|server|hosting|host|stack"
    r"|repo|framework|cloud|provider|contractor|supplier|vendor|venue|hotel|airline|bank|insurer|dentist|plumber|builder|electrician"
    r"|caterer|agency|gym|client|sponsor|editor|publisher|landlord|landlady|accountant|lawyer)"
    r"(?:['’]s| is| runs on| lives (?:on|in)|:) (?:an? |the |on |in |at |with |called )?(?-i:[A-Z])\w"
    r"|\b(?:hosted|deployed|written) (?:on|in|at) (?-i:[A-Z])\w",
    re.IGNORECASE,
)
_EN_DECIDED = Looked(
    r"(?<!\w )(?!(?:as|what|how|that|this|so|here|there|who|where|why|when|whatever|like|way|than|think|hope|say|if)\b)"
    r"(?:[\w'’.:$€£-]+ ){1,4}it is(?: then)?\W*$",
    re.IGNORECASE,
)
_EN_STARTED = Looked(
    r"^\W*(?:(?:we|i)(?:['’]ve| have)? )?(?:finally|just|at last) (?:started|finished|bought|sold|signed|booked|adopted"
    r"|passed|launched|quit|closed|ordered|paid off|submitted|shipped) (?!it\b|that\b|this\b|up\b|you)\w{2,}",
    re.IGNORECASE,
)
_ZH_CONTACT = re.compile(
    rf"^\W*[^，。？?我你您帮请谁哪]{{2,8}}?(?:都|就|直接)?(?:找|问|联系)\s?(?:[小老阿]{SURNAME}|{SURNAME}(?:[哥姐总工]|老师|经理|师傅|主任|医生|律师)"
    r"|[A-Z][a-z]+|[\u4e00-\u9fff]{2,3}(?=就(?:行|好|可以)))"
)
_ZH_SETTING = re.compile(
    r"^(?!.*(?:今[天晚]|这[次回]|[先字页]))\S*?(?:开|调|设|放|定|保持|控制)(?:到|在|成|为)\s?\S{0,3}?\d+(?:\.\d+)?\s?"
    r"(?:度|点|分贝|%|％|档|级|格|℃)?(?:左右)?就(?:行|好|可以|够)"
)
_EN_LEAD = r"^\W*(?:(?:yeah|yes|well|and|so|oh|ok|also|but|fun fact)\W+)*"
_EN_SOMEBODY = Looked(
    rf"{_EN_LEAD}(?:(?:he|she)(?:['’]s| is| was| has| had| works?| \w{{2,}}(?:s|ed))"
    r"|(?:my|our) (?:\w+ )?(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|father|mom|mum|dad"
    r"|parents?|son|daughter|kids?|child|children|brother|sister|uncle|aunt|cousin|nephew|niece|grand\w+|friend"
    r"|roommate|flatmate|colleague|co-?worker|boss|manager|supervisor|professor|teacher|neighbou?r|landlord|landlady"
    r"|client|team|lead|dog|cat|puppy|kitten|doctor|therapist|coach|new hire|intern|assistant)"
    r"(?: [A-Z][\w’'-]*| (?-i:[\u4e00-\u9fff]{2,4}))?(?:['’]s| is| are| was| has| have| will| \w{3,}(?:s|ed)))\b",
    re.IGNORECASE,
)
_EN_OWN_NAMED = Looked(
    r"\b(?:[Ii]|[Ww]e)(?:['’]\w+)? (?:\w+ ){1,5}?(?:with|at|for|to|by|from|under|on|in) (?:the )?(?!I\b)[A-Z][\w’'-]+"
)
_ZH_SOMEBODY = re.compile(
    rf"^\W*(?:[小老阿]{SURNAME}(?!板|师)|(?:我们?|咱们?)(?:家)?的?{KIN}|{KIN}(?=今年|去年|明年|现在|最近|上个?月|[在是叫有得对要会])|[他她])"
    rf"(?=\S{{3,}})\S*?[在是叫有了去来做当读学到得过对要会嫁考今]"
    rf"|(?:总监|经理|主管|领导|老板|上司|负责人|对接人|联系人|组长|主任|老师|医生|教练|房东|同事|助理|搭档|院长|校长)"
    rf"(?:现在|目前)?(?:是|叫|换成了?)(?:{SURNAME}[\u4e00-\u9fff]{{1,3}}|[A-Z])"
)
_EN_EVENT = Looked(
    r"\b(?:is|are|starts?|begins?|ends?|opens?|leaves?|arrives?|runs?|due|booked|scheduled|planned|comes?|coming"
    r"|\w{3,}ing|takes place|got)\b|^\W*\w+ \w+ (?:on|at|next|this)\b",
    re.IGNORECASE,
)
_EN_DID = Looked(
    r"^\W*(?:(?:just|finally|and|so|also|we|i)\W+)*(?:signed|booked|bought|sold|moved|started|finished|broke|got"
    r"|went|came|met|saw|joined|left|quit|adopted|closed|passed|failed|paid|ordered|cancelled|canceled|had|took)\b",
    re.IGNORECASE,
)
_ZH_DID = re.compile(r"\S[了过](?=\S{0,12}$|[，。！,])")
_ZH_WILL = re.compile(
    r"[要会去有到开考见飞回交]|约|聚|会议?|面试|考试|上课|体检|年检|聚餐|截止|出发|开始|提测|上线|评审|汇报|看|做"
)


def plain(text: str, when: TimeRef | None, said_at: datetime) -> tuple[Slot, str] | None:
    """The slot of a plain statement and the frame that shows it, else None."""
    chinese = language(text) == "zh"
    if chinese and _ZH_STANDING.search(text):
        return SLOTS["instruction"], "standing form"
    if (_ZH_ADDRESSED if chinese else _EN_ADDRESSED).search(text):
        return None
    for attribute, why, expression in _ZH_FRAMES if chinese else _EN_FRAMES:
        if expression.search(text):
            return SLOTS[attribute], why
    return _dated(text, when, said_at, chinese)


# What an assistant asks to know something, not to be told what to write next.
_EN_ASKS = re.compile(
    r"\b(?:what(?:['’]s| is| are| was| do| does| did)|how (?:old|many|much|long|often|far|is|are|did)|where|when|who"
    r"|which)\b[^?]*\?\W*$",
    re.IGNORECASE,
)
_EN_OFFERS = re.compile(
    r"\b(?:would you like|do you want|should i|shall i|prefer|can i|may i|do you need|want me|what kind|which (?:one"
    r"|option|style)|what else|what would)\b",
    re.IGNORECASE,
)
_ZH_ASKS = re.compile(
    r"(?:叫什么|什么名字|几岁|多大|多少|几[个点号口]|哪[里儿位天年]|什么时候|谁|什么(?:品种|牌子|颜色|工作|专业|职业)|如何|怎么样了?)"
    r"[^？?]{0,8}[？?]\W*$"
)
_ZH_OFFERS = re.compile(r"想要?|要不要|需要|希望|喜欢哪|选|帮您?你?")
# Of whom or what is asked: of the user, or of something that the two have spoken about.
_EN_ABOUT = re.compile(r"\b(?:your|you|called|names?|budget|price|still|it|he|she|they)\b", re.IGNORECASE)
_EN_GUESSES = re.compile(
    r"\b(?:probably|maybe|perhaps|i think|i guess|option|not sure|no idea|pretend|imagine)\b", re.I
)
_ZH_GUESSES = re.compile(r"可能|大概|也许|不知道|不清楚|不确定|选[项第一二]|随便|猜")


def answers(text: str) -> bool:
    """Whether a reply tells something definite: no guess, no choice of what was offered."""
    return len(text) > 1 and not (_ZH_GUESSES if language(text) == "zh" else _EN_GUESSES).search(text)


def asks_for_fact(asked: str) -> bool:
    """Whether an assistant's message ends in a question whose answer tells something of the user.

    >>> asks_for_fact("What is the cat called?"), asks_for_fact("Which style would you like?")
    (True, False)
    """
    last = re.split(r"(?<=[.!。！])\s*|\n", asked.strip())[-1]
    if language(last) == "zh":
        return bool(_ZH_ASKS.search(last)) and not _ZH_OFFERS.search(last)
    return bool(_EN_ASKS.search(last) and _EN_ABOUT.search(last)) and not _EN_OFFERS.search(last)


def _dated(text: str, when: TimeRef | None, said_at: datetime, chinese: bool) -> tuple[Slot, str] | None:
    """Something on a day that is near: ahead it is a plan, behind it was done."""
    if when is None or when.start is None or when.granularity not in _DAYS or abs(when.start - said_at) > _NEAR:
        return None
    if when.text.casefold() in THIS_MOMENT:
        return None
    if (when.end or when.start) > said_at:
        return (SLOTS["plan"], "dated") if (_ZH_WILL if chinese else _EN_EVENT).search(text) else None
    return (SLOTS["experience"], "dated") if (_ZH_DID if chinese else _EN_DID).search(text) else None


_EN_FRAMES = (
    ("constraint", "rule", _EN_RULE),
    ("schedule", "recurs", _EN_RECURRING),
    ("status", "changed", _EN_CHANGE),
    ("progress", "progress", _EN_PROGRESS),
    ("uses", "uses", _EN_USES),
    ("owner", "shares the work", _EN_SHARES),
    ("uses", "named", _EN_NAMED),
    ("decision", "decided", _EN_DECIDED),
    ("progress", "under way", _EN_STARTED),
    ("likes", "taste", _EN_TASTE),
    ("friend", "about somebody", _EN_SOMEBODY),
    ("plan", "to do", _EN_TO_DO),
    ("identity", "names somebody", _EN_OWN_NAMED),
    ("identity", "names a code", _CODE),
)
_ZH_FRAMES = (
    ("prefers", "setting", _ZH_SETTING),
    ("friend", "whom to ask", _ZH_CONTACT),
    ("status", "changed", _ZH_CHANGE),
    ("progress", "progress", _ZH_PROGRESS),
    ("constraint", "rule", _ZH_RULE),
    ("schedule", "recurs", _ZH_RECURRING),
    ("uses", "uses", _ZH_USES),
    ("identity", "placed", _ZH_PLACED),
    ("identity", "state", _ZH_STATE),
    ("likes", "taste", _ZH_TASTE),
    ("friend", "about somebody", _ZH_SOMEBODY),
    ("plan", "to do", _ZH_TO_DO),
    ("identity", "names a code", _CODE),
)
