"""The small-talk gate: what never deserves a memory of any layer, decided before anything else looks at the text.

What remains of a message when social phrases, acknowledgements and words without content are taken away decides:
nothing left means small talk, whatever the order of the phrases was.
"""

from __future__ import annotations

import re
from functools import lru_cache

from streams.memory.extraction.cued import Cued
from streams.memory.extraction.lang import CJK, fold, is_chinese
from streams.memory.extraction.material import is_code, strip_recalled, without_code
from streams.memory.extraction.off_record import off_record
from streams.memory.look import Looked

_SYSTEM = re.compile(
    r"^\W*(?:you are (?:now )?(?:a|an|the|my)\b|your (?:role|task|job) is\b|(?:i want you to |you (?:are to|will"
    r"|should|must) |please |let['’]?s )*(?:act|behave|respond|answer|role-?play) (?:as|like)\b|you are to\b"
    r"|(?:system|assistant)\s*(?:prompt)?\s*:"
    r"|ignore (?:all |any )?(?:previous|prior|above)\b|from now on,? you are\b|pretend (?:to be|you)\b"
    r"|#+\s*(?:instructions?|system|role)\b)"
    r"|^\W*(?:你(?:现在)?(?:是|将?扮演)(?:一[个名位]|我的)|请?(?:扮演|充当|作为一[个名位])|系统提示|忽略(?:以上"
    r"|之前|前面))",
    re.IGNORECASE,
)
_HEARTBEAT = re.compile(
    r"^\W*(?:heartbeat|ping|keep[- ]?alive|health[- ]?check|HEARTBEAT_OK|no[_ ]?reply)\W*$", re.IGNORECASE
)
_SECRET_NOUN = re.compile(
    r"\b(?:phone|mobile|cell|telephone|numbers?|e-?mails?|mail|address|cards?|credit|bank|account|ids?|identity"
    r"|passport|codes?|passwords?|passcode|pin|keys?|api"
    r"|token|ip|contact|login|ssn|iban|plate|url|link|whatsapp|wechat)\b|手机|电话|号码?|邮箱|邮件|地址|身份证"
    r"|银行卡?|卡号|账号|账户|密码"
    r"|验证码|联系方式|微信|护照|车牌|密钥|链接|我的",
    re.IGNORECASE,
)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_CLAUSE = re.compile(r"[^，,；;]*(?:[，,；;]\s*|$)")
_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z_]*_\d+\]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ---- English -----------------------------------------------------------------------------------------------------
_EN_EMPTY = _words(
    # function words and pronouns
    "a an the this that these those it its it's that's thats i i'm im i'll ill i'd id i've ive me my you your "
    "you're youre ur "
    "u ya y'all he she we we're they them us our is are am was were be been being do does did don't dont didn't "
    "doesn't "
    "have has had having haven't hasn't will would won't wouldn't wont can could cannot can't cant couldn't should "
    "shall may might must "
    "to of for in on at by with from as and or but so if then than too also either neither nor not no yes all any some "
    "there here where when what who how why which out up off down over again about into only just even still yet very "
    "much many more most lot lots such really quite pretty rather totally absolutely completely definitely certainly "
    "surely truly actually exactly precisely indeed literally maybe perhaps possibly probably else now today moment "
    "while later soon time times right way one ones other another both everything anything nothing something everyone "
    "someone let's lets let get got getting go going goes gonna gotta come came see seeing saw say said saying "
    "tell told "
    "know knew known think thought guess suppose believe mean meant make makes made do done doing take took give gave "
    "want wanted wants need needed needs like liked try tried look looked looking feel feeling keep seem seems sound "
    "sounds sounding work works worked thing things stuff bit little please pls plz well good great "
    # social words
    "hi hello hey hiya heya howdy yo greetings sup morning afternoon evening night goodnight welcome bye goodbye "
    "byebye "
    "farewell cya cheers ciao thanks thank thx ty thankyou thankful grateful appreciate appreciated appreciation sorry "
    "apologies excuse pardon congrats congratulations wow oh ah hmm hm um uh er erm aha haha hahaha lol lmao rofl hehe "
    "ok okay okey okie kk k alright alrighty yeah yea yep yup yah ya yas aye nah nope naw nay sure fine nice cool "
    "awesome "
    "perfect perfectly excellent wonderful fantastic amazing brilliant lovely super sweet terrific marvelous fabulous "
    "superb incredible neat best better beautiful glad happy pleased pleasure delighted enjoyed enjoy fun interesting "
    "helpful help helped helping helps useful invaluable kind kindness immense assistance assist assisting support "
    "supportive service info information answer answers answered response responses reply suggestion suggestions "
    "recommendation recommendations advice chat chatting talk talking talked conversation meet meeting you've you'll "
    "day days weekend week have buddy pal friend mate man dude bro sir madam dear folks guys there's what's whats "
    "how's hows "
    "affirmative affirmitive negative negatory negatively correct correctly incorrect wrong true false right accurate "
    "agreed agree disagree confirm confirmed confirming verify verifying verified details proceed ahead continue next "
    "stop wait hold ready set finished complete completed enough question questions asked ask asking looking "
    "understood understand noted gotcha roger acknowledged copy received works okay-dokey possible impossible able "
    "unable sure unsure certain uncertain idea clue doubt doubtful likely unlikely depends matter care mind "
    "worries worry "
    "problem problems trouble bother concern decide decided choice options option whichever whatever whenever "
    "never always ever yet far new same different real fake proper hell heck damn god gosh omg goodness freaking "
    "great! catch around care later tomorrow back leave leaving left quick quickly fast assistance's it'll that'll "
    "this'll "
    "thing's nothing's requesting request requested looking-for used using via been lately doing sleep bed "
    "luck ha ay ooh woah whoa yay hooray bravo kudos nicely done job okay. aswell alot awhile anyway anyways though "
    "although however because since wise based first second last move along once ago half sort kinda sorta kind type "
    "speak speaking hear heard listen hearing remember remembered forget forgot needing wanting hope hoped "
    "change play book reserve reserved schedule purchase buy add them those's myself yourself itself himself herself "
    "check checked found find fact facts case point part end start begin began until till before after during already "
    "almost nearly fully full simply basically generally usually often sometimes rarely hardly barely "
    "wish wished please! go-ahead yessir yes'm y n shalln't ain't isn't aren't wasn't weren't shouldn't won't "
    "mustn't hadn't "
    "he's she's they're we've they've we'll they'll who's where's when's how'd it'd that'd i'd've must've could've "
    "explanation explaining patience patient effort efforts work's attention today's quite extremely highly incredibly "
    "approve approved accept accepted authorize authorized grant granted decline declined deny denied reject "
    "rejected refuse "
    "undecided unclear positive percent honest honestly sincerely statement interested inclined convinced "
    "satisfied ai bot "
    "assistant robot owe peace easy easier relief million ton tons bunch save saver saved everyone's ya u're doin "
    "goin nothin "
    "wassup whassup whatsup hru hola aloha adieu cheerio toodles tata ttyl brb gn gm hiii heyy helloo thnx thanx "
    "tks tysm np yw "
    "so-so meh eh huh whew phew ugh oops whoops yikes tada voila okay! moment's instead quite"
    " bet betcha chance circumstances afraid means naturally false guess beats hard dunno iffy fifty jury "
    "perchance conceivably"
    " conceivable feasible jose nada zilch nein oui undoubtedly unquestionably indubitably positively truth untrue "
    "inaccurate"
    " mistaken concur contrary opposite alligator adios obliged lifesaver rocks signing sayonara gday g'day mornin "
    "evenin til"
    " hows hanging happening happenin shaking pleasant blessed safe solved solves resolved efficient efficiently "
    "prompt thats"
    " whos heres lets cant wont dont didnt isnt wasnt doesnt youve weve ive theyre hes shes"
)
_EN_YES_NO = re.compile(
    r"^\W*(?:yes|yeah|yea|yep|yup|sure|ok|okay|no|nope|nah|right|correct|exactly|absolutely|definitely|of course|"
    r"alright|perfect|great|fine|indeed|that'?s|that is|it'?s|it is|not (?:yet|now|really|at)|at the moment)\b",
    re.IGNORECASE,
)
# What an acceptance repeats of an offer: a wish or an order, nothing about the world.
_EN_DEAL = re.compile(
    r"\b(?:i (?:do )?(?:actually )?(?:want|would|need|don'?t (?:want|need)|do not (?:want|need)|think|guess"
    r"|believe|am|suppose)|i'?d|please|let'?s"
    r"|go ahead|try|make it|interested|sounds?)\b|^\W*\w+\W+(?:book|reserve|make|schedule|play|buy|add|get|do|send"
    r"|save|set|use|show|proceed|that|it)\b",
    re.IGNORECASE,
)
_EN_THANKS = Cued(
    "thank thanks thx appreciate grateful gratitude", r"\b(?:thanks?|thx|appreciate|grateful|gratitude)\b"
)
# A statement about the speaker is more than manners, however it opens.
_EN_ABOUT_ME = Looked(
    r"\b(?:i (?:am|was|have|had|live|work|love|hate|prefer|moved|used to|can'?t eat|don'?t (?:eat|drink|like)"
    r"|never|always)"
    r"|i[’']m (?!sure|all|good|fine|done|ok|glad|happy|set|not sure)|i[’']ve (?:been|got|had) (?!so |very )|my)\b"
    r"(?! (?:all|no |enough|everything|so grateful|grateful|glad|happy|sure|good|done|set|thanks|gratitude|deepest"
    r"|time|pleasure))",
    re.IGNORECASE,
)
# A few words that greet, part, praise or speak of the assistant, without any point of their own.
_EN_ADDRESSED = re.compile(
    r"^\W*(?:hi|hello|hey|howdy|good (?:morning|afternoon|evening|night|day)|bye|goodbye|see (?:you|ya)|so long"
    r"|take care|until|have a|nice|great"
    r"|awesome|cool|wow|well done|good (?:job|work|one|bot)|it was (?:nice|great|good)|what'?s up|how (?:are|is|do"
    r"|'?s))\b"
    r"|\b(?:you|your|you['’]re|you['’]ve|ya)\b",
    re.IGNORECASE,
)
_EN_POINT = re.compile(
    r"\b(?:i|i['’]\w+|my|mine|me|we|our|please|can|could|would|will|should|find|search|show|give|tell|call|set"
    r"|make|want|need|what(?!['’]?s up)"
    r"|where|which|when|who|why|remind|book|play|use|address|always|never|don['’]?t|stop|keep)\b",
    re.IGNORECASE,
)
_EN_REQUEST = re.compile(
    r"\?|\b(?:can|could|would|will) you\b|\bplease (?!do\b)|\b(?:what|where|which|how|find|search)\b"
    r"|\b(?:show|give|tell|look)\b",
    re.IGNORECASE,
)
_EN_DETAIL = Looked(
    r"\d(?!00 ?(?:%|percent))|(?<=[a-z,;] )(?!Please|Thank|Yes|That|This|You|And|But|The|Will|Can|Not|Okay"
    r"|Great)[A-Z][a-z]{2,}|[\"“]|\b(?:a|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|dozen)\b(?= \w+s\b)"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:tomorrow|tonight|noon|midnight|january|february|march"
    r"|april|june|"
    r"july|august|september|october|november|december)\b|[€$£¥%]|\[[A-Z_]+_\d+\]"
)
_EN_WORD = re.compile(r"[a-z0-9\u00c0-\u024f]+(?:['’-][a-z0-9]+)*")  # of folded text
# Manners of other languages are not known here: what is longer than a greeting is taken as saying something.
_OTHER_LETTER = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")
_LONGEST_OTHER_GREETING = 12  # letters
# A note leaves out whose matter it is: "Has tinnitus", "From Chile".
_EN_OWN = re.compile(r"\b(?:i|i['’]\w+|im|my|we|we['’]re)\b|^\W*(?:has|from) \w", re.IGNORECASE)
_FEW_WORDS = 7
_BARE_WORDS = 2  # one word answers something that nobody will know later
_STRETCH = 400  # characters
_OPENING = 180  # characters, in which some thirty words have room
_LONGEST_MANNERS = 20  # words; "Yes, please reserve a room for me" says nothing that the question did not
_CHINESE = re.compile(f"[{CJK}]")

