"""What statements become: slot, value, operation, in both languages."""

from __future__ import annotations

import pytest

from schemas import MemoryType, Message
from streams.memory.extraction.material import own_words
from tests.unit.extraction.events import extract, only

SLOTS = [
    # (text, subject, attribute, value, cardinality)
    ("我叫韩梅子", "user", "name", "韩梅子", "single"),
    ("My name is Ottoline Brandt.", "user", "name", "Ottoline Brandt", "single"),
    ("I live in Tromsø", "user", "city", "Tromsø", "single"),
    ("我现在住在青岛", "user", "city", "青岛", "single"),
    ("I work at Halvorsen Labs", "user", "employer", "Halvorsen Labs", "single"),
    ("我在云杉科技上班", "user", "employer", "云杉科技", "single"),
    ("我对花生过敏", "user", "allergy", "花生", "multi"),
    ("I'm allergic to penicillin.", "user", "allergy", "penicillin", "multi"),
    ("I love Thai food", "user", "likes", "Thai food", "multi"),
    ("我喜欢爬山", "user", "likes", "爬山", "multi"),
    ("My budget is 5000", "user", "budget", "5000", "single"),
    ("预算改成8000", "user", "budget", "8000", "single"),
    ("notify me at 9", "user", "notification_time", "9", "single"),
    ("my favourite colour is teal", "user", "favorite colour", "teal", "single"),
    ("Mira moved to Graz.", "Mira", "city", "Graz", "single"),
    ("我老婆叫苏文", "老婆", "name", "苏文", "single"),
    ("the Borealis project is with Dana now", "Borealis project", "owner", "Dana", "single"),
    ("The release is led by Wang.", "release", "owner", "Wang", "single"),
    ("北极星项目由王强负责", "北极星项目", "owner", "王强", "single"),
    ("The capital of Freedonia is Sylvania City.", "Freedonia", "capital", "Sylvania City", "single"),
    ("Rufus Firefly was born in the city of Lund.", "Rufus Firefly", "born in city of", "Lund", "single"),
    ("The Tin Drum was performed by Greta Halm.", "The Tin Drum", "performed by", "Greta Halm", "single"),
]


@pytest.mark.parametrize(("text", "subject", "attribute", "value", "cardinality"), SLOTS)
def test_a_statement_fills_its_slot(text: str, subject: str, attribute: str, value: str, cardinality: str) -> None:
    candidate = only(text)
    assert (candidate.subject, candidate.attribute, candidate.value, candidate.cardinality) == (
        subject,
        attribute,
        value,
        cardinality,
    )


@pytest.mark.parametrize(
    ("text", "value", "replaced"),
    [
        ("I moved from Oslo to Bergen", "Bergen", "Oslo"),
        ("I live in Bergen, not Oslo.", "Bergen", "Oslo"),
        ("我不叫李国宇，叫李国松", "李国松", "李国宇"),
        ("The meeting is not on Tuesday but on Wednesday.", "Wednesday", "Tuesday"),
        ("我去年从苏州搬到了宁波", "宁波", "苏州"),
    ],
)
def test_a_correction_names_the_old_value(text: str, value: str, replaced: str) -> None:
    candidate = only(text)
    assert (candidate.value, candidate.replaced_value) == (value, replaced)


def test_an_earlier_mistake_is_a_correction_a_change_is_not() -> None:
    assert only("Correction: I live in Bergen.").operation == "correct"
    assert only("我说错了，我住在宁波").operation == "correct"
    assert only("I moved to Bergen.").operation == "assert"


@pytest.mark.parametrize(
    "text", ["I no longer work at Halvorsen Labs", "I don't live in Oslo anymore.", "我不再住在青岛了"]
)
def test_what_is_over_is_retracted(text: str) -> None:
    candidate = only(text)
    assert (candidate.operation, candidate.polarity) == ("retract", "negative")


def test_like_and_hate_share_a_slot_and_differ_in_polarity() -> None:
    love, hate = only("I love Chinese food"), only("I hate Chinese food")
    assert (love.subject, love.attribute, love.value) == (hate.subject, hate.attribute, hate.value)
    assert (love.polarity, hate.polarity) == ("positive", "negative")
    assert only("我不喜欢吃香菜").polarity == "negative"


def test_clauses_share_the_subject_of_the_first() -> None:
    found = {
        c.attribute: (c.subject, c.value) for c in extract("我叫李雷，今年30岁，住在上海，在腾讯当产品经理").candidates
    }
    assert found["name"] == ("user", "李雷")
    assert found["city"] == ("user", "上海")
    assert found["employer"] == ("user", "腾讯")
    assert found["age"] == ("user", "30岁")
    wife = {c.attribute: (c.subject, c.value) for c in extract("我老婆叫苏文，在云杉科技上班").candidates}
    assert wife["employer"] == ("老婆", "云杉科技")


