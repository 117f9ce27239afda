"""One fact a clause: where a sentence is cut, and where it must not be."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.memory.extraction.lang import language
from streams.memory.extraction.parts import parts
from tests.unit.extraction.events import extract, only

# What form alone cuts: `states` answers yes to everything.
CUT: list[tuple[str, list[str]]] = [
    (
        "I live in Ghent with two flatmates and work as a baker.",
        ["I live in Ghent with two flatmates", "I work as a baker."],
    ),
    (
        "My sister lives in Turin and my brother lives in Oslo.",
        ["My sister lives in Turin", "my brother lives in Oslo."],
    ),
    ("Our bank is Triodos, our accountant is Mila Berg.", ["Our bank is Triodos", "our accountant is Mila Berg."]),
    (
        "I'm allergic to penicillin and I take insulin every morning.",
        ["I'm allergic to penicillin", "I take insulin every morning."],
    ),
    ("My husband is a pilot and he hates mushrooms.", ["My husband is a pilot", "My husband hates mushrooms."]),
    (
        "Our standup is at 9:30 and the retro is on Fridays at 3pm.",
        ["Our standup is at 9:30", "the retro is on Fridays at 3pm."],
    ),
    ("I drive a Skoda and have two kids.", ["I drive a Skoda", "I have two kids."]),
    (
        "The landing page is done, the checkout is still broken.",
        ["The landing page is done", "the checkout is still broken."],
    ),
    ("My rent is 900 euros and my lease ends in March.", ["My rent is 900 euros", "my lease ends in March."]),
    ("I own a cello but my daughter prefers the drums.", ["I own a cello", "my daughter prefers the drums."]),
    (
        "We moved to Lyon in May and our son goes to Jean Moulin.",
        ["We moved to Lyon in May", "our son goes to Jean Moulin."],
    ),
    ("My dentist is Dr Okoye, my physio is Lena Frey.", ["My dentist is Dr Okoye", "my physio is Lena Frey."]),
    ("I speak Danish and am learning Farsi.", ["I speak Danish", "I am learning Farsi."]),
    ("The demo is on May 4, the budget is $4,000.", ["The demo is on May 4", "the budget is $4,000."]),
    ("My boss is Ingrid and she never reads long mails.", ["My boss is Ingrid", "Ingrid never reads long mails."]),
    (
        "Backend is Django, frontend is Svelte, hosted on Hetzner.",
        ["Backend is Django", "frontend is Svelte, hosted on Hetzner."],
    ),
    ("I don't eat pork and my wife doesn't drink alcohol.", ["I don't eat pork", "my wife doesn't drink alcohol."]),
    (
        "On Mondays I do pilates and on Thursdays I play chess.",
        ["On Mondays I do pilates", "on Thursdays I play chess."],
    ),
    ("Nadia handles invoices; Tom handles travel.", ["Nadia handles invoices", "Tom handles travel."]),
    ("My dog is called Miso and my cat is called Udon.", ["My dog is called Miso", "my cat is called Udon."]),
    (
        "I prefer window seats and my partner prefers the aisle.",
        ["I prefer window seats", "my partner prefers the aisle."],
    ),
    (
        "Kenji leads the mobile team and Aylin leads the web team.",
        ["Kenji leads the mobile team", "Aylin leads the web team."],
    ),
    ("I'm vegetarian, I live in Graz and I work at Magna.", ["I'm vegetarian", "I live in Graz", "I work at Magna."]),
    (
        "My flight leaves at 7:40 and the hotel is booked until Sunday.",
        ["My flight leaves at 7:40", "the hotel is booked until Sunday."],
    ),
    ("I have asthma and my doctor is Dr. Haas.", ["I have asthma", "my doctor is Dr. Haas."]),
    ("Our wiki is on Notion and our chat is on Zulip.", ["Our wiki is on Notion", "our chat is on Zulip."]),
    ("I run every morning and swim on Sundays.", ["I run every morning", "I swim on Sundays."]),
    (
        "My favourite colour is teal and my favourite season is autumn.",
        ["My favourite colour is teal", "my favourite season is autumn."],
    ),
    ("I take the 8:10 train and my wife takes the car.", ["I take the 8:10 train", "my wife takes the car."]),
    ("My mother speaks Polish and she lives in Gdansk.", ["My mother speaks Polish", "My mother lives in Gdansk."]),
    (
        "I study law at Uppsala, my brother studies medicine in Lund.",
        ["I study law at Uppsala", "my brother studies medicine in Lund."],
    ),
    (
        "The venue is Kulturhuset, the caterer is Green Spoon.",
        ["The venue is Kulturhuset", "the caterer is Green Spoon."],
    ),
    ("I wear size 42 and my son wears size 35.", ["I wear size 42", "my son wears size 35."]),
    ("We use Postgres and our cache is Redis.", ["We use Postgres", "our cache is Redis."]),
    ("I love hiking and hate crowded beaches.", ["I love hiking", "I hate crowded beaches."]),
    ("My uncle owns a vineyard and my aunt teaches yoga.", ["My uncle owns a vineyard", "my aunt teaches yoga."]),
    (
        "I'm a light sleeper and I can't stand synthetic pillows.",
        ["I'm a light sleeper", "I can't stand synthetic pillows."],
    ),
    ("My phone is a Pixel 8 and my laptop is a ThinkPad.", ["My phone is a Pixel 8", "my laptop is a ThinkPad."]),
    ("Leo works at Ikea and lives in Malmö.", ["Leo works at Ikea", "Leo lives in Malmö."]),
    (
        "The office is on Keizersgracht 12, parking is behind the church.",
        ["The office is on Keizersgracht 12", "parking is behind the church."],
    ),
    ("I play the oboe, my sister plays the harp.", ["I play the oboe", "my sister plays the harp."]),
    ("我住在苏州，在一家律所上班", ["我住在苏州", "我在一家律所上班"]),
    ("我老公是医生，我是老师", ["我老公是医生", "我是老师"]),
    ("我妈住在昆明，我爸住在大理", ["我妈住在昆明", "我爸住在大理"]),
    ("我对芒果过敏，我儿子对牛奶过敏", ["我对芒果过敏", "我儿子对牛奶过敏"]),
    ("我在美团做测试，住在回龙观，周末打羽毛球", ["我在美团做测试", "我住在回龙观，周末打羽毛球"]),
    ("我叫陈默，今年28岁，在杭州做设计", ["我叫陈默", "我今年28岁", "我在杭州做设计"]),
    ("我女儿上三年级，我儿子上幼儿园", ["我女儿上三年级", "我儿子上幼儿园"]),
    ("婚礼定在10月2号，酒店订在香格里拉", ["婚礼定在10月2号", "酒店订在香格里拉"]),
    ("我喜欢吃川菜，讨厌香菜", ["我喜欢吃川菜", "我讨厌香菜"]),
    ("我不吃牛肉，也不喝酒", ["我不吃牛肉", "我也不喝酒"]),
    ("我房租3500，工资一万二", ["我房租3500", "我工资一万二"]),
    ("我的导师是周敏，她在浙大教书", ["我的导师是周敏", "周敏在浙大教书"]),
    ("周会改到周三，月会定在每月5号", ["周会改到周三", "月会定在每月5号"]),
    ("数据库用的MySQL，缓存用的Redis", ["数据库用的MySQL", "缓存用的Redis"]),
    ("我开特斯拉，我老婆开小鹏", ["我开特斯拉", "我老婆开小鹏"]),
    ("狗叫豆豆，猫叫年糕", ["狗叫豆豆", "猫叫年糕"]),
    ("我早上跑步，晚上练瑜伽", ["我早上跑步", "我晚上练瑜伽"]),
    ("我姐在广州工作，我哥在北京创业", ["我姐在广州工作", "我哥在北京创业"]),
    ("我会说日语，也会说一点法语", ["我会说日语", "我也会说一点法语"]),
    ("小王负责后端，小李负责前端", ["小王负责后端", "小李负责前端"]),
    ("我养了两只猫，我爸妈也养了一条狗", ["我养了两只猫", "我爸妈也养了一条狗"]),
    ("项目经理是老周，测试负责人是小林", ["项目经理是老周", "测试负责人是小林"]),
    ("我用安卓手机，我老婆用苹果手机", ["我用安卓手机", "我老婆用苹果手机"]),
    ("我在读研二，导师是刘岚", ["我在读研二", "我导师是刘岚"]),
    ("我住3楼，办公室在8楼", ["我住3楼", "办公室在8楼"]),
    ("我每天七点起床，十一点睡觉", ["我每天七点起床", "我每天十一点睡觉"]),
    ("极光项目预算是80万，截止日期是9月10号", ["极光项目预算是80万", "极光项目截止日期是9月10号"]),
    ("我是素食者，对坚果过敏", ["我是素食者", "我对坚果过敏"]),
    ("我奶奶今年83岁，住在老家", ["我奶奶今年83岁", "我奶奶住在老家"]),
    ("我儿子叫乐乐，今年6岁", ["我儿子叫乐乐", "我儿子今年6岁"]),
    ("我家在朝阳，公司在海淀", ["我家在朝阳", "我公司在海淀"]),
    ("我周二上钢琴课，周四上英语课", ["我周二上钢琴课", "我周四上英语课"]),
    ("我老板是张总，他喜欢简短的汇报", ["我老板是张总", "张总喜欢简短的汇报"]),
    ("我血型是O型，身高178", ["我血型是O型", "我身高178"]),
    ("我喝美式不加糖，我同事喝拿铁", ["我喝美式不加糖", "我同事喝拿铁"]),
    ("前台电话找小孙，报销找老郑", ["前台电话找小孙", "报销找老郑"]),
    ("房东是刘阿姨，她每月五号收租", ["房东是刘阿姨", "刘阿姨每月五号收租"]),
    ("我在备考雅思，目标是7分", ["我在备考雅思", "目标是7分"]),
    ("我有高血压，不能吃太咸", ["我有高血压", "我不能吃太咸"]),
    ("我是1990年出生的，属马", ["我是1990年出生的", "我属马"]),
    ("我们组长是王敏，我们在三楼办公", ["我们组长是王敏", "我们在三楼办公"]),
    ("爷爷爱下象棋，奶奶爱跳广场舞", ["爷爷爱下象棋", "奶奶爱跳广场舞"]),
    ("我住在望京，老婆在通州上班，儿子上小学", ["我住在望京", "我老婆在通州上班", "我儿子上小学"]),
]

WHOLE = [
    "I like pears, plums and my grandmother's cherry cake.",
    "My wife and I work at Siemens.",
    "I want to learn Dutch and move to Ghent.",
    "I moved from Turin to Oslo, where my brother lives.",
    "I don't take the bus because I get sick and my knees hurt.",
    "If it rains I work from home and my wife takes the car.",
    "When I travel I prefer aisle seats and I pack light.",
    "My meeting is not on Tuesday but on Friday.",
    "I used to live in Rome but I live in Pisa now.",
    "I think my boss and my landlord are cousins.",
    "My brother said he lives in Leeds and works at a bank.",
    "I work from 9 to 5 and from Monday to Thursday.",
    'The book "I live in Bonn, my dog is blue" is my favourite.',
    "I'm allergic to nuts, so I always carry an EpiPen.",
    "I have a dog, his name is Rex.",
    "I bought a car and it is red.",
    "My flat is small, which is why I rent storage.",
    "She told me her sister works at Ikea and her boss hates her.",
    "I'd like to move to Graz and my wife would too.",
    "I never drink coffee, tea or mate.",
    "My son, who lives in Lund and studies law, is 22.",
    "I hope my team wins and my boss is happy.",
    "The meeting moved from Monday to Tuesday and from room 2 to room 5.",
    "I love cooking and baking bread with my kids.",
    "I have to call the bank and pay my rent.",
    "My job is stressful and boring.",
    "I'm tired and hungry.",
    "I prefer tea over coffee, and milk over cream.",
    "I can swim and ride a bike.",
    "Should I take the train and my wife the car?",
    "My parents and my sister live in Kent.",
    "I eat fish but not shellfish.",
    "I live in Bonn, a quiet town, with my parents.",
    "Remind me to buy milk and my wife's flowers.",
    "I wonder whether my sister and her boss are friends.",
    "I take insulin before meals and after dinner.",
    "Write an email to my boss and my landlord.",
    "My car is old, that's why I take the bus.",
    "I ordered a desk and a chair, both arrive on Friday.",
    "My doctor says I must rest and my wife agrees.",
    "I like my team, especially Kenji.",
    "From now on answer in French and keep it short.",
    "我喜欢苹果、香蕉和梨",
    "我对花生过敏，所以不吃零食",
    "因为我对花生过敏，我从来不吃零食",
    "我不叫李国宇，叫李国松",
    "我以前住北京，现在住上海",
    "我养了只猫，叫年糕",
    "我有两个孩子，在上海读书",
    "如果下雨，我就在家办公",
    "我妈说她住不惯，想回老家",
    "我从苏州搬到了宁波，离公司近",
    "会议不是周二，是周三",
    "我每天六点起床，因为要赶地铁",
    "我喜欢爬山，尤其是秋天",
    "我觉得他人不错，工作也认真",
    "我住在杭州，那边房租便宜",
    "我从九点工作到六点，中午休息一小时",
    "帮我写封邮件，语气正式一点",
    "我买了辆车，是白色的",
    "我想学荷兰语，搬去根特",
    "我在考虑换工作，要不要去深圳",
    "我不喝咖啡，只喝茶",
    "听说他住在上海，在腾讯上班",
    "我不再住北京了，搬到了天津",
    "以后都用中文回复，别加表情",
    "我老婆怀孕了，预产期七月",
    "我认识一个律师，在金杜上班",
    "我昨天去了超市，买了牛奶",
    "我有点累，不想说话",
    "为了省钱，我住在郊区",
    "我找了个房子，在地铁站旁边",
    "我弟弟来上海出差，住我家",
    "虽然我住得远，我每天都准时",
    "我爸妈都是老师，退休了",
    "我朋友在北京，他女朋友在上海",
    "这个项目我负责，你们配合",
    "我喜欢喝茶，比如龙井",
    "等我搬完家，我请大家吃饭",
    "我女儿喜欢画画，她说长大要当画家",
    "报告说“成本是八万，工期是三个月”",
    "我家离公司远，所以我住宿舍",
    "我打算学游泳，报了个班",
    "既然你问了，我住在青岛",
]


def _parts(text: str) -> list[str]:
    return [part.text for part in parts(text, language(text), lambda _: True)]


@pytest.mark.parametrize(("text", "expected"), CUT)
def test_each_clause_that_stands_alone_is_a_part(text: str, expected: list[str]) -> None:
    assert _parts(text) == expected


@pytest.mark.parametrize("text", WHOLE)
def test_what_belongs_together_stays(text: str) -> None:
    assert _parts(text) == [text]


def test_both_sides_must_state_something() -> None:
    text = "I was late for the bus, my head hurts like hell"
    assert [part.text for part in parts(text, "en", lambda _: False)] == [text]
    assert [c.content for c in extract("我最近有点忙，我还没吃饭").candidates] in ([], ["我最近有点忙，我还没吃饭"])


def test_each_part_has_its_own_place_slot_and_subject() -> None:
    text = "I live in Ghent with my sister and work at Bakkerij Noord"
    city, employer = extract(text).candidates
    assert (city.attribute, city.value, text[city.start : city.end]) == (
        "city",
        "Ghent",
        "I live in Ghent with my sister",
    )
    assert (employer.attribute, employer.value) == ("employer", "Bakkerij Noord")
    assert (employer.content, text[employer.start : employer.end]) == (
        "I work at Bakkerij Noord",
        "work at Bakkerij Noord",
    )
    son, wife = extract("我儿子对牛奶过敏，我老婆在云杉科技上班").candidates
    assert [(c.subject, c.attribute, c.value) for c in (son, wife)] == [
        ("儿子", "allergy", "牛奶"),
        ("老婆", "employer", "云杉科技"),
    ]


def test_a_time_goes_with_the_clauses_that_it_governs() -> None:
    first, second = extract("我下个月入职云杉科技，做产品经理").candidates
    assert (first.time is not None, second.content) == (True, "我下个月做产品经理")
    piano, english = extract("我周二上钢琴课，周四上英语课").candidates
    assert piano.time is not None
    assert english.time is not None
    assert piano.time.start != english.time.start


def test_who_fills_a_place_keeps_what_is_said_of_them() -> None:
    """When another is the manager, the tea is not theirs."""
    assert [c.content for c in extract("My manager is Helen Foss and she likes green tea").candidates] == [
        "My manager is Helen Foss",
        "Helen Foss likes green tea",
    ]
    assert [c.content for c in extract("我老婆叫苏文，她在云杉科技上班").candidates] == [
        "我老婆叫苏文",
        "我老婆在云杉科技上班",
    ]


def test_a_name_is_that_of_whom_the_clause_before_brought_in() -> None:
    assert ("name", "年糕") not in [
        (c.attribute, c.value) for c in extract("我在家养了只猫，叫年糕").candidates if c.subject == "user"
    ]


def test_of_more_than_five_statements_the_most_important_are_kept() -> None:
    text = "我叫李雷，今年30岁，住在上海，对花生过敏。我老婆叫苏文，她在云杉科技上班。"
    assert [c.content for c in extract(text).candidates] == [
        "我叫李雷",
        "我住在上海",
        "我对花生过敏。",
        "我老婆叫苏文",
        "我老婆在云杉科技上班。",
    ]


def test_a_sentence_is_cut_as_far_as_there_is_room() -> None:
    before = "My name is Ida Holm. I live in Ulm. I'm allergic to nuts. "
    last = "My dentist is Mira Sand, our bank is Triodos, our wiki is Notion."
    assert [c.content for c in extract(before + last).candidates][3:] == [
        "My dentist is Mira Sand",
        "our bank is Triodos, our wiki is Notion.",
    ]
    assert [c.content for c in extract(before + "I work at Sonos. " + last).candidates][4:] == [last]


def test_a_question_is_not_cut() -> None:
    asked = extract("My wife lives in Ulm and my son lives in Bonn, is that right?")
    assert len({(c.start, c.end) for c in asked.candidates}) <= 1


def test_corrections_are_whole() -> None:
    assert only("I live in Bergen, not Oslo.").content == "I live in Bergen, not Oslo."
    assert only("我不叫李国宇，叫李国松").content == "我不叫李国宇，叫李国松"


_PIECES = st.sampled_from([
    "I live in ", "Bergen", ", ", " and ", " but ", "work at ", "Siemens", "my wife ", "is ", "a nurse", "she likes ",
    "on Mondays ", "我", "住在", "青岛", "，", "我老婆", "叫苏文", "她", "在云杉科技上班", "“", "”", "(", ")", "，，",
    "—", "; ", ".", "灯塔项目", "负责人是", "小周", "下个月", "\u200b", "  ",
])  # fmt: skip


@given(text=st.one_of(st.lists(_PIECES, max_size=25).map("".join), st.text(max_size=120)), known=st.booleans())
@settings(max_examples=300, deadline=None)
def test_parts_follow_one_another_in_the_sentence(text: str, known: bool) -> None:
    for lang in ("en", "zh"):
        found = parts(text, lang, lambda _: known)
        assert 1 <= len(found) <= 5
        assert (found[0].start, found[-1].end) == (0, len(text))
        for one, other in pairwise(found):
            assert one.start < one.end <= other.start
        for part in found:
            assert part.text.endswith(text[part.start : part.end])


def test_a_run_of_clauses_is_read_in_linear_time() -> None:
    """What stands before a joint is looked at from the last cut on, and only where a clause may be one."""
    asked: list[str] = []

    def states(text: str) -> bool:
        asked.append(text)
        return False

    parts("我今天很累，" * 100, "zh", states)
    parts("I was so tired, " * 100, "en", states)
    assert sum(map(len, asked)) < 100_000