# ---- Chinese -----------------------------------------------------------------------------------------------------
_ZH_SOCIAL = re.compile(
    r"(?:ok|okay|nice|hi|hello|hey|thanks?|thank you|bye)"
    r"|(?:早上|上午|中午|下午|晚上|大家|各位)好|早安|午安|晚安|您好|你好|哈[喽啰罗]|嗨|喂"
    r"|(?:再|拜)[见拜]|回头见|回见|改天(?:再)?(?:聊|说)|下次(?:再)?(?:聊|说|见)|先这样|就这样|不聊了|不多说了?"
    r"|我先(?:走|撤|忙|去忙)了?"
    r"|(?:真(?:的|是)?|太|非常|十分|特别|万分|很|还是|多|好|先|那|这下|实在|衷心|由衷)*(?:感谢|谢谢|多谢|谢了|谢过"
    r"|谢啦|谢谢啦|谢|感激|感恩)(?:不尽|之至)?"
    r"|(?:辛苦|麻烦|打扰|劳烦|费心)(?:你|您|大家)?(?:了|啦)?|不(?:客气|用谢|好意思|谢)|没事(?:的|儿)?|没关系的?"
    r"|别客气|对不起|抱歉|不好意思"
    r"|(?:没有?|没啥|没什么|无)(?:其[它他])?(?:的)?(?:问题|疑问|事情|事|别的|要问的)(?:要问|可问)?(?:了|啦)?"
    r"|(?:我)?(?:都|已经|全)?(?:问完|记下来?|记住|知道|了解|明白|清楚|懂|收到|听懂|看到|理解|清楚明白)(?:了|啦)?"
    r"|(?:有|还有)(?:其[它他])?(?:问题|需要|事|疑问)(?:我)?(?:再|会)*(?:来)?(?:问|联系|找|咨询|请教)(?:你|您)?"
    r"|好(?:的|滴|嘞|咧|勒|哒|呀|啊|吧|了|哦|极了|棒)*|行(?:吧|的|啊|了|呀)*|可以(?:的|呀|啊)*|嗯+|恩+|哦+|噢+|喔+"
    r"|啊+|呃+|唉+|额+|诶+|欸+|嘿+|哈+|呵+|嘻+"
    r"|哇+|哎(?:呀|哟)?"
    r"|对(?:的|呀|啊|对|了)*|是(?:的|呀|啊|这样|吗)*|没错|当然(?:可以)?|没问题|不错|赞|棒|牛|厉害|优秀|完美"
    r"|妥妥的?|妥了?|稳了?|成交?|中|得嘞"
    r"|(?:不|没)(?:用|需要|必|要)(?:了|啦)?|不是(?:的|吧)?|不(?:对|行|可以)|随便|都(?:行|可以|好)|无所谓|算了"
    r"|再说吧?|看情况|也许|可能吧?|不(?:知道|清楚|确定)"
    r"|(?:你|您)?(?:的)?(?:推荐|介绍|解答|回答|帮助|帮忙|建议|分享|指导|支持|提醒|讲解|耐心|热情|服务|信息|优质)"
    r"|(?:你|您)(?:真|太|好|很|也)?(?:好|棒|厉害|聪明|贴心|可爱|辛苦|牛)(?:了|啦|的)?|亲爱的|亲|同学|朋友|老师"
    r"|师傅|小姐姐|帅哥"
    r"|(?:对)?我?(?:来说)?(?:很|非常|十分|挺)?(?:有用|有帮助|满意|开心|高兴)|祝(?:你|您)?(?:生活|工作|天天|一切"
    r"|好运)?(?:愉快|顺利|开心)?|加油|继续|下一[个步页]|好运"
    r"|(?:周末|节日|新年|圣诞|中秋|生日|端午|春节)快乐|恭喜(?:发财)?|吃(?:了|饭了)吗|在吗|在不在|忙吗"
    r"|最近(?:怎么样|好吗)|怎么样"
    r"|今天?天气(?:真|很|不)?(?:好|错)|不见不散|一言为定|就?这些(?:了|吧)?|没别的了?|够了|都?(?:解决|搞定)了?"
    r"|帮了?我?(?:大|很多|不少)忙|原来如此|这样(?:啊|子)|真的(?:吗|假的)?|确实|果然|有道理|说得(?:对|好|是)|同意"
    r"|赞同"
)
_ZH_EMPTY = re.compile(
    r"[我你您他她它咱们俩的了啦吧呢吗嘛呀哟哈哦喔啊呵嗯哎这那就也都还又很太挺真蛮更最非常十分特别比较好多少一下些个点儿着过地得把被给跟和与及或但而且所以因为"
    r"如果虽然不过没有不是在有要会能可以想去来到让请对为从向再先后才刚只别么什怎样啥几哪谁为里上下中前后时候现在今天以及其实已经应该可能已将会则之于]"
)
_ZH_THANKS = re.compile(r"谢|感激|88+[!！]?$")
_ZH_ABOUT_ME = re.compile(
    r"我(?:是|叫|姓|住|在(?!想|说)|有(?!空|问题)|不(?:吃|喝|喜欢|能)|讨厌|爱|对.{1,8}过敏|[^，。]{0,4}(?:喜欢"
    r"|习惯))|我(?:家|妈|爸|老|女|男|儿)"
)
_ZH_REQUEST = re.compile(
    r"[?？]|吗|[么呢]$|帮我(?!解|查到|找到|这么|那么|大)|请(?:给|告|帮|推|问)|推荐一|推荐[个家]|给我|告诉|查|找|哪"
    r"|什么|多少|几点|预[约订定]|想[要去吃住找]|不用了?吧"
)
# What is to hold from now on says something, whatever it is made of.
_ZH_FROM_NOW_ON = re.compile(r"(?:以后|今后|往后)(?:都|每次|统一|一律)(?!这样|可以|行|好)[^，。！？]{3,}")
_ZH_THANKS_CHARACTERS = 40
_ZH_OWN_MIN = 2  # the speaker says something of themself
_ZH_CONTENT_MIN = 3  # that many characters after all is taken away are a statement


