"""Phrases of both languages against one reference: Wednesday, 15 May 2024, 10:30."""

from datetime import datetime

import pytest

from streams.memory.timephrases import TimePhrase, resolve

REFERENCE = datetime(2024, 5, 15, 10, 30)


def shown(value: object) -> str | None:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    return None if value is None else str(value)[:10] if len(str(value)) > 8 else str(value)[:5]


def only(text: str) -> TimePhrase:
    phrases = resolve(text, REFERENCE)
    assert len(phrases) == 1, [p.text for p in phrases]
    return phrases[0]


DATES = [
    ("I'll call mum tomorrow", "2024-05-16"),
    ("it broke the day before yesterday", "2024-05-13"),
    ("see you on Friday", "2024-05-17"),
    ("the dentist moved me to next Friday", "2024-05-24"),
    ("we argued last Monday", "2024-05-06"),
    ("Tuesday next week works", "2024-05-21"),
    ("rent is due on the 3rd of June", "2024-06-03"),
    ("she was born on March 4th, 1991", "1991-03-04"),
    ("released 2023-11-02", "2023-11-02"),
    ("invoice of 28/02/2024", "2024-02-28"),
    ("our lease ends 7.9.2025", "2025-09-07"),
    ("I quit two weeks ago", "2024-05-01"),
    ("the visa comes in three weeks", "2024-06-05"),
    ("ten days after tomorrow we fly", "2024-05-26"),
    ("dinner on Christmas Eve", "2024-12-24"),
    ("Thanksgiving 2025 at my place", "2025-11-27"),
    ("the last Friday of August", "2024-08-30"),
    ("the first Monday of next month", "2024-06-03"),
    ("the Friday after Easter 2025", "2025-04-25"),
    ("two Thursdays from now", "2024-05-23"),
    ("this coming Sunday", "2024-05-19"),
    ("within reach on the 3rd working day, in 3 business days", "2024-05-20"),
    ("大后天交房租", "2024-05-18"),
    ("前天刚到家", "2024-05-13"),
    ("下周三我去北京", "2024-05-22"),
    ("上上周五开的会", "2024-05-03"),
    ("这个月二十号发工资", "2024-05-20"),
    ("二〇二三年十二月三十一日离职", "2023-12-31"),
    ("３月８日是她生日", "2024-03-08"),
    ("十天后出发", "2024-05-25"),
    ("两周前搬的家", "2024-05-01"),
    ("农历八月十五回老家", "2024-09-17"),
    ("今年中秋节回家", "2024-09-17"),
    ("明年春节去三亚", "2025-01-29"),
    ("除夕一起吃饭", "2025-01-28"),
    ("大年初三走亲戚", "2024-02-12"),
    ("下個禮拜二見", "2024-05-21"),
    ("六月的第二个星期天", "2024-06-09"),
    ("国庆第三天", "2024-10-03"),
    ("去年的今天", "2023-05-15"),
    ("九月廿三", "2024-10-25"),
]


@pytest.mark.parametrize(("text", "day"), DATES)
def test_single_days(text: str, day: str) -> None:
    phrase = only(text)
    assert (phrase.kind, shown(phrase.value), phrase.end_value) == ("date", day, None)


