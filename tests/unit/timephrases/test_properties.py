"""What holds for any text and any reference."""

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.memory.timephrases import interval, resolve

PIECES = [
    "next", "last", "this", "Friday", "monday", "week", "weeks", "month", "in", "two", "3",
    "days", "ago", "from", "to", "between", "and", "the", "end", "of", "March", "may", "2024",
    "at", "5pm", "12:30", "noon", "tomorrow", "every", "half", "past", "first", "second",
    "until", "before", "after", "1/2/2023", "-", ",", "Q3", "Easter", "a", "few", "下周", "三", "下午",
    "月底", "上", "上上周末", "农历", "八月", "十五", "到", "之前", "后", "三天", "两个", "半", "年", "日", "点",
    "每", "第",
    "一", "个", "春节", "的", "从", "号", "０", "１２", "刻", "\n", "。", " ", "😀", "ſ", "İ",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)
REFERENCES = st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2080, 1, 1))


@settings(max_examples=600, deadline=None)
@given(TEXTS, REFERENCES)
def test_spans_lie_in_the_text_in_order_and_apart(text: str, reference: datetime) -> None:
    end = 0
    for phrase in resolve(text, reference):
        assert end <= phrase.start < phrase.end <= len(text)
        assert text[phrase.start : phrase.end] == phrase.text
        end = phrase.end


@settings(max_examples=300, deadline=None)
@given(TEXTS, REFERENCES)
def test_values_fit_their_kind_and_ranges_run_forward(text: str, reference: datetime) -> None:
    for phrase in resolve(text, reference):
        if phrase.kind in ("duration", "set"):
            assert (phrase.value, phrase.end_value) == (None, None)
            with pytest.raises(ValueError, match="no place in time"):
                interval(phrase)
            continue
        start, end = interval(phrase, "Asia/Shanghai")
        assert start < end
        assert (phrase.anchor is not None) == (phrase.kind in ("time", "timerange"))
        if phrase.kind in ("date", "datetime", "time"):
            assert phrase.value is not None
            assert phrase.end_value is None


@settings(max_examples=300, deadline=None)
@given(TEXTS, REFERENCES)
def test_the_answer_depends_on_text_and_reference_only(text: str, reference: datetime) -> None:
    assert resolve(text, reference) == resolve(text, reference)
    alone = resolve(text, reference)
    after = resolve("zzz\n" + text, reference)
    assert [(p.start + 4, p.value, p.end_value) for p in alone] == [(p.start, p.value, p.end_value) for p in after]


RELATIVE = [
    "tomorrow", "next Friday at 5", "two weeks ago",
    "this weekend", "on Tuesday", "last Monday", "in 3 days",
    "the day after tomorrow", "tonight", "within 2 weeks", "Monday to Wednesday", "in 40 minutes",
    "大后天", "下周三下午", "上上周末", "三天前", "今晚八点", "周五", "半小时后", "昨天", "两周后",
]  # fmt: skip


def moved(value: Any, by: timedelta) -> Any:
    return value + by if isinstance(value, date) else value


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(RELATIVE), REFERENCES, st.integers(-400, 400))
def test_moving_the_reference_by_weeks_moves_relative_phrases(text: str, reference: datetime, weeks: int) -> None:
    by = timedelta(weeks=weeks)
    here, there = resolve(text, reference), resolve(text, reference + by)
    assert here
    assert [(moved(p.value, by), moved(p.end_value, by)) for p in here] == [(p.value, p.end_value) for p in there]


ABSOLUTE = [
    "2023-11-02",
    "March 4th, 1991",
    "Thanksgiving 2025",
    "Q3 2024",
    "二〇二三年十二月三十一日",
    "2019年5月",
    "农历2024年八月十五",
]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(ABSOLUTE), REFERENCES, REFERENCES)
def test_absolute_phrases_ignore_the_reference(text: str, one: datetime, other: datetime) -> None:
    assert resolve(text, one) == resolve(text, other) != []


@settings(max_examples=200, deadline=None)
@given(REFERENCES, st.integers(-12, 14), st.sampled_from(["yesterday", "昨天", "tomorrow at 9am", "下周三"]))
def test_an_aware_reference_is_taken_to_the_zone(moment: datetime, hours: int, text: str) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    local = (moment - timedelta(hours=hours)) + timedelta(hours=8)
    assert resolve(text, aware, "Etc/GMT-8") == resolve(text, local, "Etc/GMT-8")