# The extractor asks, then the episodes; and small talk is said in few words.
@lru_cache(maxsize=256)
def gate(text: str, role: str = "user") -> str | None:
    """Why this text is not worth looking at, or None when it passes.

    Reasons: `system_prompt`, `recalled_text`, `heartbeat`, `code`, `placeholder_only`, `empty`, `small_talk`,
    `off_record`.
    """
    if role in ("system", "tool"):
        return "system_prompt" if role == "system" else "tool_output"
    if _HEARTBEAT.match(text):
        return "heartbeat"
    own = strip_recalled(text)
    if not own.strip():
        return "recalled_text" if text.strip() else "empty"
    if role == "user" and _SYSTEM.match(own):
        return "system_prompt"
    if is_code(own):
        return "code"
    own = without_code(own)
    if role == "user" and off_record(own):
        return "off_record"
    if not _LETTER_OR_DIGIT.search(own):
        return "code" if "```" in text else "empty"
    if not says_something(own):
        return "small_talk"
    return "placeholder_only" if placeholder_only(own) else None


def placeholder_only(text: str) -> bool:
    """Whether nothing but the kind of a masked value would be remembered ("my phone number is [PHONE_1]")."""
    if "[" not in text or not _PLACEHOLDER.search(text):
        return False
    return not says_something(_SECRET_NOUN.sub(" ", _PLACEHOLDER.sub(" ", text)))