MOMENTS = [
    ("call me tomorrow at 5pm", "2024-05-16 17:00"),
    ("at half past seven tomorrow evening", "2024-05-16 19:30"),
    ("next Friday at 5", "2024-05-24 17:00"),
    ("let's say Monday at 9", "2024-05-20 09:00"),
    ("by bus tomorrow, 6 in the morning", "2024-05-16 06:00"),
    ("in 45 minutes", "2024-05-15 11:15"),
    ("an hour and a half ago", "2024-05-15 09:00"),
    ("8 tonight", "2024-05-15 20:00"),
    ("next Tuesday at quarter to nine am", "2024-05-21 08:45"),
    ("on 2 June 2024 at 14:05", "2024-06-02 14:05"),
    ("下周三下午三点半", "2024-05-22 15:30"),
    ("明天晚上八点一刻", "2024-05-16 20:15"),
    ("今晚十点", "2024-05-15 22:00"),
    ("昨天凌晨两点", "2024-05-14 02:00"),
    ("半小时后", "2024-05-15 11:00"),
    ("后天中午１２：３０", "2024-05-17 12:30"),
    ("5月20号早上9点", "2024-05-20 09:00"),
    ("明天凌晨一点", "2024-05-16 01:00"),
    ("一刻钟后", "2024-05-15 10:45"),
    ("今晚7点差10分", "2024-05-15 18:50"),
]


@pytest.mark.parametrize(("text", "moment"), MOMENTS)
def test_moments(text: str, moment: str) -> None:
    phrase = only(text)
    assert (phrase.kind, shown(phrase.value)) == ("datetime", moment)


RANGES = [
    ("we were in Oslo last week", "2024-05-06", "2024-05-13"),
    ("sometime next month", "2024-06-01", "2024-07-01"),
    ("since then, in May 2023", "2023-05-01", "2023-06-01"),
    ("back in the 90s", "1990-01-01", "2000-01-01"),
    ("numbers for Q3 2024", "2024-07-01", "2024-10-01"),
    ("from June 3 to June 7", "2024-06-03", "2024-06-08"),
    ("3rd to 7th of June", "2024-06-03", "2024-06-08"),
    ("between Monday and Thursday", "2024-05-20", "2024-05-24"),
    ("this weekend", "2024-05-18", "2024-05-20"),
    ("the week of June 12th", "2024-06-10", "2024-06-17"),
    ("the second quarter of 2025", "2025-04-01", "2025-07-01"),
    ("the first two weeks of July", "2024-07-01", "2024-07-15"),
    ("after 2019", "2020-01-01", None),
    ("until Friday", None, "2024-05-18"),
    ("上上周末爬山", "2024-05-04", "2024-05-06"),
    ("下个月很忙", "2024-06-01", "2024-07-01"),
    ("去年三月", "2023-03-01", "2023-04-01"),
    ("六月三号到七号", "2024-06-03", "2024-06-08"),
    ("明年第一季度", "2025-01-01", "2025-04-01"),
    ("七月上旬", "2024-07-01", "2024-07-11"),
    ("2019年以后", "2020-01-01", None),
    ("周五之前", None, "2024-05-17"),
    ("week 42 of 2020", "2020-10-12", "2020-10-19"),
    ("in the nineties", "1990-01-01", "2000-01-01"),
    ("Labor Day weekend", "2024-08-31", "2024-09-03"),
    ("上世纪80年代", "1980-01-01", "1990-01-01"),
    ("下半月", "2024-05-16", "2024-06-01"),
    ("去年年底", "2023-11-01", "2024-01-01"),
    ("Hanukkah 2018", "2018-12-02", "2018-12-10"),
]


@pytest.mark.parametrize(("text", "first", "end"), RANGES)
def test_ranges_of_days(text: str, first: str | None, end: str | None) -> None:
    phrase = only(text)
    assert (phrase.kind, shown(phrase.value), shown(phrase.end_value)) == ("daterange", first, end)


HOURS = [
    ("tomorrow from 3 to 5pm", "2024-05-16 15:00", "2024-05-16 17:00"),
    ("Friday 9-11 am", "2024-05-17 09:00", "2024-05-17 11:00"),
    ("next Monday 11am to 2", "2024-05-20 11:00", "2024-05-20 14:00"),
    ("tonight from 11pm to 1am", "2024-05-15 23:00", "2024-05-16 01:00"),
    ("明天下午两点到四点", "2024-05-16 14:00", "2024-05-16 16:00"),
    ("明晚10点到次日6点", "2024-05-16 22:00", "2024-05-17 06:00"),
]