def test_a_pronoun_means_whoever_was_named_last_or_nobody() -> None:
    found = extract("My sister Ines moved to Porto. She works at Vale Verde.").candidates
    assert ("Ines", "employer", "Vale Verde") in [(c.subject, c.attribute, c.value) for c in found]
    lonely = only("She administers the GitHub org")
    assert (lonely.subject, lonely.attribute) == (None, None)


def test_two_people_of_one_chat_are_two_subjects() -> None:
    assert only("I live in Bergen", speaker="Caroline").subject == "Caroline"
    assert only("I live in Bergen", speaker="user").subject == "user"


@pytest.mark.parametrize(
    ("text", "start", "kind"),
    [
        ("我下周三下午要去北京见客户", "2026-03-11T12:00:00+08:00", MemoryType.TASK),
        ("I have a dentist appointment tomorrow at 3pm", "2026-03-03T15:00:00+08:00", MemoryType.TASK),
    ],
)
def test_plans_resolve_against_the_time_of_the_message(text: str, start: str, kind: MemoryType) -> None:
    candidate = only(text)
    assert candidate.time is not None
    assert candidate.time.start is not None
    assert candidate.time.start.astimezone(candidate.said_at.tzinfo if candidate.said_at else None).isoformat()
    from datetime import datetime

    assert candidate.time.start == datetime.fromisoformat(start)
    assert candidate.memory_type is kind


def test_this_week_only_holds_this_week() -> None:
    candidate = only("just for this week, notify me at 11")
    assert candidate.temporary
    assert candidate.valid_from is not None
    assert candidate.valid_until is not None
    assert (candidate.valid_until - candidate.valid_from).days == 7
    assert not only("notify me at 11").temporary


def test_standing_rules_are_most_important() -> None:
    assert only("From now on, answer in French.").importance == 5
    assert only("以后回复都用中文").importance == 5


def test_do_it_like_that_takes_the_agreed_thing_from_the_context() -> None:
    context = (
        Message(role="user", text="周报请用表格，不要写长段落"),
        Message(role="assistant", text="好的，这是表格版的周报。"),
    )
    candidate = only("以后都按这个来", context=context)
    assert "周报请用表格" in candidate.content
    assert (candidate.memory_type, candidate.importance) == (MemoryType.PREFERENCE, 5)
    assert extract("以后都按这个来").candidates == ()


def test_emotion_only_when_it_is_said() -> None:
    assert only("我最近很焦虑，睡不好").emotion == "anxious"
    assert only("I lost my keys yesterday").emotion is None


def test_at_most_five_a_message_the_most_important_first() -> None:
    text = (
        "My name is Ottoline Brandt. I live in Bergen. I work at Halvorsen Labs. I'm allergic to nuts. I love jazz. "
        "I own a boat. I speak Danish. I drive a Volvo."
    )
    found = extract(text).candidates
    assert len(found) == 5
    assert {"name", "city", "employer", "allergy"} <= {c.attribute for c in found}


def test_chinese_stays_chinese_and_short() -> None:
    long = "我最近一直在准备下个月的马拉松比赛，" * 12 + "我对青霉素过敏。"
    for candidate in extract(long).candidates:
        assert candidate.lang == "zh"
        assert len(candidate.content) <= 100


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I usually run 5 km before work", "habit", "usually run 5 km before work"),
        ("我每天早上跑步五公里", "habit", "每天早上跑步五公里"),
        ("We decided to use Postgres", "decision", "use Postgres"),
        ("我们决定用达梦数据库", "decision", "用达梦数据库"),
        ("Annika is my manager", "manager", "Annika"),
        ("我的导师是刘岚", "导师", "刘岚"),
        ("我吃不了辣", "diet", "辣"),
        ("I'm working on a chess engine called Foobar", "working_on", "a chess engine called Foobar"),
        ("our standup is at 9:30 now", "meeting_time", "9:30"),
        ("My 1:1 with Ben is on Tuesday at 3pm", "meeting_time", "Tuesday at 3pm"),
        ("Ines is a yoga instructor", "occupation", "yoga instructor"),
        ("小周现在做数据分析", "working_on", "做数据分析"),
    ],
)
def test_habits_decisions_people_and_work(text: str, attribute: str, value: str) -> None:
    candidate = only(text)
    assert (candidate.attribute, candidate.value) == (attribute, value)


@pytest.mark.parametrize(
    "text", ["I'm pregnant", "我怀孕了", "I feel lonely these days", "我和男朋友分手了", "我会说日语"]
)
def test_a_short_message_about_oneself_is_kept(text: str) -> None:
    assert only(text).subject == "user"