def beside_masked(text: str) -> str:
    """The text without clauses of which only the kind of a masked value would be remembered.

    >>> beside_masked("手机号是[PHONE_1]，平时七点后有空")
    '平时七点后有空'
    """
    if "[" not in text or not _PLACEHOLDER.search(text):
        return text
    return "".join(clause for clause in _CLAUSE.findall(text) if not placeholder_only(clause))


@lru_cache(maxsize=32)  # a message of one sentence is asked about twice
def says_something(text: str) -> bool:
    """Whether anything is left of a text without manners, acknowledgements and words without content."""
    content = _zh_content if is_chinese(text[:_STRETCH]) else _en_content
    if content is _en_content and len(text) > _OPENING and _says_much(text[: text.rfind(" ", 0, _OPENING)]):
        return True
    if len(text) <= _STRETCH:
        return content(text)
    # A long text is looked at in stretches: one that says something settles it, and no single look takes long.
    return any(content(text[at : at + _STRETCH]) for at in range(0, len(text), _STRETCH))


def _says_much(text: str) -> bool:
    """Whether an English text is too long to be manners, with content: whatever follows says no less."""
    found = _EN_WORD.findall(fold(text))
    return len(found) > _LONGEST_MANNERS and not _EN_EMPTY.issuperset(found)