@pytest.mark.parametrize(("text", "begin", "end"), HOURS)
def test_ranges_of_hours(text: str, begin: str, end: str) -> None:
    phrase = only(text)
    assert (phrase.kind, shown(phrase.value), shown(phrase.end_value)) == ("datetimerange", begin, end)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("at noon", "time", "12:00"),
        ("3:15 pm", "time", "15:15"),
        ("下午三点", "time", "15:00"),
        ("7点10分", "time", "07:10"),
    ],
)
def test_a_bare_time_knows_the_day_it_is_taken_to_fall_on(text: str, kind: str, value: str) -> None:
    phrase = only(text)
    assert (phrase.kind, shown(phrase.value), phrase.anchor) == (kind, value, REFERENCE.date())


@pytest.mark.parametrize(
    "text", ["end of March", "月底", "early next week", "九月下旬", "a few days ago", "around June 3", "年初"]
)
def test_vague_phrases_say_so(text: str) -> None:
    assert only(text).fuzzy


@pytest.mark.parametrize(
    "text", ["three weeks", "an hour and a half", "两个小时", "半年", "1 year and 2 months", "三年半"]
)
def test_durations_have_no_place_in_time(text: str) -> None:
    phrase = only(text)
    assert (phrase.kind, phrase.value, phrase.end_value) == ("duration", None, None)


@pytest.mark.parametrize(
    "text", ["every Monday at 9", "daily", "on Sundays", "每周五", "每天早上", "9am every day", "every two weeks"]
)
def test_recurring_times(text: str) -> None:
    assert only(text).kind == "set"


@pytest.mark.parametrize(
    "text",
    [
        "You may be right, it may rain",
        "They march in step and march on",
        "a second opinion, the second item",
        "Upgrade to version 3.11.4 now-ish-free",
        "It costs $12.50 or 1999 euros",
        "call 555-0199-2233 or +44 20 7946 0958",
        "chapter 7, verse 12",
        "Have a good night and a nice day!",
        "the sun is out, I sat down",
        "We are up to date on this",
        "a 3D model in 4K with 50m users",
        "rated 9/10 by most",
        "everyday life with Tomorrow.io",
        "能不能写得简洁一点",
        "几本日本小说",
        "一时兴起",
        "他有一点点难过",
        "这件事一点都不难",
        "周先生和周杰伦都来了",
        "五十分之一的机会",
        "坐3号线到2号楼",
        "气温升高了二十点五度",
        "他日语说得很好",
        "早点睡，有点累",
        "June 31, 2024",
        "2024-02-30",
    ],
)
def test_look_alikes_are_left_alone(text: str) -> None:
    assert [p.text for p in resolve(text, REFERENCE)] in ([], ["now"])


def test_mixed_scripts_and_several_phrases_in_order() -> None:
    text = "下周三 10:00 standup, then lunch on Friday, 月底前 done by 2025-01-05"
    assert [p.text for p in resolve(text, REFERENCE)] == ["下周三 10:00", "on Friday", "月底前", "by 2025-01-05"]


def test_one_language_on_request() -> None:
    text = "明天 or next Friday"
    assert [p.text for p in resolve(text, REFERENCE, lang="zh")] == ["明天"]
    assert [p.text for p in resolve(text, REFERENCE, lang="en")] == ["next Friday"]
    with pytest.raises(ValueError, match="unknown language"):
        resolve(text, REFERENCE, lang="fr")


@pytest.mark.parametrize(
    ("said", "month"),
    [
        ("We moved here in March", "2024-03-01"),
        ("We will move in March", "2025-03-01"),
        ("我十一月去过杭州", "2023-11-01"),
        ("我十一月要去杭州", "2024-11-01"),
    ],
)
def test_the_tense_decides_what_the_date_leaves_open(said: str, month: str) -> None:
    assert shown(only(said).value) == month