def test_a_reminder_for_one_day_is_a_task() -> None:
    candidate = only("明天下午五点提醒我给妈妈打电话")
    assert (candidate.memory_type, candidate.attribute) == (MemoryType.TASK, None)
    assert only("以后每天早上七点提醒我吃药").attribute == "notification_time"


def _slots(*texts: str) -> list[tuple[str | None, str | None, str | None]]:
    return [(c.attribute, c.value, c.polarity) for c in extract(*texts).candidates if c.attribute]


@pytest.mark.parametrize(
    "text",
    [
        '"I have a dog called Rex," the man in the book said.',
        '书里的主角说："我住在巴黎。"',
        "上次那句“我喜欢读文言文”是我让你翻译的例句。",
        "Tom asked whether I live in Oslo.",
        "She wonders if I work at Siemens.",
        "My mom thinks I'm a doctor.",
        "I didn't say I like jazz.",
        "大家都以为我是医生",
        "我没说过我喜欢爵士",
        "I own three yachts. Just kidding!",
        "I live in Bonn. Kidding, that was a joke.",
        "我住在月球。开玩笑的啦",
        "When I was a kid I lived in Rome.",
        "我以前住在罗马",
        "我小时候住在罗马",
        "不要叫我“主人”",
        "每周一九点提醒我",
        "谁说我对花生过敏，你吗？",
        "难道我对花生过敏，不能吃？",
        "就算我对花生过敏，能吃一点吗？",
        "我对花生过敏，用英语怎么说？",
        "Even if I'm allergic to nuts, can I eat almonds?",
        "Unless I'm allergic to nuts, can I eat them?",
        "I am allergic to peanuts, how do you say that in Spanish?",
    ],
)
def test_what_the_speaker_does_not_state_of_now_fills_no_slot(text: str) -> None:
    assert _slots(text) == []


@pytest.mark.parametrize(
    ("text", "attribute", "value", "polarity"),
    [
        ("他们以为我住在上海，其实我住在杭州", "city", "杭州", "positive"),
        ("I'm vegan and she asked whether I eat eggs.", "diet", "vegan", "positive"),
        ("I was a nurse before but now I work at Halvorsen.", "employer", "Halvorsen", "positive"),
        ("我小时候住在罗马，现在住在柏林", "city", "柏林", "positive"),
        ("我的狗叫「旺财」", "name", "旺财", "positive"),
        ("叫我“老王”就行", "nickname", "老王", "positive"),
        ("我对花生不过敏", "allergy", "花生", "negative"),
        ("我对花生并不过敏", "allergy", "花生", "negative"),
        ("I'm allergic to nuts, what can I eat?", "allergy", "nuts", "positive"),
        ("我对花生过敏，能吃什么？", "allergy", "花生", "positive"),
        ("我对花生过敏，怎么说服食堂换菜？", "allergy", "花生", "positive"),
        ("每天九点提醒我", "notification_time", "每天九点", "positive"),
    ],
)
def test_what_they_state_beside_it_does(text: str, attribute: str, value: str, polarity: str) -> None:
    assert _slots(text) == [(attribute, value, polarity)]


def test_a_question_asks_and_states_nothing() -> None:
    for text in ("If I lived in Berlin, would I need a car?", "Am I allergic to nuts, or not?", "我是不是住在成都？"):
        assert not extract(text).candidates, text


def test_what_is_over_in_chinese_is_taken_back() -> None:
    candidate = only("我不在华为上班了")
    assert (candidate.operation, candidate.value) == ("retract", "华为")


def test_what_is_mine_is_the_users() -> None:
    assert only("我的deadline是下周三").subject == "user"


def test_a_rule_points_back_in_traditional_characters_too() -> None:
    said = (Message(role="user", text="周报用表格发"), Message(role="assistant", text="好的"))
    candidate = only("对，以後都按這個來", context=said)
    assert candidate.importance == 5
    assert candidate.content.endswith("周报用表格发")


@pytest.mark.parametrize("laughter", ["哈", "ha", "嘿", "lol", "!", " "])
def test_laughter_is_read_in_linear_time(laughter: str) -> None:
    """In a repetition of repetitions thirty of them would take minutes."""
    assert _slots(f"I live in Bonn. {laughter * 150} bye.") == [("city", "Bonn", "positive")]
    assert _slots(f"I live in Bonn. {laughter * 150}, just kidding!") == []
    assert _slots(f"我住在波恩。{laughter * 150}再见。") == [("city", "波恩", "positive")]


def test_blanked_code_is_read_in_linear_time() -> None:
    """Each run of blanks would be tried at each of its places: minutes for this text."""
    code = "    result = compute(value)  \n" * 1_000
    text = f"I moved to Bonn.\n{code}to: everyone who reads this"
    assert own_words(text).strip() == "I moved to Bonn."
    assert len(own_words(text)) == len(text)