def _contents(words: list[str]) -> int:
    return sum(word not in _EN_EMPTY for word in words)


def _en_content(text: str) -> bool:
    found = _EN_WORD.findall(fold(text))
    if _EN_EMPTY.issuperset(found):
        if len(_OTHER_LETTER.findall(_CHINESE.sub(" ", text))) > _LONGEST_OTHER_GREETING:
            return True
        return any(character.isdigit() for character in text) or bool(_CHINESE.search(text) and _zh_content(text))
    if len(found) > _LONGEST_MANNERS:
        return True
    bare = len(found) <= _BARE_WORDS and _contents(found) == 1 and not _EN_OWN.search(text)
    if bare and not any(character.isdigit() for character in text):
        return False
    if (
        len(found) <= _FEW_WORDS
        and _EN_ADDRESSED.search(text)
        and not _EN_POINT.search(text)
        and not _EN_DETAIL.search(text)
    ):
        return False
    agrees, thanks = _EN_YES_NO.match(text), _EN_THANKS.search(text)
    if not (agrees or thanks) or _EN_DETAIL.search(text) or _EN_ABOUT_ME.search(text):
        return True
    if agrees and "?" not in text and (_contents(found) < 2 or _EN_DEAL.search(text)):
        return False
    return not thanks or bool(_EN_REQUEST.search(text)) or bool(_CHINESE.search(text) and _zh_content(text))


def _zh_content(text: str) -> bool:
    rest = fold(text)
    if _ZH_ABOUT_ME.search(rest) or _ZH_FROM_NOW_ON.search(rest):
        return True
    if len(rest) <= _ZH_THANKS_CHARACTERS and _ZH_THANKS.search(rest) and not _ZH_REQUEST.search(rest):
        return bool(re.search(r"\d{2}", rest.replace("88", "")))
    if re.search(r"\d", rest):
        return True
    rest = _ZH_SOCIAL.sub(" ", rest)
    rest = _ZH_EMPTY.sub("", rest)
    left = re.findall(rf"[{CJK}]|[a-z]{{2,}}", rest)
    least = _ZH_OWN_MIN if "我" in text else _ZH_CONTENT_MIN
    return len(left) >= least or any(len(word) > 1 for word in left)
